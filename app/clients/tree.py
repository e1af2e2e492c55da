"""Many equal small files moved as one: a tree, so that a series of it is like any other."""

import builtins
from contextlib import suppress
from time import perf_counter

from app.clients.base import Client, Content, DirectoryEntry, Files, Meter, OpenMode, Sink, Transfer
from app.errors import NoSuchFileError, ProtocolError, UsageError
from storage.records import ClientFacts

FILES_FACT = "tree.files"
_NAMES = "f{:07}"


class TreeClient:
    """A client whose paths are folders of ``count`` files; each file is opened, moved and closed by itself."""

    def __init__(self, client: Client, files: Files, count: int) -> None:
        self.target = client.target
        self._client, self._files, self._count = client, files, count

    def connect(self) -> None:
        self._client.connect()
        self._files.connect()

    def facts(self) -> ClientFacts:
        return self._client.facts()

    def shares(self) -> builtins.list[str]:
        return self._client.shares()

    def list(self, path: str) -> builtins.list[DirectoryEntry]:
        return self._client.list(path)

    def size(self, path: str) -> int:
        return sum(entry.size_bytes for entry in self._files.list(path))

    def get(self, path: str, meter: Meter, into: Sink | None = None) -> Transfer:
        if into is not None:
            raise UsageError("a tree is not verified", options="leave out --verify")
        entries = self._files.list(path)
        began, moved = meter.start(), 0
        for entry in entries:
            read = self._files.read_file(f"{path}/{entry.name}", entry.size_bytes)
            if read != entry.size_bytes:
                raise ProtocolError(f"{path}/{entry.name}: the file became shorter while it was read; leave it alone")
            moved += read
            meter.advance(moved)
        return Transfer(size_bytes=moved, seconds=meter.clock() - began)

    def put(self, path: str, content: Content, meter: Meter) -> Transfer:
        each, began = content.size_bytes // self._count, perf_counter()
        self._files.make_folder(path)
        open_seconds = perf_counter() - began
        began = meter.start()
        for number in range(self._count):
            name = f"{path}/{_NAMES.format(number)}"
            self._files.write_file(name, content.block(number * each, each), OpenMode.CREATE)
            meter.advance((number + 1) * each)
        return Transfer(size_bytes=content.size_bytes, seconds=meter.clock() - began, open_seconds=open_seconds)

    def digest(self, path: str) -> str:
        raise UsageError(f"{path}: a tree is not verified", options="leave out --verify")

    def remove(self, path: str) -> None:
        with suppress(NoSuchFileError):
            for entry in self._files.list(path):
                self._files.remove(f"{path}/{entry.name}")
            self._files.remove_folder(path)

    def facts_of_path(self) -> dict[str, str | int | float]:
        return {**self._client.facts_of_path(), FILES_FACT: self._count}

    def abort(self) -> None:
        self._client.abort()
        self._files.abort()

    def close(self) -> None:
        self._files.close()
        self._client.close()
