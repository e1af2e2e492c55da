"""An isolation under way: its layers are measured interleaved, one run after the other, in rounds.

`app.isolation.record` stores each run when it is told that the run has ended. The layers are the share, the disk and
the network; the price of operations is what leaving them out gains.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

from app.base import errors
from app.clients import registry
from app.clients.working_folder import check_folder
from app.isolation import places as isolation_places
from app.isolation import restoration
from app.isolation.bench import LayerBench
from app.isolation.spec import IsolationRequest
from app.isolation.timetable import PlannedRun, Timetable
from app.recording import process
from app.server.facts import measurer_facts
from app.server.host_facts import client_facts
from storage import isolation as isolation_records
from storage import records


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationOpened:
    """The isolation is to be stored; nothing was changed on the server yet."""

    isolation: isolation_records.Isolation
    runs: int
    """Planned runs that are still to come.

    Fewer are measured if time is over earlier; more if the price of left-out operations, which is the server's speed
    without them over its speed with them, is not known closely yet.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerRunStarted:
    """A run begins."""

    layer: isolation_records.Layer
    clients: int
    round: int
    number: int
    """Of the runs of this attempt, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerRunEnded:
    """A run has ended, well or not."""

    run: isolation_records.LayerRun


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationClosed:
    """The isolation has ended, well or not; everything is restored that could be."""

    isolation: isolation_records.Isolation


MeasurementEvent = IsolationOpened | LayerRunStarted | LayerRunEnded | process.Warned
"""What an isolation under way tells; it returns IsolationClosed."""
IsolationEvent = MeasurementEvent | IsolationClosed
"""What the recorder of an isolation tells."""


def measure(
    request: IsolationRequest, control: process.SeriesControl, resumed: isolation_records.Isolation | None = None
) -> Generator[MeasurementEvent, None, IsolationClosed]:
    """Measure an isolation, or the missing runs of a resumed one; results are kept however it ends.

    What is refused before IsolationOpened is raised; from then on an error is told in IsolationClosed.
    """
    places = isolation_places.find_places(request)
    with registry.connected_files(request.target, request.secrets, request.settings) as files:
        # Where that fails nothing is recorded.
        check_folder(files)

    bench = LayerBench(request, places)
    control.attach(_ignore_message, bench.stop)
    isolation = _open_isolation(request, places, bench, resumed)
    measurement = _IsolationMeasurement(request, bench, Timetable(request, places), isolation)
    yield IsolationOpened(isolation=isolation, runs=measurement.runs_to_come())
    for problem in places.problems:
        yield process.Warned(text=problem)

    # It stays interrupted, without an error, where nobody listens to the events any more.
    status = records.SeriesStatus.INTERRUPTED
    error_text: str | None = None
    try:
        bench.prepare()
        yield from measurement.runs()
        yield from measurement.ceilings()
        status = records.SeriesStatus.COMPLETE
    except errors.CancelledError:
        error_text = control.why_cancelled
    except errors.SharebenchError as error:
        status = records.SeriesStatus.FAILED
        error_text = str(error)
    finally:
        control.detach()
        bench.close()
        to_do, problems = restoration.restore_server(measurement.isolation.left_behind)

    # A server that failed may not answer now: its folder stays noted, and is named when the notebook is used next.
    if to_do.share_folder and status is not records.SeriesStatus.FAILED:
        problems += _problem_of_share_folder(request, to_do.share_folder)
        to_do = replace(to_do, share_folder=None)
    for problem in problems:
        yield process.Warned(text=problem)

    isolation = measurement.isolation
    client = bench.client or isolation.client
    closed = replace(isolation, status=status, error=error_text, client=client, left_behind=to_do)
    return IsolationClosed(isolation=closed)


def _ignore_message(_message: process.ControlMessage) -> None:
    """A run is measured to its end, or cancelled: nothing else is said to it."""


class _IsolationMeasurement:
    """The runs of an isolation under way, and the isolation with those that have ended."""

    def __init__(
        self, request: IsolationRequest, bench: LayerBench, timetable: Timetable, isolation: isolation_records.Isolation
    ) -> None:
        self._request = request
        self._bench = bench
        self._timetable = timetable
        self.isolation = isolation

    def runs_to_come(self) -> int:
        """How many planned runs have no valid result yet."""
        return sum(not _is_done(self.isolation, planned_run) for planned_run in self._timetable.planned)

    def runs(self) -> Iterator[MeasurementEvent]:
        """Measure run after run. Raises MeasurementError where the server's own layer cannot be measured.

        The timetable looks at the isolation so far to say which run is next, and whether there is time for a round.
        """
        number = 0
        for planned_run in self._timetable.runs(self._isolation_so_far):
            if _is_done(self.isolation, planned_run):
                continue

            number += 1
            turn, layer, clients = planned_run
            yield LayerRunStarted(layer=layer, clients=clients, round=turn, number=number)
            for run in self._bench.run(layer, clients, turn):
                self._add(run)
                yield LayerRunEnded(run=run)
                # All other layers are compared with the server: without it they say nothing.
                if run.layer is isolation_records.Layer.SERVER and run.status is records.RunStatus.FAILED:
                    raise errors.MeasurementError(run.error or "the server layer failed")

        if self._timetable.rounds < self._request.rounds:
            yield self._warn_of_fewer_rounds()

    def _isolation_so_far(self) -> isolation_records.Isolation:
        return self.isolation

    def _add(self, run: isolation_records.LayerRun) -> None:
        """Take a run, in place of a failed one that has its key (round, layer, clients)."""
        other_runs = (old_run for old_run in self.isolation.runs if old_run.key != run.key)
        self.isolation = replace(self.isolation, runs=(*other_runs, run))

    def _warn_of_fewer_rounds(self) -> process.Warned:
        rounds = self._timetable.rounds
        text = (
            f"{rounds} of {self._request.rounds} rounds were measured, since a run takes long here and"
            f" {self._request.within_seconds / 60:g} minutes are allowed: intervals are wider; allow it more time"
        )
        self.isolation = replace(self.isolation, rounds=rounds, problems=(*self.isolation.problems, text))
        return process.Warned(text=text)

    def ceilings(self) -> Iterator[MeasurementEvent]:
        """Operations a second that this machine's clients reach at most, for each number of them."""
        try:
            ceilings = {clients: self._bench.ceiling(clients) for clients in self._request.clients}
        except errors.MeasurementError as error:
            yield process.Warned(text=f"this client's own limit is not known: {error}")
        else:
            self.isolation = replace(self.isolation, ceilings=ceilings)


