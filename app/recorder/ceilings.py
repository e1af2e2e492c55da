"""The client's own limit on this machine: from the notebook, or calibrated once and kept there."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict

from app.children import own_command, own_environment
from app.environment.host.facts import client_facts
from storage.notebook import Notebook
from storage.records import Ceiling, Series, utc_now

CALIBRATION_SECONDS = 120
"""After so long a calibration is given up: the machine is too busy to say anything."""


def ceiling_of(series: Series, notebook: Notebook, *, anew: bool = False) -> float | None:
    """The ceiling of the series' client, in bytes per second, calibrated if it is not known or shall be ``anew``.

    A series that was faster than the ceiling shows that its calibration was disturbed: it is done again, and the
    ceiling is what the series reached at least. None where there is nothing to calibrate it against: programs that
    are not ours, the bare TCP path.
    """
    key = ceiling_key(series)
    known = notebook.ceiling(key)
    reached = max((run.bytes_per_second or 0.0 for run in series.measured()), default=0.0)
    if known and not anew and known.bytes_per_second >= reached:
        return known.bytes_per_second
    found = _calibrate(series)
    if found is None:
        return None
    found = max(found, reached)
    notebook.set_ceiling(Ceiling(key=key, bytes_per_second=found, measured_at=utc_now()))
    return found


def ceiling_key(series: Series) -> str:
    """What a ceiling holds for: client and version, machine, protocol, command and what was negotiated."""
    machine = client_facts()
    client = series.client
    parts = {
        "client": f"{client.name} {client.version}",
        "machine": f"{machine.get('cpu.count')} x {machine.get('cpu.model')}, Python {machine.get('python.version')}",
        "protocol": series.target.protocol,
        "command": series.command.value,
        "dialect": client.dialect,
        "signing": client.signing,
        "encryption": client.encryption,
        "block": client.block_bytes,
        "in flight": client.in_flight,
    }
    return "; ".join(f"{name} {value}" for name, value in parts.items() if value is not None)


def _calibrate(series: Series) -> float | None:
    asked = {
        "protocol": series.target.protocol,
        "command": series.command.value,
        "client": asdict(series.client),
    }
    try:
        done = subprocess.run(
            own_command("app.measure.calibration"),
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            check=True,
            timeout=CALIBRATION_SECONDS,
            env=own_environment(),
            start_new_session=True,
        )
        rate = json.loads(done.stdout)["bytes_per_second"]
    except (subprocess.SubprocessError, OSError, ValueError):
        return None
    return float(rate) if rate else None
