"""The terminal of the plain guide: text goes out in lines, and lines come in."""

import shutil
import sys
from collections.abc import Callable

import click

from app.base.hidden_answer import hidden_answer
from app.clients.base import Secrets
from app.guide.needs import Password
from forms import layout
from storage.records import host_and_port

_ASCII = str.maketrans("─═│⋮█░", "-=|:#.") | {ord("…"): "..."}
"""Instead of box-drawing characters, which a screen reader spells out."""


class LeftError(Exception):
    """The user leaves, or input ends."""


class BackError(Exception):
    """The user goes back to the page."""


def print_at_once(text: str) -> None:
    """Into a pipe too, where Python would hold lines back."""
    click.echo(layout.for_terminal(text))


class PlainTerminal:
    def __init__(
        self,
        read: Callable[[], str] | None = None,
        say: Callable[[str], None] = print_at_once,
        ask_password: Callable[[str], str] = hidden_answer,
    ) -> None:
        """``read`` gives a line, and "" at the end of input; None reads stdin."""
        self._read = read or sys.stdin.readline
        self._print = say
        self._ask_password = ask_password
        self.has_words = False
        """Whether a question was answered with words since this was last set to False."""

    def say(self, text: str) -> None:
        words = layout.plain_signs(text.translate(_ASCII))
        if sys.stdout.isatty():
            # A terminal would break lines within words.
            columns = shutil.get_terminal_size().columns
            lines: list[str] = []
            for line in words.split("\n"):
                lines += layout.wrap(line, columns) if layout.width(line) > columns else [line]
            words = "\n".join(lines)
        self._print(words)

    def ask(self, question: str) -> str:
        """The line that is typed, which may be empty. Raises LeftError at the end of input."""
        self.say(f"{question}:")
        line = self._read()
        if not line:
            raise LeftError
        return line.rstrip("\n")

    def ask_words(self, question: str) -> str:
        """The words that are typed, which may be empty. Raises LeftError for q, BackError for b."""
        answer = self.ask(question).strip()
        if answer:
            self.has_words = True
        if answer == "q":
            raise LeftError
        if answer == "b":
            raise BackError
        return answer

    def ask_secrets(self, need: Password) -> Secrets:
        """The secrets of the target's user. Raises BackError where none is typed in place of a refused one."""
        if need.why:
            self.say(f"{need.why}. Type the password again.")
        whose = f"{need.target.user} on {host_and_port(need.target)}"
        password = self._ask_password(layout.visible(f"Password of {whose}: "))
        if need.why and not password:
            raise BackError
        return Secrets(password=password)
