"""Runs smbclient-ng's calls, which say nothing until they return, in a thread that can be watched and abandoned.

What such a call has moved is seen from outside: by the size of the file that it writes, or how far it has read one.
"""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Generic, TypeVar

_Result = TypeVar("_Result")


class WatchedCall(Generic[_Result]):
    """A call that runs in a thread of its own from now on; the thread ends with the process, if not before."""

    def __init__(self, function: Callable[[], _Result]) -> None:
        self._function = function
        self._outcome: Future[_Result] = Future()
        self._thread = threading.Thread(target=self._run, name="smbclient-ng", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._outcome.set_result(self._function())
        except BaseException as error:  # noqa: BLE001  handed on to the thread that waits
            self._outcome.set_exception(error)

    def has_ended(self, seconds: float) -> bool:
        """Waits for the end, at most that long."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def result(self) -> _Result:
        """What the call returned, once it has ended. Raises what it raised."""
        return self._outcome.result()


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """What is printed inside the block is dropped."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
        yield


def size_of(path: Path) -> int:
    """In bytes; 0 before the file is there."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def position_in(path: Path) -> int:
    """How far this process has read the file, which it has open somewhere; 0 if it has not."""
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError, ValueError):
            if entry.readlink() == path:
                text = Path(f"/proc/self/fdinfo/{entry.name}").read_text(encoding="ascii")
                return int(text.split("pos:")[1].split()[0])
    return 0
