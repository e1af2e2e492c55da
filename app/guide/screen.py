"""The guide: the steps of the method on the left, and the page of the open one; and looking around on a target."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from typing import Any, ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import ActiveBinding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option as Row

from app import kinds
from app.charts import ascii_only
from app.guide import choices as acts
from app.guide import session as asked
from app.guide.browsing import BrowsedFolder, Item, ItemKind
from app.guide.known import StepState, StepStatus, standings
from app.guide.session import GuideSession, Steps
from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import Commanded, KeyCommand, keys
from app.tui.frame.dialogs import AskDialog, ConfirmDialog, MessageDialog
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import Choices, Pane
from app.tui.widgets.logins import ask_password
from app.tui.widgets.views import ChartView, ZoomsCharts, join_toned
from forms import layout, wording
from forms.report import SIGNS, Mark
from forms.series.file_size import FileFit
from storage.records import SeriesStatus, format_target

ADVISED = "★"
_STEP = "Go to the step of that number, where nothing blocks it."
_HELP_SIGN = "question_mark"
"""No target begins with it."""
_INDENT, _BETWEEN = " " * 6, " " * 2
_LOOKS = {Mark.WARM_UP: "dim", Mark.UNUSUAL: "$warning", Mark.REJECTED: "$error strike", Mark.FAILED: "$error"}


class PageChoices(Choices):
    class Resized(Message):
        pass

    def on_resize(self) -> None:
        self.post_message(self.Resized())


class PageView(Vertical, Commanded):
    @dataclass
    class OptionChosen(Message):
        option: acts.Option

    DEFAULT_CLASSES = "pane"
    page: acts.Page | None = None
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
        yield ChartView(id="page-chart")

    def on_mount(self) -> None:
        for what in ("show_vertical_scrollbar", "scroll_y"):
            self.watch(self.query_one("#page-text"), what, self._tell_of_rest)

    def _tell_of_rest(self) -> None:
        text = self.query_one("#page-text", VerticalScroll)
        self.set_class(text.show_vertical_scrollbar, "-cut")
        is_end = text.scroll_offset.y >= text.max_scroll_y > 0
        self.query_one("#page-rest", Static).update("… the text begins above" if is_end else "… more text")

    def about_now(self) -> str:
        return self.page.why if self.page is not None else ""

    def show(self, page: acts.Page) -> None:
        options = self.query_one(OptionList)
        before = self.page
        same = before is not None and before.title == page.title and len(before.options) == len(page.options)
        moved = same and before is not None and options.highlighted not in (None, before.cursor)
        cursor = options.highlighted if moved and options.highlighted is not None else page.cursor
        self.page = page
        self.border_title = Content(page.title)
        self.set_class(bool(page.columns), "-table")
        self.query_one("#page-why", Static).update(Text(page.why))
        self.query_one("#page-facts", Static).update(join_toned(page.facts, "\n"))
        for name, content in (
            ("headline", join_toned(page.headline, "   ")),
            ("columns", Content(f"  {page.columns}")),
        ):
            line = self.query_one(f"#page-{name}", Static)
            line.update(content)
            line.display = bool(content.plain.strip())
        options.clear_options()
        self._here = min(cursor, len(page.options) - 1) if page.options else None
        rows = [self._prompt(option, place) for place, option in enumerate(page.options)]
        options.add_options([Row(row, disabled=one.act is None) for row, one in zip(rows, page.options, strict=True)])
        options.highlighted = self._here
        self.call_after_refresh(options.scroll_to_highlight)
        chart = page.chart
        self.set_class(chart is not None, "-charted")
        self.query_one(ChartView).show_chart(partial(_drawn, chart) if chart is not None else None)
        if not same:
            self.query_one("#page-text", VerticalScroll).scroll_home(animate=False)

    def doing(self, text: str) -> None:
        self.query_one("#page-doing", Static).update(Text(text))
        self.set_class(bool(text), "-doing")

    @property
    def pointed(self) -> acts.Option | None:
        at = self.query_one(OptionList).highlighted
        return self.page.options[at] if self.page is not None and at is not None else None

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        before, self._here = self._here, event.option_list.highlighted
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

    def _prompt(self, option: acts.Option, place: int) -> Content:
        if ascii_only():
            option = replace(option, title=option.title.replace("…", "..."), hint=option.hint.replace("…", "..."))
        row = _row(option)
        if row.cell_length <= self._cells:
            return row
        bare = _row(replace(option, hint=""))
        if option.is_value and place != self._here:
            room = self._cells - bare.cell_length - len(_BETWEEN)
            return _row(replace(option, hint=layout.cut_inside(option.hint, room)))
        hint = layout.wrap(option.hint, self._cells - len(_INDENT)) if place == self._here else []
        return Content("\n").join([bare, *(Content.styled(_INDENT + line, "dim") for line in hint)])

    @property
    def _cells(self) -> int:
        return max(20, self.query_one(OptionList).scrollable_content_region.width - 1)

    def choose(self) -> None:
        option = self.pointed
        if option is not None and option.act is not None:
            self.post_message(self.OptionChosen(option))

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.choose()


def _drawn(chart: acts.PageChart, width: int, height: int, zoomed: bool) -> str:
    from app.charts.series_charts import rates_chart  # noqa: PLC0415  loaded when the first chart is drawn

    return rates_chart(
        chart.form, width, height, zoomed=zoomed, begins_zoomed=True,
        expected_bytes_per_second=chart.expected_bytes_per_second, expected_name=chart.expected_name,
    )  # fmt: skip


def _row(option: acts.Option) -> Content:
    sign = ADVISED if option.advised else SIGNS.get(option.mark, " ")
    title = Content.styled(option.title, "$text bold" if option.result else _LOOKS.get(option.mark, ""))
    return Content.assemble(f"{sign} ", title, (f"{_BETWEEN}{option.hint}" if option.hint else "", "dim"))


_STEP_LOOKS = {StepState.CURRENT: "bold $primary", StepState.BLOCKED: "dim"}
_STEP_SIGNS = _STEP_LOOKS | {StepState.DONE: "$success"}


class StepsView(Widget):
    ABOUT = "The steps of the method. The digits 1 to 8 go to a step, where no target is typed."

    @dataclass
    class StepChosen(Message):
        step: acts.MethodStep

    DEFAULT_CLASSES = "pane"
    BORDER_TITLE = "sharebench"
    steps: Sequence[StepStatus] = ()

    def show(self, steps: Sequence[StepStatus]) -> None:
        self.steps = steps
        self.refresh()

    def _rows(self) -> Iterator[tuple[StepStatus, Content]]:
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


class NameList(Choices):
    names: Sequence[str] = ()

    def show(self, lines: Sequence[str], names: Sequence[str], cursor: int) -> None:
        self.names = names
        self.clear_options()
        self.add_options([Row(Content(line)) for line in lines])
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

    def __init__(self, place: BrowsedFolder, enter: Callable[[Item], None]) -> None:
        super().__init__()
        self.place, self._enter, self._least = place, enter, _depth(place)
        self._is_looking = False
        self._left: BrowsedFolder | None = None

    def compose(self) -> ComposeResult:
        with Pane("sharebench · Pick a file to get, or a folder to put into", id="names-pane"):
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
        self.place, self._is_looking = place, False
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
        about = "A short or small file gives short runs, which vary more."
        if any(item.fit is FileFit.UNKNOWN for item in self.place.items):
            about = "The link speed is unknown, so the length of a run is too."
        return f"{wording.count(count, 'item')}. {about}"

    @on(NameList.OptionSelected)
    def _chosen(self, event: NameList.OptionSelected) -> None:
        event.stop()
        if event.option in event.option_list.options:  # which may show another folder by now
            self._take(self.place.choices[event.option_index])

    def _take(self, item: Item) -> None:
        if self._is_looking:
            return
        if item.kind in {ItemKind.FILE, ItemKind.MADE}:
            self.dismiss(item)
        else:
            self._is_looking = True
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
        """Up as far as it was gone down, then out; out as well where a folder does not come."""
        if _depth(self.place) > self._least and not self._is_looking and self._left is not self.place:
            self._left = self.place
            self.action_up()
        else:
            self.dismiss(None)


def _depth(place: BrowsedFolder) -> tuple[bool, int]:
    return bool(place.target.share), len([*filter(None, place.target.path.split("/"))])


def _best(place: BrowsedFolder) -> int:
    wanted = (FileFit.WELL, FileFit.SHORT, FileFit.UNKNOWN, FileFit.LARGE)
    files = (i for fit in wanted for i, one in enumerate(place.choices) if one.fit is fit)
    shares = (i for i, one in enumerate(place.items) if one.kind is ItemKind.SHARE and not one.name.endswith("$"))
    folders = (i for i, one in enumerate(place.choices) if one.kind is ItemKind.FOLDER)
    return next(chain(files, shares, folders), 0)


def _line(item: Item, width: int) -> str:
    name = wording.plain(item.name)
    if item.kind is ItemKind.MADE:
        return name
    if item.kind is not ItemKind.FILE:
        return f"{name}/" if item.kind is not ItemKind.UP else "../"
    fitted = Text(name, no_wrap=True)
    fitted.truncate(width, overflow="ellipsis", pad=True)
    return f"{fitted.plain} {item.size:>9}  {item.suits}"


class GuideScreen(BaseScreen, ZoomsCharts):
    KEYS: ClassVar = (
        *keys("guide.back guide.forward guide.new guide.more guide.reject chart.zoom guide.undo"),
        *(
            KeyCommand(f"guide.step-{step}", f"{step}", f"Step {step}", _STEP, action=f"step({step})", hidden=True)
            for step in range(1, len(acts.STEPS) + 1)
        ),
    )
    begins_anew = False
    """Whether a round that was measured is left for a new one, once the screen shows."""
    came_with: acts.GuideChoices | None = None
    """What another screen opened the guide with; Escape leads back there until something is chosen."""
    purpose = ""
    """For what other screen a target and a file are chosen here, in a sentence; it is dismissed once they are."""
    session: GuideSession
    _browser: tuple[Steps, BrowseScreen] | None = None
    _begun: tuple[acts.MethodStep, int | None] | None = None

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield StepsView(id="steps")
            yield PageView(id="page")
        yield KeyBar()

    def on_mount(self) -> None:
        context = self.context
        targets = partial(kinds.used_targets, pointed=context.pointed)
        self.session = GuideSession(context.notebook_path, context.backend, context.logins, context.practice, targets)
        self.drive(self._begin())

    def _begin(self) -> Steps:
        yield from self.session.recall()
        if self.begins_anew:
            self._show_again()
        else:
            self.show()
        yield from self.session.look_at_link()

    def on_screen_resume(self) -> None:
        if self.query("#page-options") and self.query_one(PageView).page is not None:
            self._show_again()

    def _show_again(self) -> None:
        session, anew = self.session, self.begins_anew
        self.begins_anew = False
        is_over = session.known.series is not None and session.known.series.status is SeriesStatus.COMPLETE
        self.take(acts.new_measurement(session.choices) if anew and is_over else session.choices)
        if anew:
            session.left.clear()

    def take(self, choices: acts.GuideChoices) -> None:
        self.drive(self.session.take(choices))

    def show(self) -> None:
        from app.guide.after_run import page_of  # noqa: PLC0415  the first paint does not wait for what computes

        session = self.session
        choices = session.choices
        if self.purpose and choices.run_bytes is not None and choices.step not in acts.STEPS[:2]:
            self.dismiss(result=True)
            return
        self.query_one(StepsView).show(standings(choices, session.known))
        page = page_of(choices, session.known)
        self.query_one(PageView).show(replace(page, why=f"{self.purpose} {page.why}".strip()))
        self.query_one(OptionList).focus()
        self.call_after_refresh(self.refresh_bindings)

    def drive(self, steps: Steps, answer: Any = None, error: Exception | None = None) -> None:
        try:
            request = steps.throw(error) if error else steps.send(answer)
        except StopIteration:
            self._leave_browser(steps)
            self.show()
        except Exception as failed:  # noqa: BLE001  whatever goes wrong is told in the dialog, never lost
            self._leave_browser(steps)
            self.work_failed(failed)
        else:
            self._ask(steps, request)

    def _ask(self, steps: Steps, request: Any) -> None:
        answered = partial(self.drive, steps)

        def given(answer: Any) -> None:
            if answer is None or answer is False:
                steps.close()
            else:
                answered(answer)

        if not isinstance(request, asked.Work | asked.Tell | BrowsedFolder):
            self._leave_browser(steps)
        match request:
            case asked.Work(job=job, doing=doing, group=group):
                self._work(steps, job, doing, group)
            case asked.Words():
                value = request.wrong or request.value
                words = AskDialog(request.heading, request.text, value=value, needed=request.needed)
                words.box.select_on_focus = not request.wrong  # which is to be mended, not typed anew
                self.app.push_screen(words, given)
            case asked.Password(target, why):
                ask_password(self, target, answered, why=why)
            case BrowsedFolder():
                self._pick(steps, request, given)
            case asked.Tell(text=text, heading=heading, yes=yes) if heading:
                dialog = ConfirmDialog(heading, text, yes=yes) if yes else MessageDialog(heading, text)
                self.app.push_screen(dialog, given if yes else answered)
            case asked.Tell(text=text):
                self.notify(text, markup=False, timeout=4)
                answered()
            case asked.MeasurementJob():
                from app.guide.run_screen import RunScreen  # noqa: PLC0415  loaded when it is first needed

                opened = replace(request, opened=lambda series_id: self.drive(self.session.opened(series_id)))
                self.app.push_screen(
                    RunScreen(opened),
                    lambda found: (self._ask if isinstance(found, asked.MeasurementJob) else self.drive)(steps, found),
                )
            case acts.Visit(name, arguments):
                steps.close()
                self.sharebench_app.visit(name, **arguments)

    def _work(self, steps: Steps, job: Callable[[], Any], doing: str, group: str) -> None:
        def done(found: tuple[Any, Exception | None]) -> None:
            if doing:
                self.query_one(PageView).doing("")
            self.drive(steps, *found)

        if doing:
            self.query_one(PageView).doing(f"{doing} …")
        self.in_background(partial(_outcome, job), done, group=group or "notebook", exclusive=bool(group))

    def _pick(self, steps: Steps, place: BrowsedFolder, picked: Callable[[Any], None]) -> None:
        def left(item: Any) -> None:
            self._browser = None
            picked(item)

        if self._browser is not None:
            self._browser[1].show(place)
        else:
            self._browser = steps, BrowseScreen(place, partial(self.drive, steps))
            self.app.push_screen(self._browser[1], left)

    def _leave_browser(self, steps: Steps) -> None:
        if self._browser is not None and self._browser[0] is steps:
            self._browser = None
            self.app.pop_screen()

    @on(PageView.OptionChosen)
    def _chosen(self, event: PageView.OptionChosen) -> None:
        chosen = self.session.choices.step, self.query_one(OptionList).highlighted
        if self.query_one(PageView).has_class("-doing") and chosen == self._begun:
            return  # Enter was pressed twice
        self._begun = chosen
        self.drive(self.session.do(event.option.act))

    @on(StepsView.StepChosen)
    def _step_chosen(self, event: StepsView.StepChosen) -> None:
        self.drive(self.session.go(event.step))

    @property
    def takes_text(self) -> bool:
        """Whether what is typed is a target: then no command has a letter or a digit for its key."""
        return self.session.choices.step is acts.MethodStep.TARGET

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        found = super().active_bindings
        return {key: one for key, one in found.items() if len(key) > 1} if self.takes_text else found

    def on_key(self, event: events.Key) -> None:
        """On the target's step a character begins a target; what is typed after it belongs to it."""
        if event.character and event.is_printable and not (self.is_active and event.key == _HELP_SIGN):
            self._type(event, event.character)

    def on_paste(self, event: events.Paste) -> None:
        self._type(event, event.text)

    def _type(self, event: events.Event, text: str) -> None:
        page = self.query_one(PageView).page
        if self.is_active and page is not None and self.takes_text:
            ask = next(option.act for option in page.options if isinstance(option.act, acts.Ask))
            self.drive(self.session.ask(ask, ""))
        if isinstance(dialog := self.app.screen, AskDialog):
            event.stop()
            dialog.type_on(text)

    def action_step(self, number: int) -> None:
        self.drive(self.session.go(acts.STEPS[number - 1]))

    def action_back(self) -> None:
        session = self.session
        is_first = session.choices.step is acts.STEPS[0] and not session.has_just_begun
        if is_first or session.choices == self.came_with:
            super().action_back()
        else:
            self.drive(session.back())

    def action_forward(self) -> None:
        self.drive(self.session.go_by(1))

    def action_new(self) -> None:
        self.take(acts.new_measurement(self.session.choices))

    def action_undo(self) -> None:
        if self.session.judgements:
            self.drive(self.session.undo())

    def action_reject(self) -> None:
        self.query_one(PageView).choose()

    def action_more(self) -> None:
        text = self.query_one("#page-text", VerticalScroll)
        if text.scroll_offset.y >= text.max_scroll_y:
            text.scroll_home(animate=False)
        else:
            text.scroll_page_down(animate=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "undo":
            return bool(self.session.judgements)
        if action == "new":
            return self.session.choices != acts.new_measurement(self.session.choices)
        if action == "step":
            return not self.takes_text
        if action == "more":
            return any(text.max_scroll_y > 0 for text in self.query("#page-text"))
        if action == "reject":
            pointed = self.query_one(PageView).pointed if self.query(PageView) else None
            return pointed is not None and isinstance(pointed.act, acts.Judge)
        return super().check_action(action, parameters)

    def work_failed(self, error: Exception) -> None:
        self.query_one(PageView).doing("")
        super().work_failed(error)


def _outcome(job: Callable[[], Any]) -> tuple[Any, Exception | None]:
    try:
        return job(), None
    except Exception as error:  # noqa: BLE001  the session says what becomes of it
        return None, error
