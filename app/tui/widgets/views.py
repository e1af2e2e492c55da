"""Forms and charts as the terminal prints them, drawn again for the room that there is, in the theme's colours."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import accumulate, takewhile, zip_longest
from typing import Any

from rich.text import Text
from textual.content import Content
from textual.dom import DOMNode
from textual.widget import Widget
from textual.widgets import Static

from forms import layout
from forms.report import Chart, Report
from forms.wording import ended_early, plain
from storage.records import SeriesStatus

_LINES_TO_BE_SEEN = 3
"""Of what is new on a page; fewer at its lower end are easily missed."""

Draw = Callable[[int, int], str]
"""Lines, styled by ANSI escapes, for a width and a height."""

DrawChart = Callable[..., str]
"""Of a width, a height, and whether it is ``zoomed``."""


class AnsiView(Static):
    """Shows what a pure function draws; where its height is ``auto`` the function decides how many rows it takes."""

    def __init__(self, draw: Draw | None = None, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id, classes=classes)
        self._draw = draw
        self._drawn_for: tuple[Draw | None, int, int] | None = None
        """With what, and for which width and height, it was drawn last."""
        self._rows = -1
        """Of the text that was drawn last."""

    @property
    def drawn_text(self) -> str:
        return str(self.content)

    def show(self, draw: Draw | None) -> None:
        self._draw = draw
        self._redraw()

    def show_text(self, text: str) -> None:
        """Show a text that is the same at any width."""
        self.show(draw_text(text))

    def on_resize(self) -> None:
        self._redraw()

    @property
    def room(self) -> tuple[int, int]:
        """Its width and height; where that is ``auto``, the height of the box that it scrolls in."""
        width, height = self.content_size
        if self.styles.is_auto_height and isinstance(self.parent, Widget):
            return width, self.parent.size.height
        return width, height

    def _redraw(self) -> None:
        width, height = self.room
        drawn_for = (self._draw, width, height)
        if width <= 0 or self._drawn_for == drawn_for:
            return
        self._drawn_for = drawn_for

        text = self._draw(width, height) if self._draw else ""
        rows_before = self._rows
        self._rows = text.count("\n")
        self.update(Text.from_ansi(text), layout=self.styles.is_auto_height and self._rows != rows_before)


def draw_text(text: str) -> Draw:
    """What draws a text that is the same at any width."""
    return partial(_fixed_text, text)


def _fixed_text(text: str, _width: int, _height: int) -> str:
    return text


class ChartView(AnsiView):
    """Shows a chart, which a key zooms: then its axis leaves out what all values have in common."""

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
    """A screen whose report has statistics that a key shows and hides; the screen writes ``show_again``.

    What is shown then comes into sight, and Escape hides it first. Among the bases of a class it stands after the
    screen, since Textual takes the style of the first base.
    """

    shows_more = False
    close_first: Callable[[], None] | None
    """Of the screen: what Escape does before it leaves it."""
    _place_before = 0.0
    """How far the report was scrolled when the statistics were shown."""

    def of_now(self, report: Report) -> Report:
        """The report as it is to be shown now: whole, or without its statistics."""
        return report if self.shows_more else report.brief

    def show_again(self) -> None:
        """Called when more or less is to be shown than before."""
        raise NotImplementedError

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        is_as_it_is = action == "more" and parameters == (self.shows_more,)
        return False if is_as_it_is else super().check_action(action, parameters)

    def action_more(self, more: bool) -> None:
        view = self.query(AnsiView).first()
        lines_before = view.drawn_text.splitlines()
        box = view.parent
        if not isinstance(box, Widget):
            return
        end_before = box.scroll_offset.y + box.size.height
        self.shows_more = more
        self.close_first = partial(self.action_more, more=False) if more else None
        self.refresh_bindings()
        self.show_again()

        if more:
            self._place_before = box.scroll_offset.y
            self.call_after_refresh(_bring_into_sight, box, view, lines_before, round(end_before))
        else:
            self.call_after_refresh(box.scroll_to, y=self._place_before, animate=False)


def _are_equal(pair: tuple[str, str]) -> bool:
    before, after = pair
    return before == after


def _bring_into_sight(box: Widget, view: AnsiView, lines_before: list[str], end_before: int) -> None:
    """Scroll to the first paragraph that was not so before, unless its new line is seen already.

    What lay below the sight before, from the line ``end_before`` on, is not passed over: reading goes on there.
    """
    lines = view.drawn_text.splitlines()
    pairs = zip(lines_before, lines, strict=False)
    first_new = sum(1 for _ in takewhile(_are_equal, pairs))
    top = box.scroll_offset.y
    is_seen = top <= first_new < top + box.size.height - _LINES_TO_BE_SEEN
    if first_new >= len(lines) or is_seen:
        return

    beginning = first_new
    while beginning > 0 and lines[beginning - 1].strip() and first_new - beginning < _LINES_TO_BE_SEEN:
        beginning -= 1
    box.scroll_to(y=min(beginning, end_before), animate=False)


class ZoomsCharts(DOMNode):
    """A screen whose charts can be zoomed; it has chart.zoom among its keys, and this last of its bases."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "zoom":
            return any(chart.has_chart for chart in self.query(ChartView))
        return super().check_action(action, parameters)

    def action_zoom(self) -> None:
        for chart in self.query(ChartView):
            chart.zoom()


