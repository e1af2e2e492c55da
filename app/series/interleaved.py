"""Several series measured interleaved: a run of each in every round, so that drift affects all of them alike.

Each series has its recorder and a measuring process of its own, which is *stepped*: before each run it pauses, until
its control is told STEP. Series that are *going* have not ended yet. A round tells one series after another STEP, and
passes on the events of its recorder until that says Paused, or ends. None ends by itself before all have their last
run: what follows the runs of a series, such as the calibration of its client, would slow down the last run of another.
"""

import random
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from app.base import errors
from app.recording import process
from app.recording.rescue import notebook_to_measure_into
from app.recording.spec import SeriesRequest
from app.series.events import RecorderEvent
from app.series.record import record_into
from app.series.resume import Resumption, order_to_resume, resume_into
from forms.stats.paired import drawn_order
from storage.notebook import Notebook
from storage.records import Phase, format_target


def record_interleaved(
    requests: Sequence[SeriesRequest | Resumption],
    notebook_path: Path,
    control: process.SeriesControl,
    logins: Sequence[str] = (),
    chance: random.Random | None = None,
    *,
    equal_files: bool = False,
    ready_first: bool = False,
) -> Iterator[tuple[int, RecorderEvent]]:
    """Measure series run by run; yields each event with the index of its series.

    ``logins`` names the login of each series: once a login was refused, no other series begins that uses it. None
    begins after a cancel either. Once a run of each is measured, no round begins that would not end in time. With
    ``chance`` the first series and each other are measured in random order within each round, else alternating
    (A B B A).

    With ``equal_files`` no run begins before all series are ready. Where one fails before, the others are cancelled;
    where one fails later, so are those that nothing is left to compare with (the first is the base of all others).
    Resumed series that have fewer runs than others catch up first. Raises UnequalFilesError where they would move files
    of different sizes. With ``ready_first`` no run begins before all are ready or have failed, which stops no other.
    """
    controls = [process.SeriesControl() for _ in requests]
    """One of each series; ``control`` is the user's, and reaches all of them."""

    def tell_all(word: process.ControlMessage) -> None:
        for series_control in controls:
            series_control.tell(word)

    def cancel_all() -> None:
        for series_control in controls:
            series_control.cancel()

    control.attach(tell_all, cancel_all)
    try:
        with notebook_to_measure_into(notebook_path) as notebook, ExitStack() as closed_first:
            streams = [
                _stepped_events(request, notebook, series_control)
                for request, series_control in zip(requests, controls, strict=True)
            ]
            # Whoever reads the events may stop in the middle: each series ends while the notebook can still be told.
            closed_first.callback(_close_all, streams)
            rounds = _Rounds(control, _drawn_rounds(requests, chance))
            steps_behind = _steps_behind(requests, notebook) if equal_files else {}
            begun: set[int] = set()
            if ready_first:
                sizes = yield from _events_until_ready(streams, goes_on=True)
                begun.update(sizes)
                streams = [stream if index in sizes else iter(()) for index, stream in enumerate(streams)]
            elif equal_files:
                sizes = yield from _events_until_ready(streams)
                if len(sizes) < len(streams) or len(set(sizes.values())) > 1:
                    cancel_all()
                    yield from _last_events(streams, sizes)
                    _check_equal(requests, sizes)
                    return
                begun.update(sizes)

            turns = _Turns(streams, controls, control, logins, begun)
            yield from turns.catch_up(steps_behind)
            yield from turns.events(rounds, needs_base=equal_files)
    finally:
        control.detach()
        cancel_all()


def _close_all(streams: Sequence[Iterator[RecorderEvent]]) -> None:
    for stream in streams:
        if isinstance(stream, Generator):
            stream.close()


def _stepped_events(
    request: SeriesRequest | Resumption, notebook: Notebook, control: process.SeriesControl
) -> Iterator[RecorderEvent]:
    if isinstance(request, Resumption):
        return resume_into(notebook, request, control, stepped=True)
    return record_into(notebook, request, control, stepped=True)


