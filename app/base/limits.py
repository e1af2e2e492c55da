"""Limits: how long a measurement may be asked to take, and how much memory and time reading a stranger's text may cost.

Such a text is a file that is imported, or a part of a notebook that is pulled.
"""

import gc
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOST_MINUTES = 10_000
"""Of a measurement, a week: the most that ``--within`` and the time limit of a trial's screen take."""

MOST_BYTES = 64 * 2**20
"""The longest text."""
MOST_MEMORY_BYTES = 360_000_000
"""Beside the text itself and the program: 500 MB together."""
MOST_PROCESSOR_SECONDS = 30.0
"""Of a part of another notebook: what a sharebench sends takes a few."""


class TooMuchTimeError(Exception):
    """It took more of the processor than it may."""


@contextmanager
def limit_memory(limit_bytes: int = MOST_MEMORY_BYTES) -> Iterator[None]:
    """More memory raises MemoryError; no garbage collection, which would scan millions of objects in vain."""
    try:
        import resource

        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except (ImportError, OSError):  # no Linux: the size of the text is the limit
        yield
        return

    limits_before = resource.getrlimit(resource.RLIMIT_DATA)
    _, hard_limit = limits_before
    kibibytes = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmData:"))

    # As much as it has now and the limit; unless somebody has set it a lower limit already.
    candidates = (1024 * kibibytes + limit_bytes, *limits_before)
    lowest_limit = min(limit for limit in candidates if limit != resource.RLIM_INFINITY)

    resource.setrlimit(resource.RLIMIT_DATA, (lowest_limit, hard_limit))
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        resource.setrlimit(resource.RLIMIT_DATA, limits_before)


@contextmanager
def limit_processor_time(processor_seconds: float = MOST_PROCESSOR_SECONDS) -> Iterator[None]:
    """More of the processor's time raises TooMuchTimeError; in the main thread of a POSIX system, else nothing does."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(*_: object) -> None:
        raise TooMuchTimeError

    handler_before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, processor_seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, handler_before)
