"""Measure an isolation: interleave the layers, and store each run as it ends."""

import math
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from app.base.errors import CancelledError, MeasurementError, NoSuchFileError, SharebenchError
from app.clients.base import check_folder, connected_files
from app.isolation.bench import LayerBench
from app.isolation.places import IsolationRequest, Places, find_places, on_the_share, restore_server
from app.recording.process import SeriesControl, TimeLimit, Warned
from app.server.facts import measurer_facts
from app.server.host_facts import client_facts
from forms.isolation.summary import isolation_summary
from storage.isolation import Isolation, Layer, LayerRun, LeftBehind
from storage.records import RunStatus, SeriesStatus, new_series_id, utc_now

Step = tuple[int, Layer, int]
WHOLE_RUN = 1.6
"""Expected time until the next run, as a multiple of a run's length, before the first has ended."""
_CLOSE_PRICE = 1.05
"""A price is precise enough if its interval reaches at most 5 % to either side."""
_MOST_PRICE_ROUNDS = 12
_ALL_LAYERS = 0
_PRICE = 1
"""Kinds of rounds, which take different times: of all layers, and of the two of a price."""


class Timetable:
    """Rounds of all layers, then of the two layers of a price, until it is precise or time is over."""

    def __init__(self, request: IsolationRequest, places: Places, clock: Callable[[], float] = time.monotonic) -> None:
        self._request = request
        self._limit = TimeLimit(request.within_seconds, clock)
        self._whole_rounds = [_whole_round(request, places, turn) for turn in range(1, request.rounds + 1)]
        self.rounds = 0
        """Whole rounds that were begun and ended."""

    @property
    def planned(self) -> list[Step]:
        """All runs, unless time is over earlier."""
        return list(chain.from_iterable(self._whole_rounds))

    def steps(self, so_far: Callable[[], Isolation]) -> Iterator[Step]:
        self._limit.start()
        for steps in self._whole_rounds:
            if self.rounds and not self._limit.allows(_ALL_LAYERS):
                return
            yield from self._time_round(_ALL_LAYERS, steps)
            self.rounds += 1

        has_price = self._request.without and self._request.rounds > 1
        clients = max(self._request.clients)
        for turn in range(self.rounds + 1, _MOST_PRICE_ROUNDS + 1):
            if not self._limit.allows(_PRICE) or not has_price or _is_price_known(so_far()):
                return
            pair = [(turn, Layer.SERVER, clients), (turn, Layer.SERVER_WHOLE_SCRIPT, clients)]
            yield from self._time_round(_PRICE, pair if turn % 2 else pair[::-1])

    def _time_round(self, kind: int, steps: list[Step]) -> Iterator[Step]:
        self._limit.began()
        yield from steps
        self._limit.ended(kind)


def _whole_round(request: IsolationRequest, places: Places, turn: int) -> list[Step]:
    """Every layer and number of clients, in reverse order in every other round."""
    layers = _layers_of_round(request, places, turn)
    steps = [(turn, layer, clients) for clients in request.clients for layer in layers]
    if places.smbd:
        steps.append((turn, Layer.SERVER_UNPROFILED, max(request.clients)))
    return steps if turn % 2 else steps[::-1]


def _layers_of_round(request: IsolationRequest, places: Places, turn: int) -> list[Layer]:
    has_disk = places.disk is not None
    has_both = has_disk and places.network
    # Where both can be measured at once, each alone is measured in every other round.
    has_each_alone = turn % 2 == 1 or not has_both

    layers = [Layer.SERVER]
    if request.without:
        layers.append(Layer.SERVER_WHOLE_SCRIPT)
    if has_disk and has_each_alone:
        layers.append(Layer.DISK)
    if places.network and has_each_alone:
        layers.append(Layer.NETWORK)
    if has_both:
        layers.append(Layer.DISK_WITH_NETWORK)
    return layers


