"""The course of a run: what had moved when, and how fast it was."""

from collections.abc import Sequence

Curve = Sequence[tuple[float, int]]
"""(seconds since the first request, bytes moved), in order."""

SHOWN_SECONDS = 60
"""The newest seconds of a measurement whose rates are drawn."""
STALL_SECONDS = 3.0
"""Without a byte for so long, a run is called stalled."""
_BLOCKS = "▁▂▃▄▅▆▇█"


def last_second(curve: Curve) -> float | None:
    """The rate over the last second of a run, in bytes per second; of all of it while it is younger."""
    if not curve or curve[-1][0] <= 0:
        return None
    end, moved_bytes = curve[-1]
    start = max(0.0, end - 1.0)
    return (moved_bytes - moved_at(curve, start)) / (end - start)


def moved_at(curve: Curve, seconds: float) -> float:
    """What had moved then, between two samples in proportion."""
    earlier = 0.0
    bytes_before = 0
    for later, bytes_after in curve:
        if later >= seconds:
            share = (seconds - earlier) / (later - earlier) if later > earlier else 1.0
            return bytes_before + share * (bytes_after - bytes_before)
        earlier = later
        bytes_before = bytes_after
    return float(bytes_before)


def sparkline(rates: Sequence[float | None], cells: int) -> str:
    """The last rates as blocks: the highest fills its cell, others eighths of it (at least one); unknown is blank."""
    last_rates = rates[-cells:] if cells > 0 else ()
    highest = max(filter(None, last_rates), default=1.0)
    return "".join(_block(rate, highest) for rate in last_rates)


def _block(rate: float | None, highest: float) -> str:
    if rate is None:
        return " "
    eighths = round(rate / highest * len(_BLOCKS))
    return _BLOCKS[max(0, eighths - 1)]
