"""Looking around on a target: shares, folders and files, with size and fit."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static
from textual.widgets.option_list import Option

from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import keys
from app.tui.frame.parts import Choices, KeyBar, Pane
from app.workflows.guide.browsing import BrowsedFolder, Item, ItemKind
from forms import wording
from forms.series.progress import FileFit
from storage.records import format_target


class NameList(Choices):
    DEFAULT_CSS = """
    NameList { height: 1fr; padding: 0; text-wrap: nowrap; text-overflow: ellipsis; }
    """
    names: Sequence[str] = ()

    def show(self, lines: Sequence[str], names: Sequence[str], cursor: int) -> None:
        self.names = names
        self.clear_options()
        self.add_options([Option(Content(line)) for line in lines])
        self.highlighted = cursor

    def on_key(self, event: events.Key) -> None:
        if event.is_printable and event.character and event.character != " ":
            event.stop()
            start, count, here = event.character.casefold(), len(self.names), self.highlighted or 0
            after = [*range(here + 1, count), *range(min(here + 1, count))]
            self.highlighted = next((i for i in after if self.names[i].casefold().startswith(start)), self.highlighted)


class BrowseScreen(BaseScreen):
    """The places of one server; answers with the file that was picked, or None."""

    ENTRY = "guide"
    KEYS: ClassVar = keys("browse.up")
    DEFAULT_CSS = """
    BrowseScreen #place { height: 1; text-style: bold; }
    BrowseScreen #note { height: auto; color: $text-muted; }
    """

    def __init__(self, place: BrowsedFolder, enter: Callable[[Item], None]) -> None:
        super().__init__()
        self.place, self._enter = place, enter

    def compose(self) -> ComposeResult:
        with Pane("sharebench · Pick a file to measure with", id="names-pane"):
            yield Static(id="place")
            yield NameList(id="names")
            yield Static(id="note")
        yield KeyBar()

    def on_mount(self) -> None:
        self.show(self.place)
        self.query_one(NameList).focus()

    def show(self, place: BrowsedFolder) -> None:
        lines = self.query_one(NameList)
        cursor = lines.highlighted if place is self.place and lines.highlighted is not None else _best(place)
        self.place = place
        self.query_one("#place", Static).update(Text(wording.plain(format_target(place.target)), no_wrap=True))
        widest = max(20, self.app.size.width - 26)
        longest = min(widest, max((cell_len(wording.plain(item.name)) for item in place.items), default=0) + 1)
        lines.show([_line(item, longest) for item in place.choices], [item.name for item in place.choices], cursor)
        self.query_one("#note", Static).update(Text(self._note()))

    def _note(self) -> str:
        count = sum(item.kind is not ItemKind.UP for item in self.place.items)
        if self.place.is_share_list:
            return f"{wording.count(count, 'share')}." if count else "The server shows no shares to this user."
        if not count:
            return "The folder is empty: create a test file here."
        if any(item.fit is FileFit.UNKNOWN for item in self.place.items):
            return (
                f"{wording.count(count, 'item')}. Unknown: how long a run would last, since the link speed is unknown."
            )
        return f"{wording.count(count, 'item')}. A short or small file gives short runs, which vary more."

    @on(NameList.OptionSelected)
    def _chosen(self, event: NameList.OptionSelected) -> None:
        event.stop()
        if event.option in event.option_list.options:  # which may show another folder by now
            self._take(self.place.choices[event.option_index])

    def _take(self, item: Item) -> None:
        if item.kind in {ItemKind.FILE, ItemKind.MADE}:
            self.dismiss(item)
        else:
            self.query_one("#note", Static).update(Text("looking …"))
            self._enter(item)

    def action_up(self) -> None:
        up = next((item for item in self.place.items if item.kind is ItemKind.UP), None)
        if up is not None:
            self._take(up)

    def on_resize(self) -> None:
        if self.is_mounted:
            self.show(self.place)

    def action_back(self) -> None:
        self.dismiss(None)


def _best(place: BrowsedFolder) -> int:
    for wanted in (FileFit.WELL, FileFit.SHORT, FileFit.UNKNOWN, FileFit.LARGE):
        for index, item in enumerate(place.choices):
            if item.fit is wanted:
                return index
    shares = (i for i, one in enumerate(place.items) if one.kind is ItemKind.SHARE and not one.name.endswith("$"))
    return next(shares, 0)


def _line(item: Item, width: int) -> str:
    name = wording.plain(item.name)
    if item.kind is ItemKind.MADE:
        return name
    if item.kind is not ItemKind.FILE:
        return f"{name}/" if item.kind is not ItemKind.UP else "../"
    fitted = Text(name, no_wrap=True)
    fitted.truncate(width, overflow="ellipsis", pad=True)
    return f"{fitted.plain} {item.size:>9}  {item.suits}"
