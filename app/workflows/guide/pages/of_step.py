"""The page of each step."""

from collections.abc import Callable, Mapping

from app.workflows.guide.pages import after_run, before_run, review
from app.workflows.guide.pages.page import Page
from app.workflows.guide.state.choices import GuideChoices, MethodStep
from app.workflows.guide.state.guide_context import GuideContext

_PAGES: Mapping[MethodStep, Callable[[GuideChoices, GuideContext], Page]] = {
    MethodStep.TARGET: before_run.target_page,
    MethodStep.FILE: before_run.file_page,
    MethodStep.QUIET: before_run.quiet_page,
    MethodStep.WARM_UP: before_run.warm_up_page,
    MethodStep.RUN: after_run.run_page,
    MethodStep.REVIEW: review.review_page,
    MethodStep.EXPECTED: after_run.expected_page,
    MethodStep.CHANGE: after_run.change_page,
}


def page_of(choices: GuideChoices, known: GuideContext) -> Page:
    """The page of the step that is open."""
    return _PAGES[choices.step](choices, known)
