"""Errors in one line on stderr, with advice and without passwords, and their exit codes."""

import errno
import os
import traceback
from collections.abc import Sequence
from itertools import pairwise

import click

from app.base.errors import CancelledError, NotebookError, SharebenchError
from app.cli import console
from app.cli.help import did_you_mean, examples
from forms.layout import visible

_LEAST_LETTERS = 3
"""Of a mistyped option that is looked for inside others: two letters are in too many."""
_LEAST_LIKENESS = 0.75
"""Of two options, from 0 to 1, for `difflib`."""
_MOST_ADVISED_OPTIONS = 2


def fail(error: SharebenchError, *, debug: bool, arguments: Sequence[str] = ()) -> int:
    """Print the error and return its exit code; ``arguments`` may hold passwords, which are not repeated."""
    if debug:
        console.say(_without_passwords(traceback.format_exc(), arguments))
    text = f"{error} ({error.options})" if error.options else str(error)
    line = " ".join(_without_passwords(text, arguments).split())
    console.say(f"sharebench: {visible(line)}")
    return error.exit_code


def _without_passwords(text: str, arguments: Sequence[str]) -> str:
    """The text, with each argument that may hold a password written without it.

    Any word with an @ may be a login with its password. Only of a URL, or of the value of --server-ssh, can it be seen
    that there is none.
    """
    from app.base.targets import may_hold_password, without_password

    addresses = {word for option, word in pairwise(arguments) if "://" in word or option == "--server-ssh"}

    # The longest first: a word may hold another.
    for word in sorted(arguments, key=len, reverse=True):
        may_be_login = "@" in word or "://" in word
        is_harmless_address = word in addresses and "%" not in word and not may_hold_password(word)
        if not may_be_login or is_harmless_address:
            continue
        for spelling in (word, os.path.normpath(word)):  # pathlib, in its errors, drops a slash
            text = text.replace(spelling, without_password(spelling))
    return text


def unforeseen_error(error: Exception, *, debug: bool) -> SharebenchError:
    """One line for an error of the notebook, the system or our own."""
    import sqlite3

    from storage.errors import NotebookFileError, unusable

    # Ctrl-C while Python makes a class comes as the cause of another error (RuntimeError, of ``__set_name__``).
    if isinstance(error.__cause__, KeyboardInterrupt):
        return CancelledError("cancelled")
    if isinstance(error, sqlite3.Error):
        error = unusable(error)
    if isinstance(error, NotebookFileError):
        return NotebookError(str(error), options=error.options)
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        console.discard_output()
        return SharebenchError(f"nothing more could be written: {error.strerror}; make room, and try again")

    fault = f"a fault in sharebench: {type(error).__name__}: {error}; what was measured is kept"
    advice = "please report it" if debug else "please report it with what the same command says with --debug"
    return SharebenchError(f"{fault}; {advice}")


def usage_error_text(error: click.ClickException) -> str:
    """What click has against the words that were typed, and where to look it up."""
    message = " ".join(error.format_message().split()).rstrip(".")
    message = message[:1].lower() + message[1:]
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return message

    if isinstance(error, click.exceptions.NoArgsIsHelpError) and isinstance(context.command, click.Group):
        message = f"{context.info_name} needs one of {', '.join(context.command.list_commands(context))}"
    elif isinstance(error, click.NoSuchOption):
        message = f"no such option {error.option_name}" + did_you_mean(_similar_options(error.option_name, context))
    elif isinstance(error, click.MissingParameter) and (lines := examples(context)):
        message += f"; example: `{lines[0]}`"

    see = " See" if message.endswith("?") else "; see"
    return f"{message}{see} `{context.command_path} --help`"


def _similar_options(typed: str, context: click.Context) -> list[str]:
    """The options that may be meant, by the first of these that finds one.

    The same letters without hyphens; all the words that were typed; one begins the other; similar letters.
    """
    options = _long_options(context)
    option_by_letters = {option.replace("-", ""): option for option in options}
    typed_letters = typed.replace("-", "").lower()
    if typed_letters in option_by_letters:
        return [option_by_letters[typed_letters]]

    if len(typed_letters) >= _LEAST_LETTERS:
        similar = _options_with_words_of(typed, options) or _options_that_begin_like(typed_letters, option_by_letters)
        if similar:
            return similar[:_MOST_ADVISED_OPTIONS]

    from difflib import get_close_matches

    close_letters = get_close_matches(typed_letters, option_by_letters, cutoff=_LEAST_LIKENESS)
    return [option_by_letters[letters] for letters in close_letters][:_MOST_ADVISED_OPTIONS]


def _long_options(context: click.Context) -> list[str]:
    options: list[str] = []
    for parameter in context.command.get_params(context):
        if isinstance(parameter, click.Option) and not parameter.hidden:
            options += [word for word in parameter.opts if word.startswith("--")]
    return options


def _options_with_words_of(typed: str, options: Sequence[str]) -> list[str]:
    typed_words = set(typed.lower().strip("-").split("-"))
    return [option for option in options if typed_words <= set(option.strip("-").split("-"))]


def _options_that_begin_like(typed_letters: str, option_by_letters: dict[str, str]) -> list[str]:
    return [
        option
        for letters, option in option_by_letters.items()
        if letters.startswith(typed_letters) or typed_letters.startswith(letters)
    ]
