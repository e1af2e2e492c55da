"""Judges one series of a watch's check, or the failed attempt to measure one.

A check of a watch measures a path and compares the series with the watch's baseline. While fewer than
``BASELINE_NIGHTS`` nights are collected, a series becomes a part of the baseline instead.
"""

from dataclasses import dataclass
from pathlib import Path

from app.base import errors
from app.recording.rescue import open_notebook
from app.series.events import SeriesClosed
from app.watch.baseline import baseline_of, compare_with_baseline
from forms.comparison.comparison import Comparison
from forms.stats.decision import Limits, Verdict
from forms.tuning import differences
from forms.watch import rule
from forms.watch.rule import BASELINE_NIGHTS, Outcome, count_nights
from storage import records
from storage.notebook import Notebook
from storage.records import Series
from storage.watch.records import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSeries:
    """What one series of a check, or the failed attempt to measure one, says."""

    outcome: Outcome
    nights: int
    """How many nights the baseline has, this series included."""
    comparison: Comparison | None = None
    """With the baseline; None before that is complete, or where nothing was measured."""
    why: str = ""
    """Why it was postponed, not measured or not taken into the baseline; empty otherwise."""
    series: Series | None = None
    """None where none was stored."""


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """An attempt to measure that failed, with what was recorded of it."""

    error: errors.SharebenchError
    closed: SeriesClosed | None
    """None where no series was opened."""


def judge_failure(failure: FailedAttempt, path: Path, nights: int) -> JudgedSeries:
    """Unmeasurable, unless other programs kept the machine busy: that says nothing of the server, and postpones it.

    ``path`` is the notebook, ``nights`` those of the baseline so far.
    """
    error = failure.error
    why = str(error)
    if isinstance(error, errors.NotQuietError):
        return JudgedSeries(outcome=Outcome.POSTPONED, nights=nights, why=why)

    closed = failure.closed
    if closed is not None and closed.stored and not isinstance(error, errors.LoginError):
        with open_notebook(path) as notebook:
            series = notebook.series(closed.series_id)
        if series.quiet_verdict is records.QuietVerdict.BUSY:
            why = f"{_why_busy(series)}, and the series failed ({why})"
            return JudgedSeries(outcome=Outcome.POSTPONED, nights=nights, why=why)
    return JudgedSeries(outcome=Outcome.UNMEASURABLE, nights=nights, why=why)


def _why_busy(series: Series) -> str:
    return series.quiet.reasons[0] if series.quiet and series.quiet.reasons else "other programs were busy"


def judge_series(
    notebook: Notebook, watch: Watch, limits: Limits, series: Series, first_series: Series
) -> JudgedSeries:
    """Judge a measured series against the baseline, or add it there while that is being collected.

    ``first_series`` is the first of the check: the path's history ends before it. An open answer is also held against
    the series that showed the slowdown, if there was one: faster than those, it has recovered.
    """
    baseline = baseline_of(notebook, watch.baseline, series)
    nights = count_nights(baseline)
    if series.quiet_verdict is records.QuietVerdict.BUSY:
        return JudgedSeries(outcome=Outcome.POSTPONED, nights=nights, why=_why_busy(series), series=series)
    if nights < BASELINE_NIGHTS:
        return _collect(notebook, watch, limits, series, baseline)

    comparison = compare_with_baseline(notebook, baseline, series, limits, first_series)
    verdict_against_slow = None
    if watch.slow_ids and comparison.verdict is Verdict.UNKNOWN:
        slow_series = notebook.all_of(watch.slow_ids)
        if slow_series:
            verdict_against_slow = compare_with_baseline(notebook, slow_series, series, limits, first_series).verdict
    outcome = rule.outcome_of(comparison.verdict, verdict_against_slow)
    return JudgedSeries(outcome=outcome, nights=nights, comparison=comparison, series=series)


def _collect(
    notebook: Notebook, watch: Watch, limits: Limits, series: Series, baseline: tuple[Series, ...]
) -> JudgedSeries:
    """Take the series into the baseline if it is of a new night and like those that are in it."""
    why = _why_not_collected(notebook, limits, series, baseline)
    if not why and count_nights((*baseline, series)) > count_nights(baseline):
        # ``keep``: beside what the baseline holds, not in its place.
        notebook.set_baseline(watch.baseline, series.id, keep=True)
    nights = count_nights(baseline_of(notebook, watch.baseline, series))
    return JudgedSeries(outcome=Outcome.COLLECTED, nights=nights, why=why, series=series)


def _why_not_collected(notebook: Notebook, limits: Limits, series: Series, baseline: tuple[Series, ...]) -> str:
    if not baseline:
        return ""
    differing = differences.differences_of_repeat(baseline[-1], series)
    if differing:
        return f"not taken into the baseline: {differences.differences_prose(differing)}"
    verdict = compare_with_baseline(notebook, baseline, series, limits).verdict
    if verdict in {Verdict.FASTER, Verdict.SLOWER}:
        return f"not taken into the baseline: it is {verdict} than the series collected before"
    return ""
