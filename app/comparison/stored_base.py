"""What the runs of a base that is in the notebook can prove."""

from collections.abc import Sequence
from operator import attrgetter

from app.comparison.sides_history import with_history
from forms.comparison.bases import power_of_base
from forms.comparison.judged_sides import Sides
from forms.stats.before_change import BasePower
from storage.notebook import Notebook
from storage.recordings import SERIES


def power_of_stored_base(notebook: Notebook, ids: Sequence[str]) -> BasePower | None:
    """What these series, as the base of a change, will show; None where their runs are too few for any verdict."""
    sides = with_history(notebook, Sides(base=tuple(notebook.all_of(ids)), other=()))
    return power_of_base(sides.base, sides.history)


def power_of_own_baseline(notebook: Notebook, series_id: str) -> BasePower | None:
    """The same of the baseline that the series belongs to, the one named last; None where it belongs to none."""
    baselines = [baseline for baseline in notebook.baselines() if baseline.recording_id == series_id]
    if not baselines:
        return None
    newest = max(baselines, key=attrgetter("set_at"))
    return power_of_stored_base(notebook, notebook.baseline_ids(newest.name, SERIES))
