"""Runs programs and scripts on a server, which may be this machine, or one that is reached by ssh.

`ServerShell` runs programs there. `run_script` runs one of our shell scripts, which prints *sections*: each begins with
a line of a random mark and the section's name, and the last one is ``end``. `Answer` has their texts.
"""

import secrets
import shlex
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from app.base.errors import UsageError
from app.base.ssh_address import check_ssh_host
from app.base.ssh_refusals import explain_refusal
from app.server.running_program import ProgramOutcome, RunningProgram

RUN_SECONDS = 20.0
"""The limit of a program or script that reads facts, and the least that any script gets.

A script takes half a second; on a very busy machine over ten were seen. The steps of a change have limits of their own:
``STEP_SECONDS`` in ``app/server/changes/script.py``, which names the others.
"""
_NOT_FOUND = 127
"""The exit code of a shell without such a program."""
_CODE_DIGITS = 10
"""A section of an exit code that has as many digits is none."""
_REFUSED_BY_SSH = 255
"""The exit code of ssh where it could not connect or log in."""
_SSH = (
    "ssh",
    "-T",
    "-x",
    "-a",
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=5",
    "-o",
    "ControlMaster=no",
    "-o",
    "ServerAliveInterval=5",
    "-o",
    "ServerAliveCountMax=3",
)
"""Batch mode, no agent or X11 forwarding, dead connections time out."""
_FIND_ALL = 'PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"; LC_ALL=C; export PATH LC_ALL'
_ONCE = f'{_FIND_ALL}; exec "$@"'
"""Shell text that runs a program, whose words are the text's arguments; so do the next two."""
_WHEN_WE_HANG_UP = f'{_FIND_ALL}; cat >/dev/null; exec "$@" >/dev/null 2>&1'
"""Runs the program as soon as its own input ends, also by a lost connection."""
_FOR_AS_LONG_AS_WE_LISTEN = f"""{_FIND_ALL}
exec 3<&0
setsid "$@" </dev/null 3<&- & program=$!
(read -r word <&3; kill -s TERM -- "-$program"; sleep 1; kill -s KILL -- "-$program") >/dev/null 2>&1 & watch=$!
wait "$program"; code=$?
kill "$watch" 2>/dev/null
exit "$code"
"""
"""Runs the program at once; the end of its own input, also by a lost connection, ends it and its children."""


class ServerShell:
    """Starts programs on one machine."""

    def __init__(self, ssh: str | None = None) -> None:
        """``ssh`` is ``[USER@]HOST`` or an ``ssh://`` URL; None means this machine."""
        self.ssh = ssh

    @property
    def where(self) -> str:
        """The machine's name in a message."""
        return self.ssh or "this machine"

    def run(self, *words: str, stdin: str = "", timeout_seconds: float = RUN_SECONDS) -> ProgramOutcome:
        """Run a program to its end. Never raises: what went wrong is a problem of the answer."""
        return self._run_command(_command(_ONCE, words), stdin, timeout_seconds)

    def script(
        self,
        body: str,
        variables: Mapping[str, str],
        seconds: float = RUN_SECONDS,
        stop: threading.Event | None = None,
    ) -> ProgramOutcome:
        """Run a shell script to its end, or to ``stop``, with variables set in front of it. Never raises."""
        return self._run_command("", with_variables(body, variables), seconds, stop)

    def _run_command(
        self, command: str, text: str, seconds: float, stop: threading.Event | None = None
    ) -> ProgramOutcome:
        try:
            result = RunningProgram(self.words(command), text=text).wait(seconds, stop)
        except UsageError as error:
            return ProgramOutcome(_REFUSED_BY_SSH, "", "", str(error))
        except OSError as error:
            program = "sh" if self.ssh is None else "ssh"
            return ProgramOutcome(_NOT_FOUND, "", "", f"`{program}` cannot be run here ({error.strerror}); install it")

        if result.problem is None:
            return result
        hint = f"check that `ssh {self.ssh} true` returns at once" if self.ssh else "try again when it is less busy"
        return result._replace(problem=f"{self.where} {result.problem}; {hint}")

    def start(self, *words: str, files: Sequence[int] = ()) -> RunningProgram:
        """The program ends with us; ``files`` are inherited, locally only. Raises UsageError, OSError."""
        return RunningProgram(self.words(_command(_FOR_AS_LONG_AS_WE_LISTEN, words)), files=files)

    def start_at_the_end(self, *words: str) -> RunningProgram:
        """The program starts once it is ended here, or we are killed or cut off. Raises UsageError, OSError."""
        return RunningProgram(self.words(_command(_WHEN_WE_HANG_UP, words)))

    def words(self, command: str, *options: str) -> list[str]:
        """The words that run a shell command there; without a command, a shell that reads from stdin.

        ``options`` are ssh's, in place of the usual one. Raises UsageError for a host that is no host.
        """
        if self.ssh is None:
            return ["sh", "-c", command] if command else ["sh", "-s"]

        check_ssh_host(self.ssh)
        options = options or ("-o", "ClearAllForwardings=yes")
        return [*_SSH, *options, "--", self.ssh, command or "exec sh -s"]

    def why_refused(self, outcome: ProgramOutcome) -> str:
        """Why ssh did not lead there, with what to do; empty where it did, and where none was needed."""
        if self.ssh is None or outcome.code != _REFUSED_BY_SSH:
            return ""
        last_words = ProgramOutcome(outcome.code, "", outcome.error, outcome.problem).last_words
        return explain_refusal(self.ssh, outcome.error, last_words)

    def has(self, program: str) -> bool:
        """Whether the program is installed there."""
        return self.run("sh", "-c", f"command -v {shlex.quote(program)}").code == 0

    def how_to_install(self, package: str) -> str:
        """The command that installs the package there, for a message."""
        for manager, command in _MANAGERS.items():
            if self.has(manager):
                return f"`{command} {package}` on {self.where}"
        return f"the package {package} of its distribution on {self.where}"


