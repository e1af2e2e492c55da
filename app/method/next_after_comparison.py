"""What can be done next after a comparison of two series or groups of series: the base and the other.

Interleaved means that the runs of both sides alternate, so that a disturbance meets both.
"""

from collections.abc import Iterator
from functools import partial

from app.method import improvements
from app.method.base_repeats import plan_of_step
from app.method.next_steps import LOOK_AT_ALL, NextStep, change_step, repeat_step
from app.method.rounds import interleaved_by_hand, repeat_by_plan, repeat_of
from forms.comparison import wording
from forms.comparison.comparison import Comparison, more_interleaved_runs_settle, needs_longer_runs
from forms.comparison.doubts import busy_times
from forms.comparison.settling import SettlingStep
from forms.stats.decision import Doubt, Verdict
from forms.stats.settle import Way

_BOTH_AGAIN = "Measure both again, interleaved"


def after_comparison(comparison: Comparison) -> Iterator[NextStep]:
    """The steps, the best one first: what settles an open answer, then another change, then repeats."""
    settle = comparison.settle
    if settle is not None and settle.may_be_impossible and not settle.needs_past:
        # Behind another switch, say, nobody measures the old side again; the new one is still there.
        yield repeat_step(f"Measure {comparison.other_name} again: all series of it count", comparison.other_id)
    if settle is not None:
        yield _settling_step(comparison, settle)

    runs_to_settle = comparison.needed_runs if more_interleaved_runs_settle(comparison) else None
    runs = runs_to_settle or max(comparison.base_runs, comparison.other_runs)
    interleaved_again = _interleaved_step(_BOTH_AGAIN, comparison, runs)
    if runs_to_settle:
        yield _interleaved_step(wording.interleaving(comparison), comparison, runs)

    if _is_worth_longer_runs(comparison) and not comparison.is_base_gone:
        if comparison.interleaved and comparison.busy_ids:
            # A disturbed moment passes sooner than a large file is made.
            yield interleaved_again
        yield _larger_file_step(comparison)

    # Where a busy time may be the reason for the answer, that is measured again before anything is built on it.
    if busy_times.is_in_doubt(comparison):
        yield from _repeats_of_sides(comparison)
        yield from _steps_to_change(comparison)
    else:
        yield from _steps_to_change(comparison)
        yield from _repeats_of_sides(comparison)

    has_better_step = comparison.settle is not None or bool(runs_to_settle)
    was_offered_above = bool(comparison.busy_ids) and needs_longer_runs(comparison)
    if comparison.interleaved and not has_better_step and not was_offered_above:
        yield interleaved_again
    yield LOOK_AT_ALL


def _interleaved_step(name: str, comparison: Comparison, runs: int | None) -> NextStep:
    """Measure both sides again with their runs interleaved, ``runs`` of each."""
    arguments = {"base": comparison.base_id, "other": comparison.other_id, "runs": runs}
    return NextStep(name=name, screen="interleaved", arguments=arguments)


def _is_worth_longer_runs(comparison: Comparison) -> bool:
    """Whether the runs are too short for the answer, or it is open and pairs of series varied or runs were short."""
    is_open = comparison.decided is Verdict.UNKNOWN
    pairs_vary = comparison.tried is not None and comparison.tried.doubt is Doubt.VARYING
    return needs_longer_runs(comparison) or (is_open and (pairs_vary or comparison.has_short_runs))


def _larger_file_step(comparison: Comparison) -> NextStep:
    """Measure again with a file so large that a run takes longer."""
    improvement = improvements.QUIET_FILE if comparison.busy_ids else improvements.LARGER_FILE
    name = improvement.name
    # Both sides need the larger file, and a change is made anew once its base was measured with it.
    if comparison.doubt is not Doubt.SAME_SETTINGS:
        name += ": the base first"
    again = partial(repeat_of, series_id=comparison.base_id, better=improvement, then=comparison.the_change)
    return NextStep(name=name, choices=again)


def _steps_to_change(comparison: Comparison) -> Iterator[NextStep]:
    """Another change, from the side that the answer says is the better one to start from."""
    was_changed = comparison.change or comparison.tried or comparison.interleaved or comparison.is_base_gone
    # A baseline is named before a change, also one that no setting shows.
    if busy_times.has_answer(comparison) and (was_changed or comparison.base_baseline):
        # Nobody can go back to a base that is gone.
        if comparison.decided is Verdict.FASTER or comparison.is_base_gone:
            start = comparison.other_name
            start_id = comparison.other_id
        else:
            start = comparison.base_name
            start_id = comparison.base_id
        yield change_step(f"Make another change, starting from {start}", start_id)
    if comparison.doubt is Doubt.SAME_SETTINGS:
        yield change_step("Change one thing", comparison.other_id)


