"""Checks of a watch: measure a path once, and say what changed since the last check.

A check measures one series, and further ones where that one has to be confirmed: their outcomes make one. The first
checks collect the baseline, a series a night. The standing of a watch is what all its checks say together.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.base import errors
from app.recording.rescue import notebook_to_measure_into, open_notebook
from app.recording.writer import Recorder
from app.series.events import SeriesClosed
from app.watch.baseline import baseline_of, compare_with_baseline
from forms import wording
from forms.comparison.comparison import Comparison
from forms.stats.decision import Limits, Verdict
from forms.tuning import differences
from forms.watch import rule
from forms.watch.rule import BASELINE_NIGHTS, Check, Outcome, count_nights
from storage import looks, records
from storage.looks import Watch, WatchState
from storage.notebook import Notebook
from storage.programs import run_program
from storage.recordings import SERIES
from storage.records import Series

COMMAND_SECONDS = 60.0
"""How long the command of --on-change may take."""

_OUTCOMES = {
    WatchState.STEADY: Outcome.NOT_SLOWER,
    WatchState.RECOVERED: Outcome.NOT_SLOWER,
    WatchState.SLOWER: Outcome.SLOWER,
    WatchState.UNMEASURABLE: Outcome.UNMEASURABLE,
}
"""What the last check found, by the state that it left; others were postponed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchRequest:
    """What is watched, and by which rules."""

    target: records.Target
    command: records.Command
    baseline: str
    """Its name in the notebook; collected where there is none of that name."""
    confirm: rule.Confirm = field(default_factory=rule.Confirm)
    """How many series must agree that it is slower."""
    limits: Limits = field(default_factory=Limits)
    """From when on a difference counts."""

    @property
    def subject(self) -> str:
        return wording.place(self.target)

    def is_of(self, series: Series) -> bool:
        """Whether a series is of the path that is watched."""
        return wording.place(series.target) == self.subject and series.command == self.command

    def is_for(self, watch: Watch) -> bool:
        return (watch.subject, watch.command, watch.baseline) == (self.subject, self.command, self.baseline)


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgedSeries:
    """What one series of a check, or the attempt to measure one, says."""

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
class _Failure:
    """An attempt to measure that failed, with what was recorded of it."""

    error: errors.SharebenchError
    closed: SeriesClosed | None
    """None where no series was opened."""


def check(request: WatchRequest, path: Path, measure: Callable[[], SeriesClosed]) -> Check:
    """Check the path once; a failed measurement is a finding. Raises UsageError, CancelledError and NotebookError."""
    watch = _begin(request, path)
    try:
        return _carry_out(watch, request, path, measure)
    finally:
        if path.exists():  # or it is lost, and none is made for this
            with open_notebook(path) as notebook:
                notebook.release(watch.id)


def _begin(request: WatchRequest, path: Path) -> Watch:
    """The watch, held by this process: nobody else checks it meanwhile. Raises UsageError."""
    with notebook_to_measure_into(path) as notebook:
        heads = notebook.heads_of(notebook.baseline_ids(request.baseline, SERIES))
        if heads and not any(request.is_of(head) for head in heads):
            newest = heads[-1]
            raise errors.UsageError(
                f"baseline {request.baseline!r} is of {newest.command} {wording.place(newest.target)}: watch"
                " that, or choose another name and the watch collects a baseline"
            )

        watch = _stored_watch(notebook, request)
        Recorder(notebook).begin(watch.id, stored=True)
        return watch


def _stored_watch(notebook: Notebook, request: WatchRequest) -> Watch:
    """The watch of that path and baseline, which is stored where there is none yet."""
    for head in notebook.recordings(looks.WATCH):
        watch = looks.watch_of(head)
        if request.is_for(watch):
            return watch

    now = records.utc_now()
    new_watch = Watch(
        id=records.new_series_id(),
        created_at=now,
        subject=request.subject,
        baseline=request.baseline,
        command=request.command,
        since=now,
        attempted_at=now,
    )
    notebook.add_recording(looks.recording_of(new_watch))
    return new_watch


