"""A list of any number of lines: only those in view are drawn, so that ten thousand cost no more than ten."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from app.tui.frame.commands import Commanded, KeyCommand


class VirtualList(ScrollView, Commanded, can_focus=True):
    """Lines of plain text with a cursor; Enter or a click chooses one, typing goes to the next that starts so."""

    ABOUT = (
        "A list. Up and down move, Page Up, Page Down, Home and End go further, Enter chooses. Typing a letter goes to"
        " the next name that starts with it."
    )
    KEYS: ClassVar = (
        KeyCommand("lines.up", "up", "Up", "One line up.", action="move(-1)"),
        KeyCommand("lines.down", "down", "Down", "One line down.", action="move(1)"),
        KeyCommand("lines.choose", "enter", "Choose", "Take this line.", footer="Choose"),
    )
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

    class LineChosen(Message):
        """A line was chosen."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self.lines: Sequence[str] = ()
        self.names: Sequence[str] = ()
        self.cursor = 0

    def show(self, lines: Sequence[str], names: Sequence[str], cursor: int = 0) -> None:
        """Show these lines; ``names`` are what typing looks through."""
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
