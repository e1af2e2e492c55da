"""Waiting for what comes about elsewhere: as short as may be on an idle machine, long enough on a busy one."""

import time
from collections.abc import Callable
from typing import TypeVar

LIMIT_SECONDS = 60.0
"""A program that is starved by others takes tens of seconds for what takes one otherwise."""
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