def _events_until_ready(
    streams: Sequence[Iterator[RecorderEvent]], *, goes_on: bool = False
) -> Generator[tuple[int, RecorderEvent], None, dict[int, int]]:
    """Let each series log in and make its file, up to its first run; none begins after one that failed.

    With ``goes_on`` others begin after one that failed, unless it was cancelled or its login refused.

    Returns the number of bytes that a run moves, by index, of the series that are ready.
    """
    sizes: dict[int, int] = {}
    for index, stream in enumerate(streams):
        size_bytes = 0
        stops_others = not goes_on
        for event in stream:
            yield index, event
            if isinstance(event, process.Failed):
                stops_others = stops_others or issubclass(event.kind, errors.LoginError | errors.CancelledError)
            if isinstance(event, process.Started):
                size_bytes = event.size_bytes
            if isinstance(event, process.Paused):
                sizes[index] = size_bytes
                break
        if index not in sizes and stops_others:
            break
    return sizes


def _last_events(
    streams: Sequence[Iterator[RecorderEvent]], indices: Mapping[int, int]
) -> Iterator[tuple[int, RecorderEvent]]:
    """The events of cancelled series, which remove the files that they made."""
    for index in indices:
        for event in streams[index]:
            yield index, event


def _check_equal(requests: Sequence[SeriesRequest | Resumption], sizes: Mapping[int, int]) -> None:
    """Raises UnequalFilesError where all series are ready, but would move files of different sizes."""
    if len(sizes) < len(requests) or len(set(sizes.values())) == 1:
        return

    files = []
    for index, request in enumerate(requests):
        path = format_target(request.target) if isinstance(request, SeriesRequest) else request.series_id
        files.append(f"{path} has {sizes[index]:,} bytes")
    raise errors.UnequalFilesError(
        f"{', '.join(files)}: nothing was measured, because a comparison needs files of the same size",
        options="--make-file --size SIZE",
    )


def _steps_behind(requests: Sequence[SeriesRequest | Resumption], notebook: Notebook) -> dict[int, int]:
    """How many runs each resumed series has less than the one that is furthest, by index; those that lack none do not
    appear.
    """
    done_runs = {}
    for index, request in enumerate(requests):
        if isinstance(request, Resumption):
            done_runs[index] = order_to_resume(notebook.series(request.series_id), request.secrets).done_runs
    most = max(done_runs.values(), default=0)
    return {index: most - done for index, done in done_runs.items() if done < most}


class _Turns:
    """Lets each series go one run further in turn. Those that are *going* have not ended yet."""

    def __init__(
        self,
        streams: Sequence[Iterator[RecorderEvent]],
        controls: Sequence[process.SeriesControl],
        control: process.SeriesControl,
        logins: Sequence[str],
        begun: set[int],
    ) -> None:
        """``begun`` are those that have begun already; the rest as in :func:`record_interleaved`."""
        self._streams = streams
        self._controls = controls
        self._control = control
        self._logins = logins
        self._begun = begun
        self._refused_logins: set[str] = set()
        self._going = list(range(len(streams)))
        self._waiting_to_end: set[int] = set()
        """Those that are going and have all their runs."""

    def catch_up(self, steps_behind: Mapping[int, int]) -> Iterator[tuple[int, RecorderEvent]]:
        """Let each of these go that number of steps alone, so that runs of the same number meet in one round."""
        for index, steps in steps_behind.items():
            for _ in range(steps):
                if index in self._with_runs_to_come:
                    yield from self._step(index, None)

    @property
    def _with_runs_to_come(self) -> list[int]:
        return [index for index in self._going if index not in self._waiting_to_end]

    def events(self, rounds: "_Rounds", *, needs_base: bool) -> Iterator[tuple[int, RecorderEvent]]:
        """Rounds of one run of each, and at last the end of each.

        ``needs_base``: once the first series has failed, or all others have, those that are going are cancelled.
        """
        count = len(self._streams)
        failed: set[int] = set()
        while self._with_runs_to_come:
            rounds.arrange(self._going)
            turns = self._with_runs_to_come
            warning = rounds.end_in_time(turns)
            if warning:
                yield turns[0], warning

            for index in turns:
                for event in self._step(index, rounds):
                    if isinstance(event[1], process.Failed):
                        failed.add(index)
                    yield event
                is_hopeless = 0 in failed or len(failed) == count - 1
                if needs_base and count > 1 and failed and is_hopeless:
                    self._cancel_runs_to_come()
                    break
        yield from self._end_all()

    def _step(self, index: int, rounds: "_Rounds | None") -> Iterator[tuple[int, RecorderEvent]]:
        """A run of one series, or its end.

        One that says Paused goes on in the next round, or waits to end; if its events end, it has ended.
        """
        is_refused = bool(self._logins) and self._logins[index] in self._refused_logins
        if index not in self._begun and (self._control.cancelled.is_set() or is_refused):
            self._going.remove(index)
            return

        self._begun.add(index)
        self._controls[index].tell(process.ControlMessage.STEP)
        for event in self._streams[index]:
            if rounds is not None:
                rounds.take_event(index, event)
            yield index, event
            if self._logins and isinstance(event, process.Failed) and event.kind is errors.LoginError:
                self._refused_logins.add(self._logins[index])
            if isinstance(event, process.Paused):
                if event.has_all_runs:
                    self._waiting_to_end.add(index)
                return
        self._going.remove(index)

    def _cancel_runs_to_come(self) -> None:
        """Cancel those that nothing is left to be compared with: they can be resumed with the one that failed."""
        for index in self._with_runs_to_come:
            self._controls[index].cancel()
            self._waiting_to_end.add(index)

    def _end_all(self) -> Iterator[tuple[int, RecorderEvent]]:
        for index in tuple(self._going):
            while index in self._going:
                yield from self._step(index, None)


