"""What can be done next: after a series, a comparison, a survey, or another recording.

Every function yields the steps that are offered, the best one first. A step begins a round of the guide (its choices),
opens another screen, or both, in that order.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from app.isolation.spec import DEFAULT_SECONDS
from app.load.spec import CAPACITY
from app.method.choices import GuideChoices
from app.method.improvements import BETTER, QUIET_FILE, Improvement, improvements_of
from app.method.rounds import branch_from, interleaved_by_hand, measure_again, repeat_of
from app.trial.spec import StoredTrial
from forms.audit.remedies import remedies
from forms.comparison.comparison import Comparison, can_interleave, needs_longer_runs
from forms.comparison.settling import SettlingStep
from forms.comparison.wording import interleaving, settling_sentence
from forms.experiments.survey import Survey
from forms.isolation.summary import isolation_summary
from forms.isolation.verdict import IsolationDoubt, IsolationVerdict
from forms.isolation.wording import look_at
from forms.stats.decision import LEAST_RUNS, Doubt, Verdict
from forms.stats.settle import Way
from forms.tuning.catalogue import about
from storage.isolation import Isolation
from storage.load.records import Load, PointStatus
from storage.looks import AUDIT, DIAGNOSIS, Audit, Diagnosis
from storage.notebook import Notebook
from storage.recordings import ISOLATION, LOAD
from storage.records import ExperimentKind, RunStatus, Series, SeriesStatus, format_target

Round = Callable[[Notebook], GuideChoices]
"""Begins a round of the guide, and remembers it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """What can be done next, as a line to choose."""

    name: str
    choices: Round | None = None
    """None where no round of the guide is begun."""
    screen: str = ""
    """The screen that is opened, as ``screens.txt`` calls it; empty: the guide, if a round is begun."""
    arguments: Mapping[str, object] = field(default_factory=dict)
    """Of that screen's constructor."""


_TURNS = "Measure both again, interleaved"
_LOOK_AT_ALL = NextStep(name="Look at everything first: survey the server", screen="survey")


def _repeat(name: str, series_id: str, better: Improvement | None = None) -> NextStep:
    return NextStep(name=name, choices=partial(repeat_of, series_id=series_id, better=better))


def _change(name: str, series_id: str) -> NextStep:
    return NextStep(name=name, choices=partial(branch_from, series_id=series_id))


def after_series(series: Series) -> Iterator[NextStep]:
    if series.status is SeriesStatus.INTERRUPTED and series.running_by is None:
        yield NextStep(name="Resume where it stopped", choices=partial(measure_again, series_id=series.id))
    for improvement in improvements_of(series):
        yield _repeat(improvement.name, series.id, improvement)
    if series.status is SeriesStatus.COMPLETE and len(series.measured()) >= LEAST_RUNS:
        yield _change("Change one thing", series.id)

    # Of a series with a change the repeat is a proof of the change.
    begins_anew = series.change is None and series.status is SeriesStatus.COMPLETE
    same_again = partial(measure_again if begins_anew else repeat_of, series_id=series.id)
    yield NextStep(name="Measure the same again", choices=same_again)
    if series.environment.get("server"):
        yield NextStep(name="See what the server had set", screen="catalogue", arguments={"series_id": series.id})
    yield _LOOK_AT_ALL


def after_comparison(comparison: Comparison) -> Iterator[NextStep]:
    if comparison.settle is not None:
        yield _settling_step(comparison, comparison.settle)

    runs_to_settle = comparison.needed_runs if can_interleave(comparison) else None
    runs = runs_to_settle or max(comparison.base_runs, comparison.other_runs)
    series_and_runs = {"base": comparison.base_id, "other": comparison.other_id, "runs": runs}
    interleaved_again = NextStep(name=_TURNS, screen="interleaved", arguments=series_and_runs)
    if runs_to_settle:
        yield NextStep(name=interleaving(comparison), screen="interleaved", arguments=series_and_runs)

    if _is_worth_longer_runs(comparison):
        if comparison.interleaved and comparison.busy_ids:
            # A disturbed moment passes sooner than a large file is made.
            yield interleaved_again
        yield _with_larger_file(comparison)

    yield from _change_after(comparison)
    yield from _repeats_of_sides(comparison)
    has_better_step = bool(comparison.settle is not None or runs_to_settle)
    was_offered_above = bool(comparison.busy_ids) and needs_longer_runs(comparison)
    if comparison.interleaved and not has_better_step and not was_offered_above:
        yield interleaved_again
    yield _LOOK_AT_ALL


