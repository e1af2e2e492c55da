"""The ceiling of our own client: what it could reach on this machine if network and server cost nothing.

It is calibrated in a process of its own (`app.recording.calibration`), and kept in the notebook for each combination of
what it depends on.
"""

import contextlib
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from app.base import child_process, messages
from app.base.child_process import Elsewhere
from app.recording import process
from app.recording.writer import Write
from app.server.host_facts import client_facts
from app.server.quiet_time import OTHERS_CPU_PERCENT
from storage import records
from storage.errors import NotebookFileError
from storage.notebook import Notebook
from storage.programs import run_program

CALIBRATION_SECONDS = 120
"""Time limit of one calibration."""
LIFE_DAYS = 30
"""Older ceilings are measured again: kernels, firmware and power settings change."""
BUSY_PERCENT = OTHERS_CPU_PERCENT.busy
"""Of this machine's processors: where others took more meanwhile, a calibration may be too low."""

_METHOD = 2
"""Raised when the method changes, which invalidates older ceilings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A ceiling, as it was kept or just measured."""

    bytes_per_second: float | None = None
    """None if there is nothing to calibrate against, or other programs disturbed it."""
    others_cpu_percent: float = 0.0
    """How busy other programs kept this machine meanwhile."""

    @property
    def busy(self) -> bool:
        """Whether other programs disturbed it, so that it may be too low."""
        return self.others_cpu_percent > BUSY_PERCENT


def ceiling_of(
    series: records.Series,
    notebook: Notebook,
    *,
    renew: bool = False,
    keep: Callable[[Write], object] | None = None,
    elsewhere: Elsewhere | None = None,
) -> Calibration:
    """The ceiling for a series that was measured.

    It is calibrated where none is kept, or one that is old, or that the series has beaten; and to ``renew`` it. The
    best of what is known counts. ``keep`` is given the write that stores it in the notebook, for a recorder to carry
    out; without it this function stores it. ``elsewhere``: the machine that measured; None for this one.
    """
    key = ceiling_key(series)
    stored = notebook.ceiling(key)
    reached = max((run.bytes_per_second or 0.0 for run in series.measured()), default=0.0)
    is_beaten = stored is not None and stored.bytes_per_second < reached
    is_young = stored is not None and _is_young(stored)
    if stored and is_young and not renew and not is_beaten:
        return Calibration(bytes_per_second=stored.bytes_per_second)

    calibration = _calibrate(series, elsewhere)
    if calibration.busy:  # what disturbed it is often over by now
        calibration = _calibrate(series, elsewhere)
    if calibration.bytes_per_second is None:
        return calibration
    if calibration.busy:
        # A disturbed calibration comes out too low: an old ceiling says more, unless the series has refuted it.
        usable_rate = stored.bytes_per_second if stored and not is_beaten else None
        return replace(calibration, bytes_per_second=usable_rate)

    best = max(calibration.bytes_per_second, reached)
    if stored and is_young and stored.bytes_per_second >= best:
        return Calibration(bytes_per_second=stored.bytes_per_second)

    ceiling = records.Ceiling(key=key, bytes_per_second=best, measured_at=records.utc_now())
    if keep is None:
        # Where the notebook has no room, the ceiling is calibrated again next time.
        with contextlib.suppress(sqlite3.Error, NotebookFileError):
            notebook.set_ceiling(ceiling)
    else:
        keep(lambda notebook: notebook.set_ceiling(ceiling))
    return replace(calibration, bytes_per_second=best)


def _is_young(ceiling: records.Ceiling) -> bool:
    oldest = datetime.now(UTC) - timedelta(days=LIFE_DAYS)
    return datetime.fromisoformat(ceiling.measured_at) > oldest


def ceiling_key(series: records.Series) -> str:
    """The key of a series' ceiling, on the machine that measured it."""
    machine = series.environment.get("client")
    key = ceiling_key_of(series.client, series.target.protocol, series.command, machine)
    read_percent = series.random_read_percent
    return key if read_percent is None else f"{key}; random reads {read_percent} %"


def ceiling_key_of(
    client: records.ClientFacts, protocol: str, command: records.Command, machine: records.Facts | None = None
) -> str:
    """All that a ceiling depends on; stored with it, so a change of this text makes every ceiling unknown.

    ``machine``: the facts of the machine that measures; None or empty for this one.
    """
    machine = machine or client_facts()

    parts = {
        "client": f"{client.name} {client.version}",
        "machine": f"{machine.get('cpu.count')} x {machine.get('cpu.model')}, Python {machine.get('python.version')}",
        "protocol": protocol,
        "command": command.value,
        "dialect": client.dialect,
        "signing": client.signing,
        "encryption": client.encryption,
        "block": client.block_bytes,
        "in flight": client.in_flight,
        "method": _METHOD,
    }
    return "; ".join(f"{name} {value}" for name, value in parts.items() if value is not None)


def _calibrate(series: records.Series, elsewhere: Elsewhere | None = None) -> Calibration:
    """Calibrate the client once, in a process of its own on the machine that measures."""
    order = process.CalibrationOrder(
        protocol=series.target.protocol,
        command=series.command,
        client=series.client,
        read_percent=series.random_read_percent,
    )
    module = "app.recording.child"
    words = elsewhere.words(module) if elsewhere else child_process.own_command(module)
    try:
        outcome = run_program(
            words,
            seconds=CALIBRATION_SECONDS,
            given=messages.line_of(order).encode(),
            environment=child_process.own_environment(),
        )
        calibrated: process.Calibrated = messages.message_of(outcome.text, [process.Calibrated])
    except (OSError, ValueError):
        return Calibration()
    return Calibration(bytes_per_second=calibrated.bytes_per_second, others_cpu_percent=calibrated.others_cpu_percent)
