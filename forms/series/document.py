"""The JSON document of a series, written and read."""

from dataclasses import asdict, replace
from typing import Any

from forms.findings.report import finding_document
from forms.findings.rules_series import series_findings
from forms.findings.series_warnings import advice
from forms.series.random_requests import figures_of_run, figures_of_runs, parts_of
from forms.series.summary import RunRow, measures_of, run_form
from forms.stats.summary import LEVEL
from storage import records
from storage.json_reader import DocumentError, JSONNode, named

SCHEMA = "sharebench/series/1"

_OF_A_RUN = frozenset({"status", "started_at", "size_bytes"})
"""What each run of a document must have, though a record has defaults."""

_OWN_FIELDS = frozenset({"scratch_path", "imported_at", "running_by"})
"""What is of this machine alone, and no document says."""

Document = dict[str, Any]


def series_document(series: records.Series) -> Document:
    form = run_form(series)
    owner = series.running_by
    change = series.change
    quiet = series.quiet.to_json() if series.quiet else {"verdict": records.QuietVerdict.UNKNOWN.value}
    failed_attempts = [
        RunRow(run=run, measures=measures_of(run, series.link_bits_per_second)) for run in series.failed_attempts
    ]

    document: Document = {
        "schema": SCHEMA,
        **named(series, "id", "created_at", "status", "title", "label", "note", "question"),
        **named(series, "experiment", "experiment_kind"),
        "change": change and {**asdict(change), "also_changed": list(change.also_changed)},
        "command": series.command.value,
        "flushed": series.flushed,
        "target": named(series.target, "protocol", "host", "port", "share", "path", "user"),
        "client": asdict(series.client),
        "link_bits_per_second": series.link_bits_per_second,
        "runs": [_run_document(row) for row in form.all_rows],
        "failed_attempts": [_run_document(row) for row in failed_attempts],
        "resumed_at": list(series.resumed_at),
        "running": owner and {"process": owner.process_id, "host": owner.host, "since": owner.since},
        "left_behind": None if owner else series.scratch_path,
        "average": form.average and asdict(form.average),
        "deviation": form.deviation and asdict(form.deviation),
        "confidence": form.confidence and _confidence_document(*form.confidence),
        "shown": form.shown and asdict(form.shown),
        "quiet": quiet,
        "environment": {side: dict(series.environment.get(side, {})) for side in ("client", "server", "path")},
        **named(series, "ceiling_bytes_per_second", "error", "base_id"),
        "decision": series.decision.value if series.decision else None,
        "plan": series.plan.to_json() if series.plan else {},
        "findings": [finding_document(finding) for finding in series_findings(series)],
        "advice": [{"key": warning.key, "text": warning.text} for warning in advice(series)],
    }

    if series.is_random:
        document["request_figures"] = _figures_document(series)
    if series.target.domain:
        document["target"]["domain"] = series.target.domain
    return document


def _figures_document(series: records.Series) -> Document:
    """The figures of all requests of the runs that count, and of a mix those of reads and writes."""
    figures_by_part = {caption.lower(): figures_of_runs(series.measured(), part) for caption, part in parts_of(series)}
    return {part: figures and asdict(figures) for part, figures in figures_by_part.items()}


def _confidence_document(low: float, high: float) -> Document:
    return {"level": LEVEL, "low_bytes_per_second": low, "high_bytes_per_second": high}


def _run_document(row: RunRow) -> Document:
    run = row.run
    document = {
        **named(run, "number", "phase", "status", "reason"),
        "unusual": row.unusual is not None,
        **named(run, "started_at", "size_bytes", "seconds", "open_seconds", "close_seconds"),
        **named(row.measures, "bytes_per_second", "bits_per_second", "percent_of_link"),
        "error": run.error,
        "progress": [[seconds, moved] for seconds, moved in run.progress],
    }
    figures = figures_of_run(run)
    if run.requests and figures:
        document |= {"requests": asdict(run.requests), "request_figures": asdict(figures)}
    return document


def series_from_document(document: object) -> records.Series:
    """The series of a document; averages are computed again. Raises DocumentError."""
    top = JSONNode("", document).object()
    if top.value.get("schema") != SCHEMA:
        raise top.maybe("schema").wrong(f'"{SCHEMA}"')
    for name in ("target", "client"):
        top.at(name).object()
    series = top.record(records.Series, leave=_OWN_FIELDS, needs=("status", "command", "runs"))
    _check_runs(top, series)

    # What would read files or log in from here is left out.
    plan = series.plan
    if plan is not None:
        plan = replace(plan, monitor=replace(plan.monitor, server_ssh=None, smb_conf=None, from_host=None))
    failed = tuple(replace(run, status=records.RunStatus.FAILED) for run in series.failed_attempts)
    series = replace(series, plan=plan, failed_attempts=failed)

    if top.value.get("flushed") is None:
        return records.with_flush(series, flushed=records.was_flushed(series))
    is_put = series.command is records.Command.PUT
    return records.with_flush(series, flushed=series.flushed and is_put)


def series_inside(place: JSONNode) -> records.Series:
    """The series at a place of another document."""
    try:
        return series_from_document(place.value)
    except DocumentError as error:
        raise DocumentError(f"{place.name}.{error}") from error


def _check_runs(top: JSONNode, series: records.Series) -> None:
    for place in (*top.at("runs").items(), *top.maybe("failed_attempts").items()):
        if not place.value.keys() >= _OF_A_RUN:
            for name in sorted(_OF_A_RUN):
                place.at(name)  # raises for the first that is missing

    numbers: set[tuple[records.Phase, int]] = set()
    for place, run in zip(top.at("runs").items(), series.runs, strict=True):
        if (run.phase, run.number) in numbers:
            raise DocumentError(f"{place.name}: a second {run.phase.value} run {run.number}")
        numbers.add((run.phase, run.number))
        if run.status is records.RunStatus.FAILED:
            continue
        if not run.seconds or run.seconds <= 0:
            raise DocumentError(f"{place.name}.seconds: expected a number above 0")
        if not run.size_bytes:
            raise DocumentError(f"{place.name}.size_bytes: expected a whole number of at least 1")
