"""One series computed: its form, and its progress while it is measured."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from forms import wording
from forms.findings.path import PRACTICE_BYTES_PER_SECOND, is_loopback_address, practice_text
from forms.findings.series_warnings import GOOD_SECONDS, MEMORY_SHARE, SHORT_SECONDS, advice, advised_size
from forms.layout import Tone, Toned
from forms.stats import summary
from forms.stats.settle import Shown, shown_like
from forms.wording import link_rate
from storage.json_reader import named
from storage.plan import QuietTime
from storage.records import Evidence, Phase, QuietVerdict, Run, RunStatus, Series, SeriesStatus, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMeasures:
    """One value per numeric column; absent where unknown."""

    size_bytes: float | None
    seconds: float | None
    bytes_per_second: float | None
    bits_per_second: float | None
    percent_of_link: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    run: Run
    measures: RunMeasures
    unusual: summary.UnusualRate | None = None

    @property
    def label(self) -> str:
        return f"W{self.run.number}" if self.run.phase is Phase.WARM_UP else str(self.run.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesSummary:
    series: Series
    warm_ups: tuple[RunRow, ...]
    rows: tuple[RunRow, ...]
    average: RunMeasures | None
    deviation: RunMeasures | None
    average_with_rejected: RunMeasures | None
    deviation_with_rejected: RunMeasures | None
    median_bytes_per_second: float | None
    confidence: tuple[float, float] | None
    """The 95 % interval of the mean in bytes/s; absent below two runs."""
    half_width_percent: float | None
    shown: Shown | None

    @property
    def sustained_bytes_per_second(self) -> float | None:
        valid = [run for run in self.series.measured() if run.seconds]
        seconds = sum(run.seconds or 0.0 for run in valid)
        return sum(run.size_bytes for run in valid) / seconds if seconds else None

    @property
    def average_rate(self) -> float | None:
        return self.average.bytes_per_second if self.average else None

    @property
    def band(self) -> tuple[float, float] | None:
        average, deviation = self.average_rate, self.deviation.bytes_per_second if self.deviation else None
        return None if average is None or deviation is None else (average - deviation, average + deviation)

    @property
    def all_rows(self) -> tuple[RunRow, ...]:
        return self.warm_ups + self.rows


def column_names(link_bits_per_second: int | None) -> tuple[str, ...]:
    """The six headings of the paper form, with the real link speed for 10 Mb/s."""
    return ("Run No", "Size in Bytes", "Time (sec)", "Bytes/sec", "Bits/sec", f"% of {link_rate(link_bits_per_second)}")


def measures_of(run: Run, link_bits_per_second: int | None) -> RunMeasures:
    return RunMeasures(
        **named(run, "size_bytes", "seconds", "bytes_per_second", "bits_per_second"),
        percent_of_link=run.percent_of_link(link_bits_per_second),
    )


def run_form(series: Series) -> SeriesSummary:
    link = series.link_bits_per_second
    measured = [r for r in series.runs if r.phase is Phase.MEASURED]
    finished = [r for r in measured if r.status is not RunStatus.FAILED]
    valid = series.measured()
    rates = [r.bytes_per_second for r in valid if r.bytes_per_second is not None]
    unusual = unusual_runs(series)
    with_rejected = finished if len(finished) > len(valid) else []
    return SeriesSummary(
        series=series,
        warm_ups=tuple(RunRow(run=r, measures=measures_of(r, link)) for r in series.runs if r.phase is Phase.WARM_UP),
        rows=tuple(RunRow(run=r, measures=measures_of(r, link), unusual=unusual.get(r.number)) for r in measured),
        average=_each_column(summary.mean, valid, link),
        deviation=_each_column(summary.deviation, valid, link, least=2),
        average_with_rejected=_each_column(summary.mean, with_rejected, link),
        deviation_with_rejected=_each_column(summary.deviation, with_rejected, link, least=2),
        median_bytes_per_second=summary.median(rates) if rates else None,
        confidence=summary.confidence_interval(rates),
        half_width_percent=summary.half_width_percent(rates),
        shown=shown_like(rates),
    )


def unusual_runs(series: Series) -> dict[int, summary.UnusualRate]:
    valid = series.measured()
    rates = [r.bytes_per_second or 0.0 for r in valid]
    seconds = [r.seconds for r in valid if r.seconds]
    return {
        r.number: unusual for r, unusual in zip(valid, summary.unusual_rates(rates, seconds), strict=True) if unusual
    }


def _each_column(
    statistic: Callable[[Sequence[float]], float | None], runs: Sequence[Run], link: int | None, least: int = 1
) -> RunMeasures | None:
    """The statistic of each column where it is known; None for fewer than ``least`` runs."""
    if len(runs) < least:
        return None
    rows = [measures_of(run, link) for run in runs]
    columns = {name: [getattr(row, name) for row in rows] for name in RunMeasures.__dataclass_fields__}
    known = {name: [value for value in values if value is not None] for name, values in columns.items()}
    return RunMeasures(**{name: statistic(values) if values else None for name, values in known.items()})


GAP = "   "
_QUIET = {
    QuietVerdict.QUIET: Toned("quiet time", Tone.GOOD),
    QuietVerdict.TYPICAL: Toned("typical time"),
    QuietVerdict.BUSY: Toned("! busy time", Tone.CAUTION),
}


def quiet_text(series: Series) -> str:
    skipped = series.quiet is None and series.plan and series.plan.quiet_time is QuietTime.SKIP
    return "not checked (skipped)" if skipped else series.quiet_verdict.value


def headline(form: SeriesSummary) -> Iterator[Toned]:
    """Parts, the most important first: ``119.5 MB/s ± 0.2 %`` (half the 95 % interval), ``quiet``, ``5 runs``."""
    series = form.series
    if form.average is None:
        yield Toned("no average: no run counts", Tone.BAD)
    else:
        half = form.half_width_percent
        yield Toned(f"{wording.rate(form.average_rate)}{'' if half is None else f' ± {wording.percent(half)}'}")
        share = form.average.percent_of_link
        if share is not None:
            yield Toned(f"{wording.percent(share)} of {wording.link_rate(series.link_bits_per_second)}")
    yield _QUIET.get(series.quiet_verdict) or Toned(f"quiet time {quiet_text(series)}", Tone.FAINT)
    rejected = sum(row.run.status is RunStatus.REJECTED for row in form.rows)
    left_out = f", {rejected} left out" if rejected else ""
    yield Toned(f"{wording.count(len(series.measured()), 'run')}{left_out}")
    if series.running_by is not None:
        yield Toned("running")
    elif series.status is not SeriesStatus.COMPLETE:
        yield wording.ended_early(series.status)
    if series.change and series.change.evidence is Evidence.CONTRADICTED:
        yield Toned("! change not in effect", Tone.CAUTION)
    if found := len(advice(series)):
        yield Toned(f"! {wording.count(found, 'warning')}", Tone.CAUTION)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RateSpan:
    until_seconds: float
    bytes_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    seconds: float
    moved_bytes: int
    size_bytes: int
    bytes_per_second: float | None
    percent: float | None
    seconds_left: float | None


def over_time(progress: Sequence[tuple[float, int]], most: int = 120) -> list[_RateSpan]:
    """Between samples of (seconds, total bytes), in at most ``most`` stretches; short ones join a neighbour."""
    step = max(1, -(-len(progress) // most))
    kept = [(0.0, 0), *progress[step - 1 :: step]]
    if progress and kept[-1] != progress[-1]:
        kept.append(progress[-1])
    short = (summary.median([later - earlier for (earlier, _), (later, _) in pairwise(kept)]) or 0.0) / 2
    joined = kept[:1]
    for sample in kept[1:]:
        if sample[0] - joined[-1][0] > short:
            joined.append(sample)
        elif len(joined) > 1:
            joined[-1] = sample
    return [
        _RateSpan(until_seconds=later, bytes_per_second=(after - before) / (later - earlier))
        for (earlier, before), (later, after) in pairwise(joined)
    ]


def standing(seconds: float, moved_bytes: int, size_bytes: int) -> RunProgress:
    rate = moved_bytes / seconds if seconds > 0 and moved_bytes else None
    return RunProgress(
        seconds=seconds,
        moved_bytes=moved_bytes,
        size_bytes=size_bytes,
        bytes_per_second=rate,
        percent=min(100.0, 100 * moved_bytes / size_bytes) if size_bytes else None,
        seconds_left=max(0.0, (size_bytes - moved_bytes) / rate) if rate and size_bytes else None,
    )


def estimate_text(
    *,
    runs: int,
    warmups: int,
    size_bytes: int | None,
    rate: "ExpectedRate",
    makes_file_first: bool = False,
    until_percent: float | None = None,
    max_runs: int = 30,
    series: int = 1,
) -> str:
    parts = [_runs_in_words(runs, warmups, until_percent, max_runs)]
    if size_bytes is None:
        return f"{parts[0]}, duration not yet known."
    total = (runs + warmups + makes_file_first) * series * size_bytes
    made = ", including making the file" if makes_file_first else ""
    each = " each" if series == 1 else f" each in {series} series"
    parts.append(f"of {wording.file_size(size_bytes)}{each}, {wording.binary_size(total)} in all{made}")
    parts.append(time_text(total / rate.bytes_per_second, [rate]))
    return ", ".join(parts) + "."


ASSUMED_LINK = 10**9
ASSUMED_HERE_BYTES_PER_SECOND = 10**9


class ExpectedRate(NamedTuple):
    bytes_per_second: float
    why: str


def expected_rate(
    target: Target | None, *, measured: float | None = None, link: int | None = None, here: bool = False
) -> ExpectedRate:
    """By an earlier series, the practice server's limit or the link, else assumed; ``here``: the server is here."""
    if measured:
        return ExpectedRate(measured, "as fast as an earlier series")
    if target and practice_text(target):
        limit = wording.byte_rate(PRACTICE_BYTES_PER_SECOND)
        return ExpectedRate(PRACTICE_BYTES_PER_SECOND, f"at {limit}, the practice server's limit")
    if link:
        return ExpectedRate(link / 8, f"at {wording.link_rate(link)}, the link speed")
    if here or (target and is_loopback_address(target.host)):
        assumed = wording.byte_rate(ASSUMED_HERE_BYTES_PER_SECOND)
        return ExpectedRate(ASSUMED_HERE_BYTES_PER_SECOND, f"at {assumed}, assumed within this machine")
    return ExpectedRate(ASSUMED_LINK / 8, f"at {wording.link_rate(ASSUMED_LINK)}, assumed")


