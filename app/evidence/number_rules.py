"""Which numbers of an exported document follow from the others, so that ``verify`` can compute them again and compare.

By the schema of the document. A place is written as ``runs[].seconds``; ``*`` stands for any one name.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from storage.records import RunStatus

Document = dict[str, Any]
Condition = Callable[[Document, Document], bool]
"""Whether a number is checked, asked of the object that holds it and of the document around that."""


def _always(_parent: Document, _document: Document) -> bool:
    return True


def _has_rate(run: Document, _series: Document) -> bool:
    return bool(run.get("bytes_per_second"))


def _has_percent_of_link(_series: Document, series: Document) -> bool:
    return any(run.get("percent_of_link") for run in series["runs"])


def _has_requests(point: Document, _load: Document) -> bool:
    return bool(point.get("requests_per_second"))


def _has_reads(point: Document, _load: Document) -> bool:
    return bool(point.get("read_bytes_per_second"))


def _has_writes(point: Document, _load: Document) -> bool:
    return bool(point.get("write_bytes_per_second"))


def _has_any_rate(point: Document, load: Document) -> bool:
    return _has_requests(point, load) or _has_reads(point, load) or _has_writes(point, load)


def _has_times(histogram: Document, _load: Document) -> bool:
    return bool(histogram.get("counts"))


def is_capacity_of_points(_capacity: Document, load: Document) -> bool:
    """A capacity is what was found when the last point ended: later nobody computes it again."""
    return all(point["status"] != RunStatus.REJECTED for point in load["points"])


def _counts_in_mean(run: Document, isolation: Document) -> bool:
    is_counted = run["status"] == RunStatus.VALID and run["round"] <= isolation["rounds"]
    return is_counted and bool(run["bytes_per_second"])


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberRules:
    """Which numbers of a kind's documents are checked. All others are believed, and ``verify`` names them."""

    computed: frozenset[str]
    """The numbers at and below these places are computed from the rest."""
    tied: Mapping[str, Condition] = field(default_factory=dict)
    """Numbers that were measured or typed in. While the condition holds, a computed number would change with them, so
    that a wrong one is noticed.
    """
    from_elsewhere: frozenset[str] = frozenset()
    """Computed from what is in the sender's notebook, but not in this document."""

    def condition_of(self, place: str) -> Condition | None:
        """The condition on which a number at that place is checked; None where it never is."""
        if any(is_at_or_below(place, computed) for computed in self.computed):
            return _always
        for tied, condition in self.tied.items():
            if re.fullmatch(re.escape(tied).replace(r"\*", ".+"), place):
                return condition
        return None


RULES: Mapping[str, NumberRules] = {
    "sharebench/series/1": NumberRules(
        computed=frozenset(
            {
                "average",
                "deviation",
                "confidence",
                "shown",
                "findings",
                "runs[].bytes_per_second",
                "runs[].bits_per_second",
                "runs[].percent_of_link",
                "runs[].request_figures",
                "request_figures",
                "failed_attempts[].bytes_per_second",
                "failed_attempts[].bits_per_second",
                "failed_attempts[].percent_of_link",
            }
        ),
        tied={
            "runs[].size_bytes": _has_rate,
            "runs[].seconds": _has_rate,
            "runs[].requests.reads.max_nanoseconds": _has_times,
            "runs[].requests.writes.max_nanoseconds": _has_times,
            "failed_attempts[].size_bytes": _has_rate,
            "failed_attempts[].seconds": _has_rate,
            "link_bits_per_second": _has_percent_of_link,
        },
        from_elsewhere=frozenset({"experiment_kind"}),
    ),
    "sharebench/load/1": NumberRules(
        computed=frozenset(
            {
                "limit_seconds",
                "memory",
                "knee",
                "points[].requests_per_second",
                "points[].read_bytes_per_second",
                "points[].write_bytes_per_second",
                "points[].response_seconds",
                "points[].service_seconds",
                "points[].operations",
                "points[].generator.cpu_percent_max",
                "points[].generator.lateness_p99_seconds",
            }
        ),
        tied={
            "choices.limit_seconds": _always,
            "capacity.carried": is_capacity_of_points,
            "capacity.not_carried": is_capacity_of_points,
            "points[].seconds": _has_any_rate,
            "points[].requests": _has_requests,
            "points[].read_bytes": _has_reads,
            "points[].write_bytes": _has_writes,
            "points[].histogram.response.max_microseconds": _has_times,
            "points[].histogram.service.max_microseconds": _has_times,
            "points[].histogram.operations.*.max_microseconds": _has_times,
        },
        from_elsewhere=frozenset({"prediction"}),
    ),
    "sharebench/isolation/1": NumberRules(
        computed=frozenset({"points", "verdict", "waterfall_microseconds", "profile_summary", "profiling_cost"}),
        tied={"runs[].bytes_per_second": _counts_in_mean, "runs[].clients": _counts_in_mean},
    ),
    "sharebench/trial/1": NumberRules(
        computed=frozenset({"looked_at_pairs", "rejected_pairs", "effect", "slot_effect_percent", "control", "pairs"})
    ),
    "sharebench/sweep/1": NumberRules(computed=frozenset({"blocks", "friedman_p_value", "blocks_to_settle", "values"})),
    "sharebench/survey/1": NumberRules(computed=frozenset({"stations", "findings"})),
    "sharebench/selftest/1": NumberRules(
        computed=frozenset({"runs", "smallest_change_percent", "by_runs", "comparison"})
    ),
    "sharebench/repeats/1": NumberRules(
        computed=frozenset(
            {
                "averages_bytes_per_second",
                "within_percent",
                "between_percent",
                "by_chance_percent",
                "trend_percent",
                "smallest_change_percent",
            }
        )
    ),
    "sharebench/audit/1": NumberRules(computed=frozenset({"counts"})),
    "sharebench/diagnosis/1": NumberRules(computed=frozenset({"findings", "figures"})),
    "sharebench/quick/1": NumberRules(
        computed=frozenset({"figures", "round_trip_seconds"}),
        tied={
            "lines[].runs[].seconds": _always,
            "lines[].runs[].moved_bytes": _always,
            "lines[].runs[].requests": _always,
            "lines[].runs[].request_nanoseconds": _always,
            "lines[].runs[].cpu_seconds": _always,
            "lines[].runs[].held_seconds": _always,
            "lines[].best_bytes_per_second": _always,
            "link_bits_per_second": _always,
        },
    ),
    "sharebench/who/1": NumberRules(computed=frozenset({"used_percent", "bytes_per_second", "shares"})),
    "sharebench/watch/1": NumberRules(
        computed=frozenset({"baseline_nights_needed"}),
        from_elsewhere=frozenset({"baseline_nights", "smallest_slowdown_percent", "comparison", "changed", "sentence"}),
    ),
}
NO_RULES = NumberRules(computed=frozenset())


def rules_of(document: Document, otherwise: NumberRules) -> NumberRules:
    """The rules of the document's schema; ``otherwise`` for an object without one, which is part of a document."""
    schema = document.get("schema")
    return RULES.get(schema, otherwise) if isinstance(schema, str) else otherwise


def is_at_or_below(place: str, outer: str) -> bool:
    return place == outer or place.startswith((f"{outer}.", f"{outer}[]"))
