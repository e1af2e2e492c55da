"""What is told of a change that is being proven, and what can be done for the proof or with it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from app.guide.context import GuideContext
from app.guide.page import Go, Option, Store, Visit
from app.method.choices import OWN_CHANGES, GuideChoices, changed, from_there, measured_again, to_be_made_again
from app.method.improvements import BETTER
from app.method.proof import next_turn, proven_change, turns_so_far
from app.method.rounds import decide
from forms import wording
from forms.comparison.comparison import Comparison, can_interleave, needs_longer_runs
from forms.comparison.settling import SettlingStep
from forms.comparison.verdict import Sides, compare_sides
from forms.comparison.wording import comparison_sentences, interleaving
from forms.findings.path import is_practice
from forms.layout import Toned
from forms.stats.decision import Doubt, Limits, Verdict
from forms.stats.settle import Way
from storage.records import Change, Decision, Series

_REPEATS_WOULD_TELL = (Doubt.BASE_VARIED, Doubt.TREND)


def change_text(change: Change) -> str:
    return wording.plain(f"{change.name} = {wording.value_of(change.name, change.value)}")


def _setting_text(change: Change, *, is_b: bool) -> str:
    """What is set on that side of a change: B is with it, A without."""
    value = change.value if is_b else change.previous
    if value is None:
        return f"{wording.plain(change.name)} as it was"
    return change_text(replace(change, value=value))


def _was_restored_by_trial(proof: Sides, *series: Series) -> bool:
    """Whether a trial came after these series, which restores what was there without the change."""
    if proof.tried is None:
        return False
    tried_at = proof.tried.experiment.created_at
    return all(one_series.created_at < tried_at for one_series in series)


def turn_text(choices: GuideChoices, context: GuideContext) -> str:
    """What to set before the next series of a change that is interleaved by hand, and the count."""
    proof = context.proof
    turns = turns_so_far(proof)
    lineage = choices.spec.lineage
    change = Change(name=lineage.change_name or "", value=lineage.change_value)
    is_b = True
    if proof is not None:
        change = proven_change(proof)
        is_b = lineage.base_id == proof.other[0].id

    side = "B" if is_b else "A"
    who = _who_sets(change, proof, is_b=is_b, last_is_b=turns.last_is_b)
    return (
        f"Now {side}: {_setting_text(change, is_b=is_b)}. {who} Series {turns.count + 1} of"
        f" {2 * choices.interleaved}; measured so far: A {turns.count_a}, B {turns.count_b}."
    )


def _who_sets(change: Change, proof: Sides | None, *, is_b: bool, last_is_b: bool) -> str:
    if change.name in OWN_CHANGES:
        return "Applied automatically: start."
    if proof is not None:
        is_made_now = last_is_b and not _was_restored_by_trial(proof, *proof.other)
        if is_b == is_made_now:
            return "It is set already: start."
    return "Make it on the server now, then start." if is_b else "Restore it on the server now, then start."


def what_to_set(choices: GuideChoices, context: GuideContext) -> Iterator[str]:
    """For the run: which settings are measured again, and who makes them."""
    if context.proof is None or choices.proven_id is None:
        return
    change = proven_change(context.proof)
    is_b = choices.spec.lineage.base_id == context.proof.other[0].id

    made = "made again" if is_b else "restored"
    who = "Do it on the server now, then start; the form says what was seen there."
    if change.name in OWN_CHANGES:
        who = "Applied automatically."
    yield f"Measured again, the change {made}: {_setting_text(change, is_b=is_b)}. {who}"


def what_is_proven(choices: GuideChoices, context: GuideContext) -> Iterator[str | Toned]:
    """For the comparison: what all series of both sides say of the change."""
    proof = context.proof
    if proof is None:
        return
    is_told_already = any(yardstick.series.id == proof.base[0].id for yardstick in context.yardsticks)
    if choices.proven_id is None and is_told_already:
        return

    comparison = compare_sides(context.settled or proof, Limits())
    counts = f"{len(proof.base)} against {len(proof.other)} series"
    text = f"{change_text(proven_change(proof))}, {counts}: {comparison.sign} {comparison_sentences(comparison)}"
    yield Toned(text, comparison.tone)

    counted_ids = {series.id for series in (*proof.base, *proof.other)}
    if context.series and context.series.id not in counted_ids:
        yield f"! Series {context.series.id} shows other settings than what it was to repeat, so it is not counted."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proof:
    """A change as it stands: its sides, what they come to, and whether it is made on the server now."""

    choices: GuideChoices
    sides: Sides
    comparison: Comparison
    step: SettlingStep | None
    """What would settle it; None where it is settled, or for practice."""
    changed_last: bool
    """Whether the series of this round is one with the change."""
    is_made: bool

    @property
    def base(self) -> Series:
        return self.sides.base[0]

    @property
    def changed(self) -> Series:
        return self.sides.other[0]

    @property
    def change(self) -> Change:
        return proven_change(self.sides)

    @property
    def is_by_hand(self) -> bool:
        return self.change.name not in OWN_CHANGES

    @property
    def first(self) -> str:
        """What is to be done on the server before the base is measured again; empty for nothing."""
        return "restore it on the server first" if self.is_by_hand and self.is_made else ""


def next_of_proof(choices: GuideChoices, context: GuideContext) -> Iterator[Option]:
    """What can be done for or with the proof, the likeliest first; nothing where no change was made."""
    if context.proof is None or context.series is None:
        return
    proof = _proof_of(choices, context.proof, context.series, context.settled)
    if proof.comparison.doubt is Doubt.CONTRADICTED:
        yield from _next_of_contradicted(proof)
        return

    keep, leave_out = _decisions(proof)
    decided = proof.comparison.decided
    if decided is Verdict.UNKNOWN:
        yield from _settling_options(proof)
        yield _once_more(proof)
        yield keep
        yield leave_out
    elif decided is Verdict.FASTER:
        yield keep
        yield leave_out
        yield _once_more(proof)
    else:
        yield replace(leave_out, advised=True)
        yield keep
        yield _once_more(proof)


def _proof_of(choices: GuideChoices, sides: Sides, series: Series, settled: Sides | None) -> _Proof:
    comparison = compare_sides(settled or sides, Limits())
    changed_last = series.id in {changed_series.id for changed_series in sides.other}
    return _Proof(
        choices=choices,
        sides=sides,
        comparison=comparison,
        step=None if is_practice(sides.base[0]) else comparison.settle,
        changed_last=changed_last,
        is_made=changed_last and not _was_restored_by_trial(sides, series),
    )


def _decisions(proof: _Proof) -> tuple[Option, Option]:
    """To keep the change, and to leave it out."""
    keep = Store(
        partial(decide, series_id=proof.changed.id, decision=Decision.KEPT),
        from_there(proof.changed),
    )
    leave_out = Store(
        partial(decide, series_id=proof.changed.id, decision=Decision.REVERTED),
        from_there(proof.base),
    )
    keep_hint = "the next change is made from there"
    if proof.is_by_hand and not proof.is_made:
        keep_hint = "make it again on the server first"
    leave_hint = proof.first or "the next change is made from the base"
    is_faster = proof.comparison.decided is Verdict.FASTER
    return (
        Option("Keep the change, and go on from there", keep, keep_hint, advised=is_faster),
        Option("Leave the change out, and change something else", leave_out, leave_hint),
    )


def _next_of_contradicted(proof: _Proof) -> Iterator[Option]:
    """What was seen on the server says that the change was not made."""
    if proof.is_by_hand:
        anew = changed(from_there(proof.base), proof.base, proof.change.name, proof.change.value)
        anew = replace(
            anew,
            quiet=proof.choices.quiet,
            kerberos=proof.choices.kerberos,
            interleaved=proof.choices.interleaved,
        )
        yield Option("Make the change now, measure again", Go(anew), advised=True)

    _, leave_out = _decisions(proof)
    yield replace(leave_out, hint="the next change is made from the base", advised=not proof.is_by_hand)


def _once_more(proof: _Proof) -> Option:
    """The other side of the change once more."""
    is_step_alone = proof.step is None or proof.step.way is Way.BASE_AGAIN
    can_tell = is_step_alone and not proof.choices.interleaved and not needs_longer_runs(proof.comparison)
    advised = can_tell and proof.sides.tried is None and proof.comparison.doubt in _REPEATS_WOULD_TELL
    if proof.changed_last:
        base_again = Go(measured_again(proof.choices, proof.base, proof.changed.id))
        return Option("Restore the base, measure again", base_again, "whether the base comes back", advised=advised)
    change_again = Go(measured_again(proof.choices, proof.changed, proof.changed.id))
    return Option("Make the change again, measure again", change_again, "one more series with it", advised=advised)


def _settling_options(proof: _Proof) -> Iterator[Option]:
    comparison = proof.comparison
    step = proof.step
    pairs_vary = proof.sides.tried is not None and proof.sides.tried.doubt is Doubt.VARYING
    needs_longer = needs_longer_runs(comparison)
    if pairs_vary or needs_longer:
        yield _larger_file(proof, pairs_vary=pairs_vary)

    if can_interleave(comparison):
        both = {"base": comparison.base_id, "other": comparison.other_id, "runs": comparison.needed_runs}
        yield Option(interleaving(comparison), Visit("interleaved", both), "would settle it", advised=True)
    elif proof.choices.interleaved and not pairs_vary:
        more = next_turn(proof.choices, proof.sides, proof.choices.interleaved + 1)
        title = "One more series of each, interleaved"
        yield Option(title, Go(more), "narrows the interval", advised=not needs_longer)
    elif step and step.way is Way.TRY:
        trial = Visit("trial", {"setting": step.setting})
        hint = proof.first or "interleaved pairs, then restored"
        yield Option("Let sharebench try it", trial, hint, advised=True)
    elif step and step.way is Way.INTERLEAVED:
        both = {"base": proof.base.id, "other": proof.changed.id, "runs": step.count}
        yield Option("Measure both again, interleaved", Visit("interleaved", both), "run by run", advised=True)
    elif step and step.series_a_side:
        more = next_turn(proof.choices, proof.sides, step.series_a_side)
        yield Option("Measure both again, alternating", Go(more), "the guide says now A, now B", advised=True)


def _larger_file(proof: _Proof, *, pairs_vary: bool) -> Option:
    """The base with a larger file, after which the change is offered again."""
    improvement = BETTER["short"]
    base = to_be_made_again(from_there(proof.base), proof.change)
    base = replace(
        base,
        quiet=proof.choices.quiet,
        kerberos=proof.choices.kerberos,
        series_id=None,
        reviewed=False,
        compared=False,
    )
    cause = "the pairs of the trial vary too much" if pairs_vary else proof.first or "the runs vary too much"
    hint = f"{cause}; first without the change, then make it again"
    return Option(improvement.name, Go(improvement.apply(base)), hint, advised=True)
