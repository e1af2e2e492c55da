"""A file that the person named: written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from app.errors import SharebenchError


class CannotWriteError(SharebenchError):
    """A file cannot be written."""


def is_there(path: Path) -> bool:
    """Whether something would be replaced. Raises CannotWriteError where the place cannot be looked at, or is a folder.

    The folder that the file is to be in must be there.
    """
    try:
        if path.is_dir():
            raise CannotWriteError(f"cannot write {path}: it is a folder; name a file in it")
        if not path.parent.is_dir():
            raise CannotWriteError(f"cannot write {path}: there is no folder {path.parent}")
        return path.exists()
    except OSError as error:
        raise CannotWriteError(f"cannot write {path}: {error.strerror or error}; name another file") from error


def write_whole(path: Path, make: Callable[[], bytes]) -> Path:
    """Write what ``make`` gives; the file takes its place when it is whole. Raises CannotWriteError.

    Where nothing can be written it fails before ``make`` is called.
    """
    place = Path(os.path.realpath(path))
    try:
        handle, name = tempfile.mkstemp(prefix=".sharebench-", suffix=".part", dir=place.parent)
    except OSError as error:
        raise CannotWriteError(f"cannot write {path}: {error.strerror or error}; name another file") from error
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(make())
            file.flush()
            os.fsync(file.fileno())
        part.chmod(place.stat().st_mode & 0o777 if place.exists() else 0o644)
        part.replace(place)
    except OSError as error:
        text = f"cannot write {path}: {error.strerror or error}; nothing was left there"
        raise CannotWriteError(text) from error
    finally:
        part.unlink(missing_ok=True)
    return path
