"""Looking around on a target: its shares, folders and files, a place at a time.

The guide opens the screen with the first place, and gives it a new one with ``show`` each time that the user has
entered a share or a folder.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static
from textual.widgets.option_list import Option as Row

from app.clients import browsing
from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import keys
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import Choices, Pane
from forms import wording
from forms.series.file_size import FileFit
from storage.records import format_target

_FITS_BEST_FIRST = (FileFit.WELL, FileFit.SHORT, FileFit.UNKNOWN, FileFit.LARGE)


class NameList(Choices):
    """The items of a place, a line each; a character that is typed goes to the next name that begins with it."""

    names: Sequence[str] = ()

    def show(self, lines: Sequence[str], names: Sequence[str], cursor: int) -> None:
        """Show other items: for each a line to draw, and the name that typing goes to."""
        self.names = names
        self.clear_options()
        self.add_options([Row(Content(line)) for line in lines])
        self.highlighted = cursor

    def on_key(self, event: events.Key) -> None:
        """A character goes to the next name that begins with it."""
        if not event.is_printable or not event.character or event.character == " ":
            return
        event.stop()
        start = event.character.casefold()
        # From the item behind the cursor to the end, then from the first to the cursor's own.
        current = self.highlighted or 0
        count = len(self.names)
        for index in (*range(current + 1, count), *range(min(current + 1, count))):
            if self.names[index].casefold().startswith(start):
                self.highlighted = index
                return


class BrowseScreen(BaseScreen):
    """The places of one server; answers with what was picked, or None.

    That is a file to get, or the item that stands for a test file to be made in the place shown.
    """

    ENTRY = "guide"
    KEYS: ClassVar = keys("browse.up")

    def __init__(self, place: browsing.BrowsedFolder, enter: Callable[[browsing.Item], None]) -> None:
        """``enter`` has the guide look into a share or folder."""
        super().__init__()
        self.place = place
        self._enter = enter
        self._least_depth = _depth(place)
        """Of the first place: going back from there leaves the screen."""
        self._is_looking = False
        """Whether the guide is looking into a place that was entered."""
        self._left: browsing.BrowsedFolder | None = None
        """The place that going back was asked to leave last; if it still shows, the one above does not come."""

    def compose(self) -> ComposeResult:
        with Pane("sharebench · Pick a file to get, or a folder to put into", id="names-pane"):
            yield Static(id="place")
            yield NameList(id="names")
            yield Static(id="note")
        yield KeyBar()

    def on_mount(self) -> None:
        self.show(self.place)
        self.query_one(NameList).focus()

    def show(self, place: browsing.BrowsedFolder) -> None:
        """Show a place, called by the guide when it has looked; the same one again keeps the cursor where it is."""
        self._is_looking = False
        self._draw(place)

    def _draw(self, place: browsing.BrowsedFolder) -> None:
        names = self.query_one(NameList)
        is_kept = place is self.place and names.highlighted is not None
        cursor = names.highlighted if is_kept and names.highlighted is not None else _best_choice(place)
        self.place = place

        self.query_one("#place", Static).update(Text(wording.plain(format_target(place.target)), no_wrap=True))
        # Beside a name stand the size of the file, how well it suits, and the border.
        widest = max(20, self.app.size.width - 26)
        longest_name = max((cell_len(wording.plain(item.name)) for item in place.items), default=0)
        width = min(widest, longest_name + 1)
        names.show([_line(item, width) for item in place.choices], [item.name for item in place.choices], cursor)
        self._draw_note()

    def _draw_note(self) -> None:
        self.query_one("#note", Static).update(Text("looking …" if self._is_looking else self._note()))

    def _note(self) -> str:
        count = sum(item.kind is not browsing.ItemKind.UP for item in self.place.items)
        if self.place.is_share_list:
            return f"{wording.count(count, 'share')}." if count else "The server shows no shares to this user."
        if not count:
            return "The folder is empty: create a test file here."

        about_sizes = "A short or small file gives short runs, which vary more."
        if any(item.fit is FileFit.UNKNOWN for item in self.place.items):
            about_sizes = "Link speed unknown: no estimate how long a run takes."
        return f"{wording.count(count, 'item')}. {about_sizes}"

    @on(NameList.OptionSelected)
    def _name_selected(self, event: NameList.OptionSelected) -> None:
        event.stop()
        # The list may show another folder by now.
        if event.option in event.option_list.options:
            self._take(self.place.choices[event.option_index])

    def _take(self, item: browsing.Item) -> None:
        """Answer with a file, or have the guide look into a share or folder; until it has, nothing else is taken."""
        if self._is_looking:
            return
        if item.kind in {browsing.ItemKind.FILE, browsing.ItemKind.MADE}:
            self.dismiss(item)
            return
        self._is_looking = True
        self._draw_note()
        self._enter(item)

    def action_up(self) -> None:
        up = next((item for item in self.place.items if item.kind is browsing.ItemKind.UP), None)
        if up is not None:
            self._take(up)

    def on_resize(self) -> None:
        if self.is_mounted:
            # The guide may still be looking into another place: that goes on.
            self._draw(self.place)

    def action_back(self) -> None:
        """Up as far as it was gone down, then out; out as well where a folder does not come."""
        if _depth(self.place) > self._least_depth and not self._is_looking and self._left is not self.place:
            self._left = self.place
            self.action_up()
        else:
            self.dismiss(None)


def _depth(place: browsing.BrowsedFolder) -> tuple[bool, int]:
    """Whether it is in a share, and how many folders deep: to compare."""
    folders = [name for name in place.target.path.split("/") if name]
    return bool(place.target.share), len(folders)


def _best_choice(place: browsing.BrowsedFolder) -> int:
    """The index of the file that suits best; else of the first share that is not hidden, else of a folder."""
    choices = place.choices
    for fit in _FITS_BEST_FIRST:
        for index, item in enumerate(choices):
            if item.fit is fit:
                return index
    # Shares stand in a list of their own, in which nothing can be made: there the items are the choices.
    for index, item in enumerate(place.items):
        if item.kind is browsing.ItemKind.SHARE and not item.name.endswith("$"):
            return index
    return next((index for index, item in enumerate(choices) if item.kind is browsing.ItemKind.FOLDER), 0)


def _line(item: browsing.Item, width: int) -> str:
    name = wording.plain(item.name)
    if item.kind is browsing.ItemKind.MADE:
        return name
    if item.kind is browsing.ItemKind.UP:
        return "../"
    if item.kind is not browsing.ItemKind.FILE:
        return f"{name}/"
    fitted = Text(name, no_wrap=True)
    fitted.truncate(width, overflow="ellipsis", pad=True)
    return f"{fitted.plain} {item.size:>9}  {item.suits}"
