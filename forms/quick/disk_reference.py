"""What each line of a quick test would reach with the disk of reference: ``data/disk_reference.toml``.

Each request goes to that disk: a server that answers from its memory is faster. Of requests at random that are made one
by one the times add up: the path, a usual server, the disk. All others overlap, so that the slowest part decides.
"""

from collections.abc import Mapping
from typing import Any

from forms.quick import limits
from forms.tuning.smb_conf import toml_data
from forms.tuning.usual_server import usual_request_seconds
from storage import records
from storage.quick.records import MIB, Access, Quick, QuickLine

_RANDOM_BLOCK_BYTES = 4096
"""Of the random requests that data sheets tell of."""
_USUAL_REQUESTS = {records.Command.GET: "read", records.Command.PUT: "write"}


def disk_reference() -> Mapping[str, Any]:
    """By the names of ``disk_reference.toml``."""
    reference: Mapping[str, Any] = toml_data("disk_reference.toml", package="forms.quick")
    return reference


def bytes_per_second_with_disk(quick: Quick, line: QuickLine) -> float | None:
    """None for a line that the data sheet has no figure for, and where the path is unknown."""
    of_disk = _disk_bytes_per_second(line.access, line.command)
    if of_disk is None or quick.target is None:
        return None
    if quick.target.abilities.is_local:
        return of_disk

    if line.access.random and line.access.in_flight == 1:
        return _rate_one_by_one(quick, line, of_disk)
    by_path = limits.path_allowance(quick, line.access)
    return min(of_disk, by_path.bytes_per_second) if by_path else None


def _disk_bytes_per_second(access: Access, command: records.Command) -> float | None:
    reference = disk_reference()
    if access.threads > 1:
        return None
    if not access.random:
        return float(reference["sequential_bytes_per_second"][command.value]) if access.block_bytes >= MIB else None

    operations = reference["random_operations_per_second"].get(str(access.in_flight))
    if operations is None or access.block_bytes != _RANDOM_BLOCK_BYTES:
        return None
    return float(operations[command.value]) * access.block_bytes


def _rate_one_by_one(quick: Quick, line: QuickLine, of_disk: float) -> float | None:
    path_seconds = limits.path_seconds(quick, line.access)
    if path_seconds is None:
        return None
    block_bytes = line.access.block_bytes
    server_seconds = usual_request_seconds(_USUAL_REQUESTS[line.command])
    return block_bytes / (path_seconds + server_seconds + block_bytes / of_disk)
