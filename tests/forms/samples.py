"""Series made of plain rates, for the tests of what is computed from them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from storage.records import ClientFacts, Command, Phase, Run, Series, SeriesStatus, Target

CLIENT = ClientFacts(
    name="sharebench",
    version="0.1.0",
    dialect="3.1.1",
    signing="none",
    encryption="none",
    block_bytes=1 << 20,
    in_flight=4,
)


def runs(rates: Sequence[float], *, size_bytes: int = 1 << 30, warmups: int = 2) -> tuple[Run, ...]:
    """Warm-up runs at the first rate, then a measured run at each of the rates, in bytes per second."""
    warm = [
        Run(number=i + 1, phase=Phase.WARM_UP, size_bytes=size_bytes, seconds=size_bytes / rates[0])
        for i in range(warmups)
    ]
    timed = [
        Run(number=i + 1, phase=Phase.MEASURED, size_bytes=size_bytes, seconds=size_bytes / rate)
        for i, rate in enumerate(rates)
    ]
    return (*warm, *timed)


def series(rates: Sequence[float] = (), *, size_bytes: int = 1 << 30, warmups: int = 2, **fields: Any) -> Series:
    """A complete series of an SMB get with runs at these rates, in bytes per second."""
    usual: dict[str, Any] = {
        "id": "0123456789ab",
        "created_at": "2026-01-31T10:00:00.000Z",
        "status": SeriesStatus.COMPLETE,
        "command": Command.GET,
        "target": Target(protocol="smb", host="nas", port=445, share="data", path="big.bin"),
        "client": CLIENT,
        "link_bits_per_second": 1_000_000_000,
        "plan": {"runs": len(rates), "warmups": warmups},
        "runs": runs(rates, size_bytes=size_bytes, warmups=warmups) if rates else (),
    }
    return Series(**{**usual, **fields})


def in_turns(base: Series, other: Series) -> tuple[Series, Series]:
    """The two series as if their runs had taken turns: A B B A …"""
    return _begun(base, (0, 3)), _begun(other, (1, 2))


def _begun(one: Series, places: tuple[int, int]) -> Series:
    """The series whose odd and even runs begin at these seconds of every four."""
    begun = []
    for run in one.runs:
        second = 4 * ((run.number - 1) // 2) + places[(run.number - 1) % 2]
        begun.append(
            replace(run, started_at=f"2026-01-31T{10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000Z")
        )
    return replace(one, runs=tuple(begun))


def repeats(one: Series, *factors: float) -> tuple[Series, ...]:
    """The series measured again and again: the same runs times each factor."""
    return tuple(
        replace(
            one,
            id=f"{one.id[:10]}{number:02}",
            runs=tuple(replace(run, seconds=run.seconds / factor if run.seconds else None) for run in one.runs),
        )
        for number, factor in enumerate(factors)
    )