def _repeats_of_sides(comparison: Comparison) -> Iterator[NextStep]:
    """Each side once more: with more runs where these were too few, else as it was, or at a quiet time."""
    base = (comparison.base_name, comparison.base_id)
    other = (comparison.other_name, comparison.other_id)
    if comparison.doubt in (Doubt.NO_RUNS, Doubt.FEW_RUNS, Doubt.VARYING):
        more_runs = improvements.MORE_RUNS
        measurable_sides = (other,) if comparison.is_base_gone else (base, other)
        for name, series_id in measurable_sides:
            yield repeat_step(f"{more_runs.name}: {name}", series_id, more_runs)

    is_settled = busy_times.has_answer(comparison) and not busy_times.is_in_doubt(comparison)
    if comparison.base_baseline and is_settled:
        narrower = wording.range_after_repeat(comparison)
        if narrower:
            yield repeat_step(f"Measure {comparison.other_name} again: narrows the range to about {narrower}", other[1])
        return
    if comparison.interleaved or _is_not_to_be_repeated(comparison):
        return
    sides: tuple[tuple[str, str], ...] = (base, other)
    if comparison.doubt is Doubt.SAME_SETTINGS:
        # Sides of the same settings are repeats of each other already.
        sides = (base,)
    elif comparison.is_base_gone or comparison.is_change_unseen or _is_answered_beside_baseline(comparison):
        # What a baseline was measured on has changed: measured now, it would be of the other side.
        sides = (other,)

    # Where a busy time does not matter to the answer, nobody has to wait for a quiet one.
    ids_to_wait_for = () if is_settled else comparison.busy_ids
    for name, series_id in sides:
        if series_id in ids_to_wait_for:
            wait = improvements.WAIT
            yield repeat_step(f"{wait.name}: {name}", series_id, wait)
    for name, series_id in sides:
        if series_id not in ids_to_wait_for:
            yield repeat_step(f"Measure again: {name}", series_id)


def _is_answered_beside_baseline(comparison: Comparison) -> bool:
    return bool(comparison.base_baseline) and busy_times.has_answer(comparison)


def is_answer_of_baseline(comparison: Comparison) -> bool:
    """Whether a change that no setting shows is answered for: its base is a baseline, and nothing is left in doubt."""
    is_settled = busy_times.has_answer(comparison) and not busy_times.is_in_doubt(comparison)
    return is_settled and bool(comparison.base_baseline) and comparison.change is None


def _is_not_to_be_repeated(comparison: Comparison) -> bool:
    """Whether what was measured is gone, or more of it would tell no more."""
    if comparison.settle is not None and comparison.settle.needs_past:
        return True
    is_other_in_doubt = busy_times.is_in_doubt(comparison) and comparison.other_id in comparison.busy_ids
    return _is_answered_for_good(comparison) and not is_other_in_doubt


def _is_answered_for_good(comparison: Comparison) -> bool:
    """Whether the base is gone, and more of the other side would hardly tell more than is known: none is offered."""
    return comparison.is_base_gone and comparison.settle is None and (comparison.known or comparison.is_open)


def _settling_step(comparison: Comparison, step: SettlingStep) -> NextStep:
    """What the comparison itself says would settle it, as a step that does it."""
    sentence = wording.settling_sentence(step)

    match step.way:
        case Way.TRY:
            base = partial(repeat_of, series_id=comparison.base_id)
            return NextStep(name=sentence, choices=base, screen="trial", arguments={"setting": step.setting})
        case Way.INTERLEAVED:
            return _interleaved_step(sentence, comparison, step.count)
        case Way.ALTERNATING if comparison.change is not None and step.series_a_side:
            # A change that is made by hand on the server: the guide says when to make it and when to take it back.
            next_turn = partial(interleaved_by_hand, changed_id=comparison.other_id, series_a_side=step.series_a_side)
            return NextStep(name=sentence, choices=next_turn)
        case Way.OTHER_AGAIN:
            plan = plan_of_step(step)
            return NextStep(name=sentence, choices=partial(repeat_by_plan, base_id=step.first_id, plan=plan))
        case _:
            return repeat_step(sentence, step.first_id)
