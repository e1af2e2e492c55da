"""Figures and names as sentences, cells and spreadsheets write them."""

import re
from collections.abc import Mapping
from dataclasses import replace

from forms import layout
from forms.layout import Sign, Toned
from forms.stats.decision import Verdict
from forms.stats.summary import UnusualRate
from storage.records import Change, Command, Decision, Series, SeriesStatus, Target, format_target, shows_utc, to_minute

_RATE_UNITS = ((10**12, "Tb/s"), (10**9, "Gb/s"), (10**6, "Mb/s"), (10**3, "kb/s"))
_BYTE_UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
_BINARY_UNITS = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_RATE = re.compile(r"([\d.,]+)\s*([kmgtKMGT]?)(?:b|[bB]its?|bps|b/s|[bB]its?/s)?")
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
ABSENT = "-"
ANSWER = "Answer"
VERDICT = "Verdict"
"""The name of the first field, a sentence to act on; screens show it above the form."""


def whole(value: float | None) -> str:
    return ABSENT if value is None else f"{value:,.0f}"


def cell_seconds(value: float | None) -> str:
    return ABSENT if value is None else f"{value:,.4f}"


def cell_percent(value: float | None) -> str:
    return ABSENT if value is None else f"{value:,.2f}"


def signed_percent(value: float | None) -> str:
    """A change in percent, with its sign: ``+2.5 %``."""
    if value is None:
        return ABSENT
    # Adding 0.0 makes a negative zero a positive one.
    rounded = round(value, 1) + 0.0
    return with_minus(f"{rounded:+,.1f} %")


def with_minus(number: str) -> str:
    return number.replace("-", MINUS)


def _scaled(value: float, units: tuple[tuple[int, str], ...], smallest: str) -> str:
    for factor, unit in units:
        if abs(value) >= factor:
            scaled = value / factor
            text = f"{scaled:.0f}" if scaled == int(scaled) or scaled >= 999.5 else f"{scaled:.3g}"
            return f"{text} {unit}"
    return f"{value:.0f} {smallest}"


def link_rate(bits_per_second: float | None) -> str:
    """Nominal link speed: ``1 Gb/s``, ``2.5 Gb/s``; ``link`` where unknown."""
    return "link" if bits_per_second is None else _scaled(bits_per_second, _RATE_UNITS, "b/s")


def byte_rate(bytes_per_second: float | None) -> str:
    """Throughput to three figures: ``118 MB/s``; comparisons use :func:`rate`."""
    return ABSENT if bytes_per_second is None else _scaled(bytes_per_second, _BYTE_UNITS, "B") + "/s"


def rate_change(before: float, after: float) -> str:
    """Two throughputs to three figures, the unit told once where it is the same: ``87.0 → 152 MB/s``."""
    value_before, _, unit_before = byte_rate(before).partition(" ")
    value_after, _, unit_after = byte_rate(after).partition(" ")
    if unit_before == unit_after:
        return f"{value_before} → {value_after} {unit_after}"
    return f"{value_before} {unit_before} → {value_after} {unit_after}"


def binary_size(size_bytes: int) -> str:
    """Size to three figures: ``64 MiB``; :func:`typed_size` is exact."""
    return _scaled(size_bytes, _BINARY_UNITS, "byte" if size_bytes == 1 else "bytes")


def number_from(text: str, *, decimal_comma: bool = False) -> float | None:
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
    """Bits per second from ``1 Gb/s``, ``100M`` or ``10000000``; else None."""
    match = _RATE.fullmatch(text.strip())
    number = number_from(match[1]) if match else None
    if match is None or number is None:
        return None
    return round(number * _FACTORS[match[2].lower()]) or None


_DECIMAL = ("", "k", "M", "G", "T", "P")
_BINARY = ("", "K", "M", "G", "T", "P")
_SHORT_SIZE = 5


def typed_size(size_bytes: int) -> str:
    """Bytes as ``--size`` reads them: ``64K``, ``3G``; plain bytes where no power of 1024 divides them."""
    step = 0
    while size_bytes and size_bytes % 1024 == 0 and step < len(_BINARY) - 1:
        size_bytes //= 1024
        step += 1
    return f"{size_bytes}{_BINARY[step]}"


