"""``sharebench quick --from A --from B``: several machines test one folder, line by line interleaved."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app.base.errors import SharebenchError
from app.cli import cancelling, console, progress, run_options
from app.quick import measurement, plan, progress_lines
from app.quick.record import record_places
from app.quick.spec import QuickRequest
from app.recording.process import SeriesControl
from app.server.elsewhere.place import problem_beside_host
from forms.quick.places import quick_places
from forms.quick.places_report import quick_places_report
from storage.quick.records import Quick


def measure_from_places(
    request: QuickRequest, hosts: Sequence[str], path: Path, control: SeriesControl, *, as_json: bool
) -> int:
    """Measure from each host, and print one report of them. Raises SharebenchError where one measured not all."""
    requests = []
    for host in hosts:
        requests.append(replace(request, from_host=host, label=run_options.label_from(host, request.label)))
    line = progress.StatusLine()

    def show(host: str, event: measurement.QuickEvent) -> None:
        if isinstance(event, plan.LineBegan):
            line.draw(f"{host}: {progress_lines.status_text(event)}")
            return
        text = progress_lines.progress_line(event, host)
        if text:
            line.say(text)

    events = record_places(requests, path, control)
    ends = progress.watch_places(events, control, hosts, measurement.QuickClosed, show, line)
    outcomes = [_outcome(host, ends[host]) for host in hosts]
    console.answer_report(quick_places_report(quick_places(outcomes), request.target), as_json=as_json)

    problems = {host: problem for host, _quick, problem in outcomes}
    cancelling.raise_if_cancelled(control, problems, [quick for _host, quick, _problem in outcomes if quick])
    return cancelling.exit_code_of_places(problems)


def _outcome(host: str, end: measurement.QuickClosed | SharebenchError) -> tuple[str, Quick | None, str]:
    """The host, its quick test, and why it measured nothing or ended early."""
    if isinstance(end, SharebenchError):
        return host, None, problem_beside_host(host, str(end))
    return host, end.quick, cancelling.problem_of(end.quick, "quick test")
