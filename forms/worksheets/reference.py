"""What one part moves in 1999 (*Using Samba*) and today, and what a client asks for."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from forms import wording
from forms.tuning.smb_conf import toml_data


class ReferenceKind(StrEnum):
    """The parts of a server in the calculation."""

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

    @property
    def line(self) -> str:
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
    """The reference of a name or an unambiguous part of it. Raises UnknownReferenceError."""
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


@dataclass(frozen=True, slots=True)
class Demand:
    """A client's demand by kind of work (Using Samba, appendix B), where nothing is measured."""

    transfers_per_second: float
    file_bytes: int
    what: str


_DATA = toml_data("references.toml", package="forms.worksheets")
DEMANDS: Mapping[str, Demand] = MappingProxyType({name: Demand(**row) for name, row in _DATA["demands"].items()})


BOOK, TODAY = "1999", "today"
BOOK_TABLES = ("B-2", "B-3", "B-4", "B-5", "B-8", "B-10", "clients")
_KILO, _MEGA = 1000.0, 1_000_000.0

FRAME_BYTES = 1538
"""A full Ethernet frame on the wire: 1,500 bytes with header, checksum, preamble and gap (IEEE 802.3)."""
PAYLOAD_BYTES = 1448
"""TCP payload in it: less 20 for IP, 20 for TCP, 12 for time stamps (RFC 7323)."""
WIFI_SHARE = 0.6

_BOOK = tuple(
    Reference(
        kind=ReferenceKind(row["kind"]),
        name=row["name"],
        bytes_per_second=row["kilobytes"] * _KILO,
        source=f"Using Samba (1999), table {row['table']}",
        note=row.get("note", ""),
    )
    for row in _DATA["book"]
)


def ethernet_payload(megabits: float) -> float:
    """File data in bytes/s over Ethernet of that rate, with full frames of 1,500 bytes."""
    return megabits * _MEGA / 8 * PAYLOAD_BYTES / FRAME_BYTES


def _today() -> tuple[Reference, ...]:
    disks = [
        Reference(
            kind=ReferenceKind.DISK, name=row["name"], bytes_per_second=row["megabytes"] * _MEGA, source=row["source"]
        )
        for row in _DATA["disks"]
    ]
    ethernets = [
        Reference(
            kind=ReferenceKind.NETWORK,
            name=f"{megabits} Mb/s Ethernet" if megabits < 1_000 else f"{megabits / 1_000:g} Gb/s Ethernet",
            bytes_per_second=ethernet_payload(megabits),
            source="IEEE 802.3 framing and RFC 7323",
            note=f"{PAYLOAD_BYTES} of {FRAME_BYTES} bytes on the wire are file data",
        )
        for megabits in _DATA["ethernet"]
    ]
    wifi = [
        Reference(
            kind=ReferenceKind.NETWORK,
            name=row["name"],
            bytes_per_second=row["megabits"] * _MEGA / 8 * WIFI_SHARE,
            source=f"{row['source']}: {row['megabits']:g} Mb/s at best",
            note=f"{WIFI_SHARE:.0%} of that rate is an assumption: measure your own",
        )
        for row in _DATA["wifi"]
    ]
    return (*disks, *ethernets, *wifi)


TABLES: Mapping[str, tuple[Reference, ...]] = MappingProxyType({TODAY: _today(), BOOK: _BOOK})
"""No CPUs today: what they move depends on signing and encryption."""
