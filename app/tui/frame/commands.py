"""The TUI's commands: key, footer, palette entry and row in F1 help; and a user's own keys."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
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
    hidden: bool = False
    priority: bool = False

    def __post_init__(self) -> None:
        if not self.action:
            object.__setattr__(self, "action", self.id.rpartition(".")[2].replace("-", "_"))

    def binding(self) -> Binding:
        name, show = self.footer or self.name, not self.hidden
        return Binding(self.keys, self.action, name, show=show, priority=self.priority, tooltip=self.help, id=self.id)


def table_lines(name: str) -> Iterator[str]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("#"))


def _command(line: str) -> KeyCommand:
    name, pressed, title, about, *rest = line.split(" | ")
    said = [word.partition("=") for word in ", ".join(rest).split(", ") if word]
    more: dict[str, Any] = {field: value or True for field, _, value in said}
    return KeyCommand(name, pressed, title, about, **more)


_KEYS = {command.id: command for command in map(_command, table_lines("keys.txt"))}
_ABOUT = {name: text for name, _, text in (line.partition(": ") for line in table_lines("about.txt"))}


def keys(names: str) -> tuple[KeyCommand, ...]:
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
        if hints := {name.partition("#")[2]: _ABOUT[name] for name in _ABOUT if name.startswith(f"{cls.__name__}#")}:
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
    seen: set[str] = set()
    for node in start.ancestors_with_self:
        for command in keys_of(type(node)):
            enabled = "." in command.action or bool(node.check_action(command.action.partition("(")[0], ()))
            if command.id not in seen and enabled:
                seen.add(command.id)
                yield Offered(command, node)


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


def keys_in_use(app: App[Any], command: KeyCommand, chosen: Mapping[str, str]) -> str:
    """The command's keys after the user's own choices, as they are shown: ``p`` or ``p F8``."""
    keys = chosen.get(command.id, command.keys)
    return " ".join(app.get_key_display(Binding(key.strip(), "")) for key in keys.split(","))


_KEY = re.compile(
    r"(ctrl\+[a-z]|f([1-9]|10)|[a-z]|[A-Z]|[0-9]|up|down|left|right|enter|escape|space|delete|slash|question_mark)"
)
"""Keys that every terminal, tmux and ssh hand on."""


class KeysError(ValueError):
    """The user's own keys cannot be used; ``str()`` of it is one line that says why."""


def allowed(keys: str) -> bool:
    return all(_KEY.fullmatch(key.strip()) for key in keys.split(","))


def checked_keys(table: Mapping[str, object], path: Path, known: Callable[[], set[str]]) -> dict[str, str]:
    """The keys of the settings file's table, by command name; F1 help shows the names. Raises KeysError."""
    names = known() if table else set()
    found: dict[str, str] = {}
    for given, keys in table.items():
        name = _NEW_NAMES.get(given) or re.sub(r"^room\.", "screen.", re.sub(r"^ladder\.", "experiment.", given))
        if name not in names:
            raise KeysError(f"{path}: there is no command {name!r}; F1 shows the names of the commands")
        if not isinstance(keys, str) or not allowed(keys):
            raise KeysError(
                f"{path}: {name} is no key that every terminal hands on: use a letter, a digit, f1 to f10,"
                " an arrow, enter, escape or ctrl+letter"
            )
        found[name] = keys
    return found


_NEW_NAMES = {  # of the commands of earlier versions
    "survey.anew": "survey.restart",
    "ladder.revert": "experiment.restore",
    "run.go-on": "run.resume",
    "run.back": "recording.cancel",
    "trial.back": "recording.cancel",
    "stored.go-on": "stored.resume",
}
