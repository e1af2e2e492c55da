"""An isolation on the screen: the lines to fill in, the layers as they are measured, and the verdict."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from time import monotonic
from typing import Any, ClassVar

from textual.content import Content

from app.clients.base import Secrets
from app.errors import LoginError, UsageError
from app.isolation.places import DEFAULT_ROUNDS, DEFAULT_SECONDS, MOST_CLIENTS, IsolationRequest
from app.isolation.rounds import IsolationClosed, IsolationOpened, LayerRunEnded, LayerRunStarted
from app.isolation.script import load_script, operations_named
from app.measure.events import Warned
from app.targets import parse_typed_target
from app.tui.frame.commands import KeyCommand
from app.tui.widgets.asking import TARGET, FormLine, LinesScreen, log_in, log_in_again, remembered_values, typed_values
from app.tui.widgets.recording import ReportRunScreen
from app.tui.widgets.views import joined
from app.workflows.guide.known import server_of
from app.workflows.isolate import record_isolation
from forms.exporters.text import table_lines
from forms.isolation.report import clients_text, isolation_report, layers_table, verdict_sentence
from forms.isolation.summary import isolation_summary
from forms.layout import Tone, Toned, hanging
from forms.series.progress import duration
from forms.wording import byte_rate, place, plain
from storage.isolations import Isolation
from storage.records import JSONValue, RunStatus, SeriesStatus, Target, format_target

MEMORY_KEY = "isolation"
_MOST_ROUNDS = 100


LINES = (
    TARGET,
    FormLine(key="clients", name="Clients", hint="how many at once, such as 1,4,8", usual="1,4,8"),
    FormLine(key="rounds", name="Rounds", hint="how often each is measured", usual=str(DEFAULT_ROUNDS)),
    FormLine(key="without", name="Without", hint="such as find_first,query_path_information; empty: all"),
    FormLine(key="ssh", name="Server by ssh", hint="[USER@]HOST; empty: the server is this machine"),
    FormLine(key="conf", name="smb.conf", hint="where the server keeps it; empty: where smbd looks"),
    FormLine(key="expose", name="Expose tbench", hint="the host again, to allow tbench_srv there; empty: no"),
)


def first_values(remembered: Mapping[str, JSONValue] | None, practice: Sequence[Target]) -> dict[str, str]:
    """What stands in the lines: what was typed last, else the practice server's share where it is ready."""
    known = dict(remembered or {})
    share = next((target for target in practice if target.abilities.has_share), None)
    if share is not None:
        ready = format_target(replace(share, path=""))
        typed = str(known.get("target") or ready)
        of_another_day = typed.startswith(ready.partition(f":{share.port}/")[0]) and not typed.startswith(ready)
        known["target"] = ready if of_another_day else typed
    return remembered_values(LINES, known)


def target_of(typed: Mapping[str, str]) -> Target:
    """The share that the lines name. Raises UsageError."""
    text = typed.get("target", "").strip()
    if not text:
        raise UsageError("which share? type [USER@]HOST/SHARE, or smb://USER@HOST/SHARE")
    target = parse_typed_target(text)
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
    script, server = load_script(), server_of(target)
    script.without(without)
    return IsolationRequest(
        target=target,
        secrets=secrets,
        whole_script=script,
        without=tuple(operation.value for operation in without),
        clients=_numbers(text["clients"]),
        rounds=_rounds(text["rounds"]),
        seconds=DEFAULT_SECONDS,
        server_ssh=text["ssh"] or (server.ssh if server else "") or None,
        smb_conf=text["conf"] or (server.smb_conf if server else "") or None,
        expose_tbench=bool(text["expose"]),
    )


def _numbers(text: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and 1 <= int(word) <= MOST_CLIENTS for word in words):
        raise UsageError(f"{text!r} is no list of numbers from 1 to {MOST_CLIENTS}, such as 1,4,8")
    return tuple(sorted({int(word) for word in words}))


