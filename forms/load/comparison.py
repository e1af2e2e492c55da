"""Compares two loads, a base and another: by their capacities, or at the numbers of users that both measured.

Two capacities are compared where their brackets (most users carried, fewest not carried) do not overlap. Else points
of equal users are: the requests/s in each fifth (slice) of a point's window count as its runs, and the statistics
are those that compare series.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from forms import report, verdict_wording, wording
from forms.load.summary import percentile_seconds
from forms.load.wording import load_answer
from forms.stats.decision import ChangeDecision, Limits, Verdict
from forms.stats.levels import confirmed_changes
from forms.stats.variation import SeriesGroup
from forms.stats.verdict_rule import Step, decide_together
from storage.load import records

COMPARISON_SCHEMA = "sharebench/load-comparison/1"

PROMISED_RATIO = 2.0
"""Using Samba: a tuned server carries at least twice the users."""

PointKey = tuple[int, int | None]
"""Users, and the size of their files where a point has one size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersPair:
    """A point of each load with the same number of users."""

    users: int
    base: records.LoadPoint
    other: records.LoadPoint
    decision: ChangeDecision

    @property
    def change_percent(self) -> float | None:
        """By how many percent the other's requests/s differ from the base's."""
        base_rate = self.base.requests_per_second
        other_rate = self.other.requests_per_second
        if not base_rate or other_rate is None:
            return None

        return 100 * (other_rate / base_rate - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadComparison:
    base: records.Load
    other: records.Load
    pairs: tuple[UsersPair, ...]
    verdict: Verdict
    by_capacity: bool
    """Whether the verdict is that of the capacities, not of the pairs."""
    capacity_ratio: float | None
    """The other's carried users by the base's; None where either has none."""
    differences: tuple[str, ...]
    """What was not the same in both, by the names that people read."""


def compare_loads(base: records.Load, other: records.Load, earlier: Sequence[records.Load] = ()) -> LoadComparison:
    """Compare them. ``earlier``: older loads of the same scenario and targets, oldest first, whose points show how much
    such figures vary from day to day.
    """
    return _compare(base, other, earlier, Limits())


def compare_with_base(
    base: records.Load, others: Sequence[records.Load], earlier: Sequence[records.Load] = ()
) -> list[LoadComparison]:
    """Compare each of the others with the base, as :func:`compare_loads` does.

    The chance that any of the verdicts is wrong is that of one (Bonferroni): each is given a part of it.
    """
    limits = Limits(alpha=Limits().alpha / max(1, len(others)))
    return [_compare(base, other, earlier, limits) for other in others]


def _compare(
    base: records.Load, other: records.Load, earlier: Sequence[records.Load], limits: Limits
) -> LoadComparison:
    pairs = _pairs_of_equal_users(base, other, earlier, limits)
    verdict_by_capacity = _verdict_by_capacity(base, other)
    return LoadComparison(
        base=base,
        other=other,
        pairs=pairs,
        verdict=verdict_by_capacity or _verdict_of_pairs(pairs),
        by_capacity=verdict_by_capacity is not None,
        capacity_ratio=_capacity_ratio(base, other),
        differences=_differences(base, other),
    )


def _verdict_of_pairs(pairs: Sequence[UsersPair]) -> Verdict:
    """What all pairs that are decided agree on."""
    decided = {pair.decision.verdict for pair in pairs} - {Verdict.UNKNOWN}
    return decided.pop() if len(decided) == 1 else Verdict.UNKNOWN


def _capacity_ratio(base: records.Load, other: records.Load) -> float | None:
    if not base.capacity or not other.capacity or not base.capacity.carried or not other.capacity.carried:
        return None

    return other.capacity.carried / base.capacity.carried


def _verdict_by_capacity(base: records.Load, other: records.Load) -> Verdict | None:
    """None where the brackets of carried and not carried users overlap, or one has none."""
    first = base.capacity
    second = other.capacity
    if not first or not second or not first.carried or not second.carried:
        return None

    if first.not_carried is not None and second.carried >= first.not_carried:
        return Verdict.FASTER
    if second.not_carried is not None and second.not_carried <= first.carried:
        return Verdict.SLOWER
    return None


def _differences(base: records.Load, other: records.Load) -> tuple[str, ...]:
    """What was not the same in both, by the names that people read."""
    sides = (
        ("scenario", base.scenario, other.scenario),
        ("targets", base.targets, other.targets),
        ("link", base.link_bits_per_second, other.link_bits_per_second),
        ("imitated client", base.choices.like, other.choices.like),
        ("measuring machine", base.choices.from_host, other.choices.from_host),
        ("compound requests", base.choices.single_requests, other.choices.single_requests),
        (
            "generators",
            [worker.processes for worker in base.workers],
            [worker.processes for worker in other.workers],
        ),
    )
    return tuple(name for name, of_base, of_other in sides if of_base != of_other)


def _pairs_of_equal_users(
    base: records.Load, other: records.Load, earlier: Sequence[records.Load], limits: Limits
) -> tuple[UsersPair, ...]:
    other_points = {point_key(point): point for point in other.valid_points()}
    points = [
        (point, other_points[point_key(point)]) for point in base.valid_points() if point_key(point) in other_points
    ]

    groups = []
    for base_point, other_point in points:
        groups.append(SeriesGroup([base_point.slice_rates], [base.moment]))
        groups.append(SeriesGroup([other_point.slice_rates], [other.moment]))

    steps = [Step(2 * place, 2 * place + 1) for place in range(len(points))]
    history = _history(earlier, {point_key(point) for point, _ in points})
    decisions = decide_together(groups, steps, history=history, limits=limits)
    return tuple(
        UsersPair(users=base_point.users, base=base_point, other=other_point, decision=decision)
        for (base_point, other_point), decision in zip(points, decisions, strict=True)
    )


def point_key(point: records.LoadPoint) -> PointKey:
    return point.users, point.size_bytes


def _history(earlier: Sequence[records.Load], compared: Collection[PointKey]) -> list[SeriesGroup]:
    """Earlier points of the same users, in groups that end where their level changed."""
    earlier_points: dict[PointKey, list[tuple[tuple[float, ...], float]]] = {}
    for load in earlier:
        for point in load.valid_points():
            if point_key(point) in compared and point.slice_rates:
                earlier_points.setdefault(point_key(point), []).append((point.slice_rates, load.moment))

    groups = []
    for points in earlier_points.values():
        rates = [slice_rates for slice_rates, _ in points]
        moments = [moment for _, moment in points]
        changes = [place for place, _ in confirmed_changes(rates, moments)]
        for begin, end in pairwise([0, *changes, len(rates)]):
            groups.append(SeriesGroup(rates[begin:end], moments[begin:end]))
    return groups


def load_comparison_report(comparison: LoadComparison) -> report.Report:
    """The form of the comparison."""
    advice = []
    if comparison.differences:
        advice.append(f"Not the same in both: {', '.join(comparison.differences)}. That may be the reason as well.")
    if comparison.verdict is Verdict.FASTER and comparison.capacity_ratio is not None:
        holds = "holds" if comparison.capacity_ratio >= PROMISED_RATIO else "does not hold"
        advice.append(f"Using Samba promises at least twice the users of a tuned server: that {holds} here.")

    sign = verdict_wording.VERDICT_SIGNS[comparison.verdict]
    return report.Report(
        form="load comparison",
        title="Two loads side by side",
        name="Loads",
        fields=report.fields_of(
            report.verdict_field(f"{sign} {_verdict_text(comparison)}", sign.tone),
            ("Base", _name_and_answer(comparison.base)),
            ("Other", _name_and_answer(comparison.other)),
        ),
        tables=(_pairs_table(comparison.pairs),) if comparison.pairs else (),
        advice=tuple(advice),
        document=partial(load_comparison_document, comparison),
    )


def _pairs_table(pairs: Sequence[UsersPair]) -> report.Table:
    rows = [
        report.row_of(
            str(pair.users),
            pair.base.requests_per_second,
            pair.other.requests_per_second,
            pair.change_percent,
            verdict_wording.VERDICT_WORDS[pair.decision.verdict],
            milliseconds(pair.base.response, 0.95),
            milliseconds(pair.other.response, 0.95),
        )
        for pair in pairs
    ]

    return report.Table(
        columns=report.columns_of(
            "Users",
            ("Base requests/s", report.ReportKind.DECIMAL),
            ("Other requests/s", report.ReportKind.DECIMAL),
            ("Change", report.ReportKind.SIGNED),
            "Verdict",
            ("Base p95 ms", report.ReportKind.DECIMAL),
            ("Other p95 ms", report.ReportKind.DECIMAL),
        ),
        rows=tuple(rows),
    )


def _name_and_answer(load: records.Load) -> str:
    return " · ".join(filter(None, (load.id, load.label, load_answer(load, brief=True))))


def milliseconds(histogram: records.Histogram, share: float) -> float | None:
    seconds = percentile_seconds(histogram, share)
    return None if seconds is None else 1000 * seconds


def _verdict_text(comparison: LoadComparison) -> str:
    """The verdict with the figures that it follows from, or why there is none."""
    word = verdict_wording.VERDICT_WORDS[comparison.verdict]
    if comparison.by_capacity and comparison.capacity_ratio:
        more = "more" if comparison.verdict is Verdict.FASTER else "fewer"
        return f"{word}: carries {more} users, {comparison.capacity_ratio:.2f} times as many"

    sentences = []
    for pair in comparison.pairs:
        decision = pair.decision
        if decision.change_percent is not None and decision.interval_percent:
            change = verdict_wording.verdict_sentence(
                decision.verdict, decision.change_percent, decision.interval_percent
            )
            sentences.append(f"{wording.count(pair.users, 'user')}: {change}")
    if sentences:
        more = " Measure both again, or the capacity of both." if comparison.verdict is Verdict.UNKNOWN else ""
        return f"{word}. {'; '.join(sentences)}.{more}"

    reason = "no number of users was measured in both"
    if comparison.pairs:
        reason = "one of them was measured by an older version"
    return f"Inconclusive: {reason}. Measure the same numbers of users in both, or the capacity."


def load_comparison_document(comparison: LoadComparison) -> dict[str, Any]:
    """The JSON object ``sharebench/load-comparison/1``, unrounded."""
    points = [
        {
            "users": pair.users,
            "base_requests_per_second": pair.base.requests_per_second,
            "other_requests_per_second": pair.other.requests_per_second,
            "change_percent": pair.change_percent,
            "verdict": pair.decision.verdict,
            "interval_percent": pair.decision.interval_percent,
        }
        for pair in comparison.pairs
    ]

    return {
        "schema": COMPARISON_SCHEMA,
        "base": comparison.base.id,
        "other": comparison.other.id,
        "verdict": comparison.verdict,
        "capacity_ratio": comparison.capacity_ratio,
        "differences": list(comparison.differences),
        "points": points,
    }
