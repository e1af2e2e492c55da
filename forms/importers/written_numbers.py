"""Numbers as people and spreadsheets write them: thousands apart, decimal commas, rates with units."""

from __future__ import annotations

import re

_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_RATE = re.compile(r"([\d.,]+)\s*([kmgt]?)(?:b|bit|bits|bps|b/s|bit/s|bits/s)?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def number_from(text: str, *, decimal_comma: bool = False) -> float | None:
    """The finite number that a text is; None where it is none."""
    text = text.strip().replace("\u00a0", "").replace("\u202f", "").replace(" ", "").replace("'", "")
    if decimal_comma:
        text = text.replace(".", "") if "," in text or text.count(".") > 1 else text
        text = text.replace(",", ".")
    elif _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < 1e300 else None


def rate_from(text: str) -> int | None:
    """Bits per second from ``1 Gb/s``, ``100M`` or ``10000000``; None where a text is no rate."""
    match = _RATE.fullmatch(text.strip())
    number = number_from(match[1]) if match else None
    if match is None or number is None:
        return None
    return round(number * _FACTORS[match[2].lower()]) or None
