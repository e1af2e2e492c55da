"""A client with planned durations and a meter that nobody cancels, for tests that must be exact."""

from __future__ import annotations

import ctypes
import mmap
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from app.base.errors import NoSuchFileError, SharebenchError
from app.clients.base import Content, DirectoryEntry, Meter, Sink, Transfer
from storage.records import ClientFacts, Target


def meter(**more: Any) -> Meter:
    """A meter that nobody cancels."""
    return Meter(threading.Event(), **more)


def offset_in_page(view: memoryview) -> int:
    """Where in its page of memory a buffer begins."""
    return ctypes.addressof(ctypes.c_char.from_buffer(view)) % mmap.PAGESIZE


@dataclass
class FakeServer:
    """Files by path, and what shall go wrong."""

    files: dict[str, int] = field(default_factory=dict)
    seconds: deque[float] = field(default_factory=deque)
    """How long each transfer takes, in order; one second when used up."""
    fail_at: dict[int, SharebenchError] = field(default_factory=dict)
    """What the nth transfer (from 1) raises."""
    refuse_connections: SharebenchError | None = None
    transfers: int = 0
    connections: int = 0
    digests: deque[str] = field(default_factory=deque)


class FakeClient:
    """Speaks the Client protocol to a FakeServer."""

    def __init__(self, server: FakeServer, target: Target) -> None:
        self.server = server
        self.target = target
        self.aborted = False

    def connect(self) -> None:
        if self.server.refuse_connections:
            raise self.server.refuse_connections
        self.server.connections += 1

    def facts(self) -> ClientFacts:
        return ClientFacts(name="fake", version="1", block_bytes=1024, in_flight=1)

    def facts_of_path(self) -> dict[str, str | int | float]:
        return {"credits": 512}

    def shares(self) -> list[str]:
        return []

    def list(self, path: str) -> list[DirectoryEntry]:
        return [DirectoryEntry(name=name, is_folder=False, size_bytes=size) for name, size in self.server.files.items()]

    def size(self, path: str) -> int:
        if path not in self.server.files:
            raise NoSuchFileError(f"no file {path} on fake")
        return self.server.files[path]

    def _transfer(self, size_bytes: int, meter: Meter) -> Transfer:
        self.server.transfers += 1
        meter.start()
        meter.advance(size_bytes // 2)
        error = self.server.fail_at.get(self.server.transfers)
        if error:
            raise error
        seconds = self.server.seconds.popleft() if self.server.seconds else 1.0
        return Transfer(size_bytes=size_bytes, seconds=seconds, open_seconds=0.01, close_seconds=0.02)

    def get(self, path: str, meter: Meter, into: Sink | None = None) -> Transfer:
        if into:
            into(0, memoryview(b"got"))
        return self._transfer(self.size(path), meter)

    def put(self, path: str, content: Content, meter: Meter) -> Transfer:
        self.server.files[path] = content.size_bytes
        return self._transfer(content.size_bytes, meter)

    def digest(self, path: str) -> str:
        return self.server.digests.popleft()

    def remove(self, path: str) -> None:
        self.server.files.pop(path, None)

    def abort(self) -> None:
        self.aborted = True

    def close(self) -> None:
        pass
