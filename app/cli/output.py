"""Output of commands: answers on stdout, messages on stderr."""

import errno
import os
import shutil
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from app.charts import ascii_only
from app.errors import CancelledError, NotebookError, SharebenchError, UsageError
from forms.layout import PLAIN_SIGNS, Tone, coloured, for_terminal, json_escaped, visible

if TYPE_CHECKING:
    from forms.report import Report


class AnswerError(SharebenchError):
    """stdout cannot be written: its disk is full."""


def answer(text: str) -> None:
    """Print the answer on stdout. Raises AnswerError."""
    with writing_to_stdout():
        text = text.translate(PLAIN_SIGNS) if sys.stdout.isatty() and ascii_only() else text
        click.echo(for_terminal(text, styled=draws_colour()))


@contextmanager
def writing_to_stdout() -> Iterator[None]:
    """Flushes stdout; a reader that left (``| head``) is no error. Raises AnswerError."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        drop_rest()
    except OSError as error:
        drop_rest()
        raise AnswerError(f"the answer could not be written to stdout: {error.strerror or error}") from error


def answer_parts(parts: Iterable[str]) -> None:
    """A long answer in parts. Raises AnswerError."""
    with writing_to_stdout():
        for part in parts:
            click.echo(for_terminal(part), nl=False)


_FEW = 10


def answer_ids(ids: Sequence[str]) -> None:
    """A line each for scripts; a terminal shows a few, as their number is said besides."""
    if ids and (len(ids) <= _FEW or not sys.stdout.isatty()):
        answer("\n".join(ids))


def answer_json(document: object) -> None:
    """The answer as JSON."""
    answer(json_text(document))


def answer_report(report: "Report", *, as_json: bool = False) -> None:
    """A report laid out for the terminal, or as a document."""
    if as_json:
        answer_json(report.document())
        return
    from forms.exporters.text import report_text  # noqa: PLC0415  lists and --help do not wait for it

    answer(report_text(report, ansi=draws_colour()).rstrip("\n"))


CHART_LINES = 16
_CHART_COLUMNS = 80


def chart_columns() -> int:
    """The width of a chart on this terminal."""
    return min(shutil.get_terminal_size().columns, _CHART_COLUMNS)


def json_text(document: object) -> str:
    """Escapes control characters, and the bytes of names that are not UTF-8."""
    import json  # noqa: PLC0415  the first paint does not wait for it

    return json_escaped(json.dumps(document, indent=2, ensure_ascii=False))


def draws_colour() -> bool:
    """Whether stdout is a terminal that takes colour."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def toned(text: str, tone: Tone) -> str:
    """Coloured if stdout takes colour."""
    return coloured(text, tone) if draws_colour() else text


def drop_rest(descriptor: int = 1) -> None:
    """Discard pending output, so that Python does not complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def confirm(question: str, *, alone: str, declined: str) -> None:
    """Raises UsageError(``alone``) without a terminal, CancelledError for a no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(alone)
    if not click.confirm(question, err=True):
        raise CancelledError(declined)


def say(text: str) -> None:
    """Print a message on stderr, with control characters escaped."""
    _write(f"{for_terminal(text)}\n")


def draw(text: str = "") -> None:
    """A line on stderr that the next one replaces, cut to the terminal's width."""
    _write("\r\x1b[K" + visible(text)[: shutil.get_terminal_size().columns - 1])


def _write(text: str) -> None:
    try:
        sys.stderr.write(text.translate(PLAIN_SIGNS) if sys.stderr.isatty() and ascii_only() else text)
        sys.stderr.flush()
    except OSError:
        drop_rest(2)


def unforeseen(error: Exception, *, debug: bool) -> SharebenchError:
    """One line for an error of the notebook, the system or our own."""
    import sqlite3  # noqa: PLC0415  the TUI and --help do not wait for it

    from storage.errors import NotebookFileError, unusable  # noqa: PLC0415  the TUI and --help do not wait for it

    if isinstance(error, sqlite3.Error):
        error = unusable(error)
    if isinstance(error, NotebookFileError):
        return NotebookError(str(error), options=error.options)
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        drop_rest()
        return SharebenchError(f"nothing more could be written: {error.strerror}; make room, and try again")
    what = f"a fault in sharebench: {type(error).__name__}: {error}; what was measured is kept"
    advice = "please report it" if debug else "please report it with what the same command says with --debug"
    return SharebenchError(f"{what}; {advice}")


def _without_passwords(said: str, arguments: Sequence[str]) -> str:
    from app.targets import without_password  # noqa: PLC0415  the TUI and --help do not wait for it

    for word in sorted(arguments, key=len, reverse=True):
        if "@" in word or "://" in word:
            for written in (word, os.path.normpath(word)):  # pathlib, in its errors, drops a slash
                said = said.replace(written, without_password(written))
    return said


def one_line(error: click.ClickException) -> str:
    """A usage error of click, with where the help is."""
    hint = ""
    if isinstance(error, click.UsageError) and error.ctx:
        hint = f"; see `{error.ctx.command_path} --help`"
        if isinstance(error, click.exceptions.NoArgsIsHelpError) and isinstance(error.ctx.command, click.Group):
            return f"{error.ctx.info_name} needs one of {', '.join(error.ctx.command.list_commands(error.ctx))}{hint}"
    return " ".join(error.format_message().split()).rstrip(".") + hint


def fail(error: SharebenchError, *, debug: bool, arguments: Sequence[str] = ()) -> int:
    """Print the error and return its exit code; ``arguments`` may hold passwords, which are not repeated."""
    if debug:
        trace = _without_passwords(traceback.format_exc(), arguments)
        say(trace)
    said = f"{error} ({error.options})" if error.options else str(error)
    message = visible(" ".join(_without_passwords(said, arguments).split()))
    say(f"sharebench: {message}")
    return error.exit_code
