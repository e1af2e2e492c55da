"""Series made of plain rates, for the tests of what is computed from them."""

from collections.abc import Sequence
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
