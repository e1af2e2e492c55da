"""The page on which the one thing is chosen that the next round changes."""

from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from app.base.errors import UsageError
from app.clients.base import OWN
from app.guide import page
from app.guide.context import GuideContext
from app.guide.pages.compare import change_made_again
from app.guide.pages.proof import change_text
from app.method import choices as method_choices
from app.method import one_change
from app.series.requests import parse_change
from forms import layout, wording
from forms.comparison.comparison import Comparison
from forms.comparison.verdict import compare_sides
from forms.comparison.wording import comparison_headline
from forms.findings.path import is_practice
from forms.series import summary as series_summary
from forms.series.report import before_a_change
from forms.stats import decision
from forms.stats.variation import LEAST_ALTERNATING
from forms.trial.changes_report import change_answer
from forms.tuning import catalogue
from forms.tuning.smb_conf import spelling
from storage import records

PRACTICE_BLOCK = 16 * 1024
"""A quarter of what the practice server takes at once, which it answers in the same time."""
MOST_FROM_CATALOGUE = 5
MOST_TOLD = 3
_EXAMPLE = "NAME = VALUE, such as: server signing = mandatory."


def change_page(choices: method_choices.GuideChoices, context: GuideContext) -> page.Page:
    series = context.series
    if series is None:
        return page.Page(title="Change one thing", why="There is no series to start from yet.")

    form = series_summary.run_form(series)
    judged_changes = [
        (change, compare_sides(sides, decision.Limits(), settles=False)) for change, sides in context.measured_changes
    ]
    return page.step_page(
        method_choices.MethodStep.CHANGE,
        _facts(context, form, judged_changes),
        [*_changes(choices, series, judged_changes), *_other_ways(choices)],
    )


def _facts(
    context: GuideContext, form: series_summary.SeriesSummary, judged_changes: list[tuple[records.Change, Comparison]]
) -> Iterator[str | layout.Toned]:
    series = form.series
    yield f"Base: {wording.name_of(series)}, {wording.rate(form.average_rate)}."

    change = series.change
    if change and change.evidence is not records.Evidence.CONTRADICTED and series.decision is None:
        yield layout.Toned(f"! {change_text(change)} is kept. To leave it out, go to step 7.", layout.Tone.CAUTION)
    for trial in context.trials:
        answer = change_answer(trial)
        yield layout.Toned(f"Tried since: {wording.plain(trial.plan.name)}: {answer.text}", answer.tone)
    for made_change, comparison in judged_changes[:MOST_TOLD]:
        text = f"Measured with {change_text(made_change)}: {comparison.sign} {comparison_headline(comparison)}"
        yield layout.Toned(text, comparison.tone)

    if form.shown and not judged_changes:
        yield f"Smallest change that can be shown here: {before_a_change(form.shown)}"
    yield "Everything else stays as it was."


def _changes(
    choices: method_choices.GuideChoices,
    series: records.Series,
    judged_changes: list[tuple[records.Change, Comparison]],
) -> list[page.Option]:
    """The changes that can be made, the likeliest first, without those that are decided already."""
    decided = {
        (change.name, change.value)
        for change, comparison in judged_changes
        if comparison.decided is not decision.Verdict.UNKNOWN
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
        page.Option("Nothing: measure the same again", repeat, "shows how much equal series differ"),
        page.Option("Another target or file", anew, "a new round"),
        page.Option(
            "Look it all up in the catalogue", page.Visit("catalogue"), "what can be changed, in order of impact"
        ),
    ]


def _own_changes(
    choices: method_choices.GuideChoices, series: records.Series, decided: Container[tuple[str, str]]
) -> Iterator[page.Option]:
    for name, value, title in _own_values(choices, series):
        if (name, value) in decided:
            continue
        with suppress(UsageError):  # not to be had there
            act = page.Go(one_change.change_one_thing(choices, series, name, value))
            hint = f"applied automatically. {catalogue.find(name).expect}"
            yield page.Option(title, act, hint, advised=name == "block" and is_practice(series))


def _own_values(choices: method_choices.GuideChoices, series: records.Series) -> Iterator[tuple[str, str, str]]:
    """Name, value and title."""
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
    if not series.target.abilities.has_share:
        return
    for entry in islice(catalogue.relevant(series), MOST_FROM_CATALOGUE):
        visit = page.Visit("entry", {"entry": entry.name, "share": series.target.share})
        yield page.Option(f"{entry.parameter} (smb.conf)…", visit, entry.expect or entry.does)


def _typed_change(text: str) -> tuple[str, str]:
    """Name and value, the name as the catalogue has it. Raises UsageError."""
    is_target = "://" in text.partition("=")[0] or ("=" not in text and text.strip().startswith(("/", "\\\\")))
    if is_target:
        raise UsageError("a target is no setting: leave this question; n starts a new measurement of another target")

    name, value = parse_change(text)
    is_sambas = bool(spelling(name).parameter)
    entries = catalogue.about(name)
    if not is_sambas:
        entries = entries or catalogue.about(f"client {name}")
    entry = next((entry for entry in entries if entry.kind is catalogue.EntryKind.SMB_CONF or not is_sambas), None)
    if entry and entry.kind in (catalogue.EntryKind.SMB_CONF, catalogue.EntryKind.CLIENT):
        return entry.name, value
    return name, value


def _ways_to_test(choices: method_choices.GuideChoices, series: records.Series) -> Iterator[page.Option]:
    """To have a setting tried, or to change it by hand: interleaved, or before and after."""
    can_try = series.target.abilities.through_samba
    if can_try:
        hint = "sharebench sets it, measures interleaved pairs and restores it"
        yield page.Option("Try a setting of the server…", _ask_to_try(choices, series), hint, advised=True)

    title = "Change a setting by hand, interleaved"
    question = _ask_change(
        title, "You change it on the server whenever the guide says so.", _by_hand(choices, series, LEAST_ALTERNATING)
    )
    hint = f"{2 * LEAST_ALTERNATING - 1} more series; the guide says now A, now B"
    yield page.Option(f"{title}…", question, hint, advised=not can_try)

    title = "Change a setting by hand, before and after"
    question = _ask_change(title, "You make it once.", _by_hand(choices, series, 0))
    yield page.Option(f"{title}…", question, "one more series; shows large changes")


def _ask_to_try(choices: method_choices.GuideChoices, series: records.Series) -> page.Ask:
    own_changes = one_change.OWN_CHANGES if series.client.name == OWN else ()

    def take_change(name: str, value: str) -> page.Act:
        if name in own_changes:
            return page.Go(one_change.change_one_thing(choices, series, name, value))
        return page.Visit("trial", {"setting": f"{name} = {value}"})

    return _ask_change("Try a setting of the server", "It asks before it writes.", take_change, keep=True)


def _by_hand(
    choices: method_choices.GuideChoices, series: records.Series, interleaved: int
) -> Callable[[str, str], page.Act]:
    """Takes the change of the next round; ``interleaved``: how many series a side, 0 for one before and after."""

    def take_change(name: str, value: str) -> page.Act:
        return page.Go(replace(one_change.change_one_thing(choices, series, name, value), interleaved=interleaved))

    return take_change


def _ask_change(heading: str, about_it: str, then: Callable[[str, str], page.Act], *, keep: bool = False) -> page.Ask:
    def take_text(text: str) -> page.Act:
        name, value = _typed_change(text)
        return then(name, value)

    return page.Ask(heading=heading, text=f"{_EXAMPLE} {about_it}", then=take_text, keep=keep)
