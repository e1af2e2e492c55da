"""What the disk and the file system where a notebook lies allow: to write, to lock, and whether there is room."""

import errno
import os
import sqlite3
import tempfile
from pathlib import Path

from storage import errors

_NO_LOCKS = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EACCES}
"""What a file system without locks answers; another error says that somebody has the lock."""

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_ROOM_BYTES = 64 * 1024
"""What SQLite needs to open a notebook: its shared index takes 32 KiB."""


def why_not_writable(path: Path) -> str:
    """Why no notebook can be written or made there; empty where one can.

    The file is not opened for it: closing it would give up this process's locks on it.
    """
    folder = next((folder for folder in path.parents if os.access(folder, os.F_OK)), path.parent)
    if not folder.is_dir():
        return ""  # opening it says so

    is_made = os.access(path, os.F_OK)
    if os.access(folder, os.W_OK) and (not is_made or os.access(path, os.W_OK)):
        return ""
    if hasattr(os, "statvfs") and os.statvfs(folder).f_flag & os.ST_RDONLY:
        return f"the file system of {path} is read-only"

    refused = path if is_made and not os.access(path, os.W_OK) else folder
    return f"you may not write to {refused}"


def has_locks(folder: Path) -> bool:
    """Whether files there can be locked. Tried with a file of its own, since closing the notebook would unlock it."""
    try:
        import fcntl
    except ImportError:
        return True  # Windows, whose file systems all have locks

    with tempfile.TemporaryFile(dir=folder, prefix=".sharebench-") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a POSIX lock, as SQLite takes it
        except OSError as error:
            return error.errno not in _NO_LOCKS
    return True


def is_from_full_disk(error: OSError | sqlite3.Error, folder: Path) -> bool:
    """Whether an error says that the disk is full.

    SQLite calls it an I/O error where its shared index cannot be made on a full disk.
    """
    if isinstance(error, OSError):
        return error.errno in _NO_ROOM
    return errors.is_full(error) or (errors.is_failing(error) and has_no_room(folder))


def has_no_room(folder: Path) -> bool:
    """Whether the disk of that folder, or of the one that it would be made in, is full: it is tried."""
    folder = next((place for place in (folder, *folder.parents) if os.access(place, os.F_OK)), folder)
    try:
        with tempfile.TemporaryFile(dir=folder, prefix=".sharebench-") as file:
            file.write(bytes(_ROOM_BYTES))
            file.flush()
    except OSError as error:
        return error.errno in _NO_ROOM
    return False
