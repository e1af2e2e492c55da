"""Share notebooks through ssh: `push` exports what a host lacks to it, `pull` imports what it has; texts are merged."""

import json
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from operator import attrgetter
from sqlite3 import IntegrityError
from typing import Any

from app.base.errors import MeasurementError, UsageError
from app.base.limits import MOST_BYTES, MOST_PROCESSOR_SECONDS, TooMuchTimeError, limit_memory, limit_processor_time
from app.exchange.copies import Copy, copy_received
from app.exchange.importing import ImportedRecording, recording_in, store
from app.recording.kind import kind_of, parts_of
from app.recording.made_of_series import Whole
from app.server.shell import RunningProgram, ServerShell
from forms.importers import value_of
from storage.errors import RefusedError
from storage.json_reader import DocumentError, JSONNode
from storage.notebook import Notebook
from storage.received import texts_received
from storage.recordings import SERIES, Recording, held_text
from storage.shared import Texts

NEEDED_VERSION = "0.3.0"
"""The first with a share-worker."""
SILENT_SECONDS = 20.0
"""A worker gives a sign of life every few seconds, so only one that is dead or does not want to is silent so long."""
_PART_BYTES = MOST_BYTES // 4
"""What is sent at once, and the last recording that goes beyond it."""
_MOST_RECORDING_BYTES = MOST_BYTES - _PART_BYTES - 2**20
_MOST_MEMORY_BYTES = 310_000_000
"""Less than for a file: an answer of 64 MiB is in memory twice while it is read, and 500 MB are for all."""
_LONGEST_PROBLEM = 500
"""Characters of a line that another machine wrote; ours have fewer."""
_FEW_PROBLEMS = 3
"""In one line, of a notebook that is imported whole or not at all."""
_WORKER = 'PATH="$PATH:$HOME/.local/bin"; export PATH; exec sharebench share-worker'

State = dict[str, list[Any]]
"""By recording id: digest of labels and notes, completeness, number of runs."""


@dataclass(slots=True)
class Taken:
    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    """Why a recording that was sent is none: more than a problem, the other side is at fault."""

    def add(self, other: "Taken") -> None:
        self.new += other.new
        self.changed += other.changed
        self.problems += other.problems
        self.unreadable += other.unreadable

    def to_json(self) -> dict[str, list[str]]:
        """As an answer of the worker, which an older version understands too."""
        return {"new": self.new, "changed": self.changed, "problems": [*self.problems, *self.unreadable]}


def pull(notebook: Notebook, host: str, outcome: Taken | None = None) -> Taken:
    """Import what ``[USER@]HOST`` has and this notebook lacks; ``outcome`` holds what came before an error.

    Raises UsageError, MeasurementError.
    """
    outcome = outcome or Taken()
    missing_ids = _differing(_state_of(host), state(notebook))
    while missing_ids:
        answer = _ask(host, "give", json.dumps(missing_ids))
        try:
            with limit_part(f"what {host} sent"):
                sent_ids, part_outcome = _take_answer(notebook, answer, host)
        except DocumentError as error:
            text = f"{host} sent what is no recording: {error}; nothing of that part is kept"
            raise MeasurementError(text) from error
        outcome.add(part_outcome)

        remaining = [recording_id for recording_id in missing_ids if recording_id not in sent_ids]
        if len(remaining) == len(missing_ids):
            break
        missing_ids = remaining
    return outcome


def _take_answer(notebook: Notebook, answer: bytes, host: str) -> tuple[set[str], Taken]:
    place = JSONNode("", value_of(answer)).object()
    sent_ids = place.at("ids").filled().read(tuple[str, ...])
    return set(sent_ids), take(notebook, place.at("entries").filled().value, host)


def push(notebook: Notebook, host: str, outcome: Taken | None = None) -> Taken:
    """Export what ``[USER@]HOST`` lacks; ``outcome`` holds what came before an error. Raises as :func:`pull`."""
    outcome = outcome or Taken()
    missing_ids = _differing(state(notebook), _state_of(host))
    while missing_ids:
        sent_ids, entries = part(notebook, missing_ids)
        sent = set(sent_ids)

        answer = _ask(host, "take", json.dumps(entries))
        try:
            with limit_part(f"what {host} answered"):
                outcome.add(_taken_there(value_of(answer), sent))
        except DocumentError as error:
            raise MeasurementError(f"{host} gave no answer that can be read: {error}") from error
        missing_ids = [recording_id for recording_id in missing_ids if recording_id not in sent]
    return outcome


def _taken_there(answer: object, sent: Container[str]) -> Taken:
    place = JSONNode("", answer).object()
    new, changed, problems = (place.at(name).filled().read(tuple[str, ...]) for name in ("new", "changed", "problems"))
    return Taken(
        [recording_id for recording_id in new if recording_id in sent],
        [recording_id for recording_id in changed if recording_id in sent],
        [problem[:_LONGEST_PROBLEM] for problem in problems],
    )


