"""How other screens begin a measurement: through the guide, whose screen is loaded by its name."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from app.tui.frame.base import BaseScreen
from app.tui.frame.screens import screen_called

if TYPE_CHECKING:
    from app.method.choices import GuideChoices
    from app.method.next_steps import NextStep


class MeasureMixin(BaseScreen):
    """The way from other screens into the guide, with choices that were made there.

    The guide is the screen that leads through a measurement: target, choices, run, next step. It is open once at most,
    or not at all.
    """

    def measure_with(self, choices: "GuideChoices") -> None:
        """Go to the guide, which takes these choices for the next measurement."""
        was_open = self._open_guide() is not None
        self.sharebench_app.visit("guide")

        guide = self._open_guide()
        if was_open and guide in self.app.screen_stack[-1:]:
            guide.take(choices)
        elif guide is not None and not was_open:
            guide.came_with = choices

    def begin_measurement(self) -> None:
        """Go to the guide, where a round that was measured is left for a new one."""
        self.sharebench_app.visit("guide")
        guide = self._open_guide()
        if guide in self.app.screen_stack[-1:]:
            guide.begins_anew = True

    def choose_measurement(self, purpose: str, then: Callable[[], object]) -> None:
        """Have a target and a file chosen in a guide of its own; ``purpose`` says for what, in a sentence."""
        guide: Any = screen_called("guide").load()()
        guide.purpose = purpose
        self.ask(guide, lambda _: then())

    def tell_guide_of_name(self, experiment: str, new_name: str) -> None:
        """Have the guide's next series belong to the experiment under its new name, where it is of that experiment."""
        guide = self._open_guide()
        if guide is None:
            return
        from app.method.choices import in_experiment

        choices = guide.session.choices
        if choices.spec.lineage.experiment == experiment:
            guide.session.choices = in_experiment(choices, new_name)

    def take_step(self, step: "NextStep") -> None:
        """Do what a next step proposes: read its choices, then go to its screen, or to the guide with the choices."""
        if step.choices is None:
            if step.screen:
                self._visit_screen_of(step)
            return

        if self.sharebench_app.leads_back():
            return  # what is measured keeps the guide's choices

        then = partial(self._visit_screen_of, step) if step.screen else self.measure_with
        self.with_notebook(step.choices, then)

    def _visit_screen_of(self, step: "NextStep", _choices: object = None) -> None:
        self.sharebench_app.visit(step.screen, **step.arguments)

    def _open_guide(self) -> Any:
        """The guide's screen; None where it is not open."""
        kind = screen_called("guide").load()
        return next((screen for screen in self.app.screen_stack if type(screen) is kind), None)
