"""The scenario's files, made in a folder of their own and removed again, and a user's requests on them."""

import hashlib
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from app.base.errors import MeasurementError, NoSuchFileError
from app.base.targets import DEEPEST, PREFIX, join
from app.clients import base
from storage.load.records import RequestKind, Scenario, SizeClass
from storage.records import Target

FILES_IN_FOLDER = 200
CONTENT = base.Content(1 << 62)
Count = Callable[[int, int], None]
"""Takes the bytes just read and just written."""
SPACE_TO_LEAVE = 1.05
"""Free space needed, as a multiple of the files' size: names, folders and users' copies take some."""


class SetFile(NamedTuple):
    path: str
    """Below the folder that is made for all files."""
    size_bytes: int


class FileSet:
    """The files of a scenario; equal scenarios give equal sets in every process."""

    def __init__(self, scenario: Scenario) -> None:
        self.files = tuple(_files(scenario.files if scenario.sizes else 0, scenario.sizes))
        self.in_use = self.files
        self.folders = tuple(sorted({file.path.partition("/")[0] for file in self.files}))

    def use_size(self, size_bytes: int) -> None:
        self.in_use = tuple(file for file in self.files if size_bytes in {0, file.size_bytes}) or self.files

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)


def _files(count: int, sizes: Sequence[SizeClass]) -> Iterator[SetFile]:
    """Sizes keep their shares over any stretch, so each folder has some of each.

    What is due of a size is (files, the new one included) x (its share) / (all shares) - (files of it so far); the new
    one has the size of which most is due.
    """
    all_shares = sum(size.share for size in sizes)
    dues = [0.0] * len(sizes)
    for number in range(count):
        dues = [due + size.share / all_shares for due, size in zip(dues, sizes, strict=True)]
        most_due = dues.index(max(dues))
        dues[most_due] -= 1
        yield SetFile(f"d{number // FILES_IN_FOLDER:04}/f{number:07}", sizes[most_due].size_bytes)


def path_within(target: Target, folder: str, path: str = "") -> str:
    return join(target, f"{folder}/{path}" if path else folder)


def check_space(files: base.Files, file_set: FileSet) -> None:
    free_bytes = files.free_bytes(files.target.path)
    needed_bytes = file_set.size_bytes * SPACE_TO_LEAVE
    if free_bytes is not None and free_bytes < needed_bytes:
        raise MeasurementError(
            f"{files.target.host or files.target.path}: the scenario's files need {needed_bytes / 1e6:,.0f} MB and "
            f"{free_bytes / 1e6:,.0f} MB are free; free some, or take fewer files or smaller ones"
        )


def count_nothing(_read_bytes: int, _written_bytes: int) -> None:
    """For files that are made before anything is measured."""


def write_whole(
    files: base.Files,
    path: str,
    size_bytes: int,
    mode: base.OpenMode,
    *,
    at: int = 0,
    block_bytes: int = base.MAX_BLOCK_BYTES,
    count: Count = count_nothing,
) -> None:
    """Write a file of that size, with content from offset ``at``; counted a block at a time where it is larger."""
    if size_bytes <= (block_bytes if files.has_handles else base.MAX_BLOCK_BYTES):
        files.write_file(path, CONTENT.block(at, size_bytes), mode)
        count(0, size_bytes)
        return

    with base.opened_file(files, path, mode) as handle:
        for offset in range(0, size_bytes, block_bytes):
            length = min(block_bytes, size_bytes - offset)
            files.write_at(handle, offset, CONTENT.block(at + offset, length))
            count(0, length)


def check_there(files: base.Files, folder: str, file_set: FileSet) -> None:
    """Raise MeasurementError unless all files of an earlier load exist with their sizes."""
    for subfolder in file_set.folders:
        try:
            entries = files.list(path_within(files.target, folder, subfolder))
        except NoSuchFileError as error:
            raise MeasurementError(f"{error}: make the files anew") from error

        sizes = {f"{subfolder}/{entry.name}": entry.size_bytes for entry in entries}
        for file in file_set.files:
            if file.path.startswith(f"{subfolder}/") and sizes.get(file.path) != file.size_bytes:
                path = path_within(files.target, folder, file.path)
                raise MeasurementError(f"{path} is not what this scenario needs; make the files anew")


