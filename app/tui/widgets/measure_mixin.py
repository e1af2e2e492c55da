"""The way from other screens into the guide, with choices that were made there."""

from dataclasses import replace
from typing import TYPE_CHECKING

from app.tui.frame.base import BaseScreen

if TYPE_CHECKING:
    from app.tui.guide.screen import GuideScreen
    from app.workflows.guide.choices import GuideChoices
    from app.workflows.guide.rounds import NextStep
    from forms.comparison.comparison import Comparison


class MeasureMixin(BaseScreen):
    def measure_with(self, choices: "GuideChoices") -> None:
        open_guide = self._open_guide()
        self.sharebench_app.visit("guide")
        if open_guide is not None:
            open_guide.take(choices)

    def tell_guide_of_name(self, experiment: str, new_name: str) -> None:
        open_guide = self._open_guide()
        if open_guide is not None and open_guide.session.choices.experiment == experiment:
            open_guide.session.choices = replace(open_guide.session.choices, experiment=new_name)

    def take_step(self, step: "NextStep") -> None:
        if step.screen:
            screen, arguments = step.screen, step.arguments
            if step.choices is None:
                self.sharebench_app.visit(screen, **arguments)
            else:
                self.with_notebook(step.choices, lambda _: self.sharebench_app.visit(screen, **arguments))
        elif step.choices is not None:
            self.with_notebook(step.choices, self.measure_with)

    def settle(self, found: "Comparison | None") -> None:
        from app.workflows.guide.rounds import after_comparison  # noqa: PLC0415  loaded when it is first needed
        from forms.stats.settle import Way  # noqa: PLC0415  as above

        if found is None or found.known:
            self.notify("There is a verdict: nothing is left to settle.")
        elif found.settle is not None and found.settle.way is Way.INTERLEAVED:
            self.notify(f"On the command line: {found.settle.command_text}", title="No key does this", timeout=30)
        else:
            self.take_step(next(iter(after_comparison(found))))

    def _open_guide(self) -> "GuideScreen | None":
        from app.tui.guide.screen import GuideScreen  # noqa: PLC0415  loaded when it is first gone to

        return next((screen for screen in self.app.screen_stack if isinstance(screen, GuideScreen)), None)
