"""What a watch says after a check, and its last check as the notebook still tells it.

The *state* of a watch is what its last check found, also that it was postponed. Its *standing* lasts until a check
finds otherwise: steady, slower or unmeasurable.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.watch.baseline import compare_with_baseline, last_baseline
from app.watch.judging import JudgedSeries
from forms.stats.decision import Limits
from forms.watch import rule
from forms.watch.rule import BASELINE_NIGHTS, Check, Outcome, count_nights
from storage import records
from storage.notebook import Notebook
from storage.watch.records import Watch, WatchState

_OUTCOME_OF_STATE = {
    WatchState.STEADY: Outcome.NOT_SLOWER,
    WatchState.RECOVERED: Outcome.NOT_SLOWER,
    WatchState.SLOWER: Outcome.SLOWER,
    WatchState.UNMEASURABLE: Outcome.UNMEASURABLE,
}
"""What the last check found, by the state that it left; by any other, it was postponed."""


def watch_after(watch: Watch, outcome: Outcome, judgement: JudgedSeries, slow_ids: Sequence[str]) -> Watch:
    """The watch as a check with that outcome leaves it.

    ``judgement`` is that of the check's last series, and ``slow_ids`` are those of its series that were slower.
    """
    now = records.utc_now()
    standing = rule.standing_after(watch.standing, outcome, slowed=bool(watch.slow_ids))
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


def last_check(notebook: Notebook, watch: Watch) -> Check:
    """The last check of a watch, as far as the notebook still tells it."""
    baseline = last_baseline(notebook, watch)
    nights = count_nights(baseline)
    outcome = _OUTCOME_OF_STATE.get(watch.state, Outcome.POSTPONED)
    if outcome is Outcome.POSTPONED and watch.is_measured:
        # Collecting leaves the same state as postponing, but only what was collected had been measured.
        outcome = Outcome.COLLECTED

    comparison = None
    if watch.series_id and nights >= BASELINE_NIGHTS and outcome in {Outcome.NOT_SLOWER, Outcome.SLOWER}:
        comparison = compare_with_baseline(notebook, baseline, notebook.series(watch.series_id), Limits())
    return Check(watch=watch, before=watch, outcome=outcome, comparison=comparison, nights=nights)
