"""Runs programs on the server, here or through ssh; output is not trusted: time, size and line length are limited."""

import contextlib
import math
import os
import re
import secrets
import select
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import IO, NamedTuple

from app.base.errors import UsageError
from app.base.ssh_address import check_ssh_host
from storage.programs import clean_environment, kill_group

RUN_SECONDS = 20.0
"""The limit of a program or script that reads facts, and the least that any script gets.

A script takes half a second; on a very busy machine over ten were seen. The steps of a change have limits of their own:
``STEP_SECONDS`` in ``app/server/changes/script.py``, which names the others.
"""
MOST_BYTES = 8 * 2**20
"""Limit of an answer; parsing takes up to nine times as much memory."""
MOST_LINE_BYTES = 2**20
_END_SECONDS = 5.0
"""What a program gets to end by itself after we hung up, and its pipes to be closed after it ended."""
_LOOK_SECONDS = 0.1
_MOVING_SECONDS = 1.0
"""How often it is looked whether a program still takes or says something."""
_CHUNK_BYTES = 2**16
_TOO_LATE = 124
"""The exit code of timeout(1)."""
_NOT_FOUND = 127
"""The exit code of a shell without such a program."""
_CODE_DIGITS = 10
_REFUSED_BY_SSH = 255
MOST_EXCERPT = 300
"""Characters of what another program said that are repeated in a message; two lines of an error have fewer."""
_READ_CHARACTERS = 4 * MOST_EXCERPT
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
_WHEN_WE_HANG_UP = f'{_FIND_ALL}; cat >/dev/null; exec "$@" >/dev/null 2>&1'
_FOR_AS_LONG_AS_WE_LISTEN = f"""{_FIND_ALL}
exec 3<&0
setsid "$@" </dev/null 3<&- & program=$!
(read -r word <&3; kill -s TERM -- "-$program"; sleep 1; kill -s KILL -- "-$program") >/dev/null 2>&1 & watch=$!
wait "$program"; code=$?
kill "$watch" 2>/dev/null
exit "$code"
"""
"""EOF on stdin, also from a lost connection, ends the program and its children."""


_ESCAPED = re.compile(r"\\([0-7]{3})")


class Said(NamedTuple):
    code: int
    out: str
    error: str
    problem: str | None = None
    """Why it was ended early or could not be started."""
    sent: bytes = b""
    """``out``, byte for byte."""

    @property
    def last_words(self) -> str:
        if self.problem:
            return self.problem
        lines = f"{self.out}\n{self.error}".splitlines()
        for line in reversed(lines):
            words = excerpt(line)
            if words:
                return words
        return "it said nothing"


def excerpt(line: str) -> str:
    """As much of what somebody else's program said as belongs in a message; what is not printed is left out."""
    beginning = line[:_READ_CHARACTERS]
    words = "".join(character for character in beginning if character.isprintable()).strip()
    is_whole = len(line) == len(beginning) and len(words) <= MOST_EXCERPT
    if is_whole or not words:
        return words
    return f"{words[:MOST_EXCERPT]}…"


