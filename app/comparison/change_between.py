"""What the notebook knows of the change between two sides of a comparison: a trial of it, gaps on the way to it.

A trial tries one setting against its previous value in many interleaved pairs of runs.
"""

from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

from forms.comparison.judged_sides import Sides, unseen_between
from storage.notebook import Notebook
from storage.records import Evidence

if TYPE_CHECKING:
    from forms.trial.summary import TrialSummary

MOST_CHANGES = 100
"""How many changes back from a series its base is looked for."""


def with_trial(notebook: Notebook, sides: Sides) -> Sides:
    """The sides with a trial of their change; where there is none, of the reverse, from the other back to the base."""
    trial = _trial_of_the_change(notebook, sides)
    if trial is not None:
        return replace(sides, tried=trial)
    trial_back = _trial_of_the_change(notebook, replace(sides, base=sides.other, other=sides.base))
    return replace(sides, tried=trial_back, tried_back=trial_back is not None)


def _trial_of_the_change(notebook: Notebook, sides: Sides) -> "TrialSummary | None":
    """The newest whole trial of the first change, made after it, and measured with the base's settings."""
    base_ids = {series.id for series in sides.base}
    for series in sorted(sides.other, key=attrgetter("created_at")):
        change = series.change
        if change is None or series.base_id not in base_ids or change.evidence is Evidence.CONTRADICTED:
            continue

        from app.comparison.trials import trials_since  # few comparisons need what trials need

        return next(trials_since(notebook, series.created_at, sides.base, change), None)
    return None


def with_unseen_changes(notebook: Notebook, sides: Sides) -> Sides:
    """The sides, with whether a change on the way from the other back to the base is unknown or not confirmed.

    The way goes from each series to the one that it names as its base.
    """
    base = sides.base[0]
    way = [sides.other[0]]
    while way[-1].id != base.id and way[-1].base_id is not None and len(way) <= MOST_CHANGES:
        series_before = notebook.all_of([way[-1].base_id])
        if not series_before:
            break
        way += series_before
    return replace(sides, unseen=unseen_between(base.id, way))
