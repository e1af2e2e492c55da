"""Series documents read back into series: refused whole, with the first place that is wrong."""

from dataclasses import replace

from forms.series.document import SCHEMA
from storage.json_reader import DocumentError, JSONNode
from storage.records import Phase, RunStatus, Series

_OURS = frozenset({"scratch_path", "imported_at", "running_by"})
"""What a document cannot say of a series in this notebook."""


def series_from_document(document: object) -> Series:
    """The series that a document describes; averages are not read but computed again. Raises DocumentError."""
    top = JSONNode("", document).object()
    if top.value.get("schema") != SCHEMA:
        raise top.maybe("schema").wrong(f'"{SCHEMA}"')
    for name in ("target", "client"):
        top.at(name).object()
    series = top.record(Series, leave=_OURS, needs=("status", "command", "runs"))
    _check_runs(top, series)
    # what would read files or log in from here is left out
    plan = series.plan and replace(series.plan, server_ssh=None, smb_conf=None)
    failed = tuple(replace(run, status=RunStatus.FAILED) for run in series.failed_attempts)
    return replace(series, plan=plan, failed_attempts=failed)


def _check_runs(top: JSONNode, series: Series) -> None:
    """Raises DocumentError for a run that is there twice, or that counts without a time and a size."""
    seen: set[tuple[Phase, int]] = set()
    for place in (*top.at("runs").items(), *top.maybe("failed_attempts").items()):
        for name in ("status", "started_at", "size_bytes"):
            place.at(name)
    for place, run in zip(top.at("runs").items(), series.runs, strict=True):
        if (run.phase, run.number) in seen:
            raise DocumentError(f"{place.name}: a second {run.phase.value} run {run.number}")
        seen.add((run.phase, run.number))
        if run.status is not RunStatus.FAILED and not (run.seconds and run.seconds > 0):
            raise DocumentError(f"{place.name}.seconds: expected a number above 0")
        if run.status is not RunStatus.FAILED and not run.size_bytes:
            raise DocumentError(f"{place.name}.size_bytes: expected a whole number of at least 1")
