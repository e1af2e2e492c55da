"""Measure a target from several machines, interleaved, and print one table of them: ``run --from A --from B``."""

from collections.abc import Sequence
from pathlib import Path

from app.base import errors
from app.cli import cancelling, console, measuring, run_options
from app.clients.base import Secrets
from app.recording import process
from app.recording.rescue import open_notebook
from app.recording.spec import SeriesSpec
from app.recording.turns import LOGIN_WAS_REFUSED
from app.series import events as series_events
from app.series import requests as series_requests
from app.server.elsewhere.place import problem_beside_host
from forms.experiments.places import places_summary
from forms.experiments.places_report import places_report
from storage import records
from storage.notebook import Notebook


def run_places(
    spec: SeriesSpec,
    target: records.Target,
    secrets: Secrets,
    hosts: Sequence[str],
    path: Path,
    *,
    within_seconds: float,
    as_json: bool,
) -> int:
    """Measure from each host, and print the table. Raises SharebenchError where a host did not measure to its end."""
    requests = []
    for host, spec_there in zip(hosts, run_options.specs_from(spec, hosts), strict=True):
        labelled = series_requests.with_label(spec_there, run_options.label_from(host, spec.texts.label))
        requests.append(series_requests.series_request(labelled, target, secrets))

    control = process.SeriesControl(within_seconds)
    closed = measuring.watch_interleaved(requests, path, hosts, control, ready_first=True)
    with open_notebook(path) as notebook:
        outcomes = [_outcome(host, closed.get(index), notebook) for index, host in enumerate(hosts)]
    console.answer_report(places_report(places_summary(outcomes), target), as_json=as_json)

    error = measuring.error_that_ended(control, list(closed.values()))
    if isinstance(error, errors.CancelledError):
        raise error
    return cancelling.exit_code_of_places({host: problem for host, _series, problem in outcomes})


def _outcome(
    host: str, end: series_events.SeriesClosed | None, notebook: Notebook
) -> tuple[str, records.Series | None, str]:
    """The host, its series, and why it measured nothing or ended early."""
    if end is None:
        return host, None, LOGIN_WAS_REFUSED
    series = notebook.series(end.series_id) if end.stored else None
    problem = end.failure.text if end.failure else ""
    return host, series, problem_beside_host(host, problem)