class _Pipe:
    """What a program writes, taken as it arrives: an end that somebody else holds open is not waited for."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self.number = pipe.fileno()
        self.text = bytearray()
        self.has_ended = False
        self._pipe = pipe

    def take(self) -> None:
        try:
            arrived = os.read(self.number, _CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            arrived = b""
        self.text += arrived
        self.has_ended = not arrived

    def take_line(self) -> bytes:
        """The next whole line that has arrived, or empty."""
        length = self.text.find(b"\n", 0, MOST_LINE_BYTES) + 1
        line = bytes(self.text[:length])
        del self.text[:length]
        return line

    def close(self) -> None:
        self._pipe.close()


def _take_what_arrives(pipes: Sequence[_Pipe], seconds: float) -> None:
    poll = select.poll()
    pipe_by_number = {pipe.number: pipe for pipe in pipes}
    for number in pipe_by_number:
        poll.register(number, select.POLLIN)

    for number, _ in poll.poll(1000 * max(0.0, seconds)):
        pipe_by_number[number].take()


class RunningProgram:
    """A running program; ended by :meth:`end`, or when it exceeds its output limit."""

    def __init__(
        self, words: Sequence[str], *, files: Sequence[int] = (), text: str | None = None, most_bytes: int = MOST_BYTES
    ) -> None:
        self._is_told_all = text is not None
        self._is_ssh = words[0] == _SSH[0]
        self._most_bytes = most_bytes
        self._problem: str | None = None
        self._is_read = False
        self._is_over = False
        """A descriptor closed while another thread reads it may be reused for another file."""
        self._told_at = time.monotonic()
        """When it last took something of what it is told."""

        self._process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,  # closing a buffered pipe waits for the thread that reads from it
            pass_fds=tuple(files),
            env=clean_environment(LC_ALL="C"),
            start_new_session=True,  # Ctrl-C at our terminal must not end what is about to change a server half-way
        )
        assert self._process.stdout is not None
        assert self._process.stderr is not None

        self._out = _Pipe(self._process.stdout)
        self._error = _Pipe(self._process.stderr)
        if text is not None:
            self.tell(text)

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def tell(self, text: str) -> None:
        threading.Thread(target=self._tell, args=(text.encode(errors="surrogateescape"),), daemon=True).start()

    def _tell(self, text: bytes) -> None:
        assert self._process.stdin is not None
        unsent = text
        with contextlib.suppress(OSError, ValueError):
            # In pieces: one write of all would show no progress before its end.
            while unsent:
                written_bytes = self._process.stdin.write(unsent[:_CHUNK_BYTES])
                unsent = unsent[written_bytes:]
                self._told_at = time.monotonic()
        if self._is_told_all:
            self.hang_up()

    def line(self, seconds: float | None = None) -> str:
        """Next line, instead of :meth:`wait`; empty after the last. A late or too long line ends the program."""
        until = math.inf if seconds is None else time.monotonic() + seconds
        self._is_read = True
        line = b""
        while not self._is_over:
            line = self._out.take_line()
            if line or self._out.has_ended:
                break

            remaining_seconds = until - time.monotonic()
            if remaining_seconds <= 0:
                self._give_up(f"did not answer in {seconds:.0f} s")
                break
            if len(self._out.text) >= MOST_LINE_BYTES:
                self._give_up(f"sent a line of more than {MOST_LINE_BYTES // 2**20} MiB")
                break
            _take_what_arrives([self._out], min(_LOOK_SECONDS, remaining_seconds))

        self._is_read = False
        if self._is_over:
            self._close()
        return line.decode(errors="replace")

    def _give_up(self, problem: str) -> None:
        self._problem = problem
        self._kill()

    def wait(self, seconds: float) -> Said:
        """All that it wrote, once it has ended; it is ended after ``seconds``, or too much output."""
        is_in_time = self._read_and_end(lambda: self._read_to_end(time.monotonic() + seconds))
        if self._sent_bytes > self._most_bytes:
            return self._sent_too_much()

        code = self._process.returncode
        out, error = (pipe.text.decode(errors="replace").replace("\r\n", "\n") for pipe in (self._out, self._error))
        if is_in_time or self._problem:
            return Said(code, out, error, self._problem, bytes(self._out.text))
        return Said(_TOO_LATE, out, error, f"did not answer in {seconds:.0f} s", bytes(self._out.text))

    def _read_and_end(self, read: Callable[[], bool]) -> bool:
        """What ``read`` returns; the program is ended after it, however it ended."""
        self._is_read = True
        try:
            return read()
        finally:
            self.end()
            self._is_read = False
            self._close()

    def _sent_too_much(self) -> Said:
        return Said(self._process.returncode or 1, "", "", f"sent more than {self._most_bytes // 2**20} MiB")

    def wait_while_it_moves(self, silent_seconds: float) -> tuple[bytes, Said]:
        """Its output as it was sent, and how it ended; it is ended once it neither takes nor says anything for so long.

        Such an answer may be large: decoding it takes up to four times the memory, so that is left to the caller.
        """
        is_in_time = self._read_and_end(lambda: self._read_while_it_moves(silent_seconds))
        if self._sent_bytes > self._most_bytes:
            return b"", self._sent_too_much()

        code = self._process.returncode
        out = bytes(self._out.text)
        self._out.text.clear()
        error = self._error.text[-MOST_BYTES:].decode(errors="replace")
        if is_in_time:
            return out, Said(code, "", error)
        return out, Said(_TOO_LATE, "", error, f"did not say anything for {silent_seconds:.0f} s")

    def _read_while_it_moves(self, silent_seconds: float) -> bool:
        """Whether the program ended, or sent too much, before it was silent for so long."""
        said_at = time.monotonic()
        while True:
            sent_bytes = self._sent_bytes
            if self._read_to_end(time.monotonic() + min(_MOVING_SECONDS, silent_seconds)):
                return True

            if self._sent_bytes != sent_bytes:
                said_at = time.monotonic()
            if time.monotonic() - max(said_at, self._told_at) >= silent_seconds:
                return False

    @property
    def _sent_bytes(self) -> int:
        return len(self._out.text) + len(self._error.text)

    def _read_to_end(self, until: float) -> bool:
        """Whether the program ended before that time, or sent too much."""
        ended_at: float | None = None
        while self._sent_bytes <= self._most_bytes:
            open_pipes = [pipe for pipe in (self._out, self._error) if not pipe.has_ended]
            if not open_pipes:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(max(0.0, until - time.monotonic()))
                return self.has_ended

            # A daemon that inherited the pipes is not waited for.
            if self.has_ended and ended_at is None:
                ended_at = time.monotonic()
                until = min(until, ended_at + _END_SECONDS)

            remaining_seconds = until - time.monotonic()
            if remaining_seconds <= 0:
                return self.has_ended
            _take_what_arrives(open_pipes, min(_LOOK_SECONDS, remaining_seconds))
        return True

    def hang_up(self) -> None:
        """Returns at once; safe from another thread or a signal handler."""
        with contextlib.suppress(OSError):
            if self._process.stdin:
                self._process.stdin.close()

    def end(self) -> None:
        if not self._is_told_all:
            self.hang_up()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_SECONDS)
        self._kill()
        self._process.wait()
        self._is_over = True
        if not self._is_read:
            self._close()

    def _close(self) -> None:
        self._out.close()
        self._error.close()

    def _kill(self) -> None:
        self.hang_up()
        if self._is_ssh:
            # Also what ssh leaves behind, such as a ProxyCommand.
            kill_group(self._process)
        elif not self.has_ended:
            if self._is_told_all:
                kill_group(self._process)
            else:
                self._process.kill()


class ServerShell:
    def __init__(self, ssh: str | None = None) -> None:
        """``ssh`` is ``[USER@]HOST`` or an ``ssh://`` URL; None means this machine."""
        self.ssh = ssh

    @property
    def where(self) -> str:
        """The machine's name in a message."""
        return self.ssh or "this machine"

    def run(self, *words: str, stdin: str = "", timeout_seconds: float = RUN_SECONDS) -> Said:
        return self._run_command(_command(_ONCE, words), stdin, timeout_seconds)

    def script(self, body: str, variables: Mapping[str, str], seconds: float = RUN_SECONDS) -> Said:
        return self._run_command("", with_variables(body, variables), seconds)

    def _run_command(self, command: str, text: str, seconds: float) -> Said:
        try:
            result = RunningProgram(self.words(command), text=text).wait(seconds)
        except UsageError as error:
            return Said(_REFUSED_BY_SSH, "", "", str(error))
        except OSError as error:
            program = "sh" if self.ssh is None else "ssh"
            return Said(_NOT_FOUND, "", "", f"`{program}` cannot be run here ({error.strerror}); install it")

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
        """Without a command, a shell that reads from stdin. Raises UsageError."""
        if self.ssh is None:
            return ["sh", "-c", command] if command else ["sh", "-s"]

        check_ssh_host(self.ssh)
        options = options or ("-o", "ClearAllForwardings=yes")
        return [*_SSH, *options, "--", self.ssh, command or "exec sh -s"]

    def has(self, program: str) -> bool:
        return self.run("sh", "-c", f"command -v {shlex.quote(program)}").code == 0

    def how_to_install(self, package: str) -> str:
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
        return self.text(f"file:{path}")

    def code(self, name: str) -> int | None:
        text = self.sections.get(f"{name}.rc", "")
        return int(text) if text.isdecimal() and len(text) < _CODE_DIGITS else None


