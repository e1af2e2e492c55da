"""What is typed into a worksheet's lines, read into its parts; what cannot be read yet is said in a few words."""

import contextlib

from app.errors import UsageError
from app.units import parse_size
from app.workflows.worksheets import read_demand, read_part
from forms.worksheets.bottleneck import Part
from forms.worksheets.reference import DEMANDS, ReferenceKind
from forms.worksheets.users import UserGroup


def read_count(text: str) -> int:
    """A number of equal things, at least 1. Raises UsageError."""
    if not text.strip().isascii() or not text.strip().isdigit() or not int(text) or len(text) > 6:
        raise UsageError("a number from 1 on")
    return int(text)


def read_parts(kind: ReferenceKind, words: str, count: str) -> Part | None:
    """So many of what is in the tables under that name, or of that rate; None for nothing typed. Raises UsageError."""
    if not words.strip():
        return None
    number = read_count(count)
    try:
        return read_part(kind, words, number)
    except UsageError:
        raise UsageError("no such name; Enter lists them, or type bytes a second, such as 118MB, or 70ops") from None


def read_group(name: str, clients: str, transfers: str, size: str, *, number: int) -> UserGroup | None:
    """Clients that work alike; None for an empty line. Raises UsageError."""
    if not any(text.strip() for text in (clients, transfers, size)):
        return None
    each, file_bytes = _demand(transfers, size)
    preset = "" if size.strip() else transfers.strip()
    return UserGroup(
        name=name.strip() or preset or f"group {number}",
        clients=read_count(clients),
        transfers_per_second=each,
        file_bytes=file_bytes,
    )


def _demand(transfers: str, size: str) -> tuple[float, int]:
    if not size.strip():
        with contextlib.suppress(UsageError):
            return read_demand(transfers)
    try:
        each = float(transfers)
    except ValueError:
        each = -1.0
    if not 0 <= each < 1e9:
        raise UsageError(f"transfers a second, such as 2.3, or {', '.join(DEMANDS)} with no size")
    try:
        return each, parse_size(size)
    except UsageError:
        raise UsageError("a file size, such as 12KB or 4M") from None
