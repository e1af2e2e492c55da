"""The measuring process of a series: its order, what it is told meanwhile, and its events.

The recorder starts it (MeasuringProcess), sends a MeasuringOrder, and reads its events; the last is Finished or Failed.
Meanwhile the user's wishes go from SeriesControl, on the user's side, to RunGate, on the measuring side, as
ControlMessages. Loads, isolations and diagnoses have processes and events of their own, and are controlled by a
SeriesControl, too.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Self, get_args

from app.base import errors
from app.base.child_process import ChildProcess, Elsewhere
from app.clients.base import Secrets
from app.recording.spec import SeriesRequest, SeriesSpec
from storage import records
from storage.json_reader import JSONNode


class ControlMessage(StrEnum):
    """What can be said to the measuring process; each takes effect between two runs."""

    PAUSE = "pause"
    RESUME = "resume"
    FINISH = "finish"
    """End well, with the runs that are measured by then."""
    STEP = "step"
    """The next run of a series in which each waits for its turn, or its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """An order to the measuring process; EOF means cancel."""

    word: ControlMessage


class RunGate:
    """The measuring side of the control: what was asked so far; the engine waits here before each run."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self._changed = threading.Condition()
        """Notified of each message, and of the cancellation."""
        self._paused = False
        self.finishing = False
        """Whether no further run begins, though nothing was cancelled."""
        self._steps = 0
        """Runs that were given their turn, and have not begun."""
        self._on_cancel: Callable[[], None] | None = None

    def hear(self, word: ControlMessage) -> None:
        with self._changed:
            if word is ControlMessage.PAUSE:
                self._paused = True
            elif word is ControlMessage.RESUME:
                self._paused = False
            elif word is ControlMessage.FINISH:
                self.finishing = True
            else:
                self._steps += 1
            self._changed.notify_all()

    def cancel(self) -> None:
        with self._changed:
            self.cancelled.set()
            self._changed.notify_all()
            on_cancel = self._on_cancel
        if on_cancel:
            on_cancel()

    def when_cancelled(self, call: Callable[[], None] | None) -> None:
        """Called at once if already cancelled; None clears it."""
        with self._changed:
            self._on_cancel = call
            is_cancelled = self.cancelled.is_set()
        if is_cancelled and call:
            call()

    def must_wait(self, *, stepped: bool) -> bool:
        """Whether the next run may not start yet; ``stepped``: each run needs a step of its own."""
        is_ending = self.cancelled.is_set() or self.finishing
        lacks_step = stepped and not self._steps
        return not is_ending and (self._paused or lacks_step)

    def wait(self, *, stepped: bool) -> None:
        """Returns when the next run may start or the series ends; consumes a step."""
        with self._changed:
            while self.must_wait(stepped=stepped):
                self._changed.wait()
            if stepped and self._steps:
                self._steps -= 1


class TimeLimit:
    """``--within``: nothing begins that would not end in time, judged by the longest so far.

    Around each measurement :meth:`begin_timing` and :meth:`end_timing` are called, which time it;
    :meth:`has_time_for_another` is asked before the next. Without a limit (infinite ``seconds``) there always is.
    """

    def __init__(
        self, seconds: float = math.inf, clock: Callable[[], float] = time.monotonic, started_at: float = math.inf
    ) -> None:
        self.seconds = seconds
        self._clock = clock
        self._started_at = started_at
        self._began_at = 0.0
        """When the newest measurement began."""
        self._longest: dict[int, float] = {}
        """Seconds of the longest measurement, by a number for its kind: whole rounds and pairs differ, for example."""
        self.was_told_to_finish = False
        """Whether the measurement was told to end by itself in time, so that it need not be cancelled."""
        self.is_over = False
        """Whether the measurement was cancelled because time is over, not by somebody."""

    def for_part(self) -> Self:
        """A limit that ends when this one does, with timings of its own: for one of several that share the time."""
        return type(self)(self.seconds, self._clock, self._started_at)

    def start(self) -> None:
        """The time counts from the first call."""
        self._started_at = min(self._started_at, self._clock())

    @property
    def seconds_left(self) -> float:
        return self.seconds - max(0.0, self._clock() - self._started_at)

    def begin_timing(self) -> None:
        """A measurement begins."""
        self._began_at = self._clock()

    def end_timing(self, kind: int = 0) -> None:
        """The measurement has ended; ``kind`` tells apart those that take different times."""
        seconds = self._clock() - self._began_at
        self._longest[kind] = max(self._longest.get(kind, 0.0), seconds)

    def has_time_for_another(self, *kinds: int) -> bool:
        """Whether one more of each of the kinds, in turn, would end in time; of the kind 0 where none is named."""
        needed_seconds = sum(self._longest.get(kind, 0.0) for kind in kinds or (0,))
        return needed_seconds <= self.seconds_left


class SeriesControl:
    """The user's side of the control: it survives from one process to the next, and keeps messages until one is there.

    A recorder calls :meth:`attach` when its process can be told something, and :meth:`detach` when it has ended. A
    command or screen calls :meth:`tell` and :meth:`cancel` at any time.
    """

    def __init__(self, within_seconds: float = math.inf) -> None:
        self.limit = TimeLimit(within_seconds)
        self._lock = threading.RLock()  # a signal handler may cancel while its own thread is saying a word
        self._say: Callable[[ControlMessage], None] | None = None
        self._end: Callable[[], None] | None = None
        self._waiting: list[ControlMessage] = []
        """Messages that no process was told yet."""
        self.cancelled = threading.Event()
        self.waited_enough = threading.Event()
        """Set where a quiet time, or the time to begin, is not to be waited for any longer."""

    def for_part(self) -> Self:
        """The control of one of several recordings that this one reaches; all of them share its time."""
        control = type(self)()
        control.limit = self.limit.for_part()
        return control

    def attach(self, say: Callable[[ControlMessage], None] | None, end: Callable[[], None]) -> None:
        """``say`` sends a message; where it is None, messages are kept for the next process. ``end`` cancels it."""
        with self._lock:
            self._say = say
            self._end = end
            while say and self._waiting:
                say(self._waiting.pop(0))
            if self.cancelled.is_set():
                end()

    def detach(self) -> None:
        with self._lock:
            self._say = None
            self._end = None

    def tell(self, word: ControlMessage) -> None:
        with self._lock:
            if self._say:
                self._say(word)
            else:
                self._waiting.append(word)

    def cancel(self) -> None:
        with self._lock:
            self.cancelled.set()
            self.waited_enough.set()
            if self._end:
                self._end()

    def allow_next_wait(self) -> None:
        """A wait is over: who ended it early has not ended the next one, unless all was cancelled."""
        with self._lock:
            if not self.cancelled.is_set():
                self.waited_enough.clear()

    def finish_in_time(self, measured: str) -> "Warned":
        """Let the measurement end by itself; ``measured`` says what there is no time for, such as a run."""
        self.limit.was_told_to_finish = True
        self.tell(ControlMessage.FINISH)
        return Warned(text=f"no further {measured} would end in time ({self._option}): it ends with what it has")

    def end_in_time(self) -> None:
        """Cancel the measurement since time is over, unless it ends by itself or was cancelled before."""
        if not self.limit.was_told_to_finish and not self.cancelled.is_set():
            self.limit.is_over = True
            self.cancel()

    @property
    def why_cancelled(self) -> str:
        return f"time is over ({self._option})" if self.limit.is_over else "cancelled"

    @property
    def _option(self) -> str:
        return f"--within {self.limit.seconds / 60:g}"


PathFacts = Annotated[dict[str, str | int | float], JSONNode.object_or_empty]


# Events of the measuring process


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """Logged in and ready for the first run."""

    client: records.ClientFacts
    size_bytes: int
    """Of the file that each run moves."""
    path_facts: PathFacts = field(default_factory=dict)
    process_id: int | None = None
    """Of the process that measures, on its machine; None where nobody watches it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathSeen:
    """More was learned of the path to the server."""

    path_facts: PathFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchMade:
    """Our file is about to be made on the target."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchRemoved:
    """Our file is no longer there, or was never made."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HookStarted:
    """A command around a run is running, outside of the timed part."""

    option: str
    """The option that gave it, such as ``--prepare``."""
    number: int
    """Of the run; so is the phase."""
    phase: records.Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    number: int
    phase: records.Phase
    of: int | None
    """How many runs of the phase are planned; None where that is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progressed:
    """Bytes moved in the current run; at most ten events a second."""

    seconds: float
    """Of the run, so far."""
    moved_bytes: int
    size_bytes: int
    """To be moved by the whole run; 0 where nobody can say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """A run has ended, well or not."""

    run: records.Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """The series is paused before a run, or before its end."""

    has_all_runs: bool = False
    """Whether its last run is over, so that it only has to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """Something that the user should know, while the measurement continues."""

    text: str


def _error_kind(place: JSONNode) -> type[errors.SharebenchError]:
    if place.text() not in errors.BY_NAME:
        raise place.wrong("a known error")
    return errors.BY_NAME[place.text()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The measurement ended early: an error that crosses the border between two processes."""

    kind: Annotated[type[errors.SharebenchError], _error_kind]
    text: str
    options: str = ""
    """The options of a command that would help."""

    @classmethod
    def of(cls, error: errors.SharebenchError, advice: str = "") -> "Failed":
        """The error as a message, by the nearest kind that has a name: an engine may raise kinds of its own."""
        known_kinds = errors.BY_NAME.values()
        kind = next(base for base in type(error).__mro__ if base in known_kinds)
        return cls(kind=kind, text=f"{error}{advice}", options=error.options)

    @property
    def error(self) -> errors.SharebenchError:
        return self.kind(self.text, options=self.options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """All runs are done."""


Event = (
    Started
    | PathSeen
    | ScratchMade
    | ScratchRemoved
    | HookStarted
    | RunStarted
    | Progressed
    | RunFinished
    | Paused
    | Warned
    | Failed
    | Finished
)
EVENTS: tuple[type, ...] = get_args(Event)


# Orders to the measuring process


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuringOrder:
    """A series to measure; ``done_*`` describe the finished part of a resumed series."""

    spec: SeriesSpec
    target: records.Target
    stepped: bool = False
    """Whether each run waits for its turn."""
    done_warmups: int = 0
    done_runs: int = 0
    """The number of the last measured run."""
    done_rates: tuple[float, ...] = ()
    """Bytes per second of the valid measured runs, for ``until_percent``."""
    scratch_path: str | None = None
    """A leftover of an interrupted attempt, removed before the first run."""
    profile_ssh: str | None = None
    profile_conf: str | None = None
    """The smb.conf of the smbd whose profile is read, by ssh where that is given; None for no profile."""
    secrets: Secrets = field(default_factory=Secrets)

    @classmethod
    def of_request(cls, request: SeriesRequest, *, stepped: bool = False) -> Self:
        """The order of a new series; ``stepped``: each run waits for its turn."""
        return cls(spec=request.spec, target=request.target, secrets=request.secrets, stepped=stepped)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOrder:
    """Measure how fast our own client is where network and server cost nothing; the answer is Calibrated."""

    protocol: str
    command: records.Command
    client: records.ClientFacts
    """What was negotiated when the series was measured, which is imitated."""
    read_percent: int | None = None
    """Of random requests, the share that reads; None for transfers of whole files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """What it reached, and how busy others kept the machine meanwhile."""

    bytes_per_second: float | None
    """None where there is nothing to calibrate it against."""
    others_cpu_percent: float = 0.0
    """Of all processors."""


GRACE_SECONDS = 30.0
"""For a cancelled process to clean up, before it is killed."""


class MeasuringProcess:
    """One measuring process; read :meth:`events` to the end, inside ``with``."""

    def __init__(
        self,
        order: MeasuringOrder,
        control: SeriesControl,
        *,
        trial: bool = False,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        """A ``trial`` only logs in: messages of the user are left for the process that measures.

        ``elsewhere``: the machine that measures; None for this one.
        """
        self._order = order
        self._control = control
        self._trial = trial
        self._process = ChildProcess("app.recording.child", grace_seconds=GRACE_SECONDS, elsewhere=elsewhere)

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> Self:
        self._process.say(self._order)
        self._control.attach(None if self._trial else self._say, self._process.cancel)
        return self

    def __exit__(self, *_: object) -> None:
        self._control.detach()
        self._process.close()

    def _say(self, word: ControlMessage) -> None:
        self._process.say(Control(word=word))

    def events(self) -> Iterator[Event]:
        """The last event is Finished or Failed, however the process ends."""
        for event in self._process.events(EVENTS):
            yield event
            if isinstance(event, Finished | Failed):
                return

        end = self._process.how_it_ended()
        text = f"the measuring process {end}; what was measured before is kept, and the series can be resumed"
        yield Failed(kind=errors.ChildDiedError, text=text, options="--resume")
