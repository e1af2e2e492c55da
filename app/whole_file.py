"""Writes a file whole or not at all."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from app.errors import SharebenchError


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
    """Follows links and writes to devices; a failing block leaves nothing. Raises CannotWriteError before it begins."""
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
    """Replaces ``place``, keeping its mode, when the block succeeds; ``.sharebench-….part`` until then."""
    number, name = tempfile.mkstemp(prefix=".sharebench-", suffix=".part", dir=place.parent)
    part = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            yield file
            file.flush()
            os.fsync(number)
        part.chmod(_mode_of(place))
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


def _mode_of(place: Path) -> int:
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
