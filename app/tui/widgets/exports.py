"""A screen whose report can be exported."""

from collections.abc import Sequence
from typing import ClassVar

from app.method.next_steps import NextStep
from app.tui.export import ExportScreen
from app.tui.export_files import Gather
from app.tui.frame.base import BaseScreen
from forms.report import Report
from storage.notebook import Notebook


class Exports(BaseScreen):
    """Its key ``export`` opens the export of ``report``, which the subclass fills in.

    Where a subclass writes ``gather_page``, the report for somebody else can be exported as well, and its key
    ``hand_over`` offers that first.
    """

    offers_page_first: ClassVar[bool] = False
    """Whether the key ``export`` offers the report for somebody else first, too."""

    report: Report | None = None
    """None as long as there is nothing to export."""

    def export_name(self, report: Report) -> str:
        return report.name

    def gather_form(self, _notebook: Notebook) -> Sequence[Report]:
        return [self.report] if self.report is not None else []

    def gather_page(self) -> Gather | None:
        """What reads the report for somebody else; None where there is none."""
        return None

    def report_step(self, what: str) -> NextStep:
        """To write the report for somebody else, as a step to choose; ``what`` it is of, such as ``these 3``."""
        return NextStep(
            name=f"Report of {what} for somebody else (HTML or PDF)",
            screen="export",
            arguments={
                "gather": self.gather_form,
                "gather_page": self.gather_page(),
                "report_name": self.export_name(self.report) if self.report else "",
                "is_page": True,
            },
        )

    def action_export(self) -> None:
        self._export(is_page=self.offers_page_first)

    def action_hand_over(self) -> None:
        self._export(is_page=True)

    def _export(self, *, is_page: bool) -> None:
        if self.report is None:
            return
        screen = ExportScreen(
            gather=self.gather_form,
            gather_page=self.gather_page(),
            report_name=self.export_name(self.report),
            is_page=is_page,
        )
        self.app.push_screen(screen)
