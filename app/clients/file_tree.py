"""The files of a load's scenario: made in a folder of their own on the target, checked, and removed again.

A scenario says how many files of which sizes there are. What users do with them is in ``file_requests``.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from app.base.errors import MeasurementError, NoSuchFileError
from app.base.own_names import DEEPEST
from app.base.targets import join
from app.clients import base
from storage.load.records import Scenario, SizeClass
from storage.records import Target

FILES_IN_FOLDER = 200
CONTENT = base.Content(1 << 62)
"""Random bytes for all files, at any offset."""
Count = Callable[[int, int], None]
"""Takes the bytes just read and just written."""
SPACE_TO_LEAVE = 1.05
"""Free space needed, as a multiple of the files' size: names, folders and users' copies take some."""


class SetFile(NamedTuple):
    path: str
    """Below the folder that is made for all files."""
    size_bytes: int


class FileSet:
    """The files of a scenario; equal scenarios give equal sets in every process.

    ``in_use`` are those that users read and write, of one size if ``use_size`` says so.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.files = tuple(_files(scenario.files if scenario.sizes else 0, scenario.sizes))
        self.in_use = self.files
        self.folders = tuple(sorted({file.path.partition("/")[0] for file in self.files}))

    def use_size(self, size_bytes: int) -> None:
        """Have users work on files of that size alone; on all, for 0 and where no file has it."""
        self.in_use = tuple(file for file in self.files if size_bytes in {0, file.size_bytes}) or self.files

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)


def _files(count: int, sizes: Sequence[SizeClass]) -> Iterator[SetFile]:
    """Files in an order in which each size keeps its share over any stretch, so that each folder has some of each.

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
    """The path of a file in our folder, in the form of ``Target.path``; without ``path`` that of our folder."""
    return join(target, f"{folder}/{path}" if path else folder)


def check_space(files: base.Files, file_set: FileSet) -> None:
    """Raises MeasurementError where the target has no room for the files."""
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
    """Remove the folders that users made for themselves."""
    path = path_within(files.target, folder)
    for entry in files.list(path):
        if entry.is_folder and entry.name.startswith("u"):
            remove_all(files, f"{path}/{entry.name}")


_NAME = re.compile(r"[du]\d+|f\d{7}|copy[01]|document(\.new)?|written")
"""What files and folders of a load are called."""


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
    """Functions that remove one file below each, so that several connections can share them; folders stay."""
    try:
        paths, _folders = names_in(files, path, any_name=any_name)
    except NoSuchFileError:
        return []
    return [partial(_remove_file, path=path) for path in paths]


def _remove_file(files: base.Files, path: str) -> None:
    files.remove(path)


def remove_all(files: base.Files, path: str, *, any_name: bool = False) -> None:
    """Remove a folder with all that is in it. Raises MeasurementError as :func:`names_in`."""
    for remove in removals(files, path, any_name=any_name):
        remove(files)
    with suppress(NoSuchFileError):
        _paths, folders = names_in(files, path, any_name=any_name)
        for folder in folders:
            files.remove_folder(folder)
    files.remove_folder(path)