LEAST_COLUMNS = 159
"""The width from which text stands in two columns: 160 less a scrollbar, which may come and go with them."""
_GAP = 4


def in_columns(draw: Callable[[int], str], width: int, height: int) -> str:
    """What ``draw`` gives for a width: as it is where that fits, else in two columns, broken between paragraphs."""
    one_column = draw(width).rstrip("\n")
    if width < LEAST_COLUMNS or one_column.count("\n") < height:
        return one_column

    column_width = (width - _GAP) // 2
    paragraphs = [paragraph.split("\n") for paragraph in draw(column_width).strip("\n").split("\n\n")]
    break_at = _fairest_break([len(paragraph) for paragraph in paragraphs])

    left_lines = _lines_of(paragraphs[:break_at])
    right_lines = _lines_of(paragraphs[break_at:])
    rows: list[str] = []
    for left_line, right_line in zip_longest(left_lines, right_lines, fillvalue=""):
        # escapes that colour the line take no cells
        gap = column_width + _GAP - Text.from_ansi(left_line).cell_len
        rows.append(f"{left_line}{' ' * gap}{right_line}".rstrip())
    return "\n".join(rows)


def _fairest_break(lengths: list[int]) -> int:
    """How many paragraphs of these lengths stand on the left, so that the longer side is as short as can be."""
    ends = list(accumulate(length + 1 for length in lengths))
    total = ends[-1]
    longer_sides = [max(end, total - end) for end in ends]
    return longer_sides.index(min(longer_sides)) + 1


def _lines_of(paragraphs: list[list[str]]) -> list[str]:
    return "\n\n".join("\n".join(paragraph) for paragraph in paragraphs).split("\n") if paragraphs else []


_LEAST_CHART = 12
"""Rows from which a chart says more than its lines of text."""
_ROWS_OF_ITS_TITLE = 2


class FiguresView(ChartView):
    """The figures of a report; the rows that they leave go to the points of a chart, in place of its lines of text."""

    has_chart = False

    def figures(self, report: Report, width: int, height: int, zoomed: bool) -> str:
        # loaded when the first chart is drawn
        from app.charts.series_charts import curve_chart
        from forms.exporters.text import figures_text

        def draw_all(column_width: int) -> str:
            return figures_text(report, width=column_width, ansi=True)

        chart = _chart_with_points(report)
        if chart is None:
            self._set_has_chart(has_chart=False)
            return in_columns(draw_all, width, height)

        other_parts = tuple(part for part in report.drawn if part != chart)
        text = figures_text(replace(report, drawn=other_parts), width=width, ansi=True)
        rows = height - text.count("\n") - _ROWS_OF_ITS_TITLE
        self._set_has_chart(has_chart=rows >= _LEAST_CHART)
        if not self.has_chart:
            return in_columns(draw_all, width, height)

        title = layout.cut(layout.visible(chart.title), width)
        return f"{text}\n{title}\n{curve_chart(chart, width, rows, zoomed=zoomed)}"

    def _set_has_chart(self, *, has_chart: bool) -> None:
        if has_chart is not self.has_chart:
            self.has_chart = has_chart
            self.screen.refresh_bindings()


def _chart_with_points(report: Report) -> Chart | None:
    """The first chart that stands in the text of a report as lines, and could be drawn with its points."""
    for chart in report.charts:
        if chart.in_text and (chart.is_dots or chart.is_curve):
            return chart
    return None


STYLES = {
    layout.Tone.GOOD: "$success",
    layout.Tone.BAD: "$error",
    layout.Tone.CAUTION: "$warning",
    layout.Tone.FAINT: "dim",
    layout.Tone.DATA: "$primary",
}


def content_of(text: str | layout.Toned) -> Content:
    toned = text if isinstance(text, layout.Toned) else layout.Toned(text)
    return Content.styled(toned.text, STYLES.get(toned.tone, ""))


def join_toned(parts: Iterable[str | layout.Toned], gap: str) -> Content:
    return Content(gap).join([content_of(part) for part in parts])


def stop_reason(record: Any) -> layout.Toned:
    """Why a measurement ended before it was complete, to stand before its answer; empty where it is complete."""
    if record.status is SeriesStatus.COMPLETE:
        return layout.Toned("")
    error = f": {plain(record.error)}" if record.error else ""
    return ended_early(record.status, f"{error}. ")
