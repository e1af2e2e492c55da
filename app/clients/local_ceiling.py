"""How fast the local client could be: the same transfer with a file in memory.

A measured series is compared with this ceiling: near it, the client was the limit and not the disk.
"""

import contextlib
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from app.clients import base
from app.clients.local import LocalClient
from app.clients.random_requests import RandomWorkload
from storage import records
from storage.plan import Settings

_MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108  a file system in memory, on every Linux
_LARGEST_CALIBRATION_BYTES = 256 * 1024 * 1024
_RANDOM_FILE_BYTES = 64 * 1024 * 1024
"""Of the file that random requests go to: more than any processor's own memory holds."""


def random_bytes_per_second(facts: records.ClientFacts, workload: RandomWorkload) -> float:
    """Raises OSError without a file system in memory."""
    content = base.Content(max(_RANDOM_FILE_BYTES, workload.block_bytes))
    with _client_in_memory(Settings(block_bytes=facts.block_bytes)) as client:
        path = client.target.path
        client.put(path, content, base.Meter(threading.Event()))
        transfer = client.request_blocks(path, workload, content, base.Meter(threading.Event()))
    return transfer.size_bytes / transfer.seconds


@contextlib.contextmanager
def _client_in_memory(settings: Settings) -> Iterator[LocalClient]:
    """A client whose target is a path in memory, where no file is yet."""
    with tempfile.TemporaryDirectory(dir=_MEMORY_FOLDER, prefix=".sharebench-") as folder:
        path = str(Path(folder) / "calibration")
        yield LocalClient(records.Target(protocol="file", path=path), base.Secrets(), settings)


def ceiling_seconds(facts: records.ClientFacts, command: records.Command, size_bytes: int) -> float:
    """Extrapolated from a file of at most 256 MiB in memory. Raises OSError without a file system in memory."""
    size = min(size_bytes, _LARGEST_CALIBRATION_BYTES)
    with _client_in_memory(Settings(block_bytes=facts.block_bytes)) as client:
        path = client.target.path
        seconds = client.put(path, base.Content(size), base.Meter(threading.Event())).seconds
        if command is records.Command.GET:
            seconds = client.get(path, base.Meter(threading.Event())).seconds
    return seconds * size_bytes / size
