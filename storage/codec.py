"""Rows of the notebook made of a series' records, and records made of its rows.

A *row* is a dict of a table's columns; `storage.text_connection` has how text is kept.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

from storage import errors, owners, plan, records
from storage.json_reader import JSONNode
from storage.request_times import RunRequests
from storage.text_connection import as_it_was

Row = dict[str, Any]
"""The values of a table's row by column."""
_P = ParamSpec("_P")
_T = TypeVar("_T")

_SAME_IN_ROW = ("id", "title", "experiment", "base_id", "link_bits_per_second", "ceiling_bytes_per_second")
"""Columns of a series that are fields of its record as they stand."""
SERIES_WRITTEN_BY_PEOPLE = ("title", "experiment", "decision")
"""Columns that people change, and measuring does not."""

# The same of a series' client and target, whose fields are columns of the series, and of a run. Fields that are not
# named are written by `series_to_row` and `run_to_row`, each in a form of its own.
_CLIENT = ("dialect", "signing", "encryption", "block_bytes", "in_flight")
_TARGET = ("protocol", "host", "port", "share", "path", "user", "domain")
_RUN = ("number", "reason", "started_at", "size_bytes", "seconds", "open_seconds", "close_seconds", "error")

_RECORDING_COLUMNS = ("series_id", "load_id", "isolation_id", "recording_id", "id")
"""Columns that name the recording which a row belongs to, in one table or another."""


def damaged(row: object, fault: object) -> errors.DamagedNotebookError:
    """The error about a row with a value that was never stored; it names the recording that the row belongs to."""
    if isinstance(row, Mapping):
        for name in _RECORDING_COLUMNS:
            if isinstance(row.get(name), str):
                return errors.UnreadableRecordingError(row[name], fault)
    return errors.DamagedNotebookError(fault)


