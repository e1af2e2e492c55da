"""What is told of a change that is being proven, and what can be done for the proof or with it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from app.guide import page
from app.guide.context import GuideContext
from app.method import choices as method_choices
from app.method import one_change
from app.method import proof as method_proof
from app.method.improvements import BETTER
from app.method.rounds import decide
from forms import wording
from forms.comparison import comparison as comparison_comparison
from forms.comparison import judged_sides, verdict
from forms.comparison import wording as comparison_wording
from forms.comparison.settling import SettlingStep
from forms.findings.path import is_practice
from forms.layout import Toned
from forms.stats import decision
from forms.stats.settle import Way
from storage import records

_REPEATS_WOULD_TELL = (decision.Doubt.BASE_VARIED, decision.Doubt.TREND)


def change_text(change: records.Change) -> str:
    return wording.plain(f"{change.name} = {wording.value_of(change.name, change.value)}")


def _setting_text(change: records.Change, *, is_b: bool) -> str:
    """What is set on that side of a change: B is with it, A without."""
    value = change.value if is_b else change.previous
    if value is None:
        return f"{wording.plain(change.name)} as it was"
    return change_text(replace(change, value=value))


def _was_restored_by_trial(proof: judged_sides.Sides, *series: records.Series) -> bool:
    """Whether a trial came after these series, which restores what was there without the change."""
    if proof.tried is None:
        return False
    tried_at = proof.tried.experiment.created_at
    return all(one_series.created_at < tried_at for one_series in series)


def turn_text(choices: method_choices.GuideChoices, context: GuideContext) -> str:
    """What to set before the next series of a change that is interleaved by hand, and the count."""
    proof = context.proof
    turns = method_proof.turns_so_far(proof)
    lineage = choices.spec.lineage
    change = records.Change(name=lineage.change_name or "", value=lineage.change_value)
    is_b = True
    if proof is not None:
        change = method_proof.proven_change(proof)
        is_b = lineage.base_id == proof.other[0].id

    side = "B" if is_b else "A"
    who = _who_sets(change, proof, is_b=is_b, last_is_b=turns.last_is_b)
    return (
        f"Now {side}: {_setting_text(change, is_b=is_b)}. {who} Series {turns.count + 1} of"
        f" {2 * choices.interleaved}; measured so far: A {turns.count_a}, B {turns.count_b}."
    )


def _who_sets(change: records.Change, proof: judged_sides.Sides | None, *, is_b: bool, last_is_b: bool) -> str:
    if change.name in one_change.OWN_CHANGES:
        return "Applied automatically: start."
    if proof is not None:
        is_made_now = last_is_b and not _was_restored_by_trial(proof, *proof.other)
        if is_b == is_made_now:
            return "It is set already: start."
    return "Make it on the server now, then start." if is_b else "Restore it on the server now, then start."


def what_to_set(choices: method_choices.GuideChoices, context: GuideContext) -> Iterator[str]:
    """For the run: which settings are measured again, and who makes them."""
    if context.proof is None or choices.proven_id is None:
        return
    change = method_proof.proven_change(context.proof)
    is_b = choices.spec.lineage.base_id == context.proof.other[0].id

    state_text = "made again" if is_b else "restored"
    who = "Do it on the server now, then start; the form says what was seen there."
    if change.name in one_change.OWN_CHANGES:
        who = "Applied automatically."
    yield f"Measured again, the change {state_text}: {_setting_text(change, is_b=is_b)}. {who}"


def what_is_proven(choices: method_choices.GuideChoices, context: GuideContext) -> Iterator[str | Toned]:
    """For the comparison: what all series of both sides say of the change."""
    proof = context.proof
    if proof is None:
        return
    is_told_already = any(yardstick.series.id == proof.base[0].id for yardstick in context.yardsticks)
    if choices.proven_id is None and is_told_already:
        return

    comparison = verdict.compare_sides(context.settled or proof, decision.Limits())
    change = change_text(method_proof.proven_change(proof))
    counts = f"{len(proof.base)} against {len(proof.other)} series"
    sentences = comparison_wording.comparison_sentences(comparison)
    yield Toned(f"{change}, {counts}: {comparison.sign} {sentences}", comparison.tone)

    counted_ids = {series.id for series in (*proof.base, *proof.other)}
    if context.series and context.series.id not in counted_ids:
        yield f"! Series {context.series.id} shows other settings than what it was to repeat, so it is not counted."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proof:
    """A change as it stands: its sides, what they come to, and whether it is made on the server now."""

    choices: method_choices.GuideChoices
    sides: judged_sides.Sides
    comparison: comparison_comparison.Comparison
    step: SettlingStep | None
    """What would settle it; None where it is settled, or for practice."""
    changed_last: bool
    """Whether the series of this round is one with the change."""
    is_made: bool

    @property
    def base(self) -> records.Series:
        return self.sides.base[0]

    @property
    def changed(self) -> records.Series:
        return self.sides.other[0]

    @property
    def change(self) -> records.Change:
        return method_proof.proven_change(self.sides)

    @property
    def is_by_hand(self) -> bool:
        return self.change.name not in one_change.OWN_CHANGES

    @property
    def first(self) -> str:
        """What is to be done on the server before the base is measured again; empty for nothing."""
        return "restore it on the server first" if self.is_by_hand and self.is_made else ""


def next_of_proof(choices: method_choices.GuideChoices, context: GuideContext) -> Iterator[page.Option]:
    """What can be done for or with the proof, the likeliest first; nothing where no change was made."""
    if context.proof is None or context.series is None:
        return
    proof = _proof_of(choices, context.proof, context.series, context.settled)
    if proof.comparison.doubt is decision.Doubt.CONTRADICTED:
        yield from _next_of_contradicted(proof)
        return

    keep, leave_out = _decisions(proof)
    decided = proof.comparison.decided
    if decided is decision.Verdict.UNKNOWN:
        yield from _settling_options(proof)
        yield _once_more(proof)
        yield keep
        yield leave_out
    elif decided is decision.Verdict.FASTER:
        yield keep
        yield leave_out
        yield _once_more(proof)
    else:
        yield replace(leave_out, advised=True)
        yield keep
        yield _once_more(proof)


def _proof_of(
    choices: method_choices.GuideChoices,
    sides: judged_sides.Sides,
    series: records.Series,
    settled: judged_sides.Sides | None,
) -> _Proof:
    comparison = verdict.compare_sides(settled or sides, decision.Limits())
    changed_last = series.id in {changed_series.id for changed_series in sides.other}
    return _Proof(
        choices=choices,
        sides=sides,
        comparison=comparison,
        step=None if is_practice(sides.base[0]) else comparison.settle,
        changed_last=changed_last,
        is_made=changed_last and not _was_restored_by_trial(sides, series),
    )


def _decisions(proof: _Proof) -> tuple[page.Option, page.Option]:
    """To keep the change, and to leave it out."""
    keep = page.Store(
        partial(decide, series_id=proof.changed.id, decision=records.Decision.KEPT),
        method_choices.choices_for_change(proof.changed),
    )
    leave_out = page.Store(
        partial(decide, series_id=proof.changed.id, decision=records.Decision.REVERTED),
        method_choices.choices_for_change(proof.base),
    )

    keep_hint = "the next change is made from there"
    if proof.is_by_hand and not proof.is_made:
        keep_hint = "make it again on the server first"
    leave_hint = proof.first or "the next change is made from the base"
    is_faster = proof.comparison.decided is decision.Verdict.FASTER

    return (
        page.Option("Keep the change, and go on from there", keep, keep_hint, advised=is_faster),
        page.Option("Leave the change out, and change something else", leave_out, leave_hint),
    )


def _next_of_contradicted(proof: _Proof) -> Iterator[page.Option]:
    """What was seen on the server says that the change was not made."""
    if proof.is_by_hand:
        anew = one_change.change_one_thing(
            method_choices.choices_for_change(proof.base), proof.base, proof.change.name, proof.change.value
        )
        anew = replace(
            anew,
            quiet=proof.choices.quiet,
            kerberos=proof.choices.kerberos,
            interleaved=proof.choices.interleaved,
        )
        yield page.Option("Make the change now, measure again", page.Go(anew), advised=True)

    _, leave_out = _decisions(proof)
    yield replace(leave_out, hint="the next change is made from the base", advised=not proof.is_by_hand)


def _once_more(proof: _Proof) -> page.Option:
    """The other side of the change once more."""
    is_step_alone = proof.step is None or proof.step.way is Way.BASE_AGAIN
    can_tell = (
        is_step_alone
        and not proof.choices.interleaved
        and not comparison_comparison.needs_longer_runs(proof.comparison)
    )

    advised = can_tell and proof.sides.tried is None and proof.comparison.doubt in _REPEATS_WOULD_TELL
    if proof.changed_last:
        base_again = page.Go(method_choices.choices_to_repeat(proof.choices, proof.base, proof.changed.id))
        return page.Option(
            "Restore the base, measure again", base_again, "whether the base comes back", advised=advised
        )
    change_again = page.Go(method_choices.choices_to_repeat(proof.choices, proof.changed, proof.changed.id))
    return page.Option("Make the change again, measure again", change_again, "one more series with it", advised=advised)


def _settling_options(proof: _Proof) -> Iterator[page.Option]:
    comparison = proof.comparison
    step = proof.step
    pairs_vary = proof.sides.tried is not None and proof.sides.tried.doubt is decision.Doubt.VARYING
    needs_longer = comparison_comparison.needs_longer_runs(comparison)
    if pairs_vary or needs_longer:
        yield _larger_file(proof, pairs_vary=pairs_vary)

    if comparison_comparison.can_interleave(comparison):
        sides = {"base": comparison.base_id, "other": comparison.other_id, "runs": comparison.needed_runs}
        yield page.Option(
            comparison_wording.interleaving(comparison),
            page.Visit("interleaved", sides),
            "would settle it",
            advised=True,
        )
    elif proof.choices.interleaved and not pairs_vary:
        more = method_proof.next_turn(proof.choices, proof.sides, proof.choices.interleaved + 1)
        title = "One more series of each, interleaved"
        yield page.Option(title, page.Go(more), "narrows the interval", advised=not needs_longer)
    elif step and step.way is Way.TRY:
        trial = page.Visit("trial", {"setting": step.setting})
        hint = proof.first or "interleaved pairs, then restored"
        yield page.Option("Let sharebench try it", trial, hint, advised=True)
    elif step and step.way is Way.INTERLEAVED:
        sides = {"base": proof.base.id, "other": proof.changed.id, "runs": step.count}
        yield page.Option(
            "Measure both again, interleaved", page.Visit("interleaved", sides), "run by run", advised=True
        )
    elif step and step.series_a_side:
        more = method_proof.next_turn(proof.choices, proof.sides, step.series_a_side)
        yield page.Option("Measure both again, alternating", page.Go(more), "the guide says now A, now B", advised=True)


def _larger_file(proof: _Proof, *, pairs_vary: bool) -> page.Option:
    """The base with a larger file, after which the change is offered again."""
    improvement = BETTER["short"]
    base = method_choices.with_change_after(method_choices.choices_for_change(proof.base), proof.change)
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
    return page.Option(improvement.name, page.Go(improvement.apply(base)), hint, advised=True)
