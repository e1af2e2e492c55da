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
from forms import wording
from forms.layout import pad
from forms.tuning.catalogue import CatalogueEntry, entries, search
from forms.tuning.catalogue_text import entry_text, status_words

_WIDE = 118
"""Columns from which an entry stands beside the list."""
_ENTRY = 85
"""Columns that it takes there."""
_NAME = 31


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
    CatalogueScreen #entry-box { width: 85; height: 1fr; display: none; scrollbar-size-vertical: 1; }
    CatalogueScreen.-wide #entry-box { display: block; }
    """

    def __init__(self, words: str = "") -> None:
        """``words`` are what to search for at first."""
        super().__init__()
        self.sought = words
        self.shown: tuple[CatalogueEntry, ...] = ()
        self._expecting = False

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
        self._expecting = self._has_room()
        found.add_options([Option(_line(entry, expecting=self._expecting)) for entry in self.shown])
        if self.shown:
            found.highlighted = 0
        else:
            self.query_one("#entry", AnsiView).show(None)
        self.query_one("#found", Static).update(f"{len(self.shown)} of {len(entries())}")

    def _has_room(self) -> bool:
        """Whether the list has room for what is to be expected of each entry."""
        return not _WIDE <= self.size.width < _WIDE + _ENTRY

    def on_resize(self) -> None:
        if self.is_mounted and self._has_room() is not self._expecting:
            at = self.query_one("#entries", OptionList).highlighted
            self._look(self.query_one("#search", Input).value)
            self.query_one("#entries", OptionList).highlighted = at

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


def _line(entry: CatalogueEntry, *, expecting: bool) -> Content:
    """An entry in the list, beside it what is to be expected of it where there is room."""
    if not expecting:
        return Content.styled(f"{entry.rank:>3} {entry.name}", "dim" if entry.is_history else "")
    name = Content.styled(f"{entry.rank:>3} {pad(entry.name, _NAME)} ", "dim" if entry.is_history else "")
    status = f"history: {status_words(entry)}" if entry.is_history else ""
    return Content.assemble(name, (wording.plain(status or entry.expect), "dim"))
