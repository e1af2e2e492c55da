"""What several points of a load show together: the knee, memory per session, network cards, sizes of files.

The *knee* is the number of users beyond which more of them add more waiting than requests.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from forms.load.summary import is_mostly_others
from forms.stats.distributions import student_t
from forms.stats.summary import LEVEL
from storage.load.records import Load, LoadPoint, PointStatus

REDPAPER_SESSION_BYTES = 390_000
"""What the Redpaper's figure 7 found for an idle user of Samba 3.0.5: about 390 kB."""

KNEE_POINTS = 3
"""A knee lies between two other points."""

LOOPBACK_CARD = "lo"
"""The name of the interface on which a machine talks to itself."""

_ONE_CARD_SHARE = 0.9
"""Of all bytes: a card through which more goes carries nearly everything."""
_USED_CARD_SHARE = 0.2
"""Of all bytes: a card through which more goes counts as used; two in balance carry a half each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knee:
    """Where more users begin to add more time than requests."""

    users: int
    requests_per_second: float
    response_seconds: float


def knee_of(points: Sequence[LoadPoint]) -> Knee | None:
    """The knee: the point with the greatest requests/s divided by mean response seconds.

    None where that is the first or last point, beyond which nothing is known. This quotient is called power (Kleinrock
    1979; Jain 1991, 3.3).
    """
    candidates = []
    for point in sorted(points, key=attrgetter("users")):
        rate = point.requests_per_second
        seconds = point.response.mean_seconds
        if point.size_bytes is None and rate and seconds:
            candidates.append(Knee(users=point.users, requests_per_second=rate, response_seconds=seconds))

    powers = [candidate.requests_per_second / candidate.response_seconds for candidate in candidates]
    best = max(range(len(powers)), key=powers.__getitem__, default=0)
    is_inside = 0 < best < len(candidates) - 1
    return candidates[best] if is_inside else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLine:
    """Memory per session: by how much the memory of the server's processes grows with each session."""

    bytes_a_session: float
    """Of private memory (USS)."""
    low_bytes: float | None
    high_bytes: float | None
    """The ends of its 95 % interval; None for two points, which have none."""
    shared_bytes_a_session: float | None = None
    """With a session's part of what processes share (PSS); None where that was not seen at each point."""


def memory_line(load: Load) -> MemoryLine | None:
    """The line through private memory over idle connected users; None for fewer than two points."""
    if load.scenario.requests:
        return None

    private = []
    with_shared = []
    for point in load.points:
        server = point.server
        if server is None or point.status not in {PointStatus.VALID, PointStatus.GENERATOR}:
            continue
        if server.smbd_uss_bytes is not None:
            private.append((float(point.connected), float(server.smbd_uss_bytes)))
        if server.smbd_pss_bytes is not None:
            with_shared.append((float(point.connected), float(server.smbd_pss_bytes)))

    line = _least_squares_slope(private)
    if line is None:
        return None

    shared_line = _least_squares_slope(with_shared) if len(with_shared) == len(private) else None
    bytes_a_session, half_interval = line
    return MemoryLine(
        bytes_a_session=bytes_a_session,
        low_bytes=None if half_interval is None else bytes_a_session - half_interval,
        high_bytes=None if half_interval is None else bytes_a_session + half_interval,
        shared_bytes_a_session=shared_line[0] if shared_line else None,
    )


def _least_squares_slope(pairs: Sequence[tuple[float, float]]) -> tuple[float, float | None] | None:
    """The slope b of y over x by least squares, and half of its 95 % interval from three points on; None for one x.

    b = Σ (x - x̄)(y - ȳ) / Σ (x - x̄)²; its standard error is √(Σ residuals² / (n - 2) / Σ (x - x̄)²), and the interval
    Student's with n - 2 degrees of freedom.
    """
    count = len(pairs)
    if len({x for x, _ in pairs}) < 2:
        return None

    mean_x = sum(x for x, _ in pairs) / count
    mean_y = sum(y for _, y in pairs) / count
    spread = sum((x - mean_x) ** 2 for x, _ in pairs)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in pairs) / spread
    if count < 3:
        return slope, None

    residuals = sum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in pairs)
    standard_error = math.sqrt(residuals / (count - 2) / spread)
    return slope, student_t(LEVEL, count - 2) * standard_error


