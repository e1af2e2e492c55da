"""The catalogue of settings on the screen: a list that is searched as one types, and the entry with the cursor.

Opened for a series, the list also says what its server had for each setting when it was measured, and shows those
settings first that were set.
"""

from collections.abc import Sequence
from functools import partial

from textual import containers, on, widgets
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets.option_list import Option

from app.method import measured_place
from app.tui import catalogue_rows
from app.tui.frame import parts
from app.tui.frame.commands import keys
from app.tui.frame.key_bar import KeyBar
from app.tui.placed_screen import PlacedScreen
from app.tui.value_dialog import ValueDialog
from app.tui.widgets.views import AnsiView
from forms import wording
from forms.tuning import catalogue, catalogue_text, instructions

_WIDE = 118
"""Columns from which the entry stands beside the list."""
_ENTRY_WIDTH = 85
"""Columns that it takes there."""
_AFTER_LIST = 3
"""The scrollbar of the list, and the gap after it."""


class _Entries(parts.Choices):
    KEYS = keys("catalogue.open")


class CatalogueScreen(PlacedScreen):
    """The list, and beside it the entry that the cursor points at.

    What is listed is an entry, or the bare name (a str) of a setting that was read and that the catalogue has not.
    PlacedScreen reads the server that is measured (``place``), and calls ``_take_place`` then; its ``ways`` are how an
    entry can be tried, its ``take_step`` (of MeasureMixin) goes one of them.
    """

    KEYS = keys("catalogue.search entry.try")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide")]  # noqa: RUF012  declared so in Textual

    def __init__(
        self,
        words: str = "",
        series_id: str = "",
        first: Sequence[str] = (),
        about: str = "",
        looked_at: str = "",
    ) -> None:
        """``first`` are the entries that the list begins with, and ``about`` is what they have in common.

        ``looked_at`` is the URL of the share that it is opened for; empty for the one that is measured.
        """
        super().__init__()
        self.looked_at = looked_at
        self._first_names = tuple(first)
        self._about_first = about
        self.first_words = words
        """What is searched for at first; empty lists all."""
        self.series_id = series_id
        self.shown: tuple[catalogue.CatalogueEntry | str, ...] = ()
        """Entries, and names of settings that were read and have none."""
        self.pointed: catalogue.CatalogueEntry | None = None
        """The entry with the cursor; None on a setting that has none."""
        self._drawn_for = 0
        """Columns for which the rows were drawn last."""

    def compose(self) -> ComposeResult:
        with containers.Horizontal(id="catalogue"):
            with parts.Pane("sharebench · Catalogue", id="entries-pane"):
                with containers.Horizontal(id="search-line"):
                    yield parts.FilterLine(self.first_words, placeholder="f or / searches", id="search", compact=True)
                    yield widgets.Static(id="found")
                yield _Entries(id="entries")
            with containers.VerticalScroll(id="entry-box", can_focus=False, classes="pane"):
                yield AnsiView(id="entry")
        yield KeyBar()

    def on_mount(self) -> None:
        self._list_entries(self.first_words)
        self._entries.focus()
        self.read_place()

    @property
    def _entries(self) -> widgets.OptionList:
        return self.query_one("#entries", widgets.OptionList)

    @property
    def _room(self) -> int:
        """Columns of the list."""
        entry_width = _ENTRY_WIDTH if self.size.width >= _WIDE else 0
        return self.size.width - entry_width - _AFTER_LIST

    def _take_place(self, place: measured_place.MeasuredPlace) -> None:
        """Called when the server was read: its values are in the rows from then on."""
        super()._take_place(place)
        if self.series_id and place.series:
            title = f"What the server had · {wording.name_of(place.series)}"
            self.query_one("#entries-pane", parts.Pane).set_title(title)
        self._list_again()

    def on_resize(self) -> None:
        if self.is_mounted and self._room != self._drawn_for:
            self._list_again()

    def _list_again(self) -> None:
        """Draw the rows anew, which may come in another order; the cursor stays on its entry, or at the top."""
        row = self._entries.highlighted
        pointed = self.shown[row] if row else None
        self._list_entries(self.query_one("#search", widgets.Input).value)
        if pointed is not None and pointed in self.shown:
            self._entries.highlighted = self.shown.index(pointed)

    # Listing

    def _list_entries(self, words: str) -> None:
        self.shown = self._sought_entries(words)
        values = [self._server_value(entry) if self.series_id else catalogue_rows.ServerValue() for entry in self.shown]
        self._drawn_for = self._room

        self._entries.clear_options()
        self._entries.add_options(
            Option(catalogue_rows.draw_row(entry, self._drawn_for, value))
            for entry, value in zip(self.shown, values, strict=True)
        )
        if self.shown:
            self._entries.highlighted = 0
        else:
            self.pointed = None
            self.query_one("#entry-box").border_title = "Not in the catalogue"
            text = "Neither the catalogue nor what was read of the server has it."
            self.query_one("#entry", AnsiView).show_text(text)
            self.refresh_bindings()

        if self._has_first_entries(words):
            # The pane is narrow beside an entry.
            title = f"Catalogue · {self._about_first} first"
            self.query_one("#entries-pane", parts.Pane).set_title(title)
        self._show_count(words, sum(value.mark == measured_place.SET for value in values))

    def _sought_entries(self, words: str) -> tuple[catalogue.CatalogueEntry | str, ...]:
        other_settings = self.place.settings_without_entry(words) if self._has_other_settings(words) else ()
        entries: tuple[catalogue.CatalogueEntry | str, ...] = (*catalogue.search(words), *other_settings)
        if self._has_first_entries(words):
            first = [catalogue.find(name) for name in self._first_names]
            return (*first, *(entry for entry in entries if entry not in first))
        if not self.series_id:
            return entries

        # Opened for a series, the list answers what its server had: what was set there comes first.
        marked = [entry for entry in entries if self._server_value(entry).mark]
        unmarked = [entry for entry in entries if not self._server_value(entry).mark]
        return (*marked, *unmarked)

    def _has_first_entries(self, words: str) -> bool:
        """Whether the list begins with what it was opened for: until something is searched for."""
        return bool(self._first_names) and not words

    def _server_value(self, entry: catalogue.CatalogueEntry | str) -> catalogue_rows.ServerValue:
        if isinstance(entry, str):
            return catalogue_rows.ServerValue(self.place.value(entry), self.place.mark(entry))
        return catalogue_rows.ServerValue(*self.place.value_and_mark(entry))

    def _has_other_settings(self, words: str) -> bool:
        """Whether settings without an entry are listed too: without a series and a word it is the catalogue alone."""
        return bool(self.series_id or words)

    def _show_count(self, words: str, set_count: int) -> None:
        total = len(catalogue.entries())
        if self._has_other_settings(words):
            total += len(self.place.settings_without_entry(""))
        set_text = f"{set_count} {measured_place.SET}, " if set_count else ""
        self.query_one("#found", widgets.Static).update(f"{set_text}{len(self.shown)} of {total}")

    @on(widgets.Input.Changed, "#search")
    def _search_typed(self, event: widgets.Input.Changed) -> None:
        self._list_entries(event.value)

    @on(widgets.Input.Submitted, "#search")
    def action_to_list(self) -> None:
        self._entries.focus()

    def action_clear_filter(self) -> None:
        self.query_one("#search", widgets.Input).value = ""
        self.action_to_list()

    def action_back(self) -> None:
        """One thing back: what is searched for first, then the screen."""
        if self.query_one("#search", widgets.Input).value:
            self.action_clear_filter()
        else:
            super().action_back()

    def action_search(self) -> None:
        self.query_one("#search").focus()

    # The entry with the cursor

    @on(widgets.OptionList.OptionHighlighted, "#entries")
    def _point(self, event: widgets.OptionList.OptionHighlighted) -> None:
        if event.option not in event.option_list.options:
            return  # the message is of an earlier list

        entry = self.shown[event.option_index]
        box = self.query_one("#entry-box")
        if isinstance(entry, str):
            self.pointed = None
            box.border_title = Content(entry)
            self._show_setting_without_entry(entry)
        else:
            self.pointed = entry
            box.border_title = Content(entry.name)
            self.show_entry()
        self.refresh_bindings()
        box.scroll_home(animate=False)

    def _show_setting_without_entry(self, name: str) -> None:
        value, mark = self._server_value(name)
        mark_text = f" ({mark})" if mark else ""
        what_it_had = wording.plain(f"{name} = {value}{mark_text}, when {self.place.when_measured}.")
        text = f"{what_it_had} The catalogue has no entry for it."
        self.query_one("#entry", AnsiView).show(partial(catalogue_rows.wrap_text, text))

    def show_entry(self) -> None:
        """Show the entry with the cursor; PlacedScreen calls this too, once the server was read."""
        entry = self.pointed
        if entry is None:
            return

        place = self.place
        text = catalogue_text.entry_text(
            entry,
            share=place.share,
            sections=place.sections_to_change(entry),
            conf=place.conf,
            now=place.value_in_words(entry),
            read=place.settings_needed_by(entry),
            ansi=True,
        )
        # The pane's title is the heading already.
        _, _, text_below_heading = text.split("\n", 2)
        self.query_one("#entry", AnsiView).show_text(text_below_heading)

    @on(widgets.OptionList.OptionSelected, "#entries")
    def _open(self, event: widgets.OptionList.OptionSelected) -> None:
        if event.option not in event.option_list.options:
            return
        entry = self.shown[event.option_index]
        if not isinstance(entry, str):
            self.sharebench_app.visit("entry", entry=entry.name, series_id=self.series_id, looked_at=self.looked_at)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "try_it":
            return self.pointed is not None and self.can_be_tried(self.pointed)
        return super().check_action(action, parameters)

    def action_try_it(self) -> None:
        assert self.pointed is not None
        entry = self.pointed

        def try_value(value: str) -> None:
            best_way = next(self.ways(entry, instructions.advise(entry, value.strip())))  # the first is the best
            self.take_step(best_way)

        self.ask(ValueDialog(entry, instructions.suggested_value(entry)), try_value)
