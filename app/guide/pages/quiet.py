"""The page of the quiet time: it is chosen what is done about other load on this machine and the server."""

from collections.abc import Iterator
from dataclasses import replace

from app.guide.context import GuideContext
from app.guide.page import WORDS, Option, Page, Simple, step_page
from app.guide.pages.going_on import go_on
from app.method.choices import GuideChoices, MethodStep, QuietChoice
from forms import wording
from storage.records import Quiet


def quiet_page(choices: GuideChoices, context: GuideContext) -> Page:
    options = [_quiet_option(choices, context, quiet) for quiet in QuietChoice]
    look = Simple.LOOK_QUIET if choices.target else None
    options.append(Option("Look now", look, "takes a few seconds"))

    cursor = list(QuietChoice).index(choices.quiet or QuietChoice.RECORD)
    return step_page(MethodStep.QUIET, _look_facts(context.quiet), options, cursor=cursor)


def _quiet_option(choices: GuideChoices, context: GuideContext, quiet: QuietChoice) -> Option:
    words = WORDS[MethodStep.QUIET][quiet]
    act = go_on(replace(choices, quiet=quiet), context, MethodStep.QUIET)
    return Option(words["name"], act, words["hint"], advised=quiet is QuietChoice.RECORD)


def _look_facts(quiet: Quiet | None) -> Iterator[str]:
    if quiet is None:
        return
    yield f"Just now: {quiet.verdict}."
    yield from (f"- {wording.plain(reason)}" for reason in quiet.reasons)
