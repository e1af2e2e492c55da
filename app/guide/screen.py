"""The guide on the screen: the steps of the method on the left, and the page of the open one."""

from dataclasses import replace
from functools import partial
from math import inf
from time import monotonic
from typing import ClassVar, NamedTuple

from textual import containers, events, on
from textual.app import ComposeResult
from textual.binding import ActiveBinding

from app.guide import needs, page_view, steps_view
from app.guide.driven_screen import DrivenScreen
from app.guide.pages.beside import ask_other
from app.guide.session import GuideSession
from app.guide.steps import standings, why_blocked
from app.method import choices as method_choices
from app.recording.several import used_targets
from app.tui.frame import commands
from app.tui.frame.key_bar import KeyBar
from app.tui.widgets.views import ZoomsCharts

_STEP_HELP = "Go to the step of that number, where nothing blocks it."
_HELP_SIGN = "question_mark"
"""No target begins with it."""
_FIRST_STEP = 1
_OTHER_STEPS = frozenset(str(number) for number in range(_FIRST_STEP + 1, len(method_choices.STEPS) + 1))
"""Keys that lead from the first step, where a target is typed, to another one."""
_TYPED_ON_SECONDS = 2.0
"""Within this time a digit belongs to the address whose first ones were typed before it."""


class _RefusedDigits(NamedTuple):
    """Digits that were pressed one after the other for steps that cannot be opened yet, and when the last one was."""

    digits: str = ""
    at: float = -inf


def _step_key(number: int) -> commands.KeyCommand:
    return commands.KeyCommand(
        f"guide.step-{number}", f"{number}", f"Step {number}", _STEP_HELP, action=f"step({number})", hidden=True
    )


