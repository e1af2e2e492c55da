"""Takes recordings of another notebook in: each whole or not at all, merged with what people wrote about it here.

Texts are labels and notes. An *entry* is one recording as :mod:`app.exchange.giving` sends it: its document, and the
texts of it and of its parts. Parts are the series of a whole, such as a trial or a survey; *here* is the notebook that
takes, *there* the one that gives.
"""

import json
from dataclasses import dataclass, field
from sqlite3 import IntegrityError
from typing import Any

from app.base.errors import UsageError
from app.exchange import copies, giving, importing, storing
from app.recording.made_of_series import Whole
from storage.errors import RefusedError
from storage.json_reader import DocumentError, JSONNode
from storage.notebook import Notebook
from storage.received import texts_received
from storage.recordings import SERIES, Recording, held_text
from storage.shared import Texts

LONGEST_PROBLEM = 500
"""Characters of a line that another machine wrote; ours have fewer."""
_FEW_PROBLEMS = 3
"""The number that is told in one line where a notebook is imported whole or not at all."""


@dataclass(slots=True)
class Taken:
    """What came of recordings that were received; is added to with each part."""

    new: list[str] = field(default_factory=list)
    """The ids of recordings that were not here."""
    changed: list[str] = field(default_factory=list)
    """The ids of recordings that were here, and have other labels, notes or runs now."""
    problems: list[str] = field(default_factory=list)
    """Why a recording was not taken, or not sent, though both sides did as they should; a sentence each."""
    unreadable: list[str] = field(default_factory=list)
    """Why what was sent for a recording is none: there the other side is at fault."""

    def add(self, other: "Taken") -> None:
        self.new += other.new
        self.changed += other.changed
        self.problems += other.problems
        self.unreadable += other.unreadable

    def to_json(self) -> dict[str, list[str]]:
        """As an answer of the worker, which an older version understands too."""
        return {"new": self.new, "changed": self.changed, "problems": [*self.problems, *self.unreadable]}


@dataclass(frozen=True, slots=True)
class _Received:
    """A recording that was sent, and what people wrote about it there."""

    recording: importing.ImportedRecording
    texts: dict[str, Texts]
    """By the id of the recording, and of each of its parts."""

    @property
    def ids(self) -> list[str]:
        recording = self.recording
        return list(dict.fromkeys([recording.record.id, *(series.id for series in recording.series)]))


def take_notebook(notebook: Notebook, other: Notebook, file: str) -> Taken:
    """Import all that another notebook file has, or nothing. Raises UsageError.

    A recording that was measured here and has further runs there is completed: so comes back what was measured into a
    copy while the notebook was lost.
    """
    missing_ids = list(other.progress())
    outcome = Taken()
    with notebook.transaction():
        while missing_ids:
            ids_dealt_with, entries = giving.next_part(other, missing_ids)
            ids_in_part = set(ids_dealt_with)

            as_sent = json.loads(json.dumps(entries))  # no tuples and no enums, as through ssh
            outcome.add(take(notebook, as_sent, file, completes_ours=True))
            missing_ids = [recording_id for recording_id in missing_ids if recording_id not in ids_in_part]

        # Raised within: so nothing of it is kept.
        problems = [*outcome.problems, *outcome.unreadable]
        if problems:
            raise UsageError("; ".join(problems[:_FEW_PROBLEMS]))
    return outcome


def take(notebook: Notebook, entries: Any, host: str, *, completes_ours: bool = False) -> Taken:
    """Take the entries of a part in, which came from ``host``.

    With ``completes_ours`` a recording that was measured here may be replaced by a copy with further runs, else only
    one that was imported. An entry that cannot be taken is told in the outcome, and the others are taken. Raises
    DocumentError where no entry is a recording.
    """
    outcome = Taken()
    all_received = _read_entries(entries, outcome)

    with notebook.transaction():
        for received in all_received:
            try:
                # One within the other: what fails is undone by itself.
                with notebook.transaction():
                    _take_recording(notebook, received, host, outcome, completes_ours=completes_ours)
            except (UsageError, RefusedError) as error:
                outcome.problems.append(str(error))
            except (IntegrityError, OverflowError) as error:
                outcome.unreadable.append(f"{received.recording.record.id}: {error}")
    return outcome


def _read_entries(entries: Any, outcome: Taken) -> list[_Received]:
    """The recordings sent; what could not be sent or read is added to ``outcome``. Raises DocumentError as `take`.

    An entry has a ``problem`` in place of a recording that the other side could not send.
    """
    all_received: list[_Received] = []
    errors: list[DocumentError] = []
    places = JSONNode("entries", entries).items()
    for place in places:
        try:
            problem = place.maybe("problem").read(str | None)
            if problem:
                outcome.problems.append(problem[:LONGEST_PROBLEM])
            else:
                all_received.append(_read_entry(place))
        except DocumentError as error:
            errors.append(error)

    if errors and len(errors) == len(places):
        raise errors[0]
    outcome.unreadable += map(str, errors)
    return all_received


