"""The loads of a notebook, one line each."""

from collections.abc import Sequence

from app.cli import output
from forms import layout, wording
from forms.layout import visible
from forms.tone import Tone
from storage.loads.records import Load
from storage.notebook import Notebook
from storage.records import SeriesStatus

_HEADING = ("load", "when (UTC)", "users", "carried", "what", "label")
_USERS, _WHAT = 2, 4
_GAP = "  "
_FEW_POINTS = 4
"""Points whose users are all named in a line; of more the first and the last."""
_TONES = {SeriesStatus.INTERRUPTED: Tone.CAUTION, SeriesStatus.FAILED: Tone.BAD}


def load_lines(notebook: Notebook, limit: int | None, room: int | None = None) -> list[str]:
    """One line a load, newest first, under a heading, of at most ``room`` cells; none where there is no load."""
    found = notebook.loads(limit)
    if not found:
        return []
    names: dict[str, str] = {}
    for one in notebook.baselines():
        names[one.recording_id] = f"{names.get(one.recording_id, '')} [{one.name}]".strip()
    rows = [_HEADING, *(_cells(load, names.get(load.id, "")) for load in found)]
    widths = [max(layout.width(row[column]) for row in rows) for column in range(len(_HEADING))]
    if room is not None:
        left = room - sum(widths[:_WHAT]) - len(_GAP) * (len(widths) - 1)
        widths[_WHAT] = min(widths[_WHAT], max(left - widths[-1], left * 2 // 3))
        widths[-1] = min(widths[-1], left - widths[_WHAT])
    tones = [Tone.PLAIN, *(_TONES.get(load.status, Tone.PLAIN) for load in found)]
    return [_line(row, widths, tone) for row, tone in zip(rows, tones, strict=True)]


def _line(row: Sequence[str], widths: Sequence[int], of_users: Tone) -> str:
    cells = [
        layout.pad((layout.cut_inside if column == _WHAT else layout.cut)(cell, widths[column]), widths[column])
        for column, cell in enumerate(row)
    ]
    cells[_USERS] = output.toned(cells[_USERS], of_users)
    return _GAP.join(cells).rstrip()


def _cells(load: Load, names: str) -> tuple[str, ...]:
    sign = {SeriesStatus.COMPLETE: "", SeriesStatus.INTERRUPTED: "…", SeriesStatus.FAILED: "!"}[load.status]
    sign = "▸" if load.running else sign
    points = list(dict.fromkeys(str(point.users) for point in load.points))
    users = ",".join(points if len(points) <= _FEW_POINTS else [points[0], "…", points[-1]])
    found = load.capacity
    carried = (f"{found.carried or ''}", f"not {found.not_carried}" if found.not_carried else "") if found else ()
    return (
        load.id,
        load.created_at[:16].replace("T", " "),
        f"{users or '-'}{sign}{'+' if load.scratch_folder and not load.running else ''}",
        ", ".join(filter(None, carried)) if found else "-",
        visible(f"{load.scenario.name} {wording.short_place(load.targets[0])}"),
        visible(f"{names} {load.label}".strip()),
    )
