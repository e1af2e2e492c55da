"""Run dbench (file system only) and tbench (TCP only) with the same script, without Samba."""

import os
import re
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.errors import MeasurementError
from app.isolation.folders import DiskPlace, start_in
from app.isolation.script import Operation, Script
from app.server.shell import RunningProgram, Said, ServerShell

TBENCH_PORT = 7003
_WARM_UP_PART = 5
_CONNECT_SECONDS = 15.0
_SLACK_SECONDS = 60.0
_CLEANUP_WORDS = "failed to create barrier semaphore"
"""A harmless complaint of dbench 4 in every run."""
_HIGH = 100
"""Shells use the first ten descriptors for their own redirections."""
_THROUGHPUT = re.compile(r"Throughput ([\d.]+) MB/sec\s+(\d+) clients.*?max_latency=([\d.]+) ms")
_ROW = re.compile(r"\s*([A-Z]\w+)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s*$")
_OPERATIONS: Mapping[str, Operation] = {
    "Qpathinfo": Operation.QUERY_PATH_INFORMATION,
    "Qfileinfo": Operation.QUERY_FILE_INFORMATION,
    "Qfsinfo": Operation.QUERY_FS_INFORMATION,
    "Sfileinfo": Operation.SET_FILE_INFORMATION,
    "Find": Operation.FIND_FIRST,
}
"""dbench's short names; other names are those of the load file."""
_IN_A_NAMESPACE = """ip link set lo up || exit 1
tbench_srv >/dev/null 2>&1 & server=$!
sleep 0.3
tbench -t "$1" -c "$2" "$3" 127.0.0.1; code=$?
kill "$server"
exit "$code"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchResult:
    """Result of one run of dbench or tbench; a megabyte is 1,000,000 bytes."""

    bytes_per_second: float
    seconds: float
    longest_seconds: float
    operations: Mapping[str, int] = field(default_factory=dict)
    complaints: tuple[str, ...] = ()


def parse_bench(said: Said, program: str, seconds: float) -> BenchResult:
    """Parse the output of a run of ``seconds``. Raises MeasurementError without a result."""
    throughput = _THROUGHPUT.search(said.out)
    lines = f"{said.out}\n{said.error}".splitlines()
    complaints = tuple(
        line.strip() for line in lines if ("failed" in line or "ERROR" in line) and _CLEANUP_WORDS not in line
    )
    if throughput is None or said.code:
        why = complaints[0] if complaints else said.last_words
        raise MeasurementError(f"{program} gave no result: {why}; run it by hand to see why")
    operations = {}
    for line in said.out.splitlines():
        row = _ROW.match(line)
        if row:
            name = _OPERATIONS.get(row[1]) or row[1].lower()
            operations[str(name)] = int(row[2])
    return BenchResult(
        bytes_per_second=float(throughput[1]) * 1e6,
        seconds=seconds,
        longest_seconds=float(throughput[3]) / 1000,
        operations=operations,
        complaints=complaints,
    )


class BenchScript:
    """A script readable by dbench: in memory on this machine, in our folder on another one."""

    def __init__(self, script: Script) -> None:
        import fcntl  # noqa: PLC0415  only POSIX systems have it

        self.text = script.text()
        with os.fdopen(
            os.memfd_create("sharebench-script", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING), "w", encoding="utf-8"
        ) as file:
            file.write(self.text)
            file.flush()
            fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
            self._number = fcntl.fcntl(file.fileno(), fcntl.F_DUPFD_CLOEXEC, _HIGH)

    @property
    def here(self) -> str:
        """Path for a local program that inherits :attr:`descriptors`."""
        return f"/proc/self/fd/{self._number}"

    @property
    def descriptors(self) -> tuple[int, ...]:
        return (self._number,)

    def close(self) -> None:
        os.close(self._number)


def start_dbench(
    shell: ServerShell, script: BenchScript, place: DiskPlace, seconds: int, clients: int
) -> RunningProgram:
    """Disk layer: dbench on the server, on the share's own file system."""
    path, files = (script.here, script.descriptors) if shell.ssh is None else ("../script", ())
    return start_in(shell, place, "dbench", "-D", ".", "-t", str(seconds), "-c", path, str(clients), files=files)


def start_tbench_here(script: BenchScript, seconds: int, clients: int) -> RunningProgram:
    """Network layer on this machine: client and server in a network namespace of their own."""
    unshare = ("unshare", "-n") if os.geteuid() == 0 else ("unshare", "-r", "-n")
    words = (*unshare, "sh", "-c", _IN_A_NAMESPACE, "sh", str(seconds), script.here, str(clients))
    return ServerShell().start(*words, files=script.descriptors)


def start_tbench(script: BenchScript, seconds: int, clients: int, host: str) -> RunningProgram:
    """Network layer against ``tbench_srv`` on another machine."""
    words = ("tbench", "-t", str(seconds), "-c", script.here, str(clients), host)
    return ServerShell().start(*words, files=script.descriptors)


def wait_for(program: RunningProgram, name: str, seconds: int) -> BenchResult:
    """Wait for the program's result. Raises MeasurementError."""
    said = program.wait(seconds + warm_up_seconds(seconds) + _SLACK_SECONDS)
    if said.problem:
        raise MeasurementError(f"{name} {said.problem}; run it by hand to see what it waits for")
    return parse_bench(said, name, seconds)


def warm_up_seconds(seconds: int) -> int:
    """Whole seconds of dbench's own warm-up, which add to the given time."""
    return seconds // _WARM_UP_PART


def wait_for_server(host: str) -> None:
    """Wait until ``tbench_srv`` listens. Raises MeasurementError."""
    until = time.monotonic() + _CONNECT_SECONDS
    while True:
        try:
            socket.create_connection((host, TBENCH_PORT), 1.0).close()
        except OSError as error:
            if time.monotonic() > until:
                raise MeasurementError(
                    f"tbench_srv on {host} cannot be reached on port {TBENCH_PORT} ({error}); open it for this machine"
                ) from error
            time.sleep(0.1)
        else:
            return
