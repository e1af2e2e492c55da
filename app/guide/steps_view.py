"""The list of the steps of the method, beside the page of the open one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from app.guide import steps as guide_steps
from app.method.choices import MethodStep
from forms import layout

_STEP_LOOKS = {guide_steps.StepState.CURRENT: "bold $primary", guide_steps.StepState.BLOCKED: "dim"}
_STEP_SIGNS = _STEP_LOOKS | {guide_steps.StepState.DONE: "$success"}


class StepsView(Widget):
    ABOUT = "The steps of the method. The digits 1 to 8 go to a step."

    @dataclass
    class StepChosen(Message):
        step: MethodStep

    DEFAULT_CLASSES = "pane"
    BORDER_TITLE = "sharebench"
    steps: Sequence[guide_steps.StepStatus] = ()

    def show(self, steps: Sequence[guide_steps.StepStatus]) -> None:
        self.steps = steps
        self.refresh()

    def _rows(self) -> Iterator[tuple[guide_steps.StepStatus, Content]]:
        """Each line with the step that it belongs to: its title, its detail, and blank ones where there is room."""
        width = self.content_size.width
        lines_a_step = self._lines_a_step()
        for step, detail_lines in zip(self.steps, self._details(lines_a_step), strict=True):
            title = Content.assemble(
                (f"{step.state.sign} ", _STEP_SIGNS.get(step.state, "")),
                (f"{step.number} {step.title}", _STEP_LOOKS.get(step.state, "")),
            )
            yield step, title.truncate(width, ellipsis=True)

            blank_lines = [""] * (lines_a_step - 1 - len(detail_lines))
            for line in (*detail_lines, *blank_lines):
                yield step, Content.styled(f"  {line}", "dim")

    def _lines_a_step(self) -> int:
        for lines in (3, 2):
            if self.size.height >= lines * len(self.steps):
                return lines
        return 1

    def _details(self, lines_a_step: int) -> list[list[str]]:
        """The lines of detail of each step; a detail that is the same as that of the step above is left out."""
        width = self.content_size.width
        details = ["", *(step.detail for step in self.steps)]
        new_details = [detail if detail != before else "" for before, detail in pairwise(details)]

        # Wrapped where all of it fits, else cut to the lines that each step has.
        wrapped = [layout.wrap(detail, max(1, width - 2)) if detail else [] for detail in new_details]
        if sum(max(lines_a_step, 1 + len(lines)) for lines in wrapped) <= self.size.height:
            return wrapped
        return [[layout.cut_inside(detail, width - 3)][: lines_a_step - 1] for detail in new_details]

    def render(self) -> Content:
        return Content("\n").join([line for _, line in self._rows()])

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        steps = [step for step, _ in self._rows()]
        if place is not None and 0 <= place.y < len(steps):
            self.post_message(self.StepChosen(steps[place.y].step))
