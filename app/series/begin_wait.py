"""The wait before a series that begins at a certain time, such as a repeat some minutes after its base."""

import time
from collections.abc import Iterator

from app.recording.process import SeriesControl
from app.series.events import BeginWait

_LOOK_SECONDS = 20.0
"""From one look at the clock to the next: it may be set meanwhile, and stands still for a machine that sleeps."""


def wait_to_begin(begins_at: float, reason: str, control: SeriesControl) -> Iterator[BeginWait]:
    """Wait until then (in seconds since 1970), or until the user ends the wait or cancels; one event, if it waits."""
    if begins_at <= time.time():
        return
    yield BeginWait(begins_at=begins_at, reason=reason)

    while (left_seconds := begins_at - time.time()) > 0:
        if control.waited_enough.wait(min(left_seconds, _LOOK_SECONDS)):
            break
    control.allow_next_wait()
