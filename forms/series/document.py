"""The series document ``sharebench/series/1``: a series as one JSON object, and back.

What is read is refused whole, with the first place that is wrong.
"""

from dataclasses import asdict, replace
from typing import Any

from forms.findings.finding import finding_document
from forms.findings.rules import findings_of
from forms.findings.series_warnings import advice
from forms.series.summary import RunMeasures, SeriesSummary, measures_of, run_form
from storage.json_reader import DocumentError, JSONNode, named
from storage.quiet import QuietVerdict
from storage.records import ClientFacts, Phase, Run, RunStatus, Series

SCHEMA = "sharebench/series/1"

Document = dict[str, Any]


def series_document(series: Series) -> Document:
    """The JSON object of a series, with its form's averages; plain lists, dicts, numbers and strings."""
    form = run_form(series)
    target = series.target
    document: Document = {
        "schema": SCHEMA,
        **named(series, "id", "created_at", "status", "title", "label", "note", "question", "experiment"),
        "change": series.change and {**asdict(series.change), "also_changed": list(series.change.also_changed)},
        "command": series.command.value,
        "target": named(target, "protocol", "host", "port", "share", "path", "user"),
        "client": asdict(series.client),
        "link_bits_per_second": series.link_bits_per_second,
        "runs": [_run_document(row.measures, row.unusual, run) for row, run in _rows_with_runs(form)],
        "failed_attempts": [
            _run_document(measures_of(run, series.link_bits_per_second), None, run) for run in series.failed_attempts
        ],
        "resumed_at": list(series.resumed_at),
        "running": series.running_by
        and {
            "process": series.running_by.process_id,
            "host": series.running_by.host,
            "since": series.running_by.since,
        },
        "left_behind": None if series.running_by else series.scratch_path,
        "average": form.average and asdict(form.average),
        "deviation": form.deviation and asdict(form.deviation),
        "confidence": form.confidence
        and {
            "level": 0.95,
            "low_bytes_per_second": form.confidence[0],
            "high_bytes_per_second": form.confidence[1],
        },
        "shown": form.shown and asdict(form.shown),
        "quiet": series.quiet.to_json() if series.quiet else {"verdict": QuietVerdict.UNKNOWN.value},
        "environment": {side: dict(series.environment.get(side, {})) for side in ("client", "server", "path")},
        **named(series, "ceiling_bytes_per_second", "error", "base_id"),
        "decision": series.decision.value if series.decision else None,
        "plan": series.plan.to_json() if series.plan else {},
        "findings": [finding_document(finding) for finding in findings_of(series)],
        "advice": [{"key": said.key, "text": said.text} for said in advice(series)],
    }
    if target.domain:
        document["target"]["domain"] = target.domain
    return document


def blank_document(link_bits_per_second: int | None, runs: int) -> Document:
    """The JSON object of a form that is still to be filled: every value to be given is null."""
    run = dict.fromkeys(("size_bytes", "seconds", "open_seconds", "close_seconds", "reason", "error"))
    return {
        "schema": SCHEMA,
        "id": None,
        "created_at": None,
        "status": "complete",
        "title": "",
        "label": "",
        "note": "",
        "command": None,
        "target": dict.fromkeys(("protocol", "host", "port", "share", "path", "user")),
        "client": dict.fromkeys(ClientFacts.__dataclass_fields__),
        "link_bits_per_second": link_bits_per_second,
        "runs": [{"number": n + 1, "phase": "measured", "status": "valid", **run} for n in range(runs)],
    }


def _rows_with_runs(form: SeriesSummary) -> list[tuple[Any, Run]]:
    runs = {(run.phase, run.number): run for run in form.series.runs}
    return [(row, runs[row.phase, row.number]) for row in form.all_rows]


def _run_document(measures: RunMeasures, unusual: str | None, run: Run) -> Document:
    return {
        **named(run, "number", "phase", "status", "reason"),
        "unusual": unusual is not None,
        **named(run, "started_at", "size_bytes", "seconds", "open_seconds", "close_seconds"),
        **named(measures, "bytes_per_second", "bits_per_second", "percent_of_link"),
        "error": run.error,
        "progress": [[seconds, moved] for seconds, moved in run.progress],
    }


_OURS = frozenset({"scratch_path", "imported_at", "running_by"})
_OF_A_RUN = frozenset({"status", "started_at", "size_bytes"})
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
        if not place.value.keys() >= _OF_A_RUN:
            for name in sorted(_OF_A_RUN):
                place.at(name)
    for place, run in zip(top.at("runs").items(), series.runs, strict=True):
        if (run.phase, run.number) in seen:
            raise DocumentError(f"{place.name}: a second {run.phase.value} run {run.number}")
        seen.add((run.phase, run.number))
        if run.status is not RunStatus.FAILED and not (run.seconds and run.seconds > 0):
            raise DocumentError(f"{place.name}.seconds: expected a number above 0")
        if run.status is not RunStatus.FAILED and not run.size_bytes:
            raise DocumentError(f"{place.name}.size_bytes: expected a whole number of at least 1")
