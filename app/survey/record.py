"""Plan and measure a survey: which hosts, by which protocols, interleaved in one round.

A station is one place (host), protocol and command, for which one series is measured. A round measures all stations of
a survey; an interrupted one is resumed by the next round of the same.
"""

import ipaddress
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.base.errors import UnreachableError, UsageError
from app.base.targets import join
from app.clients.base import Secrets
from app.recording.process import MeasuringOrder, SeriesControl
from app.recording.rescue import notebook_to_measure_into
from app.recording.spec import SeriesRequest, SeriesSpec
from app.recording.writer import Recorder
from app.series.events import RecorderEvent, SeriesStored
from app.series.interleaved import record_interleaved
from app.series.prospect import measured_rate
from app.series.record import Resumption, order_to_resume
from app.series.requests import series_request, with_label
from app.server.link_facts import detect_link, find_route, is_own_address, is_this_machine
from forms.experiments.survey import Station, StationPlace, StationState, Survey, survey, with_series
from forms.series.estimate import ExpectedRate, expected_rate, time_text
from storage.notebook import Notebook
from storage.protocols import PROTOCOLS
from storage.recordings import held_text
from storage.records import Command, Experiment, ExperimentKind, Series, SeriesStatus, Target, dated_experiment

LogIn = Callable[[Target], tuple[Target, Secrets]]
"""Returns the target with its user name, and the secrets; may prompt."""

ANSWER_SECONDS = 3.0
"""How long a host may take to answer before its stations are left out."""
ELSEWHERE = "203.0.113.1"
"""A documentation address (RFC 5737); its route shows this machine's address. Nothing is sent."""
RUN_SECONDS = 3
"""For so long a run keeps the link busy: short enough for many stations, long beside the start of a transfer."""
SMALLEST_BYTES = 16 * 1024**2
LARGEST_BYTES = 1024**3
UNKNOWN_LINK_BYTES = 512 * 1024**2

ANONYMOUS = "anonymous"


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyChoices:
    """What is to be surveyed, before anybody has looked whether it is there."""

    hosts: tuple[str, ...]
    smb: str | None = None
    """``SHARE`` or ``SHARE/FOLDER``; None to skip SMB."""
    ftp: str | None = None
    """The folder; None to skip FTP."""
    file: str | None = None
    """The file in these folders that a get reads; None to have one made."""
    iperf3: bool = True
    """Whether bare TCP is measured."""
    ports: dict[str, int] = field(default_factory=dict)
    """By protocol, where it is not the usual one."""
    user: str | None = None
    """None for guest and anonymous."""
    domain: str | None = None
    ftp_user: str | None = None
    """Where FTP has another user; ``anonymous`` for none."""
    commands: tuple[Command, ...] = (Command.GET, Command.PUT)
    spec: SeriesSpec = field(default_factory=SeriesSpec)
    """For each series; without a size, the link speed decides it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyRound:
    """What a round will measure, and what an interrupted one has measured already."""

    experiment: Experiment
    stations: tuple[Station, ...]
    todo: tuple[tuple[int, SeriesRequest | Resumption], ...]
    """(index of the station, what to measure)."""
    continued: bool
    """Whether an interrupted round is resumed."""
    runs_to_come: tuple[int, ...] = ()
    """Of each station; 0 where nothing is to be done."""
    time_text: str = ""
    """How long it takes, in words."""


def plan_round(choices: SurveyChoices, notebook: Notebook, log_in: LogIn, *, again: bool = False) -> SurveyRound:
    """The last round if incomplete, else (or ``again``) a new one. Raises UsageError, LoginError, UnreachableError."""
    if choices.smb is None and choices.ftp is None and not choices.iperf3:
        text = "nothing to measure: name a share, or a folder of the FTP server"
        raise UsageError(text, options="--smb SHARE[/FOLDER], --ftp FOLDER")

    wanted_stations = _wanted_stations(choices, log_in)
    hosts = ", ".join(choices.hosts)
    experiment, stored = (None, {}) if again else _unfinished_round(hosts, wanted_stations, notebook)
    experiment = experiment or dated_experiment(ExperimentKind.SURVEY, hosts)

    reachability = _Reachability()
    planned = [
        _plan_station(station, stored.get(index), experiment, notebook, reachability)
        for index, station in enumerate(wanted_stations)
    ]
    todo = tuple((index, plan.todo) for index, plan in enumerate(planned) if plan.todo is not None)
    if not todo and not stored:
        more = "" if choices.smb or choices.ftp else "or measure files: --smb SHARE[/FOLDER], --ftp FOLDER"
        raise UnreachableError("; ".join(dict.fromkeys(reachability.problems())), options=more)
    return SurveyRound(
        experiment=experiment,
        stations=tuple(plan.station for plan in planned),
        todo=todo,
        continued=bool(stored),
        runs_to_come=tuple(plan.runs_to_come for plan in planned),
        time_text=time_text(
            sum(plan.seconds for plan in planned), [plan.rate for plan in planned if plan.rate is not None]
        ),
    )


class _Reachability:
    """Which addresses answer; each is tried once."""

    def __init__(self) -> None:
        self._problems: dict[tuple[str, int | None], str] = {}

    def problem_of(self, target: Target) -> str:
        """Why nothing answers there, in words; empty where something does."""
        address = (target.host, target.port)
        if address not in self._problems:
            self._problems[address] = _no_answer(target)
        return self._problems[address]

    def problems(self) -> Iterator[str]:
        yield from filter(None, self._problems.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class _WantedStation:
    """A station that the choices ask for, whether it can be reached or not."""

    station: Station
    request: SeriesRequest
    link_bits_per_second: int | None
    """None within this machine, or where nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _StationPlan:
    """What is to be done at a station."""

    station: Station
    todo: SeriesRequest | Resumption | None = None
    """None where its series is complete, or nothing answers."""
    runs_to_come: int = 0
    seconds: float = 0.0
    """How long these take, as far as can be told."""
    rate: ExpectedRate | None = None
    """From which that follows; None where there is nothing to do."""


