"""What the keys of ``series_actions`` do with baselines: names given and removed, and repeats that are offered then.

Each function is called in a thread. A baseline is a name that the user gave to recordings to compare others with.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from app.method.choices import GuideChoices
    from forms.stats.before_change import RepeatPlan
    from storage.notebook import Notebook
    from storage.records import Series, Target

# The first paint does not wait for what comes after it, so kinds and forms are imported in the functions below.


def baseline_names(notebook: "Notebook", ids: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names of these, and those of others."""
    baselines = notebook.baselines()
    own_names = {baseline.name for baseline in baselines if baseline.recording_id in ids}
    all_names = {baseline.name for baseline in baselines}
    return sorted(own_names), sorted(all_names - own_names)


class OfferedRepeats(NamedTuple):
    """A plan of repeats of a baseline, and what is said of it."""

    plan: "RepeatPlan"
    text: str


class GivenName(NamedTuple):
    """What came of giving recordings the name of a baseline."""

    renamed_count: int
    """How many other recordings had the name."""
    power: str
    """What they will show after a change, in a sentence; empty where nobody can say."""
    newest_id: str = ""
    """The series that the offered repeats are of; empty where none are offered."""
    offers: tuple[OfferedRepeats, ...] = ()
    """Repeats that are worth measuring before a change, the shortest plan first."""


def give_baseline_name(
    notebook: "Notebook", ids: Sequence[str], name: str, practice: "Sequence[Target]" = ()
) -> GivenName:
    """Give these the name of a baseline; ``practice`` are the practice servers that run now."""
    from app.recording.kind import kind_of
    from app.recording.several import recordings_of_one_kind

    kind = kind_of(recordings_of_one_kind(notebook, ids)[0])
    kind.check_repeats(notebook, ids)
    others = {*notebook.baseline_ids(name)} - {*ids}
    notebook.set_baseline(name, *ids)

    given = GivenName(renamed_count=len(others), power=kind.baseline_power(notebook, ids))
    return _with_offers(notebook, given, notebook.all_of(ids), practice)


def _with_offers(
    notebook: "Notebook", given: GivenName, base: "Sequence[Series]", practice: "Sequence[Target]"
) -> GivenName:
    """What came of it, with the repeats that the base could have before a change that is still to come."""
    from app.comparison.stored_base import power_of_stored_base
    from app.method.base_repeats import is_likely_unchanged, is_measurable_now
    from forms.comparison.bases import plan_line

    newest = max(base, key=attrgetter("created_at"), default=None)
    if newest is None or not is_measurable_now(newest, practice) or not is_likely_unchanged(newest):
        return given
    power = power_of_stored_base(notebook, [series.id for series in base])
    if power is None:
        return given

    offers = tuple(OfferedRepeats(plan=plan, text=plan_line(power, plan)) for plan in power.plans)
    return given._replace(newest_id=newest.id, offers=offers)


def begin_repeats(notebook: "Notebook", base_id: str, plan: "RepeatPlan") -> "GuideChoices":
    from app.method.rounds import repeat_by_plan

    return repeat_by_plan(notebook, base_id, plan)


def remove_baseline_name(notebook: "Notebook", name: str) -> None:
    notebook.remove_baseline(name)
