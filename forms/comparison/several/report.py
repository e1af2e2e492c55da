"""A comparison of more than two series on paper: all verdicts, what each series was, and what happened when."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from forms import report
from forms.comparison import matrix_report, summary
from forms.comparison.document import matrix_document
from forms.comparison.matrix import ProtocolMatrix
from forms.comparison.pair_report import FORM
from forms.comparison.several import answers, sentences, tables
from forms.comparison.several.facts import measured_fields
from forms.comparison.several.remarks import remarks_on_several
from forms.comparison.several.sides import left_out_of_all, oldest_first, sides_of_comparisons
from forms.comparison.summary import ComparisonSummary
from forms.series.origin import origin_fields


def report_of_several(
    matrix: ProtocolMatrix, comparisons: Sequence[ComparisonSummary], neighbours: Sequence[ComparisonSummary] = ()
) -> report.Report:
    """All verdicts, those of each against its base first, and the series that they are about.

    ``neighbours`` are comparisons of each with the one measured before it: where there are any, the base comes first
    and the others in the order of time. Table B-1 (Using Samba) stands where the series have several protocols,
    directions or hosts.
    """
    in_order = oldest_first(comparisons) if neighbours else comparisons
    newest_first = answers.in_order_of_page(in_order, neighbours)
    sides = sides_of_comparisons(in_order)
    left_out = left_out_of_all(comparisons)
    leaves_out = bool(left_out)
    is_b1 = matrix.has_ftp or len(matrix.rows) > 1

    # The change in the table of verdicts is computed from that of the sides, which therefore stands before it.
    sides_table = tables.sides_table(sides, leaves_out=leaves_out)
    before: tuple[report.Table, ...] = (sides_table,)
    if is_b1:
        before = (matrix_report.matrix_table(matrix), replace(sides_table, is_detail=True))
    table_of_sides = len(before) - 1
    verdicts_table = tables.verdicts_table(
        in_order, neighbours, sides=sides, table=table_of_sides, leaves_out=leaves_out
    )

    trials = [field for compared in newest_first for field in sentences.trial_fields(compared)]
    return report.Report(
        form=FORM,
        title="Comparison of several series" if is_b1 or not sides else f"{sentences.names_text(sides)} compared",
        name="Comparison",
        fields=(
            *answers.answer_fields(in_order, neighbours),
            *answers.verdict_fields_of_form(newest_first, neighbours),
            *trials,
            *report.fields_of(
                ("Base", sentences.base_text(comparisons, sides)),
                report.basis_field(answers.basis_text(in_order, neighbours)),
                ("Left out", sentences.left_out_text(left_out)),
                ("Intervals", sentences.joint_intervals_text(in_order, neighbours)),
            ),
            *measured_fields(sides, is_one_path=not is_b1),
            *origin_fields(summary.series_of(comparisons)),
        ),
        tables=(*before, verdicts_table),
        drawn=(tables.averages_chart(sides, table=table_of_sides, leaves_out=leaves_out),),
        advice=remarks_on_several(in_order, sides),
        document=partial(matrix_document, comparisons, neighbours),
    )
