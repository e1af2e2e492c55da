"""Watches: measure a path once, and say what changed since the last check; and the history of a path."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.base.errors import CancelledError, LoginError, NotebookError, NotQuietError, SharebenchError, UsageError
from app.comparison.sides import with_history
from app.recording.kind import kind_of
from app.recording.rescue import notebook_to_measure_into, open_notebook
from app.recording.writer import Recorder
from app.series.events import SeriesClosed
from forms import wording
from forms.comparison.comparison import Comparison
from forms.comparison.history import path_of
from forms.comparison.verdict import Sides, compare_sides
from forms.stats.decision import Limits, Verdict
from forms.tuning.differences import differences_of_repeat, differences_prose
from forms.watch.history import History, HistoryMark, HistoryNotes, history_of_loads, history_of_series
from forms.watch.rule import (
    BASELINE_NIGHTS,
    Check,
    Confirm,
    Outcome,
    count_nights,
    joint_outcome,
    outcome_of,
    state_after,
)
from storage.json_reader import named
from storage.looks import WATCH, Watch, WatchState, recording_of, unconfirmed_ids, watch_of
from storage.notebook import Notebook
from storage.programs import run_program
from storage.recordings import LOAD, SERIES
from storage.records import ClientFacts, Command, QuietVerdict, Series, Target, new_series_id, utc_now
from storage.shared import LAST

COMMAND_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchRequest:
    target: Target
    command: Command
    baseline: str
    confirm: Confirm = field(default_factory=Confirm)
    limits: Limits = field(default_factory=Limits)

    @property
    def subject(self) -> str:
        return wording.place(self.target)


def check(request: WatchRequest, path: Path, measure: Callable[[], SeriesClosed]) -> Check:
    """Check the path once; a failed measurement is a finding. Raises UsageError, CancelledError and NotebookError."""
    watch = _begin(request, path)
    try:
        return _checked(watch, request, path, measure)
    finally:
        if path.exists():  # or it is lost, and none is made for this
            with open_notebook(path) as notebook:
                notebook.release(watch.id)


def _begin(request: WatchRequest, path: Path) -> Watch:
    with notebook_to_measure_into(path) as notebook:
        heads = notebook.heads_of(notebook.baseline_ids(request.baseline, SERIES))
        if heads and not any((wording.place(h.target), h.command) == (request.subject, request.command) for h in heads):
            raise UsageError(
                f"baseline {request.baseline!r} is of {heads[-1].command} {wording.place(heads[-1].target)}: watch"
                " that, or choose another name and the watch collects a baseline"
            )
        watch = _stored(notebook, request)
        Recorder(notebook).begin(watch.id, stored=True)
        return watch


def _stored(notebook: Notebook, request: WatchRequest) -> Watch:
    for head in notebook.recordings(WATCH):
        found = watch_of(head)
        if (found.subject, found.command, found.baseline) == (request.subject, request.command, request.baseline):
            return found
    now = utc_now()
    asked = named(request, "subject", "baseline", "command")
    made = Watch(id=new_series_id(), created_at=now, since=now, attempted_at=now, **asked)
    notebook.add_recording(recording_of(made))
    return made


def _checked(watch: Watch, request: WatchRequest, path: Path, measure: Callable[[], SeriesClosed]) -> Check:
    outcomes: list[Outcome] = []
    slow: list[str] = []
    first: Series | None = None
    with open_notebook(path) as notebook:
        found = _Judged(Outcome.UNMEASURABLE, nights=count_nights(_base(notebook, watch)))
    outcome, retries = None, watch.standing is not WatchState.UNMEASURABLE
    while outcome is None:
        closed = None
        try:
            closed = measure()
            if closed.failure:
                raise closed.failure.error
        except (CancelledError, UsageError, NotebookError):
            raise
        except SharebenchError as error:
            found = _failed(error, closed, path, found.nights)
            retries = retries and not isinstance(error, LoginError)  # refused logins can lock the account
        else:
            with open_notebook(path) as notebook:
                series = notebook.series(closed.series_id)
                first = first or series
                found = _judged(notebook, watch, request.limits, series, first)
            slow += [series.id] if found.outcome is Outcome.SLOWER else []
        outcomes.append(found.outcome)
        outcome = joint_outcome(outcomes, request.confirm, slowed=bool(watch.slow_ids), retries=retries)
    with open_notebook(path) as notebook:
        after = _after(watch, outcome, found, slow)
        notebook.update_recording(recording_of(after))
    return Check(
        watch=after, before=watch, outcome=outcome, comparison=found.comparison, nights=found.nights,
        series=found.series, limits=request.limits,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Judged:
    outcome: Outcome
    comparison: Comparison | None = None
    nights: int = 0
    why: str = ""
    series: Series | None = None


def _failed(error: SharebenchError, closed: SeriesClosed | None, path: Path, known: int) -> _Judged:
    """A series that started and failed at a busy time says nothing of the server: postponed, not unmeasurable."""
    why = str(error)
    if isinstance(error, NotQuietError):
        return _Judged(Outcome.POSTPONED, nights=known, why=why)
    if closed is not None and closed.stored and not isinstance(error, LoginError):
        with open_notebook(path) as notebook:
            series = notebook.series(closed.series_id)
        if series.quiet_verdict is QuietVerdict.BUSY:
            return _Judged(Outcome.POSTPONED, nights=known, why=f"{_busy(series)}, and the series failed ({why})")
    return _Judged(Outcome.UNMEASURABLE, nights=known, why=why)


def _busy(series: Series) -> str:
    return series.quiet.reasons[0] if series.quiet and series.quiet.reasons else "other programs were busy"


def _judged(notebook: Notebook, watch: Watch, limits: Limits, series: Series, first: Series) -> _Judged:
    base = baseline_of(notebook, watch.baseline, series)
    known = count_nights(base)
    if series.quiet_verdict is QuietVerdict.BUSY:
        return _Judged(Outcome.POSTPONED, None, known, _busy(series), series)
    if known < BASELINE_NIGHTS:
        why = ""
        if base:
            differing = differences_of_repeat(base[-1], series)
            verdict = compared(notebook, tuple(base), series, limits).verdict
            if differing:
                why = f"not taken into the baseline: {differences_prose(differing)}"
            elif verdict in {Verdict.FASTER, Verdict.SLOWER}:
                why = f"not taken into the baseline: it is {verdict} than the series collected before"
        if not why and count_nights((*base, series)) > count_nights(base):
            notebook.set_baseline(watch.baseline, series.id, keep=True)
        return _Judged(
            Outcome.COLLECTED, None, count_nights(baseline_of(notebook, watch.baseline, series)), why, series
        )
    comparison = compared(notebook, base, series, limits, first)
    against_slow = None
    if watch.slow_ids and comparison.verdict is Verdict.UNKNOWN:
        slow = tuple(notebook.all_of(watch.slow_ids))
        against_slow = compared(notebook, slow, series, limits, first).verdict if slow else None
    return _Judged(outcome_of(comparison.verdict, against_slow), comparison, known, "", series)


def baseline_of(notebook: Notebook, name: str, series: Series) -> tuple[Series, ...]:
    """The baseline's series of this path, from the newest "new normal" on."""
    measured = (one for one in notebook.all_of(notebook.baseline_ids(name, SERIES)) if one.measured())
    of_path = [one for one in measured if path_of(one) == path_of(series)]
    marked = notebook.all_of([one.id for one in notebook.recordings_of(notebook.new_normals()) if one.kind == SERIES])
    begins = max((one.created_at for one in marked if path_of(one) == path_of(series)), default="")
    return tuple(one for one in of_path if one.created_at >= begins)


