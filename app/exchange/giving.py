"""What a notebook sends to another one: first a summary of what it has, then the recordings asked for, part by part.

A part is one message of at most 64 MiB; the other side takes it in with :mod:`app.exchange.taking`.
"""

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from operator import attrgetter
from typing import Any

from app.base.errors import UsageError
from app.base.limits import MOST_BYTES
from app.recording.kind import kind_of, parts_of
from storage.notebook import Notebook
from storage.recordings import Recording

_PART_BYTES = MOST_BYTES // 4
"""Recordings are added to a part until it is larger than this."""
_MOST_RECORDING_BYTES = MOST_BYTES - _PART_BYTES - 2**20
"""The largest recording that is sent, so that it fits into the message together with a part that was almost full.

A MiB is left for what is around them.
"""
_DIGEST_DIGITS = 16

State = dict[str, list[Any]]
"""By recording id: a digest of labels and notes, whether it is complete (0 or 1), and its number of runs.

Where two notebooks say the same of a recording, it need not be sent.
"""


def notebook_state(notebook: Notebook) -> State:
    """What the notebook has, but for what is being measured: that is given once it has ended."""
    progress_by_id = notebook.progress()
    texts_by_id = notebook.texts_of(list(progress_by_id))
    running_ids = {recording.id for recording in _running(notebook)}

    state: State = {}
    for recording_id, texts in texts_by_id.items():
        if recording_id in progress_by_id and recording_id not in running_ids:
            canonical = json.dumps(texts.to_json(), sort_keys=True)
            digest = sha256(canonical.encode()).hexdigest()[:_DIGEST_DIGITS]
            state[recording_id] = [digest, *progress_by_id[recording_id]]
    return state


def _running(notebook: Notebook) -> Iterator[Recording]:
    """The recordings under way, and with a series of a trial or survey all of that trial or survey."""
    running = notebook.recordings_of(list(notebook.running()))
    whole_ids = list({recording.part_of or recording.id for recording in running})
    for whole in notebook.recordings_of(whole_ids):
        yield whole
        yield from parts_of(notebook, whole)


def next_part(notebook: Notebook, ids_asked_for: Sequence[str]) -> tuple[list[str], list[Any]]:
    """The recordings that fit into one message: the ids that are dealt with by it, and its entries.

    An entry is what :func:`app.exchange.taking.take` takes. A series of a trial or survey is sent with all of it.
    """
    asked_for = notebook.recordings_of(ids_asked_for)
    whole_ids = list({recording.part_of or recording.id: None for recording in asked_for})
    wholes = notebook.recordings_of(whole_ids)

    ids_dealt_with: list[str] = []
    entries: list[Any] = []
    size = 0

    # What a series is based on comes before it.
    for whole in sorted(wholes, key=attrgetter("created_at")):
        if size > _PART_BYTES:
            break

        ids = [whole.id, *(recording.id for recording in parts_of(notebook, whole))]
        entry = _entry(notebook, whole, ids)
        ids_dealt_with += ids
        entries.append(entry)
        size += len(json.dumps(entry))

    if not ids_dealt_with:
        # All were deleted meanwhile: nothing is left of any of them.
        return list(ids_asked_for), entries
    return ids_dealt_with, entries


def _entry(notebook: Notebook, whole: Recording, ids: Sequence[str]) -> dict[str, Any]:
    """A recording as it is exported, or why it cannot be, with what people wrote about it and its parts (``ids``)."""
    texts_by_id = notebook.texts_of(ids)
    texts = {
        recording_id: [texts_of_recording.created_at, texts_of_recording.to_json()]
        for recording_id, texts_of_recording in texts_by_id.items()
    }

    entry: dict[str, Any] = {"texts": texts}
    try:
        entry["document"] = kind_of(whole).form(notebook, whole).document()
    except UsageError as error:
        entry["problem"] = f"{whole.kind} {whole.id} is not shared: {error}"

    if len(json.dumps(entry)) > _MOST_RECORDING_BYTES:
        most = f"{_MOST_RECORDING_BYTES // 2**20} MiB"
        entry = {"texts": {}, "problem": f"{whole.kind} {whole.id} is not shared: it is larger than {most}"}
    return entry
