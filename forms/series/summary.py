"""One series in numbers: each run's measures, their average, deviation and interval."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forms.stats import summary
from forms.stats.readings import read_series, without_hiccups
from forms.stats.shown import Shown, shown_like
from forms.stats.unusual import UnusualRate, unusual_rates
from storage.records import Phase, Run, RunStatus, Series, percent_of_link

TIME_ROUNDING = "form.time_rounding_seconds"
"""The fact that the times of a form filled by hand are known to no more than that: half of their last digit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMeasures:
    """The figures of a run, or a statistic of those of several, one a column of their table; None where unknown."""

    size_bytes: float | None
    seconds: float | None
    bytes_per_second: float | None
    bits_per_second: float | None
    percent_of_link: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run with its figures."""

    run: Run
    measures: RunMeasures
    unusual: UnusualRate | None = None
    """What is unusual of its rate; None of a usual run."""

    @property
    def label(self) -> str:
        """Its number; ``W1`` of a warm-up run."""
        return f"W{self.run.number}" if self.run.phase is Phase.WARM_UP else str(self.run.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedAverage:
    """The average by which a series is told and compared: without the runs that stand out (``forms/stats/readings``).

    The average of the form is of all valid runs; both are the same where none stands out.
    """

    bytes_per_second: float
    confidence: tuple[float, float] | None
    """Its 95 % interval in bytes/s; absent below two runs."""
    half_width_percent: float | None
    """Of that interval, in percent of the average."""
    left_out: tuple[tuple[int, float], ...] = ()
    """(number, percent from the average) of each run that it leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesSummary:
    """A series with the statistics of its runs. A *rejected* run is one that a person said does not count."""

    series: Series
    warm_ups: tuple[RunRow, ...]
    rows: tuple[RunRow, ...]
    """The measured runs, also those that do not count."""

    average: RunMeasures | None
    """Of the runs that count; None without any."""
    deviation: RunMeasures | None
    """Of a sample; None below two runs."""
    average_with_rejected: RunMeasures | None
    """As if the rejected runs counted; None where none was rejected."""
    deviation_with_rejected: RunMeasures | None

    median_bytes_per_second: float | None
    confidence: tuple[float, float] | None
    """The 95 % interval of the mean in bytes/s; absent below two runs."""
    half_width_percent: float | None
    """Of that interval, in percent of the mean."""
    counted: CountedAverage | None
    """The average in sentences, lists and comparisons; None without a run that counts."""
    shown: Shown | None
    """The changes that measuring like this shows; None for fewer runs than a verdict needs."""

    @property
    def sustained_bytes_per_second(self) -> float | None:
        """All bytes over all seconds, in which slow runs weigh more than in the average."""
        timed = [run for run in self.series.measured() if run.seconds]
        seconds = sum(run.seconds or 0.0 for run in timed)
        return sum(run.size_bytes for run in timed) / seconds if seconds else None

    @property
    def average_rate(self) -> float | None:
        """Of all runs that count on the form."""
        return self.average.bytes_per_second if self.average else None

    @property
    def counted_rate(self) -> float | None:
        """The average in sentences, lists and comparisons, without runs that stand out."""
        return self.counted.bytes_per_second if self.counted else None

    @property
    def percent_of_link(self) -> float | None:
        """The share of its link that this average is."""
        return percent_of_link(self.counted_rate, self.series.link_bits_per_second)

    @property
    def band(self) -> tuple[float, float] | None:
        """One deviation to both sides of the average."""
        average = self.average_rate
        deviation = self.deviation.bytes_per_second if self.deviation else None
        if average is None or deviation is None:
            return None
        return average - deviation, average + deviation

    @property
    def all_rows(self) -> tuple[RunRow, ...]:
        return self.warm_ups + self.rows


def measures_of(run: Run, link_bits_per_second: int | None) -> RunMeasures:
    return RunMeasures(
        size_bytes=run.size_bytes,
        seconds=run.seconds,
        bytes_per_second=run.bytes_per_second,
        bits_per_second=run.bits_per_second,
        percent_of_link=run.percent_of_link(link_bits_per_second),
    )


