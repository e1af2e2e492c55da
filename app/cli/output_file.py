"""The file that an answer goes to: asked about before any work, written whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import click

from app.errors import CancelledError, SharebenchError, UsageError
from app.whole_file import whole_file


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
    began = False
    try:
        with whole_file(place) as file:
            began = True
            yield OutputFile(path, file)
    except OSError as error:
        hint = "nothing was left there" if began else "name another file with -o"
        raise OutputError(f"cannot write {path}: {error.strerror or error}; {hint}") from error


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
