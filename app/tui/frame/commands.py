"""The TUI's commands: each has a key, and is shown in the footer, in the command palette and in F1 help.

The commands stand in ``keys.txt``, a line each; ``about.txt`` says for F1 help what screens and widgets are for. A
class takes its commands by their names: ``KEYS = keys("run.pause run.stop")``.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen


@dataclass(frozen=True, slots=True)
class KeyCommand:
    id: str
    """Its name in the settings file, such as ``run.pause``; one of its kind."""
    keys: str
    """Textual's key names, with a comma between alternatives: ``p`` or ``p,f8``."""
    name: str
    help: str
    _: KW_ONLY
    action: str = ""
    """Textual's action, such as ``pause`` or ``app.help``; where it is not given, the last word of the command's id."""
    footer: str = ""
    """What the footer says in place of the name, where that is too long."""
    hidden: bool = False
    """Whether the footer leaves it out."""
    priority: bool = False
    """Whether it works where a line of text has the focus, which would take the key else."""

    def __post_init__(self) -> None:
        if not self.action:
            object.__setattr__(self, "action", self.id.rpartition(".")[2].replace("-", "_"))

    @property
    def key_names(self) -> list[str]:
        return self.keys.split(",")

    def binding(self) -> Binding:
        return Binding(
            self.keys,
            self.action,
            self.footer or self.name,
            show=not self.hidden,
            priority=self.priority,
            tooltip=self.help,
            id=self.id,
        )


def table_lines(name: str) -> Iterator[str]:
    """The lines of a table of this folder, without empty ones and comments."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("#"))


_FIELDS_OF_AN_OPTION = {"action", "footer", "hidden", "priority"}


def _command_of_line(line: str) -> KeyCommand:
    """A line of keys.txt: ``id | keys | name | help``, and options such as ``| footer=Stop, hidden``."""
    name, keys, title, about, *options = line.split(" | ")
    values: dict[str, str] = {}
    for option in options:
        for setting in option.split(", "):
            field, _, value = setting.partition("=")
            values[field] = value

    unknown = values.keys() - _FIELDS_OF_AN_OPTION
    assert not unknown, f"keys.txt: {name} has {unknown}"
    return KeyCommand(
        name,
        keys,
        title,
        about,
        action=values.get("action", ""),
        footer=values.get("footer", ""),
        hidden="hidden" in values,
        priority="priority" in values,
    )


def _read_about() -> dict[str, str]:
    texts: dict[str, str] = {}
    for line in table_lines("about.txt"):
        name, _, text = line.partition(": ")
        texts[name] = text
    return texts


_KEYS = {command.id: command for command in map(_command_of_line, table_lines("keys.txt"))}
_ABOUT = _read_about()


def keys(names: str) -> tuple[KeyCommand, ...]:
    """The commands of keys.txt with these names, which blanks separate."""
    return tuple(_KEYS[name] for name in names.split())


class Commanded(DOMNode):
    """A node that declares its commands in ``KEYS``; the bindings follow from them."""

    KEYS: ClassVar[tuple[KeyCommand, ...]] = ()
    ABOUT: ClassVar[str] = ""
    """What the node is for, for F1 help: the line of its class in about.txt."""

    HINTS: ClassVar[dict[str, str]] = {}
    """What a widget is for, for F1 help, by its id: the lines ``Class#id`` of about.txt."""

    def about_now(self) -> str:
        return self.ABOUT

    def __init_subclass__(cls, inherit_css: bool = True, inherit_bindings: bool = True) -> None:
        if cls.__name__ in _ABOUT:
            cls.ABOUT = _ABOUT[cls.__name__]

        prefix = f"{cls.__name__}#"
        hints = {name.removeprefix(prefix): text for name, text in _ABOUT.items() if name.startswith(prefix)}
        if hints:
            cls.HINTS = hints

        if "KEYS" in cls.__dict__:
            cls.BINDINGS = [command.binding() for command in cls.KEYS]
        super().__init_subclass__(inherit_css=inherit_css, inherit_bindings=inherit_bindings)


class Offered(NamedTuple):
    command: KeyCommand
    node: DOMNode


def offered(screen: Screen[object]) -> Iterator[Offered]:
    """The commands that can be given now: of the focused widget, of what contains it, of the screen and the app."""
    start = screen.focused or screen
    offered_ids: set[str] = set()
    for node in start.ancestors_with_self:
        for command in keys_of(type(node)):
            if command.id not in offered_ids and _is_enabled(command, node):
                offered_ids.add(command.id)
                yield Offered(command, node)


def _is_enabled(command: KeyCommand, node: DOMNode) -> bool:
    is_of_another_node = "." in command.action
    action_name = command.action.partition("(")[0]
    return is_of_another_node or bool(node.check_action(action_name, ()))


def keys_of(kind: type[DOMNode]) -> list[KeyCommand]:
    """The commands that a class declares or inherits, without those whose keys a nearer class has taken."""
    commands: dict[str, KeyCommand] = {}
    bound_keys: set[str] = set()
    for base in kind.__mro__:
        declared: Iterable[KeyCommand] = base.__dict__.get("KEYS", ())
        free = [command for command in declared if not bound_keys.issuperset(command.key_names)]
        for command in free:
            commands.setdefault(command.id, command)
        for command in free:
            bound_keys.update(command.key_names)
    return list(commands.values())


def keys_in_use(app: App[Any], command: KeyCommand, chosen: Mapping[str, str]) -> str:
    """The command's keys after the user's own choices, as they are shown: ``p`` or ``p F8``."""
    keys = chosen.get(command.id, command.keys)
    return " ".join(app.get_key_display(Binding(key.strip(), "")) for key in keys.split(","))
