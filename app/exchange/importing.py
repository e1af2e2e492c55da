"""Import documents, all or nothing."""

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_type_hints

from app import kinds
from app.base.errors import UsageError
from app.kinds import KINDS, Kind
from forms import importers
from forms.importers.filled_form import KINDS as TRIALS
from forms.importers.filled_form import Given, ImportedTrial, series_from_csv, trial_from_document
from forms.layout import visible
from forms.series.document import series_from_document, series_inside
from storage.changes import TrialPlan
from storage.isolation import Isolation
from storage.json_reader import DocumentError, JSONNode, schema_of
from storage.load.records import Load, LoadPoint, Scenario
from storage.load.tables import ELSEWHERE
from storage.notebook import Notebook
from storage.recordings import OURS, SERIES, Recording
from storage.records import HEAD, Experiment, ExperimentKind, Series, new_series_id, utc_now
from storage.shared import LAST, LAST_LOAD

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A trial, survey or self-test with its series."""

    id: str
    experiment: Experiment
    series: tuple[Series, ...]
    label: str = ""
    note: str = ""
    question: str = ""
    trial: ImportedTrial | None = None


@dataclass(frozen=True, slots=True)
class ImportedRecording:
    kind: Kind
    record: Any

    @property
    def series(self) -> tuple[Series, ...]:
        if self.kind.name == SERIES:
            return (self.record,)
        return self.record.series if isinstance(self.record, Whole) else ()


@dataclass(frozen=True, slots=True)
class Import:
    new: tuple[str, ...]
    there: tuple[str, ...]
    series: tuple[Series, ...] = ()


def read(content: bytes, given: Given) -> list[ImportedRecording]:
    """Raises DocumentError, naming the first error."""
    importers.check_utf_8(content)
    if content.removeprefix(codecs.BOM_UTF8).lstrip()[:1] not in {b"{", b"["}:
        return [ImportedRecording(KINDS[SERIES], importers.check(one)) for one in series_from_csv(content, given)]
    found: list[ImportedRecording] = []
    name = ""
    try:
        for name, document in importers.documents_of(importers.json_text_of(content)):  # noqa: B007  an error names it
            found.append(recording_in(document))
    except DocumentError as error:
        raise DocumentError(f"{name}.{error}" if name else str(error)) from error
    if not found:
        raise DocumentError("an empty array: expected objects that `sharebench export` wrote")
    return found


def recording_in(document: Any) -> ImportedRecording:
    """Raises DocumentError."""
    schema = document.get("schema") if isinstance(document, dict) else None
    kind = next((one for one in KINDS.values() if one.schema == schema), KINDS[SERIES])
    if kind.name == SERIES:
        return ImportedRecording(kind, importers.check(series_from_document(document)))
    if kind.whole:
        return ImportedRecording(kind, _whole(kind, document))
    node = JSONNode("", document).object()
    if kind.from_document is not None:
        record = kind.from_document(node)
    else:
        record = node.record(kind.record, leave=OURS, needs=("id", "created_at"))
    for target in (*getattr(record, "targets", ()), *filter(None, [getattr(record, "target", None)])):
        importers.check_target(target)
    return ImportedRecording(kind, record)


def _whole(kind: Kind, document: dict[str, Any]) -> Whole:
    top = JSONNode("", document)
    trial = trial_from_document(document) if kind.schema in TRIALS else None
    if trial is not None:
        experiment, series = trial.experiment, tuple(importers.check(one) for one in trial.series)
    else:
        places = top.maybe("parts").items()
        if not places:
            raise DocumentError(f"parts: this {kind.name} has no series inside: export it again, or its series")
        series = tuple(importers.check(series_inside(place)) for place in places)
        name = series[0].experiment or f"{kind.name} {series[0].created_at[:19].replace('T', ' ')}"
        series = tuple(replace(one, experiment=name) for one in series)
        begun = min(one.created_at for one in series)
        experiment = Experiment(name=name, kind=ExperimentKind(kind.name), created_at=begun)
    texts = {name: top.maybe(name).read(str | None) or "" for name in ("id", "label", "note", "question")}
    return Whole(experiment=experiment, series=series, trial=trial, **texts)


def store(notebook: Notebook, found: Sequence[ImportedRecording], file: str, *, as_new: bool) -> Import:
    """All or nothing. Raises UsageError if a stored recording differs."""
    if as_new:
        found = _renamed(found)
    _check_ids(notebook, found, file)
    with notebook.at_once():
        known = [(one, _is_there(notebook, one, file)) for one in found]
        there = [one.record.id for one, stored in known if stored]
        new = [one for one, stored in known if not stored]
        series: list[Series] = [one.record for one in new if one.kind.name == SERIES]
        notebook.add_all(series)
        for one in new:
            if isinstance(one.record, Whole):
                series += _store_whole(notebook, one.record, file)
            elif one.kind.name != SERIES:
                kinds.add_record(notebook, one.kind, one.record, utc_now())
    ids = [each for one in new for each in ([part.id for part in one.series] or [one.record.id])]
    return Import(tuple(ids), tuple(there), tuple(series))


def _store_whole(notebook: Notebook, whole: Whole, file: str) -> Sequence[Series]:
    name = whole.experiment.name
    stored = notebook.recordings_of([series.id for series in whole.series])
    if stored and len(stored) < len(whole.series):
        raise UsageError(f"some series of {name!r} are in the notebook and some are not: import it with --as-new")
    if stored:
        raise UsageError(
            f"the series of {name!r} are in the notebook and are not what {file} says: import it with --as-new"
        )
    if notebook.experiment_called(name) is not None and notebook.heads(1, experiment=name):
        raise UsageError(f"{name!r} is in the notebook already, with other series: {file} cannot be imported")
    experiment = replace(whole.experiment, recording_id=whole.id or None)
    recording_id = notebook.add_experiment(experiment, note=whole.note, question=whole.question, imported_at=utc_now())
    if recording_id and whole.label:
        notebook.describe(recording_id, label=whole.label)
    notebook.add_all(whole.series)
    if whole.trial:
        notebook.set_trial(name, whole.trial.plan)
        for slot in whole.trial.slots:
            notebook.add_slot(slot)
    return whole.series


def _renamed(found: Sequence[ImportedRecording]) -> list[ImportedRecording]:
    fresh = [(each, [new_series_id() for _ in each.series]) for each in found]
    names = {one.id: new for each, ids in fresh for one, new in zip(each.series, ids, strict=True)}
    result = []
    for each, ids in fresh:
        series = [
            replace(one, id=new, base_id=names.get(one.base_id or "", one.base_id))
            for one, new in zip(each.series, ids, strict=True)
        ]
        if each.kind.name == SERIES:
            record: Any = series[0]
        elif isinstance(each.record, Whole):
            trial = each.record.trial
            if trial is not None:
                slots = tuple(replace(slot, series_id=names[slot.series_id]) for slot in trial.slots)
                trial = replace(trial, slots=slots)
            record = replace(each.record, id=new_series_id(), series=tuple(series), trial=trial)
        else:
            record = replace(each.record, id=new_series_id())
        result.append(ImportedRecording(each.kind, record))
    return result


def _check_ids(notebook: Notebook, found: Sequence[ImportedRecording], file: str) -> None:
    taken = {LAST, LAST_LOAD, *(baseline.name for baseline in notebook.baselines())}
    checked: set[str] = set()
    for recording in found:
        kind = recording.kind.name
        ids = [series.id for series in recording.series]
        for recording_id in filter(None, ids if kind == SERIES else [recording.record.id, *ids]):
            is_name = recording_id in taken or notebook.experiment_called(recording_id) is not None
            if not _ID.fullmatch(recording_id) or is_name:
                raise UsageError(
                    f"{file}: no {kind} can be called {visible(recording_id[:40])!r} here: import it with --as-new"
                )
            if recording_id in checked:
                raise UsageError(f"{file} has two recordings of the id {recording_id}: import it with --as-new")
            checked.add(recording_id)


def _is_there(notebook: Notebook, found: ImportedRecording, file: str) -> bool:
    record = found.record
    if isinstance(record, Whole):
        stored = notebook.all_of([one.id for one in record.series])
        return len(stored) == len(record.series) and all(map(_same, stored, record.series))
    heads = notebook.recordings_of([record.id])
    if not heads:
        return False
    if heads[0].kind == found.kind.name and _same(kinds.stored_record(notebook, heads[0]), record):
        return True
    raise UsageError(
        f"{found.kind.name} {record.id} is in the notebook and is not what {file} says: import it with --as-new"
    )


def _same(one: Any, other: Any) -> bool:
    """Whether the measurements are equal; labels and notes may differ."""
    for name in ("command", "target", "targets", "runs", "points", "script"):
        if getattr(one, name, None) != getattr(other, name, None):
            return False
    return isinstance(one, Series | Load | Isolation) or one == other


_LEFT = frozenset({"scratch_path", "scratch_folder", "left_behind", "server_ssh", "smb_conf", "apply", "revert"})
"""Fields that lead to a server, or say what to remove there."""


def json_schema(kind: Kind) -> dict[str, Any]:
    """JSON Schema of the kind's documents, made of its record; keys beyond it are computed from the others."""
    apart = {kind.record: OURS | _LEFT, Series: OURS | _LEFT, LoadPoint: ELSEWHERE, Scenario: frozenset({"think"})}
    records: dict[str, Any] = {}
    properties: dict[str, Any] = {"schema": {"const": kind.schema}}
    if kind.whole:
        series = schema_of(Series, records, apart)
        required = ["id", "created_at", "status"]
        hints = get_type_hints(Recording)
        properties |= {name: schema_of(hints[name], records, apart) for name in HEAD}
        properties |= {"parts": {"type": "array", "items": series}}
        properties |= {"series": {"type": "array", "items": {"anyOf": [series, {"type": "string"}]}}}
        if kind.record is TrialPlan:
            properties |= {"plan": schema_of(TrialPlan, records, apart)}
    else:
        schema_of(kind.record, records, apart)
        head = records.pop(kind.record.__name__)
        properties, required = properties | head["properties"], head["required"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": kind.schema,
        "type": "object",
        "properties": properties,
        "required": ["schema", *required],
        "$defs": records,
    }
