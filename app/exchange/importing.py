"""Import documents, all or nothing."""

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any, get_type_hints

from app.base.errors import UsageError
from app.recording.kind import KINDS, Kind, kind_with_schema
from forms import importers
from forms.importers.filled_form import FormDefaults, series_from_csv
from forms.layout import visible
from storage.changes import TrialPlan
from storage.json_reader import DocumentError
from storage.json_schema import schema_of
from storage.load.records import LoadPoint, Scenario
from storage.load.tables import ELSEWHERE
from storage.notebook import Notebook
from storage.recordings import OURS, SERIES, Recording
from storage.records import HEAD, Series, new_series_id, utc_now
from storage.shared import LAST, LAST_LOAD

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")


@dataclass(frozen=True, slots=True)
class ImportedRecording:
    kind: Kind[Any]
    record: Any

    @property
    def series(self) -> tuple[Series, ...]:
        """The series that it is or has inside."""
        return self.kind.series_of(self.record)

    @property
    def ids(self) -> list[str]:
        """Its id and those of the series inside."""
        return self.kind.ids_of(self.record)


@dataclass(frozen=True, slots=True)
class Import:
    """What came of an import."""

    new: tuple[str, ...]
    """The ids of what was stored: of the series inside a recording, where it has any."""
    already_there: tuple[str, ...]
    """The ids of recordings that the notebook had, and that are the same."""
    series: tuple[Series, ...] = ()
    """All series that were stored."""


def read(content: bytes, defaults: FormDefaults) -> list[ImportedRecording]:
    """Raises DocumentError, naming the first error."""
    importers.check_utf_8(content)
    first_byte = content.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    if first_byte not in {b"{", b"["}:
        series_of_rows = map(importers.check, series_from_csv(content, defaults))
        return [ImportedRecording(KINDS[SERIES], series) for series in series_of_rows]

    recordings: list[ImportedRecording] = []
    name = ""
    try:
        for name, document in importers.documents_of(importers.json_text_of(content)):  # noqa: B007  an error names it
            recordings.append(recording_in(document))
    except DocumentError as error:
        raise DocumentError(f"{name}.{error}" if name else str(error)) from error
    if not recordings:
        raise DocumentError("an empty array: expected objects that `sharebench export` wrote")
    return recordings


def recording_in(document: Any) -> ImportedRecording:
    """The recording in a document; one without a known schema is read as a series. Raises DocumentError."""
    schema = document.get("schema") if isinstance(document, dict) else None
    kind = kind_with_schema(schema) or KINDS[SERIES]
    return ImportedRecording(kind, kind.from_document(document))


def store(notebook: Notebook, recordings: Sequence[ImportedRecording], file: str, *, as_new: bool) -> Import:
    """All or nothing. Raises UsageError if a stored recording differs."""
    if as_new:
        recordings = _with_new_ids(recordings)
    _check_ids(notebook, recordings, file)

    with notebook.at_once():
        already_there: list[str] = []
        new: list[ImportedRecording] = []
        for recording in recordings:
            if recording.kind.is_stored(notebook, recording.record, file):
                already_there.append(recording.record.id)
            else:
                new.append(recording)

        # What others refer to is stored first, and all of it at once.
        first = [recording for recording in new if recording.kind.comes_first]
        others = [recording for recording in new if not recording.kind.comes_first]
        for kind, alike in groupby(first, key=attrgetter("kind")):
            kind.add_imported(notebook, [recording.record for recording in alike], utc_now(), file)
        for recording in others:
            recording.kind.add_imported(notebook, [recording.record], utc_now(), file)

    ids = [shown_id for recording in new for shown_id in _shown_ids(recording)]
    series = [series for recording in (*first, *others) for series in recording.series]
    return Import(tuple(ids), tuple(already_there), tuple(series))


def _shown_ids(recording: ImportedRecording) -> list[str]:
    """The ids of the series inside, else its own."""
    return [series.id for series in recording.series] or [recording.record.id]


def _with_new_ids(recordings: Sequence[ImportedRecording]) -> list[ImportedRecording]:
    fresh_ids = [[new_series_id() for _ in recording.series] for recording in recordings]
    new_ids: dict[str, str] = {}
    for recording, ids in zip(recordings, fresh_ids, strict=True):
        for series, new_id in zip(recording.series, ids, strict=True):
            new_ids[series.id] = new_id

    renamed = []
    for recording, ids in zip(recordings, fresh_ids, strict=True):
        series_inside = [
            replace(series, id=new_id, base_id=new_ids.get(series.base_id or "", series.base_id))
            for series, new_id in zip(recording.series, ids, strict=True)
        ]
        record = recording.kind.with_new_ids(recording.record, series_inside, new_ids)
        renamed.append(ImportedRecording(recording.kind, record))
    return renamed


def _check_ids(notebook: Notebook, recordings: Sequence[ImportedRecording], file: str) -> None:
    """Raises UsageError for an id that cannot be one here, or that two recordings of the file have."""
    names = {LAST, LAST_LOAD, *(baseline.name for baseline in notebook.baselines())}

    checked: set[str] = set()
    for recording in recordings:
        for recording_id in filter(None, recording.ids):
            is_name = recording_id in names or notebook.experiment_called(recording_id) is not None
            if not _ID.fullmatch(recording_id) or is_name:
                shown_id = visible(recording_id[:40])
                raise UsageError(
                    f"{file}: no {recording.kind.name} can be called {shown_id!r} here: import it with --as-new"
                )

            if recording_id in checked:
                raise UsageError(f"{file} has two recordings of the id {recording_id}: import it with --as-new")
            checked.add(recording_id)


_LEFT = frozenset({"scratch_path", "scratch_folder", "left_behind", "server_ssh", "smb_conf", "apply", "revert"})
"""Fields that lead to a server, or say what to remove there."""


def json_schema(kind: Kind[Any]) -> dict[str, Any]:
    """JSON Schema of the kind's documents, made of its record; keys beyond it are computed from the others."""
    apart = {kind.record: OURS | _LEFT, Series: OURS | _LEFT, LoadPoint: ELSEWHERE, Scenario: frozenset({"think"})}
    records: dict[str, Any] = {}
    properties: dict[str, Any] = {"schema": {"const": kind.schema}}

    if kind.is_made_of_series:
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
        properties |= head["properties"]
        required = head["required"]

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": kind.schema,
        "type": "object",
        "properties": properties,
        "required": ["schema", *required],
        "$defs": records,
    }
