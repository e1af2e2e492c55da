"""Deleting recordings of the notebook: what is asked before, and what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.recording.several import losses_text
from forms import wording
from storage import errors, recordings
from storage.notebook import Notebook

MOST_NAMED = 4
"""Of the recordings that a question is about."""


@dataclass
class Deletion:
    """What was deleted, and why something was not."""

    removed: list[recordings.Removed] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    """Ids of what could not be read: deleted for good."""
    refusal: errors.RefusedError | recordings.UnknownReferenceError | None = None
    """Why the last one that was not deleted was not; None where all were."""


def remove_all(notebook: Notebook, ids: Sequence[str]) -> Deletion:
    """Delete each of these that can be."""
    deletion = Deletion()
    unreadable = _unreadable_ids(notebook, ids)
    for recording_id in ids:
        try:
            if recording_id in unreadable:
                notebook.remove_unread(recording_id)
                deletion.unreadable.append(recording_id)
            else:
                deletion.removed.append(notebook.remove(recording_id))
        except (errors.RefusedError, recordings.UnknownReferenceError) as error:
            deletion.refusal = error
    return deletion


def question_before(notebook: Notebook, names: Mapping[str, str]) -> str:
    """What to ask before these are deleted; empty for one alone that can be read and is no baseline and no step."""
    unreadable = _unreadable_ids(notebook, list(names))
    readable = [recording_id for recording_id in names if recording_id not in unreadable]
    losses = losses_text(notebook, readable)

    parts: list[str] = []
    if len(names) > 1:
        shown_names = list(names.values())[:MOST_NAMED]
        if len(names) > MOST_NAMED:
            shown_names.append(f"{len(names) - MOST_NAMED:,} more")
        parts.append(f"{len(names):,} recordings are marked: {wording.listed(shown_names)}.")
    elif losses:
        parts.append("".join(names.values()) + ".")
    if losses:
        parts.append(losses)
    if parts and readable:
        parts.append("u restores what was deleted until sharebench is left.")
    if unreadable:
        parts.append(
            f"{wording.listed(unreadable)} cannot be read, so what it was and what it left on a server is not known:"
            " it is deleted for good."
        )
    return " ".join(parts)


def _unreadable_ids(notebook: Notebook, ids: Sequence[str]) -> list[str]:
    """Which of these hold a value that was never stored."""
    unreadable: list[str] = []
    others = list(ids)

    # The notebook names one at a time: it is left out, and the others are read once more.
    while True:
        try:
            notebook.recordings_of(others)
            notebook.heads_of(others)
        except errors.UnreadableRecordingError as error:
            if error.recording_id not in others:
                raise
            others.remove(error.recording_id)
            unreadable.append(error.recording_id)
        else:
            return unreadable
