"""Measure an isolation: interleave the layers, and store each run as it ends."""

import math
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace

from app.base.errors import CancelledError, MeasurementError, NoSuchFileError, SharebenchError
from app.clients.base import check_folder, connected_files
from app.isolation.bench import LayerBench
from app.isolation.places import IsolationRequest, Places, find_places, on_the_share, restore_server
from app.recording.process import SeriesControl, TimeLimit, Warned
from app.server.facts import measurer_facts
from app.server.host_facts import client_facts
from forms.isolation.summary import isolation_summary
from storage.isolation import Isolation, Layer, LayerRun, LeftBehind
from storage.json_reader import named, shared
from storage.records import RunStatus, SeriesStatus, new_series_id, utc_now

Step = tuple[int, Layer, int]
WHOLE_RUN = 1.6
"""Expected time until the next run, as a multiple of a run's length, before the first has ended."""
_CLOSE_PRICE = 1.05
"""A price is precise enough if its interval reaches at most 5 % to either side."""
_MOST_PRICE_ROUNDS = 12
_WHOLE, _PRICE = range(2)
"""Kinds of rounds: of all layers, and of the two of a price."""


class Timetable:
    """Rounds of all layers, then of the two layers of a price, until it is precise or time is over."""

    def __init__(self, request: IsolationRequest, places: Places, clock: Callable[[], float] = time.monotonic) -> None:
        self._request = request
        self._limit = TimeLimit(request.within_seconds, clock)
        self._whole = [_whole_round(request, places, turn) for turn in range(1, request.rounds + 1)]
        self.rounds = 0

    @property
    def planned(self) -> list[Step]:
        """All runs, unless time is over earlier."""
        return [step for steps in self._whole for step in steps]

    def steps(self, so_far: Callable[[], Isolation]) -> Iterator[Step]:
        self._limit.start()
        for steps in self._whole:
            if self.rounds and not self._limit.allows(_WHOLE):
                return
            yield from self._in_time(_WHOLE, steps)
            self.rounds += 1
        priced = self._request.without and self._request.rounds > 1
        for turn in range(self.rounds + 1, _MOST_PRICE_ROUNDS + 1):
            if not self._limit.allows(_PRICE) or not priced or _price_is_known(so_far()):
                return
            pair = [(turn, layer, max(self._request.clients)) for layer in (Layer.SERVER, Layer.SERVER_WHOLE_SCRIPT)]
            yield from self._in_time(_PRICE, pair if turn % 2 else pair[::-1])

    def _in_time(self, kind: int, steps: list[Step]) -> Iterator[Step]:
        self._limit.began()
        yield from steps
        self._limit.ended(kind)


def _whole_round(request: IsolationRequest, places: Places, turn: int) -> list[Step]:
    """Every layer and number of clients, in reverse order in every other round."""
    disk, network = places.disk is not None, places.network
    alone = turn % 2 or not (disk and network)
    layers = [Layer.SERVER] + [Layer.SERVER_WHOLE_SCRIPT] * bool(request.without)
    layers += [Layer.DISK] * (disk and alone) + [Layer.NETWORK] * (network and alone)
    layers += [Layer.DISK_WITH_NETWORK] * (disk and network)
    steps = [(turn, layer, clients) for clients in request.clients for layer in layers]
    if places.smbd:
        steps.append((turn, Layer.SERVER_UNPROFILED, max(request.clients)))
    return steps if turn % 2 else steps[::-1]


def _price_is_known(isolation: Isolation) -> bool:
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
        check_folder(files)  # where that fails nothing is recorded
    bench = LayerBench(request, places)
    control.attach(lambda _word: None, bench.stop)
    isolation = _opened(request, places, bench, resumed)
    timetable = Timetable(request, places)
    planned = [step for step in timetable.planned if not _is_done(isolation, step)]
    yield IsolationOpened(isolation=isolation, runs=len(planned))
    for problem in places.problems:
        yield Warned(text=problem)
    status, why = SeriesStatus.INTERRUPTED, None
    try:
        bench.prepare()
        steps = (step for step in timetable.steps(lambda: isolation) if not _is_done(isolation, step))
        for number, (turn, layer, clients) in enumerate(steps, start=1):
            yield LayerRunStarted(layer=layer, clients=clients, round=turn, number=number)
            for run in bench.run(layer, clients, turn):
                isolation = replace(isolation, runs=(*(each for each in isolation.runs if each.key != run.key), run))
                yield LayerRunEnded(run=run)
                if run.layer is Layer.SERVER and run.status is RunStatus.FAILED:
                    raise MeasurementError(run.error or "the server layer failed")
        if timetable.rounds < request.rounds:
            why_less = (
                f"{timetable.rounds} of {request.rounds} rounds were measured, since a run takes long here and"
                f" {request.within_seconds / 60:g} minutes are allowed: intervals are wider; allow it more time"
            )
            isolation = replace(isolation, rounds=timetable.rounds, problems=(*isolation.problems, why_less))
            yield Warned(text=why_less)
        try:
            isolation = replace(isolation, ceilings={clients: bench.ceiling(clients) for clients in request.clients})
        except MeasurementError as error:
            yield Warned(text=f"this client's own limit is not known: {error}")
        status = SeriesStatus.COMPLETE
    except CancelledError:
        why = "cancelled"
    except SharebenchError as error:
        status, why = SeriesStatus.FAILED, str(error)
    finally:
        control.detach()
        bench.close()
        left, problems = restore_server(isolation.left_behind)
    if left.share_folder and status is not SeriesStatus.FAILED:
        if _is_there(request, left.share_folder):  # where the script has other folders than its clients remove
            problems.append(on_the_share(left.share_folder, request.target))
        left = replace(left, share_folder=None)
    for problem in problems:
        yield Warned(text=problem)
    client = bench.client or isolation.client
    return IsolationClosed(isolation=replace(isolation, status=status, error=why, client=client, left_behind=left))


def _is_there(request: IsolationRequest, folder: str) -> bool:
    """True also if nobody can tell."""
    try:
        with connected_files(request.target, request.secrets, request.settings) as files:
            return files.query(folder).is_folder
    except SharebenchError as error:
        return not isinstance(error, NoSuchFileError)


def _opened(request: IsolationRequest, places: Places, bench: LayerBench, resumed: Isolation | None) -> Isolation:
    folders = (places.disk and places.disk.folder, places.share_folder_there if places.shell else None)
    left = LeftBehind(
        ssh=request.server_ssh,
        smb_conf=places.smb_conf,
        profiling=places.profiling,
        server_folders=tuple(folder for folder in folders if folder),
        share_folder=None if places.share_folder_there else places.share_folder,
    )
    if resumed:
        return replace(resumed, left_behind=left, problems=places.problems)
    script = bench.script
    seen = named(places, "link_bits_per_second", "loopback", "same_machine", "processors", "problems")
    return Isolation(
        **shared(request, Isolation) | seen, id=new_series_id(), created_at=utc_now(), script=script.name,
        script_sha256=script.digest, pass_bytes=script.pass_bytes, pass_operations=script.counts,
        processor_quota=places.smbd.quota().processors if places.smbd else None,
        environment={"client": {**client_facts(), **measurer_facts()}}, left_behind=left,
    )  # fmt: skip


def _is_done(isolation: Isolation, step: Step) -> bool:
    return any(run.key == step and run.status is RunStatus.VALID for run in isolation.runs)
