"""What the page that compares a series tells beside the answer: what makes it less sure, and what was found else."""

from collections.abc import Iterator

from app.guide import context as guide_context
from app.guide.pages.judged_yardsticks import JudgedYardstick
from forms import layout, wording
from forms.comparison.doubts import while_measuring
from forms.comparison.remarks import weaknesses
from forms.comparison.several.likely_links import likely_link_sentence, would_be_certain
from forms.findings.report import SIGNS
from storage import records

_MOST_FINDINGS = 4


def weaknesses_of_answer(series: records.Series, answer: JudgedYardstick) -> Iterator[layout.Toned]:
    """What makes the answer less sure than its figures say."""
    summary = answer.summary(series)
    for sentence in weaknesses(summary):
        yield layout.Toned(f"! {sentence}", layout.Tone.CAUTION)
    # Who answers that settles more than another measurement.
    if would_be_certain(summary):
        yield layout.Toned(likely_link_sentence([summary]))


def finding_facts(
    context: guide_context.GuideContext, series: records.Series, answer: JudgedYardstick | None
) -> Iterator[layout.Toned]:
    """The gravest; what is found of repeats alone stands with each of them, and what weakens the answer beside that."""
    own_repeats = frozenset[str]()
    sides = frozenset[str]()
    if answer is not None:
        comparison = answer.comparison
        own_repeats = frozenset(comparison.other_ids) - {series.id}
        sides = frozenset((*comparison.base_ids, *comparison.other_ids))

    told = [finding for finding in context.findings if not own_repeats.issuperset(finding.series_ids)]
    not_told_above = [
        finding
        for finding in told
        if finding.key not in while_measuring.KEYS_OF_FINDINGS or not sides.issuperset(finding.series_ids)
    ]
    for finding in not_told_above[:_MOST_FINDINGS]:
        whose = ""
        if series.id not in finding.series_ids:
            others = [
                f"{yardstick.name} ({yardstick.series.label or records.with_zone(yardstick.series.created_at)})"
                for yardstick in context.yardsticks
                if yardstick.series.id in finding.series_ids
            ]
            whose = f": {wording.plain(wording.listed(others))}"
        sign = SIGNS[finding.severity]
        yield layout.Toned(f"{sign} {finding.title}{whose}", sign.tone)
