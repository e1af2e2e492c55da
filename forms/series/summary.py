"""The run form (Using Samba, tables B-6, B-7 and B-9): rows, averages and headline."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from forms import wording
from forms.findings.series_warnings import advice
from forms.layout import Tone, Toned
from forms.stats import summary
from forms.stats.settle import Shown, shown_like
from forms.wording import link_rate
from storage.json_reader import named
from storage.plan import QuietTime
from storage.records import Phase, QuietVerdict, Run, RunStatus, Series, SeriesStatus


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
    unusual: str | None = None

    @property
    def label(self) -> str:
        return f"W{self.run.number}" if self.run.phase is Phase.WARM_UP else str(self.run.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesSummary:
    series: Series
    columns: tuple[str, ...]
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
    some_rejected = len(finished) > len(valid)
    return SeriesSummary(
        series=series,
        columns=column_names(link),
        warm_ups=tuple(RunRow(run=r, measures=measures_of(r, link)) for r in series.runs if r.phase is Phase.WARM_UP),
        rows=tuple(RunRow(run=r, measures=measures_of(r, link), unusual=unusual.get(r.number)) for r in measured),
        average=_each_column(summary.mean, valid, link),
        deviation=_each_column(summary.deviation, valid, link) if len(valid) > 1 else None,
        average_with_rejected=_each_column(summary.mean, finished, link) if some_rejected else None,
        deviation_with_rejected=(
            _each_column(summary.deviation, finished, link) if some_rejected and len(finished) > 1 else None
        ),
        median_bytes_per_second=summary.median(rates) if rates else None,
        confidence=summary.confidence_interval(rates),
        half_width_percent=summary.half_width_percent(rates),
        shown=shown_like(rates),
    )


def unusual_runs(series: Series) -> dict[int, str]:
    """Why runs differ from the valid measured ones, by run number."""
    valid = series.measured()
    rates = [r.bytes_per_second or 0.0 for r in valid]
    seconds = [r.seconds for r in valid if r.seconds]
    return {r.number: why for r, why in zip(valid, summary.unusual(rates, seconds), strict=True) if why}


def _each_column(
    statistic: Callable[[Sequence[float]], float | None], runs: Sequence[Run], link: int | None
) -> RunMeasures | None:
    if not runs:
        return None
    columns: dict[str, float | None] = {}
    rows = [measures_of(run, link) for run in runs]
    for name in RunMeasures.__dataclass_fields__:
        values = [value for value in (getattr(row, name) for row in rows) if value is not None]
        columns[name] = statistic(values) if values else None
    return RunMeasures(**columns)


GAP = "   "
_QUIET = {
    QuietVerdict.QUIET: Toned("quiet", Tone.GOOD),
    QuietVerdict.TYPICAL: Toned("typical"),
    QuietVerdict.BUSY: Toned("! busy", Tone.CAUTION),
}


def quiet_text(series: Series) -> str:
    skipped = series.quiet is None and series.plan and series.plan.quiet_time is QuietTime.SKIP
    return "not checked (skipped)" if skipped else series.quiet_verdict.value


def headline(form: SeriesSummary) -> tuple[Toned, ...]:
    """Parts, the most important first: ``119.5 MB/s ± 0.2 %`` (half the 95 % interval), ``quiet``, ``5 runs``."""
    return tuple(_parts(form))


def _parts(form: SeriesSummary) -> Iterator[Toned]:
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
    if found := len(advice(series)):
        yield Toned(f"! {wording.count(found, 'warning')}", Tone.CAUTION)
