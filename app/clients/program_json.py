"""Reads the JSON that a program writes about a transfer, with None for whatever is not as it should be."""

import json

from storage.json_reader import LARGEST


def parsed_object(text: str) -> dict[str, object] | None:
    """None for anything but a JSON object, and for one nested too deep or with too long numbers."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None


def value_at(raw: object, *keys: str) -> object:
    """The value at a path of keys; None where an object on the way, or the key, is missing."""
    for key in keys:
        raw = raw.get(key) if isinstance(raw, dict) else None
    return raw


def finite_number(value: object) -> float | None:
    """None for what is no number, and for one that is too large to be stored."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -LARGEST <= value <= LARGEST:
        return None
    return float(value)


def whole_number(value: object) -> int | None:
    """None for what is no number, and for a negative one."""
    number = finite_number(value)
    if number is None or number < 0:
        return None
    return value if isinstance(value, int) else int(number)
