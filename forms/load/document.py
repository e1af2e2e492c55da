"""The JSON document of a load: written with what is computed of its points, and read without it."""

from dataclasses import asdict, replace
from typing import Any

from forms.load import lateness, shapes, summary
from forms.load import wording as load_wording
from forms.load.prediction import Prediction
from forms.load.shapes import MemoryLine
from storage import json_reader
from storage.load import documents, records

LOAD_SCHEMA = "sharebench/load/1"
QUANTILES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))

Document = dict[str, Any]
"""A JSON object."""


def load_document(load: records.Load, prediction: Prediction | None = None) -> Document:
    """The JSON object ``sharebench/load/1``, unrounded."""
    knee = shapes.knee_of(load.valid_points())
    memory = shapes.memory_line(load)
    return {
        "schema": LOAD_SCHEMA,
        **json_reader.named(load, "id", "created_at", "status", "error", "label", "note", "question"),
        **documents.head_of_load(load).content,
        "points": [_point_document(point) for point in load.points],
        "answer": load_wording.load_answer(load),
        "limit_seconds": summary.limit_seconds(load.choices, load.scenario),
        "memory": memory and _memory_document(memory),
        "knee": knee and asdict(knee),
        "prediction": prediction and asdict(prediction),
    }


def _memory_document(line: MemoryLine) -> Document:
    return {
        "bytes_per_user": line.bytes_a_session,
        "low_bytes": line.low_bytes,
        "high_bytes": line.high_bytes,
        "kind": "USS",
        "pss_bytes_per_user": line.shared_bytes_a_session,
    }


def _point_document(point: records.LoadPoint) -> Document:
    document = documents.point_to_json(point)
    document["generator"] |= {
        "cpu_percent_max": max(point.generator_cpu_percent, default=None),
        "lateness_p99_seconds": point.generator_lateness.quantile_seconds(0.99),
        "lateness_in_p95_seconds": lateness.added_to_percentile(point, 0.95),
        "standstill_seconds": lateness.standstill_seconds(point),
    }

    return document | {
        "requests_per_second": point.requests_per_second,
        "read_bytes_per_second": point.read_bytes_per_second,
        "write_bytes_per_second": point.write_bytes_per_second,
        "response_seconds": quantiles(point.response),
        "service_seconds": quantiles(point.service),
        "operations": {name: {"count": times.count, **quantiles(times)} for name, times in point.operations.items()},
    }


def quantiles(histogram: records.Histogram) -> dict[str, float | None]:
    """p50, p95, p99 and maximum in seconds; a percentile is None for too few requests."""
    seconds = {name: summary.percentile_seconds(histogram, share) for name, share in QUANTILES}
    return seconds | {"max": histogram.max_microseconds / 1e6 if histogram.count else None}


def load_from_document(node: json_reader.JSONNode) -> records.Load:
    """The load in a document. Raises DocumentError with the first wrong place."""
    load = node.record(records.Load, leave=documents.NOT_TOLD, needs=("status",))
    if not load.targets:
        raise node.at("targets").wrong("at least one target")

    points = tuple(documents.point_from_json(place) for place in node.at("points").items())
    if len({point.number for point in points}) < len(points):
        raise json_reader.DocumentError("points: two points of the same number")

    return replace(load, points=points)
