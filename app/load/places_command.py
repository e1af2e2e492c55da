"""``sharebench load --from A --from B``: several machines load one server, a point of each in turn."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app.base import errors
from app.cli import cancelling, console, progress, run_options
from app.load import progress_lines, spec
from app.load.measurement import LoadClosed
from app.load.places.lines import PlacesLines
from app.load.places.record import record_places
from app.recording.process import SeriesControl
from app.recording.rescue import open_notebook
from app.server.elsewhere.place import problem_beside_host
from forms.load import places as load_places
from forms.load.places_report import load_places_report
from storage.load.records import Load, PointStatus


def measure_from_places(
    request: spec.LoadRequest, hosts: Sequence[str], path: Path, control: SeriesControl, *, as_json: bool
) -> int:
    """Measure from each host, and print one report of them. Raises SharebenchError where one measured not all."""
    line = progress.StatusLine()
    lines = PlacesLines(hosts, line.draw, line.say)
    events = record_places([_request_from(host, request) for host in hosts], path, control)
    ends = progress.watch_places(events, control, hosts, LoadClosed, lines.show, line)

    places = [_place_of(host, ends[host], control) for host in hosts]
    summary = _summary_of(places, path)
    console.answer_report(load_places_report(summary, request.targets, request.scenario), as_json=as_json)

    if control.cancelled.is_set() and any(place.error for place in places):
        has_points = any(place.load is not None for place in places)
        advice = ": the answer says how to measure the rest" if has_points else ""
        raise errors.CancelledError(f"{control.why_cancelled}{advice}")
    return cancelling.exit_code_of_places({place.host: place.error for place in places})


def _request_from(host: str, request: spec.LoadRequest) -> spec.LoadRequest:
    """The same request for another machine."""
    return replace(
        request,
        choices=replace(request.choices, from_host=host),
        label=run_options.label_from(host, request.label),
    )


def _place_of(host: str, end: LoadClosed | errors.SharebenchError, control: SeriesControl) -> load_places.LoadPlace:
    """What a machine measured, and why not all of it."""
    if isinstance(end, errors.SharebenchError):
        return load_places.LoadPlace(host=host, error=problem_beside_host(host, str(end)))

    error = progress_lines.failure_of(end, control)
    problem = problem_beside_host(host, str(error)) if error else _why_without_point(end.load)
    return load_places.LoadPlace(host=host, load=end.load if end.stored else None, error=problem)


def _why_without_point(load: Load) -> str:
    """Why no point of a load that ended well could be measured; empty where one was."""
    if any(point.status is not PointStatus.FAILED for point in load.points):
        return ""
    reasons = [point.reason or point.status.value for point in load.points]
    return reasons[0] if reasons else "no point was measured"


def _summary_of(places: Sequence[load_places.LoadPlace], path: Path) -> load_places.LoadPlaces:
    fastest = load_places.fastest_place(places)
    if fastest is None or fastest.load is None:
        return load_places.load_places(places)
    with open_notebook(path) as notebook:
        earlier = notebook.loads_like(fastest.load, fastest.load.created_at)
    return load_places.load_places(places, earlier)
