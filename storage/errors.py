"""The errors of a notebook, each with one line for people; and what an error of SQLite means for them.

NotebookFileError
    DamagedNotebookError
        UnreadableRecordingError
    ReadOnlyNotebookError
    LostNotebookError
RefusedError
"""

import sqlite3
from collections.abc import Iterable

_LONGEST_LINE = 160


def in_one_line(message: object) -> str:
    """A library's or the system's message, which may quote the file, as one short printable line."""
    words = " ".join(str(getattr(message, "strerror", None) or message).split())
    text = "".join(c if c.isprintable() else "\ufffd" for c in words)
    return text if len(text) <= _LONGEST_LINE else f"{text[: _LONGEST_LINE - 1]}…"


# What to do.
SAVE_IT = "copy the notebook to another disk before anything else, and start sharebench with the copy"
ANOTHER = "--db FILE"
"""The option that names another notebook."""
PUT_BACK = "put a copy of it back"
SALVAGE = (
    f"{PUT_BACK}, or save what can be read with `sqlite3 NOTEBOOK '.clone NEW.db'`, start sharebench with"
    " --db NEW.db, and keep the file until then"
)
"""Of what the sqlite3 of Debian 12 offers this saves most: its .recover fails at any notebook, also a sound one."""


class _AdvisedError(Exception):
    """An error whose text ends in what to do. ``options``: the options of the command line that do it, if any do."""

    def __init__(self, text: str, *, options: str = "") -> None:
        super().__init__(text)
        self.options = options


class NotebookFileError(_AdvisedError):
    """The file cannot be used as a notebook; ``str()`` is one line that says why and what to do."""


class DamagedNotebookError(NotebookFileError):
    """SQLite cannot read the file, or a value in it is none that was ever stored."""

    def __init__(self, fault: object, *, advice: str = "") -> None:
        super().__init__(f"the notebook is damaged ({in_one_line(fault)}): {advice or SALVAGE}")


class UnreadableRecordingError(DamagedNotebookError):
    """A value of one recording is none that was ever stored; all others can be read."""

    def __init__(self, recording_id: str, fault: object) -> None:
        advice = f"the others can be read, and `sharebench delete {recording_id}` removes it"
        super().__init__(f"{recording_id} cannot be read: {in_one_line(fault)}", advice=advice)
        self.recording_id = recording_id


class ReadOnlyNotebookError(NotebookFileError):
    """The file can be read but not written."""


class LostNotebookError(NotebookFileError):
    """What is at the notebook's path is no more the file that was opened, or not the whole of it."""


class RefusedError(_AdvisedError):
    """The request would be wrong to carry out; ``str()`` says why, and what to do, in one line."""


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """A question for an error, with the name that is nearest to a word; empty where none is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, sorted(set(names)), n=1)
    return f"did you mean {near[0]}? " if near else ""


def with_article(noun: str) -> str:
    article = "an" if noun[0] in "aeiou" else "a"
    return f"{article} {noun}"


def is_busy(error: sqlite3.Error) -> bool:
    return _primary(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def is_full(error: sqlite3.Error) -> bool:
    return _primary(error) == sqlite3.SQLITE_FULL


def is_failing(error: sqlite3.Error) -> bool:
    """Whether the disk gives errors."""
    return _primary(error) == sqlite3.SQLITE_IOERR


def is_read_only(error: sqlite3.Error) -> bool:
    return _primary(error) == sqlite3.SQLITE_READONLY


def is_damaged(error: sqlite3.Error) -> bool:
    if isinstance(error, sqlite3.OperationalError) and "Could not decode" in str(error):
        return True
    return _primary(error) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}


def unusable(error: sqlite3.Error) -> NotebookFileError:
    """A library's error in one line for the user, with what to do."""
    if is_damaged(error):
        return DamagedNotebookError(error)
    if is_busy(error):
        return NotebookFileError(
            "the notebook is held by another program: nothing was changed; end that program, or try again later"
        )
    if is_full(error):
        return NotebookFileError("the disk that the notebook is on is full: make room, and try again")
    if is_read_only(error):
        return ReadOnlyNotebookError(
            "the notebook cannot be written where it is: start sharebench with one that can", options=ANOTHER
        )

    message = in_one_line(error)
    if is_failing(error):
        return NotebookFileError(
            f"the disk that the notebook is on gives errors ({message}): {SAVE_IT}", options=ANOTHER
        )
    return NotebookFileError(
        f"the notebook could not be read or written: {message}; try again, or start sharebench with another one",
        options=ANOTHER,
    )


def _primary(error: sqlite3.Error) -> int:
    """SQLite's primary result code: the extended ones have more in their upper bits."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
