"""The bottleneck worksheet: which of CPU, disks and network limits a server, and what each step would give."""

from app.tui.worksheets.base import InputBox, WorksheetScreen, hints_of
from app.tui.worksheets.picking import MeasuredComponent
from app.tui.worksheets.typed import read_count, read_parts
from app.workflows.worksheets import read_rate
from forms.worksheets.bottleneck import BottleneckCalculation, Machine, Part, way_to
from forms.worksheets.reference import ReferenceKind

_NOW = "as it is"
_USUAL = {ReferenceKind.DISK: "HDD 7200 RPM", ReferenceKind.NETWORK: "1 Gb/s Ethernet"}


def _line(kind: ReferenceKind, name: str) -> tuple[InputBox, ...]:
    return (
        InputBox(
            id=f"{kind.value}-what",
            placeholder="not known: leave it out, or Enter to choose",
            hint=f"What one {name} moves: a name of the tables, or bytes a second such as 118MB. Enter lists the names"
            " and your own series.",
            value=_USUAL.get(kind, ""),
            choice=name,
            kind=kind,
        ),
        InputBox(
            id=f"{kind.value}-count", placeholder="number", hint="How many of them there are.", value="1", short=True
        ),
    )


class BottleneckScreen(WorksheetScreen):
    """The least of CPU, disks and networks (Using Samba, table B-8)."""

    ABOUT = (
        "Which part of a server limits it: what one CPU, disk or network moves, times how many there are; the total is"
        " the least of the three. Leave out what you do not know. Enter lists the tables and your own series."
    )
    KIND = "bottleneck"
    HEADING = "Bottleneck"
    LINES = {  # noqa: RUF012
        "CPU": _line(ReferenceKind.CPU, "CPU"),
        "Disk": _line(ReferenceKind.DISK, "Disk"),
        "Network": _line(ReferenceKind.NETWORK, "Network"),
        "Aim": (
            InputBox(
                id="aim",
                placeholder="bytes a second that it should move, such as 500MB",
                hint="How much the server should move, in bytes a second: shows the steps that lead there.",
            ),
        ),
    }
    HINTS = hints_of(LINES)

    def read(self) -> BottleneckCalculation | None:
        machine = Machine(name=_NOW)
        for kind in ReferenceKind:
            machine = machine.with_part(kind, self._part(kind))
        if not machine.parts:
            return None
        aim = self.values()["aim"]
        machines = way_to(machine, read_rate(aim)) if aim.strip() else [machine]
        return BottleneckCalculation(machines=tuple(machines))

    def _part(self, kind: ReferenceKind) -> Part | None:
        values = self.values()
        what, count = values[f"{kind.value}-what"], values[f"{kind.value}-count"]
        known = self.known(f"{kind.value}-what")
        if known is None:
            return read_parts(kind, what, count)
        return Part(
            name=known.name, bytes_per_second=known.bytes_per_second, count=read_count(count), source=known.source
        )

    def write(self, filled: BottleneckCalculation) -> None:
        """The first machine; the last one's throughput is the aim where there are steps."""
        first, last = filled.machines[0], filled.machines[-1]
        for kind in ReferenceKind:
            part = first.part(kind)
            known = part and MeasuredComponent(part.name, part.bytes_per_second, part.source)
            self.fill(f"{kind.value}-what", known or "")
            self.fill(f"{kind.value}-count", str(part.count if part else 1))
        total = last.total_bytes_per_second if len(filled.machines) > 1 else None
        self.fill("aim", "" if total is None else f"{int(total // 1000)}KB")