class Mount(NamedTuple):
    source: str
    folder: str
    kind: str
    options: str


def mount_of(path: str, mounts: str | None) -> Mount | None:
    """The longest mount point above ``path``, the latest if several are equal."""
    deepest: Mount | None = None
    for line in (mounts or "").splitlines():
        words = [_ESCAPED.sub(_unescape, word) for word in line.split()[:4]]
        if len(words) < 4:
            continue
        mount = Mount(*words)
        is_above = f"{path.rstrip('/')}/".startswith(f"{mount.folder.rstrip('/')}/")
        if is_above and (deepest is None or len(mount.folder) >= len(deepest.folder)):
            deepest = mount
    return deepest


def _unescape(match: re.Match[str]) -> str:
    """A character that /proc/mounts writes as an octal number: a blank in a folder's name."""
    return chr(int(match[1], 8))


def run_script(body: str, variables: Mapping[str, str], ssh: str | None, seconds: float = 0.0) -> Answer:
    """The script prints sections by its variable ``mark``, the last ``end``. Never raises.

    It may take ``seconds``, but never less than ``RUN_SECONDS``.
    """
    shell = ServerShell(ssh)
    mark = f"@sharebench-{secrets.token_hex(8)}@"
    result = shell.script(body, {**variables, "mark": mark}, max(seconds, RUN_SECONDS))
    return answer_of(result, mark, shell)