class GuideScreen(DrivenScreen, ZoomsCharts):
    """The guide: what the user does is answered by steps of the ``session``, which are driven until they need nothing.

    ``drive`` of `DrivenScreen` has done what steps need (a question, a look at a server, a measurement), and calls
    ``show`` when they have ended. While a measurement or its result is awaited, no key of a page does anything.
    ``begins_anew``, ``came_with`` and ``purpose`` are set by whoever opens the guide.
    """

    KEYS: ClassVar = (
        *commands.keys("guide.back guide.forward guide.new guide.more guide.reject chart.zoom guide.undo"),
        *(_step_key(number) for number in range(1, len(method_choices.STEPS) + 1)),
    )
    begins_anew = False
    """Whether a round that was measured is left for a new one, once the screen shows; then false again."""
    came_with: method_choices.GuideChoices | None = None
    """What another screen opened the guide with; Escape leads back there until something is chosen."""
    compares_with = ""
    """The target, as typed, that what another screen opened the guide with is to be compared with; empty for none."""
    purpose = ""
    """For what other screen a target and a file are chosen here, in a sentence; it is dismissed once they are."""
    _refused = _RefusedDigits()
    _begun: tuple[method_choices.MethodStep, int | None] | None = None
    """The step of the choice that was taken last, and its place on the page: to know a second Enter on it."""

    def compose(self) -> ComposeResult:
        with containers.Horizontal():
            yield steps_view.StepsView(id="steps")
            yield page_view.PageView(id="page")
        yield KeyBar()

    def on_mount(self) -> None:
        context = self.context
        targets = partial(used_targets, pointed=context.pointed)
        self.session = GuideSession(context.notebook_path, context.backend, context.logins, context.practice, targets)
        self.drive(self._begin())

    def _begin(self) -> needs.Steps:
        """Show the page of the stored choices at once, and again when the link to their target was looked at."""
        yield from self.session.recall()
        if self.begins_anew:
            self._show_again()
        else:
            self.show()
        yield from self.session.look_at_link()
        if self.compares_with:
            yield from self.session.ask(ask_other(self.session.choices), answer=self.compares_with)

    def on_screen_resume(self) -> None:
        if self.is_result_awaited:
            return  # its steps show the page
        if self.query("#page-options") and self.query_one(page_view.PageView).page is not None:
            self._show_again()

    def _show_again(self) -> None:
        """Read again what is known, which other screens may have changed, and show the page."""
        session = self.session
        begins_anew = self.begins_anew
        self.begins_anew = False

        choices = session.choices
        if begins_anew and session.has_complete_series:
            choices = method_choices.new_measurement(choices)
        self.take(choices)
        if begins_anew:
            session.left_rounds.clear()

    def take(self, choices: method_choices.GuideChoices) -> None:
        """Continue from these choices, as another screen or a key has made them."""
        self._measuring_steps = None  # where they still read their result, they are silenced
        self.drive(self.session.take(choices))

    def take_beside(self, choices: method_choices.GuideChoices, typed: str) -> None:
        """As ``take``, and reach the target, as typed, that these choices are to be compared with."""
        self._measuring_steps = None
        self.drive(self.session.take_beside(choices, ask_other(choices), typed))

    def show(self) -> None:
        """Show the page of the session's choices, or answer whoever opened the guide for a target and a file."""
        from app.guide.pages.steps import page_of

        choices = self.session.choices
        # Whoever opened it for a target and a file has both once a step after theirs is open.
        if self.purpose and choices.run_bytes is not None and choices.step not in method_choices.STEPS[:2]:
            self.dismiss(result=True)
            return

        self.query_one(steps_view.StepsView).show(standings(choices, self.session.known))
        page = page_of(choices, self.session.known)
        self.query_one(page_view.PageView).show(replace(page, why=f"{self.purpose} {page.why}".strip()))
        self.query_one(page_view.PageView).focus_choices()
        self._show_keys()

    def _show_keys(self) -> None:
        """On a page with runs, leaving one out is among the keys that always have room."""
        has_runs = bool(self.query_one(page_view.PageView).runs)
        self.query_one(KeyBar).put_first(*(["reject"] if has_runs else []))
        self.call_after_refresh(self.refresh_bindings)

    # What the user does

    @on(page_view.PageView.OptionChosen)
    def _option_chosen(self, event: page_view.PageView.OptionChosen) -> None:
        chosen = (self.session.choices.step, self.query_one(page_view.PageView).pointed_place)
        if self.query_one(page_view.PageView).has_class("-doing") and chosen == self._begun:
            return  # Enter was pressed twice
        self._begun = chosen
        self.drive(self.session.do(event.option.act))

    @on(steps_view.StepsView.StepChosen)
    def _step_chosen(self, event: steps_view.StepsView.StepChosen) -> None:
        self.drive(self.session.jump(event.step))

    @property
    def takes_text(self) -> bool:
        """Whether what is typed is a target: then no command but those of other steps has a character for its key."""
        return self.session.choices.step is method_choices.MethodStep.TARGET

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        bindings = super().active_bindings
        if not self.takes_text:
            return bindings
        return {key: binding for key, binding in bindings.items() if len(key) > 1 or key in _OTHER_STEPS}

    def on_key(self, event: events.Key) -> None:
        """On the target's step a character begins a target, unless it is another step's; what follows belongs to it."""
        if not event.character or not event.is_printable:
            return
        is_step = self.is_active and self.takes_text and event.key in _OTHER_STEPS
        is_help = self.is_active and event.key == _HELP_SIGN
        if not (is_step or is_help):
            self._type(event, self._digits_before(event.character) + event.character)

    def _digits_before(self, character: str) -> str:
        """The digits of an address that were taken for those of steps, none of which could be opened."""
        refused = self._refused
        self._refused = _RefusedDigits()
        belongs_to_address = character.isdigit() or character == "."
        is_typed_on = monotonic() - refused.at < _TYPED_ON_SECONDS
        return refused.digits if belongs_to_address and is_typed_on else ""

    def on_paste(self, event: events.Paste) -> None:
        self._type(event, event.text)

    def _type(self, event: events.Event, text: str) -> None:
        page = self.query_one(page_view.PageView).page
        if self.is_active and page is not None and self.takes_text:
            self.drive(self.session.ask(page.question, ""))
        self.type_on(event, text)

    def action_step(self, number: int) -> None:
        step = method_choices.STEPS[number - 1]
        if self.takes_text and why_blocked(self.session.choices, self.session.known, step):
            self._refused = _RefusedDigits(digits=f"{self._refused.digits}{number}", at=monotonic())
        self.drive(self.session.jump(step))

    def action_back(self) -> None:
        """Back in the guide; out of it from the first step, and from what another screen has opened it with."""
        text = self.query_one("#page-text", containers.VerticalScroll)
        if text.scroll_offset.y > 0:
            # Who opened more of the text wants that closed first.
            text.scroll_home(animate=False)
            return

        session = self.session
        leads_back = session.has_just_begun or session.has_jumped_here
        is_first = session.choices.step is method_choices.STEPS[0] and not leads_back
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
        """Leave out the run with the cursor, or take it back in; from elsewhere on the page, a run to choose."""
        view = self.query_one(page_view.PageView)
        pointed = view.pointed
        if pointed is not None and pointed.is_run:
            view.choose()
        else:
            self.ask_for_run()

    def action_more(self) -> None:
        text = self.query_one("#page-text", containers.VerticalScroll)
        if text.scroll_offset.y >= text.max_scroll_y:
            text.scroll_home(animate=False)
        else:
            text.scroll_page_down(animate=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self.is_result_awaited:
            return False
        match action:
            case "undo":
                return bool(self.session.judgements)
            case "new":
                return self.session.choices != method_choices.new_measurement(self.session.choices)
            case "step":
                return not self.takes_text or parameters != (_FIRST_STEP,)
            case "more":
                return any(text.max_scroll_y > 0 for text in self.query("#page-text"))
            case "reject":
                return any(view.runs for view in self.query(page_view.PageView))
        return super().check_action(action, parameters)
