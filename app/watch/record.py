"""Carries out one check of a watch: measures the path, judges it, and stores what the watch says now.

A watch compares a path with a baseline, a group of its series, every night. A check measures one series, and further
ones where the first has to be confirmed; each has an outcome, and together they have one. The first checks collect the
baseline, a series a night. The standing of a watch is what its checks say: steady, slower or unmeasurable.
"""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from app.base import errors
from app.recording.rescue import open_notebook
from app.series.events import SeriesClosed
from app.watch import judging, standing
from app.watch.baseline import last_baseline
from app.watch.request import WatchRequest, begin_check
from forms.watch import rule
from storage.errors import unusable
from storage.records import Series
from storage.watch.records import Watch, WatchState, recording_of_watch


def check(
    request: WatchRequest,
    path: Path,
    measure: Callable[[], SeriesClosed],
    answer: Callable[[rule.Check], None] | None = None,
) -> rule.Check:
    """Check the path once; ``path`` is the notebook, and ``measure`` records a series there.

    ``answer`` tells the check before the watch is stored, which a full disk may refuse. A failed measurement is an
    outcome. Raises UsageError, CancelledError and NotebookError.
    """
    watch = begin_check(request, path)
    try:
        ended_check = _carry_out(watch, request, path, measure)
        if answer is not None:
            answer(ended_check)
        _store(ended_check.watch, path)
    finally:
        # What cannot be written now is released by its age; a lost notebook is not made anew for this.
        with suppress(sqlite3.Error, errors.NotebookError):
            if path.exists():
                with open_notebook(path) as notebook:
                    notebook.release(watch.id)
    return ended_check


def _store(watch: Watch, path: Path) -> None:
    """Raises NotebookError."""
    try:
        with open_notebook(path) as notebook:
            notebook.update_recording(recording_of_watch(watch))
    except sqlite3.Error as error:
        raise errors.NotebookError(f"what the watch says now could not be stored: {unusable(error)}") from error


def _carry_out(watch: Watch, request: WatchRequest, path: Path, measure: Callable[[], SeriesClosed]) -> rule.Check:
    """Measure until the series of the check agree."""
    attempts = _Attempts(watch, request, path)
    outcome: rule.Outcome | None = None
    while outcome is None:
        attempts.measure_next(measure)
        outcome = attempts.joint_outcome()

    judgement = attempts.last_judgement
    return rule.Check(
        watch=standing.watch_after(watch, outcome, judgement, attempts.slow_ids),
        before=watch,
        outcome=outcome,
        comparison=judgement.comparison,
        nights=judgement.nights,
        series=judgement.series,
        limits=request.limits,
    )


class _Attempts:
    """The series that one check measures, or tries to, each judged as soon as it has ended."""

    def __init__(self, watch: Watch, request: WatchRequest, path: Path) -> None:
        self._watch = watch
        self._request = request
        self._path = path
        self._outcomes: list[rule.Outcome] = []
        self._first_series: Series | None = None
        """The first that was measured: later ones are compared with the history before it, too."""
        self._may_retry = watch.standing is not WatchState.UNMEASURABLE
        """Whether a path that cannot be measured is tried once more."""

        with open_notebook(path) as notebook:
            nights = rule.count_nights(last_baseline(notebook, watch))
        self.last_judgement = judging.JudgedSeries(outcome=rule.Outcome.UNMEASURABLE, nights=nights)
        self.slow_ids: list[str] = []
        """The series that were slower."""

    def measure_next(self, measure: Callable[[], SeriesClosed]) -> None:
        attempt = _try_to_measure(measure)
        if isinstance(attempt, judging.FailedAttempt):
            self.last_judgement = judging.judge_failure(attempt, self._path, self.last_judgement.nights)
            # Refused logins can lock the account.
            self._may_retry = self._may_retry and not isinstance(attempt.error, errors.LoginError)
        else:
            self._judge(attempt.series_id)
        self._outcomes.append(self.last_judgement.outcome)

    def _judge(self, series_id: str) -> None:
        with open_notebook(self._path) as notebook:
            series = notebook.series(series_id)
            self._first_series = self._first_series or series
            self.last_judgement = judging.judge_series(
                notebook, self._watch, self._request.limits, series, self._first_series
            )
        if self.last_judgement.outcome is rule.Outcome.SLOWER:
            self.slow_ids.append(series.id)

    def joint_outcome(self) -> rule.Outcome | None:
        """What all attempts say together; None where another series has to be measured."""
        return rule.joint_outcome(
            self._outcomes, self._request.confirm, slowed=bool(self._watch.slow_ids), retries=self._may_retry
        )


def _try_to_measure(measure: Callable[[], SeriesClosed]) -> SeriesClosed | judging.FailedAttempt:
    """Measure a series; an error that says something of the path is returned as a failed attempt.

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
        return judging.FailedAttempt(error, closed)
    return closed
