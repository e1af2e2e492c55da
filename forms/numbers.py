"""Numbers and units as they stand on a form, and as people and spreadsheets write them."""

import re

_RATE_UNITS = ((10**12, "Tb/s"), (10**9, "Gb/s"), (10**6, "Mb/s"), (10**3, "kb/s"))
_BYTE_UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_RATE = re.compile(r"([\d.,]+)\s*([kmgt]?)(?:b|bit|bits|bps|b/s|bit/s|bits/s)?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
ABSENT = "-"
"""What stands in a cell that has no number."""


def whole(value: float | None) -> str:
    """A number without decimals, thousands apart: ``1,812,898``."""
    return ABSENT if value is None else f"{value:,.0f}"


def seconds(value: float | None) -> str:
    """Seconds with four decimals: ``2.3000``."""
    return ABSENT if value is None else f"{value:,.4f}"


def percent(value: float | None) -> str:
    """A percentage with two decimals, without the sign: ``60.95``."""
    return ABSENT if value is None else f"{value:,.2f}"


def signed_percent(value: float | None) -> str:
    """A change in percent, with its sign: ``+2.5 %``."""
    return ABSENT if value is None else f"{round(value, 1) + 0.0:+,.1f} %"


def _scaled(value: float, units: tuple[tuple[int, str], ...], smallest: str) -> str:
    for factor, unit in units:
        if abs(value) >= factor:
            scaled = value / factor
            text = f"{scaled:.0f}" if scaled == int(scaled) or scaled >= 999.5 else f"{scaled:.3g}"
            return f"{text} {unit}"
    return f"{value:.0f} {smallest}"


def link_rate(bits_per_second: float | None) -> str:
    """A link's nominal rate as networks are sold: ``1 Gb/s``, ``2.5 Gb/s``; ``link`` where it is unknown."""
    return "link" if bits_per_second is None else _scaled(bits_per_second, _RATE_UNITS, "b/s")


def byte_rate(bytes_per_second: float | None) -> str:
    """A throughput at a glance: ``118 MB/s``, three figures; sentences that compare say :func:`forms.wording.rate`."""
    return ABSENT if bytes_per_second is None else _scaled(bytes_per_second, _BYTE_UNITS, "B") + "/s"


def size(size_bytes: int) -> str:
    """A size to be read: ``64 MiB``, three figures; what is to be typed says :func:`forms.wording.size`, exactly."""
    for factor, unit in ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size_bytes >= factor:
            scaled = size_bytes / factor
            return f"{scaled:.0f} {unit}" if scaled == int(scaled) or scaled >= 999.5 else f"{scaled:.3g} {unit}"
    return f"{size_bytes} {'byte' if size_bytes == 1 else 'bytes'}"


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
