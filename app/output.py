"""Writes a file whole or not at all, and prints documents with the system's ``lp``."""

import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from app.clients.programs import find_program
from app.errors import SharebenchError
from storage.programs import run_program


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


def is_missing(folder: Path) -> bool:
    with suppress(OSError):  # what may not be looked at is told where it is written
        return not folder.exists()
    return False


def make_folder(folder: Path) -> None:
    """With those above it. Raises CannotWriteError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWriteError(f"cannot make {folder}: {error.strerror or error}; name another folder") from error


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


_PACKAGE = "cups-client"
_PATIENCE_SECONDS = 30.0
_SET_UP = "set one up first (lpadmin, or the system's settings), or write a PDF and print that"
_NOT_COUNTED = " (0 file(s))"


class PrintingError(SharebenchError):
    """Printing failed; the text says why and what to do."""


def printers() -> list[str]:
    """The default first. Raises PrintingError, MissingProgramError."""
    lpstat = find_program("lpstat", _PACKAGE)
    names = _told([lpstat, "-e"]).split()
    if not names:
        raise PrintingError(f"there is no printer: {_SET_UP}")
    usual = _told([lpstat, "-d"]).rpartition(":")[2].strip()
    return sorted(names, key=lambda name: name != usual)


def print_document(pdf: bytes, printer: str, *, title: str, paper: str) -> str:
    """Returns the message of ``lp``. Raises PrintingError, MissingProgramError."""
    command = [find_program("lp", _PACKAGE), "-t", title, "-o", f"media={paper}"]
    if printer:
        known = printers()
        if printer not in known:
            raise PrintingError(f"there is no printer {printer!r}; there is: {', '.join(known)}")
        command += ["-d", printer]
    return _told([*command, "-"], pdf, must=True).strip().removesuffix(_NOT_COUNTED) or "handed to the printer"


def _told(command: Sequence[str], given: bytes = b"", *, must: bool = False) -> str:
    try:
        done = run_program(command, seconds=_PATIENCE_SECONDS, given=given, may_ask=True)
    except OSError as error:
        raise PrintingError(f"{command[0]} does not answer: {error}; is the printing service running?") from error
    if done.code:
        why = " ".join(done.error.decode(errors="replace").split()) or f"it ended with {done.code}"
        if must:
            raise PrintingError(f"nothing was printed: {why}; {_SET_UP}")
        return ""
    return done.text
