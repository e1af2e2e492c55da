"""How each verdict is shown: as one sign, as good or bad, and as one short sentence."""

from collections.abc import Mapping

from forms.layout import Tone
from forms.stats.decision import Verdict

VERDICT_SIGNS: Mapping[Verdict, str] = {
    Verdict.FASTER: "+",
    Verdict.SLOWER: "-",
    Verdict.SAME: "=",
    Verdict.UNKNOWN: "?",
}
VERDICT_TONES: Mapping[Verdict, Tone] = {
    Verdict.FASTER: Tone.GOOD,
    Verdict.SLOWER: Tone.BAD,
    Verdict.SAME: Tone.PLAIN,
    Verdict.UNKNOWN: Tone.CAUTION,
}
VERDICT_WORDS: Mapping[Verdict, str] = {
    Verdict.FASTER: "Faster",
    Verdict.SLOWER: "Slower",
    Verdict.SAME: "No change",
    Verdict.UNKNOWN: "Inconclusive",
}
_NARROW_PERCENT = 2.0
"""The width of an interval from which on decimals say nothing."""
_FACTOR_FROM = 200.0
"""From that change in percent on a factor is easier to read: 3 times as much, and beyond."""
_MOST_FACTOR, _LEAST_PERCENT = 100.0, -99.0
"""An interval's end beyond them is not written out: few repeats that differ much make millions of percent."""
MINUS = "−"


def verdict_sentence(verdict: Verdict, change_percent: float, interval: tuple[float, float] | None) -> str:
    """The verdict with its interval, such as ``Faster by 43 % (29 % to 58 %)``; without its full stop."""
    ends = sorted(interval) if interval else None
    digits = 1 if ends and ends[1] - ends[0] < _NARROW_PERCENT else 0
    if verdict is Verdict.FASTER and change_percent >= _FACTOR_FROM:
        reach = f" ({_factor(ends[0])} to {_factor(ends[1])})" if ends else ""
        return f"Faster by a factor of {_factor(change_percent)}{reach}"
    if verdict in {Verdict.FASTER, Verdict.SLOWER}:
        sign = 1 if verdict is Verdict.FASTER else -1
        low, high = sorted(sign * end for end in ends) if ends else (0.0, 0.0)
        reach = f" ({_size(low, digits)} to {_size(high, digits)})" if ends else ""
        return f"{VERDICT_WORDS[verdict]} by {_size(sign * change_percent, digits)}{reach}"
    reach = f" ({signed_end(ends[0], digits)} to {signed_end(ends[1], digits)})" if ends else ""
    if verdict is Verdict.SAME:
        return f"No change{reach}"
    shown = round(abs(change_percent), digits)
    way = "faster" if change_percent > 0 else "slower"
    seen = f"{_size(abs(change_percent), digits)} {way}" if shown else "no difference seen"
    return f"Inconclusive: {seen}{reach}"


def signed_end(percent: float, digits: int = 0) -> str:
    """An end of an interval with its sign; far ones as a factor, or as no more than that they are far."""
    if percent >= _FACTOR_FROM:
        return f"×{_factor(percent)}"
    if percent < _LEAST_PERCENT:
        return f"below {MINUS}{-_LEAST_PERCENT:.0f} %"
    rounded = round(percent, digits)
    sign = MINUS if rounded < 0 else "+" if rounded > 0 else ""
    return f"{sign}{abs(rounded):.{digits}f} %"


def _size(percent: float, digits: int) -> str:
    if percent >= _FACTOR_FROM:
        return f"a factor of {_factor(percent)}"
    return signed_end(percent, digits).removeprefix("+") if percent < 0 else f"{percent:.{digits}f} %"


def _factor(percent: float) -> str:
    factor = 1 + percent / 100
    if factor > _MOST_FACTOR:
        return f"over {_MOST_FACTOR:.0f}"
    return f"{factor:.1f}" if factor < 10 else f"{factor:.0f}"
