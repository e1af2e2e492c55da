"""A diagnosis under way: its stages, one after the other, and what is left on the share at the end.

The stages are measured in a child process (`app.diagnosis.child`), but for the audit of the settings, which reads the
server's files. `app.diagnosis.record` stores the diagnosis at each event before the event is told.
"""

from collections.abc import Generator
from dataclasses import replace

from app.diagnosis import events, own_folder
from app.diagnosis.spec import DiagnosisRequest
from app.diagnosis.stages_under_way import StagesUnderWay
from app.recording import process
from app.series.reached_machine import reach_machine
from app.server import facts
from app.server.elsewhere.place import MeasuringPlace
from storage import looks, records


def _ignore_message(_message: process.ControlMessage) -> None:
    """A stage is measured to its end, or cancelled: nothing else is said to it."""


def measure(
    request: DiagnosisRequest, control: process.SeriesControl, resumed: looks.Diagnosis | None
) -> Generator[events.MeasurementEvent, None, events.DiagnosisClosed]:
    """Measure the stages that are missing, and remove what was made on the share.

    ``resumed`` is the diagnosis as its earlier attempt left it; None for a new one.
    """
    place: MeasuringPlace | None = None
    side: facts.ClientSide | None = None
    if request.from_host is not None:
        place, side = yield from reach_machine(request.from_host, request.target, control)

    measurement = StagesUnderWay(request, resumed or _new_diagnosis(request, side), place, side)
    control.attach(_ignore_message, measurement.process.cancel)
    try:
        yield from measurement.stages(control)
    finally:
        control.detach()
        measurement.process.close()

    diagnosis = measurement.diagnosis
    problem = own_folder.reason_folder_is_left(request, diagnosis, measurement.removal_problem)
    if problem:
        yield process.Warned(text=problem)
    else:
        diagnosis = replace(diagnosis, leftover=None)

    diagnosis = replace(
        diagnosis,
        status=measurement.status(control),
        error=measurement.error_text(control),
    )
    return events.DiagnosisClosed(diagnosis=diagnosis)


def _new_diagnosis(request: DiagnosisRequest, side: facts.ClientSide | None) -> looks.Diagnosis:
    """``side``: what another machine that measures says of itself; None for this one."""
    client = facts.client_facts_of(side, request.from_host)

    return looks.Diagnosis(
        id=records.new_series_id(),
        created_at=records.utc_now(),
        label=request.label,
        question=request.question,
        target=request.target,
        settings=request.settings,
        effort=request.effort,
        only=request.only,
        complaint=request.complaint,
        folder=request.folder,
        server_ssh=request.server_ssh,
        smb_conf=request.smb_conf,
        profile=request.profile,
        from_host=request.from_host,
        environment={"client": client},
    )
