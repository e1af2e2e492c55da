"""What the screen shows of a load under way: what happens now, its last seconds, and its points so far."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Self

from app.charts.series_charts import area_chart
from app.load import events, measurement
from app.load.progress import LoadProgress
from app.recording import process
from app.series import curve
from forms import layout, report, wording
from forms.exporters import text_charts, text_tables
from forms.load.charts import load_charts
from forms.load.tables import points_table

_PHASE_NAMES = {
    events.LoadPhase.FILES: "Making the scenario's files",
    events.LoadPhase.RAMP: "ramp: users log in",
    events.LoadPhase.SETTLE: "settle: nothing counts yet",
    events.LoadPhase.STEADY: "steady: this counts",
    events.LoadPhase.PRINTING: "printing: the queue becomes empty",
    events.LoadPhase.RESTING: "resting: another machine makes its load",
    events.LoadPhase.CLEANING: "Removing the scenario's files",
}
_MOST_SECONDS_KEPT = 1200
"""Twenty minutes: more would not be told apart in a terminal's width."""
_AREAS_FROM = 24
"""Rows of the screen from which the seconds are drawn as areas."""
_LEAST_AREA = 7
_MOST_AREA = 16
"""Rows of one area."""
_FIGURES_WIDTH = 25
"""Columns before a line of seconds: its name and its last figure."""


