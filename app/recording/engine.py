"""Measures one series with one client: its file, its runs, and what is looked at after them.

A run is one transfer of a file, timed: a get of one file, or a put of a new one; or it is random requests to one file
for some seconds. Files that are made for this are scratch files; their paths are told before they are made, and they
are removed at the end.
"""

import gc
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from app.base import errors, own_names
from app.clients import base, tcp_info
from app.clients.random_client import RandomClient
from app.clients.written_otherwise import as_it_is_written
from app.recording import ordered_digest, process
from app.recording.content_sample import ContentSample
from app.recording.standstill import StandstillWatch
from forms.stats.summary import known_to_percent
from storage import records
from storage.json_reader import LARGEST

if TYPE_CHECKING:
    from app.recording.hooks import HookRunner
    from app.server.smbd import Profiler

MIN_RUNS_FOR_INTERVAL = 3
"""Two runs that agree by chance prove nothing."""


class Engine:
    """Measures one series with one client; call :meth:`measure` once.

    All is done in the caller's thread. Another thread may cancel by the gate, which aborts the client: what that breaks
    off is told as CancelledError.
    """

    def __init__(
        self,
        order: process.MeasuringOrder,
        make_client: Callable[[], base.Client],
        gate: process.RunGate,
        emit: Callable[[process.Event], None],
        now: Callable[[], str] = records.utc_now,
        profiler: "Profiler | None" = None,
        hooks: "HookRunner | None" = None,
    ) -> None:
        """``gate`` says when a run may begin and when to end; ``emit`` is told each event, before anything follows.

        ``profiler`` reads smbd's counters after each run, ``hooks`` runs commands around it; None where nobody asked
        for them.
        """
        self._order = order
        self._spec = order.spec
        self._counts = order.spec.counts
        self._make_client = make_client
        self._gate = gate
        self._emit = emit
        self._now = now
        self._profiler = profiler
        self._hooks = hooks

        self._client = make_client()
        self._scratch_paths: list[str] = []
        """Our files that are on the target, or may be."""
        self._rates = list(order.done_rates)
        """Bytes per second of the measured runs, those of earlier attempts included."""
        self._runs_done = order.done_runs
        """The number of the last measured run that was begun, those of earlier attempts included."""
        self._content: base.Content | None = None
        """What is put; None where a file is got that was there before."""
        self._size_bytes = 0
        """What a run moves; that of all files together where they are several."""
        self._path = order.target.path
        """Of the file that is got: that of the target, or of the one that was made for it."""
        self._traffic: list[tcp_info.TcpInfo] = []
        """What the kernel counted in each run, where that is known."""
        self._watch = StandstillWatch()

    def measure(self) -> None:
        """Measure all of it and clean up; the last event is Finished or Failed.

        An error that is not of our own kinds is a mistake: it ends the process, after the cleaning.
        """
        self._gate.when_cancelled(self._client.abort)
        failure: errors.SharebenchError | None = None
        try:
            self._measure_and_verify()
        except errors.SharebenchError as error:
            failure = error
        finally:
            # The cleaning is not to be broken off.
            self._gate.when_cancelled(None)
            leftover = self._clean_up()
            self._client.close()

        # What fails after the client was aborted follows from that; a wrong order would fail without it, too.
        if self._gate.cancelled.is_set() and not isinstance(failure, errors.UsageError):
            failure = errors.CancelledError("cancelled")
        self._emit_end(failure, leftover)

    def _measure_and_verify(self) -> None:
        self._prepare()
        with self._watch:
            self._run_all()
        if self._order.stepped:
            self._wait_for_turn(has_all_runs=True)

        path_facts = tcp_info.traffic_facts(self._traffic)
        if path_facts:
            self._emit(process.PathSeen(path_facts=path_facts))
        if self._counts.verify:
            if self._order.stepped:
                # While others had their last runs, the server may have ended a connection that did nothing.
                self._connect_anew()
            self._verify()

    def _emit_end(self, failure: errors.SharebenchError | None, leftover: str) -> None:
        """``leftover`` says which of our files may still be there; empty for none."""
        if failure is not None:
            advice = f"; {leftover}: remove it by hand, or resume the series" if leftover else ""
            self._emit(process.Failed.of(failure, advice))
            return

        if leftover:
            self._emit(process.Warned(text=f"{leftover}: remove it by hand"))
        self._emit(process.Finished())

    # Before the first run

    def _prepare(self) -> None:
        began = time.perf_counter()
        self._client.connect()
        login_facts = {"session.login_seconds": round(time.perf_counter() - began, 6)}

        self._remove_earlier_scratch()
        has_runs = bool(self._counts.runs or self._counts.warmups)
        # A put sends what we make; so does the put of a file that is then got.
        if self._spec.command is records.Command.PUT or self._counts.make_file:
            self._make_content()
        is_got = self._spec.command is records.Command.GET
        if is_got or (self._counts.random and has_runs):
            self._prepare_file()

        path_facts = self._client.facts_of_path() | login_facts
        if self._hooks:
            path_facts |= self._hooks.facts
        if self._counts.random and has_runs:
            path_facts |= {records.RANDOM_FILE_FACT: self._size_bytes}
        self._emit(
            process.Started(
                client=self._client.facts(),
                size_bytes=self._size_bytes,
                path_facts=path_facts,
                process_id=os.getpid(),
            )
        )

    def _remove_earlier_scratch(self) -> None:
        """Remove what an interrupted attempt left. Raises UsageError for a path that sharebench does not make."""
        path = self._order.scratch_path
        if not path:
            return
        if not own_names.is_scratch_path(self._order.target, path):
            raise errors.UsageError(
                f"{path} is not a file that sharebench makes there, so it is left as it is: measure a new"
                " series with `sharebench run`"
            )
        self._scratch_paths.append(path)
        self._remove(path)

    def _make_content(self) -> None:
        counts = self._counts
        if not counts.size_bytes or counts.size_bytes < 0:
            raise errors.UsageError("how big shall the file be?", options="--size SIZE")
        self._size_bytes = counts.size_bytes * (counts.files or 1)
        # All sides of a comparison move the same bytes.
        self._content = base.Content(self._size_bytes, seed=self._spec.interleaved_with)

    def _prepare_file(self) -> None:
        """Put the file that is to be got or that random requests go to, unless it is there, and learn its size."""
        counts = self._counts
        if self._content and (counts.runs or counts.warmups):
            self._path = self._new_scratch_path()
            self._put(self._path, self._content, base.Meter(self._gate.cancelled, self._emit_progress))
        self._size_bytes = self._size_to_get()

    def _size_to_get(self) -> int:
        size_bytes = self._size_of_file()
        url = self._url(self._path)
        if not size_bytes:
            raise errors.NotAFileError(f"{url}: the file is empty; name one with something in it")
        if not 0 < size_bytes <= LARGEST:
            raise errors.ProtocolError(f"{url}: no file is {size_bytes} bytes long; look at what serves it")

        is_ours = self._path in self._scratch_paths
        if is_ours and self._content and size_bytes != self._content.size_bytes:
            raise errors.CorruptedError(
                f"{url}: the file that was made for this has {size_bytes} of {self._content.size_bytes} bytes; look "
                "for what cuts connections in between"
            )
        return size_bytes

    def _size_of_file(self) -> int:
        """Bytes. Raises NoSuchFileError, with how the name is written there if only that differs."""
        try:
            return self._client.size(self._path)
        except errors.NoSuchFileError as error:
            raise self._named_as_written(error, self._path) from error

    def _named_as_written(self, error: errors.NoSuchFileError, path: str) -> errors.NoSuchFileError:
        """The error about a path, with how that is written there if only that differs."""
        written = as_it_is_written(self._client, replace(self._order.target, path=path))
        return errors.NoSuchFileError(f"{error}; {written}") if written else error

    def _url(self, path: str) -> str:
        return records.format_target(replace(self._order.target, path=path))

    # The runs

    def _run_all(self) -> None:
        counts = self._counts
        if counts.until_percent is not None:
            known_to_percent((1.0, 2.0))  # loads what it needs now, not between two runs
        # What is there by now is never looked through for garbage again, between two runs.
        gc.collect()
        gc.freeze()

        last_warmup = self._order.done_warmups + counts.warmups
        for number in range(self._order.done_warmups + 1, last_warmup + 1):
            if self._gate.finishing:
                return
            self._run(number, records.Phase.WARM_UP, last_warmup)

        # With ``until_percent`` nobody knows how many it will be.
        planned_runs = counts.runs if counts.until_percent is None else None
        while not self._gate.finishing and self._wants_another_run():
            self._runs_done += 1
            self._run(self._runs_done, records.Phase.MEASURED, planned_runs)

    def _wants_another_run(self) -> bool:
        """Until there are as many runs as were asked for; with ``until_percent`` until the average is known so well.

        Then ``runs`` is the least number, and ``max_runs`` the largest.
        """
        counts = self._counts
        if counts.until_percent is None:
            return self._runs_done < counts.runs

        half_width_percent = None
        if len(self._rates) >= MIN_RUNS_FOR_INTERVAL:
            half_width_percent = known_to_percent(self._rates)
        is_known = half_width_percent is not None and half_width_percent <= counts.until_percent
        if is_known and self._runs_done >= min(counts.runs, counts.max_runs):
            return False
        return self._runs_done < counts.max_runs

    def _run(self, number: int, phase: records.Phase, planned: int | None) -> None:
        """One run, once its turn comes; none where the series is to end before that.

        ``planned`` is the number of the last one of its phase, None where that is not known yet.
        """
        self._wait_for_turn()
        if self._gate.finishing:
            # Its number was taken for it before.
            if phase is records.Phase.MEASURED:
                self._runs_done -= 1
            return

        run = records.Run(number=number, phase=phase, started_at=self._now(), size_bytes=self._size_bytes)
        if self._hooks:
            self._prepare_run(self._hooks.before_run, run)
        self._connect_anew_for_run()

        self._emit(process.RunStarted(number=number, phase=phase, of=planned))
        run = replace(run, started_at=self._now())
        tell = self._emit_progress_of_requests if self._counts.random else self._emit_progress
        meter = base.Meter(self._gate.cancelled, tell)

        self._watch.begin()
        transfer = self._transfer_or_tell(run, meter)
        standstill_seconds = self._watch.standstill_seconds()

        run = replace(
            run,
            size_bytes=transfer.size_bytes,
            seconds=transfer.seconds,
            open_seconds=transfer.open_seconds,
            close_seconds=transfer.close_seconds,
            requests=transfer.requests,
            progress=_progress_of_run(meter, transfer),
        )
        if transfer.traffic is not None:
            self._traffic.append(transfer.traffic)
        # The event stores the run; all that follows is about a run that is kept.
        self._emit(process.RunFinished(run=run))
        self._look_around(run, standstill_seconds)

        if phase is records.Phase.MEASURED and run.bytes_per_second is not None:
            self._rates.append(run.bytes_per_second)
        self._warn_of_new_size(run)
        if self._hooks:
            # The run is stored: it stays where one of these fails, with which the series ends.
            self._run_hooks(self._hooks.after_run, run)

    def _wait_for_turn(self, *, has_all_runs: bool = False) -> None:
        """Wait while the series is paused, and for its step, which may be its end. Raises CancelledError."""
        if self._gate.must_wait(stepped=self._order.stepped):
            self._emit(process.Paused(has_all_runs=has_all_runs))
        self._gate.wait(stepped=self._order.stepped)
        if self._gate.cancelled.is_set():
            raise errors.CancelledError("cancelled")

    def _prepare_run(self, options: Sequence[str], run: records.Run) -> None:
        """Run the commands before a run. It fails with one that fails, which is told before its error."""
        try:
            self._run_hooks(options, run)
        except errors.HookError as error:
            self._emit(process.RunFinished(run=replace(run, status=records.RunStatus.FAILED, error=str(error))))
            raise

    def _run_hooks(self, options: Sequence[str], run: records.Run) -> None:
        """Raises HookError for the first that fails, CancelledError where it was ended for that."""
        assert self._hooks
        for option in options:
            self._emit(process.HookStarted(option=option, number=run.number, phase=run.phase))
            try:
                self._hooks.run(option, self._gate.when_cancelled)
            except errors.HookError as error:
                self._raise_if_cancelled(error)
                raise
            finally:
                self._gate.when_cancelled(self._client.abort)

    def _raise_if_cancelled(self, error: errors.SharebenchError) -> None:
        """Raises CancelledError where what broke follows from the cancellation."""
        if self._gate.cancelled.is_set():
            raise errors.CancelledError("cancelled") from error

    def _connect_anew_for_run(self) -> None:
        """Where runs are interleaved, since what one connection is lucky with is no part of a comparison.

        And after a command that prepares a run: it may have restarted the server.
        """
        is_prepared = self._hooks is not None and bool(self._hooks.before_run)
        if self._order.stepped or is_prepared:
            self._connect_anew()

    def _connect_anew(self) -> None:
        self._client.close()
        self._client = self._make_client()
        self._gate.when_cancelled(self._client.abort)
        self._client.connect()

    def _look_around(self, run: records.Run, standstill_seconds: float) -> None:
        """Tell what was seen of the path during the run, which is stored by then."""
        is_measured = run.phase is records.Phase.MEASURED
        if standstill_seconds and is_measured:
            fact = records.standstill_fact(run.number)
            self._emit(process.PathSeen(path_facts={fact: round(standstill_seconds, 3)}))
        if self._profiler:
            # The profile is read after a warm-up, too, so that the next run's begins there.
            profile_facts = self._profiler.round(run.number)
            self._emit(process.PathSeen(path_facts=profile_facts if is_measured else {}))

    def _warn_of_new_size(self, run: records.Run) -> None:
        """Warn once where the file that is got has another size now; each further run is compared with the new one."""
        has_file = self._order.target.abilities.moves_files
        if not has_file or self._counts.random:  # random requests never move all of it
            return
        if run.size_bytes == self._size_bytes:
            return

        self._emit(
            process.Warned(
                text=f"the file changed its size from {self._size_bytes} to {run.size_bytes} bytes while it was"
                " measured; measure a file that nobody writes to"
            )
        )
        self._size_bytes = run.size_bytes

    def _transfer_or_tell(self, run: records.Run, meter: base.Meter) -> base.Transfer:
        """Move the file; a run that fails is told before its error is raised."""
        try:
            return self._transfer(run, meter)
        except errors.CancelledError:
            raise
        except errors.MeasurementError as error:
            self._raise_if_cancelled(error)
            failed_run = replace(run, status=records.RunStatus.FAILED, error=str(error), progress=tuple(meter.samples))
            self._emit(process.RunFinished(run=failed_run))
            raise

    def _transfer(self, run: records.Run, meter: base.Meter) -> base.Transfer:
        if self._counts.random:
            return self._request_at_random(run, meter)
        if self._spec.command is records.Command.GET:
            sample = self._sample_of_run(run)
            with without_garbage_collection():
                transfer = self._client.get(self._path, meter, sample)
            self._refuse_impossible(transfer, self._path)
            if sample is not None and sample.checksum:
                self._emit(process.PathSeen(path_facts={records.CONTENT_SAMPLE: sample.checksum}))
            return transfer

        # A put: each run makes a file of its own, which is removed when the clock has stopped.
        assert self._content
        path = self._new_scratch_path()
        with without_garbage_collection():
            transfer = self._put(path, self._content, meter)
        self._refuse_impossible(transfer, path)
        self._remove(path)
        return transfer

    def _sample_of_run(self, run: records.Run) -> ContentSample | None:
        """What looks at the content of a file that was there before, where it is compared with another; else None.

        In the first warm-up alone, since it costs a run some of its time.
        """
        is_first = run.phase is records.Phase.WARM_UP and run.number == 1
        has_own_content = self._content is None and self._order.target.abilities.moves_files
        if not (is_first and has_own_content and self._spec.interleaved_with):
            return None
        return ContentSample(self._size_bytes)

    def _request_at_random(self, run: records.Run, meter: base.Meter) -> base.Transfer:
        """Raises ProtocolError where nothing was answered."""
        assert isinstance(self._client, RandomClient)
        with without_garbage_collection():
            transfer = self._client.run_at_random(self._path, f"{run.phase} {run.number}", meter)
        self._refuse_impossible(transfer, self._path)
        return transfer

    def _put(self, path: str, content: base.Content, meter: base.Meter) -> base.Transfer:
        """Send the content to a new file. Raises NotAFileError before anything is written if the target is a file.

        Where no file can have been made, its path is forgotten, so that nobody looks for it.
        """
        try:
            return self._client.put(path, content, meter)
        except errors.AccessDeniedError:
            if not meter.has_begun:  # refused when it was to be opened
                self._forget_scratch(path)
            raise
        except errors.NoSuchFileError as error:
            # A target that has a size is no folder.
            try:
                self._client.size(self._order.target.path)
            except errors.MeasurementError:
                raise self._named_as_written(error, self._order.target.path) from None

            self._forget_scratch(path)
            raise errors.NotAFileError(
                f"{self._url(self._order.target.path)} is a file: name the folder that a file is to be made in"
            ) from error

    def _refuse_impossible(self, transfer: base.Transfer, path: str) -> None:
        """Raises ProtocolError for figures that cannot be, CorruptedError where a file that we made was cut short."""
        size_bytes = transfer.size_bytes
        has_size = 0 < size_bytes <= LARGEST
        has_seconds = 0 < transfer.seconds < math.inf
        opening_and_closing = (transfer.open_seconds or 0.0, transfer.close_seconds or 0.0)
        if not (has_size and has_seconds and all(0 <= seconds < math.inf for seconds in opening_and_closing)):
            raise errors.ProtocolError(
                f"{self._url(path)}: {size_bytes} bytes in {transfer.seconds:g} s cannot be; look at the server and"
                " its log, or measure with another client"
            )

        moves_whole_files = self._order.target.abilities.moves_files and not self._counts.random
        if self._content and size_bytes != self._content.size_bytes and moves_whole_files:
            raise errors.CorruptedError(
                f"{self._url(path)}: {size_bytes} of {self._content.size_bytes} bytes were moved; look for what cuts "
                "connections in between"
            )

    def _emit_progress(self, seconds: float, moved_bytes: int) -> None:
        self._emit(process.Progressed(seconds=seconds, moved_bytes=moved_bytes, size_bytes=self._size_bytes))

    def _emit_progress_of_requests(self, seconds: float, moved_bytes: int) -> None:
        """As if a run were to move what it moves at this rate in its time."""
        expected_bytes = round(moved_bytes / seconds * (self._counts.random_seconds or 0.0)) if seconds else 0
        self._emit(process.Progressed(seconds=seconds, moved_bytes=moved_bytes, size_bytes=expected_bytes))

    # After the last run

    def _verify(self) -> None:
        """Move the file once more and compare checksums of both sides. Raises CorruptedError."""
        path = self._path
        quiet_meter = base.Meter(self._gate.cancelled)
        if self._spec.command is records.Command.PUT:
            assert self._content
            path = self._new_scratch_path()
            self._put(path, self._content, quiet_meter)
            sent = self._content.digest()
            received = self._client.digest(path)
        else:
            settings = self._spec.settings
            # Blocks arrive in any order: so much may come before the one that is next to be digested.
            asked_at_once_bytes = (settings.block_bytes or 0) * (settings.in_flight or 0)
            most_early_bytes = ordered_digest.MOST_EARLY_BYTES + asked_at_once_bytes
            digest = ordered_digest.OrderedDigest(self._url(path), most_early_bytes)
            self._client.get(path, quiet_meter, digest)
            sent = self._client.digest(path)
            received = digest.hexdigest()

        if sent != received:
            raise errors.CorruptedError(
                f"{path}: the bytes that arrived are not those that were sent (SHA-256 {received[:16]}…, not"
                f" {sent[:16]}…); do not trust this series or this path"
            )

    # Our files on the target

    def _new_scratch_path(self) -> str:
        """The path of a file to make, told before there is one, so that it can be found after a crash."""
        path = own_names.new_scratch_path(self._order.target, tree=self._counts.files is not None)
        if self._order.target.abilities.moves_files:
            self._scratch_paths.append(path)
            self._emit(process.ScratchMade(path=path))
        return path

    def _remove(self, path: str) -> None:
        if path in self._scratch_paths:
            self._client.remove(path)
            self._forget_scratch(path)

    def _forget_scratch(self, path: str) -> None:
        self._scratch_paths.remove(path)
        self._emit(process.ScratchRemoved(path=path))

    def _clean_up(self) -> str:
        """Remove our files, over a new connection if need be; returns what could not be removed, in words."""
        if not self._scratch_paths:
            return ""

        if not self._gate.cancelled.is_set():  # a client that was aborted has no connection any more
            try:
                self._remove_all()
            except (errors.ConnectionLostError, errors.ProtocolError):
                pass
            except errors.SharebenchError as error:
                return self._leftover_text(error)
            else:
                return ""

        self._client.close()
        self._client = self._make_client()
        try:
            self._client.connect()
            self._remove_all()
        except errors.SharebenchError as error:
            return self._leftover_text(error)
        return ""

    def _leftover_text(self, error: errors.SharebenchError) -> str:
        return f"{', '.join(self._scratch_paths)} may still be there ({error})"

    def _remove_all(self) -> None:
        for path in tuple(self._scratch_paths):
            self._remove(path)


def _progress_of_run(meter: base.Meter, transfer: base.Transfer) -> tuple[tuple[float, int], ...]:
    """Seconds and bytes moved by then, which end as the transfer ended; empty for one that was too short."""
    if transfer.progress is not None:
        return transfer.progress

    samples = [sample for sample in meter.samples if sample[0] < transfer.seconds]
    if not samples:
        return ()
    return (*samples, (transfer.seconds, transfer.size_bytes))


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """For a timed part, in which a collection would take its time from the transfer."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
