"""A worksheet on the screen: lines to type into, and the result below, anew with each letter."""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from textual import on, widgets
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content

from app.base.errors import UsageError
from app.tui.frame.commands import keys
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import Pane
from app.tui.widgets import form_lines
from app.tui.widgets.reading import Copies
from app.tui.widgets.views import AnsiView
from app.worksheets.drawing import draw_result
from forms.wording import plain
from forms.worksheets import report as worksheets_report
from forms.worksheets import summary as sheets
from forms.worksheets import users


class WorksheetScreen(Copies):
    """A worksheet: lines to type into above, and the result below, anew with each letter."""

    HEADING: ClassVar[str]
    LINES: ClassVar[tuple[form_lines.FormLine, ...]]
    KEYS = keys("worksheet.export")

    def __init_subclass__(cls, inherit_css: bool = True, inherit_bindings: bool = True) -> None:
        cls.HINTS = {line.key: f"{line.name}: {line.hint}." for line in cls.LINES}
        super().__init_subclass__(inherit_css=inherit_css, inherit_bindings=inherit_bindings)

    def parse(self, typed: Mapping[str, str]) -> sheets.BottleneckCalculation | users.UsersCalculation | None:
        """What the lines say; None while too little is known. Raises UsageError."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        with Pane(f"sharebench · {self.HEADING}", id="filling-pane"):
            yield from form_lines.input_lines(self.LINES)
            yield widgets.Static(id="hint")
        with VerticalScroll(id="result-box", can_focus=True, classes="pane") as result:
            result.border_title = "Result"
            yield AnsiView(id="result")
        yield KeyBar()

    def on_mount(self) -> None:
        with self.prevent(widgets.Input.Changed):
            for line in self.LINES:
                self.query_one(f"#{line.key}", widgets.Input).value = line.usual
        self.query(widgets.Input).first().focus()
        self.calculate()

    @on(widgets.Input.Changed)
    def calculate(self) -> None:
        hint = self.query_one("#hint", widgets.Static)
        typed = {box.id or "": box.value.strip() for box in self.query(widgets.Input)}
        try:
            calculation = self.parse(typed)
        except UsageError as error:
            hint.update(Content(plain(f"! {error}")))
            return

        result = self.query_one("#result", AnsiView)
        if calculation is None:
            self.report = None
            hint.update("Fill in what is known.")
            result.show_text("")
        else:
            self.report = worksheets_report.worksheet_report(worksheets_report.to_record(calculation, ""))
            hint.update("")
            result.show(partial(draw_result, self.report))

    @on(widgets.Input.Submitted)
    def key_down(self) -> None:
        self.focus_next()

    def key_up(self) -> None:
        self.focus_previous()
