"""The client ceiling on this machine: measured once and kept in the notebook."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from app.child_process import line_of, message_of, own_command, own_environment
from app.environment.host.activity import Wire, between, take_reading
from app.environment.host.facts import Ours, client_facts
from app.environment.quiet import OTHERS_CPU_PERCENT
from app.measure.process import Calibrated, CalibrationOrder
from app.recorder.writer import Write
from storage.json_reader import named
from storage.notebook import Notebook
from storage.records import Ceiling, Series, utc_now

CALIBRATION_SECONDS = 120


LIFE_DAYS = 30
"""Older ceilings are measured again: kernels, firmware and power settings change."""
BUSY_PERCENT = OTHERS_CPU_PERCENT.busy
ATTEMPTS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    bytes_per_second: float | None = None
    """None if there is nothing to calibrate against, or other programs disturbed it."""
    others_cpu_percent: float = 0.0

    @property
    def busy(self) -> bool:
        return self.others_cpu_percent > BUSY_PERCENT


def ceiling_of(
    series: Series, notebook: Notebook, *, renew: bool = False, keep: Callable[[Write], object] | None = None
) -> Calibration:
    """Calibrates if unknown, old, beaten by the series, or to ``renew``; the best counts. ``keep`` writes it."""
    key = ceiling_key(series)
    known = notebook.ceiling(key)
    reached = max((run.bytes_per_second or 0.0 for run in series.measured()), default=0.0)
    beaten = known is not None and known.bytes_per_second < reached
    oldest = datetime.now(UTC) - timedelta(days=LIFE_DAYS)
    young = known is not None and datetime.fromisoformat(known.measured_at) > oldest
    if known and young and not renew and not beaten:
        return Calibration(bytes_per_second=known.bytes_per_second)
    done = _calibrate(series)
    for _ in range(ATTEMPTS - 1):
        if done.busy:
            done = _calibrate(series)
    if done.bytes_per_second is None:
        return done
    if done.busy:
        kept = known.bytes_per_second if known and not beaten else None
        return replace(done, bytes_per_second=kept)
    best = max(done.bytes_per_second, reached)
    if known and young and known.bytes_per_second >= best:
        return Calibration(bytes_per_second=known.bytes_per_second)
    ceiling = Ceiling(key=key, bytes_per_second=best, measured_at=utc_now())
    if keep is None:
        notebook.set_ceiling(ceiling)
    else:
        keep(lambda notebook: notebook.set_ceiling(ceiling))
    return replace(done, bytes_per_second=best)


def ceiling_key(series: Series) -> str:
    """What a ceiling applies to: client, version, machine, protocol, command and negotiated session."""
    machine = client_facts()
    client = series.client
    parts = {
        "client": f"{client.name} {client.version}",
        "machine": f"{machine.get('cpu.count')} x {machine.get('cpu.model')}, Python {machine.get('python.version')}",
        "protocol": series.target.protocol,
        "command": series.command.value,
        **named(client, "dialect", "signing", "encryption"),
        "block": client.block_bytes,
        "in flight": client.in_flight,
        "method": _METHOD,
    }
    return "; ".join(f"{name} {value}" for name, value in parts.items() if value is not None)


_METHOD = 2
"""Raised when the method changes, which invalidates older ceilings."""


def _calibrate(series: Series) -> Calibration:
    order = CalibrationOrder(protocol=series.target.protocol, command=series.command, client=series.client)
    before, ours_before = take_reading(Wire(), Ours()), _our_ticks()
    try:
        done = subprocess.run(
            own_command("app.measure.child"),
            input=line_of(order),
            capture_output=True,
            text=True,
            check=True,
            timeout=CALIBRATION_SECONDS,
            env=own_environment(),
            start_new_session=True,
        )
        rate = message_of(done.stdout, [Calibrated]).bytes_per_second
    except (subprocess.SubprocessError, OSError, ValueError):
        return Calibration()
    after = take_reading(Wire(), Ours())
    others = 0.0
    if before and after:
        ours = _our_ticks() - ours_before
        others = between(replace(before, our_ticks=0), replace(after, our_ticks=ours), Wire()).others_cpu_percent
    return Calibration(bytes_per_second=float(rate) if rate else None, others_cpu_percent=others)


def _our_ticks() -> int:
    times = os.times()
    seconds = times.user + times.system + times.children_user + times.children_system
    return round(seconds * os.sysconf("SC_CLK_TCK"))
