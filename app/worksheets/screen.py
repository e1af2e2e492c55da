"""The two worksheets on the screen, bottleneck and clients, which calculate as one types.

`WorksheetScreen` has the lines to type into and the result; a worksheet says its lines and how they are read (`parse`).
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from app.base.errors import UsageError
from app.tui.frame.commands import keys
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import Pane
from app.tui.widgets import form_lines
from app.tui.widgets.reading import Copies
from app.tui.widgets.views import AnsiView
from app.worksheets import parsing
from forms.exporters.text import report_text
from forms.report import Report
from forms.wording import plain
from forms.worksheets import references, users
from forms.worksheets import report as worksheets_report
from forms.worksheets import summary as sheets

_MOST_PARTS = 999_999
_GROUPS = 5
"""Lines for groups of clients."""


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
            yield Static(id="hint")
        with VerticalScroll(id="result-box", can_focus=True, classes="pane") as result:
            result.border_title = "Result"
            yield AnsiView(id="result")
        yield KeyBar()

    def on_mount(self) -> None:
        with self.prevent(Input.Changed):
            for line in self.LINES:
                self.query_one(f"#{line.key}", Input).value = line.usual
        self.query(Input).first().focus()
        self.calculate()

    @on(Input.Changed)
    def calculate(self) -> None:
        hint = self.query_one("#hint", Static)
        typed = {box.id or "": box.value.strip() for box in self.query(Input)}
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
            result.show(partial(_draw_result, self.report))

    @on(Input.Submitted)
    def key_down(self) -> None:
        self.focus_next()

    def key_up(self) -> None:
        self.focus_previous()


def _draw_result(report: Report, width: int, _height: int) -> str:
    """The answer first, and below it the way to it."""
    answer = report_text(replace(report, fields=(), tables=()), width=width, ansi=True)
    way = report_text(replace(report, title="", results=(), advice=(), drawn=()), width=width, ansi=True)
    return f"{answer}\n{way.lstrip()}"


_PART_HINT = "a rate (118MB, 70ops), or a name: 4 x SATA SSD; empty: no limit"


class BottleneckScreen(WorksheetScreen):
    """The least of CPU, disks and networks (Using Samba, table B-8)."""

    HEADING = "Bottleneck"
    LINES = (
        form_lines.FormLine(references.ReferenceKind.CPU, "CPU", _PART_HINT),
        form_lines.FormLine(references.ReferenceKind.DISK, "Disk", _PART_HINT, "HDD 7200 RPM"),
        form_lines.FormLine(references.ReferenceKind.NETWORK, "Network", _PART_HINT, "1 Gb/s Ethernet"),
        form_lines.FormLine("aim", "Aim", "bytes per second that it should move, such as 500MB: shows the steps"),
    )

    def parse(self, typed: Mapping[str, str]) -> sheets.BottleneckCalculation | None:
        machine = sheets.Machine(name="as it is")
        for kind in references.ReferenceKind:
            if typed[kind]:
                machine = _add_part(machine, kind, typed[kind])
        if not machine.parts:
            return None

        machines = sheets.way_to(machine, parsing.read_rate(typed["aim"])) if typed["aim"] else [machine]
        return sheets.BottleneckCalculation(machines=tuple(machines))


def _add_part(machine: sheets.Machine, kind: references.ReferenceKind, text: str) -> sheets.Machine:
    """The machine with a part such as ``4 x SATA SSD``, or ``118MB``. Raises UsageError."""
    number, separator, name = text.partition(" x ")
    if not separator:
        return machine.with_part(kind, parsing.read_part(kind, text, 1))
    count = form_lines.typed_count(kind.value.capitalize(), number, _MOST_PARTS)
    return machine.with_part(kind, parsing.read_part(kind, name or number, count))


_GROUP_HINT = "office=36:2.3:12KB: 36 clients, 2.3 files of 12 kB a second each"


class ClientsScreen(WorksheetScreen):
    """How many clients a server carries, by what it moves and what groups of clients need."""

    HEADING = "Clients"
    LINES = (
        form_lines.FormLine("capacity", "Server", "bytes per second that it moves, such as 112MB"),
        *(form_lines.FormLine(f"group-{number}", f"Group {number}", _GROUP_HINT) for number in range(1, _GROUPS + 1)),
    )

    def parse(self, typed: Mapping[str, str]) -> users.UsersCalculation | None:
        if not typed["capacity"]:
            return None

        groups = [typed[line.key] for line in self.LINES[1:]]
        return users.UsersCalculation(
            capacity_bytes_per_second=parsing.read_rate(typed["capacity"]),
            groups=tuple(parsing.group_from(text, number) for number, text in enumerate(groups, 1) if text),
        )
