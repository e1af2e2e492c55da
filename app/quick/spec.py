"""What was asked for: a quick test of one folder."""

from dataclasses import dataclass

from app.base.errors import UsageError
from app.recording.spec import ServerRequest
from forms import wording
from storage.quick import records as quick_records
from storage.records import Target

USUAL_SIZE = wording.typed_size(quick_records.USUAL_FILE_BYTES)
"""Of the file, as it is typed."""
RUNS = 3
"""Timed runs of each line: the fewest that a comparison can judge."""
RUN_SECONDS = 3.0
"""A run lasts at most as long: eight lines of three runs then take little more than a minute."""
MOST_RUN_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickRequest(ServerRequest):
    """A quick test as it was asked for."""

    target: Target
    """The folder that the file is made in."""
    note: str = ""
    size_bytes: int = quick_records.USUAL_FILE_BYTES
    """Of the file, where the path carries as much in time."""
    run_seconds: float = RUN_SECONDS
    """A run lasts at most as long."""
    link_bits_per_second: int | None = None
    """As the user gave it; None for what the interface says."""
    from_host: str | None = None
    """``[USER@]HOST`` of the machine that measures, reached by ssh; None for this one."""


def check_request(request: QuickRequest) -> None:
    """Raises UsageError."""
    target = request.target
    if not target.abilities.can_ask_at_random:
        raise UsageError(
            f"a quick test reads and writes at random places of a file, which {target.abilities.label} cannot:"
            " name the server's share as smb://HOST/SHARE, or measure whole files with `sharebench run`"
        )
    if target.abilities.has_share and not target.share:
        raise UsageError("name the share to test: sharebench quick smb://HOST/SHARE")
    if request.size_bytes < quick_records.LEAST_FILE_BYTES:
        least = wording.typed_size(quick_records.LEAST_FILE_BYTES)
        raise UsageError(f"a file of {wording.binary_size(request.size_bytes)} is too small: ask for {least} or more")

    if request.settings.like is not None and not target.abilities.has_dialect:
        raise UsageError("--like is for smb:// targets: leave it out")
