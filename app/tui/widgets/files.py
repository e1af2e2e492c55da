"""A file that the user named: written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from app.errors import SharebenchError
from app.whole_file import whole_file


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
    began = False
    try:
        with whole_file(Path(os.path.realpath(path))) as file:
            began = True
            file.write(make())
    except OSError as error:
        hint = "nothing was left there" if began else "name another file"
        raise CannotWriteError(f"cannot write {path}: {error.strerror or error}; {hint}") from error
    return path
