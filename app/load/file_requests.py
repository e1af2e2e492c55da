"""Each kind of file request, done by one user's connection on the scenario's files and on files of the user's own."""

import random
from collections.abc import Callable, Mapping

from app.clients.content import MAX_BLOCK_BYTES, Content
from app.clients.files import Files, OpenMode
from app.load.file_set import FileSet, SetFile, place, write_whole
from storage.loads.scenario import RequestKind, SizeClass

PIECE_BYTES = 16 * 1024
_PIECES = 3
Moved = tuple[int, int]
"""Bytes read and written."""


class FileRequests:
    """What one user can do; which file it is done to is left to chance."""

    def __init__(
        self, files: Files, folder: str, found: FileSet, own: str, sizes: tuple[SizeClass, ...], chance: random.Random
    ) -> None:
        self._files = files
        self._folder = folder
        self._set = found
        self._own = place(files.target, folder, own)
        self._has_own = False
        self._sizes = sizes
        self._chance = chance
        self._turn = 0
        self._do: Mapping[RequestKind, Callable[[], Moved]] = {
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

    def do(self, kind: RequestKind) -> Moved:
        """One request of that kind: the bytes that moved. Raises errors of :mod:`app.errors`."""
        return self._do[kind]()

    def _pick(self) -> tuple[str, SetFile]:
        file = self._set.in_use[self._chance.randrange(len(self._set.in_use))]
        return place(self._files.target, self._folder, file.path), file

    def _size(self) -> int:
        return self._chance.choices(self._sizes, [each.share for each in self._sizes])[0].size_bytes

    def _own_path(self, name: str) -> str:
        """A path in this user's own folder, which is made when it is needed first."""
        if not self._has_own:
            self._files.make_folder(self._own)
            self._has_own = True
        return f"{self._own}/{name}"

    def _at(self) -> int:
        return self._chance.randrange(MAX_BLOCK_BYTES)

    def _read(self) -> Moved:
        path, file = self._pick()
        return self._files.read_file(path, file.size_bytes), 0

    def _write(self) -> Moved:
        path, file = self._pick()
        mode = OpenMode.UPDATE
        if not self._files.has_handles:  # there it would be gone for a moment, and others' requests with it
            path, mode = self._own_path("written"), OpenMode.REPLACE
        write_whole(self._files, path, file.size_bytes, CONTENT, self._at(), mode)
        return 0, file.size_bytes

    def _read_parts(self) -> Moved:
        path, file = self._pick()
        self._files.query(path)
        handle = self._files.open(path)
        try:
            last = max(0, file.size_bytes - PIECE_BYTES)
            places = [self._chance.randrange(last + 1) for _ in range(_PIECES)]
            return sum(self._files.read_at(handle, at, min(PIECE_BYTES, file.size_bytes)) for at in places), 0
        finally:
            self._files.close_file(handle)

    def _write_parts(self) -> Moved:
        path, file = self._pick()
        length = min(PIECE_BYTES, file.size_bytes)
        handle = self._files.open(path, OpenMode.UPDATE)
        try:
            at = self._chance.randrange(max(1, file.size_bytes - length))
            self._files.write_at(handle, at, CONTENT.block(self._at(), length))
        finally:
            self._files.close_file(handle)
        return 0, length

    def _list(self) -> Moved:
        folder = self._set.folders[self._chance.randrange(len(self._set.folders))]
        self._files.list(place(self._files.target, self._folder, folder))
        return 0, 0

    def _query(self) -> Moved:
        self._files.query(self._pick()[0])
        return 0, 0

    def _save(self) -> Moved:
        size_bytes, path, beside = self._size(), self._own_path("document"), self._own_path("document.new")
        write_whole(self._files, beside, size_bytes, CONTENT, self._at(), OpenMode.REPLACE)
        self._files.remove(path)
        self._files.rename(beside, path)
        return 0, size_bytes

    def _copy_in(self) -> Moved:
        size_bytes, path = self._size(), self._own_path(f"copy{self._turn % 2}")
        self._turn += 1
        self._files.remove(path)
        write_whole(self._files, path, size_bytes, CONTENT, self._at(), OpenMode.CREATE)
        return 0, size_bytes

    def _copy_out(self) -> Moved:
        path, file = self._pick()
        self._files.query(path)
        return self._files.read_file(path, file.size_bytes), 0

    def _print(self) -> Moved:
        size_bytes = self._size()
        self._turn += 1
        path = f"{self._own.rpartition('/')[2]}-{self._turn}"
        write_whole(self._files, path, size_bytes, CONTENT, self._at(), OpenMode.CREATE)
        return 0, size_bytes


CONTENT = Content(1 << 62)
"""The bytes of all users of a process."""