_MANAGERS = {
    "apt-get": "apt-get install",
    "dnf": "dnf install",
    "zypper": "zypper install",
    "pacman": "pacman -S",
    "apk": "apk add",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A script's output by section, or the problem that kept it from running."""

    sections: dict[str, str] = field(default_factory=dict)
    problem: str | None = None

    def text(self, name: str) -> str | None:
        """A section's text; None where it is missing or empty."""
        return self.sections.get(name) or None

    def stripped(self, name: str) -> str:
        """The same without blanks around it, empty where it is missing."""
        return self.sections.get(name, "").strip()

    def file(self, path: str, /) -> str | None:
        """The text of a file that the script was asked for; None where it is missing or empty."""
        return self.text(f"file:{path}")

    def code(self, name: str) -> int | None:
        """The exit code of the command of that section; None where it was not run."""
        text = self.sections.get(f"{name}.rc", "")
        return int(text) if text.isdecimal() and len(text) < _CODE_DIGITS else None


def run_script(
    body: str,
    variables: Mapping[str, str],
    ssh: str | None,
    seconds: float = 0.0,
    stop: threading.Event | None = None,
) -> Answer:
    """Run one of our scripts, which prints sections by its variable ``mark``, the last ``end``. Never raises.

    It may take ``seconds``, but never less than ``RUN_SECONDS``; ``stop`` ends it at once.
    """
    shell = ServerShell(ssh)
    mark = f"@sharebench-{secrets.token_hex(8)}@"
    result = shell.script(body, {**variables, "mark": mark}, max(seconds, RUN_SECONDS), stop)
    return answer_of(result, mark, shell)


def answer_of(result: ProgramOutcome, mark: str, shell: ServerShell) -> Answer:
    """The sections in a script's output; what is before the first one, such as a login's greeting, is dropped."""
    if result.problem:
        return Answer(problem=result.problem)

    sections = {name: text.strip("\n") for name, text in _sections(result.out, mark)}
    as_sent = _sections(result.sent.decode(errors="surrogateescape"), mark)
    sections |= {name: text for name, text in as_sent if name.startswith(WHOLE_FILE)}
    if "end" in sections:
        return Answer(sections=sections)

    reason = shell.why_refused(result)
    if not reason:
        last_words = ProgramOutcome(result.code, "", result.error).last_words
        reason = f"{last_words}; that needs a POSIX shell there"
    return Answer(sections=sections, problem=f"{shell.where}: {reason}")


WHOLE_FILE = "conf:"
"""Begins the names of sections that hold a file as it is: a diff of it must apply."""


def _sections(out: str, mark: str) -> Iterator[tuple[str, str]]:
    """Name and text of each."""
    for part in out.split(f"\n{mark} ")[1:]:
        name, _, text = part.partition("\n")
        yield name.strip(), text


def _command(script: str, words: Sequence[str]) -> str:
    """The shell command that runs a script with the words of a program as its arguments."""
    return f"exec sh -c {shlex.quote(script)} sh {shlex.join(words)}"


@cache
def script_file(package: str, name: str) -> str:
    """The text of a script that lies in one of our packages."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def with_variables(body: str, variables: Mapping[str, str]) -> str:
    """The script, with shell variables set in front of it."""
    assignments = [f"{name}={shlex.quote(value)}\n" for name, value in variables.items()]
    return "".join(assignments) + body
