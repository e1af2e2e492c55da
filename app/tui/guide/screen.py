"""The guide: the method's steps on the left, the open one beside them."""

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import OptionList

from app.tui.frame.commands import KeyCommand, keys
from app.tui.frame.dialogs import AskDialog
from app.tui.frame.parts import KeyBar
from app.tui.guide.actions import GuideActions
from app.tui.guide.views import PageView, StepsView
from app.tui.widgets.views import ZOOM, ChartView, ZoomsCharts
from app.workflows.guide import known as store
from app.workflows.guide.choices import STEPS, Ask, GuideChoices, MethodStep, at, new_measurement
from app.workflows.guide.known import GuideContext, blocked, standings, step_before
from storage.records import SeriesStatus


class GuideScreen(GuideActions, ZoomsCharts):
    """Leads through the method; every choice is kept in the notebook the moment it is made."""

    KEYS: ClassVar = (
        *keys("guide.back guide.forward guide.new guide.more guide.reject"),
        ZOOM,
        *keys("guide.undo"),
        *(
            KeyCommand(
                f"guide.step-{number}",
                str(number),
                f"Step {number}",
                "Go to the step of that number, where nothing blocks it.",
                action=f"step({number})",
                hidden=True,
            )
            for number in range(1, len(STEPS) + 1)
        ),
    )
    HINTS: ClassVar = {"page-options": "What can be chosen in this step. Enter takes it; ★ is advised."}

    begins_anew = False
    """Whether a round that was measured is left for a new one, once the screen shows."""

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield StepsView(id="steps")
            yield PageView(id="page")
        yield KeyBar()

    def on_mount(self) -> None:
        practice = self.context.practice
        self.with_notebook(lambda notebook: store.recall(notebook, practice), self._recalled)

    def _recalled(self, found: tuple[GuideChoices, GuideContext]) -> None:
        self.choices, self.known = found
        if self.begins_anew:
            self._show_again()
        else:
            self.show()
        self.look_at_link()

    def on_screen_resume(self) -> None:
        if self.query("#page-options") and self.query_one(PageView).page is not None:
            self._show_again()

    def _show_again(self) -> None:
        series, anew = self.known.series, self.begins_anew
        self.begins_anew = False
        is_over = series is not None and series.status is SeriesStatus.COMPLETE
        self.take(new_measurement(self.choices) if anew and is_over else self.choices)

    def show(self) -> None:
        from app.workflows.guide.after_run import page_of  # noqa: PLC0415  the first paint does not wait for what computes

        self.query_one(StepsView).show(standings(self.choices, self.known))
        self.query_one(PageView).show(page_of(self.choices, self.known))
        self.query_one(OptionList).focus()
        self.call_after_refresh(self.refresh_bindings)

    @on(PageView.OptionChosen)
    def _chosen(self, event: PageView.OptionChosen) -> None:
        if event.option.act is not None:
            self.do(event.option.act)

    @on(StepsView.StepChosen)
    def _step_chosen(self, event: StepsView.StepChosen) -> None:
        self._go(event.step)

    def on_key(self, event: events.Key) -> None:
        """On the target's step, a character that is no key begins a target; what is typed after it belongs to it."""
        if event.character and event.is_printable and (not self.is_active or event.key not in self.active_bindings):
            self._type(event, event.character)

    def on_paste(self, event: events.Paste) -> None:
        self._type(event, event.text)

    def _type(self, event: events.Event, text: str) -> None:
        page = self.query_one(PageView).page
        if self.is_active and page is not None and self.choices.step is MethodStep.TARGET:
            self._ask(next(option.act for option in page.options if isinstance(option.act, Ask)), "")
        if isinstance(dialog := self.app.screen, AskDialog):
            event.stop()
            dialog.type_on(text)

    def _go(self, step: MethodStep) -> None:
        why = blocked(self.choices, self.known, step)
        if why is None:
            self.take(at(self.choices, step))
        else:
            self.notify(f"{step}: {why}", severity="warning", markup=False, timeout=4)

    def action_step(self, number: int) -> None:
        self._go(STEPS[number - 1])

    def action_back(self) -> None:
        before = step_before(self.choices.step)
        if before is None:
            super().action_back()
        else:
            self._go(before)

    def action_forward(self) -> None:
        place = STEPS.index(self.choices.step)
        if place + 1 < len(STEPS):
            self._go(STEPS[place + 1])

    def action_new(self) -> None:
        self.take(new_measurement(self.choices))

    def action_undo(self) -> None:
        if not self.judgements:
            return
        judgement = self.judgements.pop()
        self.with_notebook(lambda notebook: store.take_back(notebook, judgement), lambda _: self.take(self.choices))

    def action_reject(self) -> None:
        self.query_one(PageView).choose()

    def action_more(self) -> None:
        self.query_one(PageView).read_on()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "undo":
            return bool(self.judgements)
        if action == "zoom":
            return bool(self.query(ChartView)) and self.query_one(ChartView).display
        if action == "reject":
            return bool(self.query(PageView)) and self.query_one(PageView).is_on_run
        return super().check_action(action, parameters)

    def work_failed(self, error: Exception) -> None:
        self.query_one(PageView).doing("")
        super().work_failed(error)
