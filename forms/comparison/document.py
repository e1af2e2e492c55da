"""The comparison document ``sharebench/comparison/1``: a comparison as one JSON object."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from forms.comparison.verdict import Comparison

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
        "needed_runs": comparison.needed_runs,
        "differences": [{"name": d.name, "base": d.base, "other": d.other} for d in comparison.differences],
    }
    if comparison.change is not None:
        document["change"] = {**asdict(comparison.change), "also_changed": list(comparison.change.also_changed)}
    return document