def _is_worth_longer_runs(comparison: Comparison) -> bool:
    """Whether the runs are too short for the answer, or it is open and pairs of series varied or runs were short."""
    is_open = comparison.decided is Verdict.UNKNOWN
    pairs_vary = comparison.tried is not None and comparison.tried.doubt is Doubt.VARYING
    return needs_longer_runs(comparison) or (is_open and (pairs_vary or comparison.has_short_runs))


def _with_larger_file(comparison: Comparison) -> NextStep:
    improvement = QUIET_FILE if comparison.busy_ids else BETTER["short"]
    name = improvement.name
    # Both sides need the larger file, and a change is made anew once its base was measured with it.
    if comparison.doubt is not Doubt.SAME_SETTINGS:
        name += ": the base first"
    again = partial(repeat_of, series_id=comparison.base_id, better=improvement, then=comparison.the_change)
    return NextStep(name=name, choices=again)


def _change_after(comparison: Comparison) -> Iterator[NextStep]:
    """Another change, from the side that the answer says is the better one to start from."""
    is_settled = comparison.decided is not Verdict.UNKNOWN
    if is_settled and (comparison.change or comparison.tried or comparison.interleaved):
        if comparison.decided is Verdict.FASTER:
            start = f"{comparison.other_name} (the other)"
            start_id = comparison.other_id
        else:
            start = f"{comparison.base_name} (the base)"
            start_id = comparison.base_id
        yield _change(f"It is settled. For another change, start from {start}", start_id)
    if comparison.doubt is Doubt.SAME_SETTINGS:
        yield _change("Change one thing", comparison.other_id)


def _repeats_of_sides(comparison: Comparison) -> Iterator[NextStep]:
    """Each side once more: with more runs where these were too few, else as it was, or at a quiet time."""
    base = (comparison.base_name, comparison.base_id)
    other = (comparison.other_name, comparison.other_id)
    if comparison.doubt in (Doubt.NO_RUNS, Doubt.FEW_RUNS, Doubt.VARYING):
        more_runs = BETTER["scatter"]
        for name, series_id in (base, other):
            yield _repeat(f"{more_runs.name}: {name}", series_id, more_runs)

    if comparison.interleaved:
        return
    # Sides of the same settings are repeats of each other already.
    sides = (base,) if comparison.doubt is Doubt.SAME_SETTINGS else (base, other)
    for name, series_id in sides:
        if series_id in comparison.busy_ids:
            wait = BETTER["busy"]
            yield _repeat(f"{wait.name}: {name}", series_id, wait)
        else:
            yield _repeat(f"Measure again: {name}", series_id)


def _settling_step(comparison: Comparison, step: SettlingStep) -> NextStep:
    """What the comparison itself says would settle it, as a step that does it."""
    sentence = settling_sentence(step)
    match step.way:
        case Way.TRY:
            base = partial(repeat_of, series_id=comparison.base_id)
            return NextStep(name=sentence, choices=base, screen="trial", arguments={"setting": step.setting})
        case Way.INTERLEAVED:
            series_and_runs = {"base": comparison.base_id, "other": comparison.other_id, "runs": step.count}
            return NextStep(name=sentence, screen="interleaved", arguments=series_and_runs)
        case Way.ALTERNATING if comparison.change is not None and step.series_a_side:
            turn = partial(interleaved_by_hand, changed_id=comparison.other_id, each=step.series_a_side)
            return NextStep(name=sentence, choices=turn)
        case _:
            return _repeat(sentence, step.first_id)


