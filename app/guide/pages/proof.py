"""What can be done for a change that is being proven, or with it: settle it, keep it, leave it out, measure once more.

``app.guide.pages.proof_facts`` explains what a proof and its sides are.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from app.guide import page
from app.guide.pages.proof_facts import was_restored_by_trial
from app.method import choices as method_choices
from app.method import one_change
from app.method import proof as method_proof
from app.method.improvements import LARGER_FILE
from app.method.rounds import decide
from forms.comparison import comparison as series_comparison
from forms.comparison import judged_sides, verdict
from forms.comparison.settling import SettlingStep
from forms.comparison.wording import interleaving
from forms.findings.path import is_practice
from forms.stats import decision
from forms.stats.settle import Way
from storage import records

# Doubts about whole series: equal ones may differ by as much, or a steady trend would explain the difference.
_REPEATS_WOULD_SETTLE = (decision.Doubt.BASE_VARIED, decision.Doubt.TREND)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proof:
    """A change as it stands: its sides, what they come to, and whether it is made on the server now."""

    choices: method_choices.GuideChoices
    sides: judged_sides.Sides
    comparison: series_comparison.Comparison
    step: SettlingStep | None
    """What would settle it; None where it is settled, where nothing would, or for practice."""
    is_of_change: bool
    """Whether the series of this round is one with the change, not one of its base."""
    is_made: bool
    """Whether the change is in effect on the server now, as far as the guide knows."""

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
    def to_do_first(self) -> str:
        """What is to be done on the server before the base is measured again; empty for nothing."""
        return "restore it on the server first" if self.is_by_hand and self.is_made else ""


def next_of_proof(
    choices: method_choices.GuideChoices,
    series: records.Series,
    sides: judged_sides.Sides | None,
    settled: judged_sides.Sides | None,
) -> Iterator[page.Option]:
    """What can be done for or with the proof, the likeliest first; nothing where no change was made.

    ``series`` is that of this round, ``settled`` what tells most of it, see :class:`GuideContext`.
    """
    if sides is None:
        return
    proof = _proof_of(choices, sides, series, settled)
    if proof.comparison.doubt is decision.Doubt.CONTRADICTED:
        yield from _next_of_contradicted(proof)
        return

    # Undecided, it is settled first; faster, it is kept; slower or equal, it is left out.
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
    is_of_change = series.id in {changed_series.id for changed_series in sides.other}

    return _Proof(
        choices=choices,
        sides=sides,
        comparison=comparison,
        step=None if is_practice(sides.base[0]) else comparison.settle,
        is_of_change=is_of_change,
        is_made=is_of_change and not was_restored_by_trial(sides, series),
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
    leave_hint = proof.to_do_first or "the next change is made from the base"
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
    """Measure the side that was not measured last once more."""
    # Recommended where repeats would give a verdict, and nothing better would.
    is_step_alone = proof.step is None or proof.step.way is Way.BASE_AGAIN
    can_tell = (
        is_step_alone and not proof.choices.interleaved and not series_comparison.needs_longer_runs(proof.comparison)
    )

    advised = can_tell and proof.sides.tried is None and proof.comparison.doubt in _REPEATS_WOULD_SETTLE
    if proof.is_of_change:
        # Either is a repeat of a side; what is being proven remains the changed series.
        base_again = page.Go(method_choices.choices_to_repeat(proof.choices, proof.base, proof.changed.id))
        return page.Option(
            "Restore the base, measure again", base_again, "whether the base comes back", advised=advised
        )
    change_again = page.Go(method_choices.choices_to_repeat(proof.choices, proof.changed, proof.changed.id))
    return page.Option("Make the change again, measure again", change_again, "one more series with it", advised=advised)


def _settling_options(proof: _Proof) -> Iterator[page.Option]:
    """What would settle the proof: longer runs, and of the ways to measure both sides again the best that can be had.

    ``choices.interleaved`` is how many series a side the round alternates to already; 0 where it does not.
    """
    comparison = proof.comparison
    step = proof.step
    # A trial of the change was made, and even its pairs vary by too much to tell.
    pairs_vary = proof.sides.tried is not None and proof.sides.tried.doubt is decision.Doubt.VARYING
    needs_longer = series_comparison.needs_longer_runs(comparison)
    if pairs_vary or needs_longer:
        yield _larger_file(proof, pairs_vary=pairs_vary)

    if series_comparison.more_interleaved_runs_settle(comparison):
        sides = {"base": comparison.base_id, "other": comparison.other_id, "runs": comparison.needed_runs}
        yield page.Option(
            interleaving(comparison),
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
        hint = proof.to_do_first or "interleaved pairs, then restored"
        yield page.Option("Let sharebench try it", trial, hint, advised=True)
    elif step and step.way is Way.INTERLEAVED:
        sides = {"base": proof.base.id, "other": proof.changed.id, "runs": step.count}
        yield page.Option(
            "Measure both again, interleaved", page.Visit("interleaved", sides), "run by run", advised=True
        )
    elif step and step.series_a_side:
        more = method_proof.next_turn(proof.choices, proof.sides, step.series_a_side)
        yield page.Option("Measure both again, alternating", page.Go(more), "the guide says now A, now B", advised=True)
    # The way that is left, to measure the base again, is what `_once_more` offers.


def _larger_file(proof: _Proof, *, pairs_vary: bool) -> page.Option:
    """The base with a larger file, after which the change is offered again."""
    improvement = LARGER_FILE
    base = method_choices.with_change_after(method_choices.choices_for_change(proof.base), proof.change)
    base = replace(
        base,
        quiet=proof.choices.quiet,
        kerberos=proof.choices.kerberos,
        series_id=None,
        reviewed=False,
        compared=False,
    )

    cause = "the pairs of the trial vary too much" if pairs_vary else proof.to_do_first or "the runs vary too much"
    hint = f"{cause}; first without the change, then make it again"
    return page.Option(improvement.name, page.Go(improvement.apply(base)), hint, advised=True)