def remove_users_own(files: base.Files, folder: str) -> None:
    path = path_within(files.target, folder)
    for entry in files.list(path):
        if entry.is_folder and entry.name.startswith("u"):
            remove_all(files, f"{path}/{entry.name}")


_NAME = re.compile(r"[du]\d+|f\d{7}|copy[01]|document(\.new)?|written")


def names_in(
    files: base.Files, path: str, *, any_name: bool = False, deepest: int = DEEPEST
) -> tuple[list[str], list[str]]:
    """All files and folders below, deepest first. Raises MeasurementError for somebody else's, unless ``any_name``."""
    if not deepest:
        raise MeasurementError(f"{path} lies too deep to be ours: the folder was left; look at it, remove it by hand")

    paths: list[str] = []
    folders: list[str] = []
    for entry in files.list(path):
        below = f"{path.rstrip('/')}/{entry.name}"
        if not any_name and not _NAME.fullmatch(entry.name):
            raise MeasurementError(f"{below} is not of a load: the folder was left; look at it, and remove it by hand")

        if entry.is_folder:
            inner_paths, inner_folders = names_in(files, below, any_name=any_name, deepest=deepest - 1)
            paths += inner_paths
            folders += [*inner_folders, below]
        else:
            paths.append(below)
    return paths, folders


def removals(files: base.Files, path: str, *, any_name: bool = False) -> list[Callable[[base.Files], None]]:
    try:
        paths, _folders = names_in(files, path, any_name=any_name)
    except NoSuchFileError:
        return []
    return [partial(_remove_file, path=path) for path in paths]


def _remove_file(files: base.Files, path: str) -> None:
    files.remove(path)


def remove_all(files: base.Files, path: str, *, any_name: bool = False) -> None:
    for remove in removals(files, path, any_name=any_name):
        remove(files)
    with suppress(NoSuchFileError):
        _paths, folders = names_in(files, path, any_name=any_name)
        for folder in folders:
            files.remove_folder(folder)
    files.remove_folder(path)


PIECE_BYTES = 16 * 1024
BLOCK_BYTES = 256 * 1024
"""Bytes are counted per block: on a slow link one file may take longer than a steady window."""
_PIECES = 3


class FileRequests:
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
        self._files = files
        self._folder = folder
        self._set = file_set
        self._own = path_within(files.target, folder, own_name)
        self._has_own = False
        self._sizes = sizes
        self._chance = chance
        self._count = count
        self._turn = 0

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
        file = self._chance.choice(self._set.in_use)
        return path_within(self._files.target, self._folder, file.path), file

    def _size(self) -> int:
        shares = [size.share for size in self._sizes]
        return self._chance.choices(self._sizes, shares)[0].size_bytes

    def _own_path(self, name: str) -> str:
        if not self._has_own:
            self._files.make_folder(self._own)
            self._has_own = True
        return f"{self._own}/{name}"

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
        self._write_whole(new_path, self._size(), base.OpenMode.REPLACE)
        self._files.remove(path)
        self._files.rename(new_path, path)

    def _copy_in(self) -> None:
        path = self._own_path(f"copy{self._turn % 2}")
        self._turn += 1
        self._files.remove(path)
        self._write_whole(path, self._size(), base.OpenMode.CREATE)

    def _copy_out(self) -> None:
        path, file = self._pick()
        self._files.query(path)
        self._read_whole(path, file.size_bytes)

    def _print(self) -> None:
        self._turn += 1
        self._write_whole(document_name(self._own, self._turn), self._size(), base.OpenMode.CREATE)


def document_name(users_folder: str, turn: int) -> str:
    """A print job's, which no other job has: one of our own files, should a server keep it as a file."""
    job = f"{users_folder}/{turn}"
    return PREFIX + hashlib.sha256(job.encode()).hexdigest()[:12]
