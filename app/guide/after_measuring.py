"""Where the guide continues after a series."""

from dataclasses import replace

from app.guide.context import GuideContext
from app.guide.steps import next_step
from app.method.choices import GuideChoices, MethodStep
from app.method.proof import next_turn, turns_so_far
from storage.records import SeriesStatus


def after_measuring(choices: GuideChoices, context: GuideContext) -> GuideChoices:
    """At the next turn of an interleaved change, else at the next step."""
    series = context.series
    is_complete = series is not None and series.status is SeriesStatus.COMPLETE
    if not choices.interleaved or context.proof is None or not is_complete:
        return replace(choices, step=next_step(choices, context, MethodStep.WARM_UP))

    turns = turns_so_far(context.proof)
    if min(turns.count_a, turns.count_b) >= choices.interleaved:
        return replace(choices, step=MethodStep.EXPECTED, reviewed=True)
    return next_turn(choices, context.proof, choices.interleaved)
