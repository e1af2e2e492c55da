"""The page of each step."""

from collections.abc import Callable, Mapping

from app.guide.context import GuideContext
from app.guide.page import Page
from app.guide.pages.change import change_page
from app.guide.pages.compare import compare_page
from app.guide.pages.file import file_page
from app.guide.pages.quiet import quiet_page
from app.guide.pages.review import review_page
from app.guide.pages.run import run_page
from app.guide.pages.target import target_page
from app.guide.pages.warm_up import warm_up_page
from app.method.choices import GuideChoices, MethodStep

_PAGES: Mapping[MethodStep, Callable[[GuideChoices, GuideContext], Page]] = {
    MethodStep.TARGET: target_page,
    MethodStep.FILE: file_page,
    MethodStep.QUIET: quiet_page,
    MethodStep.WARM_UP: warm_up_page,
    MethodStep.RUN: run_page,
    MethodStep.REVIEW: review_page,
    MethodStep.EXPECTED: compare_page,
    MethodStep.CHANGE: change_page,
}


def page_of(choices: GuideChoices, context: GuideContext) -> Page:
    return _PAGES[choices.step](choices, context)
