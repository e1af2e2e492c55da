"""A load while it runs: its phase, the last minute, and the points so far, in lines for a screen."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from app.load.events import FilesMade, JobsWait, LoadPhase, LoadWarned, PhaseBegan, SecondPassed
from app.workflows.guide.state.pace import SHOWN_SECONDS, STALL_SECONDS, sparkline
from app.workflows.load import LoadClosed, LoadOpened, LoadStep, PointStored
from forms.exporters.text import chart_lines, table_lines
from forms.layout import Tone, coloured, cut, visible
from forms.load.report import load_charts, points_table
from forms.series.progress import duration
from forms.wording import byte_rate
from storage.loads.records import Load

_WORDS = {
    LoadPhase.FILES: "making the scenario's files",
    LoadPhase.RAMP: "ramp: users log in",
    LoadPhase.SETTLE: "settle: nothing counts yet",
    LoadPhase.STEADY: "steady: this counts",
    LoadPhase.PRINTING: "printing: the queue becomes empty",
    LoadPhase.CLEANING: "removing the scenario's files",
}
_FIGURES = 25
"""Columns of a name and its figure before the sparkline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadProgressState:
    """What has been heard of a load."""

    load: Load | None = None
    phase: PhaseBegan | None = None
    files: FilesMade | None = None
    queue: JobsWait | None = None
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
                return replace(self, phase=step, files=None, queue=None)
            case JobsWait():
                return replace(self, queue=step)
            case FilesMade():
                return replace(self, files=step)
            case SecondPassed():
                return replace(self, seconds=(*self.seconds, step)[-SHOWN_SECONDS:])
            case LoadWarned(text=text):
                return replace(self, warnings=(*self.warnings, text))
            case LoadClosed(load=load):
                return replace(self, load=load, closed=step)
            case _:
                return self

    def now(self, at_seconds: float, *, is_last: bool = False) -> str:
        """Which point, what it does, and how long that and the load still take, by the monotonic clock.

        ``is_last`` says that no point follows, whatever was planned.
        """
        if self.phase is None:
            return "Looking at the server …"
        if stalled := self._stalled_seconds():
            return f"! {self._which()}no request was answered for {stalled} s"
        files = f": {self.files.files:,} of {self.files.of_files:,}" if self.files else ""
        if self.queue:
            files = f": {self.queue.jobs:,} of {self.queue.of_jobs:,} jobs wait, Esc ends it"
        ends = self.phase.at_seconds + self.phase.seconds - at_seconds
        left = f", {duration(ends)} left" if self.phase.seconds and ends > 0 else ""
        whole = self._left_seconds(max(0.0, ends) if self.phase.seconds else 0.0, is_last=is_last)
        in_all = f"; about {duration(whole)} in all" if whole else ""
        in_all += " (the last point)" if is_last else ""
        return f"{self._which()}{_WORDS[self.phase.phase]}{files}{left}{in_all}"

    def _which(self) -> str:
        if self.phase is None or not self.phase.users:
            return ""
        planned = self._planned()
        of = f" of {len(planned)}" if planned else ""
        return f"Point {self.phase.point}{of}, {self.phase.users} users: "

    def _planned(self) -> Sequence[int]:
        """The users of each point; none where that is not known before."""
        if self.load is None or self.load.choices.by_size:
            return ()
        return self.load.choices.users

    def _left_seconds(self, of_phase: float, *, is_last: bool) -> float | None:
        """Until the last planned point is measured; None where nobody knows, or nothing is measured any more."""
        load, phase, planned = self.load, self.phase, self._planned()
        if load is None or phase is None or not planned or phase.phase in {LoadPhase.PRINTING, LoadPhase.CLEANING}:
            return None
        scenario, ramp = load.scenario, load.choices.ramp_per_second
        each = scenario.settle_seconds + scenario.duration_seconds
        to_come = () if is_last else planned[len(load.points) + 1 :] if phase.point else planned
        ahead = {LoadPhase.RAMP: each, LoadPhase.SETTLE: scenario.duration_seconds}.get(phase.phase, 0.0)
        return of_phase + ahead + sum(each + users / ramp for users in to_come)

    def _stalled_seconds(self) -> int:
        """For how many seconds no request was answered although users are there to make them; 0 for less than some."""
        if self.phase is None or self.phase.phase is not LoadPhase.STEADY:
            return 0
        if self.load is not None and not self.load.scenario.requests:
            return 0
        silent = sum(1 for _ in takewhile(lambda second: not second.requests_per_second, reversed(self.seconds)))
        return silent if silent >= STALL_SECONDS else 0

    def text(self, width: int) -> str:
        """The last second and the last minute, then the points so far with their charts."""
        lines = [] if self.closed is not None else list(self._second_lines(width))
        points = self.load.points if self.load is not None else ()
        if self.load is not None and points:
            lines += ["", *table_lines(points_table(points, self.load.scenario), width, ansi=True)]
        for chart in load_charts(points):
            lines += ["", *chart_lines(chart, width, ansi=True)]
        return "\n".join(lines).lstrip("\n")

    def _second_lines(self, width: int) -> Iterator[str]:
        if not self.seconds:
            return
        now, cells = self.seconds[-1], width - _FIGURES
        p95 = [1000 * (second.p95_seconds or 0.0) for second in self.seconds]
        shown = (
            ("requests/s", f"{now.requests_per_second:,.0f}", [second.requests_per_second for second in self.seconds]),
            ("p95", "-" if now.p95_seconds is None else f"{p95[-1]:,.1f} ms", p95),
            ("read", byte_rate(now.read_bytes_per_second), [second.read_bytes_per_second for second in self.seconds]),
            (
                "written",
                byte_rate(now.write_bytes_per_second),
                [second.write_bytes_per_second for second in self.seconds],
            ),
        )
        for name, figure, history in shown:
            drawn = sparkline(history, min(SHOWN_SECONDS, cells))
            yield cut(f"{name:<10}  {figure:>11}  ", width) + coloured(drawn, Tone.DATA)
        connected, errors = f"{now.connected:,} of {now.users:,}", f"errors {now.errors:,}"
        beside = f"{errors}, busiest process of this end {now.cpu_percent:.0f} % CPU"
        yield cut(f"{'connected':<10}  {connected:>11}  {beside}", width)

    def told(self) -> str:
        if self.closed is not None and self.closed.failure is not None:
            return visible(self.closed.failure.text)
        return visible(" ".join(self.warnings[-2:]))
