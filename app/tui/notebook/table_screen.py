"""Several series against the first of them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from app.comparison.several import compare_named
from app.method import next_after_comparison
from app.method import next_steps as method_next_steps
from app.tui import export_files
from app.tui.frame import commands
from app.tui.widgets import reading
from app.tui.widgets.report_screen import ReportScreen
from forms.comparison import summary as comparison_summary
from forms.comparison import wording as comparison_wording
from forms.comparison.report import comparison_report
from forms.comparison.several import sides as several_sides
from forms.comparison.several.likely_links import would_be_certain
from forms.report import Report
from storage.notebook import Notebook


class TableScreen(ReportScreen, reading.GoesOn):
    """ReportScreen calls ``_read_table`` in a thread and shows the report; GoesOn calls ``next_steps``."""

    KEYS = commands.keys("report.hand-over")
    # Who compares several wants to show them to somebody.
    offers_page_first = True

    summaries: Sequence[comparison_summary.ComparisonSummary] = ()
    """Each pair once: those with the base, then neighbours in time."""
    with_base: Sequence[comparison_summary.ComparisonSummary] = ()
    """Those with the base."""

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__("Compare", self._read_table)
        self.ids = tuple(ids)

    def _read_table(self, notebook: Notebook) -> Report:
        compared = compare_named(notebook, self.ids, each_is_a_side=True)
        self.with_base = compared.with_base
        by_pair: dict[frozenset[str], comparison_summary.ComparisonSummary] = {}
        for summary in chain(compared.with_base, compared.neighbours):
            by_pair.setdefault(several_sides.pair_of(summary), summary)
        self.summaries = list(by_pair.values())
        return comparison_report(compared.named, compared.with_base, compared.neighbours)

    def export_name(self, report: Report) -> str:
        return report.title

    def gather_page(self) -> export_files.Gather:
        return partial(export_files.gather_page, ids=self.ids)

    def next_steps(self) -> Iterable[method_next_steps.NextStep]:
        """The report first where no measuring comes before it: each answer is settled, or the sides are of the past.

        What would make a past one certain comes before it.
        """
        outgrown = next(filter(would_be_certain, self.summaries), None)
        if outgrown is not None:
            base_name = outgrown.comparison.base_name
            yield method_next_steps.give_link_step(base_name, outgrown.comparison.base_id)

        is_report_next = all(
            several_sides.is_settled(summary) or several_sides.is_of_the_past(summary) for summary in self.with_base
        )
        if is_report_next:
            yield self.report_step(f"these {len(self.ids)}")
        yield from self._steps_of_pairs()
        if not is_report_next:
            yield self.report_step(f"these {len(self.ids)}")

    def _steps_of_pairs(self) -> Iterable[method_next_steps.NextStep]:
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
