"""Plan and measure a survey: which hosts, by which protocols, interleaved in one round."""

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
from app.series.prospect import reached
from app.series.record import RecorderEvent, Resumption, SeriesStored, order_to_resume, record_interleaved
from app.series.requests import series_request, with_label
from app.server.link_facts import detect_link, find_route, is_own_address, is_this_machine
from forms.experiments.survey import Station, StationPlace, StationState, Survey, survey, with_series
from forms.series.estimate import expected_rate, time_text
from storage.notebook import Notebook
from storage.protocols import PROTOCOLS
from storage.recordings import held_text
from storage.records import Command, Experiment, ExperimentKind, Series, SeriesStatus, Target, dated_experiment

LogIn = Callable[[Target], tuple[Target, Secrets]]
"""Returns the target with its user name, and the secrets; may prompt."""

ANSWER_SECONDS = 3.0
ELSEWHERE = "203.0.113.1"
"""A documentation address (RFC 5737); its route shows this machine's address. Nothing is sent."""
RUN_SECONDS = 3
SMALLEST_BYTES = 16 * 1024**2
LARGEST_BYTES = 1024**3
UNKNOWN_LINK_BYTES = 512 * 1024**2

ANONYMOUS = "anonymous"


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyChoices:
    hosts: tuple[str, ...]
    smb: str | None = None
    """``SHARE`` or ``SHARE/FOLDER``; None to skip SMB."""
    ftp: str | None = None
    file: str | None = None
    iperf3: bool = True
    ports: dict[str, int] = field(default_factory=dict)
    user: str | None = None
    domain: str | None = None
    ftp_user: str | None = None
    commands: tuple[Command, ...] = (Command.GET, Command.PUT)
    spec: SeriesSpec = field(default_factory=SeriesSpec)
    """For each series; without a size, the link speed decides it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyRound:
    experiment: Experiment
    stations: tuple[Station, ...]
    todo: tuple[tuple[int, SeriesRequest | Resumption], ...]
    """(index of the station, what to measure)."""
    continued: bool
    runs_to_come: tuple[int, ...] = ()
    """Of each station."""
    time_text: str = ""


def plan_round(choices: SurveyChoices, notebook: Notebook, log_in: LogIn, *, again: bool = False) -> SurveyRound:
    """The last round if incomplete, else (or ``again``) a new one. Raises UsageError, LoginError, UnreachableError."""
    if choices.smb is None and choices.ftp is None and not choices.iperf3:
        text = "nothing to measure: name a share, or a folder of the FTP server"
        raise UsageError(text, options="--smb SHARE[/FOLDER], --ftp FOLDER")
    wanted = _wanted(choices, log_in)
    hosts = ", ".join(choices.hosts)
    experiment, stored = (None, {}) if again else _unfinished(hosts, wanted, notebook)
    stations: list[Station] = []
    todo: list[tuple[int, SeriesRequest | Resumption]] = []
    answers: dict[tuple[str, int | None], str] = {}
    runs = [0] * len(wanted)
    seconds, rates = 0.0, []
    for index, (station, request, rate) in enumerate(wanted):
        series = stored.get(index)
        stations.append(station if series is None else with_series(station, series))
        if series is not None and series.running_by:
            raise UsageError(f"{held_text(series.id, series.running_by)}, for the same survey: wait for its end")
        if series is not None and series.status is SeriesStatus.COMPLETE:
            continue
        target = request.target
        address = (target.host, target.port)
        if address not in answers:
            answers[address] = _no_answer(target)
        if answers[address]:
            stations[index] = replace(station, state=StationState.LEFT_OUT, why=answers[address])
        else:
            secrets = request.secrets
            todo.append((index, Resumption(series_id=series.id, secrets=secrets) if series else request))
            order = order_to_resume(series, secrets) if series else MeasuringOrder.of_request(request)
            counts = order.spec.counts
            runs[index] = counts.warmups + counts.runs - order.done_runs
            asked = request.spec.counts
            transferred = (runs[index] + asked.make_file) * (asked.size_bytes or size_for(rate))
            here = station.place is not StationPlace.NETWORK
            measured = reached(notebook, target, order.spec.command)
            rates.append(expected_rate(target, measured=measured, link=rate, here=here))
            seconds += transferred / rates[-1].bytes_per_second
    if not todo and not stored:
        more = "" if choices.smb or choices.ftp else "or measure files: --smb SHARE[/FOLDER], --ftp FOLDER"
        raise UnreachableError("; ".join(dict.fromkeys(why for why in answers.values() if why)), options=more)
    experiment = experiment or dated_experiment(ExperimentKind.SURVEY, hosts)
    named = tuple((i, replace(o, experiment=experiment) if isinstance(o, SeriesRequest) else o) for i, o in todo)
    return SurveyRound(
        experiment=experiment, stations=tuple(stations), todo=named, continued=bool(stored), runs_to_come=tuple(runs),
        time_text=time_text(seconds, rates),
    )  # fmt: skip


def targets_of(choices: SurveyChoices) -> list[Target]:
    """Every target that needs a login. Raises UsageError."""
    return [target for _, host in places(choices.hosts) for target in _targets(choices, host)]


def measure_round(
    planned: SurveyRound, notebook_path: Path, control: SeriesControl
) -> Iterator[tuple[int, RecorderEvent]]:
    """Measure the round, each event with its station's index; no refused login is tried again. Raises NotebookError."""
    logins = [_login_of(planned.stations[index]) for index, _ in planned.todo]
    name, expected = planned.experiment.name, sum(one.state is not StationState.LEFT_OUT for one in planned.stations)
    with notebook_to_measure_into(notebook_path) as notebook:
        recorder, is_noted = Recorder(notebook, control), False
        for turn, event in record_interleaved([what for _, what in planned.todo], notebook_path, control, logins):
            if isinstance(event, SeriesStored) and not is_noted:
                is_noted = True
                recorder.write(lambda notebook: notebook.expect_parts(name, expected))
            deque(recorder.flush(), 0)  # the series themselves warn of a notebook that is held
            yield planned.todo[turn][0], event
        if not control.cancelled.is_set():
            recorder.write(lambda notebook: notebook.expect_parts(name, 0))
        deque(recorder.finish(), 0)


