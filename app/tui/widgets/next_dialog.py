"""The way on from what one reads: its advice as choices that Enter takes."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Label, OptionList
from textual.widgets.option_list import Option

from app.tui.frame.base import BaseDialog
from app.tui.frame.commands import KeyCommand
from app.tui.widgets.measure_mixin import MeasureMixin

if TYPE_CHECKING:
    from app.workflows.next_steps import NextStep


class NextDialog(BaseDialog["NextStep"]):
    """What can be done next; the first is advised."""

    ABOUT = "What can be done next. Enter takes it; Escape goes back to reading."

    def __init__(self, steps: "Iterable[NextStep]") -> None:
        super().__init__(classes="dialog")
        self.steps = list(steps)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box"):
            yield Label("What next?", classes="dialog-heading")
            yield OptionList(
                *(Option(Content(f"{' ' if place else '★'} {step.name}")) for place, step in enumerate(self.steps))
            )

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.steps[event.option_index])


class GoesOn(MeasureMixin):
    """A screen to read, from which Enter leads on."""

    KEYS: ClassVar[tuple[KeyCommand, ...]] = (
        KeyCommand("screen.next", "enter", "What next", "What can be done now: a list to choose from.", footer="Next"),
    )

    def next_steps(self) -> "Iterable[NextStep]":
        """The advised one first; none while there is nothing to read."""
        raise NotImplementedError

    def action_next(self) -> None:
        if steps := list(self.next_steps()):
            self.app.push_screen(NextDialog(steps), self._go_on)

    def _go_on(self, step: "NextStep | None") -> None:
        if step is None:
            return
        if step.screen:
            screen, arguments = step.screen, step.arguments
            if step.choices is None:
                self.sharebench_app.visit(screen, **arguments)
            else:
                self.with_notebook(step.choices, lambda _: self.sharebench_app.visit(screen, **arguments))
        elif step.choices is not None:
            self.with_notebook(step.choices, self.measure_with)
