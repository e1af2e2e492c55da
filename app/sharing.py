"""Synchronizes two notebooks through ssh: missing recordings are imported, and labels and notes merged by time
(storage/shared.py).
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from app import importing, kinds
from app.errors import MeasurementError, UsageError
from app.importing import ImportedRecording
from app.server.shell import RunningProgram, ServerShell
from storage.json_reader import DocumentError, JSONNode
from storage.notebook import Notebook
from storage.recordings import Recording
from storage.records import SeriesStatus
from storage.shared import Texts, texts_from_json

MOST_BYTES = 64 * 2**20
"""Limit of a message; recordings are sent in parts of a quarter of that."""
_PART_BYTES = MOST_BYTES // 4
_SECONDS = 900.0
_WORKER = 'PATH="$PATH:$HOME/.local/bin"; export PATH; exec sharebench share-worker'

State = dict[str, list[Any]]
"""By recording id: digest of labels and notes, completeness, number of runs."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Result: ids, and what could not be shared."""

    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, other: "Taken") -> None:
        for name in ("new", "changed", "problems"):
            getattr(self, name).extend(getattr(other, name))


def pull(notebook: Notebook, host: str) -> Taken:
    """Import what ``[USER@]HOST`` has and this notebook lacks. Raises UsageError, MeasurementError."""
    wanted, taken = _differing(_state_of(host), state(notebook)), Taken()
    while wanted:
        given = JSONNode(host, _ask(host, "give", json.dumps(wanted)))
        try:
            done = given.at("ids").read(tuple[str, ...])
            taken.add(take(notebook, given.at("entries").value, host))
        except DocumentError as error:
            raise MeasurementError(
                f"{host} sent what is no recording: {error}; nothing of that part is kept"
            ) from error
        rest = [one for one in wanted if one not in set(done)]
        if len(rest) == len(wanted):
            break
        wanted = rest
    return taken


def push(notebook: Notebook, host: str) -> Taken:
    """Export what ``[USER@]HOST`` lacks. Raises UsageError, MeasurementError."""
    wanted, taken = _differing(state(notebook), _state_of(host)), Taken()
    while wanted:
        done, entries = part(notebook, wanted)
        answer = JSONNode(host, _ask(host, "take", json.dumps(entries)))
        try:
            taken.add(Taken(*(list(answer.at(name).read(tuple[str, ...])) for name in ("new", "changed", "problems"))))
        except DocumentError as error:
            raise MeasurementError(f"{host} gave no answer that can be read: {error}") from error
        wanted = [one for one in wanted if one not in set(done)]
    return taken


def _ask(host: str, word: str, text: str = "") -> Any:
    """Raises UsageError, MeasurementError."""
    must = f"`ssh {host} sharebench --version` must work without a question, and show this version"
    try:
        program = RunningProgram(ServerShell(host).words(f"{_WORKER} {word}"), text=text, most_bytes=MOST_BYTES * 2)
    except OSError as error:
        raise MeasurementError(f"no notebook on {host}: `ssh` cannot be run here ({error.strerror})") from error
    said = program.wait(_SECONDS)
    if said.problem or said.code:
        raise MeasurementError(f"no notebook on {host}: {said._replace(out='').last_words}; {must}")
    try:
        return json.loads(said.out)
    except (ValueError, RecursionError) as error:
        raise MeasurementError(f"no notebook on {host}: it did not answer in JSON; {must}") from error


def _state_of(host: str) -> State:
    found = _ask(host, "state")
    if not isinstance(found, dict):
        raise MeasurementError(f"no notebook on {host}: it did not say what it has")
    return found


def _differing(given: State, there: State) -> list[str]:
    return [one for one, known in given.items() if known != there.get(one)]


def state(notebook: Notebook) -> State:
    """Without recordings that are being measured."""
    progress, said = notebook.progress(), notebook.said(list(notebook.progress()))
    running = {one.id for one in _running(notebook)}
    return {one: [_digest(said[one]), *progress[one]] for one in said if one in progress and one not in running}


