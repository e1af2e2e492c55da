"""Imports recordings from files that ``export`` wrote, from a filled-in form (CSV), or from the result of a program.

All of a file is imported, or nothing.

A recording is a series, or has series inside, such as a trial.
"""

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from app.base.errors import UsageError
from app.exchange import foreign_files
from app.recording import kind as recording_kind
from forms import importers
from forms.importers import disk_marks, filled_form
from forms.importers.form_lines import NoForm
from forms.layout import visible
from storage import records, shared
from storage.json_reader import DocumentError
from storage.notebook import Notebook
from storage.quick.records import QUICK
from storage.recordings import SERIES

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
"""What an id may look like."""


@dataclass(frozen=True, slots=True)
class ImportedRecording:
    """A recording that was read from a file, and is not stored yet."""

    kind: recording_kind.Kind[Any]
    record: Any
    """Of the type ``kind.record``, or a ``Whole`` where the kind is made of series."""

    @property
    def series(self) -> tuple[records.Series, ...]:
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
    series: tuple[records.Series, ...] = ()
    """All series that were stored."""


def read(content: bytes, defaults: filled_form.FormDefaults) -> list[ImportedRecording]:
    """The recordings in a file; ``defaults`` are for what a filled-in form leaves open. Raises DocumentError."""
    foreign_files.refuse_other_files(content)
    content = foreign_files.utf_8_of(content)
    try:
        importers.check_utf_8(content)
    except DocumentError as error:
        read_content = foreign_files.utf_8_of_country(content)
        if read_content is None:
            raise foreign_files.bytes_in_words(content, error) from error
        content = read_content

    first_byte = content.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    if first_byte not in {b"{", b"["}:
        text = content.removeprefix(codecs.BOM_UTF8).decode()
        if disk_marks.is_disk_mark(text):
            quick_test = disk_marks.quick_test_from_disk_mark(text, defaults)
            return [ImportedRecording(recording_kind.KINDS[QUICK], quick_test)]
        return [
            ImportedRecording(recording_kind.KINDS[SERIES], series) for series in _series_of_forms(content, defaults)
        ]

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


def _series_of_forms(content: bytes, defaults: filled_form.FormDefaults) -> list[records.Series]:
    try:
        series_of_forms = filled_form.series_from_csv(content, defaults)
    except NoForm as error:
        raise DocumentError(foreign_files.form_for_reading(content) or str(error)) from error
    return [importers.check(series) for series in series_of_forms]


def recording_in(document: Any) -> ImportedRecording:
    """The recording in a document; one without a known schema is read as a series. Raises DocumentError."""
    foreign_files.check_document(document)
    schema = document.get("schema") if isinstance(document, dict) else None
    kind = recording_kind.kind_with_schema(schema) or recording_kind.KINDS[SERIES]
    return ImportedRecording(kind, kind.from_document(document))


def store(notebook: Notebook, recordings: Sequence[ImportedRecording], file: str, *, as_new: bool) -> Import:
    """Store all of the file's recordings or none; with ``as_new``, under new ids. Raises UsageError.

    What the notebook has already is left as it is; a recording that differs from the stored one of its id is an error.
    """
    if as_new:
        recordings = _with_new_ids(recordings)
    _check_ids(notebook, recordings, file)

    with notebook.transaction():
        already_there: list[str] = []
        new: list[ImportedRecording] = []
        for recording in recordings:
            if recording.kind.is_stored(notebook, recording.record, file):
                already_there.append(recording.record.id)
            else:
                new.append(recording)

        # What others refer to is stored first, and all of one kind at once.
        first = [recording for recording in new if recording.kind.comes_first]
        others = [recording for recording in new if not recording.kind.comes_first]
        for kind, of_one_kind in groupby(first, key=attrgetter("kind")):
            kind.add_imported(notebook, [recording.record for recording in of_one_kind], records.utc_now(), file)
        for recording in others:
            recording.kind.add_imported(notebook, [recording.record], records.utc_now(), file)

    ids: list[str] = []
    for recording in new:
        ids += _shown_ids(recording)
    series: list[records.Series] = []
    for recording in (*first, *others):
        series += recording.series
    return Import(tuple(ids), tuple(already_there), tuple(series))


def _shown_ids(recording: ImportedRecording) -> list[str]:
    """The ids of the series inside, else its own."""
    return [series.id for series in recording.series] or [recording.record.id]


def _with_new_ids(recordings: Sequence[ImportedRecording]) -> list[ImportedRecording]:
    # Known all before the first is used: a series may have one of a later recording as its base.
    fresh_ids = [[records.new_series_id() for _ in recording.series] for recording in recordings]
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
    # Words by which the commands find recordings, so that no id may be one of them.
    names = {shared.LAST, shared.LAST_LOAD, *(baseline.name for baseline in notebook.baselines())}

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
