"""How fast the local client could be: the same transfer with a file in memory.

A measured series is compared with this ceiling: near it, the client was the limit and not the disk.
"""

import tempfile
import threading
from pathlib import Path

from app.clients import base
from app.clients.local import LocalClient
from storage import records
from storage.plan import Settings

_MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108  a file system in memory, on every Linux
_LARGEST_CALIBRATION_BYTES = 256 * 1024 * 1024


def ceiling_seconds(facts: records.ClientFacts, command: records.Command, size_bytes: int) -> float:
    """Extrapolated from a file of at most 256 MiB in memory. Raises OSError without a file system in memory."""
    size = min(size_bytes, _LARGEST_CALIBRATION_BYTES)
    with tempfile.TemporaryDirectory(dir=_MEMORY_FOLDER, prefix=".sharebench-") as folder:
        path = str(Path(folder) / "calibration")
        settings = Settings(block_bytes=facts.block_bytes)
        client = LocalClient(records.Target(protocol="file", path=path), base.Secrets(), settings)
        seconds = client.put(path, base.Content(size), base.Meter(threading.Event())).seconds
        if command is records.Command.GET:
            seconds = client.get(path, base.Meter(threading.Event())).seconds
    return seconds * size_bytes / size
