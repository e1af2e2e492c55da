"""Looking around on a target: shares, folders and files, each file with its size and how well it suits."""

from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from app.clients.base import Secrets
from app.errors import LoginError
from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.key_bar import KeyBar
from app.tui.widgets.pane import Pane
from app.tui.widgets.virtual_list import VirtualList
from app.workflows.guide.state.browsing import BrowsedFolder, Item, ItemKind, inside
from forms import wording
from forms.series.file_size import FileFit, FileSizeContext
from storage.records import Target
from storage.target_url import format_target

MAKE_HERE = "[ have a file made in this folder, and removed afterwards ]"


@dataclass(frozen=True, slots=True)
class Picked:
    """Where to measure, and the file; no file where one is to be made."""

    target: Target
    file: Item | None


@dataclass(frozen=True, slots=True)
class NotLetIn:
    """A place that this login does not open."""

    target: Target
    error: LoginError


class BrowseScreen(BaseScreen):
    """The places of one server; answers with what was picked, with where it was not let in, or None."""

    ENTRY = "guide"
    ABOUT = (
        "The names on the server. Enter opens a share or folder and picks a file. The last column says how well a file"
        " suits: + good, - short, ! too small, ~ large, ? not known."
    )
    KEYS: ClassVar = (KeyCommand("browse.up", "left", "Folder above", "One folder up.", footer="Above"),)
    DEFAULT_CSS = """
    BrowseScreen #names-pane { height: 1fr; }
    BrowseScreen #place { height: 1; text-style: bold; }
    BrowseScreen #note { height: auto; color: $text-muted; }
    """

    def __init__(self, place: BrowsedFolder, secrets: Secrets, around: FileSizeContext) -> None:
        super().__init__()
        self.place, self.secrets, self.around = place, secrets, around

    def compose(self) -> ComposeResult:
        with Pane("sharebench · Pick a file to measure with", id="names-pane"):
            yield Static(id="place")
            yield VirtualList(id="names")
            yield Static(id="note")
        yield KeyBar()

    def on_mount(self) -> None:
        self._show(self.place)
        self.query_one(VirtualList).focus()

    def _show(self, place: BrowsedFolder) -> None:
        self.place = place
        self.query_one("#place", Static).update(Text(wording.plain(format_target(place.target)), no_wrap=True))
        names = [*self._first(), *(item.name for item in place.items)]
        self.query_one(VirtualList).show(self._lines(), names, self._best())
        self.query_one("#note", Static).update(Text(self._note()))

    def _first(self) -> list[str]:
        """The line before the names: a file can be made wherever there are files."""
        return [] if self.place.is_share_list else [MAKE_HERE]

    def _lines(self) -> list[str]:
        items = self.place.items
        widest = max(20, self.app.size.width - 26)
        longest = min(widest, max((cell_len(wording.plain(item.name)) for item in items), default=0) + 1)
        return [*self._first(), *(_line(item, longest) for item in items)]

    def _best(self) -> int:
        """The line to start on: a file that suits, else any file, else the first share that is nobody's own."""
        offset = len(self._first())
        items = self.place.items
        for wanted in (FileFit.WELL, FileFit.SHORT, FileFit.UNKNOWN, FileFit.LARGE):
            for index, item in enumerate(items):
                if item.kind is ItemKind.FILE and item.suits.endswith(wanted.value):
                    return offset + index
        for index, item in enumerate(items):
            if item.kind is ItemKind.SHARE and not item.name.endswith("$"):
                return offset + index
        return 0

    def _note(self) -> str:
        count = sum(item.kind is not ItemKind.UP for item in self.place.items)
        if self.place.is_share_list:
            return f"{wording.count(count, 'share')}." if count else "The server shows no shares to this user."
        if not count:
            return "The folder is empty: have a file made in it."
        if any(item.suits.endswith(FileFit.UNKNOWN.value) for item in self.place.items):
            return f"{wording.count(count, 'name')}. Unknown: how long a run of it would last, without the link's rate."
        return f"{wording.count(count, 'name')}."

    @on(VirtualList.LineChosen)
    def _chosen(self, event: VirtualList.LineChosen) -> None:
        event.stop()
        index = event.index - len(self._first())
        if index < 0:
            self.dismiss(Picked(self.place.target, None))
            return
        item = self.place.items[index]
        if item.kind is ItemKind.FILE:
            self.dismiss(Picked(self.place.target, item))
        else:
            self._enter(inside(self.place.target, item))

    def _enter(self, target: Target) -> None:
        self.query_one("#note", Static).update(Text("looking …"))
        backend, secrets, around = self.context.backend, self.secrets, self.around

        def look() -> BrowsedFolder | NotLetIn:
            try:
                return backend.look(target, secrets, around)
            except LoginError as error:
                return NotLetIn(target, error)

        def looked(found: BrowsedFolder | NotLetIn) -> None:
            if isinstance(found, NotLetIn):
                self.dismiss(found)
            else:
                self._show(found)

        self.in_background(look, looked, group="look")

    def action_up(self) -> None:
        up = next((item for item in self.place.items if item.kind is ItemKind.UP), None)
        if up is not None:
            self._enter(inside(self.place.target, up))

    def work_failed(self, error: Exception) -> None:
        self.query_one("#note", Static).update(Text(self._note()))
        super().work_failed(error)

    def on_resize(self) -> None:
        if self.is_mounted:
            names = [*self._first(), *(item.name for item in self.place.items)]
            lines = self.query_one(VirtualList)
            lines.show(self._lines(), names, lines.cursor)

    def action_back(self) -> None:
        self.dismiss(None)


def _line(item: Item, width: int) -> str:
    name = wording.plain(item.name)
    if item.kind is not ItemKind.FILE:
        return f"{name}/" if item.kind is not ItemKind.UP else "../"
    fitted = Text(name, no_wrap=True)
    fitted.truncate(width, overflow="ellipsis", pad=True)
    return f"{fitted.plain} {item.size:>9}  {item.suits}"
