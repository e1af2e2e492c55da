"""What the page of the next change tells: the base, what was tried, and the changes that were measured from it."""

from collections.abc import Iterator, Sequence

from app.guide.context import GuideContext
from app.guide.pages.proof_facts import change_text
from forms import layout, wording
from forms.comparison.comparison import Comparison
from forms.comparison.verdict import compare_sides
from forms.comparison.wording import comparison_headline
from forms.series.report import before_a_change
from forms.series.summary import SeriesSummary
from forms.stats.decision import Limits
from forms.trial.changes_report import change_answer
from storage import records

JudgedChange = tuple[records.Change, Comparison]
"""A change that was measured, and how it compares with its base."""

_MOST_TOLD = 3


def judged_changes(context: GuideContext) -> list[JudgedChange]:
    return [(change, compare_sides(sides, Limits(), settles=False)) for change, sides in context.measured_changes]


def change_facts(
    context: GuideContext, form: SeriesSummary, judged: Sequence[JudgedChange]
) -> Iterator[str | layout.Toned]:
    series = form.series
    yield f"Base: {wording.name_of(series)}, {wording.rate(form.average_rate)}."

    change = series.change
    if change and change.evidence is not records.Evidence.CONTRADICTED and series.decision is None:
        yield layout.Toned(f"! {change_text(change)} is kept. To leave it out, go to step 7.", layout.Tone.CAUTION)
    for trial in context.trials:
        answer = change_answer(trial)
        yield layout.Toned(f"Tried since: {wording.plain(trial.plan.name)}: {answer.text}", answer.tone)
    for made_change, comparison in judged[:_MOST_TOLD]:
        text = f"Measured with {change_text(made_change)}: {comparison.sign} {comparison_headline(comparison)}"
        yield layout.Toned(text, comparison.tone)

    if form.shown and not judged:
        yield f"Smallest change that can be shown here: {before_a_change(form.shown)}"
    yield "Everything else stays as it was."
