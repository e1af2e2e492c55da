"""The steps of the method down the left, each with its state."""

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from app.workflows.guide.state.choices import MethodStep
from app.workflows.guide.state.method import StepState, StepStatus
from forms import layout

_LOOKS = {StepState.CURRENT: "bold $primary", StepState.BLOCKED: "dim"}
_SIGNS = _LOOKS | {StepState.DONE: "$text-success"}


class StepsView(Widget):
    """Sign, number and name of each step; what was chosen or what blocks it below."""

    ABOUT = "The steps of the method. The digits 1 to 8 go to a step."
    DEFAULT_CSS = """
    StepsView { width: 30; height: 1fr; }
    """

    class StepChosen(Message):
        """A step was clicked."""

        def __init__(self, step: MethodStep) -> None:
            super().__init__()
            self.step = step

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id, classes="pane")
        self.border_title = "sharebench"
        self.steps: Sequence[StepStatus] = ()

    def show(self, steps: Sequence[StepStatus]) -> None:
        self.steps = steps
        self.refresh()

    @property
    def lines_each(self) -> int:
        """Lines that a step takes: two where there is room for its detail."""
        return 3 if self.size.height >= 3 * len(self.steps) else 2 if self.size.height >= 2 * len(self.steps) else 1

    def render(self) -> Content:
        width = self.content_size.width
        lines: list[Content] = []
        told = ""
        for standing in self.steps:
            sign, words = f"{standing.state.sign} ", f"{standing.number} {standing.title}"
            line = Content.assemble((sign, _SIGNS.get(standing.state, "")), (words, _LOOKS.get(standing.state, "")))
            lines.append(line.truncate(width, ellipsis=True))
            for extra in range(1, self.lines_each):
                is_new = extra == 1 and standing.detail != told
                detail = layout.cut_inside(standing.detail, width - 3) if is_new else ""
                lines.append(Content.styled(f"  {detail}", "dim"))
            told = standing.detail
        return Content("\n").join(lines)

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        if place is not None and 0 <= place.y // self.lines_each < len(self.steps):
            self.post_message(self.StepChosen(self.steps[place.y // self.lines_each].step))
