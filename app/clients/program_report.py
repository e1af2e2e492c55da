"""A report that another program prints as JSON, read without trust in its shape."""

from __future__ import annotations

import json

MOST_BYTES = 2**63 - 1
"""The largest file that there can be, and the largest number that a notebook keeps."""


def parsed_object(text: str) -> dict[str, object] | None:
    """The object that a program printed; None for anything else, too deep and too long numbers included."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None


def part(raw: object, *keys: str) -> object:
    """What lies under the keys, one in another; None where one is missing."""
    for key in keys:
        raw = raw.get(key) if isinstance(raw, dict) else None
    return raw


def finite(value: object) -> float | None:
    """A number that can be computed with; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -MOST_BYTES <= value <= MOST_BYTES:
        return None
    return float(value)


def whole(value: object) -> int | None:
    """A number of bytes, blocks or streams; None for anything else."""
    number = finite(value)
    if number is None or number < 0:
        return None
    return value if isinstance(value, int) else int(number)