@dataclass(frozen=True, slots=True, kw_only=True)
class CardCheck:
    """How the network cards of a server that has several were used."""

    cards: tuple[tuple[str, float, float], ...]
    """(name, bytes/s in, bytes/s out), without idle cards."""
    only_out: str | None
    """The card by which nearly everything leaves although others take in; None where there is none."""


def _moved_bytes(point: LoadPoint) -> int:
    return point.read_bytes + point.write_bytes


def card_check(points: Sequence[LoadPoint]) -> CardCheck | None:
    """The cards at the busiest point; None where fewer than two carry anything."""
    telling = [point for point in points if point.server is not None and point.requests]
    if not telling:
        return None

    busiest = max(telling, key=_moved_bytes)
    assert busiest.server is not None
    rates_of_card = {name: rates for name, rates in busiest.server.interfaces.items() if name != LOOPBACK_CARD}
    total_in = sum(rate_in for rate_in, _ in rates_of_card.values())
    total_out = sum(rate_out for _, rate_out in rates_of_card.values())
    if not total_in or not total_out:
        return None

    cards_in_use = tuple(
        (name, rate_in, rate_out)
        for name, (rate_in, rate_out) in rates_of_card.items()
        if rate_in > _USED_CARD_SHARE * total_in or rate_out > _USED_CARD_SHARE * total_out
    )
    if len(cards_in_use) < 2:
        return None

    # A server answers by its route to the client, whichever card a request came in by.
    takers = [name for name, rate_in, _ in cards_in_use if rate_in > _USED_CARD_SHARE * total_in]
    givers = [name for name, _, rate_out in cards_in_use if rate_out > _ONE_CARD_SHARE * total_out]
    only_out = givers[0] if givers and len(takers) > 1 else None
    return CardCheck(cards=cards_in_use, only_out=only_out)


class SizeRow(NamedTuple):
    """What was measured with files of one size."""

    size_bytes: int
    users: int
    requests_per_second: float
    bytes_per_second: float
    cpu_seconds_a_megabyte: float | None
    """Of file server and kernel, per 10^6 bytes; absent where others worked or nobody knows."""


def size_rows(points: Sequence[LoadPoint]) -> tuple[SizeRow, ...]:
    """A row for each point that was measured with files of one size, by users and size."""
    rows = []
    for point in points:
        rate = point.requests_per_second
        if point.size_bytes is None or rate is None or point.status is not PointStatus.VALID:
            continue

        moved = (point.read_bytes_per_second or 0.0) + (point.write_bytes_per_second or 0.0)
        busy = _busy_processors(point)
        seconds_a_megabyte = busy / (moved / 1e6) if busy is not None and moved else None
        rows.append(SizeRow(point.size_bytes, point.users, rate, moved, seconds_a_megabyte))
    return tuple(sorted(rows, key=attrgetter("users", "size_bytes")))


def _busy_processors(point: LoadPoint) -> float | None:
    """How many processors smbd used, with its share of the kernel's work; None where nobody knows.

    The kernel's work is divided among programs as their own time is.
    """
    server = point.server
    if server is None or server.smbd_percent is None or server.kernel_percent is None or is_mostly_others(point):
        return None

    programs_percent = server.total_percent.mean - server.kernel_percent.mean
    smbd_share = min(1.0, server.smbd_percent.mean / programs_percent) if programs_percent > 0 else 0.0
    percent = server.smbd_percent.mean + smbd_share * server.kernel_percent.mean
    return server.processors * percent / 100