def after_survey(survey: Survey) -> Iterator[NextStep]:
    if not survey.complete:
        yield NextStep(name="Resume the survey", screen="survey")
    if survey.first is not None and survey.first.series_ids:
        yield _change("Change ONE thing there, and measure again", survey.first.series_ids[0])
    yield NextStep(name="See what can be changed: the catalogue", screen="catalogue")
    if survey.complete:
        yield NextStep(name="Survey the server again", screen="survey")


_SETTING = NextStep(name="Choose a setting to try: the catalogue", screen="catalogue")
_SETTINGS = NextStep(name="Check the server's settings: audit", screen="audit")
_AFTER_KIND = {
    LOAD: (
        NextStep(name="Load it again, for longer or with other users", screen="load"),
        NextStep(name="Find the limit: disk, network or Samba", screen="isolation"),
        _SETTINGS,
    ),
    ISOLATION: (NextStep(name="Isolate again", screen="isolation"), _SETTINGS, _SETTING),
    AUDIT: (NextStep(name="Measure a file", screen="guide"), _SETTING, NextStep(name="Audit again", screen="audit")),
    DIAGNOSIS: (_SETTING, _SETTINGS, NextStep(name="Diagnose again", screen="diagnosis")),
    ExperimentKind.SURVEY: (_SETTING, NextStep(name="Survey the server again", screen="survey")),
}


def after_recording(kind: str, record: object) -> Iterator[NextStep]:
    """What can follow a record that is no series: first what its answer advises."""
    if isinstance(record, Isolation | Diagnosis | Load) and record.status is SeriesStatus.INTERRUPTED:
        yield NextStep(name="Open it, to resume it", screen="stored", arguments={"recording_id": record.id})

    match record:
        case Isolation():
            yield from _after_isolation(record)
        case Load():
            if all(point.status is PointStatus.VALID for point in record.points):
                name = "Find its limit: as many users as it carries"
                yield NextStep(name=name, screen="load", arguments={"users": CAPACITY})
        case Audit():
            for remedy in remedies(record.findings)[:1]:
                setting = f"{remedy.name} = {remedy.value}"
                yield NextStep(name=f"Try {setting}", screen="trial", arguments={"setting": setting})
        case StoredTrial():
            yield from _after_trial(kind, record)
    yield from _AFTER_KIND.get(kind, (_SETTING, _LOOK_AT_ALL))


def _after_isolation(isolation: Isolation) -> Iterator[NextStep]:
    verdict = isolation_summary(isolation).verdict
    for name in look_at(verdict):
        yield _read_about(name)
    if _is_worth_longer_isolation(isolation, verdict):
        # Twice as many and twice as long: so doubled again until it is enough.
        rounds = 2 * isolation.rounds
        seconds = max(DEFAULT_SECONDS, 2 * (isolation.seconds or DEFAULT_SECONDS))
        arguments = {"target": format_target(isolation.target), "rounds": str(rounds), "seconds": str(seconds)}
        name = f"Isolate again, {rounds} rounds of runs of {seconds} s"
        yield NextStep(name=name, screen="isolation", arguments=arguments)


def _is_worth_longer_isolation(isolation: Isolation, verdict: IsolationVerdict) -> bool:
    """Whether runs varied too much, or some of a layer failed and others of it did not."""
    if IsolationDoubt.VARYING in verdict.doubts[:1]:
        return True
    failed_layers = {run.layer for run in isolation.runs if run.status is RunStatus.FAILED}
    return any(run.layer in failed_layers for run in isolation.runs if run.status is not RunStatus.FAILED)


def _after_trial(kind: str, trial: StoredTrial) -> Iterator[NextStep]:
    for entry in about(trial.plan.name)[:1]:
        yield _read_about(entry.name)
    if kind == ExperimentKind.TRIAL:
        setting = f"{trial.plan.name} = {trial.plan.values[0]}"
        yield NextStep(name=f"Try {setting} again", screen="trial", arguments={"setting": setting})


def _read_about(name: str) -> NextStep:
    return NextStep(name=f"Read about {name}", screen="entry", arguments={"entry": name})
