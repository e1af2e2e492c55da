"""The history of a path: which recordings belong to it."""

from collections.abc import Sequence
from dataclasses import replace

from app.errors import UsageError
from forms import wording
from forms.comparison.verdict import path_of
from forms.watch.history import History, HistoryMark, HistoryNotes, history_of_loads, history_of_series
from storage.notebook import Notebook
from storage.recordings import LAST, LOAD, SERIES
from storage.records import ClientFacts, Command, Series, Target, utc_now
from storage.watches import WATCH, unconfirmed_ids, watch_of

MOST_SHOWN = 1_500
"""Series of a path that a terminal or screen shows, four years of nights: reading more takes seconds."""
MOST_KEPT = 100_000
_HAVE_HISTORY = (SERIES, LOAD, WATCH)


def history_of_target(
    notebook: Notebook, target: Target, command: Command, client: str, *, most: int = MOST_KEPT
) -> History:
    """The ``most`` newest series of a target. Raises UsageError where there is none."""
    asked = Series(id="", created_at=utc_now(), command=command, target=target, client=ClientFacts(name=client))
    found = _history(notebook, asked, most)
    if found is None:
        raise UsageError(
            f"no {command} of {wording.place(target)} by {client} has been measured: sharebench run, or see"
            " `sharebench list`"
        )
    return found


def history_of_recording(notebook: Notebook, reference: str, *, most: int = MOST_KEPT) -> History:
    """The path of a series (its ``most`` newest), load, watch or experiment. Raises UsageError."""
    experiment = notebook.experiment(reference) if notebook.experiment_called(reference) else []
    head = None if experiment else notebook.recording(reference, *(_HAVE_HISTORY if reference == LAST else ()))
    found: History | None = None
    if experiment:
        found = _history(notebook, experiment[-1], most)
    elif head and head.kind == SERIES:
        found = _history(notebook, notebook.series(head.id), most)
    elif head and head.kind == LOAD:
        load = notebook.load(head.id)
        found = history_of_loads(notebook.loads_like(load, utc_now()), _notes(notebook))
    elif head and head.kind == WATCH:
        newest = watch_of(head).series_id
        found = _history(notebook, notebook.series(newest), most) if newest else None
    elif head:
        inside = [part.id for part in notebook.recordings(part_of=head.id)]
        found = _history(notebook, notebook.series(inside[0]), most) if inside else None
    if found is None:
        what = f"a {head.kind}" if head else "it"
        raise UsageError(f"{reference} has no history: {what} has no measured series or load point")
    return found


def _history(notebook: Notebook, of: Series, most: int) -> History | None:
    ids = notebook.earlier_ids(of, before=utc_now(), since="", most=most + 1)
    series = notebook.all_of(ids[-most:], brief=True)
    measured = [one for one in series if one.measured()]
    path = path_of(of if of.measured() else measured[-1]) if measured else ()
    alike = [one for one in measured if path_of(one) == path]
    found = history_of_series(alike, _notes(notebook), _marks(notebook, of))
    return found and replace(found, is_whole=len(ids) <= most)


def _marks(notebook: Notebook, of: Series) -> Sequence[HistoryMark]:
    parts = notebook.earlier_ids(of, before=utc_now(), since="", most=MOST_KEPT, kinds=("trial", "sweep"))
    names = dict.fromkeys(one.experiment for one in notebook.heads_of(parts) if one.experiment)
    experiments = [found for name in names if (found := notebook.experiment_called(name))]
    return [
        HistoryMark(recording=one.recording_id or "", created_at=one.created_at, name=one.name) for one in experiments
    ]


def _notes(notebook: Notebook) -> HistoryNotes:
    baselines: dict[str, tuple[str, ...]] = {}
    for one in notebook.baselines():
        baselines[one.recording_id] = (*baselines.get(one.recording_id, ()), one.name)
    return HistoryNotes(
        baselines=baselines,
        new_normals=frozenset(notebook.new_normals()),
        unconfirmed=unconfirmed_ids(notebook.recordings(WATCH)),
    )
