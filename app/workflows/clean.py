"""Find and remove sharebench's leftovers on a target; other files are never touched."""

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from app.clients.base import Client, DirectoryEntry, Files
from app.errors import MeasurementError, NoSuchFileError, NotAFileError
from app.load.file_set import remove_all
from app.targets import is_isolation_folder, is_load_folder, is_scratch_name, is_scratch_path, is_tree_folder, join
from storage.records import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """A file of sharebench, or the folder of a load, isolation, tree or diagnosis with its contents."""

    path: str
    size_bytes: int
    modified_at: str
    """UTC, ISO 8601; empty if the server does not say."""
    is_folder: bool = False


def folder_of(client: Client, target: Target) -> Target:
    """The folder that the target names or whose file it names. The client must be connected."""
    if not target.path.strip("/"):
        return target
    try:
        client.size(target.path)
    except (NotAFileError, NoSuchFileError):
        return target
    parent = target.path.rpartition("/")[0]
    return replace(target, path=parent if target.abilities.has_share else parent or "/")


def leftovers(client: Client, folder: Target) -> list[Leftover]:
    """Leftovers in that folder, by name. Raises MeasurementError."""
    found = (entry for entry in client.list(folder.path) if _is_ours(entry, folder))
    return [
        Leftover(
            path=join(folder, entry.name),
            size_bytes=entry.size_bytes,
            modified_at=entry.modified_at,
            is_folder=entry.is_folder,
        )
        for entry in sorted(found, key=lambda entry: entry.name)
    ]


def remove(
    client: Client, folder: Target, found: Sequence[Leftover], connected: Callable[[], AbstractContextManager[Files]]
) -> dict[Leftover, str]:
    """Why each is still there, empty if removed; ``connected`` is called only if there are folders."""
    done = {}
    for leftover in found:
        try:
            if leftover.is_folder:
                with connected() as files:
                    _remove_folder(leftover, folder, files)
                problem = ""
            elif (
                is_scratch_path(folder, leftover.path)
                and _is_plain(leftover.path, folder)
                and client.size(leftover.path) == leftover.size_bytes
            ):
                client.remove(leftover.path)
                problem = ""
            else:
                problem = "it is not the file that was listed: it was left"
        except NoSuchFileError:
            problem = ""
        except MeasurementError as error:
            problem = str(error)
        done[leftover] = problem
    return done


def _remove_folder(leftover: Leftover, folder: Target, files: Files) -> None:
    """An isolation's script may name files as it likes, so its folder is removed whole. Raises MeasurementError."""
    name = leftover.path.rpartition("/")[2]
    if _is_folder_of_ours(name, folder) and _is_plain(leftover.path, folder, stat.S_ISDIR):
        remove_all(files, leftover.path, any_name=bool(is_isolation_folder(name)))


def _is_ours(entry: DirectoryEntry, folder: Target) -> bool:
    if entry.is_folder:
        return _is_folder_of_ours(entry.name, folder) and _is_plain(join(folder, entry.name), folder, stat.S_ISDIR)
    return bool(is_scratch_name(entry.name)) and _is_plain(join(folder, entry.name), folder)


def _is_folder_of_ours(name: str, folder: Target) -> bool:
    any_protocol = is_load_folder(name) or is_tree_folder(name)
    return bool(any_protocol or (is_isolation_folder(name) and folder.abilities.has_share))


def _is_plain(path: str, folder: Target, kind: Callable[[int], bool] = stat.S_ISREG) -> bool:
    """A link of that name is not ours and stays."""
    if not folder.abilities.is_local:
        return True
    try:
        return kind(os.lstat(path).st_mode)
    except OSError:
        return False