def targets_like(station: Station, planned: SurveyRound, targets: Sequence[Target]) -> list[Target]:
    login = _login_of(station)
    like = {(other.protocol, other.host) for other in planned.stations if _login_of(other) == login}
    return [target for target in targets if (target.protocol, target.host) in like]


def _login_of(station: Station) -> str:
    """One login per protocol and machine, whatever the address."""
    return f"{station.protocol} {station.host if station.place is StationPlace.NETWORK else ''}"


def result(planned: SurveyRound, notebook: Notebook) -> Survey:
    name = planned.experiment.name
    stored = {(one.target.host, one.target.protocol, one.command): one for one in notebook.experiment(name)}
    stations = []
    for station in planned.stations:
        series = stored.get((station.host, station.protocol, station.command))
        stations.append(station if series is None else with_series(station, series))
    return survey(name, stations)


def places(hosts: Sequence[str]) -> list[tuple[StationPlace, str]]:
    """The places of the hosts: this machine has loopback and its own address. Raises UsageError for an invalid name."""
    found: list[tuple[StationPlace, str]] = []
    for host in hosts:
        if not host or not host.isprintable() or set(host) & set(" /@,"):
            text = f"not a host: {host!r}; name hosts or addresses, and user and share separately"
            raise UsageError(text, options="--user USER --smb SHARE[/FOLDER]")
        if not is_this_machine(host):
            found.append((StationPlace.NETWORK, host))
            continue
        route = find_route(host)
        inside = route is not None and ipaddress.ip_address(route.address.partition("%")[0]).is_loopback
        found.append((StationPlace.LOOPBACK, host if inside else "127.0.0.1"))
        outward = find_route(ELSEWHERE) if inside else None
        if not inside:
            found.append((StationPlace.OWN_ADDRESS, host))
        elif outward and is_own_address(outward.local_address):
            found.append((StationPlace.OWN_ADDRESS, outward.local_address))
    return list(dict.fromkeys(found))


def size_for(link_bits_per_second: int | None) -> int:
    """Bytes that keep a link busy for some seconds: a power of two from 16 MiB to 1 GiB."""
    if link_bits_per_second is None:
        return UNKNOWN_LINK_BYTES
    size = SMALLEST_BYTES
    while size < link_bits_per_second / 8 * RUN_SECONDS and size < LARGEST_BYTES:
        size *= 2
    return size


def _wanted(choices: SurveyChoices, log_in: LogIn) -> list[tuple[Station, SeriesRequest, int | None]]:
    """Each with its link speed."""
    wanted = []
    for place, host in places(choices.hosts):
        link = choices.spec.link_bits_per_second if place is StationPlace.NETWORK else None
        rate = link or (detect_link(host)[0] if place is StationPlace.NETWORK else None)
        size = choices.spec.counts.size_bytes or size_for(rate)
        for target in _targets(choices, host):
            full, secrets = log_in(target)
            for command in choices.commands:
                station = Station(place=place, host=host, protocol=target.protocol, command=command)
                wanted.append((station, _request_for(choices, station, full, secrets, size, link), rate))
    return wanted


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
    made = not target.abilities.moves_files or station.command is Command.PUT
    existing = None if made else choices.file
    counts = replace(
        choices.spec.counts,
        size_bytes=None if existing else size_bytes,
        make_file=not made and not existing,
    )
    spec = replace(choices.spec, command=station.command, counts=counts, link_bits_per_second=link)
    place = replace(target, path=join(target, existing)) if existing else target
    return series_request(with_label(spec, station.name), place, secrets)


def _unfinished(
    hosts: str, wanted: Sequence[tuple[Station, SeriesRequest, int | None]], notebook: Notebook
) -> tuple[Experiment | None, dict[int, Series]]:
    """Every station begins in the first turn, so an interrupted round has a series of each."""
    surveys = (entry.experiment for entry in notebook.experiments(ExperimentKind.SURVEY))
    last = next((one for one in surveys if one.subject == hosts), None)
    if last is None:
        return None, {}
    stored: dict[int, Series] = {}
    for series in notebook.experiment(last.name):
        index = next((i for i, (_, request, _) in enumerate(wanted) if _is_of(request, series)), None)
        if index is None or series.imported_at is not None:
            return None, {}
        stored[index] = series
    heads = notebook.recordings_of([last.recording_id or ""])
    is_whole = not heads or heads[0].status is not SeriesStatus.INTERRUPTED
    if is_whole and all(series.status is SeriesStatus.COMPLETE for series in stored.values()):
        return None, {}
    return last, stored


def _is_of(request: SeriesRequest, series: Series) -> bool:
    """Whether the series is what the request asks for; what is looked at beside the runs may differ."""
    spec, plan = request.spec, series.plan
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
