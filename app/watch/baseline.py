"""The baseline of a watch: the series of a path that later ones are compared with.

A "new normal" is a series from which on the user says that the path is as it should be.
"""

from collections.abc import Sequence

from app.comparison.sides_history import with_history
from forms.comparison.comparison import Comparison
from forms.comparison.history import path_of
from forms.comparison.judged_sides import Sides
from forms.comparison.verdict import compare_sides
from forms.stats.decision import Limits
from storage.notebook import Notebook
from storage.recordings import SERIES
from storage.records import Series
from storage.watch.records import Watch


def baseline_of(notebook: Notebook, name: str, series: Series) -> tuple[Series, ...]:
    """The series of the baseline of that name that are of this series' path, from the newest "new normal" on."""
    path = path_of(series)
    baseline = notebook.all_of(notebook.baseline_ids(name, SERIES))
    of_path = [candidate for candidate in baseline if candidate.measured() and path_of(candidate) == path]

    new_normals = notebook.all_of(notebook.new_normals())
    begins_at = max((normal.created_at for normal in new_normals if path_of(normal) == path), default="")
    return tuple(candidate for candidate in of_path if candidate.created_at >= begins_at)


def compare_with_baseline(
    notebook: Notebook,
    baseline: Sequence[Series],
    series: Series,
    limits: Limits,
    first_series: Series | None = None,
) -> Comparison:
    """The series against the baseline, with the path's history up to the ``first_series`` of the check."""
    others = tuple(candidate for candidate in baseline if candidate.id != series.id)
    sides = with_history(notebook, Sides(base=others, other=(series,)), first_series or series)
    return compare_sides(sides, limits, finds_settling_step=False)


def last_baseline(notebook: Notebook, watch: Watch) -> tuple[Series, ...]:
    """The baseline that the watch's last judged series was compared with; empty where there is none."""
    if not watch.series_id:
        return ()
    last_series = notebook.all_of([watch.series_id])
    return baseline_of(notebook, watch.baseline, last_series[0]) if last_series else ()
