"""Compare two loads: capacities, and points of equal users, whose slices count as runs."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from forms import wording
from forms.load.summary import load_answer, percentile_seconds
from forms.report import Report, ReportKind, fields_of, table_of
from forms.stats.decision import ChangeDecision, Step, Verdict, confirmed_changes, decide_together
from forms.stats.variation import SeriesGroup
from forms.wording import VERDICT_SIGNS, VERDICT_WORDS, verdict_sentence
from forms.worksheets.summary import UsersCalculation
from storage.json_reader import named
from storage.load.records import Histogram, Load, LoadPoint

PROMISED_RATIO = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersPair:
    users: int
    base: LoadPoint
    other: LoadPoint
    decision: ChangeDecision

    @property
    def change_percent(self) -> float | None:
        first, second = self.base.requests_per_second, self.other.requests_per_second
        return 100 * (second / first - 1) if first and second is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadComparison:
    base: Load
    other: Load
    pairs: tuple[UsersPair, ...]
    verdict: Verdict
    by_capacity: bool
    capacity_ratio: float | None
    differences: tuple[str, ...]


def compare_loads(base: Load, other: Load, earlier: Sequence[Load] = ()) -> LoadComparison:
    """By capacities with disjoint brackets, else points of equal users. ``earlier``: equal loads, oldest first."""
    pairs = _pairs(base, other, earlier)
    first, second = base.capacity, other.capacity
    decided = {pair.decision.verdict for pair in pairs} - {Verdict.UNKNOWN}
    verdict, ratio = decided.pop() if len(decided) == 1 else Verdict.UNKNOWN, None
    by_capacity = False
    if first and second and first.carried and second.carried:
        ratio = second.carried / first.carried
        more = first.not_carried is not None and second.carried >= first.not_carried
        fewer = second.not_carried is not None and second.not_carried <= first.carried
        by_capacity = more or fewer
        if by_capacity:
            verdict = Verdict.FASTER if more else Verdict.SLOWER
    differences = tuple(
        name
        for name, one, two in (
            ("scenario", base.scenario, other.scenario),
            ("targets", base.targets, other.targets),
            ("link", base.link_bits_per_second, other.link_bits_per_second),
            ("compound requests", base.choices.single_requests, other.choices.single_requests),
            ("generators", [w.processes for w in base.workers], [w.processes for w in other.workers]),
        )
        if one != two
    )
    return LoadComparison(
        base=base, other=other, pairs=pairs, verdict=verdict, by_capacity=by_capacity, capacity_ratio=ratio,
        differences=differences,
    )  # fmt: skip


def _pairs(base: Load, other: Load, earlier: Sequence[Load]) -> tuple[UsersPair, ...]:
    others = {(point.users, point.size_bytes): point for point in other.valid_points()}
    points = [
        (point, others[point.users, point.size_bytes])
        for point in base.valid_points()
        if (point.users, point.size_bytes) in others
    ]
    times = [load.moment for load in (base, other)]
    groups = [SeriesGroup([point.slice_rates], [at]) for pair in points for point, at in zip(pair, times, strict=True)]
    steps = [Step(2 * place, 2 * place + 1) for place in range(len(points))]
    compared = {(point.users, point.size_bytes) for point, _ in points}
    decisions = decide_together(groups, steps, history=_history(earlier, compared))
    return tuple(
        UsersPair(users=one.users, base=one, other=two, decision=decision)
        for (one, two), decision in zip(points, decisions, strict=True)
    )


def _history(earlier: Sequence[Load], compared: Collection[tuple[int, int | None]]) -> list[SeriesGroup]:
    found: dict[tuple[int, int | None], list[tuple[tuple[float, ...], float]]] = {}
    for load in earlier:
        for point in load.valid_points():
            if (point.users, point.size_bytes) in compared and point.slice_rates:
                found.setdefault((point.users, point.size_bytes), []).append((point.slice_rates, load.moment))
    groups = []
    for of_users in found.values():
        rates, times = [rates for rates, _ in of_users], [at for _, at in of_users]
        places = [0, *(place for place, _ in confirmed_changes(rates, times)), len(rates)]
        groups += [SeriesGroup(rates[begin:end], times[begin:end]) for begin, end in pairwise(places)]
    return groups


COMPARISON_SCHEMA = "sharebench/load-comparison/1"


def load_comparison_report(found: LoadComparison) -> Report:
    points = table_of(
        found.pairs,
        ("Users", ReportKind.TEXT, lambda pair: str(pair.users)),
        ("Base requests/s", ReportKind.DECIMAL, lambda pair: pair.base.requests_per_second),
        ("Other requests/s", ReportKind.DECIMAL, lambda pair: pair.other.requests_per_second),
        ("Change", ReportKind.SIGNED, lambda pair: pair.change_percent),
        ("Verdict", ReportKind.TEXT, lambda pair: VERDICT_WORDS[pair.decision.verdict]),
        ("Base p95 ms", ReportKind.DECIMAL, lambda pair: milliseconds(pair.base.response, 0.95)),
        ("Other p95 ms", ReportKind.DECIMAL, lambda pair: milliseconds(pair.other.response, 0.95)),
    )
    sign = VERDICT_SIGNS[found.verdict]
    said = []
    if found.differences:
        said.append(f"Not the same in both: {', '.join(found.differences)}. That may be the reason as well.")
    if found.verdict is Verdict.FASTER and found.capacity_ratio is not None:
        held = "holds" if found.capacity_ratio >= PROMISED_RATIO else "does not hold"
        said.append(f"Using Samba promises at least twice the users of a tuned server: that {held} here.")
    return Report(
        form="load comparison",
        title="Two loads side by side",
        name="Loads",
        fields=fields_of(
            (wording.VERDICT, f"{sign} {_verdict_text(found)}", sign.tone),
            ("Base", _named(found.base)),
            ("Other", _named(found.other)),
        ),
        tables=(points,) if found.pairs else (),
        advice=tuple(said),
        document=lambda: load_comparison_document(found),
    )


def _named(load: Load) -> str:
    return " · ".join(filter(None, (load.id, load.label, load_answer(load, brief=True))))


def milliseconds(histogram: Histogram, share: float) -> float | None:
    seconds = percentile_seconds(histogram, share)
    return None if seconds is None else 1000 * seconds


def _verdict_text(found: LoadComparison) -> str:
    if found.by_capacity and found.capacity_ratio:
        more = "more" if found.verdict is Verdict.FASTER else "fewer"
        return f"{VERDICT_WORDS[found.verdict]}: carries {more} users, {found.capacity_ratio:.2f} times as many"
    told = "; ".join(
        f"{wording.count(pair.users, 'user')}: {verdict_sentence(decision.verdict, decision.change_percent, ends)}"
        for pair in found.pairs
        if (decision := pair.decision).change_percent is not None and (ends := decision.interval_percent)
    )
    if told:
        more = " Measure both again, or the capacity of both." if found.verdict is Verdict.UNKNOWN else ""
        return f"{VERDICT_WORDS[found.verdict]}. {told}.{more}"
    why = "one of them was measured by an older version" if found.pairs else "no number of users was measured in both"
    return f"Inconclusive: {why}. Measure the same numbers of users in both, or the capacity."


def load_comparison_document(found: LoadComparison) -> dict[str, Any]:
    return {
        "schema": COMPARISON_SCHEMA,
        "base": found.base.id,
        "other": found.other.id,
        **named(found, "verdict", "capacity_ratio"),
        "differences": list(found.differences),
        "points": [
            {
                "users": pair.users,
                "base_requests_per_second": pair.base.requests_per_second,
                "other_requests_per_second": pair.other.requests_per_second,
                "change_percent": pair.change_percent,
                **named(pair.decision, "verdict", "interval_percent"),
            }
            for pair in found.pairs
        ],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    worksheet: str
    capacity_bytes_per_second: float
    user_bytes_per_second: float
    users: int


def predicted(load: Load, name: str, worksheet: UsersCalculation) -> Prediction | None:
    """The users that the worksheet's server carries (Using Samba); None where demand has no limit."""
    if not load.scenario.think.seconds and not load.scenario.pace_seconds:
        return None
    points = [point for point in load.valid_points() if point.size_bytes is None]
    fewest = min(points, key=lambda each: each.users, default=None)
    if fewest is None:
        return None
    each = ((fewest.read_bytes_per_second or 0.0) + (fewest.write_bytes_per_second or 0.0)) / fewest.users
    if not each:
        return None
    return Prediction(
        worksheet=name,
        capacity_bytes_per_second=worksheet.capacity_bytes_per_second,
        user_bytes_per_second=each,
        users=int(worksheet.capacity_bytes_per_second / each),
    )
