"""The check of packets' sizes: whether an answer of many packets arrives, as small ones do."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from app.base import errors
from app.check.checked import Checked, CheckState
from app.clients.base import Secrets
from app.recording.spec import SeriesSpec
from storage.plan import Settings
from storage.records import Command, Target

if TYPE_CHECKING:
    from app.clients.smb.files import SMBFiles

_LOST = (
    "large packets do not arrive: part of the path carries smaller ones than both ends send; set the same MTU on both "
    "ends and every switch between them, or let ICMP's `packet too big` through"
)


def check_packets(target: Target, spec: SeriesSpec, secrets: Secrets) -> Iterator[Checked]:
    """A line only where large packets get lost; of a file to get, whose beginning is read."""
    is_of_a_file = target.abilities.has_dialect and spec.command is Command.GET
    if not is_of_a_file or not target.share or not target.path.strip("/"):
        return

    # Only here, since it loads the libraries of SMB.
    from app.clients.smb import packet_sizes

    connect = partial(_connected, target, secrets)
    read_beginning = partial(_read_beginning, target.path, packet_sizes.TRIED_BYTES)
    # What else is wrong, such as a folder in the file's place, has been told.
    with suppress(errors.MeasurementError):
        if packet_sizes.are_large_packets_lost(connect, spec.settings, read_beginning):
            yield Checked("packets", _LOST, CheckState.FAILED)


@contextmanager
def _connected(target: Target, secrets: Secrets, kind: "type[SMBFiles]", settings: Settings) -> "Iterator[SMBFiles]":
    files = kind(target, secrets, settings)
    try:
        files.connect()
        yield files
    finally:
        files.close()


def _read_beginning(path: str, most_bytes: int, files: "SMBFiles") -> None:
    handle = files.open(path)
    files.read_at(handle, 0, min(handle.size_bytes, most_bytes))
    files.close_file(handle)
