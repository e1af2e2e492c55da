"""A comparison of two sides on paper: the verdict, what differs, the averages, and both sides' properties."""

from dataclasses import replace
from functools import partial

from forms import report
from forms.comparison import pair_tables, properties
from forms.comparison import wording as words
from forms.comparison.comparison import Comparison
from forms.comparison.document import comparison_document
from forms.comparison.remarks import comparison_remarks, weaknesses
from forms.comparison.several.likely_links import LIKELY_LINK, likely_link_sentence
from forms.comparison.summary import ComparisonSummary
from forms.comparison.typed_commands import command_to_compare
from forms.series.origin import origin_fields
from forms.stats.settle import Way

FORM = "comparison"

TO_SETTLE = "To settle it"
"""The name of the field that says what would settle an open answer."""

_OF_PROFILE = "profile."
"""Begins the facts of a profile: ``PROFILE`` of ``storage/isolation.py``."""


def pair_report(compared: ComparisonSummary) -> report.Report:
    """Two sides: the verdict, what differs, the averages, and the properties of both side by side."""
    comparison = compared.comparison
    differing = properties.difference_rows(compared)
    side_by_side = properties.properties_table("Side by side", comparison, properties.side_by_side(compared))
    tables = [properties.properties_table("What differs", comparison, differing)] if differing else []
    tables.append(pair_tables.averages_table(compared))
    tables.append(replace(side_by_side, is_detail=True))

    verdict = f"{comparison.sign} {words.answer_headline(comparison)}"
    explanation = words.full_links_sentence(comparison)
    verdict = " ".join(filter(None, [verdict, explanation, *weaknesses(compared)]))
    name_of_alternative = "Without some" if comparison.is_certain_by_link else "Because of"
    all_series = [series_summary.series for series_summary in (*compared.bases, *compared.others)]
    form = report.Report(
        form=FORM,
        title=f"Comparison: {words.comparison_title(comparison)}",
        name="Comparison",
        fields=(
            *report.fields_of(
                report.verdict_field(verdict, comparison.tone),
                *(("Trial", line.text, line.tone) for line in words.trial_lines(comparison.tried, lead="")),
                ("Certain", words.certain_sentence(comparison) or ""),
                (name_of_alternative, _alternative_text(comparison)),
                ("Stands out", _outstanding_text(comparison)),
                (LIKELY_LINK, likely_link_sentence([compared])),
                report.basis_field(words.basis_sentence(comparison)),
                (TO_SETTLE, _settling_text(comparison)),
            ),
            *origin_fields(all_series),
        ),
        tables=tuple(tables),
        advice=comparison_remarks(compared),
        drawn=(pair_tables.averages_chart(compared, table=1 if differing else 0),),
        document=partial(comparison_document, comparison),
    )

    return _with_blamed_calls(form, compared)


def _with_blamed_calls(form: report.Report, compared: ComparisonSummary) -> report.Report:
    """Where rounds of smbd's profile were kept beside both series, they say which of its calls took the time."""
    facts_of_sides = [side.series.environment.get("path", {}) for side in (compared.base, compared.other)]
    for facts in facts_of_sides:
        if not any(name.startswith(_OF_PROFILE) for name in facts):
            return form

    from forms.comparison.blame_report import with_blame
    from storage.isolation import profile_rounds

    return with_blame(form, *map(profile_rounds, facts_of_sides))


def _alternative_text(comparison: Comparison) -> str:
    """What it would be without some runs; where the link answers it, what the judged averages come to."""
    if comparison.is_certain_by_link:
        return words.judged_change_sentence(comparison)
    if comparison.without is None:
        return ""
    return words.alternative_sentence(comparison.without)


def _outstanding_text(comparison: Comparison) -> str:
    return " ".join(words.outstanding_sentence(comparison, outstanding) for outstanding in comparison.outstanding)


def _settling_text(comparison: Comparison) -> str | None:
    step = comparison.settle
    if step is None:
        return words.hint_sentence(comparison)

    commands = words.settling_commands(step)
    if step.way in (Way.BASE_AGAIN, Way.ALTERNATING, Way.OTHER_AGAIN):
        commands += f"; in the end {command_to_compare(comparison.base_reference, comparison.other_reference)}"
    return f"{words.settling_sentence(step)} Command: {commands}"
