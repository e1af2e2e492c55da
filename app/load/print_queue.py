"""The jobs that wait at a printer share: asked on the server, by the command that its smb.conf has for that."""

import re
import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from importlib.resources import files

from app.children import run_to_end
from app.environment.remote import SSH_OPTIONS
from storage.loads.records import PrintQueue

MOST_DRAIN_SECONDS = 600.0
_ASK_SECONDS = 20.0
_BETWEEN_SECONDS = 0.5
_JOB = re.compile(r"(active\b|\d+(st|nd|rd|th)?\s|\S+-\d+\s)")
"""How a line of a waiting job begins: ``active`` or its rank (lpq), ``printer-12`` (lpstat)."""


def jobs_in(printed: str) -> int:
    """The jobs in what lpq or ``lpstat -o`` printed."""
    return sum(bool(_JOB.match(line)) for line in printed.splitlines())


class PrinterShare:
    """One printer share of a server that can be asked: on this machine, or through ssh."""

    def __init__(self, share: str, smb_conf: str, ssh: str | None) -> None:
        self._share = share
        self._smb_conf = smb_conf
        self._ssh = ssh
        self._waited_before = 0

    def begin(self) -> bool:
        """Whether it can be asked; jobs that wait already are none of ours."""
        found = self.waiting()
        self._waited_before = found or 0
        return found is not None

    def waiting(self) -> int | None:
        """How many jobs wait, printing ones included; None where the server does not say."""
        script = files("app.load").joinpath("print_queue.sh").read_text(encoding="utf-8")
        variables: Sequence[tuple[str, str]] = (("conf", self._smb_conf), ("share", self._share))
        words = ("sh", "-s") if self._ssh is None else ("ssh", *SSH_OPTIONS, "--", self._ssh, "exec sh -s")
        try:
            text = "".join(f"{name}={shlex.quote(value)}\n" for name, value in variables) + script
            done = run_to_end(words, text, _ASK_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return jobs_in(done.stdout) if done.returncode == 0 else None

    def drained(self, since_seconds: float, enough: Callable[[], bool]) -> PrintQueue | None:
        """Wait until it is as empty as it was before the load, ``since_seconds`` by the monotonic clock.

        None where the server does not say, or the user has had ``enough`` while jobs still wait.
        """
        at_first = None
        while (now := self.waiting()) is not None:
            passed = time.monotonic() - since_seconds
            ours = max(0, now - self._waited_before)
            at_first = ours if at_first is None else at_first
            if not ours or passed > MOST_DRAIN_SECONDS:
                return PrintQueue(waiting=at_first, drained_seconds=None if ours else passed)
            if enough():
                return None
            time.sleep(_BETWEEN_SECONDS)
        return None
