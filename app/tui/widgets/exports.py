"""A screen whose report can be exported."""

from collections.abc import Sequence

from app.tui.export import ExportScreen
from app.tui.frame.base import BaseScreen
from forms.report import Report
from storage.notebook import Notebook


class Exports(BaseScreen):
    """Its key ``export`` opens the export of ``report``, which the subclass fills in."""

    report: Report | None = None
    """None as long as there is nothing to export."""

    def export_name(self, report: Report) -> str:
        return report.name

    def action_export(self) -> None:
        report = self.report
        if report is None:
            return

        def gather(_notebook: Notebook) -> Sequence[Report]:
            return [report]

        self.app.push_screen(ExportScreen(gather=gather, name=self.export_name(report)))
