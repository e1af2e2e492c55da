"""The way from other screens into the guide, with choices that were made there."""

from typing import TYPE_CHECKING

from app.tui.frame.base import BaseScreen

if TYPE_CHECKING:
    from app.workflows.guide.state.choices import GuideChoices


class MeasureMixin(BaseScreen):
    """A screen from which one goes on to measure."""

    def measure_with(self, choices: "GuideChoices") -> None:
        """Go to the guide; one that is open takes these choices up, a new one remembers them."""
        from app.tui.guide.screen import GuideScreen  # noqa: PLC0415  loaded when it is first gone to

        open_guide = next(
            (screen for screen in self.sharebench_app.screen_stack if isinstance(screen, GuideScreen)), None
        )
        self.sharebench_app.visit("guide")
        if open_guide is not None:
            open_guide.take(choices)
