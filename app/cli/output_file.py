"""The file that an answer goes to: asked about before any work, written whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import click

from app.errors import CancelledError, SharebenchError, UsageError


class OutputError(SharebenchError):
    """A file cannot be written."""


@dataclass
class OutputFile:
    """A file that is being made beside the place that it will take."""

    path: Path
    _part: BinaryIO

    def write(self, content: bytes) -> None:
        """The whole content, once."""
        self._part.write(content)


@contextmanager
def output_file(path: Path, *, force: bool) -> Iterator[OutputFile]:
    """A file to write: it takes its place when the block ends well, and leaves nothing behind when it does not.

    A file that exists is asked about on a terminal. Raises UsageError where it may not be replaced, OutputError
    where nothing can be written, both before the block begins.
    """
    place = Path(os.path.realpath(path))
    before = _existing(place)
    if before is not None and not stat.S_ISREG(before.st_mode):
        if stat.S_ISDIR(before.st_mode):
            raise OutputError(f"cannot write {path}: it is a folder; name a file in it")
        try:
            with _opened(path, place) as device:
                yield OutputFile(path, device)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"cannot write {path}: {error.strerror or error}; name another file with -o") from error
        return
    if before is not None and not force:
        _ask_for(path)
    part, part_path = _part_beside(path, place)
    try:
        with part:
            yield OutputFile(path, part)
            part.flush()
            os.fsync(part.fileno())
        part_path.chmod(_mode(before))
        part_path.replace(place)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}; nothing was left there") from error
    finally:
        part_path.unlink(missing_ok=True)


def _existing(place: Path) -> os.stat_result | None:
    try:
        return place.stat()
    except OSError:
        return None


def _opened(path: Path, place: Path) -> BinaryIO:
    try:
        return place.open("wb")
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}; name another file with -o") from error


def _ask_for(path: Path) -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{path} exists already: name another file, or replace it with --force")
    if not click.confirm(f"{path} exists already. Replace it?", err=True):
        raise CancelledError(f"{path} was left as it is")


def _part_beside(path: Path, place: Path) -> tuple[BinaryIO, Path]:
    """A new file in the folder of the one to be made."""
    try:
        handle, name = tempfile.mkstemp(prefix=".sharebench-", suffix=".part", dir=place.parent)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}; name another file with -o") from error
    return os.fdopen(handle, "wb"), Path(name)


def _mode(before: os.stat_result | None) -> int:
    """The permissions of the file that is replaced, or those that a new file gets."""
    if before is not None:
        return stat.S_IMODE(before.st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
