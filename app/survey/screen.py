"""A survey on the screen: its lines, the progress of each series, and what it found."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from textual.widgets import Button

from app.base.errors import LoginError, UsageError
from app.base.units import parse_size
from app.charts.series_charts import bar
from app.clients.base import Secrets
from app.clients.logins import same_login
from app.guide.rounds import NextStep, after_survey
from app.recording.process import Failed, Finished, Paused, Progressed, RunFinished, RunStarted, ScratchMade, Warned
from app.recording.spec import SeriesSpec
from app.series.progress import RunPace
from app.series.record import RecorderEvent, words
from app.survey import record as survey
from app.tui.frame.commands import keys
from app.tui.frame.dialogs import ConfirmDialog
from app.tui.widgets import asking
from app.tui.widgets.reading import GoesOn
from app.tui.widgets.recording import ReportRunScreen, run_keys
from forms import wording
from forms.experiments.survey import Station, StationState, Survey
from forms.experiments.survey_report import next_step_sentence, survey_report
from forms.layout import cut, hanging, pad
from forms.series.estimate import expected_rate, time_text
from forms.stats.summary import mean
from forms.wording import duration
from storage.notebook import Notebook
from storage.plan import DEFAULT_RUNS, RunCounts
from storage.protocols import protocol_of
from storage.records import Command, JSONValue, Phase, RunStatus, Target


def _ports(text: str) -> dict[str, int]:
    ports = {}
    for part in text.replace(",", ";").split(";"):
        if not part.strip():
            continue
        protocol, _, number = part.strip().partition(" ")
        if not protocol_of(protocol).in_survey or not number.strip().isdecimal() or not 0 < int(number) < 65536:
            raise UsageError(f"not a port: {part.strip()!r}; write smb 4450, ftp 2121, iperf3 5301")
        ports[protocol] = int(number)
    return ports


_BAR = 10
_NAME = 27
_STATE = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class StationProgress:
    station: Station
    doing: str
    percent: float | None = None
    rates: tuple[float, ...] = ()

    def heard(self, event: RecorderEvent) -> "StationProgress":
        doing, percent, rates = words(event), self.percent, self.rates
        match event:
            case ScratchMade() if self.station.command is Command.PUT or percent is not None:
                doing = ""
            case RunStarted():
                percent = 0.0
            case Progressed(moved_bytes=moved, size_bytes=size):
                percent = 100 * moved / size if size else None
            case RunFinished(run=run):
                doing, percent = "", None
                if run.phase is Phase.MEASURED and run.status is RunStatus.VALID and run.bytes_per_second:
                    rates = (*rates, run.bytes_per_second)
            case Paused():
                doing = ""
            case Failed() | Finished():
                percent = None
        return replace(self, doing=doing or self.doing, percent=percent, rates=rates)

    def line(self, width: int) -> str:
        figure = bar(self.percent, _BAR) if self.percent is not None else ""
        average = mean(self.rates)
        told = figure or (wording.rate(average) if average is not None else "")
        return cut(f"{pad(self.station.name, _NAME)} {pad(cut(self.doing, _STATE), _STATE)} {told}", width)


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyProgress:
    series: tuple[StationProgress, ...]
    warnings: tuple[str, ...] = ()

    def heard(self, index: int, event: RecorderEvent) -> "SurveyProgress":
        series = list(self.series)
        series[index] = series[index].heard(event)
        warnings = (*self.warnings, event.text) if isinstance(event, Warned) else self.warnings
        return SurveyProgress(series=tuple(series), warnings=tuple(dict.fromkeys(warnings)))

    def text(self, width: int) -> str:
        left_out = [one.station for one in self.series if one.station.state is StationState.LEFT_OUT]
        going = [one.line(width) for one in self.series if one.station not in left_out]
        out = [line for one in left_out for line in hanging(f"{one.name}: left out, {one.why}", width)]
        return "\n".join([*going, *([""] if out else []), *out])


def begin(stations: Sequence[Station]) -> SurveyProgress:
    runs = [one.series.measured() if one.series else () for one in stations]
    rates = [tuple(run.bytes_per_second for run in done if run.bytes_per_second) for done in runs]
    begun = zip(stations, rates, strict=True)
    series = tuple(StationProgress(station=one, doing=one.state.value, rates=done) for one, done in begun)
    return SurveyProgress(series=series)


class SurveyRunScreen(ReportRunScreen, GoesOn):
    KEYS: ClassVar = (*GoesOn.KEYS, *run_keys("survey", "Stop at once; what was measured is kept and can be resumed."))
    STOP_HEADING = "Stop the survey?"
    STOP_TEXT = "The survey is not complete. What was measured is kept, and the survey can be resumed."
    QUIT_TEXT = "A survey is running. What was measured is kept, and the survey can be resumed."

    def __init__(self, planned: survey.SurveyRound, targets: Sequence[Target], again: Callable[[], None]) -> None:
        super().__init__(planned.experiment.name)
        self.planned, self.targets, self.again = planned, targets, again
        self._refused: list[tuple[list[Target], str]] = []
        self.surveying = begin(planned.stations)
        self._pace = RunPace(planned.runs_to_come)
        self.survey: Survey | None = None

    def events(self) -> Iterator[tuple[int, RecorderEvent]]:
        return survey.measure_round(self.planned, self.context.notebook_path, self.control)

    def take_event(self, index: int, event: RecorderEvent) -> None:
        self.surveying = self.surveying.heard(index, event)
        self._pace.heard(index, event)
        if isinstance(event, Failed) and event.kind is LoginError:
            self._refuse(self.planned.stations[index], event.text)

    def _refuse(self, station: Station, why: str) -> None:
        refused = survey.targets_like(station, self.planned, self.targets)
        for target in refused:
            self.context.logins.refuse(target)
        if refused and refused[0].user and refused not in [targets for targets, _ in self._refused]:
            self._refused.append((refused, why))

    def now(self) -> str:
        if self.survey is not None:
            return next_step_sentence(self.survey)
        left = self._pace.seconds_left
        return f"Measuring, interleaved, {self.planned.time_text if left is None else f'about {duration(left)} left'} …"

    def warnings(self) -> str:
        return " ".join(self.surveying.warnings[-2:])

    def heard_text(self, width: int) -> str:
        return self.surveying.text(width)

    def next_steps(self) -> Iterable[NextStep]:
        return after_survey(self.survey) if self.survey is not None else ()

    def measurement_ended(self, error: Exception | None) -> None:
        if error is not None:
            self.work_failed(error)
        self.with_notebook(lambda notebook: survey.result(self.planned, notebook), self._show)

    def _show(self, filled: Survey) -> None:
        self.survey = filled
        self.show_report(survey_report(filled))
        if self._refused:
            self._log_in_again()

    def _log_in_again(self) -> None:
        if self._refused:
            targets, why = self._refused.pop(0)
            asking.log_in_again(self, targets, why, lambda _: self._log_in_again())
        else:
            if not self.is_covered:
                self.action_back()
            self.again()


class SurveyScreen(asking.LinesScreen):
    KEYS: ClassVar = keys("survey.restart")
    NAME = "survey"
    HEADING = BUTTON = "Survey"
    START = "Measure what the lines say, or resume an interrupted survey of the same."
    LINES = (
        asking.FormLine("hosts", "Hosts", "names or addresses; on the server, its loopback is measured too"),
        asking.FormLine("smb", "SMB share", "SHARE or SHARE/FOLDER that can be written; empty: no SMB"),
        asking.FormLine("ftp", "FTP folder", "such as / or /upload; empty: no FTP"),
        asking.FormLine("user", "User", "USER or DOMAIN;USER; empty: guest and anonymous"),
        asking.FormLine("ftp_user", "FTP user", "where it is another one; anonymous: no user"),
        asking.FormLine("runs", "Runs", "measured runs of each series", str(DEFAULT_RUNS)),
        asking.FormLine("size", "Size", "such as 512M or 1G; empty: some seconds at link speed"),
        asking.FormLine("ports", "Ports", "such as smb 4450, ftp 2121, iperf3 5301; empty: the usual ones"),
    )

    @classmethod
    def first_values(cls, remembered: Mapping[str, JSONValue] | None, practice: Sequence[Target]) -> dict[str, str]:
        if not practice:
            return asking.remembered_values(cls.LINES, remembered)
        ports = {target.protocol: target.port for target in practice if target.abilities.in_survey}
        smb = next((target for target in practice if target.abilities.has_share), None)
        return asking.remembered_values(cls.LINES) | {
            "hosts": practice[0].host,
            "smb": (smb.share or "") if smb else "",
            "ftp": "/" if "ftp" in ports else "",
            "user": next((target.user for target in practice if target.user), ""),
            "size": "64M",
            "ports": ", ".join(f"{protocol} {port}" for protocol, port in ports.items() if port),
        }

    @classmethod
    def read(cls, typed: Mapping[str, str]) -> survey.SurveyChoices:
        text = asking.typed_values(cls.LINES, typed)
        hosts = tuple(text["hosts"].replace(",", " ").split())
        if not hosts:
            raise UsageError("which server? type its name or address, or 127.0.0.1 on the server itself")
        domain, _, user = text["user"].rpartition(";")
        return survey.SurveyChoices(
            hosts=hosts, smb=text["smb"] or None, ftp=text["ftp"] or None, ports=_ports(text["ports"]),
            user=user or None, domain=domain or None, ftp_user=text["ftp_user"] or None,
            spec=SeriesSpec(
                counts=RunCounts(
                    runs=asking.typed_count("Runs", text["runs"], 1000),
                    size_bytes=parse_size(text["size"]) if text["size"] else None,
                )
            ),
        )  # fmt: skip

    @classmethod
    def plan_of(cls, typed: Mapping[str, str]) -> str:
        choices = cls.read(typed)
        protocols = (choices.smb is not None) + (choices.ftp is not None) + choices.iperf3
        counts = choices.spec.counts
        runs = counts.runs + counts.warmups + 1  # with the put of the file that a get reads
        moved = protocols * len(choices.commands) * runs * (counts.size_bytes or survey.size_for(None))
        rates = [expected_rate(Target(protocol="smb", host=host, user=choices.user)) for host in choices.hosts]
        told = time_text(sum(moved / rate.bytes_per_second for rate in rates), rates)
        return f"Measures SMB, FTP and bare TCP, both ways, interleaved: {told}. Every file made is removed."

    @staticmethod
    def values_of(target: Target) -> dict[str, str]:
        share = "/".join(filter(None, (target.share, target.path)))
        port = f"smb {target.port}" if target.port else ""
        return {"hosts": target.host, "smb": share, "user": target.user or "", "ports": port}

    def action_start(self) -> None:
        self._begin(again=False)

    def action_restart(self) -> None:
        self._begin(again=True)

    def _begin(self, *, again: bool) -> None:
        logins = self.context.logins
        try:
            choices = self.read(self.typed())
            targets = survey.targets_of(choices)
        except UsageError as error:
            self.work_failed(error)
            return
        unknown = self._without_password(targets)

        def answered(secrets: Secrets) -> None:
            for target in targets:
                if unknown and same_login(target, unknown) and not logins.knows(target):
                    logins.keep(target, secrets)
            self._begin(again=again)

        def plan(notebook: Notebook) -> survey.SurveyRound:
            return survey.plan_round(choices, notebook, lambda target: (target, logins.find(target)), again=again)

        if unknown is not None:
            asking.ask_password(self, unknown, answered)
        else:
            self.remember()
            self.query_one("#start", Button).disabled = True
            self.with_notebook(plan, lambda planned: self._planned(planned, targets), group="plan", exclusive=True)

    def _without_password(self, targets: list[Target]) -> Target | None:
        """The first target whose user's password nobody has said; one that is known for a host goes for all."""
        logins = self.context.logins
        for target in targets:
            if logins.knows(target):
                continue
            said = next((other for other in targets if same_login(other, target) and logins.knows(other)), None)
            if said is None or logins.is_refused(target):
                return target
            logins.keep(target, logins.find(said))
        return None

    def work_failed(self, error: Exception) -> None:
        self.query_one("#start", Button).disabled = False
        super().work_failed(error)

    def _planned(self, planned: survey.SurveyRound, targets: list[Target]) -> None:
        self.query_one("#start", Button).disabled = False

        def measure(_: bool) -> None:
            self.app.push_screen(SurveyRunScreen(planned, targets, lambda: self._begin(again=False)))

        if not planned.continued:
            measure(True)  # noqa: FBT003  as the dialog answers
            return
        todo = f"{len(planned.todo)} of {len(planned.stations)} series are to do"
        text = f"{planned.experiment.name} is not complete: {todo}. Ctrl+R begins a new one instead."
        self.ask(ConfirmDialog("Resume it?", text, yes="Resume", prefer_yes=True), measure)
