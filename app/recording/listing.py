"""Recordings of any kind as lines of a list, in the command `list` and in the notebook on the screen."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.base.errors import UsageError
from app.recording.kind import KINDS, ListEntry, kind_of
from forms import wording
from forms.series.listing import RecordingLine, done_tone
from storage.errors import DamagedNotebookError
from storage.notebook import Notebook
from storage.recordings import Recording


@dataclass(frozen=True, slots=True)
class ListedRecordings:
    """What can be listed of the recordings asked for."""

    lines: list[RecordingLine]
    problems: dict[str, str]
    """Why a recording cannot be listed, by its id."""


def recording_lines(notebook: Notebook, heads: Iterable[Recording]) -> list[RecordingLine]:
    """The lines of recordings (heads: each without its runs), in their order.

    Raises UsageError, DamagedNotebookError.
    """
    heads = list(heads)
    baselines: dict[str, list[str]] = {}
    for baseline in notebook.baselines():
        baselines.setdefault(baseline.recording_id, []).append(wording.plain(baseline.name))
    entries = _list_entries(notebook, heads)
    machines = notebook.machines([head.id for head in heads])

    lines = []
    for head in heads:
        entry = entries[head.id]
        line = RecordingLine(
            id=head.id,
            kind=head.kind,
            created_at=head.created_at,
            done=entry.done,
            done_tone=done_tone(head),
            answer=entry.answer,
            what=entry.what,
            label=entry.label,
            baselines=tuple(baselines.get(head.id, ())),
            experiment=entry.experiment,
            left_behind=head.leftovers is not None and not head.running,
            machine=wording.plain(machines.get(head.id, "")),
            state=entry.state,
            names_its_kind=KINDS[head.kind].names_its_kind,
            can_be_repeated=KINDS[head.kind].can_be_repeated,
        )
        lines.append(line)
    return lines


def _list_entries(notebook: Notebook, heads: Sequence[Recording]) -> dict[str, ListEntry]:
    """The entry of each, read a kind at once."""
    heads_by_kind: dict[str, list[Recording]] = {}
    for head in heads:
        heads_by_kind.setdefault(kind_of(head).name, []).append(head)

    entries: dict[str, ListEntry] = {}
    for name, alike in heads_by_kind.items():
        entries |= KINDS[name].list_entries(notebook, alike)
    return entries


def readable_lines(notebook: Notebook, ids: Sequence[str]) -> ListedRecordings:
    """The lines of those that can be read, and why the others cannot.

    All are read at once; where that fails, each half is, and so on: few recordings are damaged, if any.
    """
    try:
        return ListedRecordings(recording_lines(notebook, notebook.recordings_of(ids)), {})
    except (DamagedNotebookError, UsageError) as error:
        if len(ids) == 1:
            return ListedRecordings([], {ids[0]: str(error)})

    middle = len(ids) // 2
    first = readable_lines(notebook, ids[:middle])
    second = readable_lines(notebook, ids[middle:])
    return ListedRecordings([*first.lines, *second.lines], first.problems | second.problems)