def _plan_station(
    wanted_station: _WantedStation,
    series: Series | None,
    experiment: Experiment,
    notebook: Notebook,
    reachability: _Reachability,
) -> _StationPlan:
    """What is to be done at a station, the series of an interrupted round being there or not. Raises UsageError."""
    station = wanted_station.station if series is None else with_series(wanted_station.station, series)
    if series is not None and series.running_by:
        raise UsageError(f"{held_text(series.id, series.running_by)}, for the same survey: wait for its end")
    if series is not None and series.status is SeriesStatus.COMPLETE:
        return _StationPlan(station=station)

    request = wanted_station.request
    if problem := reachability.problem_of(request.target):
        return _StationPlan(station=replace(wanted_station.station, state=StationState.LEFT_OUT, why=problem))

    todo: SeriesRequest | Resumption
    if series is None:
        order = MeasuringOrder.of_request(request)
        todo = replace(request, experiment=experiment)
    else:
        order = order_to_resume(series, request.secrets)
        todo = Resumption(series_id=series.id, secrets=request.secrets)

    runs = order.spec.counts.warmups + order.spec.counts.runs - order.done_runs
    size_bytes = request.spec.counts.size_bytes or size_for(wanted_station.link_bits_per_second)
    # A file that is read is put before.
    moved_bytes = (runs + request.spec.counts.make_file) * size_bytes
    rate = expected_rate(
        request.target,
        measured=measured_rate(notebook, request.target, order.spec.command),
        link=wanted_station.link_bits_per_second,
        is_this_machine=station.place is not StationPlace.NETWORK,
    )
    return _StationPlan(
        station=station, todo=todo, runs_to_come=runs, seconds=moved_bytes / rate.bytes_per_second, rate=rate
    )


def targets_of(choices: SurveyChoices) -> list[Target]:
    """Every target that needs a login. Raises UsageError."""
    return [target for _, host in places(choices.hosts) for target in _targets(choices, host)]


