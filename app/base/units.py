"""Parses the sizes of files and the rates of links that a user types."""

import re
from decimal import Decimal

from app.base.errors import UsageError
from storage.json_reader import LARGEST

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?b)?", re.IGNORECASE)
_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:b|bit|bits|bps|b/s|bit/s|bits/s)?", re.IGNORECASE)
_BYTE_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgtKMGT]?)i?B(?:/s|ps|yte/s|ytes/s|yte|ytes)?")
"""With a capital B it is bytes, which link speeds do not use."""
_BIT_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT])(?:b|bits?)", re.ASCII)
"""With a small b it is bits, which sizes of files do not use."""
_POWER = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def parse_size(text: str) -> int:
    """``64K``, ``1M``, ``3G`` and ``64KiB`` are powers of 1024, ``64KB`` of 1000. Raises UsageError."""
    bits = _BIT_SIZE.fullmatch(text.strip())
    if bits:
        raise UsageError(f"{text.strip()} is bits; did you mean {bits[1]}{bits[2]}B?")

    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise UsageError(f"not a size: {text!r}; write it like 64K, 1M, 3G (powers of 1024) or 500MB (10^6)")

    number, prefix, unit = match.groups()
    base = 1000 if prefix and (unit or "").lower() == "b" else 1024
    size = _multiply(number, base ** _POWER[prefix.lower()])
    if size < 1:
        raise UsageError(f"a size must be at least one byte: {text!r}")
    if size > LARGEST:
        raise UsageError(f"no file is that large: {text[:40]!r}; write it like 64K, 1M, 3G or 500MB")
    return size


def parse_rate(text: str) -> int:
    """Bits per second, decimal: ``10M``, ``100M``, ``2.5G``. Raises UsageError."""
    in_bytes = _BYTE_RATE.fullmatch(text.strip())
    if in_bytes:
        bits = (8 * Decimal(in_bytes[1])).normalize()
        raise UsageError(f"{text.strip()} is bytes; did you mean {bits:f}{in_bytes[2].upper()}?")

    match = _RATE.fullmatch(text.strip())
    if not match:
        raise UsageError(f"not a link rate: {text!r}; write it like 100M, 1G, 2.5G or 10G, or auto")

    number, prefix = match.groups()
    rate = _multiply(number, 1000 ** _POWER[prefix.lower()])
    if rate < 1000:
        raise UsageError(f"no link is that slow: {text!r}; write it like 100M, 1G, 2.5G or 10G, or auto")
    if rate > LARGEST:
        raise UsageError(f"no link is that fast: {text[:40]!r}; write it like 100M, 1G, 2.5G or 10G, or auto")
    return rate


def _multiply(number: str, factor: int) -> int:
    """Exact up to the last bytes, which a float would lose; a fraction is cut off."""
    return int(Decimal(number) * factor)
