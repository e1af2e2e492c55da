"""The steps of the method as the guide lists them: which are done, which are blocked, which one is next."""

from dataclasses import dataclass, replace
from enum import StrEnum

from app.guide.context import GuideContext, series_of_sides
from app.guide.page import WORDS
from app.method.base_repeats import round_after_repeat, was_measured_whole
from app.method.choices import STEPS, GuideChoices, MethodStep, QuietChoice
from app.method.proof import next_turn, turns_so_far
from forms import wording
from storage.records import Command, SeriesStatus

TITLES = {step: WORDS[step]["name"] for step in STEPS}

_NEED_A_FILE = {MethodStep.QUIET, MethodStep.WARM_UP, MethodStep.RUN}
_NEED_A_RUN = {MethodStep.REVIEW, MethodStep.EXPECTED, MethodStep.CHANGE}
_NEED_A_VALID_RUN = {MethodStep.EXPECTED, MethodStep.CHANGE}


class StepState(StrEnum):
    DONE = "done"
    CURRENT = "current"
    OPEN = "open"
    BLOCKED = "blocked"

    @property
    def sign(self) -> str:
        return {"done": "✓", "current": "▶", "open": "·", "blocked": "-"}[self.value]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStatus:
    step: MethodStep
    number: int
    title: str
    state: StepState
    detail: str
    """What was chosen in it, or what it needs."""


def standings(choices: GuideChoices, context: GuideContext) -> list[StepStatus]:
    """How far each step of the round is, in their order."""
    return [
        StepStatus(
            step=step,
            number=number,
            title=TITLES[step],
            state=_state(choices, context, step),
            detail=why_blocked(choices, context, step) or _choice_text(choices, context, step),
        )
        for number, step in enumerate(STEPS, 1)
    ]


def why_blocked(choices: GuideChoices, context: GuideContext, step: MethodStep) -> str | None:
    """What is missing for a step; None where it can be opened."""
    if step is not MethodStep.TARGET and choices.target is None:
        return "needs a target"
    if step in _NEED_A_FILE and choices.run_bytes is None:
        return "needs a file"

    series = context.series
    if step in _NEED_A_RUN and not (series and series.runs):
        return "needs a run"
    if step in _NEED_A_VALID_RUN and series is not None and not series.measured():
        return "needs a valid run"
    return None


def is_done(choices: GuideChoices, context: GuideContext, step: MethodStep) -> bool:
    match step:
        case MethodStep.TARGET:
            return choices.target is not None
        case MethodStep.FILE:
            return choices.run_bytes is not None
        case MethodStep.QUIET:
            return choices.quiet is not None
        case MethodStep.WARM_UP:
            return choices.counted
        case MethodStep.RUN:
            return is_measured(choices, context)
        case MethodStep.REVIEW:
            return choices.reviewed
        case MethodStep.EXPECTED:
            return choices.compared
        case MethodStep.CHANGE:
            return False


def is_measured(choices: GuideChoices, context: GuideContext) -> bool:
    """Whether the series of the round, and those of its other targets where it has some, are complete."""
    all_series = series_of_sides(choices, context)
    return all(series is not None and series.status is SeriesStatus.COMPLETE for series in all_series)


def next_step(choices: GuideChoices, context: GuideContext, after: MethodStep) -> MethodStep:
    """The first step after that one that is open and not done; where there is none, the one right after it."""
    later_steps = STEPS[STEPS.index(after) + 1 :]
    for step in later_steps:
        if not is_done(choices, context, step) and not why_blocked(choices, context, step):
            return step
    return later_steps[0] if later_steps else after


def after_measuring(choices: GuideChoices, context: GuideContext) -> GuideChoices:
    """Where the guide continues after a series: at the next repeat or turn of a change, else at the next step."""
    series = context.series
    is_complete = series is not None and series.status is SeriesStatus.COMPLETE
    if choices.planned_repeats and is_complete:
        return round_after_repeat(choices)
    if not choices.interleaved or context.proof is None or not is_complete:
        return replace(choices, step=next_step(choices, context, MethodStep.WARM_UP))

    turns = turns_so_far(context.proof)
    if min(turns.count_a, turns.count_b) >= choices.interleaved:
        return replace(choices, step=MethodStep.EXPECTED, reviewed=True)
    return next_turn(choices, context.proof, choices.interleaved)


def follows_by_itself(following: GuideChoices, context: GuideContext) -> bool:
    """Whether these choices are of a repeat that is measured without a question: not where the user ended the last."""
    series = context.series
    is_repeat_to_come = following.planned_repeats > 0 and following.series_id is None
    return is_repeat_to_come and series is not None and was_measured_whole(series)


def _state(choices: GuideChoices, context: GuideContext, step: MethodStep) -> StepState:
    if step is choices.step:
        return StepState.CURRENT
    if why_blocked(choices, context, step):
        return StepState.BLOCKED
    return StepState.DONE if is_done(choices, context, step) else StepState.OPEN


def _choice_text(choices: GuideChoices, context: GuideContext, step: MethodStep) -> str:
    """What was chosen in a step that is done; empty for the others."""
    if not is_done(choices, context, step):
        return ""
    if step is MethodStep.TARGET and choices.target:
        targets = [choices.target, *(other.target for other in choices.others)]
        return wording.listed([wording.short_place(target) for target in targets])
    if step is MethodStep.FILE and choices.run_bytes is not None:
        command = "put" if choices.spec.command is Command.PUT else "get"
        return f"{command} {wording.file_size(choices.run_bytes)}"
    if step is MethodStep.QUIET:
        return str(WORDS[step][choices.quiet or QuietChoice.RECORD]["done"])
    if step is MethodStep.WARM_UP:
        counts = choices.spec.counts
        return f"{counts.warmups} + {wording.count(counts.runs, 'run')}"
    if step is MethodStep.RUN and context.series:
        return wording.count(len(context.series.measured()), "valid run")
    return ""
