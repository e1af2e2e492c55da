"""A chart that can be seen from 0 or zoomed to its scatter, and the key for it."""

from collections.abc import Callable

from textual.dom import DOMNode

from app.tui.frame.commands import KeyCommand
from app.tui.widgets.ansi_view import AnsiView

DrawChart = Callable[[int, int, bool], str]
"""Lines, styled by ANSI escapes, for so many columns and rows, zoomed or not."""

ZOOM = KeyCommand(
    "chart.zoom", "z", "Zoom", "Show charts from 0, or zoomed to the scatter; the axis says which.", footer="Zoom"
)


class ChartView(AnsiView):
    """Shows what a pure function draws, from 0 until it is asked to zoom."""

    zoomed = False

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._chart: DrawChart | None = None

    def show_chart(self, chart: DrawChart | None) -> None:
        """Draw this from now on; None for nothing."""
        self._chart = chart
        zoomed = self.zoomed
        self.show(None if chart is None else lambda width, height: chart(width, height, zoomed))

    def zoom(self) -> None:
        self.zoomed = not self.zoomed
        self.show_chart(self._chart)


class ZoomsCharts(DOMNode):
    """A screen whose charts can be zoomed; it has ``ZOOM`` among its keys."""

    def action_zoom(self) -> None:
        for chart in self.query(ChartView):
            chart.zoom()
