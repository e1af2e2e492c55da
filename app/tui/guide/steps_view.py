"""The steps of the method down the left, each with its state."""

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.message import Message
from textual.widget import Widget

from app.tui.guide.state.choices import MethodStep
from app.tui.guide.state.method import StepState, StepStatus


class StepsView(Widget):
    """Sign, number and name of each step; what was chosen or what blocks it below."""

    ABOUT = "The steps of the method. The digits 1 to 8 go to a step."
    DEFAULT_CSS = """
    StepsView { width: 30; height: 1fr; padding: 0 1; border-right: solid $panel; }
    """

    class StepChosen(Message):
        """A step was clicked."""

        def __init__(self, step: MethodStep) -> None:
            super().__init__()
            self.step = step

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self.steps: Sequence[StepStatus] = ()

    def show(self, steps: Sequence[StepStatus]) -> None:
        """Draw each step with this state."""
        self.steps = steps
        self.refresh()

    @property
    def lines_each(self) -> int:
        """Lines that a step takes: two where there is room for its detail."""
        return 3 if self.size.height >= 3 * len(self.steps) else 2 if self.size.height >= 2 * len(self.steps) else 1

    def render(self) -> Text:
        """The steps, a line or two each."""
        text = Text(no_wrap=True, end="")
        width = self.content_size.width
        for standing in self.steps:
            style = {StepState.CURRENT: "bold reverse", StepState.BLOCKED: "dim"}.get(standing.state, "")
            text.append_text(_line(f"{standing.state.sign} {standing.number} {standing.title}", width, style))
            for extra in range(1, self.lines_each):
                text.append_text(_line(f"  {standing.detail}" if extra == 1 else "", width, "dim"))
        return text

    def on_click(self, event: events.Click) -> None:
        """Go to the step that was clicked."""
        place = event.get_content_offset(self)
        if place is not None and 0 <= place.y // self.lines_each < len(self.steps):
            self.post_message(self.StepChosen(self.steps[place.y // self.lines_each].step))


def _line(text: str, width: int, style: str) -> Text:
    line = Text(text, style)
    line.truncate(width, overflow="ellipsis", pad=True)
    line.append("\n")
    return line
