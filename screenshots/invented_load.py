"""A load for the pictures: IBM's scenario against an invented server, with numbers that fit one another."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

from app.load.scenario import find_scenario
from forms.load.summary import capacity_of, limit_of
from storage.load.records import Histogram, HistogramBuilder, Load, LoadChoices, LoadPoint, LoadWorker, PointServer
from storage.records import SeriesStatus, Spread, Target

_SECONDS = 600.0
_TIMES = tuple(math.exp(0.55 * NormalDist().inv_cdf((step + 0.5) / 1000)) for step in range(1000))
"""Response times in parts of the usual one, log-normal, as servers answer: p95 2.5, p99 3.6, the longest 6.1."""


def _times(usual_seconds: float, count: int = len(_TIMES)) -> Histogram:
    builder = HistogramBuilder()
    for part in _TIMES:
        builder.add(part * usual_seconds)
    found, each = builder.built(), count // len(_TIMES)
    counts = {number: each * times for number, times in found.counts.items()}
    return replace(found, counts=counts, total_microseconds=each * found.total_microseconds)


def _point(number: int, users: int, rate: float, milliseconds: float, cpu_percent: float) -> LoadPoint:
    requests = round(rate * _SECONDS)
    times = _times(milliseconds / 1000, requests)
    reads, writes = (_times(milliseconds / 1000, part) for part in (requests * 4 // 5, requests // 5))
    fifths = [round(requests / 5 * share) for share in (1.006, 0.991, 1.003, 0.997)]
    return LoadPoint(
        number=number, users=users, connected=users, started_at="2026-01-31T10:00:00.000Z", ramp_seconds=users / 20,
        slices=(*fifths, requests - sum(fifths)),
        seconds=_SECONDS, offered_per_second=9.81 * users, requests=requests, reads=requests * 4 // 5,
        writes=requests // 5, read_bytes=requests * 84_000, write_bytes=requests * 21_000, response=times,
        service=times, operations={"read": reads, "write": writes}, logins=_times(0.03), think_seconds=0.1,
        little_percent=0.1, generator_cpu_percent=(rate / 45, rate / 46), generator_lateness=_times(0.0002),
        server=PointServer(
            samples=598, processors=4, user_percent=_spread(0.35 * cpu_percent),
            system_percent=_spread(0.65 * cpu_percent), total_percent=_spread(cpu_percent),
            smbd_percent=_spread(0.85 * cpu_percent), kernel_percent=_spread(0.12 * cpu_percent),
            others_percent=_spread(0.03 * cpu_percent), processes=users + 3,
            smbd_uss_bytes=2_400_000 + 640_000 * users, smbd_pss_bytes=4_900_000 + 700_000 * users,
            interfaces={"eth0": (22_000.0 * rate, 87_000.0 * rate)}, disk_busy_percent={"sda": 4.5},
        ),
    )  # fmt: skip


def _spread(mean: float) -> Spread:
    return Spread(mean=mean, median=mean, deviation=0.06 * mean)


def load(points: int) -> Load:
    """The load after that many points."""
    measured = [
        _point(1, 25, 245.1, 2.0, 9.0), _point(2, 50, 489.6, 2.1, 18.2), _point(3, 100, 974.0, 2.7, 37.0),
        _point(4, 200, 1_893.0, 5.6, 79.5), _point(5, 400, 2_224.0, 79.8, 98.6),
    ][:points]  # fmt: skip
    found = Load(
        id="b10000000001",
        created_at="2026-01-31T10:00:00.000Z",
        status=SeriesStatus.COMPLETE,
        label="as delivered",
        targets=(Target(protocol="smb", host="nas", share="data"),),
        scenario=find_scenario("redpaper"),
        choices=LoadChoices(find_capacity=True, processes=2),
        link_bits_per_second=10_000_000_000,
        file_set_bytes=1_284_505_600,
        server_memory_bytes=16 * 2**30,
        workers=(LoadWorker(host="this machine", processes=2, version="0.2.0"),),
        points=tuple(measured),
    )
    capacity = capacity_of(found)
    if capacity is not None and capacity.not_carried:
        assert capacity.limit is limit_of(measured[-1], found.link_bits_per_second)
    return replace(found, capacity=capacity)
