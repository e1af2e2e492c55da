"""The guide's two panes: the steps of the method, and the page of the open one."""

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

from app.tui.frame.commands import Commanded
from app.tui.widgets.views import ChartView, joined
from app.workflows.guide.choices import Judge, MethodStep, Option, Page, PageChart
from app.workflows.guide.known import StepState, StepStatus
from forms import layout
from forms.report import SIGNS, Mark

ADVISED = "★"
_INDENT = " " * 6
_LOOKS = {
    Mark.WARM_UP: "dim",
    Mark.UNUSUAL: "$warning",
    Mark.REJECTED: "$error strike",
    Mark.FAILED: "$error",
}


class PageView(Vertical, Commanded):
    """A page from the guide, drawn; posts the option that is chosen."""

    DEFAULT_CSS = """
    PageView { width: 1fr; height: 1fr; }
    PageView #page-headline { text-style: bold; height: auto; }
    PageView #page-text { height: auto; max-height: 60%; scrollbar-size-vertical: 1; }
    PageView #page-why { color: $text-muted; }
    PageView #page-facts { height: auto; }
    PageView #page-columns { height: 1; color: $text-muted; text-style: bold; }
    PageView OptionList {
        height: 1fr;
        min-height: 4;
        border: none;
        padding: 0;
        background: transparent;
        text-wrap: nowrap;
        text-overflow: ellipsis;
        scrollbar-size-vertical: 1;
    }
    PageView OptionList:focus { border: none; background-tint: transparent; }
    PageView #page-doing { height: auto; text-style: bold; display: none; }
    PageView.-doing #page-doing { display: block; }
    PageView.-table #page-why { display: none; }
    PageView.-table #page-text { max-height: 8; }
    PageView #page-chart { height: 1fr; margin-top: 1; display: none; }
    """

    @dataclass
    class OptionChosen(Message):
        """An option was chosen."""

        option: Option

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id, classes="pane")
        self.page: Page | None = None
        self._here: int | None = None
        """The option drawn as the highlighted one."""

    def compose(self) -> ComposeResult:
        yield Static(id="page-headline")
        with VerticalScroll(id="page-text", can_focus=False):
            yield Static(id="page-why")
            yield Static(id="page-facts")
        yield Static(id="page-doing")
        yield Static(id="page-columns")
        yield OptionList(id="page-options")
        yield ChartView(id="page-chart")

    def about_now(self) -> str:
        """Why the open step matters: on the page where there is room for it, and always in F1 help."""
        return self.page.why if self.page is not None else ""

    def show(self, page: Page) -> None:
        options = self.query_one(OptionList)
        before = self.page
        same = before is not None and _alike(before, page)
        moved = same and before is not None and options.highlighted not in (None, before.cursor)
        cursor = options.highlighted if moved and options.highlighted is not None else page.cursor
        self.page = page
        self.border_title = Content(page.title)
        self.set_class(bool(page.columns), "-table")
        self.query_one("#page-why", Static).update(Text(page.why))
        self.query_one("#page-facts", Static).update(joined(page.facts, "\n"))
        for name, content in (("headline", joined(page.headline, "   ")), ("columns", Content(f"  {page.columns}"))):
            line = self.query_one(f"#page-{name}", Static)
            line.update(content)
            line.display = bool(content.plain.strip())
        options.clear_options()
        self._here = min(cursor, len(page.options) - 1) if page.options else None
        rows = [self._prompt(option, place) for place, option in enumerate(page.options)]
        options.add_options([Row(row, disabled=one.act is None) for row, one in zip(rows, page.options, strict=True)])
        options.highlighted = self._here
        chart = page.chart
        self.set_class(chart is not None, "-charted")
        self.query_one(ChartView).show_chart(partial(_drawn, chart) if chart is not None else None)
        if not same:
            self.query_one("#page-text", VerticalScroll).scroll_home(animate=False)

    def doing(self, text: str) -> None:
        self.query_one("#page-doing", Static).update(Text(text))
        self.set_class(bool(text), "-doing")

    @property
    def pointed(self) -> Option | None:
        at = self.query_one(OptionList).highlighted
        return self.page.options[at] if self.page is not None and at is not None else None

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        before, self._here = self._here, event.option_list.highlighted
        self._draw_again(before, self._here)
        self.screen.refresh_bindings()

    def on_resize(self) -> None:
        self._draw_again(*range(len(self.page.options) if self.page else 0))

    def _draw_again(self, *places: int | None) -> None:
        for place in places:
            if self.page is not None and place is not None and place < len(self.page.options):
                row = self._prompt(self.page.options[place], place)
                self.query_one(OptionList).replace_option_prompt_at_index(place, row)

    def _prompt(self, option: Option, place: int) -> Content:
        row = _row(option)
        if row.cell_length <= self._cells:
            return row
        hint = layout.wrap(option.hint, self._cells - len(_INDENT)) if place == self._here else []
        below = [Content.styled(_INDENT + line, "dim") for line in hint]
        return Content("\n").join([_row(replace(option, hint="")), *below])

    @property
    def _cells(self) -> int:
        return max(20, self.query_one(OptionList).scrollable_content_region.width - 1)

    def read_on(self) -> None:
        text = self.query_one("#page-text", VerticalScroll)
        if text.scroll_offset.y >= text.max_scroll_y:
            text.scroll_home(animate=False)
        else:
            text.scroll_page_down(animate=False)

    def choose(self) -> None:
        option = self.pointed
        if option is not None and option.act is not None:
            self.post_message(self.OptionChosen(option))

    @property
    def is_on_run(self) -> bool:
        return self.pointed is not None and isinstance(self.pointed.act, Judge)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.choose()


