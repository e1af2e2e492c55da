"""The notebook in the pictures: invented series of an invented office, the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from app.method.choices import MEMORY_KEY, MethodStep, OtherSide, choices_of
from storage.notebook import Notebook
from storage.plan import Plan
from storage.records import (
    Change,
    ClientFacts,
    Command,
    Decision,
    Evidence,
    Phase,
    Quiet,
    QuietVerdict,
    Run,
    RunStatus,
    Series,
    SeriesStatus,
    Target,
)
from tests.builders import interleaved, series

GIGABIT = 1_000_000_000
SIZE = 1 << 30
SHARE = Target(protocol="smb", host="files.example", port=445, share="projects", path="bench.bin")
FTP = Target(protocol="ftp", host="files.example", port=21, path="/projects/bench.bin")
BARE = Target(protocol="iperf3", host="files.example", port=5201)
EXPERIMENT = "projects share"

CLIENT = ClientFacts(
    name="sharebench",
    version="0.1.0",
    dialect="3.1.1",
    signing="aes-gmac",
    encryption="none",
    block_bytes=1 << 20,
    in_flight=4,
)
FTP_CLIENT = ClientFacts(name="sharebench", version="0.1.0", block_bytes=1 << 18)
IPERF_CLIENT = ClientFacts(name="iperf3", version="3.12")


def make(path: Path) -> Path:
    """Write the notebook; it must not be there yet."""
    with Notebook(path) as notebook:
        for made in all_series():
            notebook.add(made)
        notebook.set_baseline("as delivered", "a10000000003")
        notebook.set_baseline("wire", "a10000000001")
        notebook.remember("load", {"target": "smb://nas/data", "users": "25,50,100,200", "scenario": "redpaper"})
    return path


def make_nights(path: Path) -> Path:
    """Write a notebook of 24 nights, slower since the eighteenth, which was measured twice."""
    dice = Random(24)  # noqa: S311  noise, not secrets
    with Notebook(path) as notebook:
        for night in (*range(1, 19), *range(18, 25)):
            average = 111.6 * (1 if night < 18 else 0.91) * (1 + dice.gauss(0, 0.004))
            number = 100 + len(notebook.recordings())
            when = f"2026-02-{night:02d}T01:{30 + number % 20}"
            notebook.add(_series(number, "watch nightly", average, 0.5, when=when))
        notebook.set_baseline("nightly", *(f"a1{number:010x}" for number in (100, 101, 102)))
    return path


def make_pair(path: Path) -> Path:
    """Write a notebook of an old and a new server that the guide compares, with their runs interleaved."""
    new_share = replace(SHARE, host="new.example")
    when = "2026-03-05T10:15"
    old, new = interleaved(
        _series(1, "files.example", 91.2, 0.7, when=when),
        _series(2, "new.example", 112.3, 0.5, when=when, target=new_share),
    )
    other = OtherSide(target=replace(new_share, path=""), file=SHARE.path, file_bytes=SIZE, series_id=new.id)
    choices = replace(choices_of(old), others=(other,), series_id=old.id, reviewed=True, step=MethodStep.EXPECTED)
    with Notebook(path) as notebook:
        notebook.add(old)
        notebook.add(new)
        notebook.remember(MEMORY_KEY, choices.to_memory())
    return path


def all_series() -> list[Series]:
    """The series, oldest first: the wire, FTP, then SMB and what was changed about it."""
    steps = [
        _series(5, "log level 0", 84.2, change=_change("log level", "0", "3"), base_id="a10000000003"),
        _series(
            6, "signing off", 97.4, change=_change("server signing", "disabled", "mandatory"), base_id="a10000000005"
        ),
        _series(7, "big buffers", 96.9, change=_change("socket options", "SO_SNDBUF=8192", "TCP_NODELAY")),
        _series(8, "async io", 111.3, change=_change("aio read size", "1", "0"), base_id="a10000000006"),
    ]
    kept = [Decision.KEPT, Decision.KEPT, Decision.REVERTED, Decision.KEPT]
    return [
        _series(1, "bare TCP", 117.6, 0.05, target=BARE, client=IPERF_CLIENT),
        _series(
            12,
            "",
            0.0,
            created_at="2026-03-02T10:40:00.000Z",
            status=SeriesStatus.FAILED,
            error="files.example closed the connection",
        ),
        _series(2, "FTP", 112.9, 0.3, target=FTP, client=FTP_CLIENT),
        _series(3, "as delivered", 78.1, 0.9, experiment=EXPERIMENT),
        _series(4, "as delivered", 61.7, 1.4, command=Command.PUT),
        *(replace(step, experiment=EXPERIMENT, decision=decision) for step, decision in zip(steps, kept, strict=True)),
        _series(9, "after tuning", 104.8, 0.7, command=Command.PUT, outlier=3),
        _series(
            10,
            "in the afternoon",
            55.0,
            9.0,
            quiet=Quiet(verdict=QuietVerdict.BUSY, reasons=("the link carried 380 Mbit/s",)),
        ),
        _series(11, "new switch", 111.9, 0.2, note="Ticket 4711: the old one ran at 100 Mbit/s."),
    ]


def _change(name: str, value: str, previous: str) -> Change:
    return Change(name=name, value=value, previous=previous, evidence=Evidence.CONFIRMED)


def _series(
    number: int,
    label: str,
    megabytes: float,
    deviation: float = 0.6,
    *,
    outlier: int = 0,
    when: str = "",
    **fields: Any,
) -> Series:
    """A series of five runs around a rate, varying by that many percent; run ``outlier`` is slow and rejected."""
    dice = Random(number)  # noqa: S311  noise, not secrets
    hour = when or f"2026-03-{2 + number // 3:02d}T{9 + number % 3:02d}:15"
    rates = [megabytes * 1e6 * (1 + dice.gauss(0, deviation / 100)) for _ in range(7)] if megabytes else []
    usual: dict[str, Any] = {
        "id": f"a1{number:010x}",
        "created_at": f"{hour}:00.000Z",
        "label": label,
        "target": SHARE,
        "client": CLIENT,
        "ceiling_bytes_per_second": 2.1e9,
        "plan": Plan(),
        "quiet": Quiet(verdict=QuietVerdict.QUIET),
        "runs": _runs(rates, hour, outlier),
    }
    return series(**{**usual, **fields})


def _runs(rates: Sequence[float], hour: str, outlier: int) -> tuple[Run, ...]:
    found: list[Run] = []
    for place, rate in enumerate(rates):
        warm = place < 2
        number = place + 1 if warm else place - 1
        slowed = rate * 0.62 if number == outlier and not warm else rate
        seconds = SIZE / slowed
        found.append(
            Run(
                number=number,
                phase=Phase.WARM_UP if warm else Phase.MEASURED,
                status=RunStatus.REJECTED if slowed < rate else RunStatus.VALID,
                reason="the backup started" if slowed < rate else None,
                started_at=f"{hour}:{place * 8:02d}.000Z",
                size_bytes=SIZE,
                seconds=seconds,
                open_seconds=0.004,
                close_seconds=0.002,
                progress=_progress(slowed, seconds),
            )
        )
    return tuple(found)


def _progress(rate: float, seconds: float) -> tuple[tuple[float, int], ...]:
    """Ten samples a second, slower in the first second."""
    dice = Random(int(rate))  # noqa: S311  noise, not secrets
    times = [tick / 10 for tick in range(1, int(seconds * 10))]
    moved, before = [0.0], 0.0
    for time in (*times, seconds):
        moved.append(moved[-1] + (time - before) * (0.6 if time < 0.8 else 1.02 + dice.gauss(0, 0.03)))
        before = time
    samples = [(time, int(SIZE * share / moved[-1])) for time, share in zip(times, moved[1:], strict=False)]
    return (*samples, (seconds, SIZE))
