"""An operation script in dbench's load-file format: one request a line, with the expected status."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import NamedTuple, Self

from app.base.errors import UsageError

OWN_SCRIPT = "office"
MOST_LINES = 5_000_000
_WORDS = re.compile(r'"([^"]*)"|(\S+)')
_TIMED = re.compile(r"\d+\.\d+$")
_STATUS = "NT_STATUS_"


class Operation(StrEnum):
    """As in load files, with the arguments before the status: t text, n number; a failed ntcreatex has no handle."""

    shape: str

    def __new__(cls, name: str, shape: str = "") -> Self:
        made = str.__new__(cls, name)
        made._value_, made.shape = name, shape
        return made

    NTCREATEX = "ntcreatex", "tnnn"
    CLOSE = "close", "n"
    READX = "readx", "nnnn"
    WRITEX = "writex", "nnnn"
    FLUSH = "flush", "n"
    LOCKX = "lockx", "nnn"
    UNLOCKX = "unlockx", "nnn"
    RENAME = "rename", "tt"
    UNLINK = "unlink", "tn"
    MKDIR = "mkdir", "t"
    DELTREE = "deltree", "t"
    FIND_FIRST = "find_first", "tnnn"
    QUERY_PATH_INFORMATION = "query_path_information", "tn"
    QUERY_FILE_INFORMATION = "query_file_information", "nn"
    QUERY_FS_INFORMATION = "query_fs_information", "n"
    SET_FILE_INFORMATION = "set_file_information", "nn"


_GO_TOGETHER: Mapping[Operation, tuple[Operation, ...]] = {
    Operation.WRITEX: (Operation.READX,),
    Operation.LOCKX: (Operation.UNLOCKX,),
    Operation.UNLOCKX: (Operation.LOCKX,),
}
"""Operations that are useless without the key."""
_MOST_BYTES = 1 << 20
"""Of one read or write: every server takes this in one request."""
_NEEDED = frozenset(
    {Operation.NTCREATEX, Operation.CLOSE, Operation.RENAME, Operation.UNLINK, Operation.MKDIR, Operation.DELTREE}
)
"""Without these the rest of a script finds other files than it expects."""


class ScriptLine(NamedTuple):
    operation: Operation
    texts: tuple[str, ...]
    numbers: tuple[int, ...]
    succeeds: bool
    written: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    name: str
    lines: tuple[ScriptLine, ...]

    @property
    def counts(self) -> dict[str, int]:
        return dict(sorted(Counter(line.operation.value for line in self.lines).items()))

    @property
    def pass_bytes(self) -> int:
        return sum(line.numbers[3] for line in self.lines if line.operation in (Operation.READX, Operation.WRITEX))

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text().encode()).hexdigest()

    def text(self) -> str:
        return "".join(f"{line.written}\n" for line in self.lines)

    def without(self, operations: Collection[Operation]) -> "Script":
        """Also drops what is useless without these operations. Raises UsageError."""
        if needed := sorted(_NEEDED & set(operations)):
            raise UsageError(
                f"{needed[0]} cannot be left out, since the rest of the script needs it; these can: "
                f"{', '.join(sorted(set(Operation) - _NEEDED))}"
            )
        gone = {*operations, *(other for each in operations for other in _GO_TOGETHER.get(each, ()))}
        return Script(name=self.name, lines=tuple(line for line in self.lines if line.operation not in gone))


def operations_named(text: str) -> tuple[Operation, ...]:
    """Parse ``find_first,query_path_information``. Raises UsageError."""
    found = []
    for word in text.split(","):
        try:
            found.append(Operation(word.strip().lower()))
        except ValueError as error:
            known = ", ".join(sorted(set(Operation) - _NEEDED))
            raise UsageError(f"no operation is called {word.strip()!r}; these can be left out: {known}") from error
    return tuple(dict.fromkeys(found))


def load_script(path: str | None = None) -> Script:
    """The script in a file, or the built-in one. Raises UsageError with the first wrong line."""
    if path is None:
        return parse_script(OWN_SCRIPT, office_lines())
    try:
        with Path(path).open(encoding="utf-8", errors="strict") as file:
            return parse_script(Path(path).name, file)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UsageError(f"cannot read the script {path}: {reason}") from error


def parse_script(name: str, lines: Iterable[str]) -> Script:
    """Parse a script. Raises UsageError with the first wrong line."""
    known: dict[str, ScriptLine] = {}
    found = tuple(_parsed(name, lines, known))
    if not found:
        raise UsageError(f"the script {name} asks for nothing; name a load file of dbench's")
    return Script(name=name, lines=found)


def _parsed(name: str, lines: Iterable[str], known: dict[str, ScriptLine]) -> Iterator[ScriptLine]:
    """Equal lines share one object: load files repeat lines thousands of times."""
    for number, raw in enumerate(lines, start=1):
        text = raw.strip()
        if not text or text.startswith("#"):
            continue
        if number > MOST_LINES:
            raise UsageError(f"the script {name} has more than {MOST_LINES:,} lines; take a shorter one")
        line = known.get(text)
        if line is None:
            try:
                line = known[text] = _line(text)
            except (ValueError, IndexError) as error:
                raise UsageError(
                    f"line {number} of the script {name} is no request of dbench's, or leaves its folder: {text[:60]}"
                ) from error
        yield line


def _line(text: str) -> ScriptLine:
    words = [quoted if quoted or not bare else bare for quoted, bare in _WORDS.findall(text)]
    if _TIMED.match(words[0]):
        del words[0]
    operation = Operation(words[0].lower())
    status = words.pop()
    if not status.startswith(_STATUS):
        raise ValueError(status)
    shape = operation.shape
    texts = tuple(word for kind, word in zip(shape, words[1:], strict=False) if kind == "t")
    numbers = tuple(int(word, 0) for kind, word in zip(shape, words[1:], strict=False) if kind == "n")
    too_large = any(number >= 1 << (32 if operation is Operation.NTCREATEX else 63) for number in numbers)
    too_long = operation in {Operation.READX, Operation.WRITEX} and numbers[2] > _MOST_BYTES
    leaves = any(".." in re.split(r"[/\\]", path) for path in texts)  # dbench would follow it, as root
    if len(words) - 1 != len(shape) or any(number < 0 for number in numbers) or too_large or too_long or leaves:
        raise ValueError(text)
    return ScriptLine(operation, texts, numbers, status == f"{_STATUS}OK", text)


def office_lines() -> list[str]:
    from jinja2 import Template  # noqa: PLC0415  only where a script is asked for

    text = files("app.isolation").joinpath("office.txt.jinja").read_text(encoding="utf-8")
    return str(Template(text, trim_blocks=True).render(handle=count(10_000).__next__)).splitlines()
