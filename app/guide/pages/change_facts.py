"""What the page of the next change tells: the base, what was tried, and the changes that were measured from it."""

from collections.abc import Iterator, Sequence

from app.guide.context import GuideContext
from app.guide.pages.before_change import power_fact
from app.guide.pages.proof_facts import change_text
from forms import layout, wording
from forms.comparison.comparison import Comparison
from forms.comparison.verdict import compare_sides
from forms.comparison.wording import comparison_headline
from forms.series.report import pairs_sentence
from forms.series.summary import SeriesSummary
from forms.stats.decision import Limits
from forms.trial.changes_report import change_answer
from storage import records

JudgedChange = tuple[records.Change, Comparison]
"""A change that was measured, and how it compares with its base."""

_MOST_TOLD = 3


def judged_changes(context: GuideContext) -> list[JudgedChange]:
    """The changes that were measured from the base; what would settle an open answer is not asked here."""
    return [
        (change, compare_sides(sides, Limits(), finds_settling_step=False))
        for change, sides in context.measured_changes
    ]


def change_facts(
    context: GuideContext, form: SeriesSummary, judged: Sequence[JudgedChange]
) -> Iterator[str | layout.Toned]:
    series = form.series
    yield f"Base: {wording.name_of(series)}, {wording.rate(form.counted_rate)}."

    change = series.change
    may_be_in_effect = change is not None and change.evidence is not records.Evidence.CONTRADICTED
    is_undecided = series.decision is None
    # A change that nobody has decided on is part of the base, until it is left out in the step of decisions.
    if change and may_be_in_effect and is_undecided:
        yield layout.Toned(f"! {change_text(change)} is kept. To leave it out, go to step 7.", layout.Tone.CAUTION)
    for trial in context.trials:
        answer = change_answer(trial)
        yield layout.Toned(f"Tried since: {wording.plain(trial.plan.name)}: {answer.text}", answer.tone)
    for made_change, comparison in judged[:_MOST_TOLD]:
        text = f"Measured with {change_text(made_change)}: {comparison.sign} {comparison_headline(comparison)}"
        yield layout.Toned(text, comparison.tone)

    yield from _smallest_change(context, form)
    yield "Everything else stays as it was."


def _smallest_change(context: GuideContext, form: SeriesSummary) -> Iterator[str]:
    """What one later series shows beside the base, and what pairs of a trial show."""
    yield from power_fact(context.as_base)
    if form.shown:
        yield pairs_sentence(form.shown)
