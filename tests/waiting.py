"""Waiting for what comes about elsewhere: as short as may be on an idle machine, long enough on a busy one."""

import time
from collections.abc import Callable
from typing import TypeVar

LIMIT_SECONDS = 60.0
"""A program that is starved by others takes tens of seconds for what takes one otherwise."""
_LOOK_SECONDS = 0.01

_T = TypeVar("_T")


def wait_for(what: Callable[[], _T]) -> _T:
    """What ``what()`` gives as soon as it gives something."""
    end = time.monotonic() + LIMIT_SECONDS
    while not (found := what()):
        assert time.monotonic() < end, f"did not come about within {LIMIT_SECONDS:.0f} s"
        time.sleep(_LOOK_SECONDS)
    return found
