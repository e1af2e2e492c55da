"""The measuring process: an order, or a :class:`CalibrationOrder`, on stdin, events on stdout; EOF on stdin cancels."""

import gc
import hashlib
import math
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from app.base import errors
from app.base.child_process import keep_memory_to_ourselves, message_of, own_stdout, send
from app.base.errors import SharebenchError
from app.base.targets import is_scratch_path, new_scratch_path
from app.clients.base import MODULES, OWN, Client, Content, Meter, Transfer, make_client, make_files
from app.clients.tcp import TcpInfo, traffic_facts
from app.clients.tree_client import TreeClient
from app.recording import process
from app.recording.process import Calibrated, CalibrationOrder, Control, Event, Failed, MeasuringOrder, RunGate
from app.recording.standstill import StandstillWatch
from forms.stats.summary import known_to_percent
from storage.json_reader import LARGEST
from storage.records import ClientFacts, Command, Phase, Run, RunStatus, format_target, standstill_fact, utc_now

if TYPE_CHECKING:
    from app.server.smbd import Profiler

MIN_RUNS_FOR_INTERVAL = 3
"""Two runs that agree by chance prove nothing."""


class Engine:
    """Measures one series with one client; call :meth:`measure` once."""

    def __init__(
        self,
        order: MeasuringOrder,
        make_client: Callable[[], Client],
        brake: RunGate,
        emit: Callable[[process.Event], None],
        now: Callable[[], str] = utc_now,
        profiler: "Profiler | None" = None,
    ) -> None:
        self._order = order
        self._spec = order.spec
        self._counts = order.spec.counts
        self._make_client = make_client
        self._brake = brake
        self._emit = emit
        self._now = now
        self._profiler = profiler
        self._client = make_client()
        self._scratch: list[str] = []
        self._rates = list(order.done_rates)
        self._runs_done = order.done_runs
        self._content: Content | None = None
        self._size_bytes = 0
        self._path = order.target.path
        self._traffic: list[TcpInfo] = []
        self._watch = StandstillWatch()

    def measure(self) -> None:
        self._brake.when_cancelled(self._client.abort)
        failure: errors.SharebenchError | None = None
        try:
            self._prepare()
            with self._watch:
                self._run_all()
            if facts := traffic_facts(self._traffic):
                self._emit(process.PathSeen(path_facts=facts))
            if self._counts.verify:
                self._verify()
        except errors.SharebenchError as error:
            failure = error
        finally:
            self._brake.when_cancelled(None)
            left = self._clean_up()
            self._client.close()
        if self._brake.cancelled.is_set() and not isinstance(failure, errors.UsageError):
            failure = errors.CancelledError("cancelled")
        if failure is None:
            if left:
                self._emit(process.Warned(text=f"{left}: remove it by hand"))
            self._emit(process.Finished())
        else:
            what_to_do = f"; {left}: remove it by hand, or resume the series" if left else ""
            self._emit(process.Failed.of(failure, what_to_do))

    def _prepare(self) -> None:
        order = self._order
        counts = self._counts
        client = self._client
        began = time.perf_counter()
        client.connect()
        login = {"session.login_seconds": round(time.perf_counter() - began, 6)}
        if order.scratch_path and not is_scratch_path(order.target, order.scratch_path):
            raise errors.UsageError(
                f"{order.scratch_path} is not a file that sharebench makes there, so it is left as it is: measure a new"
                " series with `sharebench run`"
            )
        if order.scratch_path:
            self._scratch.append(order.scratch_path)
            self._remove(order.scratch_path)
        if self._spec.command is Command.PUT or counts.make_file:
            if not counts.size_bytes or counts.size_bytes < 0:
                raise errors.UsageError("how big shall the file be?", options="--size SIZE")
            self._size_bytes = counts.size_bytes * (counts.files or 1)
            self._content = Content(self._size_bytes)
        if self._spec.command is Command.GET:
            if counts.make_file and self._content and (counts.runs or counts.warmups):
                self._path = self._new_scratch()
                self._put(self._path, self._content, Meter(self._brake.cancelled, self._progress))
            self._size_bytes = self._size_to_get()
        facts = client.facts_of_path() | login
        self._emit(process.Started(client=client.facts(), size_bytes=self._size_bytes, path_facts=facts))

    def _size_to_get(self) -> int:
        size_bytes, where = self._client.size(self._path), self._where(self._path)
        if not size_bytes:
            raise errors.NotAFileError(f"{where}: the file is empty; name one with something in it")
        if not 0 < size_bytes <= LARGEST:
            raise errors.ProtocolError(f"{where}: no file is {size_bytes} bytes long; look at what serves it")
        if self._path in self._scratch and self._content and size_bytes != self._content.size_bytes:
            raise errors.CorruptedError(
                f"{where}: the file that was made for this has {size_bytes} of {self._content.size_bytes} bytes; look "
                "for what cuts connections in between"
            )
        return size_bytes

    def _where(self, path: str) -> str:
        return format_target(replace(self._order.target, path=path))

    def _run_all(self) -> None:
        counts = self._counts
        if counts.until_percent is not None:
            known_to_percent((1.0, 2.0))  # loads what it needs now, not between two runs
        gc.collect()
        gc.freeze()
        last_warmup = self._order.done_warmups + counts.warmups
        for number in range(self._order.done_warmups + 1, last_warmup + 1):
            if self._brake.finishing:
                return
            self._one_run(number, Phase.WARM_UP, last_warmup)
        while not self._brake.finishing and self._wants_another():
            self._runs_done += 1
            self._one_run(self._runs_done, Phase.MEASURED, None if counts.until_percent is not None else counts.runs)

    def _wants_another(self) -> bool:
        counts = self._counts
        if counts.until_percent is None:
            return self._runs_done < counts.runs
        half_width = known_to_percent(self._rates) if len(self._rates) >= MIN_RUNS_FOR_INTERVAL else None
        is_known = half_width is not None and half_width <= counts.until_percent
        if is_known and self._runs_done >= min(counts.runs, counts.max_runs):
            return False
        return self._runs_done < counts.max_runs

    def _one_run(self, number: int, phase: Phase, planned: int | None) -> None:
        if self._brake.must_wait(stepped=self._order.stepped):
            self._emit(process.Paused())
        self._brake.wait(stepped=self._order.stepped)
        if self._brake.cancelled.is_set():
            raise errors.CancelledError("cancelled")
        if self._brake.finishing:
            self._runs_done -= phase is Phase.MEASURED
            return
        if self._order.stepped:  # what one connection is lucky with, such as its processor, is no part of a comparison
            self._client.close()
            self._client = self._make_client()
            self._brake.when_cancelled(self._client.abort)
            self._client.connect()
        self._emit(process.RunStarted(number=number, phase=phase, of=planned))
        run = Run(number=number, phase=phase, started_at=self._now(), size_bytes=self._size_bytes)
        meter = Meter(self._brake.cancelled, self._progress)
        self._watch.begin()
        transfer = self._transfer_or_tell(run, meter)
        standstill_seconds = self._watch.standstill_seconds()

        run = replace(
            run,
            size_bytes=transfer.size_bytes,
            seconds=transfer.seconds,
            open_seconds=transfer.open_seconds,
            close_seconds=transfer.close_seconds,
            progress=_course(meter, transfer),
        )
        if transfer.traffic is not None:
            self._traffic.append(transfer.traffic)
        self._emit(process.RunFinished(run=run))
        if standstill_seconds and phase is Phase.MEASURED:
            self._emit(process.PathSeen(path_facts={standstill_fact(number): round(standstill_seconds, 3)}))
        if self._profiler:
            counted = self._profiler.round(number)
            self._emit(process.PathSeen(path_facts=counted if phase is Phase.MEASURED else {}))
        if phase is Phase.MEASURED and run.bytes_per_second is not None:
            self._rates.append(run.bytes_per_second)
        if run.size_bytes != self._size_bytes and self._order.target.abilities.moves_files:  # it has no file
            self._emit(
                process.Warned(
                    text=f"the file changed its size from {self._size_bytes} to {run.size_bytes} bytes while it was"
                    " measured; measure a file that nobody writes to"
                )
            )
            self._size_bytes = run.size_bytes

    def _transfer_or_tell(self, run: Run, meter: Meter) -> Transfer:
        """Move the file; a run that fails is told before its error is raised."""
        try:
            return self._transfer(meter)
        except errors.CancelledError:
            raise
        except errors.MeasurementError as error:
            if self._brake.cancelled.is_set():
                raise errors.CancelledError("cancelled") from error
            failed = replace(run, status=RunStatus.FAILED, error=str(error), progress=tuple(meter.samples))
            self._emit(process.RunFinished(run=failed))
            raise

    def _transfer(self, meter: Meter) -> Transfer:
        if self._spec.command is Command.GET:
            transfer = _undisturbed(lambda: self._client.get(self._path, meter))
            self._refuse_impossible(transfer, self._path)
            return transfer
        assert self._content
        content, path = self._content, self._new_scratch()
        transfer = _undisturbed(lambda: self._put(path, content, meter))
        self._refuse_impossible(transfer, path)
        self._remove(path)
        return transfer

    def _put(self, path: str, content: Content, meter: Meter) -> Transfer:
        """Raises NotAFileError before anything is written if the target is a file."""
        try:
            return self._client.put(path, content, meter)
        except errors.AccessDeniedError:
            if not meter.has_begun:  # refused when it was to be opened
                self._gone(path)
            raise
        except errors.NoSuchFileError as error:
            try:
                self._client.size(self._order.target.path)
            except errors.MeasurementError:
                raise error from None
            self._gone(path)
            raise errors.NotAFileError(
                f"{self._where(self._order.target.path)} is a file: name the folder that a file is to be made in"
            ) from error

    def _refuse_impossible(self, transfer: Transfer, path: str) -> None:
        size_bytes, seconds = transfer.size_bytes, transfer.seconds
        besides = [transfer.open_seconds or 0.0, transfer.close_seconds or 0.0]
        if not (0 < size_bytes <= LARGEST and 0 < seconds < math.inf and all(0 <= s < math.inf for s in besides)):
            raise errors.ProtocolError(
                f"{self._where(path)}: {size_bytes} bytes in {seconds:g} s cannot be; look at the server and its log, "
                "or measure with another client"
            )
        if self._content and size_bytes != self._content.size_bytes and self._order.target.abilities.moves_files:
            raise errors.CorruptedError(
                f"{self._where(path)}: {size_bytes} of {self._content.size_bytes} bytes were moved; look for what cuts "
                "connections in between"
            )

    def _progress(self, seconds: float, moved_bytes: int) -> None:
        self._emit(process.Progressed(seconds=seconds, moved_bytes=moved_bytes, size_bytes=self._size_bytes))

    def _verify(self) -> None:
        client, path = self._client, self._path
        quiet_meter = Meter(self._brake.cancelled)
        if self._spec.command is Command.PUT:
            assert self._content
            path = self._new_scratch()
            self._put(path, self._content, quiet_meter)
            sent, received = self._content.digest(), client.digest(path)
        else:
            settings = self._spec.settings
            asked_at_once = (settings.block_bytes or 0) * (settings.in_flight or 0)
            digest = OrderedDigest(self._where(path), MOST_EARLY_BYTES + asked_at_once)
            client.get(path, quiet_meter, digest)
            sent, received = client.digest(path), digest.hexdigest()
        if sent != received:
            raise errors.CorruptedError(
                f"{path}: the bytes that arrived are not those that were sent (SHA-256 {received[:16]}…, not"
                f" {sent[:16]}…); do not trust this series or this path"
            )

    def _new_scratch(self) -> str:
        path = new_scratch_path(self._order.target, tree=self._counts.files is not None)
        if self._order.target.abilities.moves_files:
            self._scratch.append(path)
            self._emit(process.ScratchMade(path=path))
        return path

    def _remove(self, path: str) -> None:
        if path in self._scratch:
            self._client.remove(path)
            self._gone(path)

    def _gone(self, path: str) -> None:
        self._scratch.remove(path)
        self._emit(process.ScratchRemoved(path=path))

    def _clean_up(self) -> str:
        """Reconnects if need be; returns what could not be removed, in words."""
        if not self._scratch:
            return ""
        if not self._brake.cancelled.is_set():
            try:
                self._remove_all()
            except (errors.ConnectionLostError, errors.ProtocolError):
                pass
            except errors.SharebenchError as error:
                return self._left_behind(error)
            else:
                return ""
        self._client.close()
        self._client = self._make_client()
        try:
            self._client.connect()
            self._remove_all()
        except errors.SharebenchError as error:
            return self._left_behind(error)
        return ""

    def _left_behind(self, error: errors.SharebenchError) -> str:
        return f"{', '.join(self._scratch)} may still be there ({error})"

    def _remove_all(self) -> None:
        for path in tuple(self._scratch):
            self._remove(path)


