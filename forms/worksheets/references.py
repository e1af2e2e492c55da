"""What one disk, network, processor or client moves, where nothing was measured: from the book of 1999, and today.

A *reference* is a row of these tables: a component by its name, with its throughput and the source of that figure.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from types import MappingProxyType
from typing import Any

from forms import wording
from forms.tuning.smb_conf import toml_data
from storage.records import FRAME_BYTES, PAYLOAD_BYTES


class ReferenceKind(StrEnum):
    """The kinds of parts of a server that may be its bottleneck."""

    CPU = "cpu"
    DISK = "disk"
    NETWORK = "network"


@dataclass(frozen=True, slots=True)
class Reference:
    """What one component moves, by a table."""

    kind: ReferenceKind
    name: str
    bytes_per_second: float
    source: str
    """Where the figure is from, for people."""
    note: str = ""

    @property
    def line(self) -> str:
        """``10 Mb/s Ethernet: 1.177 MB/s``."""
        return f"{self.name}: {wording.rate(self.bytes_per_second)}"


OPERATION_BYTES = 8_000
"""Average of one I/O operation (Using Samba, tables B-2 and B-3)."""

_OPERATIONS = re.compile(r"(\d+(?:\.\d+)?)\s*(?:ops|iops|operations)(?:/s)?", re.IGNORECASE)


def rate_of_operations(words: str) -> float | None:
    """Bytes/s from ``70 ops``; None for other words."""
    match = _OPERATIONS.fullmatch(words.strip())
    return float(match[1]) * OPERATION_BYTES if match and float(match[1]) > 0 else None


class UnknownComponentError(LookupError):
    """No reference, or several, match a name; ``str()`` lists them."""


def find(kind: ReferenceKind, name: str, tables: Mapping[str, tuple[Reference, ...]]) -> Reference:
    """The reference of that kind by its name, or by a part of its name that no other one has.

    Raises UnknownComponentError.
    """
    folded_name = _folded(name)
    candidates = [reference for reference in chain.from_iterable(tables.values()) if reference.kind is kind]
    exact = [reference for reference in candidates if _folded(reference.name) == folded_name]
    matches = exact[:1] or [reference for reference in candidates if folded_name in _folded(reference.name)]
    if len(matches) == 1 and folded_name:
        return matches[0]

    problem = "could be more than one" if matches else "is no"
    names = ", ".join(reference.name for reference in (matches or candidates))
    raise UnknownComponentError(f"{name!r} {problem} {kind.value} of the tables; there are: {names}")


def _folded(name: str) -> str:
    """The name as names are compared: without capitals, slashes and further blanks."""
    return " ".join(name.lower().replace("/", " ").split())


@dataclass(frozen=True, slots=True)
class Demand:
    """What one user asks for, by the kind of work (Using Samba, appendix B), where nothing is measured."""

    transfers_per_second: float
    """The files that a user moves in a second, on average."""
    file_bytes: int
    """The size of each file."""
    description: str
    example: "Demand | None" = None
    """What the book's worked example counts for the same kind of work, where that differs; None elsewhere."""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Demand":
        example = row.get("example")
        return cls(
            row["transfers_per_second"],
            row["file_bytes"],
            row.get("what", ""),
            cls.from_row(example) if example else None,
        )

    @property
    def each_bytes_per_second(self) -> float:
        return self.transfers_per_second * self.file_bytes


_DATA = toml_data("references.toml", package="forms.worksheets")

DEMANDS: Mapping[str, Demand] = MappingProxyType({name: Demand.from_row(row) for name, row in _DATA["demands"].items()})
"""By the name of the kind of work."""

BOOK = "1999"
TODAY = "today"
"""The titles of the two tables: Using Samba, and what is known since."""

BOOK_TABLES = ("B-2", "B-3", "B-4", "B-5", "B-8", "B-10", "clients")
"""The tables of the book that the references are from."""

_KILO = 1000.0
_MEGA = 1_000_000.0

WIFI_SHARE = 0.6
"""The share of a wireless link's rate that is assumed to be file data."""


def _book() -> Iterator[Reference]:
    for row in _DATA["book"]:
        rate = row["kilobytes"] * _KILO
        source = f"Using Samba (1999), table {row['table']}"
        yield Reference(ReferenceKind(row["kind"]), row["name"], rate, source, row.get("note", ""))


def ethernet_payload(megabits: float) -> float:
    """File data in bytes/s over Ethernet of that rate, with full frames of 1,500 bytes."""
    return megabits * _MEGA / 8 * PAYLOAD_BYTES / FRAME_BYTES


def _today() -> Iterator[Reference]:
    for row in _DATA["disks"]:
        yield Reference(ReferenceKind.DISK, row["name"], row["megabytes"] * _MEGA, row["source"])

    framing_source = "IEEE 802.3 framing and RFC 7323"
    framing_note = f"{PAYLOAD_BYTES} of {FRAME_BYTES} bytes on the wire are file data"
    for megabits in _DATA["ethernet"]:
        name = f"{megabits} Mb/s Ethernet" if megabits < 1_000 else f"{megabits / 1_000:g} Gb/s Ethernet"
        yield Reference(ReferenceKind.NETWORK, name, ethernet_payload(megabits), framing_source, framing_note)

    wifi_note = f"{WIFI_SHARE:.0%} of that rate is an assumption: measure your own"
    for row in _DATA["wifi"]:
        rate = row["megabits"] * _MEGA / 8 * WIFI_SHARE
        source = f"{row['source']}: {row['megabits']:g} Mb/s at best"
        yield Reference(ReferenceKind.NETWORK, row["name"], rate, source, wifi_note)


TABLES: Mapping[str, tuple[Reference, ...]] = MappingProxyType({TODAY: tuple(_today()), BOOK: tuple(_book())})
"""The references by the title of their table. No CPUs today: what they move depends on signing and encryption."""


SINGULARS = {kind: kind.value for kind in ReferenceKind} | {ReferenceKind.CPU: "CPU"}
PLURALS = {kind: f"{word}s" for kind, word in SINGULARS.items()}
"""The kinds of parts in words."""
