"""Repeats of a base before a change, by a plan: measured one after the other without a further question.

After the change nobody can come back to the base. Series of it some minutes apart tell how far the path moves by
itself, so that a smaller change will show. The choices of a round hold the plan: how many repeats, which one this round
measures, and how far apart they begin; so the guide resumes the plan wherever it was left.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from app.comparison.sides import series_with_repeats
from app.method.choices import GuideChoices, MethodStep, choices_to_repeat
from app.recording.spec import Lineage
from forms.comparison.settling import SettlingStep
from forms.findings.path import is_practice
from forms.stats.before_change import SPACING_SECONDS, RepeatPlan
from forms.tuning.differences import is_repeat
from storage.notebook import Notebook
from storage.records import Phase, Series, Target

_UNCHANGED_SECONDS = 3600.0
"""After so long something was likely changed, and a new series would be no repeat of the base."""
_server_of = attrgetter("protocol", "host", "port")


def is_measurable_now(series: Series, practice: Sequence[Target]) -> bool:
    """Whether its server may be measured from here.

    Not where the series was imported, since its server may be anybody's, nor on a practice server that is gone: each
    time that they start they have other ports. Beside practice servers only they are measured.
    """
    if series.imported_at is not None:
        return False
    if not practice:
        return not is_practice(series)
    return _server_of(series.target) in {_server_of(target) for target in practice}


def is_likely_unchanged(series: Series) -> bool:
    """Whether it was measured so lately that a series measured now would be a repeat of it."""
    return time.time() - series.moment < _UNCHANGED_SECONDS


def plan_of_step(step: SettlingStep) -> RepeatPlan:
    """The repeats of the other side that would settle a comparison."""
    return RepeatPlan(series=step.count, spacing_seconds=step.spacing_seconds, shows_percent=step.shows_percent)


def first_repeat(choices: GuideChoices, base: Series, plan: RepeatPlan) -> GuideChoices:
    """The round of the first repeat; ``choices`` is the round that is left."""
    return _first_of_repeats(choices, base, plan.series, plan.spacing_seconds)


def repeat_once(choices: GuideChoices, series: Series) -> GuideChoices:
    """The round of one more series like this one, right away; ``choices`` is the round that is left."""
    return _first_of_repeats(choices, series, 1, spacing_seconds=0.0)


def repeat_later(choices: GuideChoices, series: Series) -> GuideChoices:
    """The same, but some time after the series: series in a row tell little of how far the path moves by itself."""
    return _first_of_repeats(choices, series, 1, spacing_seconds=SPACING_SECONDS)


def _first_of_repeats(choices: GuideChoices, base: Series, count: int, spacing_seconds: float) -> GuideChoices:
    repeat = choices_to_repeat(choices, base, None)
    # Of the round, not of the series: a survey that the base is part of takes no further ones.
    lineage = Lineage(experiment=choices.spec.lineage.experiment, base_id=base.id, repeats=True)
    return replace(
        repeat,
        spec=replace(repeat.spec, lineage=lineage),
        quiet=choices.quiet or repeat.quiet,
        planned_repeats=count,
        repeat_number=1,
        spacing_seconds=spacing_seconds,
    )


def round_after_repeat(choices: GuideChoices) -> GuideChoices:
    """The round of the next repeat; after the last one, the page that compares it."""
    if choices.repeat_number < choices.planned_repeats:
        return replace(
            choices,
            repeat_number=choices.repeat_number + 1,
            series_id=None,
            reviewed=False,
            compared=False,
            step=MethodStep.RUN,
        )
    return replace(
        choices,
        planned_repeats=0,
        repeat_number=0,
        spacing_seconds=0.0,
        reviewed=True,
        step=MethodStep.EXPECTED,
    )


def begin_of_repeat(notebook: Notebook, choices: GuideChoices) -> float | None:
    """When the repeat of the round is to begin, in seconds since 1970; None for a round that is none of a plan."""
    base_id = choices.spec.lineage.base_id
    if not choices.planned_repeats or base_id is None:
        return None

    base = series_with_repeats(notebook, notebook.series(base_id))
    newest_at = max(series.moment for series in base)
    # A clock that was set back since then makes nobody wait longer.
    return min(newest_at, time.time()) + choices.spacing_seconds


def was_measured_whole(series: Series) -> bool:
    """Whether the user let it have all of its runs."""
    counts = series.plan.counts if series.plan is not None else None
    if counts is None or counts.until_percent is not None:
        return True
    return sum(run.phase is Phase.MEASURED for run in series.runs) >= counts.runs


def join_baselines(notebook: Notebook, choices: GuideChoices, series_id: str) -> None:
    """Give a repeat the baseline names of its base, unless something has changed between the two."""
    base_id = choices.spec.lineage.base_id
    if not choices.planned_repeats or base_id is None:
        return

    base = notebook.series(base_id)
    if not is_repeat(base, notebook.series(series_id)):
        return
    for baseline in notebook.baselines():
        if baseline.recording_id == base_id:
            notebook.set_baseline(baseline.name, series_id, keep=True)
