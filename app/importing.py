"""Import documents, all or nothing; and share notebooks through ssh: what is missing is imported, labels are merged."""

import codecs
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, get_type_hints

from app import kinds
from app.errors import MeasurementError, UsageError
from app.kinds import KINDS, Kind
from app.server.shell import RUN_SECONDS, RunningProgram, ServerShell
from forms import importers
from forms.importers.filled_form import KINDS as TRIALS
from forms.importers.filled_form import Given, ImportedTrial, series_from_csv, trial_from_document
from forms.layout import visible
from forms.series.report import series_from_document, series_inside
from storage.changes import TrialPlan
from storage.isolations import Isolation
from storage.json_reader import DocumentError, JSONNode, schema_of
from storage.loads.records import Load, LoadPoint, Scenario
from storage.loads.tables import ELSEWHERE
from storage.notebook import Notebook
from storage.recordings import LAST, LAST_LOAD, OURS, SERIES, Recording, held_text
from storage.records import HEAD, Experiment, ExperimentKind, RunStatus, Series, SeriesStatus, new_series_id, utc_now
from storage.shared import Texts, texts_from_json

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
    known = {one.id for one in notebook.recordings_of([one.id for one in whole.series])}
    if known and len(known) < len(whole.series):
        raise UsageError(f"some series of {name!r} are in the notebook and some are not: import it with --as-new")
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
    seen: set[str] = set()
    for each in found:
        ids = [one.id for one in each.series]
        for one in filter(None, ids if each.kind.name == SERIES else [each.record.id, *ids]):
            if not _ID.fullmatch(one) or one in taken:
                raise UsageError(
                    f"{file}: no {each.kind.name} can be called {visible(one)[:40]!r} here: import it with --as-new"
                )
            if one in seen:
                raise UsageError(f"{file} has two recordings of the id {one}: import it with --as-new")
            seen.add(one)


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


MOST_BYTES = 64 * 2**20
"""Limit of a message; recordings are sent in parts of a quarter of that."""
_PART_BYTES = MOST_BYTES // 4
_SECONDS = 900.0
_WORKER = 'PATH="$PATH:$HOME/.local/bin"; export PATH; sharebench --version </dev/null && exec sharebench share-worker'
"""Its version comes at once, the answer when it has read its notebook."""

State = dict[str, list[Any]]
"""By recording id: digest of labels and notes, completeness, number of runs."""


@dataclass(frozen=True, slots=True)
class Taken:
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
            text = f"{host} sent what is no recording: {error}; nothing of that part is kept"
            raise MeasurementError(text) from error
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
    must = f"`ssh {host} sharebench --version` must work without a question, and show this version"
    try:
        program = RunningProgram(ServerShell(host).words(f"{_WORKER} {word}"), text=text, most_bytes=MOST_BYTES * 2)
    except OSError as error:
        raise MeasurementError(f"no notebook on {host}: `ssh` cannot be run here ({error.strerror})") from error
    has_begun = program.line(RUN_SECONDS) != ""
    said = program.wait(_SECONDS if has_begun else RUN_SECONDS)
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
    progress, said = notebook.progress(), notebook.said(list(notebook.progress()))
    running = {one.id for one in _running(notebook)}
    texts = {one: json.dumps(found.to_json(), sort_keys=True).encode() for one, found in said.items()}
    known = [one for one in said if one in progress and one not in running]
    return {one: [sha256(texts[one]).hexdigest()[:16], *progress[one]] for one in known}


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
        texts = {one: [said.created_at, said.to_json()] for one, said in notebook.said(ids).items()}
        entry: dict[str, Any] = {"texts": texts}
        try:
            entry["document"] = kinds.kind_of(head).form(notebook, head).document()
        except UsageError as error:
            entry["problem"] = f"{head.kind} {head.id} is not shared: {error}"
        done += ids
        entries.append(entry)
        size += len(json.dumps(entry))
    return done or list(wanted), entries  # of none of them anything is left: all were deleted meanwhile


def take_notebook(notebook: Notebook, other: Notebook, file: str) -> Taken:
    """Import what another notebook has, labels and notes too, all or nothing; see `take`. Raises UsageError.

    A recording that was measured here and goes on there is completed: so comes back what was measured while the
    notebook was lost.
    """
    wanted = list(other.progress())
    taken = Taken()
    with notebook.at_once():
        while wanted:
            done, entries = part(other, wanted)
            as_sent = json.loads(json.dumps(entries))
            taken.add(take(notebook, as_sent, file, completes_ours=True))
            dealt_with = set(done)
            wanted = [recording_id for recording_id in wanted if recording_id not in dealt_with]
        if taken.problems:
            raise UsageError("; ".join(taken.problems[:_FEW_PROBLEMS]))
    return taken


