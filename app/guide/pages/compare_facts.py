"""What the page that compares a series tells: how it compares with each yardstick, and what was found by that.

A yardstick is a series that the one of this round is compared with: its base, a baseline, one by another protocol.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

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
from forms.series.summary import SeriesSummary, run_form
from forms.stats.decision import Doubt, Limits
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


def compare_facts(
    choices: GuideChoices,
    context: guide_context.GuideContext,
    form: SeriesSummary,
    judged: Sequence[JudgedYardstick],
) -> Iterator[str | layout.Toned]:
    series = form.series
    # What is to be a base is told as one; for another series its comparison comes first.
    answer = answered_question(context, series, judged)
    is_first_of_all = choices.spec.lineage.repeats or not context.yardsticks
    is_a_base = bool(context.kept_as) or (is_first_of_all and answer is None)
    if is_a_base:
        yield from before_change.power_fact(context.as_base)
    yield from tried_lines(context.proof.tried if context.proof else None)
    if answer is not None:
        yield from _verdicts(choices, context, series, judged)
        yield from _averages_of_sides(answer)
    has_repeats = answer is not None and len(answer.comparison.other_ids) > 1
    name = "The newest series alone" if has_repeats else "Average"
    yield f"{name}: {wording.rate(form.average_rate)} over {wording.count(len(series.measured()), 'valid run')}."
    yield share_fact(form)

    if answer is None:
        yield from _verdicts(choices, context, series, judged)
        if not is_a_base:
            yield from before_change.power_fact(context.as_base)

    change = series.change
    if change and change.evidence is records.Evidence.CONTRADICTED and change.remark:
        yield layout.Toned(f"! {wording.plain(change.remark)}", layout.Tone.CAUTION)
    if not context.yardsticks:
        yield "Nothing to compare it with yet: no series before it of this size, no baseline, none by FTP."
    own_repeats = frozenset(answer.comparison.other_ids if answer is not None else ()) - {series.id}
    yield from _findings(context, series, own_repeats)


def _verdicts(
    choices: GuideChoices,
    context: guide_context.GuideContext,
    series: records.Series,
    judged: Sequence[JudgedYardstick],
) -> Iterator[str | layout.Toned]:
    """What the change did, else how the series compares with its base, is the answer: it comes first, and whole.

    Of other yardsticks only the verdict is told: the choices of the page show the rest.
    """
    groups = _without_own_repeats(_group_by_sides(choices, series, judged))
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
        has_repeats = len(comparison.base_ids) + len(comparison.other_ids) > 2
        # Told whole, what the verdict rests on begins with the counts, unless the link has decided.
        if has_repeats and (comparison.is_certain_by_link or not is_whole):
            by += f", {words.counts_before_and_after(comparison)}"
        sentences = words.comparison_sentences(comparison) if is_whole else words.comparison_headline(comparison)
        text = f"Against {wording.listed(self.names)}{by}: {comparison.sign} {sentences}"
        return layout.Toned(text, comparison.tone)


_MOST_AVERAGES = 8
"""Of more series a side the averages are left to the page that shows the two sides."""


def _averages_of_sides(judgement: JudgedYardstick) -> Iterator[str]:
    """What each series came to, the oldest first, where a side has several."""
    sides = judgement.yardstick.sides
    if sides is None or not 2 < len(sides.base) + len(sides.other) <= _MOST_AVERAGES:
        return
    yield f"Averages before: {_averages_text(sides.base)}; after: {_averages_text(sides.other)}."


def _averages_text(side: Sequence[records.Series]) -> str:
    """``119, 119 and 120 MB/s``, or each with its unit where these differ."""
    oldest_first = sorted(side, key=attrgetter("created_at"))
    rates = [wording.byte_rate(run_form(series).average_rate) for series in oldest_first]
    units = {rate.partition(" ")[2] for rate in rates}
    if len(units) > 1:
        return wording.listed(rates)
    numbers = wording.listed([rate.partition(" ")[0] for rate in rates])
    return f"{numbers} {units.pop()}"


def _without_own_repeats(groups: list[_SideGroup]) -> list[_SideGroup]:
    """Those that answer something first; without what compares two series that one of these counts as one side."""
    answers = [group for group in groups if group.comparison.doubt is not Doubt.SAME_SETTINGS]
    repeats = [group for group in groups if group.comparison.doubt is Doubt.SAME_SETTINGS]
    sides_of_answers = [{*group.comparison.other_ids} for group in answers]
    told_repeats = []
    for group in repeats:
        ids = {*group.comparison.base_ids, *group.comparison.other_ids}
        if not any(ids <= side for side in sides_of_answers):
            told_repeats.append(group)
    return [*answers, *told_repeats]


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


def _findings(
    context: guide_context.GuideContext, series: records.Series, own_repeats: frozenset[str]
) -> Iterator[layout.Toned]:
    """The gravest; what is found of repeats alone stands with each of them."""
    findings = [finding for finding in context.findings if not own_repeats.issuperset(finding.series_ids)]
    for finding in findings[:_MOST_FINDINGS]:
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
