"""Writes a file whole or not at all; a kill leaves nothing behind."""

import errno
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from app.errors import SharebenchError

_NO_NAMELESS_FILES = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT}
_OWN_FILES = Path("/proc/self/fd")


class CannotWriteError(SharebenchError):
    """A file cannot be written."""


def is_there(path: Path) -> bool:
    """Raises CannotWriteError for a folder, or in a missing folder."""
    try:
        if path.is_dir():
            raise CannotWriteError(f"cannot write {path}: it is a folder; name a file in it")
        if not path.parent.is_dir():
            raise CannotWriteError(f"cannot write {path}: there is no folder {path.parent}")
        return path.is_file()
    except OSError as error:
        raise CannotWriteError(f"cannot write {path}: {error.strerror or error}; name another file") from error


@contextmanager
def output_file(path: Path) -> Iterator[BinaryIO]:
    """Follows links and writes to devices. Raises CannotWriteError before the block begins; a failing block leaves
    nothing.
    """
    place = Path(os.path.realpath(path))
    hint = "name another file"
    try:
        is_device = place.exists() and not place.is_file()
        with place.open("wb") if is_device else whole_file(place) as file:
            hint = hint if is_device else "nothing was left there"
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CannotWriteError(f"cannot write {path}: {error.strerror or error}; {hint}") from error


@contextmanager
def whole_file(place: Path) -> Iterator[BinaryIO]:
    """Replaces ``place``, keeping its permissions, when the block succeeds. Raises OSError.

    Unnamed until then, or ``.sharebench-….part`` on file systems that need a name.
    """
    folder = place.parent
    with _nameless(folder) as file:
        if file is None:
            with _part(place) as part:
                yield part
            return
        yield file
        _settle(file, place)
        if not place.exists():
            with suppress(FileExistsError):
                _give_name(file, place)
                return
        name = folder / f".sharebench-{secrets.token_hex(6)}.part"
        try:
            _give_name(file, name)
            name.replace(place)
        finally:
            name.unlink(missing_ok=True)


@contextmanager
def _nameless(folder: Path) -> Iterator[BinaryIO | None]:
    if not hasattr(os, "O_TMPFILE") or not _OWN_FILES.exists():
        yield None
        return
    try:
        number = os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600)
    except OSError as error:
        if error.errno not in _NO_NAMELESS_FILES or not folder.is_dir():
            raise
        yield None
        return
    with os.fdopen(number, "wb") as file:
        yield file


@contextmanager
def _part(place: Path) -> Iterator[BinaryIO]:
    number, name = tempfile.mkstemp(prefix=".sharebench-", suffix=".part", dir=place.parent)
    part = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            yield file
            _settle(file, place)
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


def _settle(file: BinaryIO, place: Path) -> None:
    file.flush()
    os.fsync(file.fileno())
    try:
        mode = stat.S_IMODE(place.stat().st_mode)
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    if hasattr(os, "fchmod"):
        os.fchmod(file.fileno(), mode)


def _give_name(file: BinaryIO, name: Path) -> None:
    # src_dir_fd says nothing beside an absolute path, but has Python follow the link to the file itself
    os.link(_OWN_FILES / str(file.fileno()), name, src_dir_fd=0)
