"""Runs the commands that somebody wants before and after each run of a series.

They come from the command line of this measurement alone: what a series says of its hooks is text and is never run.
They run in the measuring process, so that those of ``--from HOST`` run on that machine.
"""

from collections.abc import Callable

from app.base.errors import HookError
from app.recording.spec import CONCLUDE, PREPARE, SERVER_PREPARE, Hooks
from app.server.shell import ServerShell

MOST_SECONDS = 3600.0
"""A command that takes longer hangs: to trim a large disk takes minutes."""

_OURS = ("-u", "PYTHONPATH", "-u", "PYTHONDONTWRITEBYTECODE", "-u", "LC_ALL")
"""Variables that the measuring process has for itself."""
_AS_TYPED = ("env", *_OURS, "sh", "-c", 'exec sh -c "$1" >/dev/null', "sh")
"""Runs the word behind it as a shell command; what it says on stdout, however much, is nobody's."""


class HookRunner:
    """Runs the hooks of one series."""

    def __init__(self, hooks: Hooks, server_ssh: str | None, from_host: str | None = None) -> None:
        """``server_ssh`` is the way to the server; None for one that is this machine.

        ``from_host`` is what the user calls this machine, where it is another than the one that was typed at.
        """
        self._command_by_option = {
            PREPARE: hooks.prepare,
            SERVER_PREPARE: hooks.server_prepare,
            CONCLUDE: hooks.conclude,
        }
        self._here = ServerShell()
        self._here_name = from_host or self._here.where
        self._server = ServerShell(server_ssh)
        self.facts = hooks.facts

    @property
    def before_run(self) -> list[str]:
        """The options whose commands come before a run; the server's last, so that nothing comes in between."""
        return [option for option in (PREPARE, SERVER_PREPARE) if self._command_by_option[option]]

    @property
    def after_run(self) -> list[str]:
        return [CONCLUDE] if self._command_by_option[CONCLUDE] else []

    def run(self, option: str, when_cancelled: Callable[[Callable[[], None]], None]) -> None:
        """Run the command of an option to its end. Raises HookError where it fails or hangs.

        ``when_cancelled`` takes what is to be called once the series is cancelled: it ends the command.
        """
        command = self._command_by_option[option]
        is_on_server = option == SERVER_PREPARE
        shell = self._server if is_on_server else self._here
        place = self._server.where if is_on_server else self._here_name
        try:
            program = shell.start(*_AS_TYPED, command)
        except OSError as error:
            raise HookError(f"{option} could not be run on {place}: {error.strerror}") from error

        when_cancelled(program.hang_up)
        outcome = program.wait(MOST_SECONDS)
        if outcome.code == 0 and outcome.problem is None:
            return
        raise HookError(
            f"{option} failed on {place} with exit code {outcome.code} ({outcome.last_words}); run it there by"
            f" hand: {command}"
        )
