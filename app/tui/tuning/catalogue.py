"""The catalogue: what can be changed, in order of impact; searched as one types."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.key_bar import KeyBar
from app.tui.widgets.ansi_view import AnsiView
from app.tui.widgets.inputs import LineInput
from app.tui.widgets.pane import Pane
from forms.layout import pad
from forms.tuning.catalogue import CatalogueEntry, entries, search
from forms.tuning.catalogue_text import entry_text, status_words

_WIDE = 118
"""Columns from which an entry stands beside the list."""


class CatalogueScreen(BaseScreen):
    """All that can be changed."""

    ABOUT = (
        "What can be changed on a file server, its clients and the way between them, in order of impact. Type to"
        " search; up and down move in the list; Enter opens an entry with the lines and commands for it."
    )
    HINTS: ClassVar[dict[str, str]] = {
        "search": "Words that an entry must have: names, what it does, what it risks. Down goes to the list.",
        "entries": "The entries, in order of impact. Enter opens one.",
    }
    KEYS = (KeyCommand("catalogue.search", "f", "Search", "Go to the search.", footer="Search"),)
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide")]  # noqa: RUF012  declared so in Textual
    DEFAULT_CSS = """
    CatalogueScreen #entries-pane { width: 1fr; height: 1fr; }
    CatalogueScreen #search-line { height: 1; }
    CatalogueScreen #search { width: 1fr; background: transparent; padding: 0; }
    CatalogueScreen #found { width: auto; padding: 0 1; color: $text-muted; }
    CatalogueScreen #entries {
        width: 1fr; height: 1fr; border: none; padding: 0; text-wrap: nowrap; text-overflow: ellipsis;
    }
    CatalogueScreen #entry-box { width: 87; height: 1fr; display: none; scrollbar-size-vertical: 1; }
    CatalogueScreen.-wide #entry-box { display: block; }
    """

    def __init__(self, words: str = "") -> None:
        """``words`` are what to search for at first."""
        super().__init__()
        self.sought = words
        self.shown: tuple[CatalogueEntry, ...] = ()

    def compose(self) -> ComposeResult:
        with Horizontal():
            with Pane("sharebench · Catalogue", id="entries-pane"):
                with Horizontal(id="search-line"):
                    box = LineInput(
                        self.sought,
                        placeholder="f or / searches: encrypt, sendfile …",
                        id="search",
                        compact=True,
                    )
                    box.cursor_blink = False
                    yield box
                    yield Static(id="found")
                yield OptionList(id="entries")
            with VerticalScroll(id="entry-box", can_focus=False, classes="pane"):
                yield AnsiView(id="entry")
        yield KeyBar()

    def on_mount(self) -> None:
        self._look(self.sought)
        self.query_one("#entries").focus()

    def _look(self, text: str) -> None:
        self.shown = search(text)
        found = self.query_one("#entries", OptionList)
        found.clear_options()
        beside = self.size.width >= _WIDE
        found.add_options([Option(_line(entry, with_status=not beside)) for entry in self.shown])
        if self.shown:
            found.highlighted = 0
        else:
            self.query_one("#entry", AnsiView).show(None)
        self.query_one("#found", Static).update(f"{len(self.shown)} of {len(entries())}")

    @on(Input.Changed, "#search")
    def _typed(self, event: Input.Changed) -> None:
        self._look(event.value)

    @on(Input.Submitted, "#search")
    def _to_list(self) -> None:
        self.query_one("#entries").focus()

    def key_down(self) -> None:
        if self.focused is self.query_one("#search"):
            self.query_one("#entries").focus()

    def key_slash(self) -> None:
        """Go to the search, as in a pager."""
        self.action_search()

    def action_search(self) -> None:
        self.query_one("#search").focus()

    @on(OptionList.OptionHighlighted, "#entries")
    def _point(self, event: OptionList.OptionHighlighted) -> None:
        entry = self.shown[event.option_index]
        self.query_one("#entry", AnsiView).show(lambda _width, _height: entry_text(entry, ansi=True))
        box = self.query_one("#entry-box")
        box.border_title = Content(entry.name)
        box.scroll_home(animate=False)

    @on(OptionList.OptionSelected, "#entries")
    def _open(self, event: OptionList.OptionSelected) -> None:
        self.sharebench_app.visit("entry", entry=self.shown[event.option_index].name)


def _line(entry: CatalogueEntry, *, with_status: bool) -> Content:
    """An entry in the list; its status stands in a column of its own where it does not stand beside the list."""
    words = status_words(entry) if with_status else ""
    shown = pad(entry.name, 40) if words or (entry.is_history and with_status) else entry.name
    name = Content.styled(f"{entry.rank:>3} {shown} ", "dim" if entry.is_history else "")
    return Content.assemble(name, ("history: " if entry.is_history and with_status else "", "dim"), (words, "dim"))
