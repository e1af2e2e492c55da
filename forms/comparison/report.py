"""Comparisons on paper: a pair side by side, or table B-1 (Using Samba); and as JSON."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from forms import report, wording
from forms.comparison import summary
from forms.comparison.pair_report import FORM, pair_report
from forms.comparison.summary import ComparisonSummary
from storage.records import Series

if TYPE_CHECKING:
    from forms.comparison.matrix import ProtocolMatrix


def comparison_report(
    all_series: Sequence[Series],
    comparisons: Sequence[ComparisonSummary] | None = None,
    neighbours: Sequence[ComparisonSummary] = (),
) -> report.Report:
    """The form of two series, or of several, the base first; ``comparisons`` of them, if they were made already.

    ``neighbours`` are comparisons of each of several with the one that was measured before it.
    """
    if comparisons is None:
        comparisons = summary.comparisons(summary.sides_of([(series,) for series in all_series]))
    if len(comparisons) == 1:
        form = pair_report(comparisons[0])
    else:
        # A pair, which most comparisons are, ends sooner without it.
        from forms.comparison.several.report import report_of_several

        form = report_of_several(_matrix_of_sides(all_series, comparisons), comparisons, neighbours)
    if len(all_series) <= 2:
        return form

    # What was measured interleaved is compared, wherever it was measured.
    interleaved = [compared for compared in comparisons if compared.comparison.interleaved]
    compared_ids = {series.id for series in summary.series_of(interleaved)}
    remarks = _remarks_on_unpaired(all_series, compared_ids)
    return replace(form, advice=(*form.advice, *remarks))


def _matrix_of_sides(all_series: Sequence[Series], comparisons: Sequence[ComparisonSummary]) -> "ProtocolMatrix":
    """The matrix with the names and averages of the sides that the comparisons judge."""
    from forms.comparison.matrix import protocol_matrix

    baselines: dict[str, str] = {}
    repeats: dict[str, list[Series]] = {}
    left_out: dict[str, set[int]] = {}
    for compared in comparisons:
        comparison = compared.comparison
        for run in comparison.left_out:
            left_out.setdefault(run.series_id, set()).add(run.number)
        for series_id, baseline, side in (
            (comparison.base_id, comparison.base_baseline, compared.bases),
            (comparison.other_id, comparison.other_baseline, compared.others),
        ):
            repeats[series_id] = [series_summary.series for series_summary in side]
            if baseline:
                baselines[series_id] = wording.plain(baseline)
    return protocol_matrix(all_series, baselines=baselines, repeats=repeats, left_out=left_out)


def _remarks_on_unpaired(all_series: Sequence[Series], compared_ids: Collection[str]) -> list[str]:
    """A sentence on each series that no other one has the host and the direction of, and that is not compared."""
    counts = Counter((series.target.host, series.command) for series in all_series)
    return [
        f"{wording.name_of(series)} is the only {series.command} of its server here: there is nothing to compare it"
        " with."
        for series in all_series
        if counts[series.target.host, series.command] == 1 and series.id not in compared_ids
    ]


def blank_comparison_report() -> report.Report:
    """Table B-1 (Using Samba) to fill in by hand."""
    headings = ("FTP, kB/s", "Untuned Samba, kB/s", "Tuned Samba, kB/s", "% of FTP")
    columns = report.columns_of("Command", *((heading, report.ReportKind.WHOLE) for heading in headings))
    blank = report.blank_form(FORM, "Comparison of several series", ("Server", "Client", "Date"), columns, [None] * 4)
    return replace(blank, name="Comparison")
