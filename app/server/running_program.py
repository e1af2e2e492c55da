"""A program that runs, here or through ssh: it is sent text, and its output is read with limits of time and size.

What another machine's program says is not trusted: it may never end, say nothing, or send without end. A
`RunningProgram` is used in one of two ways: it is sent all of its input at once (``text``) and then read to its end by
`wait` or `wait_while_it_moves`; or it is told lines and answers with lines (`tell`, `line`), until `end`.

One thread may read from it while another ends it. Whichever is done last closes the pipes: the reader, once the program
was ended, or `end`, where nobody reads.
"""

import contextlib
import math
import os
import select
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from typing import IO, NamedTuple

from storage.programs import clean_environment, kill_group

MOST_BYTES = 8 * 2**20
"""Limit of an answer; parsing takes up to nine times as much memory."""
MOST_LINE_BYTES = 2**20
"""Limit of a line that `RunningProgram.line` waits for."""
_END_SECONDS = 5.0
"""What a program gets to end by itself after we hung up, and its pipes to be closed after it ended."""
_LOOK_SECONDS = 0.1
"""The longest wait for output before it is looked whether the program has ended, or time is over."""
_MOVING_SECONDS = 1.0
"""How often it is looked whether a program still takes or says something."""
_CHUNK_BYTES = 2**16
_TOO_LATE = 124
"""The exit code of timeout(1)."""
MOST_EXCERPT = 300
"""Characters of what another program said that are repeated in a message; two lines of an error have fewer."""
_READ_CHARACTERS = 4 * MOST_EXCERPT
"""Of a line, for an excerpt: what is not printed is left out of it, and the line may be long."""


class ProgramOutcome(NamedTuple):
    """How a program ended, and what it said until then."""

    code: int
    """Its exit code."""
    out: str
    error: str
    """Its standard error."""
    problem: str | None = None
    """Why it was ended early or could not be started; None where it ended by itself."""
    sent: bytes = b""
    """``out``, byte for byte; empty where the caller has them otherwise, as of `wait_while_it_moves`."""

    @property
    def last_words(self) -> str:
        """Its problem, or the last line that it said, for a message."""
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
        """Its file descriptor."""
        self.text = bytearray()
        """What has arrived, and was not taken as a line."""
        self.has_ended = False
        self._pipe = pipe

    def take(self) -> None:
        """Read what has arrived, without waiting for more."""
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
    """Wait until one of the pipes has something, for that long at most, and read it."""
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
        """``text`` is all that it is sent; None where `tell` is called later. ``files`` are descriptors it inherits."""
        self._is_told_all = text is not None
        """Whether its input ends behind ``text``."""
        self._is_ssh = words[0] == "ssh"
        self._most_bytes = most_bytes
        """Of output and errors together."""
        self._problem: str | None = None
        """Why it was ended early."""
        self._is_read = False
        """Whether a thread reads from it just now: that one closes the pipes then.

        A descriptor that is closed while another thread reads it may be reused for another file.
        """
        self._is_over = False
        """Whether it has been ended."""
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
        """Send it text, in a thread: a program that takes nothing must not block us."""
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
        """The next line that it says, with its end; empty after the last. A late or too long line ends the program."""
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
        """End it early, and remember why."""
        self._problem = problem
        self._kill()

    def wait(self, seconds: float, stop: threading.Event | None = None) -> ProgramOutcome:
        """All that it said, once it has ended; it is ended after ``seconds``, if it says too much, or by ``stop``."""
        # In time: it ended by itself, or sent too much, which is looked at first.
        is_in_time = self._read_and_end(lambda: self._read_to_end(time.monotonic() + seconds, stop))
        if self._sent_bytes > self._most_bytes:
            return self._sent_too_much()

        code = self._process.returncode
        out, error = (pipe.text.decode(errors="replace").replace("\r\n", "\n") for pipe in (self._out, self._error))
        if is_in_time or self._problem:  # a problem: `line` gave it up before
            return ProgramOutcome(code, out, error, self._problem, bytes(self._out.text))
        return ProgramOutcome(_TOO_LATE, out, error, f"did not answer in {seconds:.0f} s", bytes(self._out.text))

    def _read_and_end(self, read: Callable[[], bool]) -> bool:
        """What ``read`` returns; the program is ended after it, however it ended."""
        self._is_read = True
        try:
            return read()
        finally:
            self.end()
            self._is_read = False
            self._close()

    def _sent_too_much(self) -> ProgramOutcome:
        """The outcome of a program that was ended for that, without its output; its code is never 0, a success."""
        return ProgramOutcome(self._process.returncode or 1, "", "", f"sent more than {self._most_bytes // 2**20} MiB")

    def wait_while_it_moves(self, silent_seconds: float) -> tuple[bytes, ProgramOutcome]:
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
            return out, ProgramOutcome(code, "", error)
        return out, ProgramOutcome(_TOO_LATE, "", error, f"did not say anything for {silent_seconds:.0f} s")

    def _read_while_it_moves(self, silent_seconds: float) -> bool:
        """Whether the program ended, or sent too much, before it was silent for so long."""
        said_at = time.monotonic()
        while True:
            sent_bytes_before = self._sent_bytes
            if self._read_to_end(time.monotonic() + min(_MOVING_SECONDS, silent_seconds)):
                return True

            if self._sent_bytes != sent_bytes_before:
                said_at = time.monotonic()
            # To take what it is told (`_told_at`) is to move as well.
            if time.monotonic() - max(said_at, self._told_at) >= silent_seconds:
                return False

    @property
    def _sent_bytes(self) -> int:
        return len(self._out.text) + len(self._error.text)

    def _read_to_end(self, until: float, stop: threading.Event | None = None) -> bool:
        """Whether the program ended before that time, or sent too much; looks for ``stop`` as often as for its end."""
        ended_at: float | None = None
        while self._sent_bytes <= self._most_bytes:
            if stop is not None and stop.is_set():
                return self.has_ended

            open_pipes = [pipe for pipe in (self._out, self._error) if not pipe.has_ended]
            if not open_pipes:  # it says nothing any more, and is about to end
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
        """End its input. Returns at once; safe from another thread or a signal handler."""
        with contextlib.suppress(OSError):
            if self._process.stdin:
                self._process.stdin.close()

    def end(self) -> None:
        """End it and wait for that: one that may be told more gets some seconds to end by itself."""
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
        """End it at once, and what belongs to it; :meth:`end` waits for that."""
        self.hang_up()
        if self._is_ssh:
            # Also what ssh leaves behind, such as a ProxyCommand.
            kill_group(self._process)
        elif self.has_ended:
            pass  # what a script here left running on purpose, such as a daemon, stays
        elif self._is_told_all:
            kill_group(self._process)
        else:
            # The shell that runs a program for as long as we listen ends that one itself (`ServerShell.start`).
            self._process.kill()
