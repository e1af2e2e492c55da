"""An isolation on the screen: its lines, the runs of its layers, and the report."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import fmean
from time import monotonic
from typing import Any, ClassVar

from textual.content import Content

from app.base.errors import UsageError
from app.clients.base import Secrets
from app.isolation import rounds as isolation_rounds
from app.isolation import script as isolation_script
from app.isolation import spec as isolation_spec
from app.isolation import timetable
from app.isolation.record import record_isolation
from app.recording.process import Warned
from app.server.named_servers import server_ways
from app.tui.widgets import form_lines, report_run, views
from app.tui.widgets.lines_screen import LinesScreen
from app.tui.widgets.reading import GoesOn
from forms import wording
from forms.exporters.text import figures_text
from forms.isolation.report import isolation_report
from forms.isolation.summary import isolation_summary
from forms.isolation.wording import answer_sentence
from forms.layout import hanging
from storage.isolation import Isolation, LayerRun
from storage.records import RunStatus

_RUNS_OF_A_ROUND = 4
"""Of each number of clients in a round: the server, disk and network together, and one of these alone."""


class IsolationRunScreen(report_run.MeasurementScreen):
    KEYS: ClassVar = (
        *GoesOn.KEYS,
        *report_run.run_keys("isolation", "Stop, remove the set-up on the server, and keep what was measured."),
    )
    STOP_HEADING = "Stop the isolation?"
    STOP_TEXT = "What was measured is kept, what was set up on the server is removed, and the isolation can be resumed."
    QUIT_TEXT = "An isolation is running. What was measured is kept, and its set-up on the server is removed."

    HEADING = "Isolation"
    report_of = staticmethod(isolation_report)

    def __init__(self, request: isolation_spec.IsolationRequest, resumed: Isolation | None = None) -> None:
        super().__init__(request, resumed)
        self._planned_runs = 0
        self._begun_runs = 0
        self._run_seconds: list[float] = []
        self._began_at = 0.0
        """When the newest run began."""

    @staticmethod
    def to_resume(record: Isolation, secrets: Secrets, _typed: Mapping[str, Any], /) -> isolation_spec.IsolationRequest:
        return isolation_spec.request_to_resume(record, secrets)

    def steps(self) -> Iterator[Any]:
        self.watch_machine(self.request.target)
        resumed_id = self.resumed.id if self.resumed else None
        yield from record_isolation(self.request, self.context.notebook_path, self.control, resumed_id)

    def take_event(self, index: int, event: Any) -> None:
        match event:
            case isolation_rounds.IsolationOpened(isolation=isolation, runs=runs):
                self.record = isolation
                self._planned_runs = runs
            case isolation_rounds.LayerRunStarted():
                self._begin_run(event)
            case isolation_rounds.LayerRunEnded(run=run):
                self._end_run(run)
            case Warned(text=text):
                self.problems.append(text)
            case isolation_rounds.IsolationClosed(isolation=isolation):
                self.record = isolation
                self.is_closed = True

    def _begin_run(self, event: isolation_rounds.LayerRunStarted) -> None:
        if self._begun_runs:
            self._run_seconds.append(monotonic() - self._began_at)
        self._begun_runs = event.number
        self._began_at = monotonic()

        all_runs = max(event.number, self._planned_runs)
        self.doing = f"Run {event.number} of {all_runs}: {event.layer}, {wording.count(event.clients, 'client')}"

    def _end_run(self, run: LayerRun) -> None:
        if self.record is not None:
            self.record = replace(self.record, runs=(*self.record.runs, run))
        if run.error:
            self.problems.append(f"{_name_of(run)}: {run.error}")

    def now(self) -> str:
        seconds_left = self._seconds_left()
        if self._begun_runs and not self.is_over and seconds_left > 0:
            return f"{super().now()}, about {wording.duration(seconds_left)} left"
        return super().now()

    def _seconds_left(self) -> float:
        # a round as planned counts too, since the first runs are of few clients and short
        runs_of_a_round = max(1, self._planned_runs // self.request.rounds)
        planned_seconds = runs_of_a_round * [timetable.WHOLE_RUN * self.request.seconds]
        run_seconds = fmean([*planned_seconds, *self._run_seconds])

        runs_to_begin = max(0, self._planned_runs - self._begun_runs)
        left_of_this_run = max(0.0, run_seconds - (monotonic() - self._began_at))
        return run_seconds * runs_to_begin + left_of_this_run

    def headline(self) -> Content:
        answer = answer_sentence(isolation_summary(self.record).verdict)
        return views.join_toned([views.stop_reason(self.record), answer], "")

    def draw_heard(self, width: int) -> str:
        if self.record is None:
            return ""

        lines: list[str] = []
        for problem in self.problems:
            lines += hanging(f"! {wording.plain(problem)}", width)

        valid_runs = [run for run in reversed(self.record.runs) if run.status is RunStatus.VALID]
        if valid_runs:
            report = isolation_report(self.record)
            first_table = replace(report, fields=(), tables=report.tables[:1], results=(), advice=())
            lines += [figures_text(first_table, width=width, ansi=True), "", "Runs, the newest first"]
            lines += [f"{_name_of(run)}: {wording.byte_rate(run.bytes_per_second)}" for run in valid_runs]
        return "\n".join(lines)


def _name_of(run: LayerRun) -> str:
    return f"{run.layer}, {wording.count(run.clients, 'client')}, round {run.round}"


_ABOUT_LEAVING_OUT = (
    "Leave out: what these operations cost, measured with and without them. Names with a comma between them."
)
_ABOUT_NETWORK_ALONE = (
    "Network alone: measures the network without Samba. For this tbench_srv runs on the server and answers anybody on"
    " port 7003 meanwhile, so you allow it by typing the server's name. On this machine it is measured anyway."
)


def _parse_rounds(typed: Mapping[str, str]) -> int:
    return form_lines.typed_count("Rounds", typed["rounds"], isolation_spec.MOST_ROUNDS)


def _parse_seconds(typed: Mapping[str, str]) -> int:
    text = typed.get("seconds", "")
    seconds = (
        form_lines.typed_count("Seconds", text, isolation_spec.MOST_SECONDS) if text else isolation_spec.DEFAULT_SECONDS
    )
    if seconds < isolation_spec.LEAST_SECONDS:
        raise UsageError(f"Seconds: a run of dbench takes {isolation_spec.LEAST_SECONDS} seconds or more")
    return seconds


class IsolationScreen(LinesScreen):
    NAME = "isolation"
    HEADING = "Isolation"
    BUTTON = "Isolate"
    STORED = "isolations"
    LINES = (
        form_lines.TARGET,
        form_lines.FormLine(
            "clients",
            "Clients",
            "how many at once, such as 1,4,8",
            isolation_spec.clients_text(isolation_spec.DEFAULT_CLIENTS_ON_SCREEN),
        ),
        form_lines.FormLine("rounds", "Rounds", "how often each is measured", str(isolation_spec.DEFAULT_ROUNDS)),
        form_lines.FormLine("seconds", "Seconds", f"of each run; empty: {isolation_spec.DEFAULT_SECONDS}"),
        form_lines.FormLine(
            "without", "Leave out", "operations, such as find_first; empty: none", about=_ABOUT_LEAVING_OUT
        ),
        form_lines.SSH,
        form_lines.CONF,
        form_lines.FormLine(
            "expose",
            "Network alone",
            "empty for a server here, else its name, to run tbench there",
            about=_ABOUT_NETWORK_ALONE,
        ),
    )
    RUN = IsolationRunScreen

    @classmethod
    def plan_of(cls, typed: Mapping[str, str]) -> str:
        clients = isolation_spec.parse_clients(typed["clients"])
        rounds = _parse_rounds(typed)
        run_seconds = _parse_seconds(typed)
        seconds = min(
            60 * isolation_spec.DEFAULT_MINUTES,
            rounds * len(clients) * _RUNS_OF_A_ROUND * timetable.WHOLE_RUN * run_seconds,
        )

        warnings = ""
        if rounds < isolation_spec.DEFAULT_ROUNDS:
            warnings += f" Fewer than {isolation_spec.DEFAULT_ROUNDS} rounds rarely give a verdict."
        if run_seconds < isolation_spec.DEFAULT_SECONDS:
            warnings += f" Runs under {isolation_spec.DEFAULT_SECONDS} s may fail."
        about = f"Measures server, disk and network, interleaved: about {wording.duration(seconds)}."
        return f"{about} It leaves no file.{warnings}"

    @classmethod
    def parse(cls, typed: Mapping[str, str]) -> isolation_spec.IsolationRequest:
        values = form_lines.typed_values(cls.LINES, typed)
        target = form_lines.typed_target(values["target"])
        if not target.abilities.has_share or not target.share:
            raise UsageError("isolate needs a share: smb://HOST/SHARE, or smb://HOST/SHARE/FOLDER")

        exposed_host = values["expose"]
        if exposed_host not in {"", target.host}:
            raise UsageError(
                f"Network alone: found {exposed_host!r}, the server is {target.host}: type that, or nothing"
            )

        left_out = isolation_script.operations_named(values["without"]) if values["without"] else ()
        script = isolation_script.load_script()
        script.without(left_out)  # refuses what the script does not have

        ways = server_ways(target, values["ssh"], values["conf"])
        return isolation_spec.IsolationRequest(
            target=target,
            secrets=Secrets(),
            whole_script=script,
            without=tuple(operation.value for operation in left_out),
            clients=isolation_spec.parse_clients(values["clients"]),
            rounds=_parse_rounds(values),
            seconds=_parse_seconds(values),
            server_ssh=ways.server_ssh,
            smb_conf=ways.smb_conf,
            expose_tbench=bool(exposed_host),
        )
