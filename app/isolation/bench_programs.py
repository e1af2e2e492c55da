"""The programs dbench (files) and tbench (TCP): the script as they read it, their end, and what they print."""

import os
import re
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.base import errors
from app.isolation import places
from app.isolation import script as isolation_script
from app.server import running_program

SLACK_SECONDS = 120.0
"""For logins, the last request, and cleaning up."""
_WARM_UP_PART = 5
_CONNECT_SECONDS = 15.0
_CLEANUP_WORDS = "failed to create barrier semaphore"
"""A harmless complaint of dbench 4 in every run."""
_LEAST_DESCRIPTOR = 100
"""Of the script in memory: shells use the first ten descriptors for their own redirections."""
_THROUGHPUT = re.compile(r"Throughput ([\d.]+) MB/sec\s+(\d+) clients.*?max_latency=([\d.]+) ms")
_ROW = re.compile(r"\s*([A-Z]\w+)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s*$")
_OPERATIONS: Mapping[str, isolation_script.Operation] = {
    "Qpathinfo": isolation_script.Operation.QUERY_PATH_INFORMATION,
    "Qfileinfo": isolation_script.Operation.QUERY_FILE_INFORMATION,
    "Qfsinfo": isolation_script.Operation.QUERY_FS_INFORMATION,
    "Sfileinfo": isolation_script.Operation.SET_FILE_INFORMATION,
    "Find": isolation_script.Operation.FIND_FIRST,
}
"""dbench's short names; other names are those of the load file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchResult:
    """Result of one run of dbench or tbench; a megabyte is 1,000,000 bytes."""

    bytes_per_second: float
    seconds: float
    longest_seconds: float
    """Of one operation."""
    operations: Mapping[str, int] = field(default_factory=dict)
    """How many were done, by name."""
    complaints: tuple[str, ...] = ()
    """Lines that tell of an operation that failed."""


def parse_bench(output: running_program.ProgramOutcome, program: str, seconds: float) -> BenchResult:
    """Parse the output of a run of ``seconds``. Raises MeasurementError without a result."""
    throughput = _THROUGHPUT.search(output.out)
    lines = f"{output.out}\n{output.error}".splitlines()
    complaints = tuple(
        line.strip() for line in lines if ("failed" in line or "ERROR" in line) and _CLEANUP_WORDS not in line
    )
    if throughput is None or output.code:
        cause = complaints[0] if complaints else output.last_words
        raise errors.MeasurementError(f"{program} gave no result: {cause}; run it by hand to see why")

    rows = filter(None, map(_ROW.match, output.out.splitlines()))
    operations = {str(_OPERATIONS.get(row[1]) or row[1].lower()): int(row[2]) for row in rows}
    return BenchResult(
        bytes_per_second=float(throughput[1]) * 1e6,
        seconds=seconds,
        longest_seconds=float(throughput[3]) / 1000,
        operations=operations,
        complaints=complaints,
    )


class BenchScript:
    """A script readable by dbench: in memory on this machine, in our folder on another one."""

    def __init__(self, script: isolation_script.Script) -> None:
        import fcntl

        self.text = script.load_file_text()

        # Sealed, since every program that inherits it could write into it.
        number = os.memfd_create("sharebench-script", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(self.text)
            file.flush()
            fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
            self._number: int = fcntl.fcntl(file.fileno(), fcntl.F_DUPFD_CLOEXEC, _LEAST_DESCRIPTOR)

        self.here = f"/proc/self/fd/{self._number}"
        """Its path for a local program that inherits the descriptors."""
        self.descriptors = (self._number,)

    def close(self) -> None:
        os.close(self._number)


class StuckError(errors.MeasurementError):
    """A program did not come to an end."""


def wait_for(program: running_program.RunningProgram, name: str, seconds: int) -> BenchResult:
    """Raises StuckError, MeasurementError."""
    output = program.wait(seconds + warm_up_seconds(seconds) + SLACK_SECONDS)
    if output.problem:
        raise StuckError(f"{name} {output.problem}; run it by hand to see what it waits for")
    return parse_bench(output, name, seconds)


def warm_up_seconds(seconds: int) -> int:
    """Whole seconds of dbench's own warm-up, which add to the given time."""
    return seconds // _WARM_UP_PART


def wait_for_server(host: str) -> None:
    """Wait until ``tbench_srv`` listens. Raises MeasurementError."""
    gives_up_at = time.monotonic() + _CONNECT_SECONDS
    while True:
        try:
            socket.create_connection((host, places.TBENCH_PORT), 1.0).close()
        except OSError as error:
            if time.monotonic() > gives_up_at:
                raise errors.MeasurementError(
                    f"tbench_srv on {host} cannot be reached on port {places.TBENCH_PORT} ({error}); open it for"
                    " this machine"
                ) from error
        else:
            return

        time.sleep(0.1)
