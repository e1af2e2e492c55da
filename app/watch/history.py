"""The history of a path, read from the notebook: of a target, or of the path that a recording is about.

Series are of one path where target, client, command and sizes are the same, whoever logged in. ``most`` is how many
series of the path are read, the newest.
"""

from dataclasses import replace

from app.base.errors import UsageError
from app.recording.kind import KINDS, kind_of
from forms import wording
from forms.comparison.history import path_of
from forms.watch.history import (
    History,
    HistoryMark,
    HistoryNotes,
    history_of_loads,
    history_of_quick_tests,
    history_of_series,
)
from storage import records
from storage.notebook import Notebook
from storage.recordings import WATCH, Recording
from storage.shared import LAST
from storage.watch.records import unconfirmed_ids

MOST_SHOWN = 1_500
"""Series of a path that a terminal or screen shows, four years of nights: reading more takes seconds."""
MOST_KEPT = 100_000
"""Series of a path that a file or another program gets: more than any notebook has."""


def history_of_target(
    notebook: Notebook, target: records.Target, command: records.Command, client: str, *, most: int = MOST_KEPT
) -> History:
    """The ``most`` newest series of a target. Raises UsageError where there is none."""
    # A path is looked up by a series of it: by one that was never measured.
    path = records.Series(
        id="", created_at=records.utc_now(), command=command, target=target, client=records.ClientFacts(name=client)
    )
    history = _history_of_path(notebook, path, most)
    if history is None:
        raise UsageError(
            f"no {command} of {wording.place(target)} by {client} has been measured: sharebench run, or see"
            " `sharebench list`"
        )
    return history


def history_of_recording(notebook: Notebook, reference: str, *, most: int = MOST_KEPT) -> History:
    """The path of a series (its ``most`` newest), load, watch or experiment. Raises UsageError."""
    if notebook.experiment_called(reference):
        series_of_experiment = notebook.experiment(reference)
        if series_of_experiment:
            return _whole_history(_history_of_path(notebook, series_of_experiment[-1], most), reference, "it")

    kinds = [kind.name for kind in KINDS.values() if kind.has_history] if reference == LAST else []
    head = notebook.recording(reference, *kinds)
    return _whole_history(_history_of_head(notebook, head, most), reference, f"a {head.kind}")


def _whole_history(history: History | None, reference: str, thing: str) -> History:
    """Raises UsageError where there is none."""
    if history is None:
        raise UsageError(f"{reference} has no history: {thing} has no measured series or load point")
    return history


def _history_of_head(notebook: Notebook, head: Recording, most: int) -> History | None:
    kind = kind_of(head)
    loads = kind.loads_alike(notebook, head)
    if loads:
        return history_of_loads(loads, _notes(notebook))
    quick_tests = kind.quick_tests_alike(notebook, head)
    if quick_tests:
        return history_of_quick_tests(quick_tests, _notes(notebook))
    series = kind.measured_series(notebook, head)
    return _history_of_path(notebook, series, most) if series else None


def _history_of_path(notebook: Notebook, series: records.Series, most: int) -> History | None:
    """The history of a series' path; of one without a measured run that of the newest series in its place."""
    # One more than is shown tells whether there are more. ``brief``: without what a history does not show.
    ids = notebook.earlier_ids(series, before=records.utc_now(), since="", most=most + 1)
    measured = [earlier for earlier in notebook.all_of(ids[-most:], brief=True) if earlier.measured()]
    if not measured:
        return None

    path = path_of(series if series.measured() else measured[-1])
    of_path = [earlier for earlier in measured if path_of(earlier) == path]
    history = history_of_series(of_path, _notes(notebook), _marks(notebook, series))
    return replace(history, is_whole=len(ids) <= most) if history else None


def _marks(notebook: Notebook, series: records.Series) -> list[HistoryMark]:
    """The trials and sweeps that were made on the path."""
    from forms.trial import changes_report

    parts = notebook.earlier_ids(
        series, before=records.utc_now(), since="", most=MOST_KEPT, kinds=[kind.value for kind in changes_report.KINDS]
    )
    names = dict.fromkeys(head.experiment for head in notebook.heads_of(parts) if head.experiment)

    marks = []
    for name in names:
        experiment = notebook.experiment_called(name)
        if experiment is not None:
            marks.append(
                HistoryMark(
                    recording=experiment.recording_id or "",
                    created_at=experiment.created_at,
                    name=experiment.name,
                )
            )
    return marks


def _notes(notebook: Notebook) -> HistoryNotes:
    names_by_id: dict[str, tuple[str, ...]] = {}
    for baseline in notebook.baselines():
        names = names_by_id.get(baseline.recording_id, ())
        names_by_id[baseline.recording_id] = (*names, baseline.name)
    return HistoryNotes(
        baselines=names_by_id,
        new_normals=frozenset(notebook.new_normals()),
        unconfirmed=unconfirmed_ids(notebook.recordings(WATCH)),
    )
