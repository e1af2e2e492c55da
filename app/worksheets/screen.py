"""The worksheets on the screen, which calculate as one types."""

from dataclasses import replace
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
from app.tui.widgets.asking import FormLine, input_lines, typed_count
from app.tui.widgets.reading import Copies
from app.tui.widgets.views import AnsiView
from app.worksheets.prediction import group_from, read_part, read_rate
from forms.exporters.text import report_text
from forms.report import Report
from forms.wording import plain
from forms.worksheets.report import to_record, worksheet_report
from forms.worksheets.summary import BottleneckCalculation, Machine, ReferenceKind, UsersCalculation, way_to


class WorksheetScreen(Copies):
    HEADING: ClassVar[str]
    LINES: ClassVar[tuple[FormLine, ...]]
    KEYS = keys("worksheet.export")

    def __init_subclass__(cls, inherit_css: bool = True, inherit_bindings: bool = True) -> None:
        cls.HINTS = {line.key: f"{line.name}: {line.hint}." for line in cls.LINES}
        super().__init_subclass__(inherit_css=inherit_css, inherit_bindings=inherit_bindings)

    def read(self, typed: dict[str, str]) -> BottleneckCalculation | UsersCalculation | None:
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        with Pane(f"sharebench · {self.HEADING}", id="filling-pane"):
            yield from input_lines(self.LINES)
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
        try:
            filled = self.read({box.id or "": box.value.strip() for box in self.query(Input)})
        except UsageError as error:
            hint.update(Content(plain(f"! {error}")))
            return
        hint.update("" if filled else "Fill in what is known.")
        report = self.report = worksheet_report(to_record(filled, "")) if filled else None
        self.query_one("#result", AnsiView).show(lambda width, _height: _text(report, width) if report else "")

    @on(Input.Submitted)
    def key_down(self) -> None:
        self.focus_next()

    def key_up(self) -> None:
        self.focus_previous()


def _text(report: Report, width: int) -> str:
    answer = report_text(replace(report, fields=(), tables=()), width=width, ansi=True)
    way = report_text(replace(report, title="", results=(), advice=(), drawn=()), width=width, ansi=True)
    return f"{answer}\n{way.lstrip()}"


_PART = "a rate (118MB, 70ops), or a name: 4 x SATA SSD; empty: no limit"


class BottleneckScreen(WorksheetScreen):
    """The least of CPU, disks and networks (Using Samba, table B-8)."""

    HEADING = "Bottleneck"
    LINES = (
        FormLine(ReferenceKind.CPU, "CPU", _PART),
        FormLine(ReferenceKind.DISK, "Disk", _PART, "HDD 7200 RPM"),
        FormLine(ReferenceKind.NETWORK, "Network", _PART, "1 Gb/s Ethernet"),
        FormLine("aim", "Aim", "bytes per second that it should move, such as 500MB: shows the steps"),
    )

    def read(self, typed: dict[str, str]) -> BottleneckCalculation | None:
        machine = Machine(name="as it is")
        for kind in ReferenceKind:
            if typed[kind]:
                number, several, name = typed[kind].partition(" x ")
                count = typed_count(kind.value.capitalize(), number, 999_999) if several else 1
                machine = machine.with_part(kind, read_part(kind, name or number, count))
        if not machine.parts:
            return None
        machines = way_to(machine, read_rate(typed["aim"])) if typed["aim"] else [machine]
        return BottleneckCalculation(machines=tuple(machines))


_GROUP = "office=36:2.3:12KB: 36 clients, 2.3 files of 12 kB a second each"


class ClientsScreen(WorksheetScreen):
    HEADING = "Clients"
    LINES = (
        FormLine("capacity", "Server", "bytes per second that it moves, such as 112MB"),
        *(FormLine(f"group-{number}", f"Group {number}", _GROUP) for number in range(1, 6)),
    )

    def read(self, typed: dict[str, str]) -> UsersCalculation | None:
        if not typed["capacity"]:
            return None
        groups = [typed[line.key] for line in self.LINES[1:]]
        return UsersCalculation(
            capacity_bytes_per_second=read_rate(typed["capacity"]),
            groups=tuple(group_from(words, number) for number, words in enumerate(groups, 1) if words),
        )
