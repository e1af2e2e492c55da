"""A load on the screen: its lines, phase, last minute, points and form."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from statistics import fmean
from time import monotonic
from typing import Any, ClassVar, NamedTuple, Self

from textual.content import Content

from app.base.errors import LoginError, UsageError
from app.base.targets import parse_typed_target
from app.charts.series_charts import area_chart
from app.clients.base import Secrets
from app.load.events import JobsWait, LoadPhase, PhaseBegan, SecondPassed
from app.load.record import LoadClosed, LoadStep
from app.load.scenario import NAMES, changed, find_scenario, parse_users
from app.load.spec import CAPACITY, LoadRequest, check_limits
from app.load.standing import LoadStanding, time_text
from app.recording.process import ControlMessage, Warned
from app.series.curve import SHOWN_SECONDS, STALL_SECONDS, sparkline
from app.series.progress import prepare
from app.server.named_servers import server_ways
from app.tui.frame.commands import keys
from app.tui.widgets import form_lines
from app.tui.widgets.form_lines import FormLine
from app.tui.widgets.lines_screen import LinesScreen
from app.tui.widgets.report_run import MeasurementScreen
from app.tui.widgets.views import join_toned
from forms.exporters.text import chart_lines, table_lines
from forms.layout import Tone, coloured, cut, visible
from forms.load.charts import load_charts
from forms.load.report import load_report
from forms.load.tables import points_table
from forms.load.wording import load_headline
from forms.report import Bar, Chart, Report
from forms.series.wording import GAP
from forms.wording import byte_rate, count, duration
from storage.load.records import Load, LoadChoices, Scenario
from storage.records import JSONValue, SeriesStatus, Target

PART_SECONDS = 3.0
"""What was heard is drawn again no sooner, so that drawing takes little of a processor from the users."""

_MOST_FILES = 10_000_000
_DAY_SECONDS = 86_400
_WEEK_SECONDS = 7 * _DAY_SECONDS
_USUAL_SCENARIO = "redpaper"
_USUAL_USERS = "5,10,20"


def request_to_resume(load: Load, secrets: Secrets, typed: Mapping[str, JSONValue]) -> LoadRequest:
    first_target = load.targets[0]
    ssh = ""
    with suppress(UsageError):
        if parse_typed_target(str(typed.get("target", ""))).host == first_target.host:
            ssh = str(typed.get("ssh", "")).strip()

    ways = server_ways(first_target, ssh)
    return LoadRequest(
        targets=load.targets,
        secrets=secrets,
        scenario=load.scenario,
        choices=load.choices,
        server_ssh=ways.server_ssh,
        smb_conf=ways.smb_conf,
    )


_PHASE_NAMES = {
    LoadPhase.FILES: "Making the scenario's files",
    LoadPhase.RAMP: "ramp: users log in",
    LoadPhase.SETTLE: "settle: nothing counts yet",
    LoadPhase.STEADY: "steady: this counts",
    LoadPhase.PRINTING: "printing: the queue becomes empty",
    LoadPhase.CLEANING: "Removing the scenario's files",
}
_MOST_SECONDS_KEPT = 1200
_AREAS_FROM = 24
"""Rows of the screen from which the seconds are drawn as areas."""
_LEAST_AREA = 7
_MOST_AREA = 16
_FIGURES_WIDTH = 25
"""Columns before a line of seconds: its name and its last figure."""


class SecondsLine(NamedTuple):
    """One line of what happened each second."""

    name: str
    figure: str
    """Of the last second of this phase; empty where there was none, or no such figure of it."""
    values: list[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadProgressState(LoadStanding):
    queue: JobsWait | None = None
    seconds: tuple[SecondPassed, ...] = ()
    latest: SecondPassed | None = None
    """The last second of this phase."""
    warnings: tuple[str, ...] = ()
    closed: LoadClosed | None = None

    def heard(self, step: LoadStep) -> Self:
        """The state after a step of the load."""
        match step:
            case PhaseBegan():
                return replace(LoadStanding.heard(self, step), queue=None, latest=None)
            case JobsWait():
                return replace(self, queue=step)
            case SecondPassed():
                return replace(self, seconds=(*self.seconds, step)[-_MOST_SECONDS_KEPT:], latest=step)
            case Warned(text=text):
                return replace(self, warnings=(*self.warnings, text))
            case LoadClosed(load=load):
                return replace(self, load=load, closed=step, seconds=())
            case _:
                return LoadStanding.heard(self, step)

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

        of_phase = f", {duration(phase_seconds)} left" if phase_seconds else ""
        of_load = f"; about {duration(load_seconds)} left in all" if load_seconds else ""
        last = " (the last point)" if is_last else ""
        return of_phase + of_load + last

    def _point_name(self) -> str:
        if self.phase is None or not self.phase.users:
            return ""
        of_points = f" of {len(self.planned)}" if self.planned else ""
        return f"Point {self.phase.point}{of_points}, {count(self.phase.users, 'user')}: "

    def _silent_seconds(self) -> int:
        """For how long no request was answered; 0 while that is no reason to worry."""
        is_steady = self.phase is not None and self.phase.phase is LoadPhase.STEADY
        sends_no_requests = self.load is not None and not self.load.scenario.requests
        if not is_steady or sends_no_requests:
            return 0

        silent = list(takewhile(_is_silent, reversed(self.seconds)))
        return len(silent) if len(silent) >= STALL_SECONDS else 0

    def problem_text(self) -> str:
        """Why the load failed, else its newest warnings."""
        if self.closed is not None and self.closed.failure is not None:
            return visible(self.closed.failure.text)
        return visible(" ".join(self.warnings[-2:]))

    # What was measured so far

    def draw(self, width: int, height: int = 0) -> str:
        """The seconds and the points: as areas where the height has room for them, else as lines."""
        points = self.load.points if self.load is not None else ()
        table: list[str] = []
        if self.load is not None and points:
            table = ["", *table_lines(points_table(points, self.load.scenario), width, ansi=True)]

        room = height - len(table) - 2
        if height >= _AREAS_FROM and len(self.seconds) > 1 and room >= 2 * _LEAST_AREA:
            rows = min(room // 2, _MOST_AREA)
            areas = [area_chart(chart, width, rows) for chart in self._area_charts(2 * width)]
            return "\n".join([*areas, self._connections_line(width), *table])

        for chart in load_charts(points):
            table += ["", *chart_lines(chart, width, ansi=True)]
        return "\n".join([*self._draw_seconds(width), *table]).lstrip("\n")

    def _area_charts(self, most_bars: int) -> Iterator[Chart]:
        """The rate and the p95 over time; several seconds are one bar where there are too many."""
        step = -(-len(self.seconds) // most_bars)
        starts = range(0, len(self.seconds), step)
        parts = [self.seconds[start : start + step] for start in starts]
        names = _names_of_steps([part[0].users for part in parts])
        places = tuple(float(start) for start in starts)

        rates = [Bar(name=name, value=_mean_rate(part)) for name, part in zip(names, parts, strict=True)]
        yield Chart(title="each second", unit="requests/s", bars=tuple(rates), places=places)

        p95 = [Bar(name=name, value=_highest_p95(part)) for name, part in zip(names, parts, strict=True)]
        yield Chart(title="p95 of each second", unit="ms", bars=tuple(p95), places=places)

    def _draw_seconds(self, width: int) -> Iterator[str]:
        if not self.seconds:
            return

        room = min(SHOWN_SECONDS, width - _FIGURES_WIDTH)
        for line in self._seconds_lines():
            figure = cut(f"{line.name:<10}  {line.figure or '-':>11}  ", width)
            yield figure + coloured(sparkline(line.values, room), Tone.DATA)
        yield self._connections_line(width)

    def _seconds_lines(self) -> Iterator[SecondsLine]:
        latest = self.latest
        rate = p95 = read = written = ""
        if latest is not None:
            rate = f"{latest.requests_per_second:,.0f}"
            p95 = f"{1000 * latest.p95_seconds:,.1f} ms" if latest.p95_seconds is not None else ""
            read = byte_rate(latest.read_bytes_per_second)
            written = byte_rate(latest.write_bytes_per_second)

        yield SecondsLine("requests/s", rate, [second.requests_per_second for second in self.seconds])
        yield SecondsLine("p95", p95, [second.p95_seconds for second in self.seconds])
        yield SecondsLine("read", read, [second.read_bytes_per_second for second in self.seconds])
        yield SecondsLine("written", written, [second.write_bytes_per_second for second in self.seconds])

    def _connections_line(self, width: int) -> str:
        latest = self.latest
        if latest is None:
            return cut(f"{'connected':<10}  {'-':>11}", width)

        connected = f"{latest.connected:,} of {latest.users:,}" if latest.users else "none yet"
        details = f"errors {latest.errors:,}, busiest process here {latest.cpu_percent:.0f} % CPU"
        return cut(f"{'connected':<10}  {connected:>11}  {details}", width)


def _is_silent(second: SecondPassed) -> bool:
    return not second.requests_per_second


def _names_of_steps(users: Sequence[int]) -> list[str]:
    """The number of users at each part where it changes, empty where it is as before."""
    names = [count(users[0], "user")] if users else []
    for before, now in pairwise(users):
        names.append(count(now, "user") if now != before else "")
    return names


def _mean_rate(seconds: Sequence[SecondPassed]) -> float:
    return fmean(second.requests_per_second for second in seconds)


def _highest_p95(seconds: Sequence[SecondPassed]) -> float | None:
    """In milliseconds; None where no second had requests enough."""
    return max((1000 * second.p95_seconds for second in seconds if second.p95_seconds is not None), default=None)


class LoadRunScreen(MeasurementScreen):
    KEYS: ClassVar = keys("screen.next load.finish load.export")
    STOP_HEADING = "Stop the load?"
    STOP_TEXT = "The load is not done. Finished points are kept, and the scenario's files are removed."
    QUIT_TEXT = "A load is under way. Finished points are kept, and the scenario's files are removed."

    def __init__(self, request: LoadRequest, resumed: Load | None = None) -> None:
        super().__init__(request, resumed)
        self.state = LoadProgressState()
        self._finishing = False
        self._drawn_at = -PART_SECONDS
        self._drawn_for: object = None
        self._drawn_text = ""

    to_resume = staticmethod(request_to_resume)

    @classmethod
    def heading_of(cls, request: LoadRequest) -> str:
        return f"Load {request.scenario.name}"

    def targets(self) -> Sequence[Target]:
        return self.request.targets  # type: ignore[no-any-return]

    def steps(self) -> Iterator[LoadStep]:
        prepare()
        self.watch_machine(self.request.target)
        yield from self.context.backend.load(self.request, self.context.notebook_path, self.control, self.resumed)

    def take_event(self, index: int, event: Any) -> None:
        self.state = self.state.heard(event)
        self.record = self.state.load
        if self.state.load is not None and self.state.load.points:
            closed = self.state.closed
            self.report = load_report(self.state.load, closed.prediction if closed else None)

    def now(self) -> str:
        closed = self.state.closed
        if closed is not None and not closed.stored:
            return "Nothing was measured."
        if closed is not None or self.is_broken_off:
            return "The load has ended."
        return self.state.now(monotonic(), is_last=self._finishing)

    def headline(self) -> Content:
        load = self.state.load
        return super().headline() if load is None else join_toned(load_headline(load), GAP)

    def warnings(self) -> str:
        closed = self.state.closed
        problem = self.state.problem_text()
        if closed is None or not closed.stored or closed.load.status is SeriesStatus.COMPLETE:
            return problem

        advice = "It stopped early. To resume it, go back and press Ctrl+L."
        return f"{problem}. {advice}" if problem else advice

    def draw_heard(self, width: int) -> str:
        height = self.query_one("#run-box").size.height
        state = self.state
        drawn_for = (width, height, state.phase, state.latest is None)
        is_due = monotonic() >= self._drawn_at + PART_SECONDS
        if self.is_over or self._drawn_for != drawn_for or is_due:
            self._drawn_text = state.draw(width, height)
            self._drawn_for = drawn_for
            self._drawn_at = monotonic()
        return self._drawn_text

    def refusal(self, error: Exception | None) -> str:
        closed = self.state.closed
        if closed is None or closed.failure is None or closed.failure.kind is not LoginError:
            return super().refusal(error)
        if closed.stored:
            self.resumed = closed.load
        return closed.failure.text

    def measurement_ended(self, error: Exception | None) -> None:
        if error:
            self.state = replace(self.state, seconds=())

        closed = self.state.closed
        if closed and not closed.stored and self.report is None:
            self.record = None
            if error is None and closed.failure:
                error = closed.failure.error
        super().measurement_ended(error)

    def result(self) -> Report | None:
        return self.report if self.state.closed is not None else None

    def action_finish(self) -> None:
        self._finishing = True
        self.control.tell(ControlMessage.FINISH)
        self.draw()

    def export_name(self, report: Report) -> str:
        return f"load-{report.name}"


class LoadScreen(LinesScreen):
    NAME = "load"
    HEADING = BUTTON = "Load"
    START = "Begin with what the lines say."
    STORED = "loads"
    LINES = (
        form_lines.TARGET,
        FormLine("users", "Users", f"such as 10,20,40 or 10..200/10, or {CAPACITY}", _USUAL_USERS),
        FormLine("scenario", "Scenario", f"{', '.join(NAMES)}, or a file", _USUAL_SCENARIO),
        FormLine("files", "Files", "how many; empty: as the scenario says"),
        FormLine("duration", "Steady, s", "seconds that count, each point; empty: as the scenario says"),
        FormLine("settle", "Settle, s", "seconds before they count; empty: as the scenario says"),
        FormLine("ssh", "Server by ssh", "[USER@]HOST for its CPU and memory; empty: this machine or none"),
    )
    RUN = LoadRunScreen

    def __init__(self, target: str = "", ssh: str = "", users: str = "") -> None:
        known: dict[str, str] = {}
        if target:
            known["target"] = target
            known["ssh"] = ssh
        if users:
            known["users"] = users
        super().__init__(**known)

    @classmethod
    def first_values(cls, remembered: Mapping[str, JSONValue] | None, practice: Sequence[Target]) -> dict[str, str]:
        if not practice:
            return super().first_values(remembered, practice)
        return super().first_values(None, practice) | {"files": "200", "duration": "10", "settle": "2"}

    @classmethod
    def plan_of(cls, typed: Mapping[str, str]) -> str:
        scenario, choices = cls._parse_work(typed)
        settle = duration(scenario.settle_seconds)
        steady = duration(scenario.duration_seconds)
        about = f"{scenario.name}: {visible(scenario.about)}."
        return f"{about} {time_text(scenario, choices)} Each point: {settle} to settle, then {steady} that count."

    @staticmethod
    def _parse_work(typed: Mapping[str, str]) -> tuple[Scenario, LoadChoices]:
        files = typed["files"]
        steady = typed["duration"]
        settle = typed["settle"]
        scenario = changed(
            find_scenario(typed["scenario"] or _USUAL_SCENARIO),
            files=form_lines.typed_count("Files", files, _MOST_FILES) if files else None,
            duration_seconds=form_lines.typed_number("Steady", steady, 1, _WEEK_SECONDS) if steady else None,
            settle_seconds=form_lines.typed_number("Settle", settle, 0, _DAY_SECONDS) if settle else None,
        )

        finds_capacity = typed["users"].lower() == CAPACITY
        choices = LoadChoices(
            users=() if finds_capacity else parse_users(typed["users"] or _USUAL_USERS),
            find_capacity=finds_capacity,
            processes=len(os.sched_getaffinity(0)),
        )
        return scenario, choices

    @classmethod
    def parse(cls, typed: Mapping[str, str]) -> LoadRequest:
        values = form_lines.typed_values(cls.LINES, typed)
        question = "which server? type [USER@]HOST/SHARE/FOLDER, or smb://USER@HOST/SHARE/FOLDER"
        target = form_lines.typed_target(values["target"], question)
        if not target.abilities.moves_files or (target.abilities.has_share and not target.share):
            raise UsageError("name the folder that the users shall work in, such as smb://HOST/SHARE/FOLDER")

        scenario, choices = cls._parse_work(values)
        check_limits(choices, (target,))
        ways = server_ways(target, values["ssh"])
        return LoadRequest(
            targets=(target,),
            scenario=scenario,
            choices=choices,
            server_ssh=ways.server_ssh,
            smb_conf=ways.smb_conf,
        )
