"""The file requests of one user, on the scenario's files and on the user's own."""

import random
from collections.abc import Callable, Mapping

from app.clients.base import MAX_BLOCK_BYTES, Content, Files, OpenMode
from app.load.file_set import FileSet, SetFile, place, write_whole
from storage.loads.scenario import RequestKind, SizeClass

PIECE_BYTES = 16 * 1024
BLOCK_BYTES = 256 * 1024
"""Bytes are counted per block: on a slow link one file may take longer than a steady window."""
_PIECES = 3
Count = Callable[[int, int], None]
"""Takes the bytes just read and just written."""


class FileRequests:
    """The requests of one user, on files chosen at random."""

    def __init__(
        self,
        files: Files,
        folder: str,
        found: FileSet,
        own: str,
        sizes: tuple[SizeClass, ...],
        chance: random.Random,
        count: Count,
    ) -> None:
        self._files = files
        self._folder = folder
        self._set = found
        self._own = place(files.target, folder, own)
        self._has_own = False
        self._sizes = sizes
        self._chance = chance
        self._count = count
        self._turn = 0
        self._do: Mapping[RequestKind, Callable[[], None]] = {
            RequestKind.READ: self._read,
            RequestKind.WRITE: self._write,
            RequestKind.READ_PARTS: self._read_parts,
            RequestKind.WRITE_PARTS: self._write_parts,
            RequestKind.LIST: self._list,
            RequestKind.QUERY: self._query,
            RequestKind.SAVE: self._save,
            RequestKind.COPY_IN: self._copy_in,
            RequestKind.COPY_OUT: self._copy_out,
            RequestKind.PRINT: self._print,
        }

    def do(self, kind: RequestKind) -> None:
        """Raises errors of :mod:`app.errors`."""
        self._do[kind]()

    def _read_whole(self, path: str, size_bytes: int) -> None:
        if size_bytes <= BLOCK_BYTES or not self._files.has_handles:
            self._count(self._files.read_file(path, size_bytes), 0)
            return
        handle = self._files.open(path)
        try:
            for at in range(0, size_bytes, BLOCK_BYTES):
                self._count(self._files.read_at(handle, at, min(BLOCK_BYTES, size_bytes - at)), 0)
        finally:
            self._files.close_file(handle)

    def _write_whole(self, path: str, size_bytes: int, mode: OpenMode) -> None:
        at = self._at()
        if size_bytes <= BLOCK_BYTES or not self._files.has_handles:
            write_whole(self._files, path, size_bytes, CONTENT, at, mode)
            self._count(0, size_bytes)
            return
        handle = self._files.open(path, mode)
        try:
            for done in range(0, size_bytes, BLOCK_BYTES):
                length = min(BLOCK_BYTES, size_bytes - done)
                self._files.write_at(handle, done, CONTENT.block(at + done, length))
                self._count(0, length)
        finally:
            self._files.close_file(handle)

    def _pick(self) -> tuple[str, SetFile]:
        file = self._set.in_use[self._chance.randrange(len(self._set.in_use))]
        return place(self._files.target, self._folder, file.path), file

    def _size(self) -> int:
        return self._chance.choices(self._sizes, [each.share for each in self._sizes])[0].size_bytes

    def _own_path(self, name: str) -> str:
        if not self._has_own:
            self._files.make_folder(self._own)
            self._has_own = True
        return f"{self._own}/{name}"

    def _at(self) -> int:
        return self._chance.randrange(MAX_BLOCK_BYTES)

    def _read(self) -> None:
        path, file = self._pick()
        self._read_whole(path, file.size_bytes)

    def _write(self) -> None:
        path, file = self._pick()
        mode = OpenMode.UPDATE
        if not self._files.has_handles:  # there it would be gone for a moment, and others' requests with it
            path, mode = self._own_path("written"), OpenMode.REPLACE
        self._write_whole(path, file.size_bytes, mode)

    def _read_parts(self) -> None:
        path, file = self._pick()
        self._files.query(path)
        handle = self._files.open(path)
        try:
            last = max(0, file.size_bytes - PIECE_BYTES)
            for _ in range(_PIECES):
                at = self._chance.randrange(last + 1)
                self._count(self._files.read_at(handle, at, min(PIECE_BYTES, file.size_bytes)), 0)
        finally:
            self._files.close_file(handle)

    def _write_parts(self) -> None:
        path, file = self._pick()
        length = min(PIECE_BYTES, file.size_bytes)
        handle = self._files.open(path, OpenMode.UPDATE)
        try:
            at = self._chance.randrange(max(1, file.size_bytes - length))
            self._files.write_at(handle, at, CONTENT.block(self._at(), length))
            self._count(0, length)
        finally:
            self._files.close_file(handle)

    def _list(self) -> None:
        folder = self._set.folders[self._chance.randrange(len(self._set.folders))]
        self._files.list(place(self._files.target, self._folder, folder))

    def _query(self) -> None:
        self._files.query(self._pick()[0])

    def _save(self) -> None:
        path, beside = self._own_path("document"), self._own_path("document.new")
        self._write_whole(beside, self._size(), OpenMode.REPLACE)
        self._files.remove(path)
        self._files.rename(beside, path)

    def _copy_in(self) -> None:
        path = self._own_path(f"copy{self._turn % 2}")
        self._turn += 1
        self._files.remove(path)
        self._write_whole(path, self._size(), OpenMode.CREATE)

    def _copy_out(self) -> None:
        path, file = self._pick()
        self._files.query(path)
        self._read_whole(path, file.size_bytes)

    def _print(self) -> None:
        self._turn += 1
        path = f"{self._own.rpartition('/')[2]}-{self._turn}"
        self._write_whole(path, self._size(), OpenMode.CREATE)


CONTENT = Content(1 << 62)
