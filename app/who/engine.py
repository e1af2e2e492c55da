"""Looks at who uses a server; nothing is measured or changed."""

import threading

from app.server.sessions.look import look_at_sessions
from app.who.spec import WhoRequest
from forms.who.summary import with_busiest_first
from storage import records
from storage.who import Who


def look(request: WhoRequest, stop: threading.Event | None = None) -> Who:
    """Look for as long as was asked for. Raises MeasurementError; CancelledError once ``stop`` is set."""
    sessions = look_at_sessions(request.target.port_number, request.server_ssh, request.smb_conf, request.seconds, stop)
    who = Who(
        id=records.new_series_id(),
        created_at=records.utc_now(sessions.seconds),
        status=records.SeriesStatus.COMPLETE,
        label=request.label,
        question=request.question,
        target=request.target,
        server_ssh=request.server_ssh,
        smb_conf=request.smb_conf,
        seconds=sessions.seconds,
        machine=sessions.machine,
        sessions=sessions.sessions,
        ended=sessions.ended,
        requests=sessions.requests,
        look_cpu_seconds=sessions.look_cpu_seconds,
    )
    return with_busiest_first(who)
