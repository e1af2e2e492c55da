"""The verdicts on the page of a comparison, one for yardsticks that are the same side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from app.guide import context as guide_context
from app.guide.pages import repeating
from app.guide.pages.judged_yardsticks import JudgedYardstick
from app.guide.pages.proof_facts import what_is_proven
from app.method.choices import GuideChoices
from forms import layout, wording
from forms.comparison import wording as words
from forms.comparison.comparison import Comparison
from forms.series.names import names_beside
from forms.stats.decision import Doubt
from storage import records


def verdict_facts(
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
        in_title = repeating.baseline_in_title(choices, series, context.yardsticks)
        answer = [groups.pop(0).fact(series, is_whole=True, in_title=in_title)]
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
    baselines: list[str] = field(default_factory=list)
    """Those of the names that the user gave."""

    def fact(self, series: records.Series, *, is_whole: bool, in_title: str = "") -> layout.Toned:
        """The verdict; ``is_whole``: with what it rests on, and what would settle it.

        ``in_title`` is the name that the title of the page has, which is not told again.
        """
        comparison = self.comparison
        by = ""
        if comparison.interleaved and series.id not in comparison.other_ids:
            by += ", by their interleaved series"
        has_repeats = len(comparison.base_ids) + len(comparison.other_ids) > 2
        # Told whole, what the verdict rests on begins with the counts, unless the link has decided.
        if has_repeats and (comparison.is_certain_by_link or not is_whole):
            by += f", {words.counts_before_and_after(comparison)}"
        sentences = words.comparison_sentences(comparison) if is_whole else words.comparison_headline(comparison)
        names = self.baselines or self.names
        against = f"Against {wording.listed(names)}{by}: "
        if names == [wording.plain(in_title)] and not by:
            against = ""
        return layout.Toned(f"{against}{comparison.sign} {sentences}", comparison.tone)


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

        yardstick = judgement.yardstick
        name = wording.plain(yardstick.name)
        if yardstick.reference:
            # What the user has named is called by that name alone.
            group.baselines.append(name)
        elif yardstick.series.id == choices.spec.lineage.base_id:
            names = names_beside([yardstick.series, series])
            name += f" ({names[yardstick.series.id]})"
        group.names.append(name)
    return list(groups.values())
