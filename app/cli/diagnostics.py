"""What stderr says while a command works: lines for people, never a part of the answer."""

import errno
import os
import shutil
import sys
import traceback
from collections.abc import Sequence

import click

from app.cli import output
from app.errors import NotebookError, SharebenchError
from forms.layout import for_terminal, visible


def say(text: str) -> None:
    """Words for people, on stderr: text that may have come from outside, in which nothing steers the terminal."""
    _write(f"{for_terminal(text)}\n")


def draw(text: str = "") -> None:
    """A line on stderr that the next one is drawn over; the terminal has it as far as it is wide."""
    _write("\r\x1b[K" + visible(text)[: shutil.get_terminal_size().columns - 1])


def _write(text: str) -> None:
    """Onto stderr, or nowhere once that takes no more (``2>&1 | head``): no measurement ends by what is said of it."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        output.drop_rest(2)


def unforeseen(error: Exception, *, debug: bool) -> SharebenchError:
    """An error of the notebook, the system or our own, in one line."""
    import sqlite3  # noqa: PLC0415  the TUI and --help do not wait for it

    from storage.errors import NotebookFileError, unusable  # noqa: PLC0415  the TUI and --help do not wait for it

    if isinstance(error, sqlite3.Error):
        error = unusable(error)
    if isinstance(error, NotebookFileError):
        return NotebookError(str(error), options=error.options)
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        output.drop_rest()
        return SharebenchError(f"nothing more could be written: {error.strerror}; make room, and try again")
    what = f"a fault in sharebench: {type(error).__name__}: {error}; what was measured is kept"
    advice = "please report it" if debug else "please report it with what the same command says with --debug"
    return SharebenchError(f"{what}; {advice}")


def _without_passwords(said: str, arguments: Sequence[str]) -> str:
    """What was said, but that no word of the command line which may hold a password is repeated."""
    from app.targets import without_password  # noqa: PLC0415  the TUI and --help do not wait for it

    for word in sorted(arguments, key=len, reverse=True):
        if "@" in word or "://" in word:
            for written in (word, os.path.normpath(word)):  # pathlib, in its errors, drops a slash
                said = said.replace(written, without_password(written))
    return said


def one_line(error: click.ClickException) -> str:
    """What click says of a command line, with where its help is."""
    hint = ""
    if isinstance(error, click.UsageError) and error.ctx:
        hint = f"; see `{error.ctx.command_path} --help`"
        if isinstance(error, click.exceptions.NoArgsIsHelpError) and isinstance(error.ctx.command, click.Group):
            return f"{error.ctx.info_name} needs one of {', '.join(error.ctx.command.list_commands(error.ctx))}{hint}"
    return " ".join(error.format_message().split()).rstrip(".") + hint


def fail(error: SharebenchError, *, debug: bool, arguments: Sequence[str] = ()) -> int:
    """Say it, and give its exit code; ``arguments`` is the command line where it may repeat what was typed."""
    if debug:
        trace = _without_passwords(traceback.format_exc(), arguments)
        say(trace)
    said = f"{error} ({error.options})" if error.options else str(error)
    message = visible(" ".join(_without_passwords(said, arguments).split()))
    say(f"sharebench: {message}")
    return error.exit_code
