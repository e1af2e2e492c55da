"""Programs on the server: run here where the target is this machine, through the system's ssh otherwise."""

import contextlib
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from typing import NamedTuple

from app.children import clean_environment, run_to_end
from app.environment.remote import SSH_OPTIONS
from app.errors import MeasurementError

RUN_SECONDS = 20.0
_END_SECONDS = 5.0
_FIND_ALL = 'PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"; LC_ALL=C; export PATH LC_ALL'
_ONCE = f'{_FIND_ALL}; exec "$@"'
_FOR_AS_LONG_AS_WE_LISTEN = f"""{_FIND_ALL}
exec 3<&0
setsid "$@" </dev/null 3<&- & program=$!
(read -r word <&3; kill -s TERM -- "-$program"; sleep 1; kill -s KILL -- "-$program") 2>/dev/null & watch=$!
wait "$program"; code=$?
kill "$watch" 2>/dev/null
exit "$code"
"""
"""The end of stdin, also by the end of this program or of the connection, ends the program and all it started."""


class Said(NamedTuple):
    """What a program that has ended said."""

    code: int
    out: str
    error: str

    @property
    def last_words(self) -> str:
        """The last line of its complaint, or of what it printed."""
        lines = [line.strip() for line in f"{self.out}\n{self.error}".splitlines() if line.strip()]
        return lines[-1] if lines else "it said nothing"


class RunningProgram:
    """A program that runs on the server; it ends with :meth:`end`, and also when this process does."""

    def __init__(self, command: Sequence[str], files: Sequence[int]) -> None:
        self._out, self._error = (
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115  as long as the program
            for _ in range(2)
        )
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=self._out,
            stderr=self._error,
            pass_fds=tuple(files),
            env=clean_environment(LC_ALL="C"),
            start_new_session=True,
        )

    def wait(self, timeout_seconds: float) -> Said:
        """What it said, once it has ended. Raises MeasurementError where it does not in that time."""
        try:
            code = self._process.wait(timeout_seconds)
        except subprocess.TimeoutExpired as error:
            self.end()
            raise MeasurementError(
                f"a program did not end within {timeout_seconds:.0f} s; see what it waits for"
            ) from error
        said = []
        for file in (self._out, self._error):
            file.seek(0)
            said.append(file.read())
        self.end()
        return Said(code, *said)

    def hang_up(self) -> None:
        """Have it end, with all that it started, without waiting for that: for another thread, or a signal."""
        with contextlib.suppress(OSError):
            if self._process.stdin:
                self._process.stdin.close()

    def end(self) -> None:
        """Have it end, and wait for that."""
        self.hang_up()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._out.close()
        self._error.close()


class ServerShell:
    """Where the server's programs are started."""

    def __init__(self, ssh: str | None = None) -> None:
        self.ssh = ssh

    @property
    def where(self) -> str:
        """The machine, in words."""
        return self.ssh or "this machine"

    def run(self, *words: str, stdin: str = "", timeout_seconds: float = RUN_SECONDS) -> Said:
        """Run a program to its end; one that is not there or takes too long has a code other than 0."""
        try:
            done = run_to_end(self._command(_ONCE, words), stdin, timeout_seconds)
        except subprocess.TimeoutExpired:
            return Said(124, "", f"{self.where} did not answer within {timeout_seconds:.0f} s")
        except OSError as error:
            return Said(127, "", f"`ssh` cannot be run here: {error.strerror}")
        return Said(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str, files: Sequence[int] = ()) -> RunningProgram:
        """Start a program; ``files`` are descriptors that it inherits, on this machine only."""
        return RunningProgram(self._command(_FOR_AS_LONG_AS_WE_LISTEN, words), files)

    def has(self, program: str) -> bool:
        """Whether a program is installed there."""
        return self.run("sh", "-c", f"command -v {shlex.quote(program)}").code == 0

    def how_to_install(self, package: str) -> str:
        """The command that installs a package there."""
        for manager, command in _MANAGERS.items():
            if self.has(manager):
                return f"`{command} {package}` on {self.where}"
        return f"the package {package} of its distribution on {self.where}"

    def _command(self, script: str, words: Sequence[str]) -> list[str]:
        if self.ssh is None:
            return ["sh", "-c", script, "sh", *words]
        return ["ssh", *SSH_OPTIONS, "--", self.ssh, f"exec sh -c {shlex.quote(script)} sh {shlex.join(words)}"]


_MANAGERS = {
    "apt-get": "apt-get install",
    "dnf": "dnf install",
    "zypper": "zypper install",
    "pacman": "pacman -S",
    "apk": "apk add",
}