@dataclass(frozen=True, slots=True)
class SecondsLine:
    """One line of what happened each second."""

    name: str
    figure: str
    """Of the last second of this phase; empty where there was none, or no such figure of it."""
    values: list[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadProgressView(LoadProgress):
    """The progress of a load with what is drawn of it."""

    queue: events.JobsWait | None = None
    """The print jobs that are waited for; None while none are."""
    seconds: tuple[events.SecondPassed, ...] = ()
    """The last seconds of the load, whatever their phase."""
    latest: events.SecondPassed | None = None
    """The last second of this phase; None before its first."""
    warnings: tuple[str, ...] = ()
    closed: measurement.LoadClosed | None = None
    """How the load ended; None while it is measured."""

    def after(self, step: measurement.LoadStep) -> Self:
        """The view after a step of the load."""
        match step:
            case events.PhaseBegan():
                return replace(LoadProgress.after(self, step), queue=None, latest=None)
            case events.JobsWait():
                return replace(self, queue=step)
            case events.SecondPassed():
                return replace(self, seconds=(*self.seconds, step)[-_MOST_SECONDS_KEPT:], latest=step)
            case process.Warned(text=text):
                return replace(self, warnings=(*self.warnings, text))
            case measurement.LoadClosed(load=load):
                return replace(self, load=load, closed=step, seconds=())
            case _:
                return LoadProgress.after(self, step)

    # What happens now

    def now(self, at_seconds: float, *, is_last: bool = False) -> str:
        """Which point, what it does, and how long that and the load still take; ``is_last``: no point follows."""
        if self.phase is None:
            return "Looking at the server …"

        silent_seconds = self._silent_seconds()
        if silent_seconds:
            return f"! {self._point_name()}no request was answered for {silent_seconds} s"

        amount = self._amount_done()
        time_left = self._time_left(at_seconds, is_last=is_last)
        return f"{self._point_name()}{_PHASE_NAMES[self.phase.phase]}{amount}{time_left}"

    def _amount_done(self) -> str:
        if self.queue:
            return f": {self.queue.jobs:,} of {self.queue.of_jobs:,} jobs wait, Esc ends it"
        if self.files:
            return f": {self.files.files:,} of {self.files.of_files:,}"
        return ""

    def _time_left(self, at_seconds: float, *, is_last: bool) -> str:
        phase_seconds = self.phase_seconds_left(at_seconds)
        load_seconds = self.seconds_left(phase_seconds, is_last=is_last)

        of_phase = f", {wording.duration(phase_seconds)} left" if phase_seconds else ""
        of_load = f"; about {wording.duration(load_seconds)} left in all" if load_seconds else ""
        last = " (the last point)" if is_last else ""
        return of_phase + of_load + last

    def _point_name(self) -> str:
        if self.phase is None or not self.phase.users:
            return ""
        of_points = f" of {len(self.planned_users)}" if self.planned_users else ""
        return f"Point {self.phase.point}{of_points}, {wording.count(self.phase.users, 'user')}: "

    def _silent_seconds(self) -> int:
        """For how long no request was answered; 0 while that is no reason to worry."""
        is_steady = self.phase is not None and self.phase.phase is events.LoadPhase.STEADY
        sends_no_requests = self.load is not None and not self.load.scenario.requests
        if not is_steady or sends_no_requests:
            return 0

        silent = list(itertools.takewhile(_is_silent, reversed(self.seconds)))
        return len(silent) if len(silent) >= curve.STALL_SECONDS else 0

    def problem_text(self) -> str:
        """Why the load failed, else its newest warnings."""
        if self.closed is not None and self.closed.failure is not None:
            return layout.visible(self.closed.failure.text)
        return layout.visible(" ".join(self.warnings[-2:]))

    # What was measured so far

    def draw(self, width: int, height: int = 0) -> str:
        """The points as a table, under the seconds: as areas where the height has room for them, else as lines."""
        points = self.load.points if self.load is not None else ()
        table: list[str] = []
        if self.load is not None and points:
            table = ["", *text_tables.table_lines(points_table(points, self.load.scenario), width, ansi=True)]

        room = height - len(table) - 2
        if height >= _AREAS_FROM and len(self.seconds) > 1 and room >= 2 * _LEAST_AREA:
            rows = min(room // 2, _MOST_AREA)
            # A column of a chart has two dots beside one another.
            areas = [area_chart(chart, width, rows) for chart in self._area_charts(2 * width)]
            return "\n".join([*areas, self._connections_line(width), *table])

        for chart in load_charts(points):
            table += ["", *text_charts.chart_lines(chart, width, ansi=True)]
        return "\n".join([*self._draw_seconds(width), *table]).lstrip("\n")

    def _area_charts(self, most_bars: int) -> Iterator[report.Chart]:
        """The rate and the p95 over time; several seconds are one bar where there are too many."""
        seconds_a_bar = -(-len(self.seconds) // most_bars)  # rounded up
        starts = range(0, len(self.seconds), seconds_a_bar)
        parts = [self.seconds[start : start + seconds_a_bar] for start in starts]
        names = _names_of_steps([part[0].users for part in parts])
        places = tuple(float(start) for start in starts)

        rates = [report.Bar(name=name, value=_mean_rate(part)) for name, part in zip(names, parts, strict=True)]
        yield report.Chart(title="each second", unit="requests/s", bars=tuple(rates), places=places)

        p95 = [report.Bar(name=name, value=_highest_p95(part)) for name, part in zip(names, parts, strict=True)]
        yield report.Chart(title="p95 of each second", unit="ms", bars=tuple(p95), places=places)

    def _draw_seconds(self, width: int) -> Iterator[str]:
        if not self.seconds:
            return

        room = min(curve.SHOWN_SECONDS, width - _FIGURES_WIDTH)
        for line in self._seconds_lines():
            figure = layout.cut(f"{line.name:<10}  {line.figure or '-':>11}  ", width)
            yield figure + layout.coloured(curve.sparkline(line.values, room), layout.Tone.DATA)
        yield self._connections_line(width)

    def _seconds_lines(self) -> Iterator[SecondsLine]:
        latest = self.latest
        rate = p95 = read = written = ""
        if latest is not None:
            rate = f"{latest.requests_per_second:,.0f}"
            p95 = f"{1000 * latest.p95_seconds:,.1f} ms" if latest.p95_seconds is not None else ""
            read = wording.byte_rate(latest.read_bytes_per_second)
            written = wording.byte_rate(latest.write_bytes_per_second)

        yield SecondsLine("requests/s", rate, [second.requests_per_second for second in self.seconds])
        yield SecondsLine("p95", p95, [second.p95_seconds for second in self.seconds])
        yield SecondsLine("read", read, [second.read_bytes_per_second for second in self.seconds])
        yield SecondsLine("written", written, [second.write_bytes_per_second for second in self.seconds])

    def _connections_line(self, width: int) -> str:
        latest = self.latest
        if latest is None:
            return layout.cut(f"{'connected':<10}  {'-':>11}", width)

        connected = f"{latest.connected:,} of {latest.users:,}" if latest.users else "none yet"
        details = f"errors {latest.errors:,}, busiest process here {latest.cpu_percent:.0f} % CPU"
        return layout.cut(f"{'connected':<10}  {connected:>11}  {details}", width)


def _is_silent(second: events.SecondPassed) -> bool:
    return not second.requests_per_second


def _names_of_steps(users: Sequence[int]) -> list[str]:
    """The number of users at each part where it changes, empty where it is as before."""
    names = [wording.count(users[0], "user")] if users else []
    for before, now in itertools.pairwise(users):
        names.append(wording.count(now, "user") if now != before else "")
    return names


def _mean_rate(seconds: Sequence[events.SecondPassed]) -> float:
    return fmean(second.requests_per_second for second in seconds)


def _highest_p95(seconds: Sequence[events.SecondPassed]) -> float | None:
    """In milliseconds; None where no second had requests enough."""
    return max((1000 * second.p95_seconds for second in seconds if second.p95_seconds is not None), default=None)
