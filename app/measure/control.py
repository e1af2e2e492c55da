"""Control of a running series, from any thread."""

import threading
from collections.abc import Callable
from enum import StrEnum


class ControlMessage(StrEnum):
    """A line on the measuring process's stdin; EOF means cancel."""

    PAUSE = "pause"
    RESUME = "resume"
    FINISH = "finish"
    STEP = "step"


class RunGate:
    """The measuring side: messages so far, and the wait for more."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self._changed = threading.Condition()
        self._paused = False
        self._finish = False
        self._steps = 0
        self._on_cancel: Callable[[], None] | None = None

    def hear(self, word: ControlMessage) -> None:
        with self._changed:
            if word is ControlMessage.PAUSE:
                self._paused = True
            elif word is ControlMessage.RESUME:
                self._paused = False
            elif word is ControlMessage.FINISH:
                self._finish = True
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
            happened = self.cancelled.is_set()
        if happened and call:
            call()

    @property
    def finishing(self) -> bool:
        return self._finish

    def must_wait(self, *, stepped: bool) -> bool:
        return not self.cancelled.is_set() and not self._finish and (self._paused or (stepped and not self._steps))

    def wait(self, *, stepped: bool) -> None:
        """Returns when the next run may start or the series ends; consumes a step."""
        with self._changed:
            self._changed.wait_for(lambda: not self.must_wait(stepped=stepped))
            if stepped and self._steps:
                self._steps -= 1


class SeriesControl:
    """The user's side: messages are kept until a process is attached."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal handler may cancel while its own thread is saying a word
        self._say: Callable[[ControlMessage], None] | None = None
        self._end: Callable[[], None] | None = None
        self._waiting: list[ControlMessage] = []
        self.cancelled = threading.Event()

    def attach(self, say: Callable[[ControlMessage], None], end: Callable[[], None]) -> None:
        """``say`` sends a message; ``end`` closes the process's stdin."""
        with self._lock:
            self._say, self._end = say, end
            waiting, self._waiting = self._waiting, []
            for word in waiting:
                say(word)
            if self.cancelled.is_set():
                end()

    def detach(self) -> None:
        with self._lock:
            self._say = self._end = None

    def tell(self, word: ControlMessage) -> None:
        with self._lock:
            if self._say:
                self._say(word)
            else:
                self._waiting.append(word)

    def cancel(self) -> None:
        with self._lock:
            self.cancelled.set()
            if self._end:
                self._end()

    def pause(self) -> None:
        self.tell(ControlMessage.PAUSE)

    def resume(self) -> None:
        self.tell(ControlMessage.RESUME)

    def finish_after_run(self) -> None:
        self.tell(ControlMessage.FINISH)

    def step(self) -> None:
        self.tell(ControlMessage.STEP)
