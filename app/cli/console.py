"""What a command writes and asks: answers on stdout, messages and questions on stderr."""

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from app.base.errors import CancelledError, SharebenchError, UsageError
from app.charts import ascii_only
from forms import layout

if TYPE_CHECKING:
    from forms.report import Report

CHART_LINES = 16
_MOST_CHART_COLUMNS = 80
_MOST_IDS_ON_TERMINAL = 10


class AnswerError(SharebenchError):
    """stdout cannot be written: its disk is full."""


def answer(text: str) -> None:
    """Print the answer on stdout. Raises AnswerError."""
    with writing_to_stdout():
        if sys.stdout.isatty() and ascii_only():
            text = layout.plain_signs(text, "...")
        click.echo(layout.for_terminal(text, styled=draws_colour()))


@contextmanager
def writing_to_stdout() -> Iterator[None]:
    """Flushes stdout; a reader that left (``| head``) is no error. Raises AnswerError."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
    except OSError as error:
        discard_output()
        raise AnswerError(f"the answer could not be written to stdout: {error.strerror or error}") from error


def answer_for_programs(text: str) -> None:
    """Print the text byte for byte, for `patch` and the like; on a terminal as any answer. Raises AnswerError."""
    if sys.stdout.isatty():
        answer(text.rstrip("\n"))
        return

    with writing_to_stdout():
        sys.stdout.buffer.write(text.encode(errors="surrogateescape"))
        sys.stdout.buffer.flush()


def answer_ids(ids: Sequence[str]) -> None:
    """Print ids for scripts, a line each; many ids are left out on a terminal, where their number is told as well."""
    are_shown = len(ids) <= _MOST_IDS_ON_TERMINAL or not sys.stdout.isatty()
    if ids and are_shown:
        answer("\n".join(ids))


def answer_json(document: object) -> None:
    answer(json_text(document))


def json_text(document: object) -> str:
    """Escapes control characters, and the bytes of names that are not UTF-8."""
    import json

    return layout.json_escaped(json.dumps(document, indent=2, ensure_ascii=False))


def answer_report(report: "Report", *, as_json: bool = False, messages: Sequence[str] = (), drawing: str = "") -> None:
    """Print a form, with what is drawn and told below it; what it answers is told last too where it scrolls away.

    With ``as_json`` its document in place of all that; the ``messages`` are told on stderr.
    """
    if as_json:
        answer_json(report.document())
        say(*messages)
        return

    from forms.exporters.text import answers_text, report_text

    text = report_text(report, ansi=draws_colour()).rstrip("\n")
    answer(text)
    say(*messages)
    if drawing:
        answer(drawing)

    answers = answers_text(report, ansi=draws_colour()).rstrip("\n")
    below = [*map(_wrapped_for_terminal, messages), *([drawing] if drawing else [])]
    if answers and _scrolls_away("\n".join([text, *below])):
        answer(f"\n{answers}")


def _scrolls_away(text: str) -> bool:
    """Whether the first line is gone from a terminal once the text and the prompt below it stand there."""
    return sys.stdout.isatty() and text.count("\n") + 1 >= shutil.get_terminal_size().lines


def chart_columns() -> int:
    return min(shutil.get_terminal_size().columns, _MOST_CHART_COLUMNS)


def draws_colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def toned(text: str, tone: layout.Tone) -> str:
    return layout.coloured(text, tone) if draws_colour() else text


def discard_output(descriptor: int = 1) -> None:
    """Discard pending output of stdout (1) or stderr (2), so that Python does not complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def can_ask() -> bool:
    """Whether somebody sees a question and can answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str, *, declined: str, without_terminal: str = "") -> None:
    """Ask for a yes; returns only after one. Raises UsageError without a terminal, CancelledError for a no.

    ``declined`` says what was left undone; ``without_terminal`` is the message of the UsageError.
    """
    if not can_ask():
        raise UsageError(without_terminal or f"not a terminal: pass --yes to confirm; {declined}")
    if not click.confirm(question, err=True):
        raise CancelledError(declined)


def say(*texts: str) -> None:
    """Print messages on stderr, a line each, with control characters escaped; a terminal breaks them between words."""
    for text in texts:
        _write_to_stderr(f"{_wrapped_for_terminal(layout.for_terminal(text))}\n")


def _wrapped_for_terminal(text: str) -> str:
    if not sys.stderr.isatty():
        return text

    columns = shutil.get_terminal_size().columns
    lines: list[str] = []
    for line in text.split("\n"):
        # What is wrapped keeps the line's own indent: a line of a list stays one.
        indent = line[: len(line) - len(line.lstrip(" "))]
        lines += [line] if layout.width(line) <= columns else layout.hanging(line, columns, indent=indent)
    return "\n".join(lines)


def recommend(command: str, options: str, verb: str) -> None:
    """Print the command that is recommended, or ``verb`` with the options; nothing where both are empty."""
    if command:
        # Unbroken, so that it can be copied.
        text = layout.for_terminal(f"Recommendation: {command}")
        _write_to_stderr(f"{text}\n")
    elif options:
        say(f"Recommendation: {verb} with {options}")


def draw(text: str = "") -> None:
    """A line on stderr that the next one replaces, cut to the terminal's width."""
    # The last column stays free: a full line would be wrapped, and then no longer replaced.
    columns = shutil.get_terminal_size().columns - 1
    _write_to_stderr("\r\x1b[K" + layout.visible(text)[:columns])


def _write_to_stderr(text: str) -> None:
    try:
        if sys.stderr.isatty() and ascii_only():
            text = layout.plain_signs(text, "...")
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        # A message that nobody can read is no reason to fail.
        discard_output(2)
