"""The lines of a form: what each asks for, and how what is typed there is understood."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Label

from app.base.errors import UsageError
from app.base.ssh_address import check_ssh_host
from app.base.targets import parse_typed_target
from app.base.units import parse_rate
from app.tui.frame.parts import LineInput
from app.tui.widgets.completion import TargetSuggester
from storage.records import JSONValue, Target

_GAP_AFTER_NAMES = 2


@dataclass(frozen=True, slots=True)
class FormLine:
    """A line of a form, and what it says of itself."""

    key: str
    """Under which its text is kept and handed on; the id of its input."""
    name: str
    hint: str
    """What stands in it, faint, as long as nothing is typed."""
    usual: str = ""
    """What stands in it at first."""
    about: str = ""
    """What is said below the lines while it has the focus, where name and hint do not say it."""


TARGET = FormLine(
    "target",
    "Target",
    "[USER@]HOST/SHARE, smb://USER@HOST:PORT/SHARE, or @NAME",
    about="Target: [USER@]HOST/SHARE, smb://USER@HOST:PORT/SHARE, @NAME; Right completes.",
)
SSH = FormLine(
    "ssh",
    "Server by ssh",
    "[USER@]HOST; empty: none, or the server is this machine",
    about="Server by ssh: a login there, by which its settings are read. Empty where you have none (all else is"
    " measured) and where the server is this machine.",
)
LINK = FormLine(
    "link",
    "Link speed",
    "empty: what the interface says; else such as 1G",
    about="The speed of the link, such as 1G; empty: what this machine's interface says.",
)
CONF = FormLine("conf", "smb.conf", "its path on the server; empty: the one that smbd uses")


def remembered_values(lines: Sequence[FormLine], remembered: Mapping[str, JSONValue] | None = None) -> dict[str, str]:
    """What was typed last, else what is usual; what is no line's, or no text, is left out."""
    values = {line.key: line.usual for line in lines}
    for key, value in (remembered or {}).items():
        if key in values and isinstance(value, str):
            values[key] = value
    return values


def typed_values(lines: Sequence[FormLine], typed: Mapping[str, str]) -> dict[str, str]:
    """What stands in each line, without blanks around it. Raises UsageError for an ``ssh`` that is no host's name."""
    values = {line.key: typed.get(line.key, "").strip() for line in lines}
    for line in lines:
        if line.key == SSH.key and values[line.key]:
            check_ssh_host(values[line.key], line.name)
    return values


def typed_target(text: str, question: str = "which share? type [USER@]HOST/SHARE, or smb://USER@HOST/SHARE") -> Target:
    """Raises UsageError, with the question where nothing is typed."""
    if not text.strip():
        raise UsageError(question)
    return parse_typed_target(text)


def typed_link(text: str) -> int | None:
    """Bits per second; None of an empty text. Raises UsageError."""
    return parse_rate(text) if text else None


def typed_count(name: str, text: str, most: int) -> int:
    """Raises UsageError."""
    if not text.isdecimal() or not 1 <= int(text) <= most:
        raise UsageError(f"{name}: expected a whole number from 1 to {most:,}, found {text!r}")
    return int(text)


def typed_number(name: str, text: str, least: float, most: float) -> float:
    """Raises UsageError."""
    refusal = UsageError(f"{name}: expected a number from {least:g} to {most:g}, found {text!r}")
    try:
        number = float(text)
    except ValueError:
        raise refusal from None
    if not least <= number <= most:
        raise refusal
    return number


def input_lines(lines: Sequence[FormLine]) -> ComposeResult:
    """An input for each line, its name before it."""
    longest_name = max(len(line.name) for line in lines)
    for line in lines:
        with Horizontal(classes="form-line"):
            label = Label(line.name)
            label.styles.width = _GAP_AFTER_NAMES + longest_name
            yield label
            suggester = TargetSuggester() if line.key == TARGET.key else None
            yield LineInput(id=line.key, placeholder=line.hint, suggester=suggester)
