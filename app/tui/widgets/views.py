"""Forms and charts as the terminal prints them, drawn again for the room that there is, in the theme's colours."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import accumulate, zip_longest
from typing import Any

from rich.text import Text
from textual.content import Content
from textual.dom import DOMNode
from textual.widget import Widget
from textual.widgets import Static

from forms.layout import Tone, Toned, cut, visible
from forms.report import Report
from forms.wording import ended_early, plain
from storage.records import SeriesStatus

Draw = Callable[[int, int], str]
"""Lines, styled by ANSI escapes, for a width and a height."""


class AnsiView(Static):
    """Shows what a pure function draws; where its height is ``auto`` the function decides how many rows it takes."""

    def __init__(self, draw: Draw | None = None, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id, classes=classes)
        self._draw = draw
        self._drawn_for: tuple[Draw | None, int, int] | None = None
        self._rows = -1

    @property
    def text(self) -> str:
        return str(self.content)

    def show(self, draw: Draw | None) -> None:
        self._draw = draw
        self._redraw()

    def on_resize(self) -> None:
        self._redraw()

    @property
    def room(self) -> tuple[int, int]:
        """Its width and height; where that is ``auto``, the height of the box that it scrolls in."""
        width, height = self.content_size
        box = self.parent if self.styles.is_auto_height else None
        return width, box.size.height if isinstance(box, Widget) else height

    def _redraw(self) -> None:
        width, height = self.room
        grows = self.styles.is_auto_height
        if width <= 0 or self._drawn_for == (self._draw, width, height):
            return
        self._drawn_for = (self._draw, width, height)
        text = self._draw(width, height) if self._draw else ""
        before, self._rows = self._rows, text.count("\n")
        self.update(Text.from_ansi(text), layout=grows and self._rows != before)


DrawChart = Callable[..., str]
"""Of a width, a height, and whether it is ``zoomed``."""


class ChartView(AnsiView):
    zoomed = False
    _chart: DrawChart | None = None

    @property
    def has_chart(self) -> bool:
        return self._chart is not None and self.is_on_screen and self.size.height >= 2  # as bars_chart draws

    def on_resize(self) -> None:
        self.screen.refresh_bindings()

    def show_chart(self, chart: DrawChart | None) -> None:
        self._chart = chart
        self.show(None if chart is None else partial(chart, zoomed=self.zoomed))

    def zoom(self) -> None:
        self.zoomed = not self.zoomed
        self.show_chart(self._chart)


class ShowsMore(DOMNode):
    """Shows statistics when asked; named after the screen among the bases, whose look Textual takes."""

    shows_more = False

    def of_now(self, report: Report) -> Report:
        return report if self.shows_more else report.brief

    def show_again(self) -> None:
        raise NotImplementedError

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return (action, parameters) != ("more", (self.shows_more,)) and super().check_action(action, parameters)

    def action_more(self, more: bool) -> None:
        self.shows_more = more
        self.refresh_bindings()
        self.show_again()


class ZoomsCharts(DOMNode):
    """A screen whose charts can be zoomed; it has chart.zoom among its keys, and this last of its bases."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "zoom":
            return any(chart.has_chart for chart in self.query(ChartView))
        return super().check_action(action, parameters)

    def action_zoom(self) -> None:
        for chart in self.query(ChartView):
            chart.zoom()


LEAST_COLUMNS = 160
_GAP = 4


def in_columns(draw: Callable[[int], str], width: int, height: int) -> str:
    """What ``draw`` gives for a width: as it is where that fits, else in two columns, broken between paragraphs."""
    whole = draw(width).rstrip("\n")
    if width < LEAST_COLUMNS or whole.count("\n") < height:
        return whole
    column = (width - _GAP) // 2
    paragraphs = [part.split("\n") for part in draw(column).strip("\n").split("\n\n")]
    ends = list(accumulate(len(part) + 1 for part in paragraphs))
    at = min(range(1, len(paragraphs) + 1), key=lambda count: max(ends[count - 1], ends[-1] - ends[count - 1]))
    left, right = _lines(paragraphs[:at]), _lines(paragraphs[at:])
    return "\n".join(
        f"{one}{' ' * (column + _GAP - Text.from_ansi(one).cell_len)}{other}".rstrip()
        for one, other in zip_longest(left, right, fillvalue="")
    )


_LEAST_CHART = 12
"""Rows from which a chart says more than its lines of text."""


class FiguresView(ChartView):
    """The figures of a report; the rows that they leave go to the points of a chart, in place of its lines of text."""

    has_chart = False

    def figures(self, report: Report, width: int, height: int, zoomed: bool) -> str:
        from app.charts.series_charts import curve_chart  # noqa: PLC0415  loaded when the first chart is drawn
        from forms.exporters.text import figures_text  # noqa: PLC0415  as above

        found = [one for one in report.charts if one.in_text and (one.is_dots or one.is_curve)][:1]
        others = replace(report, drawn=tuple(one for one in report.drawn if one not in found))
        text = figures_text(others, width=width, ansi=True)
        rows = height - text.count("\n") - 2
        had, self.has_chart = self.has_chart, bool(found) and rows >= _LEAST_CHART
        if had is not self.has_chart:
            self.screen.refresh_bindings()
        if not self.has_chart:
            return in_columns(lambda column: figures_text(report, width=column, ansi=True), width, height)
        title = cut(visible(found[0].title), width)
        return f"{text}\n{title}\n{curve_chart(found[0], width, rows, zoomed=zoomed)}"


def _lines(paragraphs: list[list[str]]) -> list[str]:
    return [line for part in paragraphs for line in (*part, "")][:-1]


STYLES = {Tone.GOOD: "$success", Tone.BAD: "$error", Tone.CAUTION: "$warning", Tone.FAINT: "dim", Tone.DATA: "$primary"}


def content_of(said: str | Toned) -> Content:
    toned = said if isinstance(said, Toned) else Toned(said)
    return Content.styled(toned.text, STYLES.get(toned.tone, ""))


def join_toned(parts: Iterable[str | Toned], gap: str) -> Content:
    return Content(gap).join([content_of(part) for part in parts])


def stopped(record: Any) -> Toned:
    error = f": {plain(record.error)}" if record.error else ""
    return Toned("") if record.status is SeriesStatus.COMPLETE else ended_early(record.status, f"{error}. ")
