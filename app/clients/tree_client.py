"""Makes a client of a user's connection, whose transfers are whole folders of many small files.

So a tree of files is measured as one file is: a get reads a folder, a put makes one.
"""

import contextlib
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from app.base.errors import NoSuchFileError, ProtocolError, UsageError
from app.clients.base import Client, Content, FileMove, Files, Meter, Sink, Transfer, printer_error

FILES_FACT = "tree.files"


class TreeClient:
    """A client whose paths are folders of ``count`` files; each is opened, moved and closed, several at a time.

    ``files`` moves them. What else a client has, such as its facts, is that of ``client``, which moves nothing here.
    """

    def __init__(self, client: Client, files: Files, count: int) -> None:
        self.target = client.target
        self._client = client
        self._files = files
        self._count = count

    def connect(self) -> None:
        self._client.connect()
        self._files.connect()
        if self._files.is_printer:
            raise printer_error(self.target)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def size(self, path: str) -> int:
        return sum(entry.size_bytes for entry in self._files.list(path))

    def get(self, path: str, meter: Meter, into: Sink | None = None) -> Transfer:
        if into is not None:
            raise UsageError("a tree is not verified", options="leave out --verify")

        moves = [FileMove(f"{path}/{entry.name}", entry.size_bytes) for entry in self._files.list(path)]
        return self._move_files(moves, meter)

    def put(self, path: str, content: Content, meter: Meter) -> Transfer:
        bytes_per_file = content.size_bytes // self._count
        opening_at = time.perf_counter()
        self._files.make_folder(path)
        open_seconds = time.perf_counter() - opening_at

        # Made as they are asked for, so that the content of a large tree takes no memory.
        moves = (
            FileMove(f"{path}/f{number:07}", bytes_per_file, content.block(number * bytes_per_file, bytes_per_file))
            for number in range(self._count)
        )
        return replace(self._move_files(moves, meter), open_seconds=open_seconds)

    def _move_files(self, moves: Iterable[FileMove], meter: Meter) -> Transfer:
        moved_bytes = 0
        started_at = meter.start()

        def take_moved_file(file: FileMove, bytes_of_file: int) -> None:
            nonlocal moved_bytes
            if bytes_of_file != file.size_bytes:
                raise ProtocolError(f"{file.path}: the file became shorter while it was read; leave it alone")
            moved_bytes += bytes_of_file
            meter.advance(moved_bytes)

        self._files.move_files(moves, take_moved_file)
        return Transfer(size_bytes=moved_bytes, seconds=meter.clock() - started_at)

    def digest(self, path: str) -> str:
        raise UsageError(f"{path}: a tree is not verified", options="leave out --verify")

    def remove(self, path: str) -> None:
        """Remove the files, then the folder. Names that the server lists and does not know are passed over."""
        names: list[str] = []
        with contextlib.suppress(NoSuchFileError):
            names = [entry.name for entry in self._files.list(path)]
        for name in names:
            with contextlib.suppress(NoSuchFileError):
                self._files.remove(f"{path}/{name}")
        with contextlib.suppress(NoSuchFileError):
            self._files.remove_folder(path)

    def facts_of_path(self) -> dict[str, str | int | float]:
        return {**self._client.facts_of_path(), FILES_FACT: self._count}

    def abort(self) -> None:
        self._client.abort()
        self._files.abort()

    def close(self) -> None:
        self._files.close()
        self._client.close()