def answer_of(result: Said, mark: str, shell: ServerShell) -> Answer:
    """Output before the first section (a login's greeting) is dropped."""
    if result.problem:
        return Answer(problem=result.problem)

    sections = {name: text.strip("\n") for name, text in _sections(result.out, mark)}
    as_sent = _sections(result.sent.decode(errors="surrogateescape"), mark)
    sections |= {name: text for name, text in as_sent if name.startswith(WHOLE_FILE)}
    if "end" in sections:
        return Answer(sections=sections)

    hint = "that needs a POSIX shell there"
    if shell.ssh and result.code == _REFUSED_BY_SSH:
        hint = f"`ssh {shell.ssh} true` must work without a question; log in once by hand, or set up a key"
    last_words = Said(result.code, "", result.error).last_words
    return Answer(sections=sections, problem=f"{shell.where}: {last_words}; {hint}")


WHOLE_FILE = "conf:"
"""Begins the names of sections that hold a file as it is: a diff of it must apply."""


def _sections(out: str, mark: str) -> Iterator[tuple[str, str]]:
    for part in out.split(f"\n{mark} ")[1:]:
        name, _, text = part.partition("\n")
        yield name.strip(), text


def _command(script: str, words: Sequence[str]) -> str:
    return f"exec sh -c {shlex.quote(script)} sh {shlex.join(words)}"


@cache
def script_file(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text(encoding="utf-8")


def with_variables(body: str, variables: Mapping[str, str]) -> str:
    assignments = [f"{name}={shlex.quote(value)}\n" for name, value in variables.items()]
    return "".join(assignments) + body
