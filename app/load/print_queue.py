"""The jobs that wait at a printer share: asked on the server, by the command that its smb.conf has for that."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files

from app.server.shell import ServerShell
from storage.loads.records import LoadPoint, PrintQueue

_BETWEEN_SECONDS = 0.5
_JOB = re.compile(r"(active\b|\d+(st|nd|rd|th)?\s|\S+-\d+\s)")
"""How a line of a waiting job begins: ``active`` or its rank (lpq), ``printer-12`` (lpstat)."""
_NUMBER = re.compile(r"\S+-(\d+)\s")
NOT_TAKEN = "not taken by CUPS"
"""What jobs are counted as that smbd took and CUPS did not: smbd tells the user nothing of it."""


def jobs_in(printed: str) -> int:
    """The jobs in what lpq or ``lpstat -o`` printed."""
    return sum(bool(_JOB.match(line)) for line in printed.splitlines())


def newest_job_in(printed: str) -> int | None:
    """The number of the newest job in what ``lpstat -o`` printed; None without any."""
    return max((int(found[1]) for line in printed.splitlines() if (found := _NUMBER.match(line))), default=None)


def with_jobs_refused(point: LoadPoint, taken: int | None) -> LoadPoint:
    """The point, where CUPS took fewer jobs than smbd, with those as errors."""
    refused = 0 if taken is None else point.requests - taken
    if refused <= 0:
        return point
    why = (
        f"CUPS took {taken} of {point.requests} jobs and refused the others: more wait than its MaxJobs (500 unless "
        "set), or the printer accepts none (`lpstat -a` on the server)"
    )
    return replace(point, errors={**point.errors, NOT_TAKEN: refused}, first_error=point.first_error or why)


class PrinterShare:
    """One printer share of a server that can be asked: on this machine, or through ssh."""

    def __init__(self, share: str, smb_conf: str, ssh: str | None) -> None:
        self._share = share
        self._smb_conf = smb_conf
        self._shell = ServerShell(ssh)
        self._waited_before = 0
        self._newest_before: int | None = None

    def begin(self) -> bool:
        """Whether it can be asked; jobs that wait already are none of ours."""
        found = self.waiting()
        self._waited_before = found or 0
        return found is not None

    def waiting(self) -> int | None:
        """How many jobs wait, printing ones included; None where the server does not say."""
        printed = self._told("not-completed")
        return None if printed is None else jobs_in(printed)

    def count_from_here(self) -> None:
        """Begin to count the jobs that CUPS takes."""
        self._newest_before = self._newest()

    def taken(self) -> int | None:
        """The jobs that CUPS has taken since, everybody's; None where it does not say."""
        before, now = self._newest_before, self._newest()
        return None if before is None or now is None else now - before

    def _newest(self) -> int | None:
        return newest_job_in(self._told("all") or "")

    def _told(self, which: str) -> str | None:
        """The server's list of ``not-completed`` or ``all`` jobs."""
        script = files("app.load").joinpath("print_queue.sh").read_text(encoding="utf-8")
        variables = {"conf": self._smb_conf, "share": self._share, "which": which}
        said = self._shell.script(script, variables)
        return said.out if said.code == 0 else None

    def drained(self, since_seconds: float, enough: Callable[[], bool]) -> Iterator[PrintQueue]:
        """Wait until it is as empty as it was before the load, ``since_seconds`` by the monotonic clock.

        Gives what still waits each time it has looked; the last one is drained, unless the user has had ``enough`` or
        the server says nothing any more.
        """
        at_first = None
        while (now := self.waiting()) is not None:
            passed = time.monotonic() - since_seconds
            left = max(0, now - self._waited_before)
            at_first = left if at_first is None else at_first
            yield PrintQueue(waiting=at_first, left=left, drained_seconds=None if left else passed)
            if not left or enough():
                return
            time.sleep(_BETWEEN_SECONDS)
