"""Loads and their points as JSON objects, for documents and the notebook."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from storage.json_reader import Count, JSONNode, named
from storage.loads.histogram import histogram_from_json
from storage.loads.records import Capacity, LoadChoices, LoadPoint, PointServer
from storage.records import Spread


def point_to_json(point: LoadPoint) -> dict[str, Any]:
    """The point as plain objects."""
    server = point.server
    return {
        **named(point, "number", "users", "size_bytes", "connected", "status", "reason"),
        "started_at": point.started_at or None,
        **named(point, "ramp_seconds", "seconds", "offered_per_second", "requests", "reads", "writes"),
        **named(point, "read_bytes", "write_bytes", "late_starts", "silent_seconds"),
        "slices": list(point.slices),
        "errors": dict(point.errors),
        "first_error": point.first_error or None,
        "think_seconds": point.think_seconds,
        "little_percent": point.little_percent,
        "limit": point.limit.value if point.limit else None,
        "print_queue": None if point.print_queue is None else asdict(point.print_queue),
        "histogram": {
            "response": point.response.to_json(),
            "service": point.service.to_json(),
            "logins": point.logins.to_json(),
            "lateness": point.generator_lateness.to_json(),
            "operations": {name: each.to_json() for name, each in point.operations.items()},
        },
        "generator": {
            "cpu_percent": list(point.generator_cpu_percent),
            "interfaces": _cards(point.client_interfaces),
        },
        "server": None if server is None else _server_to_json(server),
    }


def _server_to_json(server: PointServer) -> dict[str, Any]:
    return {
        **named(server, "samples", "processors"),
        "cpu_percent": {
            "user": asdict(server.user_percent),
            "system": asdict(server.system_percent),
            "total": asdict(server.total_percent),
            "smbd": asdict(server.smbd_percent) if server.smbd_percent else None,
            "kernel": asdict(server.kernel_percent) if server.kernel_percent else None,
            "others": asdict(server.others_percent) if server.others_percent else None,
        },
        "sessions": server.processes,
        **named(server, "smbd_uss_bytes", "smbd_pss_bytes"),
        "interfaces": _cards(server.interfaces),
        "disk_busy_percent": dict(server.disk_busy_percent),
        "throttled_percent": server.throttled_percent,
    }


def _cards(cards: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    return {name: {"in": rates[0], "out": rates[1]} for name, rates in cards.items()}


ELSEWHERE = frozenset(
    {"response", "service", "logins", "generator_lateness", "operations", "generator_cpu_percent", "client_interfaces"}
) | {"server"}
"""Fields of a point that its document holds in another shape."""
_NEEDED = ("connected", "status", "seconds", "requests", "read_bytes", "write_bytes")


def point_from_json(node: JSONNode) -> LoadPoint:
    """The point of :func:`point_to_json`. Raises DocumentError."""
    point = node.record(LoadPoint, leave=ELSEWHERE, needs=_NEEDED)
    shapes, generator = node.at("histogram").object(), JSONNode("generator", node.maybe("generator").object_or_empty())
    operations = JSONNode("operations", shapes.maybe("operations").object_or_empty())
    return replace(
        point,
        response=histogram_from_json(shapes.maybe("response")),
        service=histogram_from_json(shapes.maybe("service")),
        logins=histogram_from_json(shapes.maybe("logins")),
        generator_lateness=histogram_from_json(shapes.maybe("lateness")),
        operations={name: histogram_from_json(operations.at(name)) for name in operations.value},
        generator_cpu_percent=generator.maybe("cpu_percent").read(tuple[float, ...]),
        client_interfaces=_cards_from(generator.maybe("interfaces")),
        server=_server_from_json(node.at("server")) if node.maybe("server").value is not None else None,
    )


def _server_from_json(node: JSONNode) -> PointServer:
    processors = node.object().at("cpu_percent").object()
    return PointServer(
        samples=node.at("samples").count(),
        processors=node.maybe("processors").read(Count | None) or 1,
        user_percent=processors.at("user").record(Spread),
        system_percent=processors.at("system").record(Spread),
        total_percent=processors.at("total").record(Spread),
        smbd_percent=processors.maybe("smbd").read(Spread | None),
        kernel_percent=processors.maybe("kernel").read(Spread | None),
        others_percent=processors.maybe("others").read(Spread | None),
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


def choices_to_json(choices: LoadChoices) -> dict[str, Any]:
    """How a load is made, as plain objects."""
    return asdict(choices) | {"users": list(choices.users), "hosts": list(choices.hosts)}


def capacity_to_json(capacity: Capacity | None) -> dict[str, Any] | None:
    """The capacity as plain objects."""
    if capacity is None:
        return None
    return asdict(capacity) | {"limit": capacity.limit.value if capacity.limit else None}
