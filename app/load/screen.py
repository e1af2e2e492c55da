"""A load on the screen: the lines that order it, a load under way, and its form."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import monotonic
from typing import Any, ClassVar

from textual.content import Content

from app.base import errors
from app.base.targets import parse_typed_target
from app.clients.base import Secrets
from app.load import record as load_record
from app.load import scenario as load_scenario
from app.load import spec, standing
from app.load.progress_state import LoadProgressState
from app.recording import process
from app.series.progress import prepare
from app.server.named_servers import server_ways
from app.tui.frame.commands import keys
from app.tui.widgets import form_lines
from app.tui.widgets.lines_screen import LinesScreen
from app.tui.widgets.report_run import MeasurementScreen
from app.tui.widgets.views import join_toned
from forms import layout, wording
from forms.load.report import load_report
from forms.load.wording import load_headline
from forms.report import Report
from forms.series.wording import GAP
from storage.load import records
from storage.plan import MOST_SECONDS
from storage.records import JSONValue, SeriesStatus, Target

PART_SECONDS = 3.0
"""What was heard is drawn again no sooner, so that drawing takes little of a processor from the users."""


def request_to_resume(load: records.Load, secrets: Secrets, typed: Mapping[str, JSONValue]) -> spec.LoadRequest:
    first_target = load.targets[0]
    ssh = ""
    with suppress(errors.UsageError):
        if parse_typed_target(str(typed.get("target", ""))).host == first_target.host:
            ssh = str(typed.get("ssh", "")).strip()

    ways = server_ways(first_target, ssh)
    return spec.LoadRequest(
        targets=load.targets,
        secrets=secrets,
        scenario=load.scenario,
        choices=load.choices,
        server_ssh=ways.server_ssh,
        smb_conf=ways.smb_conf,
    )


class LoadRunScreen(MeasurementScreen):
    KEYS: ClassVar = keys("screen.next load.finish load.export")
    STOP_HEADING = "Stop the load?"
    STOP_TEXT = "The load is not done. Finished points are kept, and the scenario's files are removed."
    QUIT_TEXT = "A load is under way. Finished points are kept, and the scenario's files are removed."

    def __init__(self, request: spec.LoadRequest, resumed: records.Load | None = None) -> None:
        super().__init__(request, resumed)
        self.state = LoadProgressState()
        self._finishing = False
        self._drawn_at = -PART_SECONDS
        self._drawn_for: object = None
        self._drawn_text = ""

    to_resume = staticmethod(request_to_resume)

    @classmethod
    def heading_of(cls, request: spec.LoadRequest) -> str:
        return f"Load {request.scenario.name}"

    def targets(self) -> Sequence[Target]:
        return self.request.targets  # type: ignore[no-any-return]

    def steps(self) -> Iterator[load_record.LoadStep]:
        prepare()
        self.watch_machine(self.request.target)
        yield from self.context.backend.load(self.request, self.context.notebook_path, self.control, self.resumed)

    def take_event(self, index: int, event: Any) -> None:
        self.state = self.state.after(event)
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
        if closed is None or closed.failure is None or closed.failure.kind is not errors.LoginError:
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
        self.control.tell(process.ControlMessage.FINISH)
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
        form_lines.FormLine("users", "Users", f"such as 10,20,40 or 10..200/10, or {spec.CAPACITY}", spec.USUAL_USERS),
        form_lines.FormLine(
            "scenario", "Scenario", f"{', '.join(load_scenario.NAMES)}, or a file", spec.USUAL_SCENARIO
        ),
        form_lines.FormLine("files", "Files", "how many; empty: as the scenario says"),
        form_lines.FormLine("duration", "Steady, s", "seconds that count, each point; empty: as the scenario says"),
        form_lines.FormLine("settle", "Settle, s", "seconds before they count; empty: as the scenario says"),
        form_lines.FormLine("ssh", "Server by ssh", "[USER@]HOST for its CPU and memory; empty: this machine or none"),
    )
    RUN = LoadRunScreen

    def __init__(self, target: str = "", ssh: str = "", users: str = "") -> None:
        values: dict[str, str] = {}
        if target:
            values["target"] = target
            values["ssh"] = ssh
        if users:
            values["users"] = users
        super().__init__(**values)

    @classmethod
    def first_values(cls, remembered: Mapping[str, JSONValue] | None, practice: Sequence[Target]) -> dict[str, str]:
        if not practice:
            return super().first_values(remembered, practice)
        return super().first_values(None, practice) | {"files": "200", "duration": "10", "settle": "2"}

    @classmethod
    def plan_of(cls, typed: Mapping[str, str]) -> str:
        scenario, choices = cls._parse_work(typed)
        settle = wording.duration(scenario.settle_seconds)
        steady = wording.duration(scenario.duration_seconds)
        about = f"{scenario.name}: {layout.visible(scenario.about)}."
        return (
            f"{about} {standing.time_text(scenario, choices)} Each point: {settle} to settle, then {steady} that count."
        )

    @staticmethod
    def _parse_work(typed: Mapping[str, str]) -> tuple[records.Scenario, records.LoadChoices]:
        files = typed["files"]
        steady = typed["duration"]
        settle = typed["settle"]
        scenario = load_scenario.change_scenario(
            load_scenario.find_scenario(typed["scenario"] or spec.USUAL_SCENARIO),
            files=form_lines.typed_count("Files", files, records.MOST_FILES) if files else None,
            duration_seconds=form_lines.typed_number("Steady", steady, 1, records.MOST_STEADY_SECONDS)
            if steady
            else None,
            settle_seconds=form_lines.typed_number("Settle", settle, 0, MOST_SECONDS) if settle else None,
        )

        finds_capacity = typed["users"].lower() == spec.CAPACITY
        choices = records.LoadChoices(
            users=() if finds_capacity else load_scenario.parse_users(typed["users"] or spec.USUAL_USERS),
            find_capacity=finds_capacity,
            processes=len(os.sched_getaffinity(0)),
        )
        return scenario, choices

    @classmethod
    def parse(cls, typed: Mapping[str, str]) -> spec.LoadRequest:
        values = form_lines.typed_values(cls.LINES, typed)
        question = "which server? type [USER@]HOST/SHARE/FOLDER, or smb://USER@HOST/SHARE/FOLDER"
        target = form_lines.typed_target(values["target"], question)
        if not target.abilities.moves_files or (target.abilities.has_share and not target.share):
            raise errors.UsageError("name the folder that the users shall work in, such as smb://HOST/SHARE/FOLDER")

        scenario, choices = cls._parse_work(values)
        spec.check_limits(choices, (target,))
        ways = server_ways(target, values["ssh"])
        return spec.LoadRequest(
            targets=(target,),
            scenario=scenario,
            choices=choices,
            server_ssh=ways.server_ssh,
            smb_conf=ways.smb_conf,
        )
