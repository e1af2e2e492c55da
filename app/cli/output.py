"""The answer of a command, on stdout and nothing else there: text and JSON."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click

from app.errors import SharebenchError
from forms.layout import Tone, coloured, for_terminal, json_escaped


class AnswerError(SharebenchError):
    """stdout takes no more: the disk that it goes to is full."""


def answer(text: str) -> None:
    """The answer, on stdout, and nothing else there. Raises AnswerError where stdout takes no more."""
    with writing_to_stdout():
        click.echo(for_terminal(text, styled=draws_colour()))


@contextmanager
def writing_to_stdout() -> Iterator[None]:
    """What goes to stdout goes there now, or nowhere once its reader left (``| head``). Raises AnswerError."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        drop_rest()
    except OSError as error:
        drop_rest()
        raise AnswerError(f"the answer could not be written to stdout: {error.strerror or error}") from error


def answer_parts(parts: Iterable[str]) -> None:
    """A long answer, a part at a time. Raises AnswerError where stdout takes no more."""
    with writing_to_stdout():
        for part in parts:
            click.echo(for_terminal(part), nl=False)


def answer_json(document: object) -> None:
    """The answer as JSON."""
    answer(json_text(document))


def json_text(document: object) -> str:
    """A document as JSON in which no text steers a terminal; bytes of a name that are no UTF-8 are escaped too."""
    import json  # noqa: PLC0415  the first paint does not wait for it

    return json_escaped(json.dumps(document, indent=2, ensure_ascii=False))


def draws_colour() -> bool:
    """Whether stdout is a terminal that may be written to with attributes."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def toned(text: str, tone: Tone) -> str:
    """The text in the colour of its tone where stdout takes one."""
    return coloured(text, tone) if draws_colour() else text


def drop_rest(descriptor: int = 1) -> None:
    """Have what is still to be written to stdout go nowhere, so that Python does not complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
