"""Asks a server that was found busy whose session does most there."""

import threading

from app.base.errors import CancelledError, MeasurementError
from app.server.quiet_time import SERVER_CPU_PERCENT
from app.server.sessions.look import SessionsLook, look_at_sessions
from forms.who.busiest import busiest_facts
from forms.who.summary import sessions_summary
from storage.records import FactValue

_LOOK_SECONDS = 2.0


def facts_of_busiest(
    port: int, ssh: str | None, smb_conf: str | None, stop: threading.Event | None = None
) -> dict[str, FactValue]:
    """Facts of the busiest session of the smbd on a port; empty where it cannot be seen, as without root."""
    look = _brief_look(port, ssh, smb_conf, stop)
    return _facts_of(look) if look is not None else {}


def facts_of_busy_server(port: int, ssh: str | None, smb_conf: str | None) -> dict[str, FactValue]:
    """The same, with how busy the server's processors are; empty where they are not, too."""
    look = _brief_look(port, ssh, smb_conf)
    if look is None or look.machine.cpu_percent < SERVER_CPU_PERCENT.typical:
        return {}
    return {"cpu.busy_percent_before": round(look.machine.cpu_percent, 1), **_facts_of(look)}


def _facts_of(look: SessionsLook) -> dict[str, FactValue]:
    return busiest_facts(sessions_summary(look.machine, look.sessions, look.seconds), look.seconds)


def _brief_look(
    port: int, ssh: str | None, smb_conf: str | None, stop: threading.Event | None = None
) -> SessionsLook | None:
    try:
        return look_at_sessions(port, ssh, smb_conf, _LOOK_SECONDS, stop)
    except (MeasurementError, CancelledError):
        return None