class _Rounds:
    """Interleaved rounds of one run of each series: their order, and whether another may begin."""

    def __init__(self, control: process.SeriesControl, orders: Sequence[Sequence[int]]) -> None:
        """``orders``: the indices of the series in the order of each round; empty to alternate."""
        self._control = control
        self._orders = list(orders)
        self._has_begun = False
        self._is_in_run = False
        """Whether a run, or what prepares it, has begun and not ended."""
        self._is_measured = False
        """Whether a measured run has ended."""

    def arrange(self, going: list[int]) -> None:
        """Put the series into the order of the next round: as drawn, else the reverse of the round before."""
        if self._orders:
            going.sort(key=self._orders.pop(0).index)
        elif self._has_begun:
            going.reverse()
        self._has_begun = True

    def take_event(self, index: int, event: RecorderEvent) -> None:
        """Tell the user's time limit (``--within``) when a run begins and ends: it keeps the longest of each series."""
        # What prepares a run takes its time as well.
        if isinstance(event, process.HookStarted | process.RunStarted):
            if not self._is_in_run:
                self._control.limit.begin_timing()
            self._is_in_run = True
        elif isinstance(event, process.RunFinished):
            self._control.limit.end_timing(index)
            self._is_in_run = False
            self._is_measured = self._is_measured or event.run.phase is Phase.MEASURED

    def end_in_time(self, going: Sequence[int]) -> process.Warned | None:
        """Where another round would end too late, have the series finish, and say so; cancel if nothing is measured."""
        limit = self._control.limit
        if limit.was_told_to_finish or limit.has_time_for_another(*going):
            return None
        if self._is_measured:
            return self._control.finish_in_time("run")
        self._control.end_in_time()
        return None


def _drawn_rounds(requests: Sequence[SeriesRequest | Resumption], chance: random.Random | None) -> list[list[int]]:
    """The order of the series in each round, warm-up rounds included; empty where no order is drawn.

    Whether the first series, the base, comes before another is drawn for each of the others by itself, because each is
    compared with the base alone.
    """
    if chance is None or len(requests) < 2:
        return []
    counts = [request.spec.counts for request in requests if isinstance(request, SeriesRequest)]
    if len(counts) < len(requests):
        return []  # resumed series: what was drawn is not known any more

    runs = min(count.runs for count in counts)
    base_first_of_others = [drawn_order(runs, chance) for _ in requests[1:]]
    orders = [list(range(len(requests))) for _ in range(counts[0].warmups)]
    for base_first in zip(*base_first_of_others, strict=True):
        after_base = [index for index, is_after in enumerate(base_first, start=1) if is_after]
        before_base = [index for index, is_after in enumerate(base_first, start=1) if not is_after]
        chance.shuffle(before_base)
        chance.shuffle(after_base)
        orders.append([*before_base, 0, *after_base])
    return orders
