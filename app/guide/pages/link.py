"""The speed of the link to the target, beside which a rate is a percentage: what is known of it, and how to set it."""

from collections.abc import Iterator
from dataclasses import replace

from app.base.units import parse_rate
from app.guide import page
from app.guide.context import GuideContext
from app.guide.given_link import believable_seen_link, is_link_refuted, link_in_force
from app.method.choices import GuideChoices, MethodStep
from forms import link_share, wording
from forms.findings import path
from forms.findings.full_links import shaper_of_link
from forms.layout import Tone, Toned
from forms.series.summary import SeriesSummary
from storage import records
from storage.notebook import Notebook

_SET_LINK = "Set the link speed…"


def known_link_fact(choices: GuideChoices, context: GuideContext) -> Iterator[str]:
    """The speed of the link; that it is not known stands in the option that sets it."""
    if link_in_force(choices, context) is not None:
        yield _link_fact(choices, context)


def _link_fact(choices: GuideChoices, context: GuideContext) -> str:
    """``Link: 1 Gb/s (eth0 runs at this rate).``, and what it was in the series before where that differs."""
    in_force = link_in_force(choices, context)
    before = context.measured_link_bits_per_second
    if before is None or before == in_force:
        return _source_sentence(choices, context)

    change = f" ({wording.link_rate(before)} in the series before)"
    if in_force == context.link.bits_per_second and choices.spec.link_bits_per_second is None:
        return f"Link: {wording.link_rate(in_force)}, as this machine's interface has it now{change}."
    return f"{_source_sentence(choices, context)[:-1]}{change}."


def _source_sentence(choices: GuideChoices, context: GuideContext) -> str:
    """Which link speed is in force, and where it is from."""
    given_rate = choices.spec.link_bits_per_second
    seen_rate = context.link.bits_per_second
    source = wording.plain(context.link.source) or "not looked at"
    target = choices.target

    if given_rate is None and seen_rate is None:
        return f"Link: rate not known ({source})."
    if given_rate is None:
        return f"Link: {wording.link_rate(seen_rate)} ({source})."
    if target is not None and path.is_practice_target(target) and given_rate == path.PRACTICE_LINK_BITS_PER_SECOND:
        return f"Link: {wording.link_rate(given_rate)}, the limit of the practice server."
    if seen_rate is None:
        return f"Link: {wording.link_rate(given_rate)}, as given."
    if given_rate == seen_rate:
        return f"Link: {wording.link_rate(given_rate)}, as given and as this machine sees it."
    return (
        f"Link: {wording.link_rate(given_rate)}, as given; this machine sees {wording.link_rate(seen_rate)} ({source})."
    )


def facts_before_run(choices: GuideChoices, context: GuideContext) -> Iterator[str | Toned]:
    """For the page of the run: the link speed, what it is asked for, or why the one that was given cannot be true."""
    if not _has_link(choices):
        return
    if link_in_force(choices, context) is None:
        # Beside a baseline the question is which is faster, not how much of the link is used.
        if not choices.after_baseline:
            yield "Link speed not known: set it below to see how full it is."
        return
    is_measured = context.series is not None
    if is_measured or not is_link_refuted(choices, context):
        yield _link_fact(choices, context)
        return

    given_rate = choices.spec.link_bits_per_second
    measured = context.measured_bytes_per_second
    seen_rate = context.link.bits_per_second
    reasons = []
    if measured is not None and not link_share.is_possible_link([measured], given_rate):
        reasons.append(f"{wording.rate(measured)} came through, which is more than it can carry")
    if seen_rate is not None:
        reasons.append(f"this path now runs at {wording.link_rate(seen_rate)}")
    text = (
        f"! Link: {wording.link_rate(given_rate)} as given, but {wording.listed(reasons)}. Choose the one that holds:"
    )
    yield Toned(text, Tone.CAUTION)


def _has_link(choices: GuideChoices) -> bool:
    return choices.target is not None and not choices.target.abilities.is_local


def option_before_run(choices: GuideChoices, context: GuideContext) -> Iterator[page.Option]:
    """For the page of the run: to set the link speed."""
    if _has_link(choices):
        yield link_option(choices, context, MethodStep.RUN)


