"""The bottleneck worksheet: which of CPU, disks and network limits a server, and what each step would give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Label

from app.tui.worksheets.base import WorksheetScreen, input_box, values_of
from app.tui.worksheets.picking import MeasuredComponent, PickDialog, WorksheetChoice, measured, of_measured, of_tables
from app.tui.worksheets.typed import read_count, read_part, read_rate
from forms.worksheets.bottleneck import BottleneckCalculation, Machine, Part, way_to
from forms.worksheets.reference import ReferenceKind

NAMES = {ReferenceKind.CPU: "CPU", ReferenceKind.DISK: "Disk", ReferenceKind.NETWORK: "Network"}
_NOW = "as it is"


class BottleneckScreen(WorksheetScreen):
    """The least of CPU, disks and networks (Using Samba, table B-8)."""

    ABOUT = (
        "Which part of a server limits it: what one CPU, disk or network moves, times how many there are; the total is"
        " the least of the three. Leave out what you do not know. Enter lists the tables and your own series."
    )
    KIND = "bottleneck"
    HEADING = "Bottleneck"
    HINTS: ClassVar[dict[str, str]] = {
        **{
            f"{kind.value}-what": f"What one {NAMES[kind]} moves: a name of the tables, or bytes a second such as"
            " 118MB. Enter lists the names and your own series."
            for kind in ReferenceKind
        },
        **{f"{kind.value}-count": "How many of them there are." for kind in ReferenceKind},
        "aim": "How much the server should move, in bytes a second: shows the steps that lead there.",
    }

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self.measured: dict[ReferenceKind, MeasuredComponent] = {}
        """Where a line stands for a series, or for a part of a saved worksheet."""

    def lines(self) -> ComposeResult:
        """A line a part, and one for the aim."""
        usual = {ReferenceKind.DISK: "HDD 7200 RPM", ReferenceKind.NETWORK: "1 Gb/s Ethernet"}
        for kind in ReferenceKind:
            with Horizontal(classes="filling"):
                yield Label(NAMES[kind])
                yield input_box(
                    f"{kind.value}-what", usual.get(kind, ""), "not known: leave it out, or Enter to choose"
                )
                yield input_box(f"{kind.value}-count", "1", "number", short=True)
        with Horizontal(classes="filling"):
            yield Label("Aim")
            yield input_box("aim", "", "bytes a second that it should move, such as 500MB")

    def read(self) -> BottleneckCalculation | None:
        """The machine, and the steps to the aim."""
        values = values_of(self)
        machine = Machine(name=_NOW)
        for kind in ReferenceKind:
            machine = machine.with_part(kind, self._part(kind, values))
        if not machine.parts:
            return None
        if not values["aim"].strip():
            return BottleneckCalculation(machines=(machine,))
        return BottleneckCalculation(machines=tuple(way_to(machine, read_rate(values["aim"]))))

    def _part(self, kind: ReferenceKind, values: Mapping[str, str]) -> Part | None:
        what, count = values[f"{kind.value}-what"], values[f"{kind.value}-count"]
        known = self.measured.get(kind)
        if known is not None and what == known.shown:
            return Part(
                name=known.name,
                bytes_per_second=known.bytes_per_second,
                count=read_count(count),
                source=known.source,
            )
        return read_part(kind, what, count)

    def write(self, filled: BottleneckCalculation) -> None:
        """The first machine; the last one's throughput is the aim where there are steps."""
        first, last = filled.machines[0], filled.machines[-1]
        for kind in ReferenceKind:
            part = first.part(kind)
            if part is None:
                self._fill(kind, "", 1)
                continue
            known = MeasuredComponent(part.name, part.bytes_per_second, part.source)
            self.measured[kind] = known
            self._fill(kind, known.shown, part.count)
        total = last.total_bytes_per_second if len(filled.machines) > 1 else None
        self.query_one("#aim", Input).value = "" if total is None else f"{int(total // 1000)}KB"

    def _fill(self, kind: ReferenceKind, what: str, count: int) -> None:
        self.query_one(f"#{kind.value}-what", Input).value = what
        self.query_one(f"#{kind.value}-count", Input).value = str(count)

    @on(Input.Submitted)
    def _choose(self, event: Input.Submitted) -> None:
        kind = next((kind for kind in ReferenceKind if event.input.id == f"{kind.value}-what"), None)
        if kind is None:
            self.focus_next()
        else:
            self.with_notebook(measured, lambda found: self._ask(kind, found))

    def _ask(self, kind: ReferenceKind, found: list[MeasuredComponent]) -> None:
        choices: list[WorksheetChoice[str | MeasuredComponent]] = [*of_tables(kind), *of_measured(found)]

        def answered(chosen: str | MeasuredComponent | None) -> None:
            if isinstance(chosen, MeasuredComponent):
                self.measured[kind] = chosen
            if chosen is not None:
                text = chosen.shown if isinstance(chosen, MeasuredComponent) else chosen
                self.query_one(f"#{kind.value}-what", Input).value = text

        self.sharebench_app.push_screen(PickDialog(NAMES[kind], choices), answered)
