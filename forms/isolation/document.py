"""The JSON document of an isolation: what was measured, and what is computed of it."""

from dataclasses import asdict
from importlib import resources
from typing import Any

from forms.isolation.summary import IsolationPoint, IsolationSummary
from storage.isolation import isolation_to_json

SCHEMA = "sharebench/isolation/1"
EXAMPLES = ("isolation-2003", "isolation-2003-without")
"""Documents in ``data`` that ``sharebench import`` offers."""

_HIDDEN = {"server_ssh", "smb_conf", "script_path", "expose_tbench"}
"""Fields that lead to the server, or to files of the machine that measured: in no document."""


def isolation_document(summary: IsolationSummary) -> dict[str, Any]:
    """The JSON object ``sharebench/isolation/1``, unrounded."""
    stored = {name: value for name, value in isolation_to_json(summary.isolation).items() if name not in _HIDDEN}
    verdict = {
        "cause": summary.verdict.cause.value,
        "doubts": [doubt.value for doubt in summary.verdict.doubts],
        "evidence": asdict(summary.verdict.evidence),
    }
    waterfall = None
    if summary.waterfall:
        waterfall = dict(summary.waterfall.parts()) | {"one operation": summary.waterfall.whole}

    return {
        "schema": SCHEMA,
        **stored,
        "points": list(map(_point_document, summary.points)),
        "verdict": verdict,
        "waterfall_microseconds": waterfall,
        "profile_summary": summary.profile and asdict(summary.profile),
        "profiling_cost": summary.profiling_cost and asdict(summary.profiling_cost),
    }


def _point_document(point: IsolationPoint) -> dict[str, Any]:
    return {
        "clients": point.clients,
        "bytes_per_second": {layer.value: rate for layer, rate in point.rates.items()},
        "least_bytes_per_second": point.least,
        "server_of_least": point.ratio and asdict(point.ratio),
        "passes_without_of_passes_with": point.price and asdict(point.price),
    }


def example_documents() -> tuple[bytes, ...]:
    """The isolations of 2003, from a post on samba-technical, as documents."""
    folder = resources.files("forms.isolation").joinpath("data")
    return tuple(folder.joinpath(f"{name}.json").read_bytes() for name in EXAMPLES)
