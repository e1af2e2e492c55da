"""What can be wrong with a notebook's file, apart from the libraries that read it.

    NotebookFileError          the file cannot be used as a notebook
    ├── DamagedNotebookError   what is in it is not what was written
    └── ReadOnlyNotebookError  it can be read, and not be written

A :class:`RefusedError` is about what was asked, not about the file. A notebook that another program holds is none of
them: :func:`is_busy` tells it.
"""

import sqlite3
from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST = 160


def in_one_line(what: object) -> str:
    """What a library said of a file, which may repeat what stands in it: one line of printable text, of some length."""
    text = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(str(what).split()))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


SAVE_IT = "copy the notebook to another disk before anything else, and start sharebench with the copy"
ANOTHER = "--db FILE"


class NotebookFileError(Exception):
    """The file cannot be used as a notebook; ``str()`` of it is one line that says why and what to do."""

    def __init__(self, text: str, *, options: str = "") -> None:
        """``options`` are those of the command line that do what the text advises."""
        super().__init__(text)
        self.options = options


class DamagedNotebookError(NotebookFileError):
    """What is in the file is not what was written there."""

    def __init__(self, what: object) -> None:
        super().__init__(
            f"the notebook is damaged ({in_one_line(what)}): put a copy of it back, or try `sqlite3 NOTEBOOK .recover`,"
            " and keep the file until then"
        )


class ReadOnlyNotebookError(NotebookFileError):
    """The file can be read, and not be written."""


class RefusedError(Exception):
    """What is asked of a notebook would be wrong to do; ``str()`` says why, and what to do, in one line."""

    def __init__(self, text: str, *, options: str = "") -> None:
        super().__init__(text)
        self.options = options


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``did you mean before?`` and a space, for the known name that looks most like the word; empty where none does."""
    near = get_close_matches(word, sorted(set(known)), n=1)
    return f"did you mean {near[0]}? " if near else ""


def is_busy(error: sqlite3.Error) -> bool:
    """Whether it is only that another program holds the notebook."""
    return _primary(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def is_full(error: sqlite3.Error) -> bool:
    """Whether the disk takes no more."""
    return _primary(error) == sqlite3.SQLITE_FULL


def is_failing(error: sqlite3.Error) -> bool:
    """Whether the disk gives errors, or was made read-only over them."""
    return _primary(error) in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY}


def is_damaged(error: sqlite3.Error) -> bool:
    """Whether the file is not what SQLite writes."""
    if isinstance(error, sqlite3.OperationalError) and "Could not decode" in str(error):
        return True
    return _primary(error) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}


def unusable(error: sqlite3.Error) -> NotebookFileError:
    """What an error of the library means for the user whose notebook it is, in one line with what to do."""
    if is_damaged(error):
        return DamagedNotebookError(error)
    if is_busy(error):
        return NotebookFileError(
            "the notebook is held by another program: nothing was changed; end that program, or try again later"
        )
    if is_full(error):
        return NotebookFileError("the disk that the notebook is on is full: make room, and try again")
    if _primary(error) == sqlite3.SQLITE_READONLY:
        return ReadOnlyNotebookError(
            "the notebook cannot be written where it is: start sharebench with one that can", options=ANOTHER
        )
    said = in_one_line(error)
    if is_failing(error):
        return NotebookFileError(f"the disk that the notebook is on gives errors ({said}): {SAVE_IT}", options=ANOTHER)
    return NotebookFileError(
        f"the notebook could not be read or written: {said}; try again, or start sharebench with another one",
        options=ANOTHER,
    )


def _primary(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
