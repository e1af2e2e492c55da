"""The guide: the method's steps, the open one beside them."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widgets import Footer, Label

from app.tui.base import BaseScreen


class GuideScreen(BaseScreen):
    """Measures a series, step by step through the method."""

    ABOUT = "The guide leads through the method."

    def compose(self) -> ComposeResult:
        """A heading and the footer."""
        yield Label("sharebench · Measure", classes="title-line")
        yield Footer()
