"""What one part moves in 1999 (*Using Samba*) and today, and what a client asks for."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from forms import wording


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


DEMANDS: Mapping[str, Demand] = MappingProxyType(
    {
        "office": Demand(1, OPERATION_BYTES, "an office PC: one operation a second"),
        "workstation": Demand(4, OPERATION_BYTES, "a fast workstation: four operations a second"),
        "programmers": Demand(5, OPERATION_BYTES, "a programmer: 25 share 1 MB a second, 40 KB each"),
        "compiling": Demand(1, 3_500_000, "a workstation that compiles: 3 to 4 MB a second"),
        "imaging": Demand(1, 10_000_000, "an imaging station: 10 MB a second"),
    }
)


BOOK, TODAY = "1999", "today"
BOOK_TABLES = ("B-2", "B-3", "B-4", "B-5", "B-8", "B-10", "clients")
_KILO, _MEGA = 1000.0, 1_000_000.0
_B2, _B3, _B4 = (f"Using Samba (1999), table B-{number}" for number in (2, 3, 4))

FRAME_BYTES = 1538
"""A full Ethernet frame on the wire: 1,500 bytes with header, checksum, preamble and gap (IEEE 802.3)."""
PAYLOAD_BYTES = 1448
"""TCP payload in it: less 20 for IP, 20 for TCP, 12 for time stamps (RFC 7323)."""
WIFI_SHARE = 0.6

_IO = "8 KB each I/O operation"


def _book(kind: ReferenceKind, name: str, kilobytes: float, source: str, note: str = "") -> Reference:
    return Reference(kind=kind, name=name, bytes_per_second=kilobytes * _KILO, source=source, note=note)


_BOOK: tuple[Reference, ...] = (
    _book(ReferenceKind.CPU, "Intel Pentium 133", 5_600, _B3, f"700 operations, {_IO}"),
    _book(ReferenceKind.CPU, "Dual Pentium 133", 9_600, _B3, "1,200 operations: less than twice one, so not linear"),
    _book(ReferenceKind.CPU, "Sun SPARC II", 5_280, _B3, f"660 operations, {_IO}"),
    _book(ReferenceKind.CPU, "Sun SPARC 10", 6_000, _B3, f"750 operations, {_IO}"),
    _book(ReferenceKind.CPU, "Sun Ultra 200", 21_200, _B3, f"2,650 operations, {_IO}"),
    _book(ReferenceKind.DISK, "7200 RPM disk", 560, _B2, f"70 operations, {_IO}"),
    _book(ReferenceKind.DISK, "4800 RPM disk", 480, _B2, f"60 operations, {_IO}"),
    _book(ReferenceKind.DISK, "3600 RPM disk", 320, _B2, f"40 operations, {_IO}"),
    _book(ReferenceKind.NETWORK, "ISDN", 16, _B4),
    _book(ReferenceKind.NETWORK, "T1", 197, _B4),
    _book(ReferenceKind.NETWORK, "10 Mb/s Ethernet (1999)", 1_113, _B4),
    _book(ReferenceKind.NETWORK, "Token ring", 1_500, _B4),
    _book(ReferenceKind.NETWORK, "FDDI", 6_250, _B4),
    _book(ReferenceKind.NETWORK, "100 Mb/s Ethernet (1999)", 6_500, _B4),
    _book(ReferenceKind.NETWORK, "ATM 155", 7_125, _B4),
)

_DISKS: tuple[tuple[str, float, str], ...] = (
    ("HDD 5400 RPM", 175, "WD Red Plus 4 TB (WD40EFZX) data sheet: up to 175 MB/s, outer tracks"),
    ("HDD 7200 RPM", 270, "Seagate Exos X18 data sheet: up to 270 MB/s sustained, outer tracks"),
    ("HDD 7200 RPM, two actuators", 554, "Seagate Exos 2X18 SATA data sheet: up to 554 MB/s sustained"),
    ("SATA SSD", 560, "Samsung 870 EVO data sheet: up to 560 MB/s read, 530 write; SATA ends at 600"),
    ("NVMe PCIe 3.0 x4", 3_500, "Samsung 970 EVO Plus data sheet: up to 3,500 MB/s read, 3,300 write"),
    ("NVMe PCIe 4.0 x4", 7_450, "Samsung 990 PRO data sheet: up to 7,450 MB/s read, 6,900 write"),
    ("NVMe PCIe 5.0 x4", 12_400, "Crucial T700 2 TB data sheet: up to 12,400 MB/s read, 11,800 write"),
)
_ETHERNET_MEGABITS = (10, 100, 1_000, 2_500, 5_000, 10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000)
_WIFI: tuple[tuple[str, float, str], ...] = (
    ("Wi-Fi 4, 2 streams, 40 MHz", 300, "IEEE 802.11n"),
    ("Wi-Fi 5, 2 streams, 80 MHz", 866.7, "IEEE 802.11ac"),
    ("Wi-Fi 6, 2 streams, 80 MHz", 1_201, "IEEE 802.11ax"),
    ("Wi-Fi 6E, 2 streams, 160 MHz", 2_402, "IEEE 802.11ax"),
    ("Wi-Fi 7, 2 streams, 320 MHz", 5_765, "IEEE 802.11be"),
)


def ethernet_payload(megabits: float) -> float:
    """File data in bytes/s over Ethernet of that rate, with full frames of 1,500 bytes."""
    return megabits * _MEGA / 8 * PAYLOAD_BYTES / FRAME_BYTES


def _today() -> tuple[Reference, ...]:
    disks = [
        Reference(kind=ReferenceKind.DISK, name=name, bytes_per_second=megabytes * _MEGA, source=source)
        for name, megabytes, source in _DISKS
    ]
    ethernets = [
        Reference(
            kind=ReferenceKind.NETWORK,
            name=f"{megabits} Mb/s Ethernet" if megabits < 1_000 else f"{megabits / 1_000:g} Gb/s Ethernet",
            bytes_per_second=ethernet_payload(megabits),
            source="IEEE 802.3 framing and RFC 7323",
            note=f"{PAYLOAD_BYTES} of {FRAME_BYTES} bytes on the wire are file data",
        )
        for megabits in _ETHERNET_MEGABITS
    ]
    wifi = [
        Reference(
            kind=ReferenceKind.NETWORK,
            name=name,
            bytes_per_second=megabits * _MEGA / 8 * WIFI_SHARE,
            source=f"{source}: {megabits:g} Mb/s at best",
            note=f"{WIFI_SHARE:.0%} of that rate is an assumption: measure your own",
        )
        for name, megabits, source in _WIFI
    ]
    return (*disks, *ethernets, *wifi)


TABLES: Mapping[str, tuple[Reference, ...]] = MappingProxyType({TODAY: _today(), BOOK: _BOOK})
"""No CPUs today: what they move depends on signing and encryption."""
