"""Series that a change can be compared with: that of this round, and the baseline that was named last."""

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from app.comparison.sides import series_with_repeats
from app.comparison.stored_base import power_of_stored_base
from app.guide.context import StoredBase
from app.method.base_repeats import is_likely_unchanged, is_measurable_now
from app.method.choices import GuideChoices, MethodStep
from storage import records
from storage.notebook import Notebook
from storage.recordings import SERIES

if TYPE_CHECKING:
    from forms.comparison.judged_sides import Sides

_STEPS_OF_PLACES = {MethodStep.TARGET, MethodStep.FILE}
_STEPS_OF_BASES = {MethodStep.EXPECTED, MethodStep.CHANGE}


def series_as_base(
    notebook: Notebook, choices: GuideChoices, series: records.Series, proof: "Sides | None"
) -> StoredBase | None:
    """The series of the round as the base of the next change; None at other steps, and while one is proven."""
    is_proven = proof is not None and choices.step is not MethodStep.CHANGE
    if choices.step not in _STEPS_OF_BASES or is_proven or not series.measured():
        return None
    ids = tuple(repeat.id for repeat in _repeats_of_its_side(notebook, series))
    return StoredBase(series=series, ids=ids, power=power_of_stored_base(notebook, ids))


def _repeats_of_its_side(notebook: Notebook, series: records.Series) -> list[records.Series]:
    """The series and its repeats, without those of a baseline that it is not of: something may have changed since."""
    names_by_id: dict[str, set[str]] = {}
    for baseline in notebook.baselines():
        names_by_id.setdefault(baseline.recording_id, set()).add(baseline.name)

    own_names = names_by_id.get(series.id, set())
    repeats = series_with_repeats(notebook, series)
    return [repeat for repeat in repeats if names_by_id.get(repeat.id, set()) <= own_names]


def newest_baseline(notebook: Notebook, choices: GuideChoices, practice: Sequence[records.Target]) -> StoredBase | None:
    """The baseline that was named last, where a round begins in which nothing else is under way.

    Left out are baselines that were imported, since their server may be anybody's; those of practice servers that are
    gone; and beside practice servers those of others.
    """
    is_other_under_way = choices.spec.lineage.base_id is not None or choices.again_name is not None
    if choices.series_id is not None or is_other_under_way or choices.step not in _STEPS_OF_PLACES:
        return None

    newest_first = sorted(notebook.baselines(), key=attrgetter("set_at"), reverse=True)
    for name in dict.fromkeys(baseline.name for baseline in newest_first):
        all_series = [series for series in notebook.all_of(notebook.baseline_ids(name, SERIES)) if series.measured()]
        newest = max(all_series, key=attrgetter("created_at"), default=None)
        if newest is None or not is_measurable_now(newest, practice):
            continue
        ids = tuple(series.id for series in all_series)
        # A round that begins later likely begins after the change.
        power = power_of_stored_base(notebook, ids) if is_likely_unchanged(newest) else None
        return StoredBase(series=newest, ids=ids, power=power, baseline=name)
    return None