def compared(
    notebook: Notebook, base: Sequence[Series], series: Series, limits: Limits, first: Series | None = None
) -> Comparison:
    """The series against the baseline, with the path's history up to the ``first`` series of the check."""
    sides = Sides(base=tuple(one for one in base if one.id != series.id), other=(series,))
    return compare_sides(with_history(notebook, sides, first or series), limits, settles=False)


def _base(notebook: Notebook, watch: Watch) -> tuple[Series, ...]:
    """The baseline of the last series that could be judged."""
    series = notebook.all_of([watch.series_id] if watch.series_id else [])
    return baseline_of(notebook, watch.baseline, series[0]) if series else ()


def last_check(notebook: Notebook, watch: Watch) -> Check:
    base = _base(notebook, watch)
    known, outcome = count_nights(base), _OUTCOMES.get(watch.state, Outcome.POSTPONED)
    if outcome is Outcome.POSTPONED and watch.is_measured:
        outcome = Outcome.COLLECTED
    comparison = None
    if watch.series_id and known >= BASELINE_NIGHTS and outcome in {Outcome.NOT_SLOWER, Outcome.SLOWER}:
        comparison = compared(notebook, base, notebook.series(watch.series_id), Limits())
    return Check(watch=watch, before=watch, outcome=outcome, comparison=comparison, nights=known)


_OUTCOMES = {
    WatchState.STEADY: Outcome.NOT_SLOWER,
    WatchState.RECOVERED: Outcome.NOT_SLOWER,
    WatchState.SLOWER: Outcome.SLOWER,
    WatchState.UNMEASURABLE: Outcome.UNMEASURABLE,
}


