"""The queue of a printer share, read on the server with its smb.conf command."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files

from app.server.shell import ServerShell
from storage.loads.records import LoadPoint, PrintQueue

_BETWEEN_SECONDS = 0.5
_JOB = re.compile(r"(active\b|\d+(st|nd|rd|th)?\s|\S+-\d+\s)")
"""Start of a job's line: ``active`` or its rank (lpq), ``printer-12`` (lpstat)."""
_NUMBER = re.compile(r"\S+-(\d+)\s")
NOT_TAKEN = "not taken by CUPS"
"""Error name for jobs that smbd accepted and CUPS refused; smbd does not tell the user."""


def jobs_in(printed: str) -> int:
    """Number of jobs in the output of lpq or ``lpstat -o``."""
    return sum(bool(_JOB.match(line)) for line in printed.splitlines())


def newest_job_in(printed: str) -> int | None:
    """Number of the newest job in the output of ``lpstat -o``; None without any."""
    return max((int(found[1]) for line in printed.splitlines() if (found := _NUMBER.match(line))), default=None)


def with_jobs_refused(point: LoadPoint, taken: int | None) -> LoadPoint:
    """The point with the jobs that CUPS refused counted as errors."""
    refused = 0 if taken is None else point.requests - taken
    if refused <= 0:
        return point
    why = (
        f"CUPS took {taken} of {point.requests} jobs and refused the others: more wait than its MaxJobs (500 unless "
        "set), or the printer accepts none (`lpstat -a` on the server)"
    )
    return replace(point, errors={**point.errors, NOT_TAKEN: refused}, first_error=point.first_error or why)


class PrinterShare:
    """A printer share whose server can be asked, locally or through ssh."""

    def __init__(self, share: str, smb_conf: str, ssh: str | None) -> None:
        self._share = share
        self._smb_conf = smb_conf
        self._shell = ServerShell(ssh)
        self._waited_before = 0
        self._newest_before: int | None = None

    def begin(self) -> bool:
        """Whether it can be asked; jobs already waiting are not counted."""
        found = self.waiting()
        self._waited_before = found or 0
        return found is not None

    def waiting(self) -> int | None:
        """Jobs that wait or print; None if the server does not say."""
        printed = self._told("not-completed")
        return None if printed is None else jobs_in(printed)

    def count_from_here(self) -> None:
        self._newest_before = self._newest()

    def taken(self) -> int | None:
        """Jobs that CUPS accepted since, of all users; None if it does not say."""
        before, now = self._newest_before, self._newest()
        return None if before is None or now is None else now - before

    def _newest(self) -> int | None:
        return newest_job_in(self._told("all") or "")

    def _told(self, which: str) -> str | None:
        script = files("app.load").joinpath("print_queue.sh").read_text(encoding="utf-8")
        variables = {"conf": self._smb_conf, "share": self._share, "which": which}
        said = self._shell.script(script, variables)
        return said.out if said.code == 0 else None

    def drained(self, since_seconds: float, enough: Callable[[], bool]) -> Iterator[PrintQueue]:
        """Wait until the queue is as short as before the load (monotonic clock); yields each look.
        The last one is drained, unless the user has had ``enough`` or the server stops answering.
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
