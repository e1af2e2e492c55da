"""A comparison of two sides on paper: the verdict, what differs, the averages, and both sides' properties."""

from dataclasses import replace
from functools import partial

from forms import report
from forms.comparison import pair_tables
from forms.comparison import wording as words
from forms.comparison.blame_report import with_blame
from forms.comparison.comparison import Comparison
from forms.comparison.document import comparison_document
from forms.comparison.remarks import comparison_remarks
from forms.comparison.summary import ComparisonSummary
from forms.series.origin import origin_fields
from forms.trial.report import tried_lines
from storage.isolation import profile_rounds

FORM = "comparison"


def pair_report(compared: ComparisonSummary) -> report.Report:
    """Two sides: the verdict, what differs, the averages, and the properties of both side by side."""
    comparison = compared.comparison
    differing = pair_tables.difference_rows(compared)
    side_by_side = pair_tables.properties_table("Side by side", pair_tables.side_by_side(compared))
    tables = [pair_tables.properties_table("What differs", differing)] if differing else []
    tables.append(pair_tables.averages_table(compared))
    tables.append(replace(side_by_side, is_detail=True))

    verdict = f"{comparison.sign} {words.comparison_headline(comparison)}"
    all_series = [series_summary.series for series_summary in (*compared.bases, *compared.others)]
    form = report.Report(
        form=FORM,
        title=f"Comparison: {words.comparison_title(comparison)}",
        name="Comparison",
        fields=(
            *report.fields_of(
                report.verdict_field(verdict, comparison.tone),
                *(("Trial", line.text, line.tone) for line in tried_lines(comparison.tried, lead="")),
                ("Because of", words.alternative_sentence(comparison.without) if comparison.without else ""),
                report.basis_field(words.basis_sentence(comparison)),
                ("To settle it", _settling_text(comparison)),
            ),
            *origin_fields(all_series),
        ),
        tables=tuple(tables),
        advice=comparison_remarks(compared),
        drawn=(pair_tables.averages_chart(compared, table=1 if differing else 0),),
        document=partial(comparison_document, comparison),
    )

    # Where rounds of smbd's profile were kept beside the series, they say which of its calls took the time.
    base_rounds = profile_rounds(compared.base.series.environment.get("path", {}))
    other_rounds = profile_rounds(compared.other.series.environment.get("path", {}))
    return with_blame(form, base_rounds, other_rounds)


def _settling_text(comparison: Comparison) -> str | None:
    step = comparison.settle
    if step is None:
        return words.hint_sentence(comparison)
    return f"{words.settling_sentence(step)} Command: {words.settling_commands(step)}"
