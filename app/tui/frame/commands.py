"""A command of the TUI: one record that gives the key binding, the footer, the palette entry and the row in F1 help."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen


@dataclass(frozen=True, slots=True)
class KeyCommand:
    """Something that a key does on the app, on a screen or on a widget."""

    id: str
    """Its name in the keys file, such as ``run.pause``; one of its kind."""
    keys: str
    """Textual's key names, with a comma between alternatives: ``p`` or ``p,f8``."""
    name: str
    """What the palette and the help call it."""
    help: str
    """What it does, in one sentence."""
    _: KW_ONLY
    action: str = ""
    """Textual's action, such as ``pause`` or ``app.help``; where it is not given, the last word of the command's id."""
    footer: str = ""
    """A word or two for the footer; empty for a command that the footer leaves out."""
    priority: bool = False
    """Whether the key works while an input has the focus."""

    def __post_init__(self) -> None:
        if not self.action:
            object.__setattr__(self, "action", self.id.rpartition(".")[2].replace("-", "_"))

    def binding(self) -> Binding:
        return Binding(
            self.keys,
            self.action,
            self.footer or self.name,
            show=bool(self.footer),
            priority=self.priority,
            tooltip=self.help,
            id=self.id,
        )


class Commanded(DOMNode):
    """A node that declares its commands in ``KEYS``; the bindings follow from them."""

    KEYS: ClassVar[tuple[KeyCommand, ...]] = ()
    ABOUT: ClassVar[str] = ""
    """What the node is for, for F1 help."""

    def about_now(self) -> str:
        """What the node is for as it is now, for F1 help."""
        return self.ABOUT

    def __init_subclass__(cls, inherit_css: bool = True, inherit_bindings: bool = True) -> None:
        if "KEYS" in cls.__dict__:
            cls.BINDINGS = [command.binding() for command in cls.KEYS]
        super().__init_subclass__(inherit_css=inherit_css, inherit_bindings=inherit_bindings)


class Offered(NamedTuple):
    """A command together with the node that declares it."""

    command: KeyCommand
    node: DOMNode


def offered(screen: Screen[object]) -> Iterator[Offered]:
    """The commands that can be given now: of the focused widget, of what contains it, of the screen and the app."""
    start = screen.focused or screen
    seen: set[str] = set()
    for node in start.ancestors_with_self:
        for command in keys_of(type(node)):
            if command.id not in seen and _enabled(node, command):
                seen.add(command.id)
                yield Offered(command, node)


def give(app: App[Any], offer: Offered) -> None:
    """Give a command as if its key were pressed."""
    app.call_later(app.run_action, offer.command.action, offer.node)


def keys_of(kind: type[DOMNode]) -> list[KeyCommand]:
    """The commands that a class declares or inherits, without those whose keys a nearer class has taken."""
    found: dict[str, KeyCommand] = {}
    taken: set[str] = set()
    for base in kind.__mro__:
        declared: Iterable[KeyCommand] = base.__dict__.get("KEYS", ())
        free = [command for command in declared if not set(command.keys.split(",")) <= taken]
        for command in free:
            found.setdefault(command.id, command)
        taken.update(key for command in free for key in command.keys.split(","))
    return list(found.values())


def _enabled(node: DOMNode, command: KeyCommand) -> bool:
    return "." in command.action or bool(node.check_action(command.action.partition("(")[0], ()))


def keys_in_use(app: App[Any], command: KeyCommand, chosen: Mapping[str, str]) -> str:
    """The command's keys after the user's own choices, as they are shown: ``p`` or ``p F8``."""
    keys = chosen.get(command.id, command.keys)
    return " ".join(app.get_key_display(Binding(key.strip(), "")) for key in keys.split(","))
