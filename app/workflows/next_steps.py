"""Next steps after a series, comparison or survey, the recommended ones first."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from app.workflows.guide.choices import GuideChoices
from app.workflows.guide.rounds import BETTER, branch_from, measure_again, measured_better, repeat_of
from forms.comparison.comparison import Comparison
from forms.experiments.summary import Survey
from forms.findings.series_warnings import advice
from forms.stats.decision import Doubt
from forms.stats.settle import Way
from storage.notebook import Notebook
from storage.records import Series, SeriesStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """One choice."""

    name: str
    choices: Callable[[Notebook], GuideChoices] | None = None
    screen: str = ""
    arguments: Mapping[str, object] = field(default_factory=dict)


_LOOK_AT_ALL = NextStep(name="Look at everything first: survey the server", screen="survey")


def after_series(series: Series) -> Iterator[NextStep]:
    """After a series: what its findings recommend, the same series again, then the overview."""
    if series.status is SeriesStatus.INTERRUPTED and series.running_by is None:
        yield NextStep(name="Resume where it stopped", choices=partial(measure_again, series_id=series.id))
    told: set[str] = set()
    for said in advice(series):
        name = BETTER[said.key][0] if said.key in BETTER else ""
        if name and name not in told:
            told.add(name)
            yield NextStep(name=name, choices=partial(measured_better, series_id=series.id, advised=said.key))
    yield NextStep(name="Measure the same again", choices=partial(repeat_of, series_id=series.id))
    yield _LOOK_AT_ALL


def after_comparison(found: Comparison) -> Iterator[NextStep]:
    """After a comparison: what would settle an inconclusive one, then the overview."""
    base = NextStep(name="Measure the baseline again", choices=partial(repeat_of, series_id=found.base_id))
    other = NextStep(name="Measure the other again", choices=partial(repeat_of, series_id=found.other_id))
    step = found.settle
    if step is not None and step.way is Way.TRY:
        at = partial(repeat_of, series_id=found.base_id)
        yield NextStep(name=step.sentence, choices=at, screen="trial", arguments={"setting": step.setting})
    if found.doubt in (Doubt.NO_RUNS, Doubt.FEW_RUNS, Doubt.VARYING):
        for which, series_id in (("the baseline", found.base_id), ("the other", found.other_id)):
            more = partial(measured_better, series_id=series_id, advised="scatter")
            yield NextStep(name=f"Measure {which} again with more runs", choices=more)
    yield from (base, other)
    yield _LOOK_AT_ALL


def after_survey(found: Survey) -> Iterator[NextStep]:
    """After a survey: what is missing, the recommended change, then all changes."""
    if not found.complete:
        yield NextStep(name="Resume the survey", screen="survey")
    if found.first is not None and found.first.series_ids:
        change = partial(branch_from, series_id=found.first.series_ids[0])
        yield NextStep(name="Change ONE thing there, and measure again", choices=change)
    yield NextStep(name="See what can be changed: the catalogue", screen="catalogue")
    if found.complete:
        yield NextStep(name="Survey the server again", screen="survey")
