"""The keys of the notebook's list that sort and group it."""

from dataclasses import replace

from textual import on

from app.tui.frame.base import BaseScreen
from app.tui.notebook import series_list
from storage import queries


class SortsRecordings(BaseScreen):
    """Changes what is asked of the notebook (``query_asked``), and has the screen ``look`` for it."""

    query_asked: queries.SeriesQuery

    def look(self) -> None:
        raise NotImplementedError

    def action_sort(self) -> None:
        from app.tui.frame.dialogs import PickDialog

        order = self.query_asked.order
        sign = "▼" if self.query_asked.descending else "▲"
        rows = [(other, f"  {other.value}") for other in queries.SortKey]
        row = list(queries.SortKey).index(order)
        rows[row] = (order, f"{sign} {order.value} (again: reverse)")

        about = "What to sort by. Enter takes it; the column in use reverses the order."
        self.ask(PickDialog("Sort by", rows, about=about, at=row), self._sort_by)

    @on(series_list.SeriesList.HeadingClicked)
    def _heading_clicked(self, message: series_list.SeriesList.HeadingClicked) -> None:
        self._sort_by(message.order)

    def _sort_by(self, order: queries.SortKey) -> None:
        reverses = order is self.query_asked.order
        descending = not self.query_asked.descending if reverses else True
        self.query_asked = replace(self.query_asked, order=order, descending=descending)
        self.look()

    def action_group(self) -> None:
        self.query_asked = replace(self.query_asked, grouped=not self.query_asked.grouped)
        self.look()
