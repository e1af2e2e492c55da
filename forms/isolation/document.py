"""The JSON document of an isolation, both ways; what is computed is written and never read."""

from dataclasses import asdict
from importlib import resources
from typing import Any

from forms.isolation.summary import IsolationPoint, IsolationSummary, MeasuredRatio
from storage.isolations import Isolation, isolation_from_json, isolation_to_json
from storage.json_reader import DocumentError, JSONNode

SCHEMA = "sharebench/isolation/1"
EXAMPLES = ("isolation-2003", "isolation-2003-without")
"""The table and profile of 2003, and the profile after two kinds of request were taken out of the load."""
_HIDDEN = {"server_ssh", "smb_conf", "script_path", "expose_tbench"}
"""What leads to a server, or to a file of this machine."""


def isolation_document(summary: IsolationSummary) -> dict[str, Any]:
    """The JSON object ``sharebench/isolation/1``; nothing is rounded."""
    verdict, fall, profile = summary.verdict, summary.waterfall, summary.profile
    return {
        "schema": SCHEMA,
        **{name: value for name, value in isolation_to_json(summary.isolation).items() if name not in _HIDDEN},
        "points": [_point(point) for point in summary.points],
        "verdict": {
            "cause": verdict.cause.value,
            "doubts": [doubt.value for doubt in verdict.doubts],
            "evidence": asdict(verdict.evidence),
        },
        "waterfall_microseconds": dict(fall.parts()) | {"one operation": fall.whole} if fall else None,
        "profile_summary": asdict(profile) if profile else None,
        "profiling_cost": _ratio(summary.profiling_cost),
    }


def _point(point: IsolationPoint) -> dict[str, Any]:
    return {
        "clients": point.clients,
        "bytes_per_second": {layer.value: rate for layer, rate in point.rates.items()},
        "least_bytes_per_second": point.least,
        "server_of_least": _ratio(point.ratio),
        "passes_without_of_passes_with": _ratio(point.price),
    }


def _ratio(found: MeasuredRatio | None) -> dict[str, Any] | None:
    return asdict(found) if found else None


def is_isolation(document: object) -> bool:
    """Whether a JSON value says that it is an isolation."""
    return isinstance(document, dict) and document.get("schema") == SCHEMA


def isolation_from_document(document: object) -> Isolation:
    """The isolation in a document. Raises DocumentError."""
    node = JSONNode("", document).object()
    if not is_isolation(document):
        raise DocumentError(f'schema: expected "{SCHEMA}"')
    found = isolation_from_json(node)
    keys = [run.key for run in found.runs]
    if len(keys) != len(set(keys)):
        raise DocumentError("runs: two runs of the same round, layer and number of clients")
    return found


def example_documents() -> tuple[bytes, ...]:
    """The isolations of 2003, from a post on samba-technical, as documents to import."""
    folder = resources.files("forms.isolation").joinpath("data")
    return tuple(folder.joinpath(f"{name}.json").read_bytes() for name in EXAMPLES)