def file_size(size_bytes: int) -> str:
    """A file size: as typed where that is short, else to three figures: ``256M``, ``4.38 GiB``."""
    typed = typed_size(size_bytes)
    return typed if len(typed) <= _SHORT_SIZE else binary_size(size_bytes)


def seconds(value: float) -> str:
    return f"{value:.3g} s" if value < 999.5 else f"{value:.0f} s"


def duration(seconds: float) -> str:
    """A time a user waits for: ``8 s``, ``2.5 min``, ``2 h 10 min``; at least a second."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60) if seconds > 285 else round(seconds / 30) / 2  # halves below five
    if minutes < 120:
        return f"{minutes:g} min"
    return f"{minutes // 60} h {minutes % 60} min"


def milliseconds(seconds: float) -> str:
    value = 1000 * seconds
    return f"{value:.3g} ms" if value < 999.5 else f"{value:.0f} ms"


def percent(value: float) -> str:
    """At most three figures: ``0.8 %``, ``12 %``; never ``-0.0``."""
    text = f"{value:.1f}" if abs(value) < 10 else f"{value:.0f}"
    if text == "-0.0":
        text = "0.0"
    return f"{with_minus(text)} %"


def megabytes(value: float | None) -> float | None:
    return None if value is None else value / 1e6


def rate(bytes_per_second: float | None, *, beside: float | None = None) -> str:
    """Throughput to four figures: ``118.3 MB/s``, in the unit of ``beside``; a dash for None."""
    if bytes_per_second is None:
        return ABSENT
    if beside is None:
        step = _step_of(bytes_per_second)
        number = f"{bytes_per_second / 1000**step:#.4g}".rstrip(".")
        return f"{number} {_DECIMAL[step]}B/s"

    step = _step_of(beside)
    digits_before_point = len(f"{beside / 1000**step:.0f}")
    decimals = 4 - digits_before_point
    return f"{bytes_per_second / 1000**step:,.{decimals}f} {_DECIMAL[step]}B/s"


def _step_of(bytes_per_second: float) -> int:
    value = bytes_per_second
    step = 0
    # From 999.95 on, four figures would round to 1000.
    while abs(value) >= 999.95 and step < len(_DECIMAL) - 1:
        value /= 1000
        step += 1
    return step


TOO_LITTLE_WARM_UP = "too little warm-up"


def unusual_text(unusual: UnusualRate) -> str:
    """Why a run is unusual: ``12.3 % slower than the median run, more than others vary (…)``."""
    how_far = "far"
    if unusual.share_of_median is not None:
        how_far = f"{100 * unusual.share_of_median:.1f} %"
    way = "slower" if unusual.is_slow else "faster"
    score = with_minus(f"{unusual.score:+.1f}")
    text = (
        f"{how_far} {way} than the median run, more than others vary"
        f" (modified z-score {score}, limit {unusual.bound:g})"
    )
    return f"{TOO_LITTLE_WARM_UP}: {text}" if unusual.is_warm_up else text


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(words: list[str], last: str = "and") -> str:
    """Words as prose lists them: ``a``, ``a and b``, ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def decided(decision: Decision | None) -> str:
    """The word for what was decided about a change."""
    return {Decision.KEPT: "kept", Decision.REVERTED: "restored", None: "undecided"}[decision]


def changed(change: Change) -> str:
    before = f" (was {value_of(change.name, change.previous)})" if change.previous is not None else ""
    return f"{change.name} = {value_of(change.name, change.value)}{before}"


def value_of(name: str, value: str) -> str:
    """As it is typed: a block's bytes as ``64K``."""
    return typed_size(int(value)) if name == "block" and value.isdecimal() else value or "empty"


plain = layout.visible


def place(target: Target) -> str:
    """A target's URL without its user."""
    return plain(format_target(target, login=False, escaped=False))


def default_title(command: Command, target: Target) -> str:
    return plain(f"{target.protocol.upper()} {command}: {format_target(target)}")