def _carry_out(watch: Watch, request: WatchRequest, path: Path, measure: Callable[[], SeriesClosed]) -> Check:
    """Measure until the series of the check agree, and store what the watch says after it."""
    with open_notebook(path) as notebook:
        nights = count_nights(_last_baseline(notebook, watch))
    judgement = _JudgedSeries(outcome=Outcome.UNMEASURABLE, nights=nights)

    outcomes: list[Outcome] = []
    slow_ids: list[str] = []
    first_series: Series | None = None
    may_retry = watch.standing is not WatchState.UNMEASURABLE
    outcome: Outcome | None = None
    while outcome is None:
        attempt = _try_to_measure(measure)
        if isinstance(attempt, _Failure):
            judgement = _judge_failure(attempt, path, judgement.nights)
            # Refused logins can lock the account.
            may_retry = may_retry and not isinstance(attempt.error, errors.LoginError)
        else:
            with open_notebook(path) as notebook:
                series = notebook.series(attempt.series_id)
                first_series = first_series or series
                judgement = _judge_series(notebook, watch, request.limits, series, first_series)
            if judgement.outcome is Outcome.SLOWER:
                slow_ids.append(series.id)

        outcomes.append(judgement.outcome)
        outcome = rule.joint_outcome(outcomes, request.confirm, slowed=bool(watch.slow_ids), retries=may_retry)

    with open_notebook(path) as notebook:
        after = _watch_after(watch, outcome, judgement, slow_ids)
        notebook.update_recording(looks.recording_of(after))
    return Check(
        watch=after,
        before=watch,
        outcome=outcome,
        comparison=judgement.comparison,
        nights=judgement.nights,
        series=judgement.series,
        limits=request.limits,
    )


def _try_to_measure(measure: Callable[[], SeriesClosed]) -> SeriesClosed | _Failure:
    """Measure a series; an error that says something of the path is returned as a failure.

    Raises UsageError, CancelledError and NotebookError, which say nothing of it.
    """
    closed = None
    try:
        closed = measure()
        if closed.failure:
            raise closed.failure.error
    except (errors.CancelledError, errors.UsageError, errors.NotebookError):
        raise
    except errors.SharebenchError as error:
        return _Failure(error, closed)
    return closed


def _judge_failure(failure: _Failure, path: Path, nights: int) -> _JudgedSeries:
    """A series that started and failed at a busy time says nothing of the server: postponed, not unmeasurable."""
    error = failure.error
    why = str(error)
    if isinstance(error, errors.NotQuietError):
        return _JudgedSeries(outcome=Outcome.POSTPONED, nights=nights, why=why)

    closed = failure.closed
    if closed is not None and closed.stored and not isinstance(error, errors.LoginError):
        with open_notebook(path) as notebook:
            series = notebook.series(closed.series_id)
        if series.quiet_verdict is records.QuietVerdict.BUSY:
            why = f"{_why_busy(series)}, and the series failed ({why})"
            return _JudgedSeries(outcome=Outcome.POSTPONED, nights=nights, why=why)
    return _JudgedSeries(outcome=Outcome.UNMEASURABLE, nights=nights, why=why)


def _why_busy(series: Series) -> str:
    return series.quiet.reasons[0] if series.quiet and series.quiet.reasons else "other programs were busy"


def _judge_series(
    notebook: Notebook, watch: Watch, limits: Limits, series: Series, first_series: Series
) -> _JudgedSeries:
    """Judge a measured series against the baseline, to which it is added while that is being collected."""
    baseline = baseline_of(notebook, watch.baseline, series)
    nights = count_nights(baseline)
    if series.quiet_verdict is records.QuietVerdict.BUSY:
        return _JudgedSeries(outcome=Outcome.POSTPONED, nights=nights, why=_why_busy(series), series=series)
    if nights < BASELINE_NIGHTS:
        return _collect(notebook, watch, limits, series, baseline)

    comparison = compare_with_baseline(notebook, baseline, series, limits, first_series)
    against_slow = None
    if watch.slow_ids and comparison.verdict is Verdict.UNKNOWN:
        slow_series = notebook.all_of(watch.slow_ids)
        if slow_series:
            against_slow = compare_with_baseline(notebook, slow_series, series, limits, first_series).verdict
    outcome = rule.outcome_of(comparison.verdict, against_slow)
    return _JudgedSeries(outcome=outcome, nights=nights, comparison=comparison, series=series)