def measure_round(
    planned: SurveyRound, notebook_path: Path, control: SeriesControl
) -> Iterator[tuple[int, RecorderEvent]]:
    """Measure the round, each event with its station's index; no refused login is tried again. Raises NotebookError."""
    logins = [_login_of(planned.stations[index]) for index, _ in planned.todo]
    name = planned.experiment.name
    expected = sum(station.state is not StationState.LEFT_OUT for station in planned.stations)

    with notebook_to_measure_into(notebook_path) as notebook:
        recorder = Recorder(notebook, control)
        is_noted = False
        for turn, event in record_interleaved([todo for _, todo in planned.todo], notebook_path, control, logins):
            if isinstance(event, SeriesStored) and not is_noted:
                is_noted = True
                recorder.write(lambda notebook: notebook.expect_parts(name, expected))
            deque(recorder.flush(), 0)  # the series themselves warn of a notebook that is held
            yield planned.todo[turn][0], event

        if not control.cancelled.is_set():
            recorder.write(lambda notebook: notebook.expect_parts(name, 0))
        deque(recorder.finish(), 0)


def targets_like(station: Station, planned: SurveyRound, targets: Sequence[Target]) -> list[Target]:
    """Those of the targets to which one logs in as to the station's."""
    login = _login_of(station)
    places_of_login = {(other.protocol, other.host) for other in planned.stations if _login_of(other) == login}
    return [target for target in targets if (target.protocol, target.host) in places_of_login]


def _login_of(station: Station) -> str:
    """One login per protocol and machine, whatever the address."""
    host = station.host if station.place is StationPlace.NETWORK else ""
    return f"{station.protocol} {host}"


def result(planned: SurveyRound, notebook: Notebook) -> Survey:
    """What the notebook has for the stations of the round now."""
    name = planned.experiment.name
    stored = {
        (series.target.host, series.target.protocol, series.command): series for series in notebook.experiment(name)
    }
    stations = []
    for station in planned.stations:
        series = stored.get((station.host, station.protocol, station.command))
        stations.append(station if series is None else with_series(station, series))
    return survey(name, stations)


def places(hosts: Sequence[str]) -> list[tuple[StationPlace, str]]:
    """The places of the hosts: this machine has loopback and its own address. Raises UsageError for an invalid name."""
    stations: list[tuple[StationPlace, str]] = []
    for host in hosts:
        if not host or not host.isprintable() or set(host) & set(" /@,"):
            text = f"not a host: {host!r}; name hosts or addresses, and user and share separately"
            raise UsageError(text, options="--user USER --smb SHARE[/FOLDER]")
        if not is_this_machine(host):
            stations.append((StationPlace.NETWORK, host))
            continue

        route = find_route(host)
        is_loopback = route is not None and ipaddress.ip_address(route.address.partition("%")[0]).is_loopback
        if not is_loopback:
            stations.append((StationPlace.LOOPBACK, "127.0.0.1"))
            stations.append((StationPlace.OWN_ADDRESS, host))
            continue

        stations.append((StationPlace.LOOPBACK, host))
        outward = find_route(ELSEWHERE)
        if outward and is_own_address(outward.local_address):
            stations.append((StationPlace.OWN_ADDRESS, outward.local_address))
    return list(dict.fromkeys(stations))


def size_for(link_bits_per_second: int | None) -> int:
    """Bytes that keep a link busy for some seconds: a power of two from 16 MiB to 1 GiB."""
    if link_bits_per_second is None:
        return UNKNOWN_LINK_BYTES
    size = SMALLEST_BYTES
    while size < link_bits_per_second / 8 * RUN_SECONDS and size < LARGEST_BYTES:
        size *= 2
    return size


