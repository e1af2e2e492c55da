"""The guide on the screen: the steps of the method on the left, and the page of the open one."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import ActiveBinding
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import OptionList

from app.clients.browsing import BrowsedFolder
from app.guide import needs, page_view
from app.guide import page as guide_page
from app.guide.browse_screen import BrowseScreen
from app.guide.session import GuideSession, Steps
from app.guide.steps import standings
from app.method import choices as method_choices
from app.recording.several import used_targets
from app.tui.frame import commands, dialogs
from app.tui.frame.base import BaseScreen
from app.tui.frame.key_bar import KeyBar
from app.tui.widgets.logins import ask_password
from app.tui.widgets.views import ZoomsCharts
from storage.records import SeriesStatus

_STEP_HELP = "Go to the step of that number, where nothing blocks it."
_HELP_SIGN = "question_mark"
"""No target begins with it."""


def _step_key(number: int) -> commands.KeyCommand:
    return commands.KeyCommand(
        f"guide.step-{number}", f"{number}", f"Step {number}", _STEP_HELP, action=f"step({number})", hidden=True
    )


class GuideScreen(BaseScreen, ZoomsCharts):
    KEYS: ClassVar = (
        *commands.keys("guide.back guide.forward guide.new guide.more guide.reject chart.zoom guide.undo"),
        *(_step_key(number) for number in range(1, len(method_choices.STEPS) + 1)),
    )
    begins_anew = False
    """Whether a round that was measured is left for a new one, once the screen shows."""
    came_with: method_choices.GuideChoices | None = None
    """What another screen opened the guide with; Escape leads back there until something is chosen."""
    purpose = ""
    """For what other screen a target and a file are chosen here, in a sentence; it is dismissed once they are."""
    session: GuideSession
    _browser: tuple[Steps, BrowseScreen] | None = None
    _begun: tuple[method_choices.MethodStep, int | None] | None = None
    """The step and the choice that was taken last."""

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield page_view.StepsView(id="steps")
            yield page_view.PageView(id="page")
        yield KeyBar()

    def on_mount(self) -> None:
        context = self.context
        targets = partial(used_targets, pointed=context.pointed)
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
        if self.query("#page-options") and self.query_one(page_view.PageView).page is not None:
            self._show_again()

    def _show_again(self) -> None:
        session = self.session
        begins_anew = self.begins_anew
        self.begins_anew = False

        series = session.known.series
        is_over = series is not None and series.status is SeriesStatus.COMPLETE
        self.take(method_choices.new_measurement(session.choices) if begins_anew and is_over else session.choices)
        if begins_anew:
            session.left_rounds.clear()

    def take(self, choices: method_choices.GuideChoices) -> None:
        self.drive(self.session.take(choices))

    def show(self) -> None:
        from app.guide.pages.steps import page_of

        choices = self.session.choices
        if self.purpose and choices.run_bytes is not None and choices.step not in method_choices.STEPS[:2]:
            self.dismiss(result=True)
            return

        self.query_one(page_view.StepsView).show(standings(choices, self.session.known))
        page = page_of(choices, self.session.known)
        self.query_one(page_view.PageView).show(replace(page, why=f"{self.purpose} {page.why}".strip()))
        self.query_one(OptionList).focus()
        self.call_after_refresh(self.refresh_bindings)

    # What the session's steps need

    def drive(self, steps: Steps, answer: Any = None, error: Exception | None = None) -> None:
        """Drive the steps to what they need next, by the answer to their last need, or its error."""
        try:
            need = steps.throw(error) if error else steps.send(answer)
        except StopIteration:
            self._leave_browser(steps)
            self.show()
        except Exception as failure:  # noqa: BLE001  whatever goes wrong is told in the dialog, never lost
            self._leave_browser(steps)
            self.work_failed(failure)
        else:
            self._meet_need(steps, need)

    def _meet_need(self, steps: Steps, need: Any) -> None:
        answer = partial(self.drive, steps)

        def answer_or_close(result: Any) -> None:
            if result is None or result is False:
                steps.close()
            else:
                answer(result)

        if not isinstance(need, needs.Work | needs.Tell | BrowsedFolder):
            self._leave_browser(steps)
        match need:
            case needs.Work(job=job, doing=doing, group=group):
                self._work(steps, job, doing, group)
            case needs.Words():
                self._ask_words(need, answer_or_close)
            case needs.Password(target, why):
                ask_password(self, target, answer, why=why)
            case BrowsedFolder():
                self._pick(steps, need, answer_or_close)
            case needs.Tell(text=text, heading=heading, yes=yes) if heading:
                dialog = dialogs.ConfirmDialog(heading, text, yes=yes) if yes else dialogs.MessageDialog(heading, text)
                self.app.push_screen(dialog, answer_or_close if yes else answer)
            case needs.Tell(text=text):
                self.notify(text, markup=False, timeout=4)
                answer()
            case needs.MeasurementJob():
                self._measure(steps, need)
            case guide_page.Visit(name, arguments):
                steps.close()
                self.sharebench_app.visit(name, **arguments)

    def _work(self, steps: Steps, job: Callable[[], Any], doing: str, group: str) -> None:
        def answer(outcome: tuple[Any, Exception | None]) -> None:
            if doing:
                self.query_one(page_view.PageView).doing("")
            result, error = outcome
            self.drive(steps, result, error)

        if doing:
            self.query_one(page_view.PageView).doing(f"{doing} …")
        self.in_background(partial(_outcome, job), answer, group=group or "notebook", exclusive=bool(group))

    def _ask_words(self, words: needs.Words, answer: Callable[[Any], None]) -> None:
        dialog = dialogs.AskDialog(words.heading, words.text, value=words.wrong or words.value, needed=words.needed)
        # What was wrong is to be mended, not typed anew.
        dialog.box.select_on_focus = not words.wrong
        self.app.push_screen(dialog, answer)

    def _measure(self, steps: Steps, job: needs.MeasurementJob) -> None:
        from app.guide.run_screen import RunScreen

        def remember_series(series_id: str) -> None:
            self.drive(self.session.remember_series(series_id))

        def answer(result: Any) -> None:
            if isinstance(result, needs.MeasurementJob):
                # The same with another password.
                self._meet_need(steps, result)
            else:
                self.drive(steps, result)

        self.app.push_screen(RunScreen(replace(job, opened=remember_series)), answer)

    def _pick(self, steps: Steps, place: BrowsedFolder, answer: Callable[[Any], None]) -> None:
        def leave(item: Any) -> None:
            self._browser = None
            answer(item)

        if self._browser is not None:
            _, browser = self._browser
            browser.show(place)
            return
        browser = BrowseScreen(place, partial(self.drive, steps))
        self._browser = steps, browser
        self.app.push_screen(browser, leave)

    def _leave_browser(self, steps: Steps) -> None:
        if self._browser is not None and self._browser[0] is steps:
            self._browser = None
            self.app.pop_screen()

    # What the user does

    @on(page_view.PageView.OptionChosen)
    def _option_chosen(self, event: page_view.PageView.OptionChosen) -> None:
        chosen = (self.session.choices.step, self.query_one(OptionList).highlighted)
        if self.query_one(page_view.PageView).has_class("-doing") and chosen == self._begun:
            return  # Enter was pressed twice
        self._begun = chosen
        self.drive(self.session.do(event.option.act))

    @on(page_view.StepsView.StepChosen)
    def _step_chosen(self, event: page_view.StepsView.StepChosen) -> None:
        self.drive(self.session.go(event.step))

    @property
    def takes_text(self) -> bool:
        """Whether what is typed is a target: then no command has a letter or a digit for its key."""
        return self.session.choices.step is method_choices.MethodStep.TARGET

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        bindings = super().active_bindings
        if not self.takes_text:
            return bindings
        return {key: binding for key, binding in bindings.items() if len(key) > 1}

    def on_key(self, event: events.Key) -> None:
        """On the target's step a character begins a target; what is typed after it belongs to it."""
        if event.character and event.is_printable and not (self.is_active and event.key == _HELP_SIGN):
            self._type(event, event.character)

    def on_paste(self, event: events.Paste) -> None:
        self._type(event, event.text)

    def _type(self, event: events.Event, text: str) -> None:
        page = self.query_one(page_view.PageView).page
        if self.is_active and page is not None and self.takes_text:
            ask_target = next(option.act for option in page.options if isinstance(option.act, guide_page.Ask))
            self.drive(self.session.ask(ask_target, ""))
        if isinstance(dialog := self.app.screen, dialogs.AskDialog):
            event.stop()
            dialog.type_on(text)

    def action_step(self, number: int) -> None:
        self.drive(self.session.go(method_choices.STEPS[number - 1]))

    def action_back(self) -> None:
        session = self.session
        is_first = session.choices.step is method_choices.STEPS[0] and not session.has_just_begun
        if is_first or session.choices == self.came_with:
            super().action_back()
        else:
            self.drive(session.back())

    def action_forward(self) -> None:
        self.drive(self.session.go_by(1))

    def action_new(self) -> None:
        self.take(method_choices.new_measurement(self.session.choices))

    def action_undo(self) -> None:
        if self.session.judgements:
            self.drive(self.session.undo())

    def action_reject(self) -> None:
        self.query_one(page_view.PageView).choose()

    def action_more(self) -> None:
        text = self.query_one("#page-text", VerticalScroll)
        if text.scroll_offset.y >= text.max_scroll_y:
            text.scroll_home(animate=False)
        else:
            text.scroll_page_down(animate=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "undo":
                return bool(self.session.judgements)
            case "new":
                return self.session.choices != method_choices.new_measurement(self.session.choices)
            case "step":
                return not self.takes_text
            case "more":
                return any(text.max_scroll_y > 0 for text in self.query("#page-text"))
            case "reject":
                pointed = self.query_one(page_view.PageView).pointed if self.query(page_view.PageView) else None
                return pointed is not None and isinstance(pointed.act, guide_page.Judge)
        return super().check_action(action, parameters)

    def work_failed(self, error: Exception) -> None:
        self.query_one(page_view.PageView).doing("")
        super().work_failed(error)


def _outcome(job: Callable[[], Any]) -> tuple[Any, Exception | None]:
    try:
        return job(), None
    except Exception as error:  # noqa: BLE001  the session says what becomes of it
        return None, error
