"""Figures and names as sentences, cells and spreadsheets write them: rates, sizes, times, percent, series, changes.

From the top: numbers with their units; then words for runs, changes and series.
"""

from collections.abc import Mapping
from dataclasses import replace

from forms import layout
from forms.layout import Sign, Toned
from forms.stats.unusual import UnusualRate
from storage.records import Change, Command, Decision, Series, SeriesStatus, Target, format_target, shows_utc

_RATE_UNITS = ((10**12, "Tb/s"), (10**9, "Gb/s"), (10**6, "Mb/s"), (10**3, "kb/s"))
_BYTE_UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
_BINARY_UNITS = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))

ABSENT = "-"
"""What stands for a figure that is not known."""

ANSWER = "Answer"
VERDICT = "Verdict"
"""The names of the first field of a form, a sentence to act on; screens show it above the form."""


def whole(value: float | None) -> str:
    return ABSENT if value is None else f"{value:,.0f}"


def cell_seconds(value: float | None) -> str:
    return ABSENT if value is None else f"{value:,.4f}"


def cell_milliseconds(value: float | None) -> str:
    """To three figures, from a microsecond on: ``0.251``, ``9.34``, ``69.4``, ``1,204``."""
    if value is None:
        return ABSENT
    for bound, decimals in _DECIMALS_BELOW:
        if value < bound:
            return f"{value:.{decimals}f}"
    return f"{value:,.0f}"


_DECIMALS_BELOW = ((0.9995, 3), (9.995, 2), (99.95, 1))
"""(bound, decimals): numbers below the bound have as many, so that none has more than three figures."""


def cell_percent(value: float | None) -> str:
    return ABSENT if value is None else f"{value:,.2f}"


_MOST_SIGNED_PERCENT = 999.95
"""Of a change that is told: from eleven times as fast on, its percents are no figure that anybody needs."""


def signed_percent(value: float | None) -> str:
    """A change in percent, with its sign: ``+2.5 %``."""
    if value is None:
        return ABSENT
    if value >= _MOST_SIGNED_PERCENT:
        return "> +999 %"

    # Adding 0.0 makes a negative zero a positive one.
    rounded = round(value, 1) + 0.0
    return with_minus(f"{rounded:+,.1f} %")


def with_minus(number: str) -> str:
    return number.replace("-", MINUS)


def _scaled(value: float, units: tuple[tuple[int, str], ...], smallest: str) -> str:
    for factor, unit in units:
        if abs(value) >= factor:
            scaled = value / factor
            # From 999.5 on, three figures would be written with an exponent.
            text = f"{scaled:.0f}" if scaled == int(scaled) or scaled >= 999.5 else f"{scaled:.3g}"
            return f"{text} {unit}"
    return f"{value:.0f} {smallest}"


def link_rate(bits_per_second: float | None) -> str:
    """Nominal link speed: ``1 Gb/s``, ``2.5 Gb/s``; ``link`` where unknown."""
    return "link" if bits_per_second is None else _scaled(bits_per_second, _RATE_UNITS, "b/s")


def typed_rate(bits_per_second: int) -> str:
    """Bits per second as ``--link`` reads them: ``100M``, ``2.5G``."""
    for factor, unit in _RATE_UNITS:
        if bits_per_second >= factor:
            # Nine digits keep every rate that somebody types.
            return f"{bits_per_second / factor:.9g}{unit[0].upper()}"
    return str(bits_per_second)


def byte_rate(bytes_per_second: float | None) -> str:
    """Throughput to three figures: ``118 MB/s``; comparisons use :func:`rate`."""
    return ABSENT if bytes_per_second is None else _scaled(bytes_per_second, _BYTE_UNITS, "B") + "/s"


def operations_rate(operations_per_second: float) -> str:
    """``15,500 operations/s``; with a decimal below 100."""
    decimals = 0 if operations_per_second >= 100 else 1
    return f"{operations_per_second:,.{decimals}f} operations/s"


def operations_text(series: Series, bytes_per_second: float | None) -> str:
    """A rate of the series' requests, such as its average or ceiling; empty where it moved whole files."""
    block_bytes = series.client.block_bytes
    if not series.is_random or not block_bytes or bytes_per_second is None:
        return ""
    return operations_rate(bytes_per_second / block_bytes)


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


_DECIMAL = ("", "k", "M", "G", "T", "P")
"""The prefixes of powers of 1000."""

_BINARY = ("", "K", "M", "G", "T", "P")
"""The suffixes of powers of 1024."""

_SHORT_SIZE = 5
"""The letters of a typed size that is short enough for people: ``4096K``."""


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


def table_rate(bytes_per_second: float) -> str:
    """Throughput with the decimals that it has in a table whose column is in MB/s: ``119.5 MB/s``."""
    return f"{bytes_per_second / 1e6:,.1f} MB/s"


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


def faster_or_slower(change_percent: float) -> str:
    """A change without a sign: ``10 % slower``."""
    way = "slower" if change_percent < 0 else "faster"
    return f"{percent(abs(change_percent))} {way}"


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


def quoted(name: str, value: str) -> str:
    """The value where it ends a sentence, so that nobody reads it as a word of that: ``"no"``."""
    return f'"{value_of(name, value)}"'


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


def name_of(series: Series) -> str:
    """Label, title or ``get nas/data/file``; beside other series see :mod:`forms.series.names`."""
    moved = f"{series.command} {place(series.target).removeprefix('smb://')}"
    return plain(_own_name(series) or moved)


def name_on_server(series: Series) -> str:
    """The name beside other series of its server, which need not be told: label, title or ``get data/file``."""
    target = series.target
    if _own_name(series) or not target.share:
        return name_of(series)
    path = target.path.lstrip("/")
    return plain(f"{series.command} {target.share}/{path}".rstrip("/"))


def _own_name(series: Series) -> str:
    """The label, or a title that somebody gave; empty without either."""
    has_own_title = series.title != default_title(series.command, series.target)
    return series.label or (series.title if has_own_title else "")


STATUS_SIGNS: Mapping[SeriesStatus, Sign] = {SeriesStatus.INTERRUPTED: Sign.STOPPED, SeriesStatus.FAILED: Sign.BAD}

MINUS = "−"


def ended_early(status: SeriesStatus, error: str = "") -> Toned:
    """``‖ interrupted: cancelled``, in its tone."""
    sign = STATUS_SIGNS[status]
    return Toned(f"{sign} {status}{error}", sign.tone)


def when_heading() -> str:
    """The heading of a column of times, with their zone."""
    zone = "UTC" if shows_utc.get() else layout.local_zones()
    return f"When ({zone})"