def _digest(texts: Texts) -> str:
    return sha256(json.dumps(texts.to_json(), sort_keys=True).encode()).hexdigest()[:16]


def _running(notebook: Notebook) -> Iterator[Recording]:
    found = notebook.recordings_of(list(notebook.running()))
    for whole in notebook.recordings_of(list({one.part_of or one.id for one in found})):
        yield whole
        yield from kinds.parts(notebook, whole)


def part(notebook: Notebook, wanted: Sequence[str]) -> tuple[list[str], list[Any]]:
    """The recordings that fit into one message: ids dealt with, and content."""
    heads = notebook.recordings_of(list({one.part_of or one.id: None for one in notebook.recordings_of(wanted)}))
    done, entries, size = [], [], 0
    for head in sorted(heads, key=lambda one: one.created_at):  # what a series is based on comes before it
        if size > _PART_BYTES:
            break
        ids = [head.id, *(one.id for one in kinds.parts(notebook, head))]
        entry: dict[str, Any] = {
            "texts": {one: [texts.created_at, texts.to_json()] for one, texts in notebook.said(ids).items()}
        }
        try:
            entry["document"] = kinds.kind_of(head).form(notebook, head).document()
        except UsageError as error:
            entry["problem"] = f"{head.kind} {head.id} is not shared: {error}"
        done += ids
        entries.append(entry)
        size += len(json.dumps(entry))
    return done or list(wanted), entries  # of none of them anything is left: all were deleted meanwhile


def take(notebook: Notebook, entries: Any, host: str) -> Taken:
    """Each recording whole or not at all. Raises DocumentError."""
    taken = Taken()
    read = []
    for place in JSONNode("entries", entries).items():
        if place.object().value.get("problem"):
            taken.problems.append(place.at("problem").text())
            continue
        texts = {}
        for one, pair in place.at("texts").object().value.items():
            at, said = JSONNode(f"texts.{one}", pair).items()
            texts[one] = texts_from_json(said, at.time())
        read.append((importing.recording_in(place.at("document").value), texts))
    with notebook.at_once():
        for recording, texts in read:
            try:
                with notebook.at_once():
                    _take(notebook, recording, texts, host, taken)
            except UsageError as error:
                taken.problems.append(str(error))
    return taken


def _take(notebook: Notebook, recording: ImportedRecording, texts: dict[str, Texts], host: str, taken: Taken) -> None:
    record = recording.record
    ids = [record.id, *([one.id for one in record.series] if recording.kind.whole else ())]
    before, removed = notebook.said(ids), None
    mine = next(iter(notebook.recordings_of([record.id])), None)
    if mine is not None and mine.imported_at and not mine.running and _goes_further(notebook, recording, mine):
        removed = notebook.remove(mine.id)
        mine = None
    if mine is None:
        importing.store(notebook, [recording], host, as_new=False)
        if removed is not None:
            notebook.follow_again(removed)
        if record.id not in before:
            taken.new.append(record.id)
    for one in notebook.recordings_of(ids):
        theirs = texts.get(one.id)
        if theirs is not None:
            merged = before[one.id].merged(theirs) if one.id in before else theirs
            if one.id not in before or merged != before[one.id] or mine is None:
                notebook.keep_said(one.id, merged)
                if one.id in before:
                    taken.changed.append(one.id)


def _goes_further(notebook: Notebook, recording: ImportedRecording, mine: Recording) -> bool:
    record = recording.record
    if recording.kind.whole:
        return len(record.series) > len(kinds.parts(notebook, mine))
    count = len(getattr(record, "runs", ()) or getattr(record, "points", ()))
    status = getattr(record, "status", SeriesStatus.COMPLETE)  # an audit is always whole
    return (status is SeriesStatus.COMPLETE, count) > notebook.progress()[mine.id]
