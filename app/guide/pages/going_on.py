"""The way from a page to the next step that is not done."""

from dataclasses import replace

from app.guide.context import GuideContext
from app.guide.page import Go
from app.guide.steps import next_step
from app.method.choices import GuideChoices, MethodStep


def go_on(choices: GuideChoices, context: GuideContext, after: MethodStep) -> Go:
    """Take the choices, and open the next step after that one that is not done.

    ``context`` may tell of the series before, which is not of what was just chosen.
    """
    own_context = context if choices.series_id else replace(context, series=None)
    return Go(replace(choices, step=next_step(choices, own_context, after)))
