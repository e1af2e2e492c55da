"""Loads and their points as JSON objects with every number, and back; what documents and the notebook's rows share."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from storage.json_reader import JSONNode
from storage.loads.histogram import histogram_from_json
from storage.loads.reading import between, flag_or_no, number_or_none, text_or_none, whole_or, whole_or_none
from storage.loads.records import (
    Capacity,
    Limit,
    LoadChoices,
    LoadPoint,
    LoadWorker,
    PointServer,
    PointStatus,
    Spread,
)
from storage.plan import MOST_SECONDS
from storage.records import Target

MOST_USERS = 1_000_000


def point_to_json(point: LoadPoint) -> dict[str, Any]:
    """The point as plain objects."""
    server = point.server
    return {
        "number": point.number,
        "users": point.users,
        "size_bytes": point.size_bytes,
        "connected": point.connected,
        "status": point.status.value,
        "reason": point.reason,
        "started_at": point.started_at or None,
        "ramp_seconds": point.ramp_seconds,
        "seconds": point.seconds,
        "offered_per_second": point.offered_per_second,
        "requests": point.requests,
        "reads": point.reads,
        "writes": point.writes,
        "read_bytes": point.read_bytes,
        "write_bytes": point.write_bytes,
        "late_starts": point.late_starts,
        "errors": dict(point.errors),
        "first_error": point.first_error or None,
        "think_seconds": point.think_seconds,
        "little_percent": point.little_percent,
        "drain_seconds": point.drain_seconds,
        "limit": point.limit.value if point.limit else None,
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
        "samples": server.samples,
        "processors": server.processors,
        "cpu_percent": {
            "user": asdict(server.user_percent),
            "system": asdict(server.system_percent),
            "total": asdict(server.total_percent),
            "smbd": asdict(server.smbd_percent) if server.smbd_percent else None,
        },
        "sessions": server.processes,
        "smbd_uss_bytes": server.smbd_uss_bytes,
        "smbd_pss_bytes": server.smbd_pss_bytes,
        "interfaces": _cards(server.interfaces),
        "disk_busy_percent": dict(server.disk_busy_percent),
        "throttled_percent": server.throttled_percent,
    }


def _cards(cards: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    """Bytes a second by card."""
    return {name: {"in": rates[0], "out": rates[1]} for name, rates in cards.items()}


def point_from_json(node: JSONNode) -> LoadPoint:
    """The point of :func:`point_to_json`. Raises DocumentError."""
    node = node.object()
    shapes, generator = node.at("histogram").object(), node.maybe("generator")
    operations = JSONNode("operations", shapes.maybe("operations").object_or_empty())
    has_generator = generator.value is not None
    return LoadPoint(
        number=node.at("number").whole(at_least=1),
        users=whole_or(node.at("users"), 1, at_most=MOST_USERS),
        size_bytes=whole_or_none(node.maybe("size_bytes")),
        connected=node.at("connected").whole(at_least=0),
        status=node.at("status").one_of(PointStatus),
        reason=text_or_none(node.maybe("reason")),
        started_at=text_or_none(node.maybe("started_at")) or "",
        ramp_seconds=_at_least_zero(node.maybe("ramp_seconds")),
        seconds=_at_least_zero(node.at("seconds")),
        offered_per_second=number_or_none(node.maybe("offered_per_second")),
        requests=node.at("requests").whole(at_least=0),
        reads=whole_or(node.maybe("reads"), 0, at_most=2**62),
        writes=whole_or(node.maybe("writes"), 0, at_most=2**62),
        read_bytes=node.at("read_bytes").whole(at_least=0),
        write_bytes=node.at("write_bytes").whole(at_least=0),
        late_starts=whole_or(node.maybe("late_starts"), 0, at_most=2**62),
        errors=_counts(node.maybe("errors")),
        first_error=text_or_none(node.maybe("first_error")) or "",
        think_seconds=number_or_none(node.maybe("think_seconds")),
        little_percent=number_or_none(node.maybe("little_percent")),
        drain_seconds=number_or_none(node.maybe("drain_seconds")),
        limit=node.maybe("limit").one_of(Limit) if node.maybe("limit").value is not None else None,
        response=histogram_from_json(shapes.maybe("response")),
        service=histogram_from_json(shapes.maybe("service")),
        logins=histogram_from_json(shapes.maybe("logins")),
        generator_lateness=histogram_from_json(shapes.maybe("lateness")),
        operations={name: histogram_from_json(operations.at(name)) for name in operations.value},
        generator_cpu_percent=tuple(each.number() for each in generator.maybe("cpu_percent").items())
        if has_generator
        else (),
        client_interfaces=_cards_from(generator.maybe("interfaces")) if has_generator else {},
        server=_server_from_json(node.at("server")) if node.maybe("server").value is not None else None,
    )


def _server_from_json(node: JSONNode) -> PointServer:
    processors = node.object().at("cpu_percent").object()
    busy = node.maybe("disk_busy_percent")
    smbd = processors.maybe("smbd")
    return PointServer(
        samples=node.at("samples").whole(at_least=1),
        processors=whole_or(node.maybe("processors"), 1, at_most=65536) or 1,
        user_percent=_spread(processors.at("user")),
        system_percent=_spread(processors.at("system")),
        total_percent=_spread(processors.at("total")),
        smbd_percent=_spread(smbd) if smbd.value is not None else None,
        processes=whole_or(node.maybe("sessions"), 0, at_most=2**31),
        smbd_uss_bytes=whole_or_none(node.maybe("smbd_uss_bytes")),
        smbd_pss_bytes=whole_or_none(node.maybe("smbd_pss_bytes")),
        interfaces=_cards_from(node.maybe("interfaces")),
        disk_busy_percent={name: busy.at(name).number() for name in busy.object_or_empty()},
        throttled_percent=number_or_none(node.maybe("throttled_percent")),
    )


def _spread(node: JSONNode) -> Spread:
    node = node.object()
    return Spread(
        mean=node.at("mean").number(),
        median=node.at("median").number(),
        deviation=number_or_none(node.maybe("deviation")),
    )


def _cards_from(node: JSONNode) -> dict[str, tuple[float, float]]:
    return {
        name: (node.at(name).object().at("in").number(), node.at(name).at("out").number())
        for name in node.object_or_empty()
    }


def _counts(node: JSONNode) -> dict[str, int]:
    return {name: node.at(name).whole(at_least=0) for name in node.object_or_empty()}


def _at_least_zero(node: JSONNode) -> float:
    found = number_or_none(node) or 0.0
    if found < 0:
        raise node.wrong("a number of at least 0")
    return found


def choices_to_json(choices: LoadChoices) -> dict[str, Any]:
    """How a load is made, as plain objects."""
    return asdict(choices) | {"users": list(choices.users), "hosts": list(choices.hosts)}


def choices_from_json(node: JSONNode) -> LoadChoices:
    """The choices of :func:`choices_to_json`; the usual ones where there is nothing. Raises DocumentError."""
    usual = LoadChoices()
    if node.value is None:
        return usual
    node = node.object()
    return LoadChoices(
        users=tuple(whole_or(each, 1, at_most=MOST_USERS) for each in node.maybe("users").items()),
        find_capacity=flag_or_no(node.maybe("find_capacity")),
        limit_seconds=between(node.maybe("limit_seconds"), 0, MOST_SECONDS),
        ramp_per_second=between(node.maybe("ramp_per_second"), 0, MOST_USERS) or usual.ramp_per_second,
        processes=whole_or(node.maybe("processes"), 1, at_most=4096),
        hosts=tuple(each.text() for each in node.maybe("hosts").items()),
    )


def capacity_to_json(capacity: Capacity | None) -> dict[str, Any] | None:
    """The capacity as plain objects."""
    if capacity is None:
        return None
    return asdict(capacity) | {"limit": capacity.limit.value if capacity.limit else None}


def capacity_from_json(node: JSONNode) -> Capacity | None:
    """The capacity of :func:`capacity_to_json`. Raises DocumentError."""
    if node.value is None:
        return None
    node = node.object()
    return Capacity(
        carried=whole_or_none(node.maybe("carried")),
        not_carried=whole_or_none(node.maybe("not_carried")),
        reason=text_or_none(node.maybe("reason")) or "",
        limit=node.maybe("limit").one_of(Limit) if node.maybe("limit").value is not None else None,
    )


def workers_from_json(node: JSONNode) -> tuple[LoadWorker, ...]:
    """The machines that made the load. Raises DocumentError."""
    return tuple(
        LoadWorker(
            host=each.object().at("host").text(),
            processes=each.at("processes").whole(at_least=1),
            version=text_or_none(each.maybe("version")) or "",
        )
        for each in node.items()
    )


def targets_from_json(node: JSONNode) -> tuple[Target, ...]:
    """The targets of a load. Raises DocumentError."""
    return tuple(
        Target(
            protocol=each.object().at("protocol").filled_text(),
            host=text_or_none(each.maybe("host")) or "",
            port=whole_or_none(each.maybe("port")),
            share=text_or_none(each.maybe("share")),
            path=text_or_none(each.maybe("path")) or "",
            user=text_or_none(each.maybe("user")),
            domain=text_or_none(each.maybe("domain")),
        )
        for each in node.items()
    )
