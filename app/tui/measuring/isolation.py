"""An isolation on the screen: the lines to fill in, the layers as they are measured, and the verdict."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import fmean
from time import monotonic
from typing import Any, ClassVar

from textual.content import Content

from app.clients.base import Secrets
from app.errors import UsageError
from app.isolation.places import DEFAULT_ROUNDS, DEFAULT_SECONDS, IsolationRequest, parse_clients, request_to_resume
from app.isolation.rounds import IsolationClosed, IsolationOpened, LayerRunEnded, LayerRunStarted
from app.isolation.script import load_script, operations_named
from app.measure.process import Warned
from app.tui.widgets.asking import TARGET, FormLine, LinesScreen, typed_count, typed_target, typed_values
from app.tui.widgets.recording import MeasurementScreen, run_keys
from app.tui.widgets.views import joined, stopped
from app.workflows.guide.known import server_ways
from app.workflows.restore import record_isolation
from forms.exporters.text import table_lines
from forms.isolation.report import answer_sentence, isolation_report, layers_table
from forms.isolation.summary import isolation_summary
from forms.layout import hanging
from forms.report import Report
from forms.series.progress import duration
from forms.wording import byte_rate, count, place, plain
from storage.isolations import Isolation
from storage.records import RunStatus, Target

_MOST_ROUNDS = 100


LINES = (
    TARGET,
    FormLine(key="clients", name="Clients", hint="how many at once, such as 1,4,8", usual="1,4,8"),
    FormLine(key="rounds", name="Rounds", hint="how often each is measured", usual=str(DEFAULT_ROUNDS)),
    FormLine(key="without", name="Without", hint="such as find_first,query_path_information; empty: all"),
    FormLine(key="ssh", name="Server by ssh", hint="[USER@]HOST; empty: the server is this machine"),
    FormLine(key="conf", name="smb.conf", hint="its path on the server; empty: the path of its smbd"),
    FormLine(key="expose", name="Expose tbench", hint="the host again, to allow tbench_srv there; empty: no"),
)


def target_of(typed: Mapping[str, str]) -> Target:
    """The share that the lines name. Raises UsageError."""
    target = typed_target(typed.get("target", ""))
    if not target.abilities.has_share or not target.share:
        raise UsageError("isolate needs a share: smb://HOST/SHARE, or smb://HOST/SHARE/FOLDER")
    return target


def read_request(typed: Mapping[str, str], target: Target, secrets: Secrets) -> IsolationRequest:
    """What the lines ask for. Raises UsageError with what is wrong."""
    text = typed_values(LINES, typed)
    if text["expose"] not in {"", target.host}:
        raise UsageError(
            f"tbench is to be exposed on {text['expose']}, the server is {target.host}: type that, or none"
        )
    without = operations_named(text["without"]) if text["without"] else ()
    script = load_script()
    script.without(without)
    return IsolationRequest(
        target=target,
        secrets=secrets,
        whole_script=script,
        without=tuple(operation.value for operation in without),
        clients=parse_clients(text["clients"]),
        rounds=typed_count("Rounds", text["rounds"], _MOST_ROUNDS),
        seconds=DEFAULT_SECONDS,
        **server_ways(target, text["ssh"], text["conf"]),
        expose_tbench=bool(text["expose"]),
    )


_WITH_WARM_UP = 1.2
"""Expected time until the next run, as a multiple of a run's length, before the first has ended."""