def _problem_of_share_folder(request: IsolationRequest, folder: str) -> list[str]:
    """That our folder may still be on the share, where it was reached through the share alone; else nothing.

    The clients of a run remove their files and folders by themselves. A script of the user's own may make others.
    """
    if _may_be_there(request, folder):
        return [restoration.share_folder_text(folder, request.target)]
    return []


def _may_be_there(request: IsolationRequest, folder: str) -> bool:
    """True also if nobody can tell."""
    try:
        with registry.connected_files(request.target, request.secrets, request.settings) as files:
            return files.query(folder).is_folder
    except errors.SharebenchError as error:
        return not isinstance(error, errors.NoSuchFileError)


def _open_isolation(
    request: IsolationRequest,
    places: isolation_places.Places,
    bench: LayerBench,
    resumed: isolation_records.Isolation | None,
) -> isolation_records.Isolation:
    left = _left_behind_by_kill(request, places)
    if resumed:
        return replace(resumed, left_behind=left, problems=places.problems)

    script = bench.script
    return isolation_records.Isolation(
        id=records.new_series_id(),
        created_at=records.utc_now(),
        label=request.label,
        question=request.question,
        target=request.target,
        script=script.name,
        script_sha256=script.digest,
        script_path=request.script_path,
        pass_bytes=script.pass_bytes,
        pass_operations=script.counts,
        without=request.without,
        clients=request.clients,
        rounds=request.rounds,
        seconds=request.seconds,
        settings=request.settings,
        server_ssh=request.server_ssh,
        smb_conf=request.smb_conf,
        expose_tbench=request.expose_tbench,
        link_bits_per_second=places.link_bits_per_second,
        loopback=places.loopback,
        same_machine=places.same_machine,
        processors=places.processors,
        processor_quota=places.smbd.quota().processors if places.smbd else None,
        environment={"client": {**client_facts(), **measurer_facts()}},
        problems=places.problems,
        left_behind=left,
    )


def _left_behind_by_kill(request: IsolationRequest, places: isolation_places.Places) -> isolation_records.LeftBehind:
    """What is to be restored should this process be killed: stored before anything is changed."""
    folders_on_server = []
    if places.disk:
        folders_on_server.append(places.disk.folder)
    if places.shell and places.path_of_share_folder:
        folders_on_server.append(places.path_of_share_folder)

    # With a path on the server the folder is removed there; without one it is looked for through the share.
    is_path_known = places.path_of_share_folder is not None
    return isolation_records.LeftBehind(
        ssh=request.server_ssh,
        smb_conf=places.smb_conf,
        profiling=places.profiling,
        server_folders=tuple(folders_on_server),
        share_folder=None if is_path_known else places.share_folder,
    )


def _is_done(isolation: isolation_records.Isolation, planned_run: PlannedRun) -> bool:
    return any(run.key == planned_run and run.status is records.RunStatus.VALID for run in isolation.runs)
