"""A page of the guide on the screen: its words and facts, the list of what can be chosen, and its chart."""

from dataclasses import dataclass
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option as Row

from app.guide import page as guide_page
from app.guide.option_rows import option_row
from app.tui.frame.commands import Commanded
from app.tui.frame.parts import Choices
from app.tui.widgets import views
from app.tui.widgets.headline import headline_content
from app.tui.widgets.sentences import SentencesView


class PageChoices(Choices):
    """The list of what can be chosen; Textual calls the ``action_cursor_…`` methods for the arrow keys."""

    does_wrap = True
    """Whether the cursor goes on at the other end of the list."""

    class Resized(Message):
        """The rows have another width, and are to be drawn anew."""

    def on_resize(self) -> None:
        self.post_message(self.Resized())

    def action_cursor_up(self) -> None:
        if self.does_wrap or self.highlighted != self._end_choices[0]:
            super().action_cursor_up()

    def action_cursor_down(self) -> None:
        if self.does_wrap or self.highlighted != self._end_choices[1]:
            super().action_cursor_down()

    @property
    def _end_choices(self) -> tuple[int | None, int | None]:
        """The places of the first and of the last row that can be chosen."""
        places = [place for place, row in enumerate(self.options) if not row.disabled]
        return (places[0], places[-1]) if places else (None, None)


