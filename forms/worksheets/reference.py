"""Reference tables: what one CPU, disk or network moves, in the method's year and today, and what a client asks for."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from forms import wording


class ReferenceKind(StrEnum):
    """The three parts of a server that the calculation looks at."""

    CPU = "cpu"
    DISK = "disk"
    NETWORK = "network"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What one part moves at best."""

    kind: ReferenceKind
    name: str
    bytes_per_second: float
    source: str
    note: str = ""
    """A misprint of the source, or how the number came about."""

    @property
    def line(self) -> str:
        """Name and throughput, for a list to choose from."""
        return f"{self.name}: {wording.rate(self.bytes_per_second)}"


OPERATION_BYTES = 8_000
"""What one input or output operation moves on average (Using Samba, tables B-2 and B-3)."""
_OPERATIONS = re.compile(r"(\d+(?:\.\d+)?)\s*(?:ops|iops|operations)(?:/s)?", re.IGNORECASE)


def rate_of_operations(words: str) -> float | None:
    """Bytes a second of so many operations a second, such as ``70 ops``; None for words of another kind."""
    match = _OPERATIONS.fullmatch(words.strip())
    return float(match[1]) * OPERATION_BYTES if match and float(match[1]) > 0 else None


class UnknownComponentError(LookupError):
    """No reference answers to a name, or several do; ``str()`` says which there are."""


def find(kind: ReferenceKind, name: str, tables: Mapping[str, tuple[Reference, ...]]) -> Reference:
    """The reference that a name, or enough of it, means; an exact name goes first. Raises UnknownReferenceError."""
    wanted = _folded(name)
    there = [reference for table in tables.values() for reference in table if reference.kind is kind]
    exact = [reference for reference in there if _folded(reference.name) == wanted]
    found = exact[:1] or [reference for reference in there if wanted in _folded(reference.name)]
    if len(found) == 1 and wanted:
        return found[0]
    said = "is no" if not found else "could be more than one"
    names = ", ".join(reference.name for reference in (found or there))
    raise UnknownComponentError(f"{name!r} {said} {kind.value} of the tables; there are: {names}")


def of_kind(kind: ReferenceKind, table: tuple[Reference, ...]) -> Iterator[Reference]:
    """The references of one kind."""
    return (reference for reference in table if reference.kind is kind)


def _folded(name: str) -> str:
    return " ".join(name.lower().replace("/", " ").split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What a client asks for, by its kind of work (Using Samba, appendix B), where nothing is measured."""

    transfers_per_second: float
    file_bytes: int
    what: str


DEMANDS: Mapping[str, Demand] = MappingProxyType(
    {
        "office": Demand(
            transfers_per_second=1, file_bytes=OPERATION_BYTES, what="an office PC: one operation a second"
        ),
        "workstation": Demand(
            transfers_per_second=4, file_bytes=OPERATION_BYTES, what="a fast workstation: four operations a second"
        ),
        "compiling": Demand(
            transfers_per_second=1, file_bytes=3_500_000, what="a workstation that compiles: 3 to 4 MB a second"
        ),
        "imaging": Demand(transfers_per_second=1, file_bytes=10_000_000, what="an imaging station: 10 MB a second"),
    }
)
"""By the name that is typed."""
