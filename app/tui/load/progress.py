"""A load while it runs: its phase, the last second, and the points so far, in lines for a screen."""

from dataclasses import dataclass, field, replace

from app.charts.bars import bar
from app.load.events import FilesMade, LoadPhase, LoadWarned, PhaseBegan, SecondPassed
from app.workflows.load import LoadClosed, LoadOpened, LoadStep, PointStored
from forms.exporters.text import report_text
from forms.layout import cut, visible
from forms.load.report import load_report
from forms.numbers import byte_rate
from storage.loads.records import Load

_BAR = 24
_WORDS = {
    LoadPhase.FILES: "making the scenario's files",
    LoadPhase.RAMP: "ramp: users log in",
    LoadPhase.SETTLE: "settle: nothing counts yet",
    LoadPhase.STEADY: "steady: this counts",
    LoadPhase.PRINTING: "printing: the queue becomes empty",
    LoadPhase.CLEANING: "removing the scenario's files",
}
_SHOWN_SECONDS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadProgressState:
    """What has been heard of a load."""

    load: Load | None = None
    phase: PhaseBegan | None = None
    files: FilesMade | None = None
    seconds: tuple[SecondPassed, ...] = ()
    """The last ones, the newest last."""
    warnings: tuple[str, ...] = ()
    closed: LoadClosed | None = field(default=None)

    def heard(self, step: LoadStep) -> "LoadProgressState":
        """The same load after a step."""
        match step:
            case LoadOpened(load=load) | PointStored(load=load):
                return replace(self, load=load)
            case PhaseBegan():
                return replace(self, phase=step, files=None)
            case FilesMade():
                return replace(self, files=step)
            case SecondPassed():
                return replace(self, seconds=(*self.seconds, step)[-_SHOWN_SECONDS:])
            case LoadWarned(text=text):
                return replace(self, warnings=(*self.warnings, text))
            case LoadClosed(load=load):
                return replace(self, load=load, closed=step)
            case _:
                return self

    def now(self) -> str:
        if self.phase is None:
            return "looking at the server …"
        users = f"{self.phase.users} users, " if self.phase.users else ""
        files = f": {self.files.files:,} of {self.files.of_files:,}" if self.files else ""
        return f"{users}{_WORDS[self.phase.phase]}{files}"

    def text(self, width: int) -> str:
        """The last second, p95 over the last ones, and the form of the points so far."""
        lines: list[str] = []
        if self.seconds and self.closed is None:
            now = self.seconds[-1]
            lines += [
                f"connected   {now.connected:>9,}   of {now.users:,}",
                f"requests/s  {now.requests_per_second:>9,.0f}   errors {now.errors:,}",
                f"read        {byte_rate(now.read_bytes_per_second):>9}",
                f"written     {byte_rate(now.write_bytes_per_second):>9}",
                f"CPU here    {now.cpu_percent:>7.0f} %   of one processor, the busiest process",
                "",
                "p95 of the response, second by second",
                *self._p95_lines(),
                "",
            ]
        if self.load is not None and self.load.points:
            report = load_report(self.load, self.closed.prediction if self.closed else None)
            lines.append(report_text(report, width=width, ansi=True).rstrip("\n"))
        return "\n".join(cut(line, width) if "\n" not in line and "\x1b" not in line else line for line in lines)

    def _p95_lines(self) -> list[str]:
        known = [second.p95_seconds for second in self.seconds if second.p95_seconds is not None]
        most = max(known, default=0.0)
        return [
            f"{1000 * second.p95_seconds:>9.1f} ms {bar(100 * second.p95_seconds / most, _BAR)}"
            for second in self.seconds[-4:]
            if second.p95_seconds is not None and most
        ]

    def told(self) -> str:
        if self.closed is not None and self.closed.failure is not None:
            return visible(self.closed.failure.text)
        return visible(" ".join(self.warnings[-2:]))