def run_form(series: Series) -> SeriesSummary:
    """The summary of a series; averages are of its valid runs, those with the rejected only where some are."""
    link = series.link_bits_per_second
    warm_ups = [run for run in series.runs if run.phase is Phase.WARM_UP]
    measured = [run for run in series.runs if run.phase is Phase.MEASURED]
    finished = [run for run in measured if run.status is not RunStatus.FAILED]
    valid = series.measured()
    rates = [run.bytes_per_second for run in valid if run.bytes_per_second is not None]
    unusual = unusual_runs(series)
    confidence = _confidence(series, rates)
    with_rejected = finished if len(finished) > len(valid) else []

    return SeriesSummary(
        series=series,
        warm_ups=tuple(RunRow(run=run, measures=measures_of(run, link)) for run in warm_ups),
        rows=tuple(
            RunRow(run=run, measures=measures_of(run, link), unusual=unusual.get(run.number)) for run in measured
        ),
        average=_each_column(summary.mean, valid, link),
        deviation=_each_column(summary.deviation, valid, link, least=2),
        average_with_rejected=_each_column(summary.mean, with_rejected, link),
        deviation_with_rejected=_each_column(summary.deviation, with_rejected, link, least=2),
        median_bytes_per_second=summary.median(rates) if rates else None,
        confidence=confidence,
        half_width_percent=_half_width_percent(confidence, rates),
        counted=_counted_average(series),
        shown=shown_like(rates),
    )


def _counted_average(series: Series) -> CountedAverage | None:
    rates = series.rates()
    counted_rates = without_hiccups(rates)
    average = summary.mean(counted_rates)
    if average is None:
        return None

    confidence = _confidence(series, counted_rates)
    left_out = []
    if len(counted_rates) < len(rates):
        numbers = [run.number for run in series.measured() if run.bytes_per_second is not None]
        for place in read_series(rates).hiccups:
            left_out.append((numbers[place], 100 * (rates[place] / average - 1)))
    return CountedAverage(
        bytes_per_second=average,
        confidence=confidence,
        half_width_percent=_half_width_percent(confidence, counted_rates),
        left_out=tuple(left_out),
    )


def _confidence(series: Series, rates: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval of the mean, no narrower than the rounding of times that were printed with few digits."""
    interval = summary.confidence_interval(rates)
    rounding_seconds = series.environment.get("client", {}).get(TIME_ROUNDING)
    seconds = summary.mean([run.seconds for run in series.measured() if run.seconds])
    if interval is None or not isinstance(rounding_seconds, int | float) or not seconds:
        return interval

    low, high = interval
    mean_rate = summary.mean(rates) or 0.0
    rounding_rate = mean_rate * rounding_seconds / seconds
    half_width = max((high - low) / 2, rounding_rate)
    return mean_rate - half_width, mean_rate + half_width


def _half_width_percent(confidence: tuple[float, float] | None, rates: Sequence[float]) -> float | None:
    """Of the interval, which is no narrower than that of the rates alone."""
    by_rates = summary.half_width_percent(rates)
    mean_rate = summary.mean(rates)
    if confidence is None or by_rates is None or not mean_rate:
        return by_rates
    low, high = confidence
    half_width = (high - low) / 2
    return max(by_rates, 100 * half_width / mean_rate)


def unusual_runs(series: Series) -> dict[int, UnusualRate]:
    """What is unusual of runs, by their numbers."""
    valid = series.measured()
    rates = [run.bytes_per_second or 0.0 for run in valid]
    seconds = [run.seconds for run in valid if run.seconds]
    answers = unusual_rates(rates, seconds)
    return {run.number: unusual for run, unusual in zip(valid, answers, strict=True) if unusual}


def _each_column(
    statistic: Callable[[Sequence[float]], float | None], runs: Sequence[Run], link: int | None, least: int = 1
) -> RunMeasures | None:
    """The statistic of each column where it is known; None for fewer than ``least`` runs."""
    if len(runs) < least:
        return None

    rows = [measures_of(run, link) for run in runs]

    def of_column(values: Sequence[float | None]) -> float | None:
        known_values = [value for value in values if value is not None]
        return statistic(known_values) if known_values else None

    return RunMeasures(
        size_bytes=of_column([row.size_bytes for row in rows]),
        seconds=of_column([row.seconds for row in rows]),
        bytes_per_second=of_column([row.bytes_per_second for row in rows]),
        bits_per_second=of_column([row.bits_per_second for row in rows]),
        percent_of_link=of_column([row.percent_of_link for row in rows]),
    )
