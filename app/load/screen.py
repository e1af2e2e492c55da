"""A load on the screen: its lines, phase, last minute, points and form."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import takewhile
from statistics import fmean
from time import monotonic
from typing import Any, ClassVar, Self

from textual.content import Content

from app.base.errors import LoginError, UsageError
from app.base.targets import parse_typed_target
from app.charts.series_charts import area_chart
from app.clients.base import Secrets
from app.guide.known import server_ways
from app.load.events import JobsWait, LoadPhase, PhaseBegan, SecondPassed
from app.load.record import LoadClosed, LoadStep
from app.load.scenario import NAMES, changed, find_scenario, parse_users
from app.load.spec import CAPACITY, LoadRequest, check_limits
from app.load.standing import LoadStanding, time_text
from app.recording.process import ControlMessage, Warned
from app.series.progress import SHOWN_SECONDS, STALL_SECONDS, prepare, sparkline
from app.tui.frame.commands import keys
from app.tui.widgets import asking
from app.tui.widgets.recording import MeasurementScreen
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
_WEEK = 7 * 86400


def request_to_resume(load: Load, secrets: Secrets, typed: Mapping[str, JSONValue]) -> LoadRequest:
    ssh = ""
    with suppress(UsageError):
        if parse_typed_target(str(typed.get("target", ""))).host == load.targets[0].host:
            ssh = str(typed.get("ssh", "")).strip()
    ways = server_ways(load.targets[0], ssh)
    return LoadRequest(targets=load.targets, secrets=secrets, scenario=load.scenario, choices=load.choices, **ways)


_WORDS = {
    LoadPhase.FILES: "Making the scenario's files",
    LoadPhase.RAMP: "ramp: users log in",
    LoadPhase.SETTLE: "settle: nothing counts yet",
    LoadPhase.STEADY: "steady: this counts",
    LoadPhase.PRINTING: "printing: the queue becomes empty",
    LoadPhase.CLEANING: "Removing the scenario's files",
}
_KEPT_SECONDS = 1200
_AREAS_FROM = 24
_LEAST_AREA, _MOST_AREA = 7, 16
_FIGURES = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadProgressState(LoadStanding):
    queue: JobsWait | None = None
    seconds: tuple[SecondPassed, ...] = ()
    latest: SecondPassed | None = None
    """The last second of this phase."""
    warnings: tuple[str, ...] = ()
    closed: LoadClosed | None = None

    def heard(self, step: LoadStep) -> Self:
        match step:
            case PhaseBegan():
                return replace(LoadStanding.heard(self, step), queue=None, latest=None)
            case JobsWait():
                return replace(self, queue=step)
            case SecondPassed():
                return replace(self, seconds=(*self.seconds, step)[-_KEPT_SECONDS:], latest=step)
            case Warned(text=text):
                return replace(self, warnings=(*self.warnings, text))
            case LoadClosed(load=load):
                return replace(self, load=load, closed=step, seconds=())
            case _:
                return LoadStanding.heard(self, step)

    def now(self, at_seconds: float, *, is_last: bool = False) -> str:
        """Which point, what it does, and how long that and the load still take; ``is_last``: no point follows."""
        if self.phase is None:
            return "Looking at the server …"
        if stalled := self._stalled_seconds():
            return f"! {self._which()}no request was answered for {stalled} s"
        files = f": {self.files.files:,} of {self.files.of_files:,}" if self.files else ""
        if self.queue:
            files = f": {self.queue.jobs:,} of {self.queue.of_jobs:,} jobs wait, Esc ends it"
        ends = self.phase_seconds_left(at_seconds)
        left = f", {duration(ends)} left" if ends else ""
        whole = self.seconds_left(ends, is_last=is_last)
        in_all = f"; about {duration(whole)} left in all" if whole else ""
        in_all += " (the last point)" if is_last else ""
        return f"{self._which()}{_WORDS[self.phase.phase]}{files}{left}{in_all}"

    def _which(self) -> str:
        if self.phase is None or not self.phase.users:
            return ""
        of = f" of {len(self.planned)}" if self.planned else ""
        return f"Point {self.phase.point}{of}, {count(self.phase.users, 'user')}: "

    def _stalled_seconds(self) -> int:
        is_steady = self.phase is not None and self.phase.phase is LoadPhase.STEADY
        if not is_steady or (self.load is not None and not self.load.scenario.requests):
            return 0
        silent = sum(1 for _ in takewhile(lambda second: not second.requests_per_second, reversed(self.seconds)))
        return silent if silent >= STALL_SECONDS else 0

    def text(self, width: int, height: int = 0) -> str:
        points = self.load.points if self.load is not None else ()
        table: list[str] = []
        if self.load is not None and points:
            table = ["", *table_lines(points_table(points, self.load.scenario), width, ansi=True)]
        room = height - len(table) - 2
        if height >= _AREAS_FROM and len(self.seconds) > 1 and room >= 2 * _LEAST_AREA:
            areas = [area_chart(chart, width, min(room // 2, _MOST_AREA)) for chart in self._areas(2 * width)]
            return "\n".join([*areas, self._connected(width), *table])
        lines = self._second_lines(width)
        for chart in load_charts(points):
            table += ["", *chart_lines(chart, width, ansi=True)]
        return "\n".join([*lines, *table]).lstrip("\n")

    def _areas(self, most: int) -> Iterator[Chart]:
        step = -(-len(self.seconds) // most)
        parts = [self.seconds[at : at + step] for at in range(0, len(self.seconds), step)]
        users = [part[0].users for part in parts]
        steps = zip([None, *users], users, strict=False)
        names = [count(now, "user") if now != before else "" for before, now in steps]
        rates = [fmean(second.requests_per_second for second in part) for part in parts]
        p95 = [
            max((1000 * one.p95_seconds for one in part if one.p95_seconds is not None), default=None) for part in parts
        ]
        for title, unit, values in (("each second", "requests/s", rates), ("p95 of each second", "ms", p95)):
            bars = tuple(Bar(name=name, value=value) for name, value in zip(names, values, strict=True))
            yield Chart(title=title, unit=unit, bars=bars, places=tuple(float(step * at) for at in range(len(parts))))

    def _second_lines(self, width: int) -> Iterator[str]:
        if not self.seconds:
            return
        now, told, cells = self.latest, self.seconds, width - _FIGURES
        p95 = now and now.p95_seconds is not None and f"{1000 * now.p95_seconds:,.1f} ms"
        shown = (
            ("requests/s", now and f"{now.requests_per_second:,.0f}", [one.requests_per_second for one in told]),
            ("p95", p95, [one.p95_seconds for one in told]),
            ("read", now and byte_rate(now.read_bytes_per_second), [one.read_bytes_per_second for one in told]),
            ("written", now and byte_rate(now.write_bytes_per_second), [one.write_bytes_per_second for one in told]),
        )
        for name, figure, history in shown:
            drawn = sparkline(history, min(SHOWN_SECONDS, cells))
            yield cut(f"{name:<10}  {figure or '-':>11}  ", width) + coloured(drawn, Tone.DATA)
        yield self._connected(width)

    def _connected(self, width: int) -> str:
        now = self.latest
        if now is None:
            return cut(f"{'connected':<10}  {'-':>11}", width)
        connected, errors = f"{now.connected:,} of {now.users:,}" if now.users else "none yet", f"errors {now.errors:,}"
        beside = f"{errors}, busiest process here {now.cpu_percent:.0f} % CPU"
        return cut(f"{'connected':<10}  {connected:>11}  {beside}", width)

    def told(self) -> str:
        if self.closed is not None and self.closed.failure is not None:
            return visible(self.closed.failure.text)
        return visible(" ".join(self.warnings[-2:]))


class LoadRunScreen(MeasurementScreen):
    KEYS: ClassVar = keys("screen.next load.finish load.export")
    STOP_HEADING = "Stop the load?"
    STOP_TEXT = "The load is not done. Finished points are kept, and the scenario's files are removed."
    QUIT_TEXT = "A load is under way. Finished points are kept, and the scenario's files are removed."

    def __init__(self, request: LoadRequest, resumed: Load | None = None) -> None:
        super().__init__(request, resumed)
        self.state = LoadProgressState()
        self._finishing = False
        self._drawn: tuple[float, object, str] = (-PART_SECONDS, None, "")

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

    def take_event(self, index: int, event: Any) -> None:  # noqa: ARG002  there is one load
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
        return join_toned(load_headline(self.state.load), GAP) if self.state.load is not None else super().headline()

    def warnings(self) -> str:
        closed, told = self.state.closed, self.state.told()
        if closed is not None and closed.stored and closed.load.status is not SeriesStatus.COMPLETE:
            return f"{told}{'. ' if told else ''}It stopped early. To resume it, go back and press Ctrl+L."
        return told

    def heard_text(self, width: int) -> str:
        at, drawn_for, text = self._drawn
        height, state = self.query_one("#run-box").size.height, self.state
        shows = width, height, state.phase, state.latest is None
        if self.is_over or drawn_for != shows or monotonic() >= at + PART_SECONDS:
            text = state.text(width, height)
            self._drawn = monotonic(), shows, text
        return text

    def refusal(self, error: Exception | None) -> str:
        closed = self.state.closed
        if closed is None or closed.failure is None or closed.failure.kind is not LoginError:
            return super().refusal(error)
        self.resumed = closed.load if closed.stored else self.resumed
        return closed.failure.text

    def measurement_ended(self, error: Exception | None) -> None:
        self.state = replace(self.state, seconds=() if error else self.state.seconds)
        if (closed := self.state.closed) and not closed.stored and self.report is None:
            self.record, error = None, error or (closed.failure.error if closed.failure else None)
        super().measurement_ended(error)

    def result(self) -> Report | None:
        return self.report if self.state.closed is not None else None

    def action_finish(self) -> None:
        self._finishing = True
        self.control.tell(ControlMessage.FINISH)
        self.draw()

    def export_name(self, report: Report) -> str:
        return f"load-{report.name}"


class LoadScreen(asking.LinesScreen):
    NAME = "load"
    HEADING = BUTTON = "Load"
    START = "Begin with what the lines say."
    STORED = "loads"
    LINES = (
        asking.TARGET,
        asking.FormLine("users", "Users", f"such as 10,20,40 or 10..200/10, or {CAPACITY}", "5,10,20"),
        asking.FormLine("scenario", "Scenario", f"{', '.join(NAMES)}, or a file", "redpaper"),
        asking.FormLine("files", "Files", "how many; empty: as the scenario says"),
        asking.FormLine("duration", "Steady, s", "seconds that count, each point; empty: as the scenario says"),
        asking.FormLine("settle", "Settle, s", "seconds before they count; empty: as the scenario says"),
        asking.FormLine("ssh", "Server by ssh", "[USER@]HOST for its CPU and memory; empty: this machine or none"),
    )
    RUN = LoadRunScreen

    def __init__(self, target: str = "", ssh: str = "", users: str = "") -> None:
        super().__init__(**({"target": target, "ssh": ssh} if target else {}), **({"users": users} if users else {}))

    @classmethod
    def first_values(cls, remembered: Mapping[str, JSONValue] | None, practice: Sequence[Target]) -> dict[str, str]:
        small = {"files": "200", "duration": "10", "settle": "2"} if practice else {}
        return super().first_values(None if practice else remembered, practice) | small

    @classmethod
    def plan_of(cls, typed: Mapping[str, str]) -> str:
        scenario, choices = cls._work(typed)
        settle, counts = duration(scenario.settle_seconds), duration(scenario.duration_seconds)
        each = f"Each point: {settle} to settle, then {counts} that count."
        return f"{scenario.name}: {visible(scenario.about)}. {time_text(scenario, choices)} {each}"

    @staticmethod
    def _work(text: Mapping[str, str]) -> tuple[Scenario, LoadChoices]:
        capacity = text["users"].lower() == CAPACITY
        scenario = changed(
            find_scenario(text["scenario"] or "redpaper"),
            files=asking.typed_count("Files", text["files"], 10_000_000) if text["files"] else None,
            duration_seconds=asking.typed_number("Steady", text["duration"], 1, _WEEK) if text["duration"] else None,
            settle_seconds=asking.typed_number("Settle", text["settle"], 0, 86400) if text["settle"] else None,
        )
        users = () if capacity else parse_users(text["users"] or "5,10,20")
        return scenario, LoadChoices(users=users, find_capacity=capacity, processes=len(os.sched_getaffinity(0)))

    @classmethod
    def read(cls, typed: Mapping[str, str]) -> LoadRequest:
        text = asking.typed_values(cls.LINES, typed)
        question = "which server? type [USER@]HOST/SHARE/FOLDER, or smb://USER@HOST/SHARE/FOLDER"
        target = asking.typed_target(text["target"], question)
        if not target.abilities.moves_files or (target.abilities.has_share and not target.share):
            raise UsageError("name the folder that the users shall work in, such as smb://HOST/SHARE/FOLDER")
        scenario, choices = cls._work(text)
        check_limits(choices, (target,))
        return LoadRequest(targets=(target,), scenario=scenario, choices=choices, **server_ways(target, text["ssh"]))