def _alike(before: Page, after: Page) -> bool:
    return before.title == after.title and len(before.options) == len(after.options)


def _drawn(chart: PageChart, width: int, height: int, zoomed: bool) -> str:
    from app.charts.series_charts import rates_chart  # noqa: PLC0415  loaded when the first chart is drawn

    return rates_chart(
        chart.form, width, height, zoomed=zoomed, begins_zoomed=True,
        expected_bytes_per_second=chart.expected_bytes_per_second, expected_name=chart.expected_name,
    )  # fmt: skip


def _row(option: Option) -> Content:
    sign = ADVISED if option.advised else SIGNS.get(option.mark, " ")
    title = Content.styled(option.title, "$text bold" if option.result else _LOOKS.get(option.mark, ""))
    return Content.assemble(f"{sign} ", title, (f"  {option.hint}" if option.hint else "", "dim"))


_STEP_LOOKS = {StepState.CURRENT: "bold $primary", StepState.BLOCKED: "dim"}
_STEP_SIGNS = _STEP_LOOKS | {StepState.DONE: "$success"}


class StepsView(Widget):
    """Sign, number and name of each step; what was chosen or what blocks it below."""

    ABOUT = "The steps of the method. The digits 1 to 8 go to a step."
    DEFAULT_CSS = """
    StepsView { width: 30; height: 1fr; }
    """

    @dataclass
    class StepChosen(Message):
        """A step was clicked."""

        step: MethodStep

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id, classes="pane")
        self.border_title = "sharebench"
        self.steps: Sequence[StepStatus] = ()

    def show(self, steps: Sequence[StepStatus]) -> None:
        self.steps = steps
        self.refresh()

    def _rows(self) -> Iterator[tuple[StepStatus, Content]]:
        """The lines of all steps; details are wrapped where there is room for them, else cut to a line or left out."""
        width, height, count = self.content_size.width, self.size.height, len(self.steps)
        each = next(lines for lines in (3, 2, 1) if lines == 1 or height >= lines * count)
        told = [""] + [standing.detail for standing in self.steps]
        new = [detail if detail != before else "" for before, detail in pairwise(told)]
        details = [layout.wrap(detail, max(1, width - 2)) if detail else [] for detail in new]
        if sum(max(each, 1 + len(lines)) for lines in details) > height:
            details = [[layout.cut_inside(detail, width - 3)][: each - 1] for detail in new]
        for standing, lines in zip(self.steps, details, strict=True):
            title = Content.assemble(
                (f"{standing.state.sign} ", _STEP_SIGNS.get(standing.state, "")),
                (f"{standing.number} {standing.title}", _STEP_LOOKS.get(standing.state, "")),
            )
            yield standing, title.truncate(width, ellipsis=True)
            for line in [*lines, *[""] * (each - 1 - len(lines))]:
                yield standing, Content.styled(f"  {line}", "dim")

    def render(self) -> Content:
        return Content("\n").join([line for _, line in self._rows()])

    def on_click(self, event: events.Click) -> None:
        place, rows = event.get_content_offset(self), [standing for standing, _ in self._rows()]
        if place is not None and 0 <= place.y < len(rows):
            self.post_message(self.StepChosen(rows[place.y].step))
