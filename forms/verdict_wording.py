"""A verdict on a change in words: its sign, its sentence, and how a change and its interval are written.

Changes are in percent of the base: +100 % is twice as fast, -50 % half as fast. An interval is (low, high).
"""

from collections.abc import Mapping

from forms import wording
from forms.layout import Sign
from forms.stats.decision import Verdict

VERDICT_SIGNS: Mapping[Verdict, Sign] = {verdict: Sign[verdict.name] for verdict in Verdict}

VERDICT_WORDS: Mapping[Verdict, str] = {
    Verdict.FASTER: "Faster",
    Verdict.SLOWER: "Slower",
    Verdict.SAME: "No change",
    Verdict.UNKNOWN: "Inconclusive",
}

INCONCLUSIVE = f"{VERDICT_WORDS[Verdict.UNKNOWN]}: "
"""Begins the sentence of a verdict that is open."""

PROBABLY = "Probably"
"""Begins the sentence of an open verdict that leans to one side."""

_NARROW_PERCENT = 2.0
"""An interval narrower than this, in percentage points, is written with one digit after the point, others with none."""

_MOST_DIGITS = 2
"""Digits after the point at most, for the end of an interval that would else be rounded to zero."""

_FACTOR_FROM_PERCENT = 200.0
"""From this change on (three times as fast) a factor is written in place of percent."""

_MOST_FACTOR = 100.0
"""A larger factor is written as ``over 100``."""

_MOST_PERCENT = 9900.0
"""A larger end of an interval is worded: ``over 100 times as fast``."""

_MOST_TEXT = f"over {1 + _MOST_PERCENT / 100:.0f} times as fast"

_LEAST_PERCENT = -99.0
"""A smaller end of an interval (a hundredth) is written as ``below −99 %``."""

_WIDEST_FACTOR = 4.0
"""An interval whose ends differ by more than this factor, as from -50 % to +100 %, tells nothing."""

_ABOUT_TWICE = 1.05
"""Up to this factor from twice, or from half, people say so."""

_UNSURE_SHARE = 0.1
"""A change whose interval reaches down to less than this share of it is told by its interval first."""


def verdict_sentence(
    verdict: Verdict,
    change_percent: float,
    interval: tuple[float, float] | None,
    varies_by_percent: float | None = None,
) -> str:
    """The verdict with its interval, without a full stop: ``Faster by 43 % (29 % to 58 %)``.

    The change and its ``interval`` (low, high) are in percent of the base. ``varies_by_percent`` is what the runs vary
    by: told in place of an interval that is too wide to be an answer.
    """
    low, high = sorted(interval) if interval else (None, None)
    if verdict is Verdict.UNKNOWN:
        return _inconclusive(change_percent, low, high, varies_by_percent)
    if verdict is Verdict.SAME:
        reach = interval_text(low, high, _digits(low, high)) if low is not None and high is not None else ""
        return f"No change{reach}"
    reach = range_of_verdict(verdict, change_percent, interval) if interval else ""
    if verdict is Verdict.FASTER and change_percent >= _FACTOR_FROM_PERCENT:
        in_brackets = f" ({reach})" if reach else ""
        return f"Faster by a factor of {_factor(change_percent)}{in_brackets}"

    # Slower by 30 % is a change of -30 %: from here on everything is positive.
    sign = 1 if verdict is Verdict.FASTER else -1
    word = VERDICT_WORDS[verdict]
    if low is None or high is None:
        return f"{word} by {_size(sign * change_percent, 0)}"

    change = _size(sign * change_percent, _digits(low, high))
    if min(sign * low, sign * high) < _UNSURE_SHARE * sign * change_percent:
        return f"{word} by {reach} ({change} seen)"
    return f"{word} by {change} ({reach})"


def verdict_on_two(sentence: str, verdict: Verdict, other: str, base: str) -> str:
    """A verdict's sentence that says which is faster than which: ``new is faster than old by 43 % (29 % to 58 %)``.

    Sentences of other forms stay as they are.
    """
    sentence_begins = {
        Verdict.FASTER: f"{other} is faster than {base}",
        Verdict.SLOWER: f"{other} is slower than {base}",
        Verdict.SAME: f"{other} is as fast as {base}",
    }
    if verdict in sentence_begins:
        return sentence.replace(VERDICT_WORDS[verdict], sentence_begins[verdict], 1)

    for direction in ("faster", "slower"):
        leaning = f"{PROBABLY} {direction}"
        if sentence.startswith(leaning):
            return sentence.replace(leaning, f"{other} is {PROBABLY.lower()} {direction} than {base}", 1)

    # "Inconclusive: 3 % slower (27 % slower to 28 % faster)."
    lead, bracket, reach = sentence.partition(" (")
    change = lead.removeprefix(INCONCLUSIVE)
    if change == lead or not change.endswith(("slower", "faster")):
        return sentence
    return f"{INCONCLUSIVE}{other} is {change} than {base}{bracket}{reach}"


def range_of_verdict(verdict: Verdict, change_percent: float, interval: tuple[float, float]) -> str:
    """The interval of a side that is faster or slower, as beside that: ``29 % to 58 %``, or ``3.1 to 4.2``, factors."""
    low, high = sorted(interval)
    if verdict is Verdict.FASTER and change_percent >= _FACTOR_FROM_PERCENT:
        return f"{_factor(low)} to {_factor(high)}"

    # The near end is the one next to zero.
    sign = 1 if verdict is Verdict.FASTER else -1
    near, far = sorted((sign * low, sign * high))
    digits = _digits(low, high)
    return f"{_near_end(near, digits)} to {_size(far, digits)}"