_FEW_PROBLEMS = 3


def take(notebook: Notebook, entries: Any, host: str, *, completes_ours: bool = False) -> Taken:
    """Each recording whole or not at all; ``completes_ours``: also one that was measured here. Raises DocumentError."""
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
        read.append((recording_in(place.at("document").value), texts))
    with notebook.at_once():
        for recording, texts in read:
            try:
                with notebook.at_once():
                    _take(notebook, recording, texts, host, taken, completes_ours=completes_ours)
            except UsageError as error:
                taken.problems.append(str(error))
    return taken


def _take(
    notebook: Notebook,
    recording: ImportedRecording,
    texts: dict[str, Texts],
    host: str,
    taken: Taken,
    *,
    completes_ours: bool,
) -> None:
    record = recording.record
    ids = list(dict.fromkeys([record.id, *(one.id for one in recording.series)]))
    before, removed = notebook.said(ids), None
    mine = next(iter(notebook.recordings_of([record.id])), None)
    is_ours_begun = completes_ours and mine is not None and not mine.imported_at and _begins(notebook, mine, recording)
    may_replace = mine is not None and not mine.running and (mine.imported_at or is_ours_begun)
    if mine is not None and may_replace and _goes_further(notebook, recording, mine):
        removed = notebook.remove(mine.id)
        mine = None
    if completes_ours and mine is not None:
        _check_nothing_is_left_out(notebook, mine, recording, host)
    if mine is None:
        store(notebook, [recording], host, as_new=False)
        if removed is not None:
            notebook.follow_again(removed)
        if record.id not in before:
            taken.new.append(record.id)
    for one in notebook.recordings_of(ids):
        if (theirs := texts.get(one.id)) is not None:
            merged = before[one.id].merged(theirs) if one.id in before else theirs
            if one.id not in before or merged != before[one.id] or mine is None:
                notebook.keep_said(one.id, merged)
                if one.id in before:
                    taken.changed.append(one.id)


def _check_nothing_is_left_out(notebook: Notebook, mine: Recording, other: ImportedRecording, file: str) -> None:
    """Raises UsageError where the stored recording stays, and lacks what the other has."""
    if mine.running and mine.lease is not None:
        raise UsageError(f"{held_text(mine.id, mine.lease, mine.kind)}: import {file} when that has ended")
    theirs = _measured_of(other)
    ours = _measured_here(notebook, mine)
    if other.kind.name != mine.kind or not all(
        record_id in ours and _is_beginning(record, ours[record_id]) for record_id, record in theirs.items()
    ):
        raise UsageError(
            f"{mine.kind} {mine.id} is in the notebook with other results than in {file}: nothing was imported"
        )


def _begins(notebook: Notebook, mine: Recording, other: ImportedRecording) -> bool:
    """Whether all that is stored here is the beginning of what the other has."""
    theirs = _measured_of(other)
    ours = _measured_here(notebook, mine)
    return other.kind.name == mine.kind and all(
        record_id in theirs and _is_beginning(record, theirs[record_id]) for record_id, record in ours.items()
    )


def _measured_of(recording: ImportedRecording) -> dict[str, Any]:
    records = recording.series if recording.kind.whole else (recording.record,)
    return {record.id: record for record in records}


def _measured_here(notebook: Notebook, head: Recording) -> dict[str, Any]:
    if kinds.kind_of(head).whole:
        return {part.id: notebook.series(part.id) for part in kinds.parts(notebook, head)}
    return {head.id: kinds.stored_record(notebook, head)}


def _is_beginning(record: Any, whole: Any) -> bool:
    for name in ("command", "target", "targets", "script"):
        if getattr(record, name, None) != getattr(whole, name, None):
            return False
    for name in ("runs", "points"):
        first = [_unjudged(result) for result in getattr(record, name, ())]
        if first != [_unjudged(result) for result in getattr(whole, name, ())][: len(first)]:
            return False
    return True


def _unjudged(result: Any) -> Any:
    """As it was measured: a run may have been rejected since."""
    if getattr(result, "status", None) is RunStatus.REJECTED:
        return replace(result, status=RunStatus.VALID, reason=None)
    return result


def _goes_further(notebook: Notebook, recording: ImportedRecording, mine: Recording) -> bool:
    record = recording.record
    if recording.kind.whole:
        return len(record.series) > len(kinds.parts(notebook, mine))
    count = len(getattr(record, "runs", ()) or getattr(record, "points", ()))
    status = getattr(record, "status", SeriesStatus.COMPLETE)  # an audit is always whole
    return (status is SeriesStatus.COMPLETE, count) > notebook.progress()[mine.id]
