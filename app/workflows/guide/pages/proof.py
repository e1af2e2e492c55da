"""What the pages say of a change that is being tested: restore and measure again, or make it once more."""

from collections.abc import Iterator

from app.workflows.guide.pages.page import BeginRound, Decide, Option
from app.workflows.guide.state.choices import OWN_CHANGES, GuideChoices, from_there, measured_again
from app.workflows.guide.state.guide_context import GuideContext
from forms import wording
from forms.comparison.comparison import Comparison
from forms.comparison.verdict import Sides, compare_sides
from forms.layout import Toned
from forms.stats.decision import Doubt, Limits, Verdict
from storage.records import Change, Decision

_REPEATS_WOULD_TELL = (Doubt.WANDERED, Doubt.TREND)


def what_to_set(choices: GuideChoices, known: GuideContext) -> Iterator[str]:
    """For the run: which settings are measured again, and who makes them."""
    if known.proof is None or choices.proven_id is None:
        return
    change = _change(known.proof)
    if choices.base_id == known.proof.other[0].id:
        todo, value = "made again", f"{wording.plain(change.name)} = {wording.plain(change.value) or 'empty'}"
    else:
        before = "as it was" if change.previous is None else f"= {wording.plain(change.previous) or 'empty'}"
        todo, value = "restored", f"{wording.plain(change.name)} {before}"
    who = (
        "This program does it by itself."
        if change.name in OWN_CHANGES
        else "Do it on the server now, then start; the form says what was seen there."
    )
    yield f"Measured again, the change {todo}: {value}. {who}"


def what_is_proven(choices: GuideChoices, known: GuideContext) -> Iterator[str | Toned]:
    """For the comparison: what all series of both sides say of the change."""
    if known.proof is None:
        return
    told_already = any(stick.series.id == known.proof.base[0].id for stick in known.yardsticks)
    if choices.proven_id is None and told_already:
        return
    found, change = _comparison(known.proof), _change(known.proof)
    counts = f"{len(known.proof.base)} against {len(known.proof.other)} series"
    named = f"{wording.plain(change.name)} = {wording.plain(change.value)}, {counts}"
    yield Toned(f"{named}: [{found.sign}] {found.sentence}", found.tone)
    if known.series and known.series.id not in {one.id for one in (*known.proof.base, *known.proof.other)}:
        yield f"! Series {known.series.id} shows other settings than what it was to repeat, so it is not counted."


def next_of_proof(choices: GuideChoices, known: GuideContext) -> Iterator[Option]:
    """What can be done for or with the proof, the likeliest first; nothing where no change was made."""
    if known.proof is None or known.series is None:
        return
    found, base, changed = _comparison(known.proof), known.proof.base[0], known.proof.other[0]
    changed_last = known.series.id in {one.id for one in known.proof.other}
    open_still = found.doubt in _REPEATS_WOULD_TELL
    if changed_last:
        again = BeginRound(measured_again(choices, base, changed.id))
        yield Option("Restore the base, measure again", again, "whether the base comes back", advised=open_still)
    else:
        again = BeginRound(measured_again(choices, changed, changed.id))
        yield Option("Make the change again, measure again", again, "one more series of each", advised=open_still)
    if choices.proven_id is None or changed_last:
        return
    yield Option(
        "Keep the change: make it again, and continue from here",
        Decide(changed.id, Decision.KEPT, from_there(changed)),
        "the next change is made from there",
        advised=found.verdict is Verdict.FASTER,
    )
    yield Option(
        "Leave it restored, and change something else",
        Decide(changed.id, Decision.REVERTED, from_there(base)),
        "the next change is made from the base",
        advised=found.known and found.verdict != "faster",
    )


def _comparison(proof: Sides) -> Comparison:
    return compare_sides(proof, Limits())


def _change(proof: Sides) -> Change:
    change = proof.other[0].change
    assert change
    return change