@contextmanager
def limit_part(subject: str) -> Iterator[None]:
    """Raises MeasurementError where the subject takes more memory or time than a part of a notebook may."""
    try:
        with limit_memory(_MOST_MEMORY_BYTES), limit_processor_time():
            yield
    except MemoryError as error:
        text = f"{subject} takes more than {_MOST_MEMORY_BYTES // 10**6} MB of memory; nothing of that part is kept"
        raise MeasurementError(text) from error
    except TooMuchTimeError as error:
        text = (
            f"{subject} takes more than {MOST_PROCESSOR_SECONDS:.0f} s of the processor; nothing of that part is kept"
        )
        raise MeasurementError(text) from error


def _ask(host: str, word: str, text: str = "") -> bytes:
    """What the worker on the host answers, as it was sent. Raises MeasurementError."""
    must = f"`ssh {host} sharebench --version` must work without a question, and show {NEEDED_VERSION} or newer"

    try:
        program = RunningProgram(ServerShell(host).words(f"{_WORKER} {word}"), text=text, most_bytes=MOST_BYTES)
    except OSError as error:
        raise MeasurementError(f"no notebook on {host}: `ssh` cannot be run here ({error.strerror})") from error

    answer, ending = program.wait_while_it_moves(SILENT_SECONDS)
    if ending.problem or ending.code:
        raise MeasurementError(f"no notebook on {host}: {ending.last_words}; {must}")
    return answer


def _state_of(host: str) -> State:
    answer = _ask(host, "state")
    try:
        with limit_part(f"what {host} says that it has"):
            return _state_from(value_of(answer))
    except DocumentError as error:
        must = f"`ssh {host} sharebench --version` must show {NEEDED_VERSION} or newer"
        raise MeasurementError(f"no notebook on {host}: it did not say what it has ({error}); {must}") from error


def _state_from(value: object) -> State:
    places: State = JSONNode("", value).object().value
    for recording_id, progress in places.items():
        if not isinstance(progress, list) or not all(isinstance(part, str | int) for part in progress):
            raise JSONNode(recording_id[:40], progress).wrong("a digest and two numbers")
    return places


def _differing(source: State, destination: State) -> list[str]:
    """The ids of what the source has, and the destination has not or has otherwise."""
    return [recording_id for recording_id, progress in source.items() if progress != destination.get(recording_id)]


def state(notebook: Notebook) -> State:
    progress = notebook.progress()
    texts = notebook.texts_of(list(progress))
    running = {recording.id for recording in _running(notebook)}
    state_by_id: State = {}
    for recording_id, recording_texts in texts.items():
        if recording_id in progress and recording_id not in running:
            canonical = json.dumps(recording_texts.to_json(), sort_keys=True)
            digest = sha256(canonical.encode()).hexdigest()[:16]
            state_by_id[recording_id] = [digest, *progress[recording_id]]
    return state_by_id


def _running(notebook: Notebook) -> Iterator[Recording]:
    running = notebook.recordings_of(list(notebook.running()))
    head_ids = list({recording.part_of or recording.id for recording in running})
    for head in notebook.recordings_of(head_ids):
        yield head
        yield from parts_of(notebook, head)


def part(notebook: Notebook, ids_asked_for: Sequence[str]) -> tuple[list[str], list[Any]]:
    """The recordings that fit into one message: ids dealt with, and content."""
    wholes = list({head.part_of or head.id: None for head in notebook.recordings_of(ids_asked_for)})
    heads = notebook.recordings_of(wholes)

    ids_dealt_with: list[str] = []
    entries: list[Any] = []
    size = 0

    # What a series is based on comes before it.
    for head in sorted(heads, key=attrgetter("created_at")):
        if size > _PART_BYTES:
            break

        ids = [head.id, *(recording.id for recording in parts_of(notebook, head))]
        entry = _entry(notebook, head, ids)
        ids_dealt_with += ids
        entries.append(entry)
        size += len(json.dumps(entry))

    if not ids_dealt_with:
        # All were deleted meanwhile: nothing is left of any of them.
        return list(ids_asked_for), entries
    return ids_dealt_with, entries


def _entry(notebook: Notebook, head: Recording, ids: Sequence[str]) -> dict[str, Any]:
    """A recording as it is exported, or why it cannot be, with what people wrote about it."""
    texts_by_id = notebook.texts_of(ids)
    texts = {
        recording_id: [texts_of_recording.created_at, texts_of_recording.to_json()]
        for recording_id, texts_of_recording in texts_by_id.items()
    }

    entry: dict[str, Any] = {"texts": texts}
    try:
        entry["document"] = kind_of(head).form(notebook, head).document()
    except UsageError as error:
        entry["problem"] = f"{head.kind} {head.id} is not shared: {error}"

    if len(json.dumps(entry)) > _MOST_RECORDING_BYTES:
        most = f"{_MOST_RECORDING_BYTES // 2**20} MiB"
        entry = {"texts": {}, "problem": f"{head.kind} {head.id} is not shared: it is larger than {most}"}
    return entry


