"""How long a series will take, by the rate that is expected, with its reason."""

from collections.abc import Iterable
from typing import NamedTuple

from forms import wording
from forms.findings.path import PRACTICE_BYTES_PER_SECOND, is_loopback_address, is_practice_target
from storage.records import Target

ASSUMED_LINK_BITS_PER_SECOND = 10**9
ASSUMED_HERE_BYTES_PER_SECOND = 10**9
"""Within one machine: no link limits it."""

OPENING_SECONDS = 3.0
"""About what a series takes beside its runs, on the loopback: to log in, and to look at other load and the server."""


class ExpectedRate(NamedTuple):
    bytes_per_second: float
    reason: str
    """Why it is expected, for people."""


def expected_rate(
    target: Target | None, *, measured: float | None = None, link: int | None = None, is_this_machine: bool = False
) -> ExpectedRate:
    """The rate by an earlier series (``measured``), the practice server's limit or the link; else an assumed one.

    ``is_this_machine``: whether the server runs on this machine.
    """
    if measured:
        return ExpectedRate(measured, "as fast as an earlier series")

    # The practice server limits itself, whatever its link would carry.
    if target and is_practice_target(target):
        limit = wording.byte_rate(PRACTICE_BYTES_PER_SECOND)
        return ExpectedRate(PRACTICE_BYTES_PER_SECOND, f"at {limit}, the practice server's limit")

    if link:
        return ExpectedRate(link / 8, f"at {wording.link_rate(link)}, the link speed")

    if is_this_machine or (target and is_loopback_address(target.host)):
        assumed = wording.byte_rate(ASSUMED_HERE_BYTES_PER_SECOND)
        return ExpectedRate(ASSUMED_HERE_BYTES_PER_SECOND, f"at {assumed}, assumed within this machine")

    assumed = wording.link_rate(ASSUMED_LINK_BITS_PER_SECOND)
    return ExpectedRate(ASSUMED_LINK_BITS_PER_SECOND / 8, f"at {assumed}, assumed")


def estimate_text(
    *,
    runs: int,
    warmups: int,
    size_bytes: int | None,
    rate: ExpectedRate,
    makes_file_first: bool = False,
    until_percent: float | None = None,
    max_runs: int = 30,
    series: int = 1,
    random_seconds: float | None = None,
) -> str:
    """``2 warm-up runs and 5 measured runs, of 64M each, 448 MiB in all, about 4 s or longer (…).``

    ``random_seconds``: how long each run makes random requests to the file of ``size_bytes``; None for whole files.
    """
    run_counts = _runs_in_words(runs, warmups, until_percent, max_runs)
    if size_bytes is None:
        return f"{run_counts}, duration not yet known."

    if random_seconds is not None:
        return f"{run_counts}, {_random_runs_text((runs + warmups) * series, random_seconds)}."

    total_bytes = (runs + warmups + makes_file_first) * series * size_bytes
    with_making = ", including making the file" if makes_file_first else ""
    in_series = "" if series == 1 else f" in {series} series"
    total = f"{wording.binary_size(total_bytes)} in all{with_making}"
    size = f"of {wording.file_size(size_bytes)} each{in_series}, {total}"
    # One series is told by its bytes alone; of several the openings add up.
    opening_seconds = OPENING_SECONDS * series if series > 1 else 0.0
    return f"{run_counts}, {size}, {time_text(total_bytes / rate.bytes_per_second + opening_seconds, [rate])}."


def _random_runs_text(runs: int, seconds_a_run: float) -> str:
    return f"{seconds_a_run:g} s of random requests each, about {wording.duration(runs * seconds_a_run)} or longer"


def time_text(seconds: float, rates: Iterable[ExpectedRate]) -> str:
    """``about 4 s or longer (at 1 Gb/s, the link speed)``."""
    reasons = [rate.reason for rate in rates if rate.reason]
    in_brackets = f" ({'; '.join(dict.fromkeys(reasons))})" if reasons else ""
    return f"about {wording.duration(seconds)} or longer{in_brackets}"


def _runs_in_words(runs: int, warmups: int, until_percent: float | None, max_runs: int) -> str:
    warm_up = f"{wording.count(warmups, 'warm-up run')} and " if warmups else ""
    if until_percent is None:
        return f"{warm_up}{wording.count(runs, 'measured run')}"
    until = wording.percent(until_percent)
    return f"{warm_up}{runs} to {max_runs} measured runs, until the average is known to ± {until}"
