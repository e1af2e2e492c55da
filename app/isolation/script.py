"""An operation script in the format of dbench's load files: one operation a line, with the expected status.

The clients of an isolation replay it; dbench and tbench read the same script as text.
"""

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
    """An operation as load files name it, with its arguments before the status."""

    shape: str
    """The arguments of the operation: a letter each, ``t`` for text, ``n`` for a number."""

    def __new__(cls, name: str, shape: str = "") -> Self:
        operation = str.__new__(cls, name)
        operation._value_ = name
        operation.shape = shape
        return operation

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
_MOST_BITS = 63
_MOST_BITS_OF_CREATE = 32
"""SMB2 has 64 bits for offsets and lengths, and 32 for the options of an open."""
_NEEDED = frozenset(
    {Operation.NTCREATEX, Operation.CLOSE, Operation.RENAME, Operation.UNLINK, Operation.MKDIR, Operation.DELTREE}
)
"""Without these the rest of a script finds other files than it expects."""
CAN_BE_LEFT_OUT = tuple(operation for operation in Operation if operation not in _NEEDED)
"""The operations whose cost can be measured with and without them."""


class ScriptLine(NamedTuple):
    """One line of a script."""

    operation: Operation
    texts: tuple[str, ...]
    """Its arguments that are texts: paths."""
    numbers: tuple[int, ...]
    """Its other arguments; of a read or write: handle, offset, bytes that are asked for, bytes that are expected."""
    succeeds: bool
    """Whether the operation is expected to succeed."""
    written: str
    """The line as it stands in the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    name: str
    lines: tuple[ScriptLine, ...]

    @property
    def counts(self) -> dict[str, int]:
        return dict(sorted(Counter(line.operation.value for line in self.lines).items()))

    @property
    def pass_bytes(self) -> int:
        """Bytes that one pass is expected to read and write."""
        return sum(line.numbers[3] for line in self.lines if line.operation in (Operation.READX, Operation.WRITEX))

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.load_file_text().encode()).hexdigest()

    def load_file_text(self) -> str:
        return "".join(f"{line.written}\n" for line in self.lines)

    def without(self, operations: Collection[Operation]) -> "Script":
        """Also drops what is useless without these operations. Raises UsageError."""
        needed = sorted(_NEEDED & set(operations))
        if needed:
            raise UsageError(
                f"{needed[0]} cannot be left out, since the rest of the script needs it; these can: "
                f"{_names_to_leave_out()}"
            )

        left_out = set(operations)
        for operation in operations:
            left_out.update(_GO_TOGETHER.get(operation, ()))
        return Script(name=self.name, lines=tuple(line for line in self.lines if line.operation not in left_out))


def operations_named(text: str) -> tuple[Operation, ...]:
    """Parse ``find_first,query_path_information``. Raises UsageError."""
    operations = []
    for word in text.split(","):
        name = word.strip()
        try:
            operations.append(Operation(name.lower()))
        except ValueError as error:
            raise UsageError(
                f"no operation is called {name!r}; these can be left out: {_names_to_leave_out()}"
            ) from error
    return tuple(dict.fromkeys(operations))


def _names_to_leave_out() -> str:
    return ", ".join(sorted(CAN_BE_LEFT_OUT))


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
    parsed = tuple(_parse_lines(name, lines))
    if not parsed:
        raise UsageError(f"the script {name} asks for nothing; name a load file of dbench's")
    return Script(name=name, lines=parsed)


def _parse_lines(name: str, lines: Iterable[str]) -> Iterator[ScriptLine]:
    """Equal lines share one object: load files repeat lines thousands of times."""
    line_of_text: dict[str, ScriptLine] = {}
    for number, raw in enumerate(lines, start=1):
        text = raw.strip()
        if not text or text.startswith("#"):
            continue
        if number > MOST_LINES:
            raise UsageError(f"the script {name} has more than {MOST_LINES:,} lines; take a shorter one")

        line = line_of_text.get(text)
        if line is None:
            try:
                line = _parse_line(text)
            except (ValueError, IndexError) as error:
                raise UsageError(
                    f"line {number} of the script {name} is no request of dbench's, or leaves its folder: {text[:60]}"
                ) from error
            line_of_text[text] = line
        yield line


def _parse_line(text: str) -> ScriptLine:
    """Raises ValueError or IndexError for what is no request."""
    words = [bare or quoted for quoted, bare in _WORDS.findall(text)]
    if _TIMED.match(words[0]):
        del words[0]
    operation = Operation(words[0].lower())
    status = words.pop()
    if not status.startswith(_STATUS):
        raise ValueError(status)

    shape = operation.shape
    arguments = words[1:]
    if len(arguments) != len(shape):
        raise ValueError(text)
    texts = tuple(word for kind, word in zip(shape, arguments, strict=True) if kind == "t")
    numbers = tuple(int(word, 0) for kind, word in zip(shape, arguments, strict=True) if kind == "n")

    bits = _MOST_BITS_OF_CREATE if operation is Operation.NTCREATEX else _MOST_BITS
    if any(not 0 <= number < 1 << bits for number in numbers):
        raise ValueError(text)
    if operation in {Operation.READX, Operation.WRITEX} and numbers[2] > _MOST_BYTES:
        raise ValueError(text)
    if any(".." in re.split(r"[/\\]", path) for path in texts):  # dbench would follow it, as root
        raise ValueError(text)
    return ScriptLine(operation, texts, numbers, status == f"{_STATUS}OK", text)


def office_lines() -> list[str]:
    from jinja2 import Template

    text = files("app.isolation").joinpath("office.txt.jinja").read_text(encoding="utf-8")
    return str(Template(text, trim_blocks=True).render(handle=count(10_000).__next__)).splitlines()
