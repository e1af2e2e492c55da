"""The queue of a printer share: what waits in it, what CUPS took of a load's jobs, and when it is empty again."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from app.server.shell import ServerShell, script_file
from storage.load import records

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
    matches = map(_NUMBER.match, printed.splitlines())
    return max((int(match[1]) for match in matches if match), default=None)


def with_jobs_refused(point: records.LoadPoint, accepted_jobs: int | None) -> records.LoadPoint:
    """The point with the jobs that CUPS refused counted as errors; as it is where CUPS does not say."""
    refused_jobs = 0 if accepted_jobs is None else point.requests - accepted_jobs
    if refused_jobs <= 0:
        return point

    explanation = (
        f"CUPS took {accepted_jobs} of {point.requests} jobs and refused the others: more wait than its MaxJobs (500"
        " unless set), or the printer accepts none (`lpstat -a` on the server)"
    )
    errors = {**point.errors, NOT_TAKEN: refused_jobs}
    return replace(point, errors=errors, first_error=point.first_error or explanation)


class PrinterShare:
    """A printer share whose server can be asked, locally or through ssh."""

    def __init__(self, share: str, smb_conf: str, ssh: str | None) -> None:
        self._share = share
        self._smb_conf = smb_conf
        self._shell = ServerShell(ssh)
        self._waited_before = 0
        """Jobs that waited before the load."""
        self._newest_before: int | None = None
        """Number of the newest job before the counted ones; None where CUPS does not say."""

    def begin(self) -> bool:
        """Whether it can be asked; jobs already waiting are not counted."""
        waiting = self.waiting()
        self._waited_before = waiting or 0
        return waiting is not None

    def waiting(self) -> int | None:
        """Jobs in the queue; None where it cannot be asked."""
        printed = self._list_jobs("not-completed")
        return None if printed is None else jobs_in(printed)

    def count_from_here(self) -> None:
        """From now on jobs count for :meth:`taken`."""
        self._newest_before = self._newest_job()

    def taken(self) -> int | None:
        """Jobs that CUPS accepted since :meth:`count_from_here`, of all users; None if it does not say."""
        newest_before = self._newest_before
        newest_now = self._newest_job()
        return None if newest_before is None or newest_now is None else newest_now - newest_before

    def _newest_job(self) -> int | None:
        return newest_job_in(self._list_jobs("all") or "")

    def _list_jobs(self, which: str) -> str | None:
        variables = {"conf": self._smb_conf, "share": self._share, "which": which}
        answer = self._shell.script(script_file("app.load.looks", "print_queue.sh"), variables)
        return answer.out if answer.code == 0 else None

    def drained(self, since_seconds: float, enough: Callable[[], bool]) -> Iterator[records.PrintQueue]:
        """Looks until the queue is as short as before, the user has had ``enough``, or nobody answers."""
        jobs_at_first = None
        while (waiting := self.waiting()) is not None:
            passed_seconds = time.monotonic() - since_seconds
            jobs_left = max(0, waiting - self._waited_before)
            if jobs_at_first is None:
                jobs_at_first = jobs_left

            drained_seconds = None if jobs_left else passed_seconds
            yield records.PrintQueue(waiting=jobs_at_first, left=jobs_left, drained_seconds=drained_seconds)
            if not jobs_left or enough():
                return
            time.sleep(_BETWEEN_SECONDS)