def _after(watch: Watch, outcome: Outcome, found: _Judged, slow: Sequence[str]) -> Watch:
    now = utc_now()
    standing = state_after(watch.standing, outcome, slowed=bool(watch.slow_ids))
    over = outcome in {Outcome.NOT_SLOWER, Outcome.COLLECTED}
    measured = outcome not in {Outcome.POSTPONED, Outcome.UNMEASURABLE}
    state = WatchState.POSTPONED if outcome in {Outcome.POSTPONED, Outcome.COLLECTED} else standing
    if standing is WatchState.STEADY and watch.standing is not WatchState.STEADY:
        state = WatchState.RECOVERED
    return replace(
        watch,
        state=state,
        standing=standing,
        since=now if standing is not watch.standing else watch.since,
        attempted_at=now,
        succeeded_at=now if measured else watch.succeeded_at,
        series_id=found.series.id if found.series else watch.series_id,
        slow_ids=() if over else tuple(slow) if outcome is Outcome.SLOWER and slow else watch.slow_ids,
        unconfirmed_ids=(*watch.unconfirmed_ids, *(slow if outcome is not Outcome.SLOWER else ())),
        why=found.why,
    )


def tell(document: object, command: str) -> str:
    """Run --on-change with the document on its stdin; returns why that failed: it is run again after the next check."""
    secret = {"SHAREBENCH_PASSWORD", "CREDENTIALS_DIRECTORY"}
    environment = {name: value for name, value in os.environ.items() if name not in secret}
    try:
        done = run_program(
            ["/bin/sh", "-c", command],
            seconds=COMMAND_SECONDS,
            given=f"{json.dumps(document)}\n".encode(),
            environment=environment,
            keeps_output=False,
        )
    except OSError as error:
        return f"the command of --on-change failed: {error}"
    if done.code:
        return f"the command of --on-change ended with exit code {done.code}; it is run again after the next check"
    return ""


def delivered(watch: Watch, path: Path) -> None:
    with open_notebook(path) as notebook:
        notebook.update_recording(recording_of(replace(watch, told=watch.standing)))


MOST_SHOWN = 1_500
"""Series of a path that a terminal or screen shows, four years of nights: reading more takes seconds."""
MOST_KEPT = 100_000
_HAVE_HISTORY = (SERIES, LOAD, WATCH)


def history_of_target(
    notebook: Notebook, target: Target, command: Command, client: str, *, most: int = MOST_KEPT
) -> History:
    """The ``most`` newest series of a target. Raises UsageError where there is none."""
    asked = Series(id="", created_at=utc_now(), command=command, target=target, client=ClientFacts(name=client))
    found = _history(notebook, asked, most)
    if found is None:
        raise UsageError(
            f"no {command} of {wording.place(target)} by {client} has been measured: sharebench run, or see"
            " `sharebench list`"
        )
    return found


def history_of_recording(notebook: Notebook, reference: str, *, most: int = MOST_KEPT) -> History:
    """The path of a series (its ``most`` newest), load, watch or experiment. Raises UsageError."""
    experiment = notebook.experiment(reference) if notebook.experiment_called(reference) else []
    head = None if experiment else notebook.recording(reference, *(_HAVE_HISTORY if reference == LAST else ()))
    found: History | None = None
    if experiment:
        found = _history(notebook, experiment[-1], most)
    elif head and head.kind == LOAD:
        found = history_of_loads(notebook.loads_like(notebook.load(head.id), utc_now()), _notes(notebook))
    elif head:
        series = kind_of(head).measured_series(notebook, head)
        found = _history(notebook, series, most) if series else None
    if found is None:
        what = f"a {head.kind}" if head else "it"
        raise UsageError(f"{reference} has no history: {what} has no measured series or load point")
    return found


def _history(notebook: Notebook, of: Series, most: int) -> History | None:
    ids = notebook.earlier_ids(of, before=utc_now(), since="", most=most + 1)
    measured = [one for one in notebook.all_of(ids[-most:], brief=True) if one.measured()]
    path = path_of(of if of.measured() else measured[-1]) if measured else ()
    alike = [one for one in measured if path_of(one) == path]
    found = history_of_series(alike, _notes(notebook), _marks(notebook, of))
    return found and replace(found, is_whole=len(ids) <= most)


def _marks(notebook: Notebook, of: Series) -> Sequence[HistoryMark]:
    parts = notebook.earlier_ids(of, before=utc_now(), since="", most=MOST_KEPT, kinds=("trial", "sweep"))
    names = dict.fromkeys(one.experiment for one in notebook.heads_of(parts) if one.experiment)
    known = [found for name in names if (found := notebook.experiment_called(name))]
    return [HistoryMark(recording=one.recording_id or "", created_at=one.created_at, name=one.name) for one in known]


def _notes(notebook: Notebook) -> HistoryNotes:
    baselines: dict[str, tuple[str, ...]] = {}
    for one in notebook.baselines():
        baselines[one.recording_id] = (*baselines.get(one.recording_id, ()), one.name)
    normal, unconfirmed = frozenset(notebook.new_normals()), unconfirmed_ids(notebook.recordings(WATCH))
    return HistoryNotes(baselines=baselines, new_normals=normal, unconfirmed=unconfirmed)
