"""The method's order: which steps are done, which is open, which are blocked and by what."""

from dataclasses import dataclass
from enum import StrEnum

from app.workflows.guide.choices import STEPS, GuideChoices, MethodStep
from app.workflows.guide.known import GuideContext
from forms import wording
from storage.records import SeriesStatus

TITLES = {
    MethodStep.TARGET: "Target",
    MethodStep.FILE: "File",
    MethodStep.QUIET: "Quiet time",
    MethodStep.WARM_UP: "Warm up",
    MethodStep.RUN: "Run",
    MethodStep.REVIEW: "Review",
    MethodStep.EXPECTED: "Compare",
    MethodStep.CHANGE: "Change one",
}


class StepState(StrEnum):
    """How a step stands; each has a sign of its own."""

    DONE = "done"
    CURRENT = "current"
    OPEN = "open"
    BLOCKED = "blocked"

    @property
    def sign(self) -> str:
        return {"done": "✓", "current": "▶", "open": "·", "blocked": "-"}[self.value]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStatus:
    """One step in the list on the left."""

    step: MethodStep
    number: int
    title: str
    state: StepState
    detail: str


def standings(choices: GuideChoices, known: GuideContext) -> list[StepStatus]:
    """All steps with their states, in order."""
    return [
        StepStatus(
            step=step,
            number=number,
            title=TITLES[step],
            state=_state(choices, known, step),
            detail=blocked(choices, known, step) or _chosen(choices, known, step),
        )
        for number, step in enumerate(STEPS, 1)
    ]


def blocked(choices: GuideChoices, known: GuideContext, step: MethodStep) -> str | None:
    """What must be done before the step can be taken; None where nothing."""
    if step is not MethodStep.TARGET and choices.target is None:
        return "needs a target"
    if step in {MethodStep.QUIET, MethodStep.WARM_UP, MethodStep.RUN} and choices.run_bytes is None:
        return "needs a file"
    if step in {MethodStep.REVIEW, MethodStep.EXPECTED, MethodStep.CHANGE} and (
        known.series is None or not known.series.runs
    ):
        return "needs a run"
    if step in {MethodStep.EXPECTED, MethodStep.CHANGE} and known.series is not None and not known.series.measured():
        return "needs a valid run"
    return None


def done(choices: GuideChoices, known: GuideContext, step: MethodStep) -> bool:
    """Whether the step has been taken in this round."""
    complete = known.series is not None and known.series.status is SeriesStatus.COMPLETE
    return {
        MethodStep.TARGET: choices.target is not None,
        MethodStep.FILE: choices.run_bytes is not None,
        MethodStep.QUIET: choices.quiet is not None,
        MethodStep.WARM_UP: choices.counted,
        MethodStep.RUN: complete,
        MethodStep.REVIEW: choices.reviewed,
        MethodStep.EXPECTED: choices.compared,
        MethodStep.CHANGE: False,
    }[step]


def next_step(choices: GuideChoices, known: GuideContext, after: MethodStep) -> MethodStep:
    """The first step after this one that is neither done nor blocked; else the one that follows."""
    later = STEPS[STEPS.index(after) + 1 :]
    for step in later:
        if not done(choices, known, step) and not blocked(choices, known, step):
            return step
    return later[0] if later else after


def step_before(step: MethodStep) -> MethodStep | None:
    """The step before; None for the first."""
    place = STEPS.index(step)
    return STEPS[place - 1] if place else None


def _state(choices: GuideChoices, known: GuideContext, step: MethodStep) -> StepState:
    if step is choices.step:
        return StepState.CURRENT
    if blocked(choices, known, step):
        return StepState.BLOCKED
    return StepState.DONE if done(choices, known, step) else StepState.OPEN


def _chosen(choices: GuideChoices, known: GuideContext, step: MethodStep) -> str:
    if not done(choices, known, step):
        return ""
    if step is MethodStep.TARGET and choices.target:
        return wording.short_place(choices.target)
    if step is MethodStep.FILE and choices.run_bytes is not None:
        what = "put" if choices.command.value == "put" else "get"
        return f"{what} {wording.file_size(choices.run_bytes)}"
    if step is MethodStep.QUIET:
        return {
            "record": "look and record",
            "require": "only when quiet",
            "wait": "wait for quiet",
            "skip": "not looked at",
        }.get(choices.quiet or "", "")
    if step is MethodStep.WARM_UP:
        return f"{choices.warmups} + {wording.count(choices.runs, 'run')}"
    if step is MethodStep.RUN and known.series:
        return wording.count(len(known.series.measured()), "valid run")
    return ""
