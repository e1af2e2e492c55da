"""The random requests of a run, from what was asked of its series."""

from app.base.errors import UsageError
from app.clients.random_requests import RandomWorkload
from app.recording.spec import SeriesSpec
from storage.records import Command


def workload_of(spec: SeriesSpec) -> RandomWorkload:
    """Raises UsageError where the spec leaves open what `app.series.requests` fills in."""
    counts = spec.counts
    settings = spec.settings
    if not (settings.block_bytes and settings.in_flight and counts.random_seconds):
        raise UsageError("of how many bytes, how many at a time, and for how long shall requests be made?")

    return RandomWorkload(
        block_bytes=settings.block_bytes,
        in_flight=settings.in_flight,
        seconds=counts.random_seconds,
        read_percent=counts.share_of_reads(is_get=spec.command is Command.GET),
    )
