"""The most that our client for local paths moves on this machine: a file in memory, read and written."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

from app.clients.base import Meter, Secrets
from app.clients.content import Content
from app.clients.local import LocalClient
from storage.plan import Settings
from storage.records import ClientFacts, Command, Target

MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108  a file system in memory, on every Linux
LARGEST_BYTES = 256 * 1024 * 1024


def ceiling_seconds(facts: ClientFacts, command: Command, size_bytes: int) -> float:
    """How long one transfer of ``size_bytes`` takes, from the time of one of at most 256 MiB.

    Raises OSError where this machine has no file system in memory.
    """
    size = min(size_bytes, LARGEST_BYTES)
    with tempfile.TemporaryDirectory(dir=MEMORY_FOLDER, prefix=".sharebench-") as folder:
        path = str(Path(folder) / "calibration")
        client = LocalClient(Target(protocol="file", path=path), Secrets(), Settings(block_bytes=facts.block_bytes))
        seconds = client.put(path, Content(size), Meter(threading.Event())).seconds
        if command is Command.GET:
            seconds = client.get(path, Meter(threading.Event())).seconds
    return seconds * size_bytes / size
