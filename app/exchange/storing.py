"""Stores imported recordings: all of a file, or nothing; those that the notebook has are left as they are."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter

from app.base.errors import UsageError
from app.exchange.importing import ImportedRecording
from forms.layout import visible
from storage import records, shared
from storage.notebook import Notebook

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
"""What an id may look like."""


@dataclass(frozen=True, slots=True)
class Import:
    """What came of an import."""

    new: tuple[str, ...]
    """The ids of what was stored: of the series inside a recording, where it has any."""
    already_there: tuple[str, ...]
    """The ids of recordings that the notebook had, and that are the same."""
    series: tuple[records.Series, ...] = ()
    """All series that were stored."""


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
