"""A titled part of a screen in a frame, which has the accent colour while the focus is in it."""

from textual.containers import Vertical
from textual.content import Content

from forms.layout import visible


class Pane(Vertical):
    """Widgets one below the other under a title; what the title names steers no terminal."""

    def __init__(self, title: str = "", *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id, classes="pane")
        self.called(title)

    def called(self, title: str) -> None:
        """Show this title from now on."""
        self.border_title = Content(visible(title))
