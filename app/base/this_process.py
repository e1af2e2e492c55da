"""This process itself: what it keeps to itself, how long it was held up, and whether it can measure on this machine.

It loads little, as every command needs it.
"""

import ctypes
import gc
import signal
import sys
import time
from pathlib import Path

from app.base.errors import LinuxNeededError

try:
    import fcntl
    import resource
except ImportError:  # no POSIX system: need_linux tells it by name where something is started that needs them
    fcntl = resource = None  # type: ignore[assignment]

# Options of prctl(2), from linux/prctl.h.
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4

_COLLECTOR_THRESHOLDS = (5_000, 20, 50)
"""Of Python's garbage collector, whose own are (700, 10, 10)."""


def look_for_garbage_seldom() -> None:
    """Have Python look through all objects for garbage seventy times as rarely as it does by itself.

    Nearly all objects are of modules and stay: to look through them took a short command a tenth of its time, and
    stopped a screen for 80 ms.
    """
    gc.set_threshold(*_COLLECTOR_THRESHOLDS)


def need_linux(activity: str) -> None:
    """See that this machine has what measuring needs. Raises LinuxNeededError, which names the activity."""
    lacking = [] if fcntl and resource else ["the modules fcntl and resource"]
    try:
        Path("/proc/self/stat").read_bytes()
    except OSError:
        lacking.append("/proc")

    if lacking:
        raise LinuxNeededError(
            f"{activity} needs Linux, and this machine lacks {' and '.join(lacking)}: measure on a Linux machine, and "
            "fetch its notebook with `sharebench pull HOST`"
        )


def held_seconds() -> float:
    """Seconds that the main thread has computed, or waited for a processor to compute on.

    Source: Linux, Documentation/scheduler/sched-stats.rst.
    """
    try:
        worked, waited, _turns = Path("/proc/self/schedstat").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return time.process_time()
    return (int(worked) + int(waited)) / 1e9


def die_with_parent() -> None:
    """End this process, by SIGKILL, when the thread that started it ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def keep_memory_to_ourselves() -> None:
    """Let this process, which knows passwords, leave no core file, nor the user's other processes read its memory."""
    if resource is None or not sys.platform.startswith("linux"):
        return
    _, hard_limit = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard_limit))
    _prctl(_PR_SET_DUMPABLE, 0)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value)
