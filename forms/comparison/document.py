"""The JSON documents of comparisons: ``compare --json``, exports, and parts of those of experiments and watches.

What the keys hold is said at the fields of :class:`forms.comparison.comparison.Comparison`. A key is null where its
field is None: ``variation and variation.freedom`` is such a null where too few runs tell a variation.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from forms.comparison import hiccups
from forms.comparison.comparison import Comparison
from forms.comparison.doubts.outstanding_series import OutstandingSeries
from forms.comparison.summary import ComparisonSummary
from forms.comparison.wording import doubt_text, verdict_word

SCHEMA = "sharebench/comparison/1"


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """The JSON object of a comparison, unrounded; ``change`` only where one is claimed."""
    variation = comparison.variation
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "base": comparison.base_id,
        "other": comparison.other_id,
        "base_name": comparison.base_name,
        "other_name": comparison.other_name,
        **verdict_document(comparison),
        # What people read: "verdict" and "doubt" keep the values that scripts know since version 0.1.
        "verdict_in_words": verdict_word(comparison).lower(),
        "doubt": comparison.doubt,
        "doubt_in_words": doubt_text(comparison),
        "probably": comparison.leaning,
        "direction_probability": comparison.direction_probability,
        "runs_interval_percent": comparison.runs_interval_percent and list(comparison.runs_interval_percent),
        "level": comparison.limits.level,
        "in_turns": comparison.interleaved,
        "base_series": list(comparison.base_ids),
        "other_series": list(comparison.other_ids),
        "unnamed_series": list(comparison.unnamed_ids),
        "left_out_baseline_series": [member.series.id for member in comparison.left_out_members],
        # The averages of all valid runs; and further below those that were judged, without the runs that are left out.
        "base_average_bytes_per_second": comparison.base_bytes_per_second,
        "other_average_bytes_per_second": comparison.other_bytes_per_second,
        "base_deviation_bytes_per_second": comparison.base_deviation_bytes_per_second,
        "other_deviation_bytes_per_second": comparison.other_deviation_bytes_per_second,
        "base_judged_bytes_per_second": comparison.judged_base_bytes_per_second,
        "other_judged_bytes_per_second": comparison.judged_other_bytes_per_second,
        "left_out_runs": [_run_document(run) for run in comparison.left_out],
        # What an inconclusive comparison would be without particular runs; those above are left out of any verdict.
        "without_runs": comparison.without and _alternative_document(comparison.without),
        "outstanding_series": [_outstanding_document(series) for series in comparison.outstanding],
        "between_series_percent": variation and variation.deviation_percent,
        "between_series_degrees_of_freedom": variation and variation.freedom,
        "equal_series_differ_by_percent": comparison.apart_percent,
        "run_variation_percent": variation and 100 * variation.run_deviation,
        "history_series": comparison.history_count,
        "history_newest_days": comparison.history_days,
        "base_wander_percent": comparison.base_wander_percent,
        "needed_runs": comparison.needed_runs,
        "needed_runs_range": comparison.needed_runs_range and list(comparison.needed_runs_range),
        "needed_series": comparison.needed_series,
        "settle": _settling_document(comparison),
        "differences": [
            {"name": difference.name, "base": difference.base, "other": difference.other}
            for difference in comparison.differences
        ],
    }
    if comparison.other_load is not None:
        document["base_others_cpu_percent"] = comparison.other_load.base_percent
        document["other_others_cpu_percent"] = comparison.other_load.other_percent
    if comparison.tried is not None:
        document["trial"] = {"experiment": comparison.tried.experiment.name, "verdict": comparison.tried.verdict}
    if comparison.change is not None:
        document["change"] = {**asdict(comparison.change), "also_changed": list(comparison.change.also_changed)}
    return document


def _outstanding_document(outstanding: OutstandingSeries) -> dict[str, Any]:
    """A series that is far from the others of its side, and the change without it."""
    decision = outstanding.decision
    return {
        "series": outstanding.series_id,
        "percent": outstanding.percent,
        "verdict_without": decision.verdict,
        "change_percent_without": decision.change_percent,
    }


def _settling_document(comparison: Comparison) -> dict[str, Any] | None:
    """What would settle an inconclusive comparison; None where nothing is proposed."""
    if comparison.settle is None:
        return None
    document = asdict(comparison.settle)
    del document["between"]  # for people: "differences" has it as data
    del document["is_change_unseen"]  # for people: "differences" has what is seen
    del document["needs_past"]  # for people: the moments of both sides tell it
    return document


def _run_document(run: hiccups.OutstandingRun) -> dict[str, Any]:
    return {"series": run.series_id, "run": run.number, "percent_of_others": run.percent}


def _alternative_document(without: hiccups.Alternative) -> dict[str, Any]:
    decision = without.decision
    return {
        "runs": [_run_document(run) for run in without.runs],
        "verdict": decision.verdict,
        "change_percent": decision.change_percent,
        "interval_percent": decision.interval_percent and list(decision.interval_percent),
    }


def verdict_document(comparison: Comparison | None) -> dict[str, Any]:
    """The verdict with its figures; all null where nothing was compared."""
    return {
        "verdict": comparison and comparison.verdict,
        "change_percent": comparison and comparison.change_percent,
        "interval_percent": comparison and comparison.interval_percent and list(comparison.interval_percent),
        "p_value": comparison and comparison.p_value,
    }


def matrix_document(
    comparisons: Sequence[ComparisonSummary], neighbours: Sequence[ComparisonSummary] = ()
) -> list[dict[str, Any]]:
    """The documents of several comparisons, in their order, each with the verdict beside the one measured before."""
    before = {compared.comparison.other_id: compared.comparison for compared in neighbours}
    documents = []
    for compared in comparisons:
        document = comparison_document(compared.comparison)
        neighbour = before.get(compared.comparison.other_id)
        if neighbour is not None:
            document["since_previous"] = {
                "base": neighbour.base_id,
                "base_name": neighbour.base_name,
                **verdict_document(neighbour),
            }
        documents.append(document)
    return documents
