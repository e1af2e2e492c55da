"""What is said of several compared: their verdicts, and what these rest on."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from forms import report, wording
from forms.comparison import wording as words
from forms.comparison.comparison import Comparison
from forms.comparison.hiccups import OutstandingRun
from forms.comparison.several.sides import (
    ComparedSide,
    is_settled,
    moment_of_other,
    names_for_a_title,
    pair_of,
)
from forms.comparison.summary import ComparisonSummary
from forms.stats.decision import Limits, Verdict
from forms.tuning.differences import differences_prose

STEP_BY_STEP = "Step by step"
"""The name of the field that says what changed from one to the next."""

_LIKE_CHANGE_FACTOR = 1.05
"""Two changes whose factors differ by at most this one look alike to a reader."""


def names_text(sides: Sequence[ComparedSide]) -> str:
    return wording.listed(list(names_for_a_title([side.name for side in sides])))


def verdict_field(compared: ComparisonSummary) -> report.Field:
    """The verdict, which says what is held against what, and what would settle it."""
    comparison = compared.comparison
    verdict = f"{comparison.sign} {words.verdict_and_next_step(comparison)}"
    text = f"{words.comparison_title(comparison)}: {verdict}{rates_sentence(comparison)}"
    text = " ".join(filter(None, [text, words.certain_from_sentence(comparison)]))
    if comparison.differences and not comparison.known:
        text += f" What differs: {differences_prose(comparison.differences)}."
    return report.Field(name=wording.VERDICT, text=text, tone=comparison.tone, role=report.FieldRole.ONE_OF_ANSWERS)


def answer_of_several(comparisons: Sequence[ComparisonSummary], neighbours: Sequence[ComparisonSummary]) -> str:
    """One sentence on the steps, or else on all verdicts, and what explains them."""
    opening = opening_sentence(neighbours or comparisons, are_steps=bool(neighbours))
    return " ".join(filter(None, [opening, explanation_of_several(comparisons)]))


def opening_sentence(comparisons: Sequence[ComparisonSummary], *, are_steps: bool) -> str:
    """``march → april: about twice as fast; before-switch → march: no difference seen.``: one sentence for all.

    What has a verdict comes first. ``are_steps``: whether each is a step from one to the next.
    """
    titles_by_verdict: dict[str, list[str]] = {}
    for compared in settled_first(comparisons):
        comparison = compared.comparison
        title = _step_title(comparison) if are_steps else words.comparison_title(comparison)
        titles_by_verdict.setdefault(words.verdict_in_words(comparison), []).append(title)

    clauses = []
    for verdict, titles in titles_by_verdict.items():
        clauses.append(f"{wording.listed(list(names_for_a_title(titles)))}: {verdict}")
    return f"{'; '.join(names_for_a_title(clauses))}."


def settled_first(comparisons: Sequence[ComparisonSummary]) -> list[ComparisonSummary]:
    """Those that have a verdict, then those that probably have one, then the others."""
    return sorted(comparisons, key=_openness)


def _openness(compared: ComparisonSummary) -> int:
    if is_settled(compared):
        return 0
    return 1 if compared.comparison.leaning else 2


def explanation_of_several(comparisons: Sequence[ComparisonSummary]) -> str:
    """That links explain the change, of the newest side of which that is known; empty without one."""
    for compared in sorted(comparisons, key=moment_of_other, reverse=True):
        sentence = words.full_links_sentence(compared.comparison)
        if sentence:
            return sentence
    return ""


def first_to_last(comparisons: Sequence[ComparisonSummary]) -> list[ComparisonSummary]:
    """The comparison with the newest side, which is what was asked, before those with what lay between."""
    newest = max(comparisons, key=moment_of_other)
    return [newest, *(compared for compared in comparisons if compared is not newest)]


def rates_sentence(comparison: Comparison) -> str:
    """`` From 59.3 MB/s to 119.6 MB/s.``, by the judged averages; a probable answer has its rates already."""
    base_rate = comparison.counted_base_rate
    other_rate = comparison.counted_other_rate
    if comparison.verdict not in (Verdict.FASTER, Verdict.SLOWER) or not base_rate or not other_rate:
        return ""
    unit = max(base_rate, other_rate)
    return f" From {wording.rate(base_rate, beside=unit)} to {wording.rate(other_rate, beside=unit)}."


def trial_fields(compared: ComparisonSummary) -> Iterator[report.Field]:
    """What a trial of the change said."""
    comparison = compared.comparison
    for line in words.trial_lines(comparison.tried, f"{comparison.other_name}: sharebench tried it: "):
        yield report.Field(name="Trial", text=line.text, tone=line.tone)


def neighbours_text(neighbours: Sequence[ComparisonSummary]) -> str:
    """``march → april: Faster by 102 %. april → may: Inconclusive: no difference seen.``"""
    return " ".join(map(step_text, neighbours))


def step_text(compared: ComparisonSummary) -> str:
    """What changed from one to the next, and from which change on that would be certain."""
    comparison = compared.comparison
    clause = words.comparison_clause(comparison)
    step = f"{_step_title(comparison)}: {clause}.{rates_sentence(comparison)}"
    return " ".join(filter(None, [step, words.certain_from_sentence(comparison)]))


def _step_title(comparison: Comparison) -> str:
    return f"{comparison.base_name} → {comparison.other_name}"


def unlike_verdicts_text(comparisons: Sequence[ComparisonSummary], neighbours: Sequence[ComparisonSummary]) -> str:
    """Why two verdicts on changes of the same size differ; empty where no two do."""
    pairs: dict[frozenset[str], Comparison] = {}
    for compared in (*comparisons, *neighbours):
        pairs.setdefault(pair_of(compared), compared.comparison)

    for first, second in combinations(pairs.values(), 2):
        if _is_like_change_with_other_verdict(first, second):
            return (
                "Changes of the same size are not equally sure where the runs that they are judged by vary by more or"
                f" less: {_judged_by_text(first)}; {_judged_by_text(second)}."
            )
    return ""


def _is_like_change_with_other_verdict(first: Comparison, second: Comparison) -> bool:
    if first.change_percent is None or second.change_percent is None:
        return False
    if first.variation is None or second.variation is None:
        return False

    least_factor, most_factor = sorted((1 + first.change_percent / 100, 1 + second.change_percent / 100))
    is_like = 0 < most_factor <= _LIKE_CHANGE_FACTOR * least_factor
    return is_like and words.verdict_word(first) != words.verdict_word(second)


def _judged_by_text(comparison: Comparison) -> str:
    """``april against march by runs that vary by 5.9 %, those of 1 earlier series among them``"""
    assert comparison.variation is not None, "without a variation no two verdicts are held against each other"
    deviation = wording.percent(100 * comparison.variation.run_deviation)
    text = f"{words.comparison_title(comparison)} by runs that vary by {deviation}"
    if comparison.history_count:
        text += f", those of {comparison.history_count:,} earlier series among them"
    return text


def base_text(comparisons: Sequence[ComparisonSummary], sides: Sequence[ComparedSide]) -> str:
    """Which one the others are compared with; empty where that is not the same one for all."""
    base_ids = {compared.comparison.base_id for compared in comparisons}
    if len(base_ids) != 1:
        return ""
    base = next(side for side in sides if side.series_id in base_ids)
    is_oldest = base.moment == min(side.moment for side in sides)
    oldest = ", the oldest" if is_oldest else ""
    return f"{base.name}{oldest}: the others are compared with it"


def basis_of_several(comparisons: Sequence[ComparisonSummary]) -> str:
    """What the verdicts are judged by; what holds for several of them is said once."""
    in_one_sentence = _basis_of_single_series(comparisons)
    if in_one_sentence:
        return in_one_sentence

    names_by_basis: dict[str, list[str]] = {}
    for compared in comparisons:
        basis = words.basis_without_runs(compared.comparison)
        if basis:
            names_by_basis.setdefault(basis, []).append(compared.comparison.other_name)
    if len(names_by_basis) == 1:
        return next(iter(names_by_basis))
    return " ".join(f"{wording.listed(names)}: {basis}" for basis, names in names_by_basis.items())


def _basis_of_single_series(comparisons: Sequence[ComparisonSummary]) -> str:
    """Where each side is one series without a history: why a change is known less closely than the averages are."""
    for compared in comparisons:
        comparison = compared.comparison
        is_one_a_side = len(comparison.base_ids) == len(comparison.other_ids) == 1
        if not is_one_a_side or comparison.history_count or comparison.variation is None:
            return ""
        if comparison.apart_percent is None:
            return ""

    if not comparisons:
        return ""
    return (
        "Each was measured once. The same measured again differs by more than its runs do: the ranges in brackets"
        " allow for that."
    )


def left_out_text(runs: tuple[OutstandingRun, ...]) -> str:
    return f"{words.outstanding_runs_text(runs)}: not in the averages" if runs else ""


def joint_intervals_text(comparisons: Sequence[ComparisonSummary], neighbours: Sequence[ComparisonSummary] = ()) -> str:
    """That intervals are wider because several verdicts hold together; empty where none is.

    Those against the base hold together, and those of each ``neighbour`` with the one before it.
    """
    judged = _judged_together(comparisons)
    if not judged:
        return ""
    against = ""
    step_by_step = ""
    judged_neighbours = _judged_together(neighbours)
    if judged_neighbours:
        against = f" against {judged[0].base_name}"
        step_by_step = f"; so are {_all_of(judged_neighbours)} verdicts on the steps"
    return (
        "the ranges in brackets; wider than for a pair that is compared alone, so that"
        f" {_all_of(judged)} verdicts{against} together are right 19 times in 20{step_by_step}"
    )


def _judged_together(several: Sequence[ComparisonSummary]) -> list[Comparison]:
    """Those with an interval, where that is wider because others are judged with it."""
    judged = [compared.comparison for compared in several if compared.comparison.interval_percent]
    is_wider = any(comparison.limits.alpha < Limits().alpha for comparison in judged)
    return judged if is_wider else []


def _all_of(several: Sequence[Comparison]) -> str:
    return "both" if len(several) == 2 else f"all {len(several)}"