def _wanted_stations(choices: SurveyChoices, log_in: LogIn) -> list[_WantedStation]:
    stations = []
    for place, host in places(choices.hosts):
        is_far = place is StationPlace.NETWORK
        given_link = choices.spec.link_bits_per_second if is_far else None
        link = given_link or (detect_link(host)[0] if is_far else None)
        size_bytes = choices.spec.counts.size_bytes or size_for(link)
        for target in _targets(choices, host):
            full_target, secrets = log_in(target)
            for command in choices.commands:
                station = Station(place=place, host=host, protocol=target.protocol, command=command)
                request = _request_for(choices, station, full_target, secrets, size_bytes, given_link)
                stations.append(_WantedStation(station=station, request=request, link_bits_per_second=link))
    return stations


def _targets(choices: SurveyChoices, host: str) -> Iterator[Target]:
    ports = {name: choices.ports.get(name, protocol.default_port) for name, protocol in PROTOCOLS.items()}
    if choices.ftp is not None:
        user = None if choices.ftp_user == ANONYMOUS else choices.ftp_user or choices.user
        yield Target(protocol="ftp", host=host, port=ports["ftp"], path="/" + choices.ftp.strip("/"), user=user)
    if choices.smb is not None:
        share, _, folder = choices.smb.strip("/").partition("/")
        server = Target(protocol="smb", host=host, port=ports["smb"], user=choices.user, domain=choices.domain)
        yield replace(server, share=share, path=folder.strip("/"))
    if choices.iperf3:
        yield Target(protocol="iperf3", host=host, port=ports["iperf3"])


def _request_for(
    choices: SurveyChoices, station: Station, target: Target, secrets: Secrets, size_bytes: int, link: int | None
) -> SeriesRequest:
    is_made_anyway = not target.abilities.moves_files or station.command is Command.PUT
    existing = None if is_made_anyway else choices.file
    counts = replace(
        choices.spec.counts,
        size_bytes=None if existing else size_bytes,
        make_file=not is_made_anyway and not existing,
    )
    spec = replace(choices.spec, command=station.command, counts=counts, link_bits_per_second=link)
    place = replace(target, path=join(target, existing)) if existing else target
    return series_request(with_label(spec, station.name), place, secrets)


def _unfinished_round(
    hosts: str, wanted_stations: Sequence[_WantedStation], notebook: Notebook
) -> tuple[Experiment | None, dict[int, Series]]:
    """The last round of these hosts, and its series by station; None where there is none or it is complete.

    Every station begins in the first turn, so an interrupted round has a series of each.
    """
    surveys = (entry.experiment for entry in notebook.experiments(ExperimentKind.SURVEY))
    last = next((survey for survey in surveys if survey.subject == hosts), None)
    if last is None:
        return None, {}

    stored: dict[int, Series] = {}
    for series in notebook.experiment(last.name):
        index = next((index for index, station in enumerate(wanted_stations) if _is_of(station.request, series)), None)
        if index is None or series.imported_at is not None:
            return None, {}
        stored[index] = series

    recordings = notebook.recordings_of([last.recording_id or ""])
    is_whole = not recordings or recordings[0].status is not SeriesStatus.INTERRUPTED
    if is_whole and all(series.status is SeriesStatus.COMPLETE for series in stored.values()):
        return None, {}
    return last, stored


def _is_of(request: SeriesRequest, series: Series) -> bool:
    """Whether the series is what the request asks for; what is looked at beside the runs may differ."""
    spec = request.spec
    plan = series.plan
    return (
        plan is not None
        and (series.command, series.target) == (spec.command, request.target)
        and (plan.client, plan.settings, plan.counts) == (spec.client, spec.settings, spec.counts)
    )


def _no_answer(target: Target) -> str:
    assert target.port
    try:
        with socket.create_connection((target.host, target.port), ANSWER_SECONDS):
            return ""
    except UnicodeError:
        return f"no host can be called {target.host}: check the name"
    except socket.gaierror:
        return f"{target.host}: no host of that name is known; check the name, or give its address"
    except OSError as error:
        command = target.abilities.server_command
        todo = f"{command} there starts a server" if command else "name its port if it is another one"
        reason = (error.strerror or str(error)).lower()
        return f"no answer on {target.host} port {target.port} ({reason}): {todo}"
