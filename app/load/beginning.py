"""What a measurement begins with: a new load as it was asked for, or a stored one; and the request that resumes it."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from app.base import errors
from app.base.own_names import new_folder
from app.base.targets import parse_typed_target
from app.clients.base import Secrets
from app.clients.file_tree import FileSet
from app.load.next_point import next_point
from app.load.spec import LoadRequest
from app.server.facts import Environment
from app.server.named_servers import server_ways
from storage.load import records
from storage.records import JSONValue, SeriesStatus, new_series_id, utc_now


def new_load(request: LoadRequest, environment: Environment) -> records.Load:
    link_bits_per_second = request.link_bits_per_second
    if link_bits_per_second is None and environment.link is not None and not environment.link.loopback:
        link_bits_per_second = environment.link.bits_per_second
    memory_bytes = environment.server.get("memory_bytes")

    return records.Load(
        id=new_series_id(),
        created_at=utc_now(),
        label=request.label,
        question=request.question,
        targets=request.targets,
        scenario=request.scenario,
        choices=request.choices,
        link_bits_per_second=link_bits_per_second,
        file_set_bytes=FileSet(request.scenario).size_bytes,
        server_memory_bytes=memory_bytes if isinstance(memory_bytes, int) else None,
        environment=environment.parts(),
        scratch_folder=request.reuse_folder or _new_folder(request.scenario),
    )


def load_to_resume(load: records.Load) -> records.Load:
    """The load without its failed points, which are measured again. Raises UsageError if no point is missing."""
    good_points = tuple(point for point in load.points if point.status is not records.PointStatus.FAILED)
    is_measured = next_point(good_points, load.choices, load.scenario) is None
    if load.status is SeriesStatus.COMPLETE or is_measured:
        raise errors.UsageError(f"load {load.id} is complete; measure a new one with `sharebench load`")

    folder = load.scratch_folder or _new_folder(load.scenario)
    return replace(load, points=good_points, status=SeriesStatus.INTERRUPTED, error=None, scratch_folder=folder)


def _new_folder(scenario: records.Scenario) -> str | None:
    """Its name is stored before it is made; a load of print jobs, or of users who do nothing, makes none."""
    return new_folder("load") if scenario.needs_files else None


def request_to_resume(load: records.Load, secrets: Secrets, typed: Mapping[str, JSONValue]) -> LoadRequest:
    """The request that completes a stored load; the way by ssh is the one typed last, if it was for the same server."""
    first_target = load.targets[0]
    ssh = ""
    with suppress(errors.UsageError):
        if parse_typed_target(str(typed.get("target", ""))).host == first_target.host:
            ssh = str(typed.get("ssh", "")).strip()

    ways = server_ways(first_target, ssh)
    return LoadRequest(
        targets=load.targets,
        secrets=secrets,
        scenario=load.scenario,
        choices=load.choices,
        server_ssh=ways.server_ssh,
        smb_conf=ways.smb_conf,
    )
