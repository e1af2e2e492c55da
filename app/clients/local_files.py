"""Local files and folders as the system has them: their entries, size and names, and where they are mounted."""

import errno
import hashlib
import os
import stat
from pathlib import Path

from app.base import errors
from app.clients import base
from app.server.mounts import mount_of


def mount_facts(path: str, mounts: str) -> dict[str, str | int | float]:
    """Facts of the mount that a path lies on; ``mounts`` is the text of /proc/mounts."""
    mount = mount_of(path, mounts)
    if mount is None:
        return {}
    words = mount._asdict()
    facts: dict[str, str | int | float] = {}
    for name, word in words.items():
        fact = "type" if name == "kind" else name
        facts[f"mount.{fact}"] = word
    return facts


def list_entries(path: str) -> list[base.DirectoryEntry]:
    """Raises OSError."""
    with os.scandir(path or "/") as entries:
        return [_entry(entry) for entry in entries]


def _entry(entry: os.DirEntry[str]) -> base.DirectoryEntry:
    try:
        status = entry.stat()
    except OSError:  # a link that leads nowhere, or a file removed meanwhile: it is listed all the same
        status = entry.stat(follow_symlinks=False)
    is_folder = stat.S_ISDIR(status.st_mode)
    size_bytes = 0 if is_folder else status.st_size
    return base.DirectoryEntry(entry.name, is_folder, size_bytes, int(status.st_mtime))


def file_status(path: str) -> base.FileStatus:
    """Raises OSError."""
    status = Path(path).stat()
    return base.FileStatus(size_bytes=status.st_size, is_folder=stat.S_ISDIR(status.st_mode))


def digest(path: str) -> str:
    """SHA-256 of the file, in hexadecimal. Raises OSError."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def regular_size(path: str, status: os.stat_result) -> int:
    """The bytes of a regular file. Raises NotAFileError for all else, which would be waited for or has no size."""
    if stat.S_ISDIR(status.st_mode):
        raise errors.NotAFileError(f"{path}: that is a folder, not a file; name a file in it")
    if not stat.S_ISREG(status.st_mode):
        raise errors.NotAFileError(f"{path}: that is a device or a pipe, not a file; name a file")
    return status.st_size


def rename(path: str, new_path: str) -> None:
    """Rename without replacing a file that is there: link and unlink, since a rename replaces.

    Folders, and mounts without hard links, cannot be linked: they are renamed, after a look whether the name is free.
    """
    try:
        os.link(path, new_path, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        if os.path.lexists(new_path):
            raise FileExistsError(errno.EEXIST, "File exists") from None
        Path(path).rename(new_path)
    else:
        Path(path).unlink()