def _collect(
    notebook: Notebook, watch: Watch, limits: Limits, series: Series, baseline: tuple[Series, ...]
) -> _JudgedSeries:
    """Take the series into the baseline if it is of a new night and like those that are in it."""
    why = _why_not_collected(notebook, limits, series, baseline)
    if not why and count_nights((*baseline, series)) > count_nights(baseline):
        notebook.set_baseline(watch.baseline, series.id, keep=True)
    nights = count_nights(baseline_of(notebook, watch.baseline, series))
    return _JudgedSeries(outcome=Outcome.COLLECTED, nights=nights, why=why, series=series)


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


def _last_baseline(notebook: Notebook, watch: Watch) -> tuple[Series, ...]:
    """The baseline of the last series that could be judged."""
    if not watch.series_id:
        return ()
    last_series = notebook.all_of([watch.series_id])
    return baseline_of(notebook, watch.baseline, last_series[0]) if last_series else ()


def last_check(notebook: Notebook, watch: Watch) -> Check:
    """The last check of a watch, as far as the notebook still tells it."""
    baseline = _last_baseline(notebook, watch)
    nights = count_nights(baseline)
    outcome = _OUTCOMES.get(watch.state, Outcome.POSTPONED)
    if outcome is Outcome.POSTPONED and watch.is_measured:
        outcome = Outcome.COLLECTED

    comparison = None
    if watch.series_id and nights >= BASELINE_NIGHTS and outcome in {Outcome.NOT_SLOWER, Outcome.SLOWER}:
        comparison = compare_with_baseline(notebook, baseline, notebook.series(watch.series_id), Limits())
    return Check(watch=watch, before=watch, outcome=outcome, comparison=comparison, nights=nights)


def _watch_after(watch: Watch, outcome: Outcome, judgement: _JudgedSeries, slow_ids: Sequence[str]) -> Watch:
    """The watch as a check leaves it; ``slow_ids`` are the check's series that were slower."""
    now = records.utc_now()
    standing = rule.state_after(watch.standing, outcome, slowed=bool(watch.slow_ids))
    was_measured = outcome not in {Outcome.POSTPONED, Outcome.UNMEASURABLE}
    unconfirmed_ids = () if outcome is Outcome.SLOWER else slow_ids
    return replace(
        watch,
        state=_state_after(watch, outcome, standing),
        standing=standing,
        since=now if standing is not watch.standing else watch.since,
        attempted_at=now,
        succeeded_at=now if was_measured else watch.succeeded_at,
        series_id=judgement.series.id if judgement.series else watch.series_id,
        slow_ids=_slow_ids_after(watch, outcome, slow_ids),
        unconfirmed_ids=(*watch.unconfirmed_ids, *unconfirmed_ids),
        why=judgement.why,
    )


def _state_after(watch: Watch, outcome: Outcome, standing: WatchState) -> WatchState:
    if standing is WatchState.STEADY and watch.standing is not WatchState.STEADY:
        return WatchState.RECOVERED
    if outcome in {Outcome.POSTPONED, Outcome.COLLECTED}:
        return WatchState.POSTPONED
    return standing


def _slow_ids_after(watch: Watch, outcome: Outcome, slow_ids: Sequence[str]) -> tuple[str, ...]:
    """The series that showed the slowdown, as long as it lasts."""
    if outcome in {Outcome.NOT_SLOWER, Outcome.COLLECTED}:
        return ()
    if outcome is Outcome.SLOWER and slow_ids:
        return tuple(slow_ids)
    return watch.slow_ids


def tell(document: object, command: str) -> str:
    """Run --on-change with the document on its stdin; returns why that failed: it is run again after the next check."""
    secret_names = {"SHAREBENCH_PASSWORD", "CREDENTIALS_DIRECTORY"}
    environment = {name: value for name, value in os.environ.items() if name not in secret_names}
    try:
        result = run_program(
            ["/bin/sh", "-c", command],
            seconds=COMMAND_SECONDS,
            given=f"{json.dumps(document)}\n".encode(),
            environment=environment,
            keeps_output=False,
        )
    except OSError as error:
        return f"the command of --on-change failed: {error}"

    if result.code:
        return f"the command of --on-change ended with exit code {result.code}; it is run again after the next check"
    return ""


def mark_delivered(watch: Watch, path: Path) -> None:
    """Note that the standing of a watch was reported."""
    with open_notebook(path) as notebook:
        notebook.update_recording(looks.recording_of(replace(watch, told=watch.standing)))
