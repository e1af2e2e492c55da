"""The series just measured, held against each of its yardsticks: its base, and baselines."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.guide import context as guide_context
from forms.comparison import verdict
from forms.comparison.comparison import Comparison
from forms.comparison.summary import ComparisonSummary
from forms.series.summary import run_form
from forms.stats.decision import Doubt, Limits
from storage import records


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedYardstick:
    """A yardstick, and how the series compares with it."""

    yardstick: guide_context.Yardstick
    comparison: Comparison

    def summary(self, series: records.Series) -> ComparisonSummary:
        """The comparison with the forms of its series; ``series`` is the one that was measured."""
        sides = self.yardstick.sides
        base = sides.base if sides is not None else (self.yardstick.series,)
        other = sides.other if sides is not None else (series,)
        return ComparisonSummary(
            comparison=self.comparison, bases=tuple(map(run_form, base)), others=tuple(map(run_form, other))
        )


def judge_yardsticks(context: guide_context.GuideContext, series: records.Series) -> list[JudgedYardstick]:
    return [
        JudgedYardstick(yardstick=yardstick, comparison=_compare_with(yardstick, series))
        for yardstick in context.yardsticks
    ]


def _compare_with(yardstick: guide_context.Yardstick, series: records.Series) -> Comparison:
    if yardstick.sides is None:
        return verdict.compare(yardstick.series, series)
    return verdict.compare_sides(yardstick.sides, Limits())


def answered_question(
    context: guide_context.GuideContext, series: records.Series, judged: Sequence[JudgedYardstick]
) -> JudgedYardstick | None:
    """The comparison with what was measured before something changed, which nobody has to make; None for none.

    Such is a baseline, or a series that was to be repeated, whose settings or link have changed since.
    """
    if context.proof is not None:
        return None
    protocol = series.target.protocol
    for judgement in judged:
        is_repeat = judgement.comparison.doubt is Doubt.SAME_SETTINGS
        if judgement.yardstick.series.target.protocol == protocol and not is_repeat:
            return judgement
    return None


def has_answer(context: guide_context.GuideContext, series: records.Series, judged: Sequence[JudgedYardstick]) -> bool:
    """Whether something changed since a yardstick was measured, so that the verdict is what the page is opened for."""
    is_of_proof = context.proof is not None and bool(judged)
    return is_of_proof or answered_question(context, series, judged) is not None
