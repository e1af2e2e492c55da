"""What one user of a load does: the requests of a scenario, each on a file chosen at random.

Requests read and write the files that all users share, and files in a folder of the user's own, made when it is needed.
"""

import hashlib
import random
from collections.abc import Callable, Mapping

from app.base.own_names import PREFIX
from app.clients import base
from app.clients.file_tree import CONTENT, Count, FileSet, SetFile, path_within, write_whole
from storage.load.records import RequestKind, SizeClass

PIECE_BYTES = 16 * 1024
"""Of one read or write in the middle of a file."""


BLOCK_BYTES = 256 * 1024
"""Bytes are counted per block: on a slow link one file may take longer than a steady window."""


_PIECES = 3
"""How many pieces one request reads."""


class FileRequests:
    """The requests of one user, by ``do``; each call of ``count`` says how many bytes were just read and written."""

    def __init__(
        self,
        files: base.Files,
        folder: str,
        file_set: FileSet,
        own_name: str,
        sizes: tuple[SizeClass, ...],
        chance: random.Random,
        count: Count,
    ) -> None:
        """``folder`` has the files that all users share; ``own_name`` names this user's own folder in it."""
        self._files = files
        self._folder = folder
        self._set = file_set
        self._own_folder = path_within(files.target, folder, own_name)
        self._has_own_folder = False
        self._sizes = sizes
        self._chance = chance
        self._count = count
        self._turn = 0
        """How many copies and documents this user has made."""

        self._do: Mapping[RequestKind, Callable[[], object]] = {
            RequestKind.READ: self._read_file,
            RequestKind.WRITE: self._write_file,
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
        """Carry out a request of that kind. Raises MeasurementError."""
        self._do[kind]()

    def _read_whole(self, path: str, size_bytes: int) -> None:
        if size_bytes <= BLOCK_BYTES or not self._files.has_handles:
            self._count(self._files.read_file(path, size_bytes), 0)
            return

        with base.opened_file(self._files, path) as handle:
            for at in range(0, size_bytes, BLOCK_BYTES):
                self._count(self._files.read_at(handle, at, min(BLOCK_BYTES, size_bytes - at)), 0)

    def _write_whole(self, path: str, size_bytes: int, mode: base.OpenMode) -> None:
        write_whole(
            self._files, path, size_bytes, mode, at=self._random_start(), block_bytes=BLOCK_BYTES, count=self._count
        )

    def _pick(self) -> tuple[str, SetFile]:
        """The path on the target of a file that all users share, and that file."""
        file = self._chance.choice(self._set.in_use)
        return path_within(self._files.target, self._folder, file.path), file

    def _random_size(self) -> int:
        """The size of a new file, by the shares of the scenario."""
        shares = [size.share for size in self._sizes]
        return self._chance.choices(self._sizes, shares)[0].size_bytes

    def _own_path(self, name: str) -> str:
        """The path of a file of this user's own; its folder is made first where it is not yet there."""
        if not self._has_own_folder:
            self._files.make_folder(self._own_folder)
            self._has_own_folder = True
        return f"{self._own_folder}/{name}"

    def _random_start(self) -> int:
        return self._chance.randrange(base.MAX_BLOCK_BYTES)

    def _query(self) -> None:
        path, _file = self._pick()
        self._files.query(path)

    def _read_file(self) -> None:
        path, file = self._pick()
        self._read_whole(path, file.size_bytes)

    def _write_file(self) -> None:
        path, file = self._pick()
        mode = base.OpenMode.UPDATE
        if not self._files.has_handles:  # there it would be gone for a moment, and others' requests with it
            path = self._own_path("written")
            mode = base.OpenMode.REPLACE
        self._write_whole(path, file.size_bytes, mode)

    def _read_parts(self) -> None:
        path, file = self._pick()
        self._files.query(path)
        with base.opened_file(self._files, path) as handle:
            last = max(0, file.size_bytes - PIECE_BYTES)
            for _ in range(_PIECES):
                at = self._chance.randrange(last + 1)
                self._count(self._files.read_at(handle, at, min(PIECE_BYTES, file.size_bytes)), 0)

    def _write_parts(self) -> None:
        path, file = self._pick()
        length = min(PIECE_BYTES, file.size_bytes)
        with base.opened_file(self._files, path, base.OpenMode.UPDATE) as handle:
            at = self._chance.randrange(max(1, file.size_bytes - length))
            self._files.write_at(handle, at, CONTENT.block(self._random_start(), length))
            self._count(0, length)

    def _list(self) -> None:
        self._files.list(path_within(self._files.target, self._folder, self._chance.choice(self._set.folders)))

    def _save(self) -> None:
        path = self._own_path("document")
        new_path = self._own_path("document.new")
        self._write_whole(new_path, self._random_size(), base.OpenMode.REPLACE)
        self._files.remove(path)
        self._files.rename(new_path, path)

    def _copy_in(self) -> None:
        path = self._own_path(f"copy{self._turn % 2}")
        self._turn += 1
        self._files.remove(path)
        self._write_whole(path, self._random_size(), base.OpenMode.CREATE)

    def _copy_out(self) -> None:
        path, file = self._pick()
        self._files.query(path)
        self._read_whole(path, file.size_bytes)

    def _print(self) -> None:
        self._turn += 1
        path = document_name(self._own_folder, self._turn)
        self._write_whole(path, self._random_size(), base.OpenMode.CREATE)


def document_name(users_folder: str, turn: int) -> str:
    """The name of a print job, which no other job has.

    It is that of one of our own files, which ``clean`` finds should a server keep the job as a file.
    """
    job = f"{users_folder}/{turn}"
    return PREFIX + hashlib.sha256(job.encode()).hexdigest()[:12]