def start_options(choices: GuideChoices, context: GuideContext) -> list[page.Option]:
    """To start the series; where the link speed that was given is refuted, with which one."""
    if not is_link_refuted(choices, context):
        return [page.Option("Start", page.Simple.START, "the form fills in as runs end", advised=True)]

    seen_rate = believable_seen_link(context)
    without_given = page.Begin(_with_link(choices, None))
    title = f"Start, with {wording.link_rate(seen_rate)} as the link speed"
    hint = "as this machine sees it"
    if seen_rate is None:
        title = "Start, without a link speed"
        hint = "then there is no percentage"
    given_rate = wording.link_rate(choices.spec.link_bits_per_second)
    return [
        page.Option(title, without_given, hint, advised=True),
        page.Option(f"Start, with {given_rate} all the same", page.Simple.START, "as given"),
    ]


def share_fact(form: SeriesSummary) -> str:
    """Which share of the link a series reached, for the page that compares it."""
    percent = form.percent_of_link
    if percent is None:
        ask = "" if form.series.target.abilities.is_local else "; step 6 sets it"
        return f"Link: speed not known{ask}."

    link = wording.link_rate(form.series.link_bits_per_second)
    if not link_share.is_possible_share(percent):
        return f"Link: {link} was given, and more came through than that can carry. Step 6 sets the link speed."
    of_link = link_share.share_text(percent, link)
    if path.is_practice_target(form.series.target):
        return f"Link: {of_link}, the limit of the practice server."
    payload_share = path.known_payload_share(form.series) or records.PAYLOAD_BYTES / records.FRAME_BYTES
    full = f"(a full one shows {path.full_link_text(payload_share)})"
    shaper = shaper_of_link(form.series, form.counted_rate)
    return f"Link: {of_link}, set by a {shaper} {full}." if shaper else f"Link: {of_link} {full}."


def link_option(choices: GuideChoices, context: GuideContext, step: MethodStep) -> page.Option:
    """To set the speed on the page of that step, with the one in force; a series of the round gets it as well."""
    in_force = link_in_force(choices, context)
    if context.series is not None:
        in_force = context.series.link_bits_per_second
    hint = "not known" if in_force is None else wording.link_rate(in_force)
    return page.Option(_SET_LINK, _ask_link(choices, context, step), hint, is_value=True)


def correct_options(choices: GuideChoices, context: GuideContext, series: records.Series) -> Iterator[page.Option]:
    """To correct the link speed of a series: at once where what the interface ran at is the true one."""
    if series.target.abilities.is_local or path.is_practice(series):
        return
    seen_rate = path.seen_link_rate(series)
    given_rate = series.link_bits_per_second
    is_wrong = given_rate is not None and (
        not link_share.is_possible_link(series.rates(), given_rate) or given_rate > (seen_rate or given_rate)
    )
    if is_wrong and seen_rate is not None and link_share.is_possible_link(series.rates(), seen_rate):
        take_seen = _set_link(choices, series, int(seen_rate), None)
        name = f"Take {wording.link_rate(seen_rate)} as the link speed"
        yield page.Option(name, take_seen, "for this series and the next ones")
    yield link_option(choices, context, MethodStep.REVIEW)


def _ask_link(choices: GuideChoices, context: GuideContext, step: MethodStep) -> page.Ask:
    def take_rate(text: str) -> page.Act:
        given_rate = None if text.strip() in {"", "auto"} else parse_rate(text)
        choices_at_step = replace(choices, step=step)
        if context.series is None:
            return page.Go(_with_link(choices_at_step, given_rate))
        seen_rate = path.seen_link_rate(context.series)
        rate_of_series = given_rate if given_rate is not None or seen_rate is None else int(seen_rate)
        return _set_link(choices_at_step, context.series, rate_of_series, given_rate)

    given_before = choices.spec.link_bits_per_second
    if context.series is not None:
        given_before = context.series.link_bits_per_second
    usual = "auto" if given_before is None else wording.typed_rate(given_before)
    question = page.ask_question("Rate of the link", take_rate, usual)
    return replace(question, text=f"{_source_sentence(choices, context)} {question.text}")


def _set_link(
    choices: GuideChoices, series: records.Series, rate_of_series: int | None, given_rate: int | None
) -> page.Store:
    """Correct the link speed of a series, and take what was given for the next ones; None has it looked up."""

    def correct(notebook: Notebook) -> None:
        notebook.set_link(series.id, rate_of_series)

    return page.Store(correct, _with_link(choices, given_rate))


def _with_link(choices: GuideChoices, given_rate: int | None) -> GuideChoices:
    return replace(choices, spec=replace(choices.spec, link_bits_per_second=given_rate))