def verdict_in_words(verdict: Verdict, change_percent: float, interval: tuple[float, float] | None) -> str:
    """A verdict that is known, in the fewest words: ``20 % faster``, ``about twice as fast``, ``no change``."""
    if verdict is Verdict.SAME:
        return "no change"

    word = VERDICT_WORDS[verdict].lower()
    sign = 1 if verdict is Verdict.FASTER else -1
    nearest = min(sign * end for end in interval) if interval else None
    if nearest is not None and nearest < _UNSURE_SHARE * sign * change_percent:
        return f"{word}, by how much is open"

    factor = 1 + change_percent / 100
    if 1 / _ABOUT_TWICE <= 2 * factor <= _ABOUT_TWICE:
        return "about half as fast"
    if 1 / _ABOUT_TWICE <= factor / 2 <= _ABOUT_TWICE:
        return "about twice as fast"
    if change_percent > MOST_PLAIN_PERCENT:
        return f"about {_factor(change_percent)} times as fast"
    return f"{_size(sign * change_percent, 0)} {word}"


def _inconclusive(change_percent: float, low: float | None, high: float | None, varies_by: float | None) -> str:
    if low is None or high is None:
        return f"{INCONCLUSIVE}{_seen_change(change_percent, 0)}"
    if is_too_wide(low, high):
        amount = f" (by {wording.percent(varies_by)} over all of them)" if varies_by is not None else ""
        return f"{INCONCLUSIVE}these runs vary too much to tell{amount}"

    digits = _digits(low, high)
    change = _seen_change(change_percent, digits)
    return f"{INCONCLUSIVE}{change} ({_direction_text(low, digits)} to {_direction_text(high, digits)})"


def _seen_change(change_percent: float, digits: int) -> str:
    """``3 % faster``, or ``no difference seen``."""
    change = _direction_text(change_percent, digits)
    return change if round(change_percent, digits) else f"{change} seen"


def is_too_wide(low_percent: float, high_percent: float) -> bool:
    """Whether the ends of an interval differ by more than a factor of four, so that it tells nothing.

    As factors the ends are 1 + low / 100 and 1 + high / 100.
    """
    return 100 + high_percent > _WIDEST_FACTOR * max(0.0, 100 + low_percent)


def _digits(low: float, high: float) -> int:
    """The digits after the point with which a change and the ends of its interval are written."""
    return 1 if high - low < _NARROW_PERCENT else 0


def _near_end(size_percent: float, digits: int) -> str:
    """The end of an interval next to zero, which it excludes: never rounded to zero."""
    while digits < _MOST_DIGITS and not round(size_percent, digits):
        digits += 1
    return _size(size_percent, digits) if round(size_percent, digits) else "almost 0 %"


def _direction_text(percent: float, digits: int) -> str:
    """``3 % faster``, ``2 % slower`` or ``no difference``."""
    if not round(percent, digits):
        return "no difference"
    if percent > _MOST_PERCENT:
        return _MOST_TEXT
    size = f"over {-_LEAST_PERCENT:.0f} %" if percent < _LEAST_PERCENT else _size(abs(percent), digits)
    return f"{size} faster" if percent > 0 else f"{size} slower"


def beyond(percent: float) -> str:
    """A change to both sides that equal series may show: ``3 %``, or ``50 % slower or 100 % faster``."""
    digits = 1 if percent < _NARROW_PERCENT else 0
    # By a factor both ways: twice as fast is 100 % faster, and half as fast 50 % slower.
    slower_percent = 100 - 100 / (1 + percent / 100)
    slower = "99 %" if slower_percent > 99 else _size(slower_percent, digits)
    if percent > _MOST_PERCENT:
        return f"{slower} slower or {_MOST_TEXT}"
    faster = _size(percent, digits)
    return faster if slower == faster else f"{slower} slower or {faster} faster"


def interval_text(low: float, high: float, digits: int = 0) -> str:
    """`` (+29 % to +58 %)``, with a blank before it."""
    return f" ({signed_end(low, digits)} to {signed_end(high, digits)})"


def signed_end(percent: float, digits: int = 0) -> str:
    """An interval's end with its sign; far ones as a bound."""
    if percent > _MOST_PERCENT:
        return _MOST_TEXT
    if percent < _LEAST_PERCENT:
        return f"below {wording.MINUS}{-_LEAST_PERCENT:.0f} %"

    rounded = round(percent, digits)
    sign = ""
    if rounded:
        sign = wording.MINUS if rounded < 0 else "+"
    return f"{sign}{abs(rounded):,.{digits}f} %"


def _size(percent: float, digits: int) -> str:
    """A change without a plus."""
    return signed_end(percent, digits).replace("+", "")


MOST_PLAIN_PERCENT = 100.0
"""A larger change is written as a factor: it is more than a rate can fall by."""


def change_size(change_percent: float) -> str:
    """``19 %``, or ``a factor of 2.1`` where it is more than a rate can fall by."""
    if change_percent > MOST_PLAIN_PERCENT:
        return f"a factor of {_factor(change_percent)}"
    return wording.percent(change_percent)


def _factor(percent: float) -> str:
    """A change as a factor: 110 % is ``2.1``."""
    factor = 1 + percent / 100
    if factor > _MOST_FACTOR:
        return f"over {_MOST_FACTOR:.0f}"
    return f"{factor:.1f}" if factor < 10 else f"{factor:.0f}"
