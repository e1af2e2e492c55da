"""Several series against the first of them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from app.comparison.named import first_series
from app.comparison.several import compare_named
from app.method import next_after_comparison
from app.method import next_steps as method_next_steps
from app.tui.widgets import reading
from app.tui.widgets.report_screen import ReportScreen
from forms.comparison import summary as comparison_summary
from forms.comparison import wording as comparison_wording
from forms.comparison.report import comparison_report
from forms.report import Report
from storage.notebook import Notebook


class TableScreen(ReportScreen, reading.GoesOn):
    """ReportScreen calls ``_read_table`` in a thread and shows the report; GoesOn calls ``next_steps``."""

    summaries: Sequence[comparison_summary.ComparisonSummary] = ()
    """Each pair once: those with the base, then neighbours in time."""

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__("Compare", self._read_table)
        self.ids = tuple(ids)

    def _read_table(self, notebook: Notebook) -> Report:
        compared = compare_named(notebook, self.ids, each_is_a_side=True)
        self.summaries = list({_ids_of(summary): summary for summary in chain(*compared)}.values())
        return comparison_report(first_series(notebook, self.ids), compared.with_base, compared.neighbours)

    def export_name(self, report: Report) -> str:
        return report.title

    def next_steps(self) -> Iterable[method_next_steps.NextStep]:
        for summary in self.summaries:
            comparison = summary.comparison
            if not (comparison.known or comparison.interleaved_since):
                step = next(iter(next_after_comparison.after_comparison(comparison)))
                yield replace(step, name=f"{comparison_wording.comparison_title(comparison)}: {step.name}")
            yield method_next_steps.NextStep(
                name=f"Compare just these two: {comparison_wording.comparison_title(comparison)}",
                screen="compare",
                arguments={"base": comparison.base_id, "other": comparison.other_id},
            )


def _ids_of(summary: comparison_summary.ComparisonSummary) -> tuple[str, str]:
    return summary.comparison.base_id, summary.comparison.other_id