MOST_EARLY_BYTES = 128 * 1024 * 1024
"""Eight times what is asked for at once by default: so far no honest server is out of order."""


class OrderedDigest:
    """SHA-256 of blocks in any order; buffers early ones up to a limit."""

    def __init__(self, where: str = "", most_early_bytes: int = MOST_EARLY_BYTES) -> None:
        """``where`` is for the error."""
        self._where = where
        self._sha = hashlib.sha256()
        self._next = 0
        self._early: dict[int, bytes] = {}
        self._early_bytes = 0
        self._most_early_bytes = most_early_bytes

    def __call__(self, offset: int, block: memoryview) -> None:
        """Raises ProtocolError if the server holds back a block for so long that the others fill the memory."""
        self._early[offset] = bytes(block)
        self._early_bytes += len(block)
        while self._next in self._early:
            early = self._early.pop(self._next)
            self._early_bytes -= len(early)
            self._sha.update(early)
            self._next += len(early)
        if self._early_bytes > self._most_early_bytes:
            raise errors.ProtocolError(
                f"{self._where}: the server holds back the byte at {self._next} and has sent {self._early_bytes} bytes "
                "behind it; see its log, and look for what is in between"
            )

    def hexdigest(self) -> str:
        return self._sha.hexdigest()


def _course(meter: Meter, transfer: Transfer) -> tuple[tuple[float, int], ...]:
    if transfer.progress is not None:
        return transfer.progress
    samples = [sample for sample in meter.samples if sample[0] < transfer.seconds]
    return (*samples, (transfer.seconds, transfer.size_bytes)) if samples else ()


