"""The method's order: which steps are done, which is open, which are blocked and by what."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.guide.choices import STEPS, Choices, Step
from app.guide.known import Known
from app.targets import format_target
from forms import wording
from storage.records import SeriesStatus

TITLES = {
    Step.TARGET: "Target",
    Step.FILE: "File",
    Step.QUIET: "Quiet time",
    Step.WARM_UP: "Warm up",
    Step.RUN: "Run",
    Step.REVIEW: "Review",
    Step.EXPECTED: "Compare",
    Step.CHANGE: "Change one",
}


class State(StrEnum):
    """How a step stands; each has a sign of its own."""

    DONE = "done"
    CURRENT = "current"
    OPEN = "open"
    BLOCKED = "blocked"

    @property
    def sign(self) -> str:
        """One character that stands for the word."""
        return {"done": "✓", "current": "▶", "open": "·", "blocked": "-"}[self.value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One step in the list on the left."""

    step: Step
    number: int
    title: str
    state: State
    detail: str
    """What was chosen, or what blocks it."""


def standings(choices: Choices, known: Known) -> list[Standing]:
    """All steps with their states, in order."""
    return [
        Standing(
            step=step,
            number=number,
            title=TITLES[step],
            state=_state(choices, known, step),
            detail=blocked(choices, known, step) or _chosen(choices, known, step),
        )
        for number, step in enumerate(STEPS, 1)
    ]


def blocked(choices: Choices, known: Known, step: Step) -> str | None:
    """What must be done before the step can be taken; None where nothing."""
    if step is not Step.TARGET and choices.target is None:
        return "needs a target"
    if step in {Step.QUIET, Step.WARM_UP, Step.RUN} and choices.run_bytes is None:
        return "needs a file"
    if step in {Step.REVIEW, Step.EXPECTED, Step.CHANGE} and (known.series is None or not known.series.runs):
        return "needs a run"
    if step in {Step.EXPECTED, Step.CHANGE} and known.series is not None and not known.series.measured():
        return "needs a valid run"
    return None


def done(choices: Choices, known: Known, step: Step) -> bool:
    """Whether the step has been taken in this round."""
    complete = known.series is not None and known.series.status is SeriesStatus.COMPLETE
    return {
        Step.TARGET: choices.target is not None,
        Step.FILE: choices.run_bytes is not None,
        Step.QUIET: choices.quiet is not None,
        Step.WARM_UP: choices.counted,
        Step.RUN: complete,
        Step.REVIEW: choices.reviewed,
        Step.EXPECTED: choices.compared,
        Step.CHANGE: False,
    }[step]


def next_step(choices: Choices, known: Known, after: Step) -> Step:
    """The first step after this one that is neither done nor blocked; else the one that follows."""
    later = STEPS[STEPS.index(after) + 1 :]
    for step in later:
        if not done(choices, known, step) and not blocked(choices, known, step):
            return step
    return later[0] if later else after


def step_before(step: Step) -> Step | None:
    """The step before; None for the first."""
    place = STEPS.index(step)
    return STEPS[place - 1] if place else None


def _state(choices: Choices, known: Known, step: Step) -> State:
    if step is choices.step:
        return State.CURRENT
    if blocked(choices, known, step):
        return State.BLOCKED
    return State.DONE if done(choices, known, step) else State.OPEN


def _chosen(choices: Choices, known: Known, step: Step) -> str:
    """What was chosen in a step that is done, in a few words."""
    if not done(choices, known, step):
        return ""
    if step is Step.TARGET and choices.target:
        return wording.plain(format_target(choices.target))
    if step is Step.FILE and choices.run_bytes is not None:
        what = "put" if choices.command.value == "put" else "get"
        return f"{what} {wording.size(choices.run_bytes)}"
    if step is Step.QUIET:
        return {
            "record": "look and record",
            "require": "only when quiet",
            "wait": "wait for quiet",
            "skip": "not looked at",
        }.get(choices.quiet or "", "")
    if step is Step.WARM_UP:
        return f"{choices.warmups} + {wording.count(choices.runs, 'run')}"
    if step is Step.RUN and known.series:
        return wording.count(len(known.series.measured()), "valid run")
    return ""
