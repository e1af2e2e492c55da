"""How fast a series moves from second to second, and how long it still takes: from what was heard of its runs."""

from collections.abc import Sequence
from itertools import pairwise

SHOWN_SECONDS = 60
"""What a sparkline goes back to."""
STALL_SECONDS = 3.0
"""Without a byte for so long, a run is called stalled."""
_BLOCKS = "▁▂▃▄▅▆▇█"

Curve = Sequence[tuple[float, int]]
"""(seconds since the first request, bytes moved), in order."""


def last_second(curve: Curve) -> float | None:
    """The rate over the last second of a run, in bytes per second; of all of it while it is younger."""
    if not curve or curve[-1][0] <= 0:
        return None
    end, moved = curve[-1]
    start = max(0.0, end - 1.0)
    return (moved - moved_at(curve, start)) / (end - start)


def each_second(curve: Curve) -> list[float]:
    """The rate in each whole second of a run, in bytes per second."""
    whole = int(curve[-1][0]) if curve else 0
    moved = [moved_at(curve, float(second)) for second in range(max(0, whole - SHOWN_SECONDS), whole + 1)]
    return [after - before for before, after in pairwise(moved)]


def moved_at(curve: Curve, seconds: float) -> float:
    """What had moved then, between two samples in proportion."""
    earlier, before = 0.0, 0
    for later, after in curve:
        if later >= seconds:
            share = (seconds - earlier) / (later - earlier) if later > earlier else 1.0
            return before + share * (after - before)
        earlier, before = later, after
    return float(before)


def sparkline(rates: Sequence[float], cells: int) -> str:
    """The last rates, a block each of the nearest eighth of the highest of them; the least there is for nothing."""
    shown = rates[-cells:] if cells > 0 else ()
    highest = max(shown, default=0.0)
    if highest <= 0:
        return _BLOCKS[0] * len(shown)
    return "".join(_BLOCKS[max(0, round(rate / highest * len(_BLOCKS)) - 1)] for rate in shown)
