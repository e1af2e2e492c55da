"""What is told of a change that is being proven: what to set on the server before a series, and what was found so far.

A change is *proven* by series with it and series without it, on two sides: A is the base, without the change; B is
with it. Each side has repeats, measured one after another or in alternation (A B B A). A change *by hand* is one that
the user makes on the server; others sharebench makes by itself, in its own client. A proof is *settled* once there is a
verdict; as long as there is none, the comparison says what would settle it.
"""

from collections.abc import Iterator
from dataclasses import replace

from app.guide.context import GuideContext
from app.method import choices as method_choices
from app.method import one_change
from app.method import proof as method_proof
from forms import wording
from forms.comparison.judged_sides import Sides
from forms.comparison.verdict import compare_sides
from forms.comparison.wording import comparison_sentences
from forms.layout import Toned
from forms.stats.decision import Limits
from storage import records


def change_text(change: records.Change) -> str:
    return wording.plain(f"{change.name} = {wording.value_of(change.name, change.value)}")


def _setting_text(change: records.Change, *, is_b: bool) -> str:
    """What is set on that side of a change."""
    value = change.value if is_b else change.previous
    if value is None:
        return f"{wording.plain(change.name)} as it was"
    return change_text(replace(change, value=value))


def was_restored_by_trial(proof: Sides, *series: records.Series) -> bool:
    """Whether a trial of the change came after all these series: at its end it restores what was there without it."""
    if proof.tried is None:
        return False
    tried_at = proof.tried.experiment.created_at
    return max(measured.created_at for measured in series) < tried_at


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


def _who_sets(change: records.Change, proof: Sides | None, *, is_b: bool, last_is_b: bool) -> str:
    """What the user has to do for a series of that side, after one of side B or A."""
    if change.name in one_change.OWN_CHANGES:
        return "Applied automatically: start."
    if proof is not None:
        is_made_now = last_is_b and not was_restored_by_trial(proof, *proof.other)
        if is_b == is_made_now:
            return "It is set already: start."
    return "Make it on the server now, then start." if is_b else "Restore it on the server now, then start."


def what_to_set(choices: method_choices.GuideChoices, context: GuideContext) -> Iterator[str]:
    """For the page of the run: which side is measured again, and who sets it."""
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
    """For the page that compares: what all series of both sides say of the change."""
    proof = context.proof
    if proof is None:
        return
    is_told_already = any(yardstick.series.id == proof.base[0].id for yardstick in context.yardsticks)
    if choices.proven_id is None and is_told_already:
        return

    comparison = compare_sides(context.settled or proof, Limits())
    change = change_text(method_proof.proven_change(proof))
    counts = f"{len(proof.base)} against {len(proof.other)} series"
    sentences = comparison_sentences(comparison)
    yield Toned(f"{change}, {counts}: {comparison.sign} {sentences}", comparison.tone)

    counted_ids = {series.id for series in (*proof.base, *proof.other)}
    if context.series and context.series.id not in counted_ids:
        yield f"! Series {context.series.id} shows other settings than what it was to repeat, so it is not counted."