def _undisturbed(transfer: Callable[[], Transfer]) -> Transfer:
    gc.collect()
    gc.disable()
    try:
        return transfer()
    finally:
        gc.enable()


def main() -> int:
    keep_memory_to_ourselves()
    out = own_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    brake = RunGate()
    signal.signal(signal.SIGTERM, lambda *_: brake.cancel())
    order: MeasuringOrder | CalibrationOrder = message_of(sys.stdin.readline(), [MeasuringOrder, CalibrationOrder])
    if isinstance(order, CalibrationOrder):
        home, rate = MODULES[order.protocol].ceiling, None
        if home and order.client.name == OWN:
            rate = ceiling_bytes_per_second(import_module(home).ceiling_seconds, order.client, order.command)
        send(out, Calibrated(bytes_per_second=rate))
        return 0
    threading.Thread(target=_listen, args=(brake,), name="listen", daemon=True).start()

    def emit(event: Event) -> None:
        try:
            send(out, event)
        except BrokenPipeError:
            brake.cancel()

    try:
        _measure(order, brake, emit)
    except SharebenchError as error:
        emit(Failed.of(error))
    return 0


FIRST_BYTES = 32 * 1024 * 1024
LARGEST_BYTES = 1024 * 1024 * 1024
LONG_ENOUGH_SECONDS = 0.25
TIMES = 4


