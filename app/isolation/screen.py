"""A diagnosis and an isolation on the screen: lines, stages or layers, and the report."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import fmean
from time import monotonic
from typing import Any, ClassVar

from textual.content import Content

from app.base.errors import UsageError
from app.clients.base import Secrets
from app.guide.known import server_ways
from app.isolation import places
from app.isolation.record import record_isolation
from app.isolation.rounds import WHOLE_RUN, IsolationClosed, IsolationOpened, LayerRunEnded, LayerRunStarted
from app.isolation.script import load_script, operations_named
from app.recording.process import Warned
from app.tui.widgets import asking
from app.tui.widgets.reading import GoesOn
from app.tui.widgets.recording import MeasurementScreen, run_keys
from app.tui.widgets.views import join_toned, stopped
from forms.exporters.text import figures_text
from forms.isolation.report import isolation_report
from forms.isolation.summary import isolation_summary
from forms.isolation.wording import answer_sentence
from forms.layout import hanging
from forms.wording import byte_rate, count, duration, plain
from storage.isolation import Isolation, LayerRun
from storage.records import RunStatus

_MOST_ROUNDS, _MOST_SECONDS = 100, 3600
_RUNS = 4
"""Of each number of clients in a round: the server, disk and network together, and one of these alone."""


class IsolationRunScreen(MeasurementScreen):
    KEYS: ClassVar = (
        *GoesOn.KEYS,
        *run_keys("isolation", "Stop, remove the set-up on the server, and keep what was measured."),
    )
    STOP_HEADING = "Stop the isolation?"
    STOP_TEXT = "What was measured is kept, what was set up on the server is removed, and the isolation can be resumed."
    QUIT_TEXT = "An isolation is running. What was measured is kept, and its set-up on the server is removed."

    HEADING = "Isolation"
    to_resume = staticmethod(lambda record, secrets, _typed: places.request_to_resume(record, secrets))
    report_of = staticmethod(isolation_report)

    def __init__(self, request: places.IsolationRequest, resumed: Isolation | None = None) -> None:
        super().__init__(request, resumed)
        self._runs = self._begun = 0
        self._run_seconds: list[float] = []
        self._began_at = 0.0

    def steps(self) -> Iterator[Any]:
        self.watch_machine(self.request.target)
        resumed_id = self.resumed.id if self.resumed else None
        yield from record_isolation(self.request, self.context.notebook_path, self.control, resumed_id)

    def take_event(self, index: int, event: Any) -> None:  # noqa: ARG002  there is one isolation
        match event:
            case IsolationOpened(isolation=isolation, runs=runs):
                self.record, self._runs = isolation, runs
            case LayerRunStarted(layer=layer, clients=clients, number=number):
                if self._begun:
                    self._run_seconds.append(monotonic() - self._began_at)
                self._begun, self._began_at = number, monotonic()
                self.doing = f"Run {number} of {max(number, self._runs)}: {layer}, {count(clients, 'client')}"
            case LayerRunEnded(run=run):
                if self.record is not None:
                    self.record = replace(self.record, runs=(*self.record.runs, run))
                if run.error:
                    self.problems.append(f"{_named(run)}: {run.error}")
            case Warned(text=text):
                self.problems.append(text)
            case IsolationClosed(isolation=isolation):
                self.record, self.is_closed = isolation, True

    def now(self) -> str:
        a_round = max(1, self._runs // self.request.rounds) * [WHOLE_RUN * self.request.seconds]
        each = fmean(
            [*a_round, *self._run_seconds]
        )  # as planned too, since the first runs are of few clients and short
        left = each * max(0, self._runs - self._begun) + max(0.0, each - (monotonic() - self._began_at))
        is_told = left > 0 and self._begun and not self.is_over
        return super().now() + (f", about {duration(left)} left" if is_told else "")

    def headline(self) -> Content:
        return join_toned([stopped(self.record), answer_sentence(isolation_summary(self.record).verdict)], "")

    def heard_text(self, width: int) -> str:
        if self.record is None:
            return ""
        ended = [run for run in reversed(self.record.runs) if run.status is RunStatus.VALID]
        lines = [line for text in self.problems for line in hanging(f"! {plain(text)}", width)]
        if ended:
            report = isolation_report(self.record)
            so_far = replace(report, fields=(), tables=report.tables[:1], results=(), advice=())
            lines += [figures_text(so_far, width=width, ansi=True), "", "Runs, the newest first"]
        return "\n".join([*lines, *(f"{_named(run)}: {byte_rate(run.bytes_per_second)}" for run in ended)])


def _named(run: LayerRun) -> str:
    return f"{run.layer}, {count(run.clients, 'client')}, round {run.round}"


_COST = "Leave out: what these operations cost, measured with and without them. Names with a comma between them."
_ALONE = (
    "Network alone: measures the network without Samba. For this tbench_srv runs on the server and answers anybody on"
    " port 7003 meanwhile, so you allow it by typing the server's name. On this machine it is measured anyway."
)


def _seconds(typed: Mapping[str, str]) -> int:
    given = typed.get("seconds", "")
    seconds = asking.typed_count("Seconds", given, _MOST_SECONDS) if given else places.DEFAULT_SECONDS
    if seconds < 2:
        raise UsageError("Seconds: a run of dbench takes 2 seconds or more")
    return seconds


class IsolationScreen(asking.LinesScreen):
    NAME, HEADING, BUTTON, STORED = "isolation", "Isolation", "Isolate", "isolations"
    LINES = (
        asking.TARGET,
        asking.FormLine("clients", "Clients", "how many at once, such as 1,4,8", "1,4,8"),
        asking.FormLine("rounds", "Rounds", "how often each is measured", str(places.DEFAULT_ROUNDS)),
        asking.FormLine("seconds", "Seconds", f"of each run; empty: {places.DEFAULT_SECONDS}"),
        asking.FormLine("without", "Leave out", "operations, such as find_first; empty: none", about=_COST),
        asking.SSH,
        asking.CONF,
        asking.FormLine(
            "expose", "Network alone", "empty for a server here, else its name, to run tbench there", about=_ALONE
        ),
    )
    RUN = IsolationRunScreen

    @classmethod
    def plan_of(cls, typed: Mapping[str, str]) -> str:
        clients = places.parse_clients(typed["clients"])
        rounds = asking.typed_count("Rounds", typed["rounds"], _MOST_ROUNDS)
        seconds = min(60 * places.DEFAULT_MINUTES, rounds * len(clients) * _RUNS * WHOLE_RUN * _seconds(typed))
        usual = places.DEFAULT_ROUNDS
        few = f" Fewer than {usual} rounds rarely give a verdict." if rounds < usual else ""
        if _seconds(typed) < places.DEFAULT_SECONDS:
            few += f" Runs under {places.DEFAULT_SECONDS} s may fail."
        return f"Measures server, disk and network, interleaved: about {duration(seconds)}. It leaves no file.{few}"

    @classmethod
    def read(cls, typed: Mapping[str, str]) -> places.IsolationRequest:
        text = asking.typed_values(cls.LINES, typed)
        target = asking.typed_target(text["target"])
        if not target.abilities.has_share or not target.share:
            raise UsageError("isolate needs a share: smb://HOST/SHARE, or smb://HOST/SHARE/FOLDER")
        if (exposed := text["expose"]) not in {"", target.host}:
            raise UsageError(f"Network alone: found {exposed!r}, the server is {target.host}: type that, or nothing")
        without = operations_named(text["without"]) if text["without"] else ()
        script = load_script()
        script.without(without)
        return places.IsolationRequest(
            target=target, secrets=Secrets(), whole_script=script,
            without=tuple(operation.value for operation in without), clients=places.parse_clients(text["clients"]),
            rounds=asking.typed_count("Rounds", text["rounds"], _MOST_ROUNDS),
            seconds=_seconds(text),
            **server_ways(target, text["ssh"], text["conf"]), expose_tbench=bool(exposed),
        )  # fmt: skip
