"""Files and folders that sharebench left on a target: found by their names and removed; others are never touched."""

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from operator import attrgetter

from app.base import own_names, targets
from app.base.errors import MeasurementError, NoSuchFileError, NotAFileError
from app.clients.base import Client, DirectoryEntry, Files
from app.clients.file_tree import remove_all
from app.clients.written_otherwise import as_it_is_written
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


def find_leftovers(client: Client, folder: Target) -> list[Leftover]:
    """Leftovers in that folder, by name. Raises MeasurementError."""
    try:
        entries = [entry for entry in client.list(folder.path) if _is_ours(entry, folder)]
    except NoSuchFileError as error:
        written = as_it_is_written(client, folder)
        raise NoSuchFileError(f"{error}; {written}" if written else str(error)) from error

    return [
        Leftover(
            path=targets.join(folder, entry.name),
            size_bytes=entry.size_bytes,
            modified_at=entry.modified_at,
            is_folder=entry.is_folder,
        )
        for entry in sorted(entries, key=attrgetter("name"))
    ]


def remove_leftovers(
    client: Client,
    folder: Target,
    leftovers: Sequence[Leftover],
    connected: Callable[[], AbstractContextManager[Files]],
) -> dict[Leftover, str]:
    """Why each is still there, empty if removed; ``connected`` is called only if there are folders."""
    problems = dict.fromkeys(leftovers, "")

    for leftover in leftovers:
        try:
            if leftover.is_folder:
                _remove_folder(leftover, folder, connected)
            elif _is_as_listed(leftover, folder, client):
                client.remove(leftover.path)
            else:
                problems[leftover] = "it is not the file that was listed: it was left"
        except NoSuchFileError:
            continue
        except MeasurementError as error:
            problems[leftover] = str(error)

    return problems


def _remove_folder(leftover: Leftover, folder: Target, connected: Callable[[], AbstractContextManager[Files]]) -> None:
    name = leftover.path.rpartition("/")[2]
    with connected() as files:
        # Looked at once more: what lies there may have been replaced by a link since it was listed.
        if _is_folder_of_ours(name, folder) and _is_plain(leftover.path, folder, stat.S_ISDIR):
            # In the folder of an isolation the names are those of a script, which may be the user's own.
            remove_all(files, leftover.path, any_name=bool(own_names.is_isolation_folder(name)))


def _is_as_listed(leftover: Leftover, folder: Target, client: Client) -> bool:
    return (
        bool(own_names.is_scratch_path(folder, leftover.path))
        and _is_plain(leftover.path, folder)
        and client.size(leftover.path) == leftover.size_bytes
    )


def _is_ours(entry: DirectoryEntry, folder: Target) -> bool:
    path = targets.join(folder, entry.name)
    if entry.is_folder:
        return _is_folder_of_ours(entry.name, folder) and _is_plain(path, folder, stat.S_ISDIR)
    return bool(own_names.is_scratch_name(entry.name)) and _is_plain(path, folder)


def _is_folder_of_ours(name: str, folder: Target) -> bool:
    if own_names.is_load_folder(name) or own_names.is_tree_folder(name):
        return True
    # Only a share is ever isolated.
    return bool(own_names.is_isolation_folder(name)) and folder.abilities.has_share


def _is_plain(path: str, folder: Target, kind: Callable[[int], bool] = stat.S_ISREG) -> bool:
    """A link of that name is not ours and stays."""
    if not folder.abilities.is_local:
        return True
    try:
        return kind(os.lstat(path).st_mode)
    except OSError:
        return False