class IsolationRunScreen(MeasurementScreen):
    """Measures an isolation, a line a run, then shows its form."""

    KEYS: ClassVar = run_keys("isolation", "Stop, restore the server, and keep what was measured.")
    STOP_HEADING = "Stop the isolation?"
    STOP_TEXT = (
        "It is not complete. What was measured is kept, the server is restored, and the isolation can be resumed."
    )
    QUIT_TEXT = "An isolation is running. What was measured is kept, and the server is restored."

    def __init__(self, request: IsolationRequest, resumed: Isolation | None = None) -> None:
        super().__init__(request, resumed)
        self.isolation: Isolation | None = None
        """As it was opened, with the runs that ended since; at the end as it is stored."""
        self.is_closed = False
        self._now = "Looking at the server …"
        self._problems: list[str] = []
        self._runs = 0
        self._begun = 0
        self._run_seconds: list[float] = []
        """What each run took, beginning to beginning."""
        self._began_at = 0.0

    @staticmethod
    def heading_of(request: IsolationRequest) -> str:
        return f"Isolation · {place(request.target)}"

    @staticmethod
    def to_resume(record: Isolation, secrets: Secrets, typed: Mapping[str, Any]) -> IsolationRequest:  # noqa: ARG004
        return request_to_resume(record, secrets)

    def steps(self) -> Iterator[Any]:
        self.watch_machine(self.request.target)
        resumed_id = self.resumed.id if self.resumed else None
        yield from record_isolation(self.request, self.context.notebook_path, self.control, resumed_id)

    def heard(self, index: int, event: Any) -> None:  # noqa: ARG002  there is one isolation
        match event:
            case IsolationOpened(isolation=isolation, runs=runs):
                self.isolation, self._runs = isolation, runs
            case LayerRunStarted(layer=layer, clients=clients, number=number):
                if self._begun:
                    self._run_seconds.append(monotonic() - self._began_at)
                self._begun, self._began_at = number, monotonic()
                self._now = f"Run {number} of {max(number, self._runs)}: {layer}, {count(clients, 'client')}"
            case LayerRunEnded(run=run):
                if self.isolation is not None:
                    self.isolation = replace(self.isolation, runs=(*self.isolation.runs, run))
                if run.error:
                    self._problems.append(
                        f"{run.layer}, {count(run.clients, 'client')}, round {run.round}: {run.error}"
                    )
            case Warned(text=text):
                self._problems.append(text)
            case IsolationClosed(isolation=isolation):
                self.isolation, self.is_closed = isolation, True

    def now(self) -> str:
        if self.is_over and not self.is_closed:
            return "Nothing was measured."
        to_come = max(0, self._runs - self._begun)
        each = fmean(self._run_seconds) if self._run_seconds else _WITH_WARM_UP * self.request.seconds
        left = each * (to_come + 1) - (monotonic() - self._began_at) if self._begun else 0.0
        return f"{self._now}, about {duration(left)} left" if left > 0 else self._now

    def headline(self) -> Content:
        assert self.isolation is not None
        return joined([stopped(self.isolation), answer_sentence(isolation_summary(self.isolation).verdict)], "")

    def heard_text(self, width: int) -> str:
        if self.isolation is None:
            return ""
        lines: list[str] = []
        if any(run.status is RunStatus.VALID for run in self.isolation.runs):
            lines += [*table_lines(layers_table(isolation_summary(self.isolation)), width, ansi=True), ""]
        lines += [line for text in self._problems for line in hanging(f"! {plain(text)}", width)]
        ended = [run for run in reversed(self.isolation.runs) if run.status is RunStatus.VALID]
        lines += ["", "Runs, the newest first"] if ended else []
        lines += [
            f"{run.layer}, {count(run.clients, 'client')}, round {run.round}: {byte_rate(run.bytes_per_second)}"
            for run in ended
        ]
        return "\n".join(lines).lstrip("\n")

    def result(self) -> Report | None:
        return isolation_report(self.isolation) if self.isolation is not None and self.is_closed else None


class IsolationScreen(LinesScreen):
    """Asks what the isolation shall measure; what is typed is kept in the notebook, but for the password."""

    NAME, HEADING, BUTTON, STORED = "isolation", "Isolation", "Isolate", "isolations"
    LINES = LINES
    RUN = IsolationRunScreen

    def read(self, typed: Mapping[str, str]) -> IsolationRequest:
        return read_request(typed, target_of(typed), Secrets())
