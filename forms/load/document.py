"""The JSON object ``sharebench/load/1`` of a load, and back; nothing is rounded."""

from dataclasses import asdict, replace
from typing import Any

from forms.load.headline import load_answer
from forms.load.prediction import Prediction
from forms.load.summary import knee_of, limit_seconds, memory_line, percentile_seconds
from storage.json_reader import JSONNode, named
from storage.loads.codec import point_from_json, point_to_json
from storage.loads.histogram import Histogram
from storage.loads.records import Load, LoadPoint
from storage.loads.tables import NOT_TOLD, load_content

LOAD_SCHEMA = "sharebench/load/1"
QUANTILES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))

Document = dict[str, Any]


def load_document(load: Load, prediction: Prediction | None = None) -> Document:
    """The load with its points, and what follows from them."""
    knee = knee_of(load.valid_points())
    return {
        "schema": LOAD_SCHEMA,
        **named(load, "id", "created_at", "status", "error", "label", "note", "question"),
        **load_content(load),
        "points": [point_document(point) for point in load.points],
        "answer": load_answer(load),
        "limit_seconds": limit_seconds(load.choices, load.scenario),
        "memory": _memory_document(load),
        "knee": None if knee is None else asdict(knee),
        "prediction": None if prediction is None else prediction.to_document(),
    }


def _memory_document(load: Load) -> Document | None:
    """The memory of an idle user, with its 95 % interval where there is one."""
    line = memory_line(load)
    if line is None:
        return None
    return {"bytes_per_user": line.bytes_a_session, **named(line, "low_bytes", "high_bytes")}


def point_document(point: LoadPoint) -> Document:
    """One point: what was counted, and what follows from it."""
    found = point_to_json(point)
    found["generator"] |= {
        "cpu_percent_max": max(point.generator_cpu_percent, default=None),
        "lateness_p99_seconds": point.generator_lateness.quantile_seconds(0.99),
    }
    return found | {
        **named(point, "requests_per_second", "read_bytes_per_second", "write_bytes_per_second"),
        "response_seconds": quantiles(point.response),
        "service_seconds": quantiles(point.service),
        "operations": {name: {"count": each.count, **quantiles(each)} for name, each in point.operations.items()},
    }


def quantiles(histogram: Histogram) -> dict[str, float | None]:
    """p50, p95, p99, each absent where too few requests were made for it, and the greatest, in seconds."""
    found = {name: percentile_seconds(histogram, share) for name, share in QUANTILES}
    return found | {"max": histogram.max_microseconds / 1e6 if histogram.count else None}


def load_from_document(node: JSONNode) -> Load:
    """The load in a document. Raises DocumentError with the first place that is wrong."""
    load = node.record(Load, leave=NOT_TOLD, needs=("status",))
    if not load.targets:
        raise node.at("targets").wrong("at least one target")
    return replace(load, points=tuple(point_from_json(each) for each in node.at("points").items()))
