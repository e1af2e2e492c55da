"""What can be done next, as lines to choose: after a series and after a survey.

``next_after_comparison`` and ``next_after_recording`` do the same for the rest. Each ``after_…`` function yields the
steps that a screen offers, the best one first. A step begins a round of the guide, opens another screen, or both. (A
round of the guide is: choose what to measure, measure one series, and hold it against its base.)
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from app.method.choices import GuideChoices
from app.method.improvements import Improvement, improvements_of
from app.method.rounds import branch_from, measure_again, repeat_of, round_to_correct
from forms.experiments.survey import Survey
from forms.stats.decision import LEAST_RUNS
from forms.wording import plain
from storage.notebook import Notebook
from storage.records import Series, SeriesStatus

BeginRound = Callable[[Notebook], GuideChoices]
"""Begins a round of the guide: remembers the round's choices in the notebook, and returns them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """A line to choose, and what is done then: ``choices`` is called first, and the screen is opened after it."""

    name: str
    """The line."""
    choices: BeginRound | None = None
    """None where no round of the guide is begun."""
    screen: str = ""
    """The screen that is opened, as ``screens.txt`` calls it; empty for the guide, which shows the round begun."""
    arguments: Mapping[str, object] = field(default_factory=dict)
    """What that screen's constructor is called with."""


LOOK_AT_ALL = NextStep(name="Look at everything first: survey the server", screen="survey")

FINISH = NextStep(name="Finish: back to the notebook", screen="notebook")


def repeat_step(name: str, series_id: str, better: Improvement | None = None) -> NextStep:
    """Measure the series again, with an improvement if one is given."""
    return NextStep(name=name, choices=partial(repeat_of, series_id=series_id, better=better))


def change_step(name: str, series_id: str) -> NextStep:
    """Change one thing, with the series as the base of that change."""
    return NextStep(name=name, choices=partial(branch_from, series_id=series_id))


def give_link_step(name: str, series_id: str) -> NextStep:
    """To give a series the link speed that it was measured over, which may make a past change certain."""
    return NextStep(
        name=f"Give {name} its link speed: step 6 of the guide sets it",
        choices=partial(round_to_correct, series_id=series_id),
    )


TO_COME = "Change one thing (a change that is still to be made)"
"""The line beside a baseline, where the change may have been made already."""


def after_series(series: Series, baselines: Sequence[str] = ()) -> Iterator[NextStep]:
    """``baselines`` are the names that the series has as a baseline."""
    if series.status is SeriesStatus.INTERRUPTED and series.running_by is None:
        yield NextStep(name="Resume where it stopped", choices=partial(measure_again, series_id=series.id))

    is_complete_baseline = bool(baselines) and series.status is SeriesStatus.COMPLETE
    if is_complete_baseline:
        # Who opens a baseline has most likely made the change that it was named for.
        name = f"Measure against {plain(baselines[0])}: after a change that you made"
        yield NextStep(name=name, choices=partial(measure_again, series_id=series.id, baseline=baselines[0]))
    for improvement in improvements_of(series):
        yield repeat_step(improvement.name, series.id, improvement)
    if series.status is SeriesStatus.COMPLETE and len(series.measured()) >= LEAST_RUNS:
        yield change_step(TO_COME if is_complete_baseline else "Change one thing", series.id)

    # A series with a change is repeated in its experiment, since that proves the change.
    begins_anew = series.change is None and series.status is SeriesStatus.COMPLETE
    begin_round = measure_again if begins_anew else repeat_of
    if not (is_complete_baseline and begins_anew):
        yield NextStep(name="Measure the same again", choices=partial(begin_round, series_id=series.id))
    if series.environment.get("server"):
        yield NextStep(name="See what the server had set", screen="catalogue", arguments={"series_id": series.id})
    yield LOOK_AT_ALL


def after_survey(survey: Survey) -> Iterator[NextStep]:
    if not survey.complete:
        yield NextStep(name="Resume the survey", screen="survey")
    # The finding to act on first; None where none asks for anything.
    if survey.first is not None and survey.first.series_ids:
        yield change_step("Change ONE thing there, and measure again", survey.first.series_ids[0])
    yield NextStep(name="See what can be changed: the catalogue", screen="catalogue")
    if survey.complete:
        yield NextStep(name="Survey the server again", screen="survey")
