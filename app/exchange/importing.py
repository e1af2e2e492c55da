"""Reads recordings from files that ``export`` wrote, from a filled-in form (CSV), or from the result of a program.

``storing`` puts them into the notebook. All of a file is imported, or nothing.

A recording is a series, or has series inside, such as a trial.
"""

import codecs
from dataclasses import dataclass
from typing import Any

from app.exchange import foreign_files
from app.recording import kind as recording_kind
from forms import importers
from forms.importers import disk_marks, filled_form
from forms.importers.form_lines import NoForm
from storage import records
from storage.json_reader import DocumentError
from storage.quick.records import QUICK
from storage.recordings import SERIES


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

    if not foreign_files.may_be_json(content):
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
        # The lines of some programs begin with a bracket, too.
        printed_by_program = "" if recordings else foreign_files.text_of_program(content)
        raise DocumentError(printed_by_program or (f"{name}.{error}" if name else str(error))) from error
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
