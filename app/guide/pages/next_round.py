"""Rounds that a comparison leads on to: the first one measured better, or the change made again."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from app.base.errors import UsageError
from app.guide import page as guide_page
from app.guide.pages import judged_yardsticks, repeating
from app.guide.pages.proof_facts import change_text
from app.method import choices as method_choices
from app.method import one_change
from app.method.improvements import BUSY_TIME, SHORT_RUNS
from forms.findings.path import is_practice
from forms.stats.decision import Verdict
from storage import records


def change_made_again(choices: method_choices.GuideChoices, series: records.Series) -> Iterator[guide_page.Option]:
    """The change that waits until its base was measured with a larger file."""
    name = choices.again_name
    if name is None:
        return
    with suppress(UsageError):  # what was recorded elsewhere may have no such value
        change = records.Change(name=name, value=choices.again_value)
        act = guide_page.Go(one_change.change_one_thing(choices, series, name, choices.again_value))
        yield guide_page.Option(
            f"Make the change again: {change_text(change)}", act, "its base is measured now", advised=True
        )


def first_round(
    choices: method_choices.GuideChoices, series: records.Series, judged: Sequence[judged_yardsticks.JudgedYardstick]
) -> Iterator[guide_page.Option]:
    """The round that the series' warnings lead to, until there is a verdict beside one of the same protocol."""
    protocol = series.target.protocol
    has_baseline = repeating.has_baseline(judgement.yardstick for judgement in judged)
    if has_baseline or any(judgement.comparison.is_base_gone for judgement in judged):
        # Measured otherwise it would be no answer beside a base that stays as it is.
        return
    of_protocol = [
        judgement.comparison for judgement in judged if judgement.yardstick.series.target.protocol == protocol
    ]
    if is_practice(series) or any(comparison.decided is not Verdict.UNKNOWN for comparison in of_protocol):
        return
    # Who waited for a quiet time already is not told to do so.
    advised = [SHORT_RUNS]
    if choices.quiet is not method_choices.QuietChoice.WAIT:
        advised.append(BUSY_TIME)

    for option in repeating.better_rounds(choices, series, advised=advised):
        if option.advised:
            yield option
            return
