"""The speed of the link to the target, beside which a rate is a percentage: what is known of it, and how to set it."""

from dataclasses import replace

from app.base.units import parse_rate
from app.guide.context import GuideContext
from app.guide.page import Ask, Go, Option, ask_question
from app.method.choices import GuideChoices, MethodStep
from forms import wording
from forms.findings import path
from forms.findings.path import PRACTICE_LINK_BITS_PER_SECOND, is_practice_target
from forms.series.summary import SeriesSummary
from storage.records import FRAME_BYTES, PAYLOAD_BYTES


def link_fact(choices: GuideChoices, context: GuideContext) -> str:
    """``Link: 1 Gb/s (eth0 runs at this rate).``"""
    given = choices.spec.link_bits_per_second
    rate = context.link.bits_per_second
    target = choices.target
    if given not in (None, rate):
        is_limit = target is not None and is_practice_target(target) and given == PRACTICE_LINK_BITS_PER_SECOND
        source = "the limit of the practice server" if is_limit else "as given"
        return f"Link: {wording.link_rate(given)}, {source}."

    source = wording.plain(context.link.source) or "not looked at"
    if rate is not None:
        return f"Link: {wording.link_rate(rate)} ({source})."
    is_asked = target is not None and not target.abilities.is_local
    ask = " Set the link speed below to see a percentage." if is_asked else ""
    return f"Link: rate not known ({source}).{ask}"


def share_fact(form: SeriesSummary) -> str:
    """Which share of the link a series reached, for the page that compares it."""
    percent = form.average.percent_of_link if form.average else None
    if percent is None:
        ask = "" if form.series.target.abilities.is_local else " Step 2 sets it for the next series."
        return f"Link: its rate is not known, so there is no percentage.{ask}"
    of_link = f"{wording.cell_percent(percent)} % of {wording.link_rate(form.series.link_bits_per_second)}"
    if is_practice_target(form.series.target):
        return f"Link: {of_link}, the limit of the practice server."
    payload_share = path.known_payload_share(form.series) or PAYLOAD_BYTES / FRAME_BYTES
    return f"Link: {of_link} (a full one shows {path.full_link_text(payload_share)})."


def link_option(choices: GuideChoices, step: MethodStep) -> Option:
    """To set the speed on the page of that step."""
    return Option("Set the link speed…", _ask_link(choices, step), "100M, 1G, 10G; only for the percentage")


def _ask_link(choices: GuideChoices, step: MethodStep) -> Ask:
    def take_rate(text: str) -> Go:
        rate = None if text.strip() in {"", "auto"} else parse_rate(text)
        spec = replace(choices.spec, link_bits_per_second=rate)
        return Go(replace(choices, spec=spec, step=step))

    return ask_question("Rate of the link", take_rate, "auto")
