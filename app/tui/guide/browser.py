"""Looking around on a target: shares, folders and files, each file with its size and how well it suits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static

from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import Commanded, keys
from app.tui.frame.parts import KeyBar, Pane
from app.workflows.guide.browsing import BrowsedFolder, Item, ItemKind
from forms import wording
from forms.series.progress import FileFit
from storage.records import format_target


class VirtualList(ScrollView, Commanded, can_focus=True):
    """Lines of plain text with a cursor; Enter or a click chooses one, typing goes to the next that starts so."""

    ABOUT = (
        "A list. Up and down move, Page Up, Page Down, Home and End go further, Enter chooses. Typing a letter goes to"
        " the next name that starts with it."
    )
    KEYS: ClassVar = keys("lines.up lines.down lines.choose")
    COMPONENT_CLASSES: ClassVar[set[str]] = {"lines--cursor"}
    DEFAULT_CSS = """
    VirtualList {
        height: 1fr;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        & > .lines--cursor { background: $panel; color: $foreground; }
        &:focus > .lines--cursor { background: $primary; color: $background; text-style: bold; }
    }
    """

    @dataclass
    class LineChosen(Message):
        """A line was chosen."""

        index: int

    lines: Sequence[str] = ()
    names: Sequence[str] = ()
    cursor = 0

    def show(self, lines: Sequence[str], names: Sequence[str], cursor: int = 0) -> None:
        self.lines, self.names = lines, names
        self.virtual_size = Size(self.size.width, len(lines))
        self.scroll_to(y=0, animate=False, force=True)
        self._go(cursor)

    def action_move(self, by: int) -> None:
        self._go(self.cursor + by)

    def action_choose(self) -> None:
        if self.lines:
            self.post_message(self.LineChosen(self.cursor))

    def on_key(self, event: events.Key) -> None:
        page = max(1, self.size.height - 1)
        far = {"pageup": -page, "pagedown": page, "home": -len(self.lines), "end": len(self.lines)}
        if event.key in far:
            event.stop()
            self._go(self.cursor + far[event.key])
        elif event.is_printable and event.character and event.character != " ":
            event.stop()
            self._go_to_name(event.character.casefold())

    def _go_to_name(self, start: str) -> None:
        count = len(self.names)
        for step in range(1, count + 1):
            index = (self.cursor + step) % count
            if self.names[index].casefold().startswith(start):
                self._go(index)
                return

    def _go(self, line: int) -> None:
        self.cursor = max(0, min(line, len(self.lines) - 1))
        top, height = self.scroll_offset.y, max(1, self.size.height)
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, force=True)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False, force=True)
        self.refresh()

    def on_resize(self) -> None:
        self.virtual_size = Size(self.size.width, len(self.lines))
        self._go(self.cursor)

    def on_click(self, event: events.Click) -> None:
        line = self.scroll_offset.y + event.y
        if line < len(self.lines):
            again = line == self.cursor
            self._go(line)
            if again or event.chain > 1:
                self.action_choose()

    def render_line(self, y: int) -> Strip:
        index = self.scroll_offset.y + y
        width = self.size.width
        if index >= len(self.lines):
            return Strip.blank(width, self.rich_style)
        here = index == self.cursor
        style = self.get_component_rich_style("lines--cursor") if here else self.rich_style
        return _strip(("> " if here else "  ") + self.lines[index], width, style)


def _strip(text: str, width: int, style: Style) -> Strip:
    fitted = Text(text, no_wrap=True)
    fitted.truncate(width, overflow="ellipsis")
    return Strip([Segment(fitted.plain, style)]).adjust_cell_length(width, style)


class BrowseScreen(BaseScreen):
    """The places of one server; answers with the file that was picked, or None."""

    ENTRY = "guide"
    ABOUT = (
        "The names on the server. Enter opens a share or folder and picks a file. The last column says how well a file"
        " suits: + good, - short, ! too small, ~ large, ? not known."
    )
    KEYS: ClassVar = keys("browse.up")
    DEFAULT_CSS = """
    BrowseScreen #names-pane { height: 1fr; }
    BrowseScreen #place { height: 1; text-style: bold; }
    BrowseScreen #note { height: auto; color: $text-muted; }
    """

    def __init__(self, place: BrowsedFolder, enter: Callable[[Item], None]) -> None:
        super().__init__()
        self.place, self._enter = place, enter

    def compose(self) -> ComposeResult:
        with Pane("sharebench · Pick a file to measure with", id="names-pane"):
            yield Static(id="place")
            yield VirtualList(id="names")
            yield Static(id="note")
        yield KeyBar()

    def on_mount(self) -> None:
        self.show(self.place)
        self.query_one(VirtualList).focus()

    def show(self, place: BrowsedFolder) -> None:
        lines = self.query_one(VirtualList)
        cursor = lines.cursor if place is self.place and lines.lines else _best(place)
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
        if any(item.suits.endswith(FileFit.UNKNOWN.value) for item in self.place.items):
            return (
                f"{wording.count(count, 'item')}. Unknown: how long a run would last, since the link speed is unknown."
            )
        return f"{wording.count(count, 'item')}. A short or small file gives short runs, which vary more."

    @on(VirtualList.LineChosen)
    def _chosen(self, event: VirtualList.LineChosen) -> None:
        event.stop()
        self._take(self.place.choices[event.index])

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
            if item.kind is ItemKind.FILE and item.suits.endswith(wanted.value):
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