def _rounds(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= _MOST_ROUNDS:
        raise UsageError(f"not a number of rounds: {text!r}; {DEFAULT_ROUNDS} is usual, more make the verdict surer")
    return int(text)


_WITH_WARM_UP = 1.2
"""Expected time until the next run, as a multiple of a run's length, before the first has ended."""


class IsolationRunScreen(ReportRunScreen):
    """Measures an isolation, a line a run, then shows its form."""

    ABOUT = (
        "The layers take turns, and each run is kept the moment it ends. At the end come the table of rates, the"
        " processors, smbd's profile, where one operation's time goes, and the verdict. Up and down scroll."
    )
    KEYS: ClassVar = (
        KeyCommand("isolation.stop", "s", "Stop", "Stop, restore the server, and keep what was measured."),
        KeyCommand("isolation.export", "x", "Export", "Write the isolation to a file."),
    )
    STOP_HEADING = "Stop the isolation?"
    STOP_TEXT = (
        "It is not complete. What was measured is kept, the server is restored, and the isolation can be resumed."
    )
    QUIT_TEXT = "An isolation is running. What was measured is kept, and the server is restored."

    def __init__(self, request: IsolationRequest, resumed_id: str | None = None) -> None:
        """``resumed_id`` is the stored isolation to complete; None for a new one."""
        super().__init__(f"Isolation · {place(request.target)}")
        self.request = request
        self.resumed_id = resumed_id
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

    def events(self) -> Iterator[tuple[int, Any]]:
        self.watch_machine(self.request.target)
        path = self.context.notebook_path
        for event in record_isolation(self.request, path, self.control, self.resumed_id):
            yield 0, event

    def heard(self, index: int, event: Any) -> None:  # noqa: ARG002  there is one isolation
        match event:
            case IsolationOpened(isolation=isolation, runs=runs):
                self.isolation, self._runs = isolation, runs
            case LayerRunStarted(layer=layer, clients=clients, number=number):
                if self._begun:
                    self._run_seconds.append(monotonic() - self._began_at)
                self._begun, self._began_at = number, monotonic()
                self._now = f"Run {number} of {max(number, self._runs)}: {layer}, {clients_text(clients)}"
            case LayerRunEnded(run=run):
                if self.isolation is not None:
                    self.isolation = replace(self.isolation, runs=(*self.isolation.runs, run))
                if run.error:
                    self._problems.append(f"{run.layer}, {clients_text(run.clients)}, round {run.round}: {run.error}")
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
        return isolation_headline(self.isolation)

    def heard_text(self, width: int) -> str:
        """The table so far, as it will stand on the form, the runs that ended, and what is to be known."""
        if self.isolation is None:
            return ""
        lines: list[str] = []
        if any(run.status is RunStatus.VALID for run in self.isolation.runs):
            lines += [*table_lines(layers_table(isolation_summary(self.isolation)), width, ansi=True), ""]
        lines += [line for text in self._problems for line in hanging(f"! {plain(text)}", width)]
        ended = [run for run in reversed(self.isolation.runs) if run.status is RunStatus.VALID]
        lines += ["", "Runs, the newest first"] if ended else []
        lines += [
            f"{run.layer}, {clients_text(run.clients)}, round {run.round}: {byte_rate(run.bytes_per_second)}"
            for run in ended
        ]
        return "\n".join(lines).lstrip("\n")

    def ended(self, error: Exception | None) -> None:
        if error is not None and not (isinstance(error, LoginError) and self._log_in_again(error)):
            self.work_failed(error)
        if self.isolation is not None and self.is_closed:
            self.show_report(isolation_report(self.isolation))
        else:
            self.draw()
            self.refresh_bindings()

    def _log_in_again(self, error: LoginError) -> bool:
        return log_in_again(
            self, [self.request.target], str(error),
            lambda secrets: self.begin_again(
                IsolationRunScreen(replace(self.request, secrets=secrets), self.resumed_id)
            ),
        )  # fmt: skip


def isolation_headline(isolation: Isolation) -> Content:
    """What it is, after what ended it early."""
    verdict = verdict_sentence(isolation_summary(isolation).verdict)
    ended = f"! {isolation.status}{f': {isolation.error}' if isolation.error else ''}. "
    return joined([Toned("" if isolation.status is SeriesStatus.COMPLETE else plain(ended), Tone.CAUTION), verdict], "")


class IsolationScreen(LinesScreen):
    """Asks what the isolation shall measure; what is typed is kept in the notebook, but for the password."""

    ABOUT = (
        "Is it Samba, the disk, or the network? Several clients carry out one script of operations against the server's"
        " disk, the network, both at once and the server, interleaved. Disk and network need root and the package"
        " dbench on the server; without them the rest is measured. Fill in the lines, Enter goes to the next one."
    )
    KEYS: ClassVar = (
        KeyCommand("isolation.start", "f9", "Isolate", "Measure what the lines say.", footer="Start", priority=True),
        KeyCommand(
            "isolation.stored",
            "ctrl+l",
            "Stored isolations",
            "List the isolations of the notebook: to read, label and export one, or to complete one that stopped.",
            footer="Stored",
            priority=True,
        ),
    )
    HEADING, BUTTON, STORED = "Isolation", "Isolate", "isolation"
    LINES = LINES
    MEMORY_KEY = MEMORY_KEY
    first_values = staticmethod(first_values)

    def read(self, typed: Mapping[str, str]) -> IsolationRequest:
        return read_request(typed, target_of(typed), Secrets())

    def begin(self, request: IsolationRequest) -> None:
        def measure(secrets: Secrets) -> None:
            self.app.push_screen(IsolationRunScreen(replace(request, secrets=secrets)))

        log_in(self, request.target, measure)
