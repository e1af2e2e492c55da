"""Waiting for what comes about elsewhere: as short as may be on an idle machine, long enough on a busy one."""

import time
from collections.abc import Callable
from typing import TypeVar

import psutil

HANG_SECONDS = 600.0
"""What has not ended then hangs. No test says by it how long anything takes: a program that is starved by others takes
minutes for what takes seconds otherwise."""
LIMIT_SECONDS = 180.0
"""The same for a moment that comes in the midst of something, which is there in seconds otherwise."""
_LOOK_SECONDS, _MOST_LOOK_SECONDS = 0.01, 0.1
_LOOK_SHARE = 0.05
"""So much later than it could is it seen at most: what is waited for long is not looked at all the time."""

_T = TypeVar("_T")


def wait_for(what: Callable[[], _T]) -> _T:
    """What ``what()`` gives as soon as it gives something."""
    begun = time.monotonic()
    while not (found := what()):
        waited = time.monotonic() - begun
        assert waited < LIMIT_SECONDS, f"did not come about within {LIMIT_SECONDS:.0f} s"
        time.sleep(min(max(_LOOK_SECONDS, _LOOK_SHARE * waited), _MOST_LOOK_SECONDS))
    return found


def has_ended(process_id: int) -> bool:
    """Whether a process does nothing any more, though its parent may not have noticed."""
    try:
        return bool(psutil.Process(process_id).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
