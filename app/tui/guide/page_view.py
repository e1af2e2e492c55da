"""One step's page: why it matters, what is known, and what can be chosen."""

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option as Row

from app.tui.guide.pages.page import Option, Page

ADVISED = "★"


class PageView(Vertical):
    """A page from the guide, drawn; posts the option that is chosen."""

    DEFAULT_CSS = """
    PageView { width: 1fr; height: 1fr; padding: 0 1; }
    PageView #page-text { height: auto; max-height: 60%; scrollbar-size-vertical: 1; }
    PageView #page-title { text-style: bold; color: $primary; }
    PageView #page-why { color: $text-muted; margin-bottom: 1; }
    PageView #page-facts { height: auto; }
    PageView #page-table { height: auto; margin-bottom: 1; }
    PageView OptionList {
        height: 1fr;
        min-height: 4;
        border: none;
        margin-top: 1;
        padding: 0;
        background: $background;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    PageView OptionList:focus { border: none; }
    PageView #page-hint { height: auto; max-height: 3; color: $text-muted; }
    PageView #page-doing { height: auto; text-style: bold; display: none; }
    PageView.-doing #page-doing { display: block; }
    """

    class OptionChosen(Message):
        """An option was chosen."""

        def __init__(self, option: Option) -> None:
            super().__init__()
            self.option = option

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self.page: Page | None = None

    def compose(self) -> ComposeResult:
        """Title, why, facts, table, what is being done, options."""
        with VerticalScroll(id="page-text", can_focus=False):
            yield Static(id="page-title")
            yield Static(id="page-why")
            yield Static(id="page-table")
            yield Static(id="page-facts")
        yield Static(id="page-doing")
        yield OptionList(id="page-options")
        yield Static(id="page-hint")

    def show(self, page: Page, *, table: str = "") -> None:
        """Show a page; the cursor stays where it was while the page is the same step's."""
        options = self.query_one(OptionList)
        same = self.page is not None and _alike(self.page, page)
        cursor = options.highlighted if same and options.highlighted is not None else page.cursor
        self.page = page
        self.query_one("#page-title", Static).update(Text(page.title))
        self.query_one("#page-why", Static).update(Text(page.why))
        self.query_one("#page-facts", Static).update(Text("\n".join(page.facts)))
        shown = self.query_one("#page-table", Static)
        shown.update(Text.from_ansi(table.rstrip("\n")))
        shown.display = bool(table)
        options.clear_options()
        options.add_options([Row(_row(option), disabled=option.act is None) for option in page.options])
        self._hint(None)
        if page.options:
            options.highlighted = min(cursor, len(page.options) - 1)
            self._hint(page.options[options.highlighted])
        if not same:
            self.query_one("#page-text", VerticalScroll).scroll_home(animate=False)

    def doing(self, text: str) -> None:
        """Say what is being done; empty when it is over."""
        self.query_one("#page-doing", Static).update(Text(text))
        self.set_class(bool(text), "-doing")

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Say below the list what its line may have no room for."""
        event.stop()
        options = self.query_one(OptionList)
        if self.page is not None and options.highlighted is not None:
            self._hint(self.page.options[options.highlighted])

    def _hint(self, option: Option | None) -> None:
        """Below the list, what its line has no room for."""
        whole = option is None or _row(option).cell_length <= self._cells
        self.query_one("#page-hint", Static).update(Text("" if option is None or whole else option.hint))

    @property
    def _cells(self) -> int:
        return max(20, self.query_one(OptionList).scrollable_content_region.width - 1)

    def read_on(self) -> None:
        """Show more of the text; after its end, its beginning."""
        text = self.query_one("#page-text", VerticalScroll)
        if text.scroll_offset.y >= text.max_scroll_y:
            text.scroll_home(animate=False)
        else:
            text.scroll_page_down(animate=False)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if self.page is not None and self.page.options[event.option_index].act is not None:
            self.post_message(self.OptionChosen(self.page.options[event.option_index]))


def _alike(before: Page, after: Page) -> bool:
    """Whether it is the same step with the same choices, so that the cursor can stay where it is."""
    return before.title == after.title and len(before.options) == len(after.options)


def _row(option: Option) -> Content:
    """Title and hint on one line; what does not fit is said below the list while the cursor is on it."""
    title = f"{ADVISED if option.advised else ' '} {option.title}"
    return Content.assemble(title, (f"  {option.hint}", "dim")) if option.hint else Content(title)
