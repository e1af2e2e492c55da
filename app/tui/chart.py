"""A chart on a screen, drawn again by :mod:`app.charts` whenever its room or its subject changes."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text
from textual.widget import Widget

Drawing = Callable[[int, int, bool], str]
"""Takes columns, lines and whether there is colour, and gives lines of text."""


class ChartView(Widget):
    """The chart of one subject, as large as its widget."""

    DEFAULT_CSS = """
    ChartView {
        height: 1fr;
        min-height: 6;
        width: 1fr;
    }
    """

    def __init__(self, drawing: Drawing | None = None, *, id: str | None = None) -> None:  # noqa: A002  as Textual has it
        super().__init__(id=id)
        self._drawing = drawing

    def show(self, drawing: Drawing) -> None:
        """Draw another subject."""
        self._drawing = drawing
        self.refresh()

    def render(self) -> Text:
        """The lines of the chart; empty before there is a subject."""
        if self._drawing is None:
            return Text()
        drawn = self._drawing(self.size.width, self.size.height, not self.app.no_color)
        text = Text.from_ansi(drawn, no_wrap=True, end="")
        text.overflow = "crop"
        return text