def time_text(seconds: float, rates: Iterable[ExpectedRate]) -> str:
    why = "; ".join(dict.fromkeys(rate.why for rate in rates))
    return f"about {duration(seconds)} or longer{f' ({why})' if why else ''}"


def _runs_in_words(runs: int, warmups: int, until_percent: float | None, max_runs: int) -> str:
    warm = f"{wording.count(warmups, 'warm-up run')} and " if warmups else ""
    if until_percent is None:
        return f"{warm}{wording.count(runs, 'measured run')}"
    return f"{warm}{runs} to {max_runs} measured runs, until the average is known to ± {wording.percent(until_percent)}"


def duration(seconds: float) -> str:
    """A time a user waits for: ``8 s``, ``2.5 min``, ``2 h 10 min``; at least a second."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60) if seconds > 285 else round(seconds / 30) / 2  # halves below five
    return f"{minutes:g} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


PATIENCE_SECONDS = 300.0


class FileFit(StrEnum):
    WELL = "good"
    SHORT = "short"
    TINY = "too small"
    LARGE = "large"
    EMPTY = "empty"
    UNKNOWN = "unknown"

    @property
    def sign(self) -> str:
        return {"good": "+", "short": "-", "too small": "!", "large": "~", "empty": "!", "unknown": "?"}[self.value]


class _FileSuitability(NamedTuple):
    word: FileFit
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSizeContext:
    """What is known before measuring; absent where unknown."""

    link_bits_per_second: int | None = None
    measured_bytes_per_second: float | None = None
    memory_bytes: int | None = None

    @property
    def expected_bytes_per_second(self) -> float | None:
        return self.measured_bytes_per_second or (self.link_bits_per_second or 0) / 8 or None


def advised(around: FileSizeContext) -> int:
    """The advised size in bytes; a first guess where no rate is known."""
    return advised_size(around.expected_bytes_per_second or 0.0, around.memory_bytes)


def why_advised(around: FileSizeContext) -> str:
    size, rate, memory = advised(around), around.expected_bytes_per_second, around.memory_bytes
    typed = wording.typed_size(size)
    if rate is None:
        return (
            f"{typed}, a first guess: no link speed or earlier result is known. The review says if runs are too short."
        )
    origin = "an earlier series reached" if around.measured_bytes_per_second else "the link carries"
    why = f"{typed}: {origin} {wording.rate(rate)}, so a run should last about {duration(size / rate)}"
    if not memory:
        return f"{why}. The server's memory is unknown: check that the file fits."
    fits = "It fits" if size <= memory * MEMORY_SHARE else "Even this does not fit"
    if size < advised_size(rate):
        fits = "A larger file would not fit"
    return f"{why}. {fits} in half the server's memory of {wording.file_size(memory)}."


def suitability(size_bytes: int, around: FileSizeContext) -> _FileSuitability:
    if size_bytes <= 0:
        return _FileSuitability(FileFit.EMPTY, "An empty file moves no bytes: choose another.")
    rate = around.expected_bytes_per_second
    if rate is None and size_bytes < 1024**2:
        return _FileSuitability(FileFit.TINY, "A file under 1 MB measures opening and closing: choose a larger one.")
    if rate is None:
        return _FileSuitability(FileFit.UNKNOWN, "Link and server speeds are unknown, so it may be too small.")
    seconds = size_bytes / rate
    lasts = f"A run would last {wording.seconds(seconds)}"
    larger = f"choose one of {wording.typed_size(advised(around))} or so, or have one made"
    if seconds < SHORT_SECONDS:
        return _FileSuitability(FileFit.TINY, f"{lasts}: mostly start-up and chance; {larger}.")
    if around.memory_bytes and size_bytes > around.memory_bytes * MEMORY_SHARE:
        why = (
            f"More than half the server's memory ({wording.file_size(around.memory_bytes)}): after the warm-up it"
            f" may still come from the disk, so the disk is measured too; {larger} to leave the disk out."
        )
        return _FileSuitability(FileFit.LARGE, why)
    if seconds < GOOD_SECONDS:
        return _FileSuitability(FileFit.SHORT, f"{lasts}: usable; {larger} for a steadier result.")
    if seconds > PATIENCE_SECONDS:
        return _FileSuitability(FileFit.LARGE, f"{lasts}; a smaller file tells as much sooner.")
    return _FileSuitability(FileFit.WELL, f"{lasts}: long enough to trust.")