def _read_entry(place: JSONNode) -> _Received:
    """The recording and texts of one entry. Raises DocumentError."""
    recording = importing.recording_in(place.at("document").value)
    record = recording.record
    if not record.id:
        raise DocumentError(f"{place.name}.document.id: is missing")

    kind_by_id = {record.id: recording.kind.name} | {series.id: SERIES for series in recording.series}
    all_texts = place.at("texts").object()
    texts = {}
    for recording_id, kind in kind_by_id.items():
        if recording_id in all_texts.value:
            texts[recording_id] = texts_received(all_texts.at(recording_id), kind)
    return _Received(recording, texts)


def _take_recording(
    notebook: Notebook, received: _Received, host: str, outcome: Taken, *, completes_ours: bool
) -> None:
    """Store a new recording, or a copy that goes on from the one here; in any case merge the texts.

    What came of it is added to ``outcome``. Raises UsageError where it is another recording than that of its id here.
    """
    record_id = received.recording.record.id
    texts_before = notebook.texts_of(received.ids)
    stored = next(iter(notebook.recordings_of([record_id])), None)

    if stored is None:
        _check_new(notebook, received, host)
        storing.store(notebook, [received.recording], host, as_new=False)
        is_stored_anew = True
    else:
        is_stored_anew = _goes_on(notebook, received, stored, host, outcome, completes_ours=completes_ours)
        if is_stored_anew:
            _replace(notebook, received, stored, host)

    # Storing anew has removed what people wrote here, so it is kept again, merged or not.
    changed_ids = _merge_texts(notebook, received, texts_before, is_stored_anew=is_stored_anew)

    # Told last: where something fails, the transaction takes all of it back.
    outcome.changed += changed_ids
    if stored is None:
        outcome.new.append(record_id)


def _merge_texts(
    notebook: Notebook, received: _Received, texts_before: dict[str, Texts], *, is_stored_anew: bool
) -> list[str]:
    """Keep the texts of both sides together; returns the ids of recordings that were here and have changed."""
    changed_ids: list[str] = []
    for recording in notebook.recordings_of(received.ids):
        texts_sent = received.texts.get(recording.id)
        texts_here = texts_before.get(recording.id)
        merged = texts_sent or texts_here
        if texts_here and texts_sent:
            merged = texts_here.merged(texts_sent)

        if merged and (merged != texts_here or is_stored_anew):
            notebook.keep_texts(recording.id, merged)
            if texts_here:
                changed_ids.append(recording.id)
    return changed_ids


def _goes_on(
    notebook: Notebook, received: _Received, stored: Recording, host: str, outcome: Taken, *, completes_ours: bool
) -> bool:
    """Whether the copy received goes on from what is stored, and takes its place.

    It does not where it has nothing further, nor while the stored one is being measured. Where that was measured here,
    it does only with ``completes_ours``; else this is a problem of the outcome. Raises UsageError for another
    recording of the same id, and with ``completes_ours`` also while the stored one is being measured.
    """
    recording_text = f"{stored.kind} {stored.id}"
    copy = copies.copy_received(notebook, stored, received.recording)
    if copy is copies.Copy.DIFFERENT:
        raise UsageError(
            f"{recording_text} is another one here than on {host}, so neither was changed: export the one you"
            " need there and import it with --as-new, or delete one of them"
        )
    if completes_ours and stored.lease is not None and stored.running:
        raise UsageError(f"{held_text(stored.id, stored.lease, stored.kind)}: import {host} when that has ended")
    if copy is copies.Copy.NO_FURTHER or stored.running:
        return False

    is_measured_here = not stored.imported_at
    if is_measured_here and not completes_ours:
        outcome.problems.append(f"{recording_text} goes on, on {host}: here it stays as it was measured")
        return False
    return True


def _replace(notebook: Notebook, received: _Received, stored: Recording, host: str) -> None:
    """Store the copy received in place of the stored recording; what referred to that one refers to it again."""
    removed = notebook.remove(stored.id)
    storing.store(notebook, [received.recording], host, as_new=False)
    notebook.follow_again(removed)


def _check_new(notebook: Notebook, received: _Received, host: str) -> None:
    """A recording that is new here has no parts that are here, and is no part of a whole that is. Raises UsageError."""
    recording = received.recording
    kind = recording.kind.name
    record_id = recording.record.id
    if isinstance(recording.record, Whole):
        for part_here in notebook.recordings_of([series.id for series in recording.series]):
            raise UsageError(f"{kind} {record_id} of {host} has series {part_here.id}, which is here without it")
        return

    name = recording.kind.experiment_of(recording.record)
    experiment = notebook.experiment_called(name) if name else None
    if experiment is not None and experiment.recording_id:
        experiment_text = f"{experiment.kind} {experiment.recording_id}"
        raise UsageError(f"series {record_id} of {host} would be a part of {experiment_text}, which is here without it")
