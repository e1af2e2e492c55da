"""Work that is always the same, which is timed before each run of a trial: how fast this machine is just then.

A trial whose difference this explains is none of the setting's.
"""

import hashlib
import time

CONTROL_BYTES = 2 * 2**20
CONTROL_TIMES = 3
"""The fastest of these counts, so one interruption does not look like a slower machine."""


def time_fixed_work() -> float:
    """Seconds that the work takes now."""
    content = bytes(CONTROL_BYTES)
    seconds = []
    for _ in range(CONTROL_TIMES):
        began = time.perf_counter()
        hashlib.sha256(content).digest()
        seconds.append(time.perf_counter() - began)
    return min(seconds)
