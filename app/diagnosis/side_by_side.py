"""Processes that work side by side on a share, each with a connection of its own, forked from the measuring process."""

import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from app.base import errors, messages, this_process
from app.clients.smb.link import SMBLink
from app.recording.process import Failed

# How often somebody looks whether the diagnosis was cancelled while no process says anything.
_LOOK_SECONDS = 0.2
_PIPE_BYTES = 65536
_Connection = TypeVar("_Connection", bound=SMBLink)


@dataclass(frozen=True, slots=True, kw_only=True)
class _LoggedIn:
    """A process that works beside others: it waits for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Worked:
    began: float
    ended: float


class Workers(Generic[_Connection]):
    """Processes that all log in before any of them begins its work."""

    def __init__(
        self,
        make: Callable[[], _Connection],
        work: Callable[[int, _Connection], object],
        check: Callable[[], None],
    ) -> None:
        """``work(number, connection)`` is done in each process; ``check`` raises CancelledError."""
        self._make = make
        self._work = work
        self._check = check
        self._pids: dict[int, int] = {}
        """By the end of the pipe that the process answers on."""
        self._lines: dict[int, bytearray] = {}
        """The part of its next message that each process has sent."""

    def measure(self, count: int) -> float:
        """Seconds from the first beginning to the last end of the work. Raises MeasurementError, CancelledError."""
        go_read, go_write = os.pipe()
        try:
            for number in range(count):
                self._start(number, go_read, go_write)

            self._hear(_LoggedIn)
            # All of them wait for the end of this pipe.
            os.close(go_write)
            go_write = -1
            worked: list[_Worked] = self._hear(_Worked)
        finally:
            # -1 stands for the end that was closed above.
            for end in {go_read, go_write, *self._pids} - {-1}:
                os.close(end)
            for pid in self._pids.values():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)

        return max(message.ended for message in worked) - min(message.began for message in worked)

    def _start(self, number: int, go_read: int, go_write: int) -> None:
        answer_read, answer_write = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(go_write)
            self._work_and_exit(number, go_read, answer_write)
        os.close(answer_write)
        self._pids[answer_read] = pid
        self._lines[answer_read] = bytearray()

    def _work_and_exit(self, number: int, go: int, answer: int) -> None:
        """Do the work in this process, which was forked for it, and end it."""

        def tell(message: object) -> None:
            os.write(answer, f"{messages.line_of(message)}\n".encode())

        try:
            this_process.die_with_parent()
            connection = self._make()
            connection.connect()
            tell(_LoggedIn())

            os.read(go, 1)
            began = time.monotonic()
            self._work(number, connection)
            ended = time.monotonic()
            connection.close()
            tell(_Worked(began=began, ended=ended))
        except errors.SharebenchError as error:
            tell(Failed.of(error))
        except BaseException as error:  # noqa: BLE001  this process must never return into its parent's code
            tell(Failed(kind=errors.MeasurementError, text=f"{type(error).__name__}: {error}"))
        os._exit(0)

    def _hear(self, kind: type) -> list[Any]:
        """The next message of each: one line, as each waits for the others."""
        message_by_end: dict[int, Any] = {}
        while len(message_by_end) < len(self._pids):
            self._check()
            silent = self._pids.keys() - message_by_end.keys()
            readable, _, _ = select.select(silent, [], [], _LOOK_SECONDS)
            for end in readable:
                message = self._take_part(end, kind)
                if isinstance(message, Failed):
                    raise message.error
                if message is not None:
                    message_by_end[end] = message
        return [*message_by_end.values()]

    def _take_part(self, end: int, kind: type) -> Any:
        """The message whose last part has come; None where more of it is to come."""
        data = os.read(end, _PIPE_BYTES)
        if not data:
            raise errors.MeasurementError("a process that works beside others died; measure again")

        line = self._lines[end]
        line += data
        if not line.endswith(b"\n"):
            return None
        message = messages.message_of(line.decode(), [kind, Failed])
        line.clear()
        return message
