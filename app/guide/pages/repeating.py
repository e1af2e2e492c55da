"""Measuring again, and what the result is compared with: choices that several pages offer."""

from collections.abc import Iterable

from app.guide.context import Yardstick
from app.guide.page import Go, Option
from app.method.choices import GuideChoices, same_again
from app.method.improvements import BETTER, LARGER_FILE, QUIET_FILE, improvements_of
from forms import wording
from storage.records import Series

WITH_EXPECTED = "Compare with the expected"
"""The title of the page that compares a series which has neither a base nor a baseline."""


def comparing_title(choices: GuideChoices, series: Series, yardsticks: Iterable[Yardstick]) -> str:
    """The title of the page that compares the series, also where another page leads there."""
    if series.change is not None or choices.proven_id is not None:
        return "See what the change did"
    baseline = baseline_in_title(choices, series, yardsticks)
    if baseline:
        return f"Compare with {wording.plain(baseline)}"
    if choices.spec.lineage.base_id:
        return "Compare with the series that it repeats"
    return WITH_EXPECTED


def baseline_in_title(choices: GuideChoices, series: Series, yardsticks: Iterable[Yardstick]) -> str:
    """The name of the baseline in the title of the page that compares the series; empty where that has none."""
    if series.change is not None or choices.proven_id is not None:
        return ""
    return next((yardstick.name for yardstick in yardsticks if yardstick.reference), "")


def has_baseline(yardsticks: Iterable[Yardstick]) -> bool:
    """Whether the series is to be compared with a baseline, beside which only the same file and settings count."""
    return any(yardstick.reference for yardstick in yardsticks)


def better_rounds(choices: GuideChoices, series: Series, advised: Iterable[str] = ()) -> list[Option]:
    """The improvements that the warnings of a series lead to, each as a new round with the same settings.

    ``advised`` are keys of warnings, as in BETTER: the improvements to which these lead are recommended.
    """
    advised_improvements = {BETTER[key] for key in advised}
    if LARGER_FILE in advised_improvements:
        advised_improvements.add(QUIET_FILE)

    again = same_again(choices)
    return [
        Option(
            improvement.name,
            Go(improvement.apply(again)),
            "a new series",
            advised=improvement in advised_improvements,
        )
        for improvement in improvements_of(series)
    ]
