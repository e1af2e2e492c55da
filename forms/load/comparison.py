"""Two loads side by side: capacity against capacity, and each number of users that both have."""

from dataclasses import dataclass
from typing import Any

from forms.load.headline import load_answer
from forms.load.summary import percentile_seconds
from forms.report import Field, Report, ReportKind, Table, columns_of, row_of
from forms.stats.decision import Verdict
from forms.verdict_signs import VERDICT_TONES
from storage.loads.records import Load, LoadPoint

PROMISED_RATIO = 2.0
"""Using Samba, appendix B: a tuned server carries at least twice the users of an untuned one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersPair:
    """The same number of users in both loads."""

    users: int
    base: LoadPoint
    other: LoadPoint

    @property
    def change_percent(self) -> float | None:
        first, second = self.base.requests_per_second, self.other.requests_per_second
        return 100 * (second / first - 1) if first and second is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadComparison:
    """What can be said of two loads."""

    base: Load
    other: Load
    pairs: tuple[UsersPair, ...]
    verdict: Verdict
    """``faster`` or ``slower`` where the brackets of both capacities lie apart, else ``unknown``."""
    capacity_ratio: float | None
    differences: tuple[str, ...]


def compare_loads(base: Load, other: Load) -> LoadComparison:
    """The comparison: one window a point proves nothing of single points, but brackets that lie apart do."""
    others = {(point.users, point.size_bytes): point for point in other.valid_points()}
    pairs = tuple(
        UsersPair(users=point.users, base=point, other=others[point.users, point.size_bytes])
        for point in base.valid_points()
        if (point.users, point.size_bytes) in others
    )
    first, second = base.capacity, other.capacity
    verdict, ratio = Verdict.UNKNOWN, None
    if first and second and first.carried and second.carried:
        ratio = second.carried / first.carried
        if first.not_carried is not None and second.carried >= first.not_carried:
            verdict = Verdict.FASTER
        elif second.not_carried is not None and second.not_carried <= first.carried:
            verdict = Verdict.SLOWER
    differences = tuple(
        name
        for name, one, two in (
            ("scenario", base.scenario, other.scenario),
            ("targets", base.targets, other.targets),
            ("link", base.link_bits_per_second, other.link_bits_per_second),
            ("generators", [w.processes for w in base.workers], [w.processes for w in other.workers]),
        )
        if one != two
    )
    return LoadComparison(
        base=base, other=other, pairs=pairs, verdict=verdict, capacity_ratio=ratio, differences=differences
    )


COMPARISON_SCHEMA = "sharebench/load-comparison/1"


def load_comparison_report(found: LoadComparison) -> Report:
    """The comparison laid out."""
    columns = columns_of(
        "Users",
        ("Base requests/s", ReportKind.DECIMAL),
        ("Other requests/s", ReportKind.DECIMAL),
        ("Change", ReportKind.SIGNED),
        ("Base p95 ms", ReportKind.DECIMAL),
        ("Other p95 ms", ReportKind.DECIMAL),
    )
    rows = tuple(
        row_of(
            str(pair.users),
            pair.base.requests_per_second,
            pair.other.requests_per_second,
            pair.change_percent,
            _p95_ms(pair.base),
            _p95_ms(pair.other),
        )
        for pair in found.pairs
    )
    return Report(
        form="load comparison",
        title="Two loads side by side",
        name="Loads",
        fields=(
            Field(name="Base", text=_named(found.base)),
            Field(name="Other", text=_named(found.other)),
        ),
        tables=(Table(columns=columns, rows=rows),) if rows else (),
        results=(Field(name="Verdict", text=_verdict_text(found), tone=VERDICT_TONES[found.verdict]),),
        advice=_advice(found),
        document=lambda: load_comparison_document(found),
    )


def _named(load: Load) -> str:
    return " · ".join(filter(None, (load.id, load.label, load_answer(load, brief=True))))


def _p95_ms(point: LoadPoint) -> float | None:
    seconds = percentile_seconds(point.response, 0.95)
    return None if seconds is None else 1000 * seconds


def _verdict_text(found: LoadComparison) -> str:
    if found.verdict is Verdict.UNKNOWN:
        return "not known: the capacities are not known, or their brackets overlap; look for the capacity of both"
    more = "more" if found.verdict is Verdict.FASTER else "fewer"
    ratio = f"{found.capacity_ratio:.2f} times the users" if found.capacity_ratio else ""
    return f"carries {more} users: {ratio}"


def _advice(found: LoadComparison) -> tuple[str, ...]:
    said = []
    if found.differences:
        said.append(f"Not the same in both: {', '.join(found.differences)}. That may be the reason as well.")
    if found.verdict is Verdict.FASTER and found.capacity_ratio is not None:
        held = "holds" if found.capacity_ratio >= PROMISED_RATIO else "does not hold"
        said.append(f"Using Samba promises at least twice the users of a tuned server: that {held} here.")
    return tuple(said)


def load_comparison_document(found: LoadComparison) -> dict[str, Any]:
    """The JSON object ``sharebench/load-comparison/1``."""
    return {
        "schema": COMPARISON_SCHEMA,
        "base": found.base.id,
        "other": found.other.id,
        "verdict": found.verdict,
        "capacity_ratio": found.capacity_ratio,
        "differences": list(found.differences),
        "points": [
            {
                "users": pair.users,
                "base_requests_per_second": pair.base.requests_per_second,
                "other_requests_per_second": pair.other.requests_per_second,
                "change_percent": pair.change_percent,
            }
            for pair in found.pairs
        ],
    }
