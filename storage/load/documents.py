"""Loads in the notebook, and their points as JSON.

A load is a recording whose points have a table, ``load_points``: some columns to ask for, and the whole point as JSON
in ``figures``. The same JSON stands in documents, and its shape is not that of the record: histograms, for instance,
are in an object of their own. A point is stored when it ends.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from storage.json_reader import Count, JSONNode, named
from storage.load.records import Load, LoadPoint, PointServer, histogram_from_json
from storage.recordings import LOAD, Recording, to_recording
from storage.records import Spread

_HISTOGRAMS = {"response": "response", "service": "service", "logins": "logins", "lateness": "generator_lateness"}
"""The fields of a point that are histograms, by their names in a document."""

# The percentages of `PointServer`, by the begin of their names.
_SPREADS = ("user", "system", "total")
_OPTIONAL_SPREADS = ("smbd", "kernel", "others")

# A point's fields stand in its document under their own names, but for those of these three lists.
ELSEWHERE = frozenset({*_HISTOGRAMS.values(), "operations", "generator_cpu_percent", "client_interfaces", "server"})
"""Fields of a point that its document holds in another shape."""
_NEEDED = ("connected", "status", "seconds", "requests", "read_bytes", "write_bytes")
"""Fields of a point that its document must have, though the record has defaults for them."""
NOT_TOLD = frozenset({"points", "scratch_folder", "imported_at", "owner"})
"""Fields of a load that are not read with its head: the points are by themselves, the others are in no document."""
_BESIDE_HEAD = ("points", "scratch_folder")
"""Fields of a load that its recording does not hold as content: the points have a table, and the scenario's folder on
the share is noted among the recording's leftovers until it is removed."""


def point_to_json(point: LoadPoint) -> dict[str, Any]:
    return {
        **named(point, *(name for name in LoadPoint.__dataclass_fields__ if name not in ELSEWHERE)),
        "started_at": point.started_at or None,
        "window_started_at": point.window_started_at or None,
        "first_error": point.first_error or None,
        "print_queue": point.print_queue and asdict(point.print_queue),
        "histogram": {
            **{name: getattr(point, attribute).to_json() for name, attribute in _HISTOGRAMS.items()},
            "operations": {name: histogram.to_json() for name, histogram in point.operations.items()},
        },
        "generator": {"cpu_percent": list(point.generator_cpu_percent), "interfaces": _cards(point.client_interfaces)},
        "server": point.server and _server_to_json(point.server),
    }


def _server_to_json(server: PointServer) -> dict[str, Any]:
    spreads = {name: getattr(server, f"{name}_percent") for name in (*_SPREADS, *_OPTIONAL_SPREADS)}
    return {
        **named(server, "samples", "processors"),
        "cpu_percent": {name: spread and asdict(spread) for name, spread in spreads.items()},
        "sessions": server.processes,  # smbd has a process for each session
        **named(server, "smbd_uss_bytes", "smbd_pss_bytes"),
        "interfaces": _cards(server.interfaces),
        **named(server, "disk_busy_percent", "throttled_percent"),
    }


def _cards(cards: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    return {name: {"in": rates[0], "out": rates[1]} for name, rates in cards.items()}


def point_from_json(node: JSONNode) -> LoadPoint:
    """The point of :func:`point_to_json`. Raises DocumentError."""
    point = node.record(LoadPoint, leave=ELSEWHERE, needs=_NEEDED)
    histograms = node.at("histogram").object()
    generator = JSONNode("generator", node.maybe("generator").object_or_empty())
    operations = JSONNode("operations", histograms.maybe("operations").object_or_empty())

    return replace(
        point,
        response=histogram_from_json(histograms.maybe("response")),
        service=histogram_from_json(histograms.maybe("service")),
        logins=histogram_from_json(histograms.maybe("logins")),
        generator_lateness=histogram_from_json(histograms.maybe("lateness")),
        operations={name: histogram_from_json(operations.at(name)) for name in operations.value},
        generator_cpu_percent=generator.maybe("cpu_percent").read(tuple[float, ...]),
        client_interfaces=_cards_from(generator.maybe("interfaces")),
        server=_server_from_json(node.at("server")) if node.maybe("server").value is not None else None,
    )


def _server_from_json(node: JSONNode) -> PointServer:
    processors = node.object().at("cpu_percent").object()

    # What documents of older versions have not got stays empty, or at its default.
    return PointServer(
        user_percent=processors.at("user").record(Spread),
        system_percent=processors.at("system").record(Spread),
        total_percent=processors.at("total").record(Spread),
        smbd_percent=processors.maybe("smbd").read(Spread | None),
        kernel_percent=processors.maybe("kernel").read(Spread | None),
        others_percent=processors.maybe("others").read(Spread | None),
        samples=node.at("samples").count(),
        processors=node.maybe("processors").read(Count | None) or 1,
        processes=node.maybe("sessions").read(int | None) or 0,
        smbd_uss_bytes=node.maybe("smbd_uss_bytes").read(Count | None),
        smbd_pss_bytes=node.maybe("smbd_pss_bytes").read(Count | None),
        interfaces=_cards_from(node.maybe("interfaces")),
        disk_busy_percent=node.maybe("disk_busy_percent").read(Mapping[str, float] | None) or {},
        throttled_percent=node.maybe("throttled_percent").read(float | None),
    )


def _cards_from(node: JSONNode) -> dict[str, tuple[float, float]]:
    return {
        name: (node.at(name).object().at("in").number(), node.at(name).at("out").number())
        for name in node.object_or_empty()
    }


def head_of_load(load: Load) -> Recording:
    """The load as a recording, without its points."""
    target = load.targets[0]
    head = to_recording(
        replace(load, points=()),
        LOAD,
        apart=_BESIDE_HEAD,
        subject=f"{load.scenario.name} {target.protocol}://{target.host}/{target.share or ''}".rstrip("/"),
        leftovers={"scratch_folder": load.scratch_folder} if load.scratch_folder else None,
        imported_at=load.imported_at,
    )
    return replace(head, content={**head.content, "scenario": load.scenario.to_json()})


def point_to_row(load_id: str, point: LoadPoint) -> dict[str, Any]:
    return {
        "load_id": load_id,
        "status": point.status.value,
        **named(point, "number", "users", "connected", "reason", "seconds", "requests"),
        **named(point, "requests_per_second", "read_bytes_per_second", "write_bytes_per_second"),
        "response_p95_seconds": point.response.quantile_seconds(0.95),
        "figures": json.dumps(point_to_json(point)),
    }
