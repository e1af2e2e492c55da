"""A form or chart as the terminal prints it, drawn again for the room that there is."""

from collections.abc import Callable

from rich.text import Text
from textual.widgets import Static

Draw = Callable[[int, int], str]
"""Lines, styled by ANSI escapes, for so many columns and rows."""


class AnsiView(Static):
    """Shows what a pure function draws; where its height is ``auto`` the function decides how many rows it takes."""

    DEFAULT_CSS = """
    AnsiView { width: 1fr; height: auto; }
    """

    def __init__(self, draw: Draw | None = None, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id, classes=classes)
        self._draw = draw
        self._drawn_for: tuple[Draw | None, int, int] | None = None
        self._rows = -1

    @property
    def text(self) -> str:
        """What is shown, without styles."""
        return str(self.content)

    def show(self, draw: Draw | None) -> None:
        """Draw this from now on; None for nothing."""
        self._draw = draw
        self._redraw()

    def on_resize(self) -> None:
        self._redraw()

    def _redraw(self) -> None:
        width, height = self.content_size
        grows = self.styles.is_auto_height
        if grows:
            height = 0
        if width <= 0 or self._drawn_for == (self._draw, width, height):
            return
        self._drawn_for = (self._draw, width, height)
        text = self._draw(width, height) if self._draw else ""
        before, self._rows = self._rows, text.count("\n")
        self.update(Text.from_ansi(text), layout=grows and self._rows != before)
