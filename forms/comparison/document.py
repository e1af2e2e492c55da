"""The comparison document ``sharebench/comparison/1``: a comparison as one JSON object."""

from dataclasses import asdict
from typing import Any

from forms.comparison.comparison import Comparison

SCHEMA = "sharebench/comparison/1"


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """The JSON object of a comparison: plain lists, dicts, numbers and strings, nothing rounded.

    ``change`` is there where the other series claims one: its name, values and evidence.
    """
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "base": comparison.base_id,
        "other": comparison.other_id,
        "verdict": comparison.verdict,
        "change_percent": comparison.change_percent,
        "interval_percent": list(comparison.interval_percent) if comparison.interval_percent else None,
        "p_value": comparison.p_value,
        "doubt": comparison.doubt,
        "runs_interval_percent": list(comparison.runs_interval_percent) if comparison.runs_interval_percent else None,
        "level": comparison.level,
        "in_turns": comparison.in_turns,
        "base_series": list(comparison.base_ids),
        "other_series": list(comparison.other_ids),
        "base_average_bytes_per_second": comparison.base_bytes_per_second,
        "other_average_bytes_per_second": comparison.other_bytes_per_second,
        "between_series_percent": comparison.between_percent,
        "between_series_degrees_of_freedom": comparison.between_freedom,
        "equal_series_differ_by_percent": comparison.apart_percent,
        "run_variation_percent": comparison.run_percent,
        "history_series": comparison.history_count,
        "history_newest_days": comparison.history_days,
        "base_wander_percent": comparison.base_wander_percent,
        "needed_runs": comparison.needed_runs,
        "needed_runs_range": list(comparison.needed_runs_range) if comparison.needed_runs_range else None,
        "needed_series": comparison.needed_series,
        "settle": asdict(comparison.settle) if comparison.settle else None,
        "differences": [{"name": d.name, "base": d.base, "other": d.other} for d in comparison.differences],
    }
    if comparison.change is not None:
        document["change"] = {**asdict(comparison.change), "also_changed": list(comparison.change.also_changed)}
    return document
