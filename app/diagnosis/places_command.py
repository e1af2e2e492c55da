"""``sharebench diagnose --from A --from B``: several machines diagnose one share, stage by stage interleaved."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app.base.errors import SharebenchError
from app.cli import cancelling, console, progress, run_options
from app.diagnosis import events as diagnosis_events
from app.diagnosis.progress_lines import PlacesProgress
from app.diagnosis.record import record_places
from app.diagnosis.spec import DiagnosisRequest
from app.recording.process import SeriesControl
from app.server.elsewhere.place import problem_beside_host
from forms.diagnosis.places import diagnosis_places
from forms.diagnosis.places_report import diagnosis_places_report
from storage import looks


def measure_from_places(
    request: DiagnosisRequest, hosts: Sequence[str], path: Path, control: SeriesControl, *, as_json: bool
) -> int:
    """Measure from each host, and print one report of them. Raises SharebenchError where one measured not all."""
    requests = []
    for host in hosts:
        requests.append(replace(request, from_host=host, label=run_options.label_from(host, request.label)))
    places_progress = PlacesProgress()

    def show(host: str, event: diagnosis_events.DiagnosisEvent) -> None:
        line = places_progress.line(host, event)
        if line:
            console.say(line)

    events = record_places(requests, path, control)
    closed = diagnosis_events.DiagnosisClosed
    ends = progress.watch_places(events, control, hosts, closed, show, progress.StatusLine())
    outcomes = [_outcome(host, ends[host]) for host in hosts]
    summary = diagnosis_places(outcomes)
    console.answer_report(diagnosis_places_report(summary, request.target), as_json=as_json)

    problems = {host: problem for host, _diagnosis, problem in outcomes}
    diagnoses = [diagnosis for _host, diagnosis, _problem in outcomes if diagnosis is not None]
    cancelling.raise_if_cancelled(control, problems, diagnoses, resumed_by="diagnose")
    return cancelling.exit_code_of_places(problems)


def _outcome(
    host: str, end: diagnosis_events.DiagnosisClosed | SharebenchError
) -> tuple[str, looks.Diagnosis | None, str]:
    """The host, its diagnosis, and why it measured nothing or ended early."""
    if isinstance(end, SharebenchError):
        return host, None, problem_beside_host(host, str(end))
    return host, end.diagnosis, cancelling.problem_of(end.diagnosis, "diagnosis")
