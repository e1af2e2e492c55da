"""What the page that compares a series tells: how it compares with each yardstick, and what was found by that.

A yardstick is a series that the one of this round is compared with: its base, a baseline, one by another protocol.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from app.guide import context as guide_context
from app.guide.pages import before_change
from app.guide.pages.link import share_fact
from app.guide.pages.proof_facts import what_is_proven
from app.method.choices import GuideChoices
from forms import layout, wording
from forms.comparison import verdict
from forms.comparison import wording as words
from forms.comparison.comparison import Comparison
from forms.findings.report import SIGNS
from forms.series.names import names_beside
from forms.series.summary import SeriesSummary
from forms.stats.decision import Limits
from forms.trial.report import tried_lines
from storage import records

_MOST_FINDINGS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedYardstick:
    """A yardstick, and how the series compares with it."""

    yardstick: guide_context.Yardstick
    comparison: Comparison


def judge_yardsticks(context: guide_context.GuideContext, series: records.Series) -> list[JudgedYardstick]:
    return [
        JudgedYardstick(yardstick=yardstick, comparison=_compare_with(yardstick, series))
        for yardstick in context.yardsticks
    ]


def _compare_with(yardstick: guide_context.Yardstick, series: records.Series) -> Comparison:
    if yardstick.sides is None:
        return verdict.compare(yardstick.series, series)
    return verdict.compare_sides(yardstick.sides, Limits())


def compare_facts(
    choices: GuideChoices,
    context: guide_context.GuideContext,
    form: SeriesSummary,
    judged: Sequence[JudgedYardstick],
) -> Iterator[str | layout.Toned]:
    series = form.series
    # What is to be a base is told as one; for another series its comparison comes first.
    is_a_base = bool(context.kept_as) or choices.spec.lineage.repeats or not context.yardsticks
    if is_a_base:
        yield from before_change.power_fact(context.as_base)
    yield from tried_lines(context.proof.tried if context.proof else None)
    yield f"Average: {wording.rate(form.average_rate)} over {wording.count(len(series.measured()), 'valid run')}."
    yield share_fact(form)

    yield from _verdicts(choices, context, series, judged)
    if not is_a_base:
        yield from before_change.power_fact(context.as_base)

    change = series.change
    if change and change.evidence is records.Evidence.CONTRADICTED and change.remark:
        yield layout.Toned(f"! {wording.plain(change.remark)}", layout.Tone.CAUTION)
    if not context.yardsticks:
        yield "Nothing to compare it with yet: no series before it of this size, no baseline, none by FTP."
    yield from _findings(context, series)


def _verdicts(
    choices: GuideChoices,
    context: guide_context.GuideContext,
    series: records.Series,
    judged: Sequence[JudgedYardstick],
) -> Iterator[str | layout.Toned]:
    """What the change did, else how the series compares with its base, is the answer: it comes first, and whole.

    Of other yardsticks only the verdict is told: the choices of the page show the rest.
    """
    groups = _group_by_sides(choices, series, judged)
    answer: list[str | layout.Toned] = [*what_is_proven(choices, context)]
    if groups and not answer:
        answer = [groups.pop(0).fact(series, is_whole=True)]
    yield from answer

    step = context.step
    if step is not None and step.interval_percent is not None:
        together = f"{step.sign} {words.comparison_headline(step)}"
        text = f"Among the changes of its experiment, judged at once with wider intervals: {together}"
        yield layout.Toned(text, step.tone)
    for group in groups:
        yield group.fact(series, is_whole=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SideGroup:
    """Yardsticks whose comparisons come to the same sides, so that they are told in one sentence."""

    comparison: Comparison
    names: list[str] = field(default_factory=list)

    def fact(self, series: records.Series, *, is_whole: bool) -> layout.Toned:
        """The verdict; ``is_whole``: with what it rests on, and what would settle it."""
        comparison = self.comparison
        by = ""
        if comparison.interleaved and series.id not in comparison.other_ids:
            by += ", by their interleaved series"
        if len(comparison.base_ids) + len(comparison.other_ids) > 2:
            before = _average_of(comparison.base_ids, comparison.base_bytes_per_second)
            after = _average_of(comparison.other_ids, comparison.other_bytes_per_second)
            by += f", {before}, then {after}"
        sentences = words.comparison_sentences(comparison) if is_whole else words.comparison_headline(comparison)
        text = f"Against {wording.listed(self.names)}{by}: {comparison.sign} {sentences}"
        return layout.Toned(text, comparison.tone)


def _group_by_sides(
    choices: GuideChoices, series: records.Series, judged: Sequence[JudgedYardstick]
) -> list[_SideGroup]:
    groups: dict[tuple[frozenset[str], frozenset[str]], _SideGroup] = {}
    for judgement in judged:
        comparison = judgement.comparison
        sides = (frozenset(comparison.base_ids), frozenset(comparison.other_ids))
        group = groups.setdefault(sides, _SideGroup(comparison=comparison))

        name = wording.plain(judgement.yardstick.name)
        if judgement.yardstick.series.id == choices.spec.lineage.base_id:
            names = names_beside([judgement.yardstick.series, series])
            name += f" ({names[judgement.yardstick.series.id]})"
        group.names.append(name)
    return list(groups.values())


def _average_of(series_ids: Sequence[str], rate: float | None) -> str:
    if len(series_ids) <= 1:
        return wording.rate(rate)
    return f"{wording.rate(rate)} averaged with {wording.count(len(series_ids) - 1, 'repeat')}"


def _findings(context: guide_context.GuideContext, series: records.Series) -> Iterator[layout.Toned]:
    for finding in context.findings[:_MOST_FINDINGS]:
        whose = ""
        if series.id not in finding.series_ids:
            others = [
                f"{yardstick.name} ({yardstick.series.label or records.with_zone(yardstick.series.created_at)})"
                for yardstick in context.yardsticks
                if yardstick.series.id in finding.series_ids
            ]
            whose = f": {wording.plain(wording.listed(others))}"
        sign = SIGNS[finding.severity]
        yield layout.Toned(f"{sign} {finding.title}{whose}", sign.tone)
