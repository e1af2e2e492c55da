"""Who moves the bytes of a comparison: our own clients, programs that are started for each transfer, and other
libraries, which log in once as ours do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple, Protocol

from storage.records import format_target
from tests.benchmarks.processor_time import ProcessorGroup
from tests.command_line import ROOT
from tests.servers.process import die_with_parent, program
from tests.servers.smbd import Smbd
from tests.servers.vsftpd import Vsftpd

WORK_SECONDS = 120.0
"""A program that takes longer has failed."""
_IDLE_STARTS = 3
"""How often a program is started without work, to know what its start and its login take."""
GO_SMB2 = "go-smb2"
RUST_SMB = "smb (Rust)"


class Groups(NamedTuple):
    """Where processor time is counted."""

    client: ProcessorGroup
    server: ProcessorGroup

    def seconds(self) -> tuple[float, float]:
        return self.client.seconds(), self.server.seconds()


class Cost(NamedTuple):
    """What one piece of work took, in seconds."""

    seconds: float
    client_seconds: float
    """Of processors, as the next."""
    server_seconds: float

    def without(self, idle: Cost) -> Cost:
        """The cost of the work alone; never nothing, since a rate is computed of it."""
        return Cost(
            max(1e-9, self.seconds - idle.seconds),
            max(0.0, self.client_seconds - idle.client_seconds),
            max(0.0, self.server_seconds - idle.server_seconds),
        )


class Contender(Protocol):
    """One of those who do the same work; ``amount`` is how much of it one ``work`` does."""

    name: str
    amount: float

    def work(self) -> Cost: ...

    def clean(self) -> None:
        """Remove what the work left on the server, which is not part of it."""

    def close(self) -> None: ...


class LastingContender:
    """A process that logs in once and answers each line with the seconds that its work took."""

    def __init__(
        self, name: str, amount: float, command: Sequence[str], line: str, groups: Groups, password: str
    ) -> None:
        self.name = name
        self.amount = amount
        self._line = line
        self._groups = groups
        self._process = subprocess.Popen(
            [*groups.client.prefix, *command],
            env={**os.environ, "PASSWD": password, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509  # no threads matter before exec
        )
        self._answer()

    def work(self) -> Cost:
        return self.ask(self._line)

    def ask(self, line: str) -> Cost:
        client_before, server_before = self._groups.seconds()
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        seconds = float(self._answer())
        client_after, server_after = self._groups.seconds()
        return Cost(seconds, client_after - client_before, server_after - server_before)

    def clean(self) -> None:
        """Other libraries only read here."""

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended")
        return line


class OwnContender(LastingContender):
    """Our own client."""

    def __init__(self, server: Smbd | Vsftpd, path: str, work: str, amount: float, groups: Groups, size: int) -> None:
        command = [sys.executable, "-m", "tests.benchmarks.own_worker", format_target(server.target(path)), str(size)]
        super().__init__("sharebench", amount, command, work, groups, server.password)

    def clean(self) -> None:
        self.ask("clean")


class ProgramContender:
    """A program that is started for each piece of work; what it takes without any is subtracted."""

    def __init__(
        self,
        name: str,
        amount: float,
        command: Sequence[str],
        groups: Groups,
        *,
        idle: Sequence[str] | None = None,
        environment: dict[str, str] | None = None,
        clean: Callable[[], None] | None = None,
    ) -> None:
        """``idle``: the command that only logs in; None where the start and the login are part of the work."""
        self.name = name
        self.amount = amount
        self._command = command
        self._groups = groups
        self._environment = {**os.environ, **(environment or {})}
        self._clean = clean
        self._idle = Cost(0.0, 0.0, 0.0)
        if idle is not None:
            starts = [self._run(idle) for _ in range(_IDLE_STARTS)]
            self._idle = Cost(*(median(values) for values in zip(*starts, strict=True)))

    def work(self) -> Cost:
        return self._run(self._command).without(self._idle)

    def clean(self) -> None:
        if self._clean is not None:
            self._clean()

    def close(self) -> None:
        """Nothing of it is running."""

    def _run(self, command: Sequence[str]) -> Cost:
        client_before, server_before = self._groups.seconds()
        began_at = time.perf_counter()
        done = subprocess.run(
            [*self._groups.client.prefix, *command],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WORK_SECONDS,
            check=False,
        )
        seconds = time.perf_counter() - began_at
        client_after, server_after = self._groups.seconds()
        if done.returncode:
            raise RuntimeError(f"{self.name}: {done.stderr or done.stdout}")
        return Cost(
            self.timed_seconds(done.stdout, seconds), client_after - client_before, server_after - server_before
        )

    def timed_seconds(self, _printed: str, seconds: float) -> float:
        """The seconds of the work, by what the program printed or by our clock."""
        return seconds


class Iperf3Contender(ProgramContender):
    """One TCP stream from the server, in the writes and reads that move the most: iperf3's usual ones are smaller."""

    def __init__(self, host: str, port: int, size_bytes: int, groups: Groups) -> None:
        command = [program("iperf3"), "-c", host, "-p", str(port), "-R", "-l", "1M", "-n", str(size_bytes), "-J"]
        super().__init__("iperf3 -l 1M", size_bytes, command, groups)

    def timed_seconds(self, printed: str, _seconds: float) -> float:
        return float(json.loads(printed)["end"]["sum_received"]["seconds"])


def smbclient(
    server: Smbd,
    command: str,
    amount: float,
    groups: Groups,
    *,
    is_login: bool = False,
    folder: Path | None = None,
    clean: Callable[[], None] | None = None,
) -> ProgramContender:
    """``smbclient -c COMMAND``, in a local folder. With ``is_login`` its login is the work."""
    words = [
        program("smbclient"), f"//{server.host}/{server.share}", "-p", str(server.port), "-U", server.user,
        "-s", os.devnull, "-c",
    ]  # fmt: skip
    change = f"lcd {folder}; " if folder else ""
    return ProgramContender(
        "smbclient",
        amount,
        [*words, f"{change}{command}"],
        groups,
        idle=None if is_login else [*words, "exit"],
        environment={"PASSWD": server.password},
        clean=clean,
    )
