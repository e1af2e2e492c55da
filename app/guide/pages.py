"""The page of each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.guide import after_run, before_run
from app.guide.choices import Choices, Step
from app.guide.known import Known
from app.guide.page import Page

_PAGES: Mapping[Step, Callable[[Choices, Known], Page]] = {
    Step.TARGET: before_run.target_page,
    Step.FILE: before_run.file_page,
    Step.QUIET: before_run.quiet_page,
    Step.WARM_UP: before_run.warm_up_page,
    Step.RUN: after_run.run_page,
    Step.REVIEW: after_run.review_page,
    Step.EXPECTED: after_run.expected_page,
    Step.CHANGE: after_run.change_page,
}


def page_of(choices: Choices, known: Known) -> Page:
    """The page of the step that is open."""
    return _PAGES[choices.step](choices, known)
