"""A page of the guide on the screen, and the list of the steps beside it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option as Row

from app.charts import ascii_only
from app.guide import page as guide_page
from app.guide import steps as guide_steps
from app.method.choices import MethodStep
from app.tui.frame.commands import Commanded
from app.tui.frame.parts import Choices
from app.tui.widgets import views
from forms import layout, report

ADVISED = "★"
_INDENT = " " * 6
_BETWEEN = " " * 2
_LOOKS = {
    report.Mark.WARM_UP: "dim",
    report.Mark.UNUSUAL: "$warning",
    report.Mark.REJECTED: "$error strike",
    report.Mark.FAILED: "$error",
}


class PageChoices(Choices):
    class Resized(Message):
        pass

    def on_resize(self) -> None:
        self.post_message(self.Resized())


class PageView(Vertical, Commanded):
    @dataclass
    class OptionChosen(Message):
        option: guide_page.Option

    DEFAULT_CLASSES = "pane"
    page: guide_page.Page | None = None
    _here: int | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="page-headline")
        with VerticalScroll(id="page-text", can_focus=False):
            yield Static(id="page-why")
            yield Static(id="page-facts")
        yield Static(id="page-rest")
        yield Static(id="page-doing")
        yield Static(id="page-columns")
        yield PageChoices(id="page-options")
        yield views.ChartView(id="page-chart")

    def on_mount(self) -> None:
        for attribute in ("show_vertical_scrollbar", "scroll_y"):
            self.watch(self.query_one("#page-text"), attribute, self._tell_of_rest)

    def _tell_of_rest(self) -> None:
        text = self.query_one("#page-text", VerticalScroll)
        self.set_class(text.show_vertical_scrollbar, "-cut")
        is_end = text.scroll_offset.y >= text.max_scroll_y > 0
        self.query_one("#page-rest", Static).update("… the text begins above" if is_end else "… more text")

    def about_now(self) -> str:
        return self.page.why if self.page is not None else ""

    def show(self, page: guide_page.Page) -> None:
        before = self.page
        is_same = before is not None and before.title == page.title and len(before.options) == len(page.options)
        cursor = self._kept_cursor(before) if is_same and before is not None else None

        self.page = page
        self.border_title = Content(page.title)
        self.set_class(bool(page.columns), "-table")
        self.query_one("#page-why", Static).update(Text(page.why))
        self.query_one("#page-facts", Static).update(views.join_toned(page.facts, "\n"))
        self._show_line("#page-headline", views.join_toned(page.headline, "   "))
        self._show_line("#page-columns", Content(f"  {page.columns}"))
        self._show_options(page, page.cursor if cursor is None else cursor)

        chart = page.chart
        self.set_class(chart is not None, "-charted")
        self.query_one(views.ChartView).show_chart(partial(_draw_chart, chart) if chart is not None else None)
        if not is_same:
            self.query_one("#page-text", VerticalScroll).scroll_home(animate=False)

    def _kept_cursor(self, before: guide_page.Page) -> int | None:
        """Where the cursor was moved to on the page before; None where it stands as the page had it."""
        highlighted = self.query_one(OptionList).highlighted
        return None if highlighted == before.cursor else highlighted

    def _show_line(self, selector: str, content: Content) -> None:
        line = self.query_one(selector, Static)
        line.update(content)
        line.display = bool(content.plain.strip())

    def _show_options(self, page: guide_page.Page, cursor: int) -> None:
        rows = self.query_one(OptionList)
        rows.clear_options()
        # Set before the rows are drawn: only the highlighted one shows its whole hint.
        self._here = min(cursor, len(page.options) - 1) if page.options else None
        rows.add_options(
            [Row(self._prompt(option, place), disabled=option.act is None) for place, option in enumerate(page.options)]
        )
        rows.highlighted = self._here
        self.call_after_refresh(rows.scroll_to_highlight)

    def doing(self, text: str) -> None:
        self.query_one("#page-doing", Static).update(Text(text))
        self.set_class(bool(text), "-doing")

    @property
    def pointed(self) -> guide_page.Option | None:
        place = self.query_one(OptionList).highlighted
        return self.page.options[place] if self.page is not None and place is not None else None

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        before = self._here
        self._here = event.option_list.highlighted
        self._draw_again(before, self._here)
        self.screen.refresh_bindings()

    @on(PageChoices.Resized)
    def _fit(self) -> None:
        """Wrap the hints anew; the text above may have taken the line of the highlighted choice."""
        self._draw_again(*range(len(self.page.options) if self.page else 0))
        self.call_after_refresh(self.query_one(OptionList).scroll_to_highlight)
        self.call_after_refresh(self.screen.refresh_bindings)

    def _draw_again(self, *places: int | None) -> None:
        for place in places:
            if self.page is not None and place is not None and place < len(self.page.options):
                row = self._prompt(self.page.options[place], place)
                self.query_one(OptionList).replace_option_prompt_at_index(place, row)

    def _prompt(self, option: guide_page.Option, place: int) -> Content:
        """The option in one line where it fits; else its hint is cut, left out, or below it where it is pointed at."""
        if ascii_only():
            option = replace(option, title=option.title.replace("…", "..."), hint=option.hint.replace("…", "..."))
        row = _row(option)
        if row.cell_length <= self._cells:
            return row

        bare_row = _row(replace(option, hint=""))
        is_pointed = place == self._here
        if option.is_value and not is_pointed:
            room = self._cells - bare_row.cell_length - len(_BETWEEN)
            return _row(replace(option, hint=layout.cut_inside(option.hint, room)))
        hint_lines = layout.wrap(option.hint, self._cells - len(_INDENT)) if is_pointed else []
        return Content("\n").join([bare_row, *(Content.styled(_INDENT + line, "dim") for line in hint_lines)])

    @property
    def _cells(self) -> int:
        return max(20, self.query_one(OptionList).scrollable_content_region.width - 1)

    def choose(self) -> None:
        option = self.pointed
        if option is not None and option.act is not None:
            self.post_message(self.OptionChosen(option))

    @on(OptionList.OptionSelected)
    def _option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.choose()


def _draw_chart(chart: guide_page.PageChart, width: int, height: int, zoomed: bool) -> str:
    from app.charts.series_charts import rates_chart

    return rates_chart(
        chart.form,
        width,
        height,
        zoomed=zoomed,
        begins_zoomed=True,
        expected_bytes_per_second=chart.expected_bytes_per_second,
        expected_name=chart.expected_name,
    )


def _row(option: guide_page.Option) -> Content:
    sign = ADVISED if option.advised else report.SIGNS.get(option.mark, " ")
    title = Content.styled(option.title, "$text bold" if option.result else _LOOKS.get(option.mark, ""))
    hint = f"{_BETWEEN}{option.hint}" if option.hint else ""
    return Content.assemble(f"{sign} ", title, (hint, "dim"))


_STEP_LOOKS = {guide_steps.StepState.CURRENT: "bold $primary", guide_steps.StepState.BLOCKED: "dim"}
_STEP_SIGNS = _STEP_LOOKS | {guide_steps.StepState.DONE: "$success"}


class StepsView(Widget):
    ABOUT = "The steps of the method. The digits 1 to 8 go to a step, where no target is typed."

    @dataclass
    class StepChosen(Message):
        step: MethodStep

    DEFAULT_CLASSES = "pane"
    BORDER_TITLE = "sharebench"
    steps: Sequence[guide_steps.StepStatus] = ()

    def show(self, steps: Sequence[guide_steps.StepStatus]) -> None:
        self.steps = steps
        self.refresh()

    def _rows(self) -> Iterator[tuple[guide_steps.StepStatus, Content]]:
        """The lines of each step: its title, its detail, and blank ones where there is room."""
        width = self.content_size.width
        lines_a_step = self._lines_a_step()
        for step, detail_lines in zip(self.steps, self._details(lines_a_step), strict=True):
            title = Content.assemble(
                (f"{step.state.sign} ", _STEP_SIGNS.get(step.state, "")),
                (f"{step.number} {step.title}", _STEP_LOOKS.get(step.state, "")),
            )
            yield step, title.truncate(width, ellipsis=True)

            blank_lines = [""] * (lines_a_step - 1 - len(detail_lines))
            for line in (*detail_lines, *blank_lines):
                yield step, Content.styled(f"  {line}", "dim")

    def _lines_a_step(self) -> int:
        for lines in (3, 2):
            if self.size.height >= lines * len(self.steps):
                return lines
        return 1

    def _details(self, lines_a_step: int) -> list[list[str]]:
        """The lines of detail of each step; one that says the same as the step above is left out."""
        width = self.content_size.width
        details = ["", *(step.detail for step in self.steps)]
        new_details = [detail if detail != before else "" for before, detail in pairwise(details)]

        wrapped = [layout.wrap(detail, max(1, width - 2)) if detail else [] for detail in new_details]
        if sum(max(lines_a_step, 1 + len(lines)) for lines in wrapped) <= self.size.height:
            return wrapped
        return [[layout.cut_inside(detail, width - 3)][: lines_a_step - 1] for detail in new_details]

    def render(self) -> Content:
        return Content("\n").join([line for _, line in self._rows()])

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        steps = [step for step, _ in self._rows()]
        if place is not None and 0 <= place.y < len(steps):
            self.post_message(self.StepChosen(steps[place.y].step))
