"""A survey on the screen: its lines, the progress of each series, and what it found.

A station is one place, protocol and direction that a survey measures, with one series.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from textual.widgets import Button

from app.base.errors import LoginError, UsageError
from app.base.units import parse_size
from app.charts.series_charts import bar
from app.clients.base import Secrets
from app.clients.logins import same_login
from app.method.next_steps import NextStep, after_survey
from app.recording.process import Failed, Finished, Paused, Progressed, RunFinished, RunStarted, ScratchMade, Warned
from app.recording.spec import SeriesSpec
from app.series.events import RecorderEvent, words
from app.series.pace import RunPace
from app.survey import record as survey_record
from app.tui.frame.commands import keys
from app.tui.frame.dialogs import ConfirmDialog
from app.tui.widgets import form_lines, logins
from app.tui.widgets.form_lines import FormLine
from app.tui.widgets.lines_screen import LinesScreen
from app.tui.widgets.reading import GoesOn
from app.tui.widgets.report_run import ReportRunScreen, run_keys
from forms import wording
from forms.experiments.survey import Station, StationState, Survey
from forms.experiments.survey_report import next_step_sentence, survey_report
from forms.layout import cut, hanging, pad
from forms.series.estimate import expected_rate, time_text
from forms.stats.summary import mean
from forms.wording import duration
from storage.notebook import Notebook
from storage.plan import RunCounts
from storage.protocols import protocol_of
from storage.recommended import DEFAULT_RUNS
from storage.records import Command, JSONValue, Phase, Run, RunStatus, Target

_MOST_RUNS = 1000
_PORTS_END = 65536


def _parse_ports(text: str) -> dict[str, int]:
    """The port of each protocol named. Raises UsageError."""
    ports: dict[str, int] = {}
    for part in text.replace(",", ";").split(";"):
        words_of_part = part.strip()
        if not words_of_part:
            continue

        protocol, _, number = words_of_part.partition(" ")
        is_number = number.strip().isdecimal()
        if not protocol_of(protocol).in_survey or not is_number or not 0 < int(number) < _PORTS_END:
            raise UsageError(f"not a port: {words_of_part!r}; write smb 4450, ftp 2121, iperf3 5301")
        ports[protocol] = int(number)
    return ports


_BAR_WIDTH = 10
_NAME_WIDTH = 27
_STATE_WIDTH = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class StationProgress:
    """How far the series of a station has come; what its line shows."""

    station: Station
    doing: str
    percent: float | None = None
    """Of the bytes of the run under way; None between runs, or where its size is unknown."""
    rates: tuple[float, ...] = ()
    """Bytes per second of the runs that count."""

    def heard(self, event: RecorderEvent) -> "StationProgress":
        """The progress after an event of its series."""
        # The file of a put is made by each run, and so is told as that run.
        is_made_by_run = self.station.command is Command.PUT or self.percent is not None

        match event:
            case RunStarted():
                return replace(self, doing=words(event) or self.doing, percent=0.0)
            case Progressed(moved_bytes=moved, size_bytes=size):
                percent = 100 * moved / size if size else None
                return replace(self, doing=words(event) or self.doing, percent=percent)
            case RunFinished(run=run):
                rate = _counted_rate(run)
                return replace(self, percent=None, rates=self.rates if rate is None else (*self.rates, rate))
            case Failed() | Finished():
                return replace(self, doing=words(event) or self.doing, percent=None)
            case Paused():
                # Another series has its turn: the line keeps what this one did last.
                return self
            case ScratchMade() if is_made_by_run:
                return self
            case _:
                return replace(self, doing=words(event) or self.doing)

    def line(self, width: int) -> str:
        average = mean(self.rates)
        figure = ""
        if self.percent is not None:
            figure = bar(self.percent, _BAR_WIDTH)
        if not figure and average is not None:
            figure = wording.rate(average)

        name = pad(self.station.name, _NAME_WIDTH)
        state = pad(cut(self.doing, _STATE_WIDTH), _STATE_WIDTH)
        return cut(f"{name} {state} {figure}", width)


def _counted_rate(run: Run) -> float | None:
    """Bytes per second of a run that counts; None for a warm-up, or one that failed."""
    counts = run.phase is Phase.MEASURED and run.status is RunStatus.VALID
    return run.bytes_per_second if counts and run.bytes_per_second else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyProgress:
    """How far a survey has come, and what its series warn of, each warning once."""

    series: tuple[StationProgress, ...]
    warnings: tuple[str, ...] = ()

    def heard(self, index: int, event: RecorderEvent) -> "SurveyProgress":
        """The progress after an event of the series at this place."""
        series = list(self.series)
        series[index] = series[index].heard(event)
        warnings = self.warnings
        if isinstance(event, Warned) and event.text not in warnings:
            warnings = (*warnings, event.text)
        return SurveyProgress(series=tuple(series), warnings=warnings)

    def draw(self, width: int) -> str:
        """A line for each series, and below them what was left out, and why."""
        lines: list[str] = []
        lines_left_out: list[str] = []
        for progress in self.series:
            station = progress.station
            if station.state is StationState.LEFT_OUT:
                lines_left_out += hanging(f"{station.name}: left out, {station.why}", width)
            else:
                lines.append(progress.line(width))

        if lines_left_out:
            lines += ["", *lines_left_out]
        return "\n".join(lines)


def begin(stations: Sequence[Station]) -> SurveyProgress:
    """The progress before anything is measured; a survey that is resumed has runs already."""
    return SurveyProgress(series=tuple(map(_begin_station, stations)))


def _begin_station(station: Station) -> StationProgress:
    runs = station.series.measured() if station.series else ()
    rates = tuple(run.bytes_per_second for run in runs if run.bytes_per_second)
    return StationProgress(station=station, doing=station.state.value, rates=rates)


class SurveyRunScreen(ReportRunScreen, GoesOn):
    KEYS: ClassVar = (*GoesOn.KEYS, *run_keys("survey", "Stop at once; what was measured is kept and can be resumed."))
    STOP_HEADING = "Stop the survey?"
    STOP_TEXT = "The survey is not complete. What was measured is kept, and the survey can be resumed."
    QUIT_TEXT = "A survey is running. What was measured is kept, and the survey can be resumed."

    def __init__(
        self, planned: survey_record.SurveyRound, targets: Sequence[Target], measure_rest: Callable[[], None]
    ) -> None:
        """``measure_rest`` plans and measures what is left, once passwords that were refused have been typed again."""
        super().__init__(planned.experiment.name)
        self.planned = planned
        self.targets = targets
        self.measure_rest = measure_rest
        self.progress = begin(planned.stations)
        self.survey: Survey | None = None
        """What was found; None while it is measured."""
        self._refusals: list[tuple[list[Target], str]] = []
        """The targets of a login that was refused, and why; a password is asked for when all has ended."""
        self._pace = RunPace(planned.runs_to_come)

    def events(self) -> Iterator[tuple[int, RecorderEvent]]:
        return survey_record.measure_round(self.planned, self.context.notebook_path, self.control)

    def take_event(self, index: int, event: RecorderEvent) -> None:
        self.progress = self.progress.heard(index, event)
        self._pace.take_event(index, event)
        if isinstance(event, Failed) and event.kind is LoginError:
            self._refuse(self.planned.stations[index], event.text)

    def _refuse(self, station: Station, reason: str) -> None:
        """Note that the login of the station was refused; several stations with one login count once."""
        refused_targets = survey_record.targets_like(station, self.planned, self.targets)
        for target in refused_targets:
            self.context.logins.refuse(target)

        is_guest = not refused_targets or not refused_targets[0].user
        is_asked_already = any(targets == refused_targets for targets, _ in self._refusals)
        if not is_guest and not is_asked_already:
            self._refusals.append((refused_targets, reason))

    def now(self) -> str:
        if self.survey is not None:
            return next_step_sentence(self.survey)

        seconds_left = self._pace.seconds_left
        time_left = self.planned.time_text if seconds_left is None else f"about {duration(seconds_left)} left"
        return f"Measuring, interleaved, {time_left} …"

    def warnings(self) -> str:
        return " ".join(self.progress.warnings[-2:])

    def draw_heard(self, width: int) -> str:
        return self.progress.draw(width)

    def next_steps(self) -> Iterable[NextStep]:
        return after_survey(self.survey) if self.survey is not None else ()

    def measurement_ended(self, error: Exception | None) -> None:
        if error is not None:
            self.work_failed(error)
        self.with_notebook(partial(survey_record.result, self.planned), self._show_survey)

    def _show_survey(self, result: Survey) -> None:
        self.survey = result
        self.show_report(survey_report(result))
        if self._refusals:
            self._log_in_again()

    def _log_in_again(self, _secrets: object = None) -> None:
        """Ask for one password after the other, then measure what is left with all of them."""
        if self._refusals:
            targets, reason = self._refusals.pop(0)
            logins.log_in_again(self, targets, reason, self._log_in_again)
            return

        if not self.is_covered:
            self.action_back()
        self.measure_rest()


class SurveyScreen(LinesScreen):
    KEYS: ClassVar = keys("survey.restart")
    NAME = "survey"
    HEADING = BUTTON = "Survey"
    START = "Measure what the lines say, or resume an interrupted survey of the same."
    LINES = (
        FormLine("hosts", "Hosts", "names or addresses; on the server, its loopback is measured too"),
        FormLine("smb", "SMB share", "SHARE or SHARE/FOLDER that can be written; empty: no SMB"),
        FormLine("ftp", "FTP folder", "such as / or /upload; empty: no FTP"),
        FormLine("user", "User", "USER or DOMAIN;USER; empty: guest and anonymous"),
        FormLine("ftp_user", "FTP user", "where it is another one; anonymous: no user"),
        FormLine("runs", "Runs", "measured runs of each series", str(DEFAULT_RUNS)),
        FormLine("size", "Size", "such as 512M or 1G; empty: some seconds at link speed"),
        FormLine("ports", "Ports", "such as smb 4450, ftp 2121, iperf3 5301; empty: the usual ones"),
    )

    @classmethod
    def first_values(cls, remembered: Mapping[str, JSONValue] | None, practice: Sequence[Target]) -> dict[str, str]:
        if not practice:
            return form_lines.remembered_values(cls.LINES, remembered)

        ports = {target.protocol: target.port for target in practice if target.abilities.in_survey}
        share_target = next((target for target in practice if target.abilities.has_share), None)
        return form_lines.remembered_values(cls.LINES) | {
            "hosts": practice[0].host,
            "smb": (share_target.share or "") if share_target else "",
            "ftp": "/" if "ftp" in ports else "",
            "user": next((target.user for target in practice if target.user), ""),
            "size": "64M",
            "ports": ", ".join(f"{protocol} {port}" for protocol, port in ports.items() if port),
        }

    @staticmethod
    def values_of(target: Target) -> dict[str, str]:
        share = "/".join(filter(None, (target.share, target.path)))
        port = f"smb {target.port}" if target.port else ""
        return {"hosts": target.host, "smb": share, "user": target.user or "", "ports": port}

    @classmethod
    def parse(cls, typed: Mapping[str, str]) -> survey_record.SurveyChoices:
        values = form_lines.typed_values(cls.LINES, typed)
        hosts = tuple(values["hosts"].replace(",", " ").split())
        if not hosts:
            raise UsageError("which server? type its name or address, or 127.0.0.1 on the server itself")

        ports = _parse_ports(values["ports"])
        domain, _, user = values["user"].rpartition(";")
        return survey_record.SurveyChoices(
            hosts=hosts,
            smb=values["smb"] or None,
            ftp=values["ftp"] or None,
            ports=ports,
            user=user or None,
            domain=domain or None,
            ftp_user=values["ftp_user"] or None,
            spec=SeriesSpec(
                counts=RunCounts(
                    runs=form_lines.typed_count("Runs", values["runs"], _MOST_RUNS),
                    size_bytes=parse_size(values["size"]) if values["size"] else None,
                )
            ),
        )

    @classmethod
    def plan_of(cls, typed: Mapping[str, str]) -> str:
        choices = cls.parse(typed)
        counts = choices.spec.counts

        protocols = (choices.smb is not None) + (choices.ftp is not None) + choices.iperf3
        transfers_of_a_series = counts.runs + counts.warmups + 1  # with the put of the file that a get reads
        transfers = protocols * len(choices.commands) * transfers_of_a_series
        moved_bytes = transfers * (counts.size_bytes or survey_record.size_for(None))

        rates = [expected_rate(Target(protocol="smb", host=host, user=choices.user)) for host in choices.hosts]
        seconds = sum(moved_bytes / rate.bytes_per_second for rate in rates)
        time_needed = time_text(seconds, rates)
        return f"Measures SMB, FTP and bare TCP, both ways, interleaved: {time_needed}. Every file made is removed."

    def action_start(self) -> None:
        self._begin(is_new=False)

    def action_restart(self) -> None:
        self._begin(is_new=True)

    def _begin(self, *, is_new: bool) -> None:
        """Plan and measure the survey, once the password of each user is known.

        An incomplete one of the same is resumed, unless a new one is asked for.
        """
        try:
            choices = self.parse(self.typed_texts())
            targets = survey_record.targets_of(choices)
        except UsageError as error:
            self.work_failed(error)
            return

        unknown = self._target_without_password(targets)
        if unknown is not None:
            go_on = partial(self._begin_with_password, targets, unknown, is_new=is_new)
            logins.ask_password(self, unknown, go_on)
            return

        known_logins = self.context.logins

        def log_in(target: Target) -> tuple[Target, Secrets]:
            return target, known_logins.find(target)

        def plan(notebook: Notebook) -> survey_record.SurveyRound:
            return survey_record.plan_round(choices, notebook, log_in, again=is_new)

        self.remember()
        self.query_one("#start", Button).disabled = True
        self.with_notebook(plan, partial(self._take_plan, targets), group="plan", exclusive=True)

    def _target_without_password(self, targets: list[Target]) -> Target | None:
        """The first target whose user's password nobody has said; one that is known for a host goes for all."""
        known_logins = self.context.logins
        for target in targets:
            if known_logins.knows(target):
                continue

            alike = [other for other in targets if same_login(other, target) and known_logins.knows(other)]
            if not alike or known_logins.is_refused(target):
                return target
            known_logins.keep(target, known_logins.find(alike[0]))
        return None

    def _begin_with_password(
        self, targets: Sequence[Target], asked_for: Target, secrets: Secrets, *, is_new: bool
    ) -> None:
        known_logins = self.context.logins
        for target in targets:
            if same_login(target, asked_for) and not known_logins.knows(target):
                known_logins.keep(target, secrets)
        self._begin(is_new=is_new)

    def work_failed(self, error: Exception) -> None:
        self.query_one("#start", Button).disabled = False
        super().work_failed(error)

    def _take_plan(self, targets: list[Target], planned: survey_record.SurveyRound) -> None:
        self.query_one("#start", Button).disabled = False
        if not planned.continued:
            self._measure(planned, targets)
            return

        def resume(_answer: bool) -> None:
            # `ask` comes here only after yes.
            self._measure(planned, targets)

        to_do = f"{len(planned.todo)} of {len(planned.stations)} series are to do"
        text = f"{planned.experiment.name} is not complete: {to_do}. Ctrl+R begins a new one instead."
        self.ask(ConfirmDialog("Resume it?", text, yes="Resume", prefer_yes=True), resume)

    def _measure(self, planned: survey_record.SurveyRound, targets: list[Target]) -> None:
        self.app.push_screen(SurveyRunScreen(planned, targets, self.action_start))
