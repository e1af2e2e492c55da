"""The page on which the number of runs is chosen."""

from dataclasses import replace

from app.base.errors import UsageError
from app.guide.context import GuideContext
from app.guide.page import Ask, Go, Option, Page, ask_question, step_page
from app.guide.pages.going_on import go_on
from app.guide.prospect import prospect_of
from app.method.choices import GuideChoices, MethodStep, with_counts
from forms.comparison.pairs import expected_power_sentence
from storage.plan import MOST_RUNS, MOST_WARMUPS
from storage.recommended import DEFAULT_MAX_RUNS, DEFAULT_RUNS, DEFAULT_WARMUPS

_UNTIL_PERCENT = 2.0
_MANY_PAIRS = 4 * DEFAULT_RUNS
"""They show half of what the usual number of pairs shows, or better."""


def warm_up_page(choices: GuideChoices, context: GuideContext) -> Page:
    def option(title: str, hint: str, counted: GuideChoices, *, advised: bool = False) -> Option:
        act = go_on(counted, context, MethodStep.WARM_UP)
        return Option(title, act, f"{hint}: {prospect_of(counted, context)}", advised=advised)

    def numbers(hint: str, warmups: int, runs: int, *, advised: bool = False) -> Option:
        counted = _with_numbers(choices, warmups, runs)
        return option(f"{warmups} warm-up, {runs} measured", hint, counted, advised=advised)

    if choices.others:
        # No side goes on alone until its average is known: a comparison is judged by pairs.
        facts = [f"{expected_power_sentence(pairs, len(choices.others))}." for pairs in (DEFAULT_RUNS, _MANY_PAIRS)]
        last = numbers("a smaller change shows", DEFAULT_WARMUPS, _MANY_PAIRS)
    else:
        facts = []
        until_known = _with_numbers(choices, DEFAULT_WARMUPS, DEFAULT_RUNS, until_percent=_UNTIL_PERCENT)
        title = f"Until the average is known to ± {_UNTIL_PERCENT:g} %"
        last = option(title, f"up to {DEFAULT_MAX_RUNS} runs", until_known)

    options = (
        numbers("the form", DEFAULT_WARMUPS, DEFAULT_RUNS, advised=True),
        numbers("more precise", DEFAULT_WARMUPS, 2 * DEFAULT_RUNS),
        numbers("a first look", 1, 3),
        last,
        Option("Other numbers…", _ask_numbers(choices, context), "warm-up runs, then measured runs"),
    )
    return step_page(MethodStep.WARM_UP, facts, options)


def _with_numbers(choices: GuideChoices, warmups: int, runs: int, until_percent: float | None = None) -> GuideChoices:
    counts = replace(choices.spec.counts, warmups=warmups, runs=runs, until_percent=until_percent)
    return replace(with_counts(choices, counts), counted=True)


def _ask_numbers(choices: GuideChoices, context: GuideContext) -> Ask:
    def take_numbers(text: str) -> Go:
        words = text.replace(",", " ").replace("+", " ").split()
        if len(words) != 2 or not all(word.isdecimal() for word in words):
            example = f"{DEFAULT_WARMUPS} {DEFAULT_RUNS}"
            raise UsageError(f"not two numbers: {text!r}; write warm-up runs and measured runs, such as {example}")
        warmups, runs = (int(word) for word in words)
        if not 1 <= runs <= MOST_RUNS or warmups > MOST_WARMUPS:
            raise UsageError(f"measured runs go from 1 to {MOST_RUNS}, warm-up runs from 0 to {MOST_WARMUPS}")
        return go_on(_with_numbers(choices, warmups, runs), context, MethodStep.WARM_UP)

    counts = choices.spec.counts
    return ask_question("Warm-up and measured runs", take_numbers, f"{counts.warmups} {counts.runs}")
