"""Quick tests as over a link of 1 Gbit/s, which limits large files; the round trip limits small requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from storage.quick.records import ACCESSES, Access, Quick, QuickLine, QuickRun
from storage.records import ClientFacts, Command, SeriesStatus, Target
from storage.request_times import RequestTimesBuilder
from tests.builders import equal_times

SEQ_Q8, SEQ_Q1, RND_Q32, RND_Q1 = ACCESSES
RATES: Mapping[tuple[Access, Command], float] = {
    (SEQ_Q8, Command.GET): 117e6,
    (SEQ_Q1, Command.GET): 84e6,
    (RND_Q32, Command.GET): 61e6,
    (RND_Q1, Command.GET): 14e6,
    (SEQ_Q8, Command.PUT): 116e6,
    (SEQ_Q1, Command.PUT): 79e6,
    (RND_Q32, Command.PUT): 42e6,
    (RND_Q1, Command.PUT): 12.5e6,
}
"""Bytes per second."""
SPREAD = (0.99, 1.0, 1.01)
"""Of the three runs around the rate of their line."""
SERVER = Target(protocol="smb", host="nas", share="data", path="tests", user="alice")


def quick_line(
    access: Access,
    command: Command,
    rates: Sequence[float],
    *,
    cpu_share: float = 0.3,
    held_share: float | None = None,
    **fields: Any,
) -> QuickLine:
    """Runs of two seconds at these rates; the client computes in that share of the time."""
    runs = []
    times = RequestTimesBuilder()
    for rate in rates:
        requests = max(1, round(2 * rate / access.block_bytes))
        nanoseconds = round(2e9 * access.in_flight / requests)
        runs.append(
            QuickRun(
                seconds=2.0,
                moved_bytes=round(2 * rate),
                requests=requests,
                request_nanoseconds=requests * nanoseconds,
                cpu_seconds=2.0 * cpu_share,
                held_seconds=None if held_share is None else 2.0 * held_share,
            )
        )
        times.add_all(equal_times(nanoseconds, min(requests, 200)))
    return replace(QuickLine(access=access, command=command, runs=tuple(runs), times=times.built()), **fields)


def quick_test(rates: Mapping[tuple[Access, Command], Sequence[float]] | None = None, **fields: Any) -> Quick:
    """A complete one; ``rates`` are those of the three runs of some lines, the others are as usual."""
    runs = {key: tuple(rate * share for share in SPREAD) for key, rate in RATES.items()}
    runs |= {key: tuple(of_line) for key, of_line in (rates or {}).items()}
    made = Quick(
        id="aa77aa77aa77",
        created_at="2026-01-31T10:00:00.000Z",
        status=SeriesStatus.COMPLETE,
        target=SERVER,
        run_seconds=3.0,
        file_bytes=1 << 30,
        link_bits_per_second=1_000_000_000,
        client=ClientFacts(
            name="sharebench",
            version="0.3.0",
            dialect="3.1.1",
            signing="none",
            encryption="none",
            block_bytes=1 << 20,
            in_flight=8,
        ),
        environment={
            "client": {"host.name": "desk"},
            "path": {"tcp.least_round_trip_seconds": 0.00015, "request.least_round_trip_seconds": 0.0002},
        },
        lines=tuple(quick_line(access, command, of_line) for (access, command), of_line in runs.items()),
    )
    return replace(made, **fields)
