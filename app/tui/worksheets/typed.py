"""What is typed into a worksheet, read into its parts; what cannot be read yet is said in a few words."""

from __future__ import annotations

from app.errors import UsageError
from app.units import parse_size
from forms.worksheets.bottleneck import Part
from forms.worksheets.reference import DEMANDS, ReferenceKind, UnknownComponentError, find, rate_of_operations
from forms.worksheets.reference_tables import TABLES
from forms.worksheets.users import UserGroup


def read_rate(text: str) -> float:
    """Bytes a second: ``560KB``, ``118MB/s``, ``64K``. Raises UsageError."""
    try:
        return float(parse_size(text.strip().removesuffix("/s")))
    except UsageError:
        raise UsageError("bytes a second, such as 560KB or 118MB") from None


def read_count(text: str) -> int:
    """A number of equal things, at least 1. Raises UsageError."""
    if not text.strip().isascii() or not text.strip().isdigit() or not int(text) or len(text) > 6:
        raise UsageError("a number from 1 on")
    return int(text)


def read_part(kind: ReferenceKind, words: str, count: str) -> Part | None:
    """So many of what is in the tables under that name, or of that rate; None for nothing typed. Raises UsageError."""
    if not words.strip():
        return None
    number = read_count(count)
    if rate := rate_of_operations(words):
        return Part(name=kind.value, bytes_per_second=rate, count=number, source=f"{words.strip()} x 8 kB")
    try:
        found = find(kind, words, TABLES)
    except UnknownComponentError:
        try:
            return Part(name=kind.value, bytes_per_second=read_rate(words), count=number)
        except UsageError:
            raise UsageError(
                "no such name; Enter lists them, or type bytes a second, such as 118MB, or 70ops"
            ) from None
    return Part(name=found.name, bytes_per_second=found.bytes_per_second, count=number, source=found.source)


def read_group(name: str, clients: str, transfers: str, size: str, *, number: int) -> UserGroup | None:
    """Clients that work alike; None for an empty line. Raises UsageError."""
    if not any(text.strip() for text in (clients, transfers, size)):
        return None
    preset = DEMANDS.get(transfers.strip().lower()) if not size.strip() else None
    if preset is not None:
        return UserGroup(
            name=name.strip() or transfers.strip(),
            clients=read_count(clients),
            transfers_per_second=preset.transfers_per_second,
            file_bytes=preset.file_bytes,
        )
    try:
        each = float(transfers)
    except ValueError:
        each = -1.0
    if not 0 <= each < 1e9:
        raise UsageError(f"transfers a second, such as 2.3, or {', '.join(DEMANDS)} with no size")
    try:
        file_bytes = parse_size(size)
    except UsageError:
        raise UsageError("a file size, such as 12KB or 4M") from None
    return UserGroup(
        name=name.strip() or f"group {number}",
        clients=read_count(clients),
        transfers_per_second=each,
        file_bytes=file_bytes,
    )
