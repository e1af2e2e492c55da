"""How the recordings that are exported are called on the screen, and their file."""

import re
from collections.abc import Sequence

from app.recording.kind import kind_of
from app.recording.listing import recording_lines
from app.recording.several import base_first
from forms import wording
from forms.series.listing import RecordingLine
from storage.notebook import Notebook
from storage.records import with_zone

_NOT_IN_NAMES = re.compile(r"[^\w.-]+")
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""What Windows takes for a device, whatever its ending."""
_LONGEST_NAME = 60
_MOST_NAMED = 4
"""Of more recordings a file is named by their number."""


def safe_file_name(name: str) -> str:
    """A name that every system takes for a file, without its ending."""
    stem = _NOT_IN_NAMES.sub("-", name.strip()).strip(".-")
    stem = stem[:_LONGEST_NAME].strip(".-") or "sharebench"
    return f"sharebench-{stem}" if _DEVICE.fullmatch(stem) else stem


def names_to_export(notebook: Notebook, ids: Sequence[str]) -> tuple[list[str], str]:
    """The recordings' names, and one for a file.

    That is the baseline or label, else the day, the server and share, and what was done.
    """
    heads = notebook.recordings_of(base_first(notebook, ids))
    lines = recording_lines(notebook, heads)
    baseline_names = {baseline.recording_id: baseline.name for baseline in notebook.baselines()}
    own_names = [baseline_names.get(head.id) or wording.plain(head.label or "") for head in heads]
    series = {head.id: head for head in notebook.heads_of(list(ids))}

    names = [baseline_names.get(line.id) or _name_of(line) for line in lines] or ["no recording any more"]
    if len(heads) != 1:
        return names, _name_of_several(own_names, is_series=series.keys() >= {*ids})

    head = heads[0]
    if own_names[0]:
        return names, own_names[0]

    day = with_zone(head.created_at)[:10]
    target = kind_of(head).target(notebook, head)
    place = wording.short_place(target) if target else ""
    action: str = head.kind
    if head.id in series:
        action = series[head.id].command
    elif target is None:
        action = f"{head.kind} {lines[0].name}"
    return names, f"{day} {place} {action}"


def _name_of_several(own_names: Sequence[str], *, is_series: bool) -> str:
    """The names that people gave them, where each of a few has one; else how many there are."""
    if all(own_names) and 1 < len(own_names) <= _MOST_NAMED:
        return wording.listed(list(own_names))
    noun = "series" if is_series else "recordings"
    return f"{len(own_names)} {noun}"


def _name_of(line: RecordingLine) -> str:
    dated_name = line.name if line.label else f"{line.name} of {line.when}"
    return f"{line.kind} {dated_name}" if line.names_its_kind else dated_name