def short_place(target: Target) -> str:
    """``HOST/SHARE`` over SMB, else the server's URL or the local path."""
    server = target if target.abilities.is_local else replace(target, path="")
    return place(server).removeprefix("smb://").rstrip("/") or "/"


def name_of(series: Series, *, beside: Series | None = None) -> str:
    """Label, title or ``get nas/data/file``; beside another of that server ``get data/file``, or with its time."""
    target = series.target
    title = "" if series.title == default_title(series.command, target) else series.title
    own_name = series.label or title
    full_name = plain(own_name or f"{series.command} {place(target).removeprefix('smb://')}")
    if beside is None:
        return full_name

    name = full_name
    if not own_name and target.share and _is_same_server(target, beside.target):
        path = target.path.lstrip("/")
        name = plain(f"{series.command} {target.share}/{path}".rstrip("/"))
    if full_name != name_of(beside):
        return name
    if target.protocol != beside.target.protocol:
        return f"{name} ({target.protocol.upper()})"
    return f"{name} ({_time_beside(series, beside)})"


def _is_same_server(target: Target, other: Target) -> bool:
    return (target.protocol, target.host, target.port) == (other.protocol, other.host, other.port)


def _time_beside(series: Series, other: Series) -> str:
    """A series' time, or of the same day its time of the day; the id where both began in one minute."""
    minute = to_minute(series.created_at)
    other_minute = to_minute(other.created_at)
    if minute == other_minute:
        return series.id
    is_same_day = minute[:10] == other_minute[:10]
    return minute[11:] if is_same_day else minute


VERDICT_SIGNS: Mapping[Verdict, Sign] = {verdict: Sign[verdict.name] for verdict in Verdict}
VERDICT_WORDS: Mapping[Verdict, str] = {
    Verdict.FASTER: "Faster",
    Verdict.SLOWER: "Slower",
    Verdict.SAME: "No change",
    Verdict.UNKNOWN: "Inconclusive",
}
STATUS_SIGNS: Mapping[SeriesStatus, Sign] = {SeriesStatus.INTERRUPTED: Sign.STOPPED, SeriesStatus.FAILED: Sign.BAD}
_NARROW_PERCENT = 2.0
_FACTOR_FROM = 200.0
_MOST_DIGITS = 2
_WIDEST_FACTOR = 4.0
_UNSURE_SHARE = 0.1
"""A change of which the interval reaches down to less than this share is told by its interval first."""
_MOST_FACTOR = 100.0
_MOST_PERCENT = 9900.0
_LEAST_PERCENT = -99.0
MINUS = "−"


def ended_early(status: SeriesStatus, error: str = "") -> Toned:
    """``‖ interrupted: cancelled``, in its tone."""
    sign = STATUS_SIGNS[status]
    return Toned(f"{sign} {status}{error}", sign.tone)


def verdict_sentence(
    verdict: Verdict,
    change_percent: float,
    interval: tuple[float, float] | None,
    varies_by_percent: float | None = None,
) -> str:
    """The verdict with its interval, without a full stop: ``Faster by 43 % (29 % to 58 %)``.

    ``varies_by_percent`` is what the runs vary by: told in place of an interval that is too wide to be an answer.
    """
    low, high = sorted(interval) if interval else (None, None)
    if verdict is Verdict.UNKNOWN:
        return _inconclusive(change_percent, low, high, varies_by_percent)
    if verdict is Verdict.SAME:
        reach = interval_text(low, high, _digits(low, high)) if low is not None and high is not None else ""
        return f"No change{reach}"
    if verdict is Verdict.FASTER and change_percent >= _FACTOR_FROM:
        reach = f" ({_factor(low)} to {_factor(high)})" if low is not None and high is not None else ""
        return f"Faster by a factor of {_factor(change_percent)}{reach}"

    sign = 1 if verdict is Verdict.FASTER else -1
    word = VERDICT_WORDS[verdict]
    if low is None or high is None:
        return f"{word} by {_size(sign * change_percent, 0)}"

    near, far = sorted((sign * low, sign * high))
    digits = _digits(low, high)
    change = _size(sign * change_percent, digits)
    reach = f"{_near_end(near, digits)} to {_size(far, digits)}"
    if near < _UNSURE_SHARE * sign * change_percent:
        return f"{word} by {reach} ({change} seen)"
    return f"{word} by {change} ({reach})"