def reports_damage(read: Callable[_P, _T]) -> Callable[_P, _T]:
    """A decorator for what reads rows: reports a value of the wrong kind as damage of the notebook.

    The first argument, where it is a row, tells which recording the error is of. Our own mistakes (a TypeError) stay
    what they are.
    """

    @wraps(read)
    def read_or_report(*arguments: _P.args, **options: _P.kwargs) -> _T:
        try:
            return read(*arguments, **options)
        except errors.UnreadableRecordingError:  # a function of this kind was called by ``read``, and named it
            raise
        except (ValueError, LookupError, errors.DamagedNotebookError) as error:
            raise damaged(arguments[0] if arguments else None, error) from error

    return read_or_report


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Writes what a column holds as JSON."""


@reports_damage
def object_of(text: str) -> dict[str, records.JSONValue]:
    """The object in a column. Raises ValueError for any other JSON."""
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, found {text[:20]}")  # noqa: TRY004  a column's content, not a Python type
    return value


def series_to_row(series: records.Series) -> Row:
    """The row of the table ``series``; what all recordings have is in a row of ``recordings`` instead."""
    row: Row = {name: getattr(series, name) for name in _SAME_IN_ROW}
    row |= {name: getattr(series.client, name) for name in _CLIENT}
    row |= {name: getattr(series.target, name) for name in _TARGET}
    row |= {
        "command": series.command.value,
        "client": series.client.name,
        "client_version": series.client.version,
        "decision": series.decision.value if series.decision else None,
        "flushed": int(series.flushed),
        "plan": _json(series.plan.to_json() if series.plan else {}),
        "quiet": None if series.quiet is None else _json(series.quiet.to_json()),
    }
    return row | _change_to_columns(series.change)


def _change_to_columns(change: records.Change | None) -> Row:
    # Without a change all of them are None, as None has no such attribute.
    columns = {f"change_{name}": getattr(change, name, None) for name in records.Change.__dataclass_fields__}
    if change:
        columns["change_evidence"] = change.evidence.value
        columns["change_also_changed"] = _json(list(change.also_changed))
    return columns


@dataclass(slots=True, kw_only=True)
class SeriesHistory:
    """What other tables know of a series beside runs and facts."""

    failed_attempts: list[records.Run] = field(default_factory=list)
    """Runs that failed and were repeated."""
    resumed_at: list[str] = field(default_factory=list)
    """When it was resumed after an interruption, each time."""
    running_by: owners.Owner | None = None
    """The process that measures it; None where none does."""


@lru_cache(maxsize=64)  # most series have one of few plans
def _plan_from_column(text: str) -> plan.Plan | None:
    return plan.plan_from_json(JSONNode("plan", json.loads(text)).object())


@reports_damage
def series_from_row(
    row: Mapping[str, Any],
    runs: Iterable[records.Run] = (),
    environment: Mapping[str, Mapping[str, records.FactValue]] | None = None,
    history: SeriesHistory | None = None,
) -> records.Series:
    """The series of its row joined with that of ``recordings``, and of what other tables have of it.

    Without ``history``, as for a list, it has no attempts that failed, no resumptions and nobody who measures it.
    """
    history = history or SeriesHistory()
    leftovers = object_of(row["leftovers"] or "{}")

    return records.Series(
        id=row["id"],
        created_at=row["created_at"],
        status=records.SeriesStatus(row["status"]),
        error=row["error"],
        label=row["label"],
        note=row["note"],
        question=row["question"],
        title=row["title"],
        experiment=row["experiment"],
        experiment_kind=records.ExperimentKind(row["experiment_kind"]) if row["experiment_kind"] else None,
        base_id=row["base_id"],
        decision=records.Decision(row["decision"]) if row["decision"] else None,
        change=_change_from_columns(row),
        command=records.Command(row["command"]),
        target=_target_from_columns(row),
        client=_client_from_columns(row),
        link_bits_per_second=row["link_bits_per_second"],
        plan=_plan_from_column(row["plan"]),
        flushed=bool(row["flushed"]),
        scratch_path=as_it_was(leftovers.get("scratch_path")),
        ceiling_bytes_per_second=row["ceiling_bytes_per_second"],
        quiet=records.quiet_from_json(JSONNode("quiet", json.loads(row["quiet"]))) if row["quiet"] else None,
        environment=environment or {},
        runs=tuple(runs),
        failed_attempts=tuple(history.failed_attempts),
        resumed_at=tuple(history.resumed_at),
        imported_at=row["imported_at"],
        running_by=history.running_by,
    )


def _change_from_columns(row: Mapping[str, Any]) -> records.Change | None:
    if row["change_name"] is None:
        return None

    values = {name: row[f"change_{name}"] for name in records.Change.__dataclass_fields__}
    values["also_changed"] = json.loads(values["also_changed"] or "[]")
    return JSONNode("change", values).record(records.Change)


def _target_from_columns(row: Mapping[str, Any]) -> records.Target:
    return records.Target(
        protocol=row["protocol"],
        host=row["host"],
        port=row["port"],
        share=as_it_was(row["share"]),
        path=as_it_was(row["path"]),
        user=as_it_was(row["user"]),
        domain=row["domain"],
    )


def _client_from_columns(row: Mapping[str, Any]) -> records.ClientFacts:
    return records.ClientFacts(
        name=row["client"],
        version=row["client_version"],
        dialect=row["dialect"],
        signing=row["signing"],
        encryption=row["encryption"],
        block_bytes=row["block_bytes"],
        in_flight=row["in_flight"],
    )


@reports_damage
def experiment_from_row(row: Mapping[str, Any]) -> records.Experiment:
    return JSONNode("experiments", row).record(records.Experiment)


def run_to_row(series_id: str, run: records.Run) -> Row:
    row: Row = {name: getattr(run, name) for name in _RUN}
    return row | {
        "series_id": series_id,
        "phase": run.phase.value,
        "status": run.status.value,
        "progress": _json([[round(seconds, 4), moved] for seconds, moved in run.progress]),
        "requests": None if run.requests is None else _json(asdict(run.requests)),
    }


def attempt_to_row(series_id: str, attempt: int, run: records.Run) -> Row:
    """The row of a run that failed and was repeated; ``attempt`` counts those of a series."""
    row = run_to_row(series_id, run)
    # Their table has no such columns: all of them failed, none was judged by people, and what was answered by then is
    # not kept.
    del row["status"], row["reason"], row["requests"]
    return row | {"attempt": attempt}


@reports_damage
def owner_from_row(row: Mapping[str, Any]) -> owners.Owner:
    return owners.Owner(
        host=row["host"],
        boot_id=row["boot_id"],
        process_id=row["process_id"],
        process_started=row["process_started"],
        since=row["since"],
        renewed_at=row["renewed_at"],
    )


@reports_damage
def run_from_row(row: Mapping[str, Any]) -> records.Run:
    seconds = row["seconds"]
    if seconds is not None and not records.SHORTEST_SECONDS <= seconds <= records.LONGEST_SECONDS:
        raise ValueError(f"a run of {seconds} seconds")

    return records.Run(
        number=row["number"],
        phase=records.Phase(row["phase"]),
        status=records.RunStatus(row["status"]),
        reason=row["reason"],
        started_at=row["started_at"],
        size_bytes=row["size_bytes"],
        seconds=seconds,
        open_seconds=row["open_seconds"],
        close_seconds=row["close_seconds"],
        error=row["error"],
        progress=() if row["progress"] == "[]" else _progress(row["progress"]),
        requests=_requests(row.get("requests")),
    )


def _requests(text: str | None) -> RunRequests | None:
    return None if text is None else JSONNode("requests", json.loads(text)).record(RunRequests)


def _progress(text: str) -> tuple[tuple[float, int], ...]:
    """Pairs of seconds and bytes moved by then, from a column."""
    points = json.loads(text)
    if not isinstance(points, list) or not all(isinstance(point, list) for point in points):
        raise ValueError(f"expected pairs, found {text[:20]}")
    return tuple((seconds, moved_bytes) for seconds, moved_bytes in points)
