"""Prints documents with the printing system of this machine (CUPS: ``lp`` and ``lpstat``)."""

from collections.abc import Sequence

from app.base.errors import SharebenchError
from app.base.programs import find_program
from storage.programs import run_program

_PACKAGE = "cups-client"
_PATIENCE_SECONDS = 30.0
"""How long its programs may take to answer."""
_SET_UP = "set one up first (lpadmin, or the system's settings), or write a PDF and print that"
_NOT_COUNTED = " (0 file(s))"
"""What ``lp`` says at the end of its message about a document on its stdin."""


class PrintingError(SharebenchError):
    """Printing failed; the text says why and what to do."""


def printers() -> list[str]:
    """The names of the printers, the default first. Raises PrintingError, MissingProgramError."""
    lpstat = find_program("lpstat", _PACKAGE)
    names = _answer_of([lpstat, "-e"]).split()
    if not names:
        raise PrintingError(f"there is no printer: {_SET_UP}")

    default = _answer_of([lpstat, "-d"]).rpartition(":")[2].strip()
    return [name for name in names if name == default] + [name for name in names if name != default]


def print_document(pdf: bytes, printer: str, *, title: str, paper: str) -> str:
    """Returns the message of ``lp``. Raises PrintingError, MissingProgramError."""
    command = [find_program("lp", _PACKAGE), "-t", title, "-o", f"media={paper}"]
    if printer:
        names = printers()
        if printer not in names:
            raise PrintingError(f"there is no printer {printer!r}; there is: {', '.join(names)}")
        command += ["-d", printer]

    message = _answer_of([*command, "-"], pdf, must_succeed=True)
    return message.strip().removesuffix(_NOT_COUNTED) or "handed to the printer"


def _answer_of(command: Sequence[str], document: bytes = b"", *, must_succeed: bool = False) -> str:
    """What a program of the printing system answers, empty where it fails. Raises PrintingError."""
    try:
        # ``lp`` keeps the terminal (may_ask): a server of printers may want a password typed there.
        result = run_program(command, seconds=_PATIENCE_SECONDS, given=document, may_ask=True)
    except OSError as error:
        raise PrintingError(f"{command[0]} does not answer: {error}; is the printing service running?") from error

    if not result.code:
        return result.text
    if not must_succeed:
        return ""
    reason = " ".join(result.error.decode(errors="replace").split()) or f"it ended with {result.code}"
    raise PrintingError(f"nothing was printed: {reason}; {_SET_UP}")