class PageView(Vertical, Commanded):
    """Shows a page with ``show``, and sends OptionChosen when something is chosen on it.

    Its screen calls ``show``, ``doing``, ``focus_choices``, ``choose`` and ``choose_run``. A *place* is that of a
    choice in the list, from 0.
    """

    @dataclass
    class OptionChosen(Message):
        """Something that leads somewhere was chosen; it is sent to the screen."""

        option: guide_page.Option

    DEFAULT_CLASSES = "pane"
    page: guide_page.Page | None = None
    """The page that is shown."""
    _here: int | None = None
    """The place that was drawn as the cursor's: the list may have moved on, until its message comes."""

    def compose(self) -> ComposeResult:
        yield Static(id="page-headline")
        with VerticalScroll(id="page-text", can_focus=False):
            yield SentencesView(id="page-why")
            yield SentencesView(id="page-facts")
        yield Static(id="page-rest")
        yield Static(id="page-doing")
        yield Static(id="page-columns")
        yield PageChoices(id="page-options")
        yield views.ChartView(id="page-chart")

    def on_mount(self) -> None:
        # Where the text is longer than its box, a line says so: told anew when it is scrolled, or becomes too long.
        for attribute in ("show_vertical_scrollbar", "scroll_y"):
            self.watch(self.query_one("#page-text"), attribute, self._tell_of_rest)

    def _tell_of_rest(self) -> None:
        text = self.query_one("#page-text", VerticalScroll)
        self.set_class(text.show_vertical_scrollbar, "-cut")
        is_end = text.scroll_offset.y >= text.max_scroll_y > 0
        self.query_one("#page-rest", Static).update("… the text begins above" if is_end else "… more text")

    def about_now(self) -> str:
        """What F1 help says of it."""
        return self.page.why if self.page is not None else ""

    def show(self, page: guide_page.Page) -> None:
        """Show the page; if it is the same one with other values, the cursor stays where it was moved to."""
        before = self.page
        is_same = before is not None and before.title == page.title and len(before.options) == len(page.options)
        cursor = self._kept_cursor(before) if is_same and before is not None else None

        self.page = page
        self.border_title = Content(page.title)
        self.set_class(bool(page.columns), "-table")
        self.set_class(page.begins_with_answer, "-answered")
        self.query_one("#page-why", SentencesView).show([page.why])
        self.query_one("#page-facts", SentencesView).show(page.facts)
        self._show_headline()
        self._show_line("#page-columns", Content(f"  {page.columns}"))
        self._show_options(page, page.cursor if cursor is None else cursor)

        chart = page.chart
        self.set_class(chart is not None, "-charted")
        self.query_one(views.ChartView).show_chart(partial(_draw_chart, chart) if chart is not None else None)
        if not is_same:
            self.query_one("#page-text", VerticalScroll).scroll_home(animate=False)

    def _kept_cursor(self, before: guide_page.Page) -> int | None:
        """Where the user has moved the cursor on the page before; None where it stands where that page put it.

        In that case it goes where the new page puts it, which may be another place.
        """
        highlighted = self.query_one(OptionList).highlighted
        return None if highlighted == before.cursor else highlighted

    def _show_headline(self) -> None:
        parts = self.page.headline if self.page is not None else ()
        cells = self.query_one(OptionList).scrollable_content_region.width
        self._show_line("#page-headline", headline_content(parts, cells))

    def _show_line(self, selector: str, content: Content) -> None:
        """Show a line above the list; an empty one takes no room."""
        line = self.query_one(selector, Static)
        line.update(content)
        line.display = bool(content.plain.strip())

    def _show_options(self, page: guide_page.Page, cursor: int) -> None:
        rows = self.query_one(PageChoices)
        # On a page with runs, Up from the first one would go to the last choice, which measures anew.
        rows.does_wrap = not self.runs
        rows.clear_options()
        # Set before the rows are drawn: only the highlighted one shows its whole hint.
        self._here = min(cursor, len(page.options) - 1) if page.options else None
        rows.add_options(
            [Row(self._prompt(option, place), disabled=option.act is None) for place, option in enumerate(page.options)]
        )
        rows.highlighted = self._here
        self.call_after_refresh(rows.scroll_to_highlight)

    def doing(self, text: str) -> None:
        """Show what is worked at, such as ``connecting to …``; empty for nothing."""
        self.query_one("#page-doing", Static).update(Content(text))
        self.set_class(bool(text), "-doing")

    def focus_choices(self) -> None:
        self.query_one(OptionList).focus()

    @property
    def pointed_place(self) -> int | None:
        """The place in the list where the cursor stands."""
        return self.query_one(OptionList).highlighted

    @property
    def runs(self) -> list[guide_page.Option]:
        """The runs on the page that can be left out, or be taken back in."""
        return [option for option in self.page.options if option.is_run] if self.page is not None else []

    @property
    def pointed(self) -> guide_page.Option | None:
        """What the cursor stands on."""
        place = self.query_one(OptionList).highlighted
        return self.page.options[place] if self.page is not None and place is not None else None

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        # The row that was left loses its whole hint, and the new one shows it.
        event.stop()
        before = self._here
        self._here = event.option_list.highlighted
        self._draw_again(before, self._here)
        self.screen.refresh_bindings()

    @on(PageChoices.Resized)
    def _fit(self) -> None:
        """Wrap the hints anew; the text above may have taken the line of the highlighted choice."""
        self._show_headline()
        self._draw_again(*range(len(self.page.options) if self.page else 0))
        self.call_after_refresh(self.query_one(OptionList).scroll_to_highlight)
        self.call_after_refresh(self.screen.refresh_bindings)

    def _draw_again(self, *places: int | None) -> None:
        for place in places:
            if self.page is not None and place is not None and place < len(self.page.options):
                row = self._prompt(self.page.options[place], place)
                self.query_one(OptionList).replace_option_prompt_at_index(place, row)

    def _prompt(self, option: guide_page.Option, place: int) -> Content:
        return option_row(option, self._cells, is_pointed=place == self._here)

    @property
    def _cells(self) -> int:
        """Columns of a row; 20 at least, before the list has a size."""
        return max(20, self.query_one(OptionList).scrollable_content_region.width - 1)

    def choose(self) -> None:
        """Choose what the cursor stands on; nothing happens where it leads nowhere."""
        option = self.pointed
        if option is not None and option.act is not None:
            self.post_message(self.OptionChosen(option))

    def choose_run(self, run: guide_page.Option) -> None:
        """Choose a run, as if the cursor stood on it."""
        self.post_message(self.OptionChosen(run))

    @on(OptionList.OptionSelected)
    def _option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.choose()


def _draw_chart(chart: guide_page.PageChart, width: int, height: int, zoomed: bool) -> str:
    from app.charts.series_charts import bars_chart, rates_chart

    if chart.of_sides is not None:
        return bars_chart(chart.of_sides, width, height, zoomed=zoomed)
    return rates_chart(
        chart.form,
        width,
        height,
        zoomed=zoomed,
        expected_bytes_per_second=chart.expected_bytes_per_second,
        expected_name=chart.expected_name,
    )
