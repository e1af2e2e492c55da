"""Prints documents with the system's ``lp``."""

import subprocess
from collections.abc import Sequence

from app.child_process import clean_environment
from app.clients.programs import find_program
from app.errors import SharebenchError

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
    said = _told([*command, "-"], pdf, must=True).strip()
    return said.removesuffix(_NOT_COUNTED) or "handed to the printer"


def _told(command: Sequence[str], given: bytes = b"", *, must: bool = False) -> str:
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, check=False, timeout=_PATIENCE_SECONDS, env=clean_environment()
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PrintingError(f"{command[0]} does not answer: {error}; is the printing service running?") from error
    if done.returncode:
        why = " ".join(done.stderr.decode(errors="replace").split()) or f"it ended with {done.returncode}"
        if must:
            raise PrintingError(f"nothing was printed: {why}; {_SET_UP}")
        return ""
    return done.stdout.decode(errors="replace")
