"""The page of the last step: the one thing is chosen that the next round changes."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from app.base.errors import UsageError
from app.guide import page
from app.guide.context import GuideContext
from app.guide.pages import before_change, change_facts, typed_change
from app.guide.pages.next_round import change_made_again
from app.method import choices as method_choices
from app.method import one_change
from forms import wording
from forms.findings.path import is_practice
from forms.series.summary import run_form
from forms.stats.decision import Verdict
from forms.stats.variation import LEAST_ALTERNATING
from forms.tuning import catalogue
from storage import records

PRACTICE_BLOCK = 16 * 1024
"""A quarter of what the practice server takes at once, which it answers in the same time."""
MOST_FROM_CATALOGUE = 5


def change_page(choices: method_choices.GuideChoices, context: GuideContext) -> page.Page:
    series = context.series
    if series is None:
        return page.Page(title="Change one thing", why="There is no series to start from yet.")

    form = run_form(series)
    judged = change_facts.judged_changes(context)
    return page.step_page(
        method_choices.MethodStep.CHANGE,
        change_facts.change_facts(context, form, judged),
        [
            *_changes(choices, series, judged),
            *before_change.repeat_options(choices, context.as_base),
            *_other_ways(choices),
        ],
    )


def _changes(
    choices: method_choices.GuideChoices,
    series: records.Series,
    judged: Sequence[change_facts.JudgedChange],
) -> list[page.Option]:
    """The changes that can be made, the likeliest first, without those that have a verdict already."""
    decided = {
        (change.name, change.value) for change, comparison in judged if comparison.decided is not Verdict.UNKNOWN
    }
    decided.add((choices.again_name or "", choices.again_value))

    options = [*_own_changes(choices, series, decided)]
    if not is_practice(series):
        # A practice server has no settings to change.
        options = [*_ways_to_test(choices, series), *options, *_from_catalogue(series)]
    if again := list(change_made_again(choices, series)):
        options = [*again, *(replace(option, advised=False) for option in options)]
    return options


def _other_ways(choices: method_choices.GuideChoices) -> list[page.Option]:
    repeat = page.Go(method_choices.same_again(choices))
    anew = page.Go(method_choices.new_measurement(choices))
    return [
        page.Option("Nothing: measure the same again", repeat, "after a change that you made, or to see what varies"),
        page.Option("Another target or file", anew, "a new round"),
        page.Option(
            "Look it all up in the catalogue", page.Visit("catalogue"), "what can be changed, in order of impact"
        ),
    ]


def _own_changes(
    choices: method_choices.GuideChoices, series: records.Series, decided: set[tuple[str, str]]
) -> Iterator[page.Option]:
    for name, value, title in _own_values(choices, series):
        if (name, value) in decided:
            continue
        with suppress(UsageError):  # not to be had there
            act = page.Go(one_change.change_one_thing(choices, series, name, value))
            hint = f"applied automatically. {catalogue.find(name).expect}"
            yield page.Option(title, act, hint, advised=name == "block" and is_practice(series))


def _own_values(choices: method_choices.GuideChoices, series: records.Series) -> Iterator[tuple[str, str, str]]:
    """Name, value and title of the changes that sharebench makes by itself, in its own client."""
    client = series.client
    practice = is_practice(series)
    if (depth := client.in_flight) and not practice:
        value = 1 if depth > 1 else 4
        yield "in-flight", str(value), f"Requests in flight (client's in-flight): {depth} → {value}"

    if block := client.block_bytes:
        usual, otherwise = (PRACTICE_BLOCK, 65536) if practice else (65536, 1024**2)
        typed = wording.typed_size(usual if block > usual else otherwise)
        yield "block", typed, f"Request size (client's block): {wording.typed_size(block)} → {typed}"

    settings = choices.spec.settings
    for name, title, is_on, negotiated in (
        ("encrypt", "Encryption", settings.encrypt, client.encryption),
        ("sign", "Signing", settings.sign, client.signing),
    ):
        if is_on:
            yield f"client {name}", "no", f"{title} (client {name}): on → off"
        elif negotiated == "none" and not client.is_encrypted:
            yield f"client {name}", "yes", f"{title} (client {name}): off → on"


def _from_catalogue(series: records.Series) -> Iterator[page.Option]:
    """The settings of smb.conf that are most likely to matter for such a series."""
    if not series.target.abilities.has_share:
        return
    for entry in [*catalogue.relevant(series)][:MOST_FROM_CATALOGUE]:
        visit = page.Visit("entry", {"entry": entry.name, "share": series.target.share})
        yield page.Option(f"{entry.parameter} (smb.conf)…", visit, entry.expect or entry.does)


def _ways_to_test(choices: method_choices.GuideChoices, series: records.Series) -> Iterator[page.Option]:
    """To have a setting tried, or to change it by hand: interleaved, or before and after."""
    can_try = series.target.abilities.through_samba
    if can_try:
        hint = "sharebench sets it, measures interleaved pairs and restores it"
        yield page.Option("Try a setting of the server…", typed_change.ask_to_try(choices, series), hint, advised=True)

    title = "Change a setting by hand, interleaved"
    interleaved = typed_change.by_hand(choices, series, LEAST_ALTERNATING)
    question = typed_change.ask_change(title, "You change it on the server whenever the guide says so.", interleaved)
    hint = f"{2 * LEAST_ALTERNATING - 1} more series; the guide says now A, now B"
    yield page.Option(f"{title}…", question, hint, advised=not can_try)

    title = "Change a setting by hand, before and after"
    once = typed_change.by_hand(choices, series, 0)
    about = "For a change that is not made yet: you make it once. One that is made already: choose Nothing."
    question = typed_change.ask_change(title, about, once)
    yield page.Option(f"{title}…", question, "for a change not made yet; one more series")