def ceiling_bytes_per_second(
    transfer: Callable[[ClientFacts, Command, int], float], facts: ClientFacts, command: Command
) -> float:
    """The best of four transfers of at least a quarter of a second."""
    size_bytes = FIRST_BYTES
    seconds = transfer(facts, command, size_bytes)
    while seconds < LONG_ENOUGH_SECONDS and size_bytes < LARGEST_BYTES:
        size_bytes *= 2
        seconds = transfer(facts, command, size_bytes)
    gc.disable()
    return size_bytes / min(seconds, *(transfer(facts, command, size_bytes) for _ in range(TIMES - 1)))


def _measure(order: MeasuringOrder, brake: RunGate, emit: Callable[[Event], None]) -> None:
    spec = order.spec
    settings = spec.settings
    if spec.counts.make_file and spec.counts.files is None and order.target.abilities.is_local:
        # What is still being written to the disk would slow the timed gets of the same file.
        settings = replace(settings, flush=True)

    def client() -> Client:
        made = make_client(order.target, spec.client, order.secrets, settings, spec.counts.size_bytes)
        if spec.counts.files is None:
            return made
        return TreeClient(made, make_files(order.target, order.secrets, settings), spec.counts.files)

    if order.profile_conf is None:
        Engine(order, client, brake, emit).measure()
        return
    from app.server.smbd import Profiler

    with Profiler(order.profile_ssh, order.profile_conf) as profiler:
        Engine(order, client, brake, emit, profiler=profiler).measure()


def _listen(brake: RunGate) -> None:
    for line in sys.stdin:
        brake.hear(message_of(line, [Control]).word)
    brake.cancel()


if __name__ == "__main__":
    sys.exit(main())
