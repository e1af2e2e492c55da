"""Builders of loads and their points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from forms.load.prediction import Prediction
from storage.load.records import (
    Capacity,
    Histogram,
    HistogramBuilder,
    Limit,
    Load,
    LoadChoices,
    LoadPoint,
    LoadWorker,
    PointServer,
    PointStatus,
    PrintQueue,
    RequestKind,
    Scenario,
    SizeClass,
    Think,
)
from storage.records import SeriesStatus, Spread, Target

TIME = "2026-01-31T10:00:00.000Z"


def histogram(*seconds: float) -> Histogram:
    found = HistogramBuilder()
    for each in seconds:
        found.add(each)
    return found.built()


def many(*seconds: float) -> Histogram:
    """Each of these times a hundred times, enough for every percentile."""
    return histogram(*seconds * 100)


def spread(mean: float) -> Spread:
    return Spread(mean=mean, median=mean, deviation=1.0)


def server(**changes: Any) -> PointServer:
    usual: dict[str, Any] = {
        "samples": 18, "processors": 2, "user_percent": spread(20.0), "system_percent": spread(30.0),
        "total_percent": spread(50.0), "smbd_percent": spread(30.0), "kernel_percent": spread(5.0),
        "others_percent": spread(4.0), "processes": 13, "smbd_uss_bytes": 9_000_000,
        "smbd_pss_bytes": 12_000_000, "interfaces": {"eth0": (1000.0, 90_000.0)}, "disk_busy_percent": {"vda": 12.5},
        "throttled_percent": 0.0,
    }  # fmt: skip
    return PointServer(**usual | changes)


def point(number: int = 1, users: int = 10, rate: float = 95.0, **changes: Any) -> LoadPoint:
    usual: dict[str, Any] = {
        "number": number, "users": users, "connected": users, "started_at": TIME, "ramp_seconds": 0.5, "seconds": 20.0,
        "offered_per_second": 10.0 * users, "requests": round(20 * rate), "reads": round(16 * rate),
        "writes": round(4 * rate), "read_bytes": 40_000_000, "write_bytes": 10_000_000,
        "response": many(0.001, 0.002, 0.005), "service": many(0.001, 0.002, 0.004),
        "operations": {"read": many(0.001, 0.002), "write": many(0.004)}, "logins": histogram(0.03),
        "think_seconds": 0.1, "silent_seconds": 0.02, "little_percent": 0.1, "generator_cpu_percent": (12.5, 11.0),
        "generator_lateness": histogram(0.0002), "client_interfaces": {"eth0": (90_000.0, 1000.0)},
        "server": server(),
    }  # fmt: skip
    return LoadPoint(**usual | changes)


def scenario(**changes: Any) -> Scenario:
    usual: dict[str, Any] = {
        "name": "redpaper", "about": "IBM's", "files": 12, "think": Think(seconds=0.1), "duration_seconds": 20.0,
        "sizes": (SizeClass(size_bytes=4096, share=2), SizeClass(size_bytes=65536, share=1)),
        "requests": {RequestKind.READ: 80.0, RequestKind.WRITE: 20.0},
    }  # fmt: skip
    return Scenario(**usual | changes)


def full_load(**changes: Any) -> Load:
    """A load with everything that one can have."""
    broken = point(
        3, 40, 200.0, status=PointStatus.FAILED, reason="12 of 40 users had a session: the server refused the login",
        connected=12, errors={"login refused": 28}, first_error="the server refused the login", limit=Limit.ERRORS,
        server=None,
    )  # fmt: skip
    usual: dict[str, Any] = {
        "id": "0123456789ab", "created_at": TIME, "status": SeriesStatus.COMPLETE, "label": "before", "note": "a note",
        "targets": (Target(protocol="smb", host="nas", share="data", path="in", user="alice"),),
        "scenario": scenario(), "choices": LoadChoices(users=(10, 20, 40), limit_seconds=0.5, processes=2),
        "link_bits_per_second": 10**9, "file_set_bytes": 294_912, "server_memory_bytes": 2**34,
        "workers": (LoadWorker(host="this machine", processes=2, version="0.2.0"),),
        "environment": {"server": {"cpu.count": 2}}, "points": (point(1, 10, 95.0), point(2, 20, 190.0), broken),
        "capacity": Capacity(carried=20, not_carried=40, reason="12 of 40 users had a session", limit=Limit.ERRORS),
    }  # fmt: skip
    return Load(**usual | changes)


def golden_load(text: str) -> Load:
    """A load with a knee, a point that failed and one whose server was not seen, each size apart, and a print queue."""
    rates = ((5, 48.0, 0.002), (10, 95.0, 0.0025), (20, 150.0, 0.020))
    points = [
        point(
            number,
            users,
            rate,
            response=many(*[seconds] * 9, 2 * seconds),
            server=server(total_percent=spread(busy)),
        )
        for number, ((users, rate, seconds), busy) in enumerate(zip(rates, (20.0, 40.0, 96.0), strict=True), start=1)
    ]
    failed = point(
        4, 40, status=PointStatus.FAILED, reason=f"12 of 40 users had a session: {text}", connected=12, requests=0,
        response=histogram(), errors={"login refused": 28}, first_error=text, limit=Limit.ERRORS, server=None,
    )  # fmt: skip
    apart = [point(5, 5, 400.0, size_bytes=4096), point(6, 5, 60.0, size_bytes=65536)]
    queue = PrintQueue(waiting=34, drained_seconds=12.3)
    return full_load(
        label=text, note=text, points=(*points[:2], replace(points[2], print_queue=queue), failed, *apart),
        scenario=scenario(requests={RequestKind.READ: 80.0, RequestKind.WRITE: 15.0, RequestKind.PRINT: 5.0}),
        choices=LoadChoices(users=(5, 10, 20, 40), by_size=True),
        capacity=Capacity(carried=10, not_carried=20, reason="150.0 of 190.0 requests/s were made (79 %)",
                          limit=Limit.SERVER_CPU),
    )  # fmt: skip


def golden_prediction(text: str) -> Prediction:
    """What a worksheet said of it."""
    return Prediction(worksheet=text, capacity_bytes_per_second=12e6, user_bytes_per_second=500_000.0, users=24)