def take_notebook(notebook: Notebook, other: Notebook, file: str) -> Taken:
    """Import what another notebook has, labels and notes too, all or nothing; see `take`. Raises UsageError.

    A recording that was measured here and goes on there is completed: so comes back what was measured while the
    notebook was lost.
    """
    missing_ids = list(other.progress())
    outcome = Taken()
    with notebook.at_once():
        while missing_ids:
            ids_dealt_with, entries = part(other, missing_ids)
            ids_in_part = set(ids_dealt_with)

            as_sent = json.loads(json.dumps(entries))
            outcome.add(take(notebook, as_sent, file, completes_ours=True))
            missing_ids = [recording_id for recording_id in missing_ids if recording_id not in ids_in_part]
        if problems := [*outcome.problems, *outcome.unreadable]:
            raise UsageError("; ".join(problems[:_FEW_PROBLEMS]))
    return outcome


def take(notebook: Notebook, entries: Any, host: str, *, completes_ours: bool = False) -> Taken:
    """Each recording whole or not at all; ``completes_ours``: also one that was measured here.

    Raises DocumentError where nothing of it is a recording.
    """
    outcome = Taken()
    received: list[_Received] = []
    errors: list[DocumentError] = []
    places = JSONNode("entries", entries).items()
    for place in places:
        try:
            if problem := place.maybe("problem").read(str | None):
                outcome.problems.append(problem[:_LONGEST_PROBLEM])
            else:
                received.append(_received(place))
        except DocumentError as error:
            errors.append(error)
    if errors and len(errors) == len(places):
        raise errors[0]

    outcome.unreadable += map(str, errors)
    with notebook.at_once():
        for recording in received:
            try:
                with notebook.at_once():
                    _take(notebook, recording, host, outcome, completes_ours=completes_ours)
            except (UsageError, RefusedError) as error:
                outcome.problems.append(str(error))
            except (IntegrityError, OverflowError) as error:
                outcome.unreadable.append(f"{recording.recording.record.id}: {error}")
    return outcome


@dataclass(frozen=True, slots=True)
class _Received:
    recording: ImportedRecording
    texts: dict[str, Texts]
    """By the id of the recording, and of each of its parts."""

    @property
    def ids(self) -> list[str]:
        recording = self.recording
        return list(dict.fromkeys([recording.record.id, *(series.id for series in recording.series)]))


def _received(place: JSONNode) -> _Received:
    """Raises DocumentError."""
    recording = recording_in(place.at("document").value)
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


def _take(notebook: Notebook, received: _Received, host: str, outcome: Taken, *, completes_ours: bool) -> None:
    """Raises UsageError, with nothing changed, where it is another recording than that of its id here."""
    record = received.recording.record
    before = notebook.texts_of(received.ids)
    mine = next(iter(notebook.recordings_of([record.id])), None)
    replaced = _stored_anew(notebook, received, mine, host, outcome, completes_ours=completes_ours)
    if mine is None:
        outcome.new.append(record.id)

    changed = []
    for recording in notebook.recordings_of(received.ids):
        theirs = received.texts.get(recording.id)
        texts_here = before.get(recording.id)
        merged = theirs or texts_here
        if texts_here and theirs:
            merged = texts_here.merged(theirs)
        if merged and (merged != texts_here or replaced):
            notebook.keep_texts(recording.id, merged)
            if texts_here:
                changed.append(recording.id)
    outcome.changed += changed


def _stored_anew(
    notebook: Notebook,
    received: _Received,
    mine: Recording | None,
    host: str,
    outcome: Taken,
    *,
    completes_ours: bool,
) -> bool:
    """Whether the recording was stored, new or in place of its beginning. Raises UsageError."""
    if mine is None:
        _check_new(notebook, received, host)
        store(notebook, [received.recording], host, as_new=False)
        return True

    copy = copy_received(notebook, mine, received.recording)
    if copy is Copy.DIFFERENT:
        raise UsageError(
            f"{mine.kind} {mine.id} is another one here than on {host}, so neither was changed: export the one you"
            " need there and import it with --as-new, or delete one of them"
        )
    if completes_ours and mine.lease is not None and mine.running:
        raise UsageError(f"{held_text(mine.id, mine.lease, mine.kind)}: import {host} when that has ended")
    if copy is Copy.NO_FURTHER or mine.running:
        return False
    if not mine.imported_at and not completes_ours:
        outcome.problems.append(f"{mine.kind} {mine.id} goes on, on {host}: here it stays as it was measured")
        return False
    removed = notebook.remove(mine.id)
    store(notebook, [received.recording], host, as_new=False)
    notebook.follow_again(removed)
    return True


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
