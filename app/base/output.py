"""Writes a file whole or not at all: into a file beside it, which takes its name at the end.

A ``Place`` is a folder that is held open and a name in it, so that no link that somebody puts there meanwhile is
followed.
"""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from app.base.errors import SharebenchError
from storage.paths import Place, make_folders, place_of, real_path


class CannotWriteError(SharebenchError):
    """A file cannot be written."""


def is_there(path: Path) -> bool:
    """Whether writing ``path`` needs a question: a file is there, or a link that leads elsewhere.

    Devices and pipes need none: nothing of theirs is lost. Raises CannotWriteError for a folder, in a missing folder,
    and through a link of another user.
    """
    try:
        with place_of(path) as place:
            status = place.status()
    except FileNotFoundError as error:
        raise CannotWriteError(f"cannot write {path}: there is no folder {path.parent}") from error
    except OSError as error:
        raise _cannot_write(path, error) from error

    if status is None:
        return place.is_link
    # /dev/stdout and the like lead through /proc to a file that is open already: whoever opened it chose it.
    if place.is_of_kernel:
        return False
    if stat.S_ISDIR(status.st_mode):
        raise CannotWriteError(f"cannot write {path}: it is a folder; name a file in it")
    return stat.S_ISREG(status.st_mode)


def shown_destination(path: Path) -> str:
    """``path``, and where it leads if that is elsewhere; for a question. Raises CannotWriteError."""
    try:
        real = real_path(path)
    except OSError as error:
        raise _cannot_write(path, error) from error
    if real == Path(os.path.normpath(path.absolute())):
        return str(path)
    return f"{path}, which leads to {real},"


def is_missing(folder: Path) -> bool:
    """Whether a folder has to be made first."""
    with suppress(OSError):  # what may not be looked at is told where it is written
        return not folder.exists()
    return False


def make_folder(folder: Path) -> None:
    """With those above it. Raises CannotWriteError."""
    try:
        make_folders(folder)
    except OSError as error:
        raise CannotWriteError(f"cannot make {folder}: {_reason(error)}; name another folder") from error


@contextmanager
def output_file(path: Path) -> Iterator[BinaryIO]:
    """Write ``path`` whole or not at all; a device, or what is open already (/dev/stdout), as it comes.

    One's own links and root's are followed. Raises CannotWriteError before the block begins, or after it.
    """
    hint = "name another file"
    try:
        with place_of(path) as place:
            status = place.status()
            is_device = place.is_of_kernel or (status is not None and not stat.S_ISREG(status.st_mode))
            with _device(place) if is_device else _replacement(place, status) as file:
                if not is_device:
                    hint = "nothing was left there"
                yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _cannot_write(path, error, hint) from error


def _cannot_write(path: Path, error: OSError, hint: str = "name another file") -> CannotWriteError:
    return CannotWriteError(f"cannot write {path}: {_reason(error)}; {hint}")


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


@contextmanager
def _device(place: Place) -> Iterator[BinaryIO]:
    """A device or pipe, such as /dev/stdout, to be written as it comes."""
    # /dev/stdout may be a file, of which something is written already.
    flag = os.O_APPEND if place.is_of_kernel else getattr(os, "O_NOFOLLOW", 0)
    number = os.open(place.name, os.O_WRONLY | getattr(os, "O_CLOEXEC", 0) | flag, dir_fd=place.folder)
    with os.fdopen(number, "wb") as file:
        yield file


@contextmanager
def _replacement(place: Place, replaced: os.stat_result | None) -> Iterator[BinaryIO]:
    """A file beside ``place`` that takes its name when the block succeeds; ``.sharebench-….part`` until then.

    The name is replaced, never what it points to: a link that was put there meanwhile goes. ``replaced`` is the file
    that has the name now; None where there is none.
    """
    name = place.beside(f".sharebench-{secrets.token_hex(6)}.part")
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    number = os.open(name, flags, 0o600, dir_fd=place.folder)
    try:
        with os.fdopen(number, "wb") as file:
            yield file
            file.flush()
            os.fsync(number)
            if hasattr(os, "fchmod"):
                os.fchmod(number, _mode_after(replaced))
        os.replace(name, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=place.folder)


def _mode_after(replaced: os.stat_result | None) -> int:
    """The mode of the file that is replaced, where it is ours; else that of any new file.

    Another user's file does not say who may write to ours.
    """
    if replaced is not None and replaced.st_uid == os.geteuid():
        return stat.S_IMODE(replaced.st_mode) & 0o777

    # The mask can only be read by setting another one.
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