def _inconclusive(change_percent: float, low: float | None, high: float | None, varies_by: float | None) -> str:
    if low is None or high is None:
        return f"Inconclusive: {_seen_change(change_percent, 0)}"
    if is_too_wide(low, high):
        amount = f" (by {percent(varies_by)})" if varies_by is not None else ""
        return f"Inconclusive: these runs vary too much to tell{amount}"

    digits = _digits(low, high)
    change = _seen_change(change_percent, digits)
    return f"Inconclusive: {change} ({_way(low, digits)} to {_way(high, digits)})"


def _seen_change(change_percent: float, digits: int) -> str:
    change = _way(change_percent, digits)
    return change if round(change_percent, digits) else f"{change} seen"


def is_too_wide(low_percent: float, high_percent: float) -> bool:
    """Whether an interval is wider than from -50 % to +100 %, a factor of four, and so tells nothing."""
    return 100 + high_percent > _WIDEST_FACTOR * max(0.0, 100 + low_percent)


def _digits(low: float, high: float) -> int:
    return 1 if high - low < _NARROW_PERCENT else 0


def _near_end(size_percent: float, digits: int) -> str:
    """The end of an interval next to zero, which it excludes: never rounded to zero."""
    while digits < _MOST_DIGITS and not round(size_percent, digits):
        digits += 1
    return _size(size_percent, digits) if round(size_percent, digits) else "almost 0 %"


def _way(percent: float, digits: int) -> str:
    if not round(percent, digits):
        return "no difference"
    size = f"over {-_LEAST_PERCENT:.0f} %" if percent < _LEAST_PERCENT else _size(abs(percent), digits)
    return f"{size} faster" if percent > 0 else f"{size} slower"


def beyond(percent: float) -> str:
    """A change to both sides that equal series may show: ``3 %``, or ``50 % slower or 100 % faster``."""
    digits = 1 if percent < _NARROW_PERCENT else 0
    # By a factor both ways: twice as fast is 100 % faster, and half as fast 50 % slower.
    slower_percent = 100 - 100 / (1 + percent / 100)
    slower = "99 %" if slower_percent > 99 else _size(slower_percent, digits)
    faster = _size(percent, digits).removeprefix("over ")
    return faster if slower == faster else f"{slower} slower or {faster} faster"


def interval_text(low: float, high: float, digits: int = 0) -> str:
    return f" ({signed_end(low, digits)} to {signed_end(high, digits)})"


def signed_end(percent: float, digits: int = 0) -> str:
    """An interval's end with its sign; far ones as a bound."""
    if percent > _MOST_PERCENT:
        return f"over +{_MOST_PERCENT:,.0f} %"
    if percent < _LEAST_PERCENT:
        return f"below {MINUS}{-_LEAST_PERCENT:.0f} %"

    rounded = round(percent, digits)
    sign = ""
    if rounded:
        sign = MINUS if rounded < 0 else "+"
    return f"{sign}{abs(rounded):,.{digits}f} %"


def _size(percent: float, digits: int) -> str:
    return signed_end(percent, digits).replace("+", "")


def change_size(change_percent: float) -> str:
    """``19 %``, or ``a factor of 2.1`` where it is more than a rate can fall by."""
    return f"a factor of {_factor(change_percent)}" if change_percent > 100.0 else percent(change_percent)


def _factor(percent: float) -> str:
    factor = 1 + percent / 100
    if factor > _MOST_FACTOR:
        return f"over {_MOST_FACTOR:.0f}"
    return f"{factor:.1f}" if factor < 10 else f"{factor:.0f}"


def when_heading() -> str:
    zone = "UTC" if shows_utc.get() else layout.local_zones()
    return f"When ({zone})"
