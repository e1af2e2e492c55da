"""The link speed of a round, which the user may have given: whether it can be true, by what this machine sees."""

from app.guide.context import GuideContext
from app.method.choices import GuideChoices
from forms import link_share
from forms.findings.path import is_practice_target


def link_in_force(choices: GuideChoices, context: GuideContext) -> int | None:
    """The link speed beside which the next series is a percentage, in bits per second; None where nobody knows it."""
    return choices.spec.link_bits_per_second or context.link.bits_per_second


def is_link_refuted(choices: GuideChoices, context: GuideContext) -> bool:
    """Whether a link speed was given, and what this machine sees of the path says that it is another one.

    A slower one than that of the interface here may be that of a link further on, until more comes through.
    """
    given_rate = choices.spec.link_bits_per_second
    if given_rate is None or (choices.target is not None and is_practice_target(choices.target)):
        return False

    measured = context.measured_bytes_per_second
    rates = [measured] if measured is not None else []
    if not link_share.is_possible_link(rates, given_rate):
        return True
    seen_rate = context.link.bits_per_second
    # More than the interface carries came by several at once.
    has_several = not link_share.is_possible_link(rates, seen_rate)
    return seen_rate is not None and given_rate > seen_rate and not has_several


def believable_seen_link(context: GuideContext) -> int | None:
    """What the interface here runs at, unless more than that came through; None where it has or tells no rate."""
    seen_rate = context.link.bits_per_second
    measured = context.measured_bytes_per_second
    rates = [measured] if measured is not None else []
    return seen_rate if link_share.is_possible_link(rates, seen_rate) else None