def _is_price_known(isolation: Isolation) -> bool:
    points = isolation_summary(isolation).points
    price = points[-1].price if points else None
    if price is None or price.low is None or price.high is None:
        return False
    return math.sqrt(price.high / price.low) <= _CLOSE_PRICE


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationOpened:
    isolation: Isolation
    runs: int
    """Fewer if time is over earlier, more if a price needs them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerRunStarted:
    layer: Layer
    clients: int
    round: int
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerRunEnded:
    run: LayerRun


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationClosed:
    """The isolation has ended, well or not; everything is restored that could be."""

    isolation: Isolation


IsolationEvent = IsolationOpened | LayerRunStarted | LayerRunEnded | Warned | IsolationClosed


def measure(
    request: IsolationRequest, control: SeriesControl, resumed: Isolation | None = None
) -> Generator[IsolationEvent, None, IsolationClosed]:
    """Measure an isolation, or the missing runs of a resumed one; results are kept however it ends."""
    places = find_places(request)
    with connected_files(request.target, request.secrets, request.settings) as files:
        # Where that fails nothing is recorded.
        check_folder(files)

    bench = LayerBench(request, places)
    control.attach(lambda _word: None, bench.stop)
    isolation = _open_isolation(request, places, bench, resumed)
    measurement = _IsolationMeasurement(request, bench, Timetable(request, places), isolation)
    yield IsolationOpened(isolation=isolation, runs=measurement.runs_to_come())
    for problem in places.problems:
        yield Warned(text=problem)

    status = SeriesStatus.INTERRUPTED
    error_text: str | None = None
    try:
        bench.prepare()
        yield from measurement.runs()
        yield from measurement.ceilings()
        status = SeriesStatus.COMPLETE
    except CancelledError:
        error_text = "cancelled"
    except SharebenchError as error:
        status = SeriesStatus.FAILED
        error_text = str(error)
    finally:
        control.detach()
        bench.close()
        left, problems = restore_server(measurement.isolation.left_behind)

    if left.share_folder and status is not SeriesStatus.FAILED:
        # Where the script has other folders than its clients remove, something is still there.
        if _is_there(request, left.share_folder):
            problems.append(on_the_share(left.share_folder, request.target))
        left = replace(left, share_folder=None)
    for problem in problems:
        yield Warned(text=problem)

    isolation = measurement.isolation
    client = bench.client or isolation.client
    closed = replace(isolation, status=status, error=error_text, client=client, left_behind=left)
    return IsolationClosed(isolation=closed)


class _IsolationMeasurement:
    """The runs of an isolation under way, and the isolation with those that have ended."""

    def __init__(
        self, request: IsolationRequest, bench: LayerBench, timetable: Timetable, isolation: Isolation
    ) -> None:
        self._request = request
        self._bench = bench
        self._timetable = timetable
        self.isolation = isolation

    def runs_to_come(self) -> int:
        return sum(not _is_done(self.isolation, step) for step in self._timetable.planned)

    def runs(self) -> Iterator[IsolationEvent]:
        number = 0
        for step in self._timetable.steps(lambda: self.isolation):
            if _is_done(self.isolation, step):
                continue

            number += 1
            turn, layer, clients = step
            yield LayerRunStarted(layer=layer, clients=clients, round=turn, number=number)
            for run in self._bench.run(layer, clients, turn):
                self._add(run)
                yield LayerRunEnded(run=run)
                if run.layer is Layer.SERVER and run.status is RunStatus.FAILED:
                    raise MeasurementError(run.error or "the server layer failed")

        if self._timetable.rounds < self._request.rounds:
            yield self._warn_of_fewer_rounds()

    def _add(self, run: LayerRun) -> None:
        other_runs = (old_run for old_run in self.isolation.runs if old_run.key != run.key)
        self.isolation = replace(self.isolation, runs=(*other_runs, run))

    def _warn_of_fewer_rounds(self) -> Warned:
        rounds = self._timetable.rounds
        text = (
            f"{rounds} of {self._request.rounds} rounds were measured, since a run takes long here and"
            f" {self._request.within_seconds / 60:g} minutes are allowed: intervals are wider; allow it more time"
        )
        self.isolation = replace(self.isolation, rounds=rounds, problems=(*self.isolation.problems, text))
        return Warned(text=text)

    def ceilings(self) -> Iterator[IsolationEvent]:
        try:
            ceilings = {clients: self._bench.ceiling(clients) for clients in self._request.clients}
        except MeasurementError as error:
            yield Warned(text=f"this client's own limit is not known: {error}")
        else:
            self.isolation = replace(self.isolation, ceilings=ceilings)


def _is_there(request: IsolationRequest, folder: str) -> bool:
    """True also if nobody can tell."""
    try:
        with connected_files(request.target, request.secrets, request.settings) as files:
            return files.query(folder).is_folder
    except SharebenchError as error:
        return not isinstance(error, NoSuchFileError)


def _open_isolation(
    request: IsolationRequest, places: Places, bench: LayerBench, resumed: Isolation | None
) -> Isolation:
    left = _left_behind_by_kill(request, places)
    if resumed:
        return replace(resumed, left_behind=left, problems=places.problems)

    script = bench.script
    return Isolation(
        id=new_series_id(),
        created_at=utc_now(),
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


def _left_behind_by_kill(request: IsolationRequest, places: Places) -> LeftBehind:
    """What is to be restored should this process be killed: stored before anything is changed."""
    folders = (places.disk and places.disk.folder, places.share_folder_there if places.shell else None)
    return LeftBehind(
        ssh=request.server_ssh,
        smb_conf=places.smb_conf,
        profiling=places.profiling,
        server_folders=tuple(folder for folder in folders if folder),
        share_folder=None if places.share_folder_there else places.share_folder,
    )


def _is_done(isolation: Isolation, step: Step) -> bool:
    return any(run.key == step and run.status is RunStatus.VALID for run in isolation.runs)
