"""How other screens begin a measurement: through the guide, whose screen is loaded by its name."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from app.tui.frame.base import BaseScreen
from app.tui.frame.screens import screen_called

if TYPE_CHECKING:
    from app.method.choices import GuideChoices
    from app.method.next_steps import NextStep


class Guide(Protocol):
    """What other screens know of the guide's screen, whose module is loaded when it is opened."""

    begins_anew: bool
    """Whether a round that was measured is left for a new one, once the screen shows."""
    came_with: "GuideChoices | None"
    """The choices that another screen opened the guide with; Escape leads back there until something is chosen."""
    purpose: str
    """For what other screen a target and a file are chosen there, in a sentence; empty for a measurement."""
    compares_with: str
    """The target, as typed, that the choices which it was opened with are to be compared with; empty for none."""
    session: Any

    def take(self, choices: "GuideChoices") -> None:
        """Show the step of these choices, from which the next measurement is made."""

    def take_beside(self, choices: "GuideChoices", typed: str) -> None:
        """As ``take``, and reach the target, as typed, that they are to be compared with."""


class MeasureMixin(BaseScreen):
    """The way from other screens into the guide, with choices that were made there.

    The guide is the screen that leads through a measurement: target, choices, run, next step. It is open once at most,
    or not at all.
    """

    def measure_with(self, choices: "GuideChoices") -> None:
        """Go to the guide, which takes these choices for the next measurement."""
        was_open = self._open_guide() is not None
        guide = self._visit_guide()
        if guide is None:
            # Something is measured now, and its screen is shown: it keeps the guide's choices.
            return
        if was_open:
            guide.take(choices)
        else:
            # A guide that opens reads its choices from the notebook, where these stand by now; Escape leads back here.
            guide.came_with = choices

    def measure_beside(self, choices: "GuideChoices", typed: str) -> None:
        """Go to the guide with choices for the next measurement, which is to be compared with a target, as typed."""
        was_open = self._open_guide() is not None
        guide = self._visit_guide()
        if guide is None:
            return
        if was_open:
            guide.take_beside(choices, typed)
        else:
            guide.came_with = choices
            guide.compares_with = typed

    def begin_measurement(self) -> None:
        """Go to the guide, where a round that was measured is left for a new one."""
        guide = self._visit_guide()
        if guide is not None:
            guide.begins_anew = True

    def _visit_guide(self) -> Guide | None:
        """Go to the guide; None where it does not come to lie on top, since something is measured."""
        self.sharebench_app.visit("guide")
        guide = self._open_guide()
        screen_on_top: object = self.app.screen
        return guide if screen_on_top is guide else None

    def choose_measurement(self, purpose: str, then: Callable[[], object]) -> None:
        """Have a target and a file chosen in a guide of its own; ``purpose`` says for what, in a sentence."""
        guide: Any = screen_called("guide").load()()
        guide.purpose = purpose
        self.ask(guide, lambda _: then())  # not called where the guide was left without both

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

        if self.sharebench_app.returned_to_measurement():
            # What is measured now keeps the guide's choices.
            return

        then = partial(self._visit_screen_of, step) if step.screen else self.measure_with
        self.with_notebook(step.choices, then)

    def _visit_screen_of(self, step: "NextStep", _choices: object = None) -> None:
        self.sharebench_app.visit(step.screen, **step.arguments)

    def _open_guide(self) -> Guide | None:
        """The guide's screen; None where it is not open."""
        kind = screen_called("guide").load()
        screens: list[Any] = [screen for screen in self.app.screen_stack if type(screen) is kind]
        return screens[0] if screens else None
