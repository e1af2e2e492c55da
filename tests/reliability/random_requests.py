"""``run --random``: operations a second beside fio's on a limited disk, and requests and bytes beside smbd's counters.

The disk is limited by blkio to 2,000 operations a second, past the page cache, for fio and sharebench alike, which take
turns: of each number of requests at a time and each direction the means of three runs may differ by 5 %. Over SMB what
the runs of a series count must be what smbd counts, each request and each byte.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from app.clients.smb.transfer import DEFAULT_BLOCK_BYTES
from storage.records import format_target
from tests.command_line import QUICK, Sharebench
from tests.reliability.figures import Figures, Share
from tests.servers.process import program
from tests.servers.smbd import Smbd
from tests.waiting import HANG_SECONDS

LIMIT_PER_SECOND = 2000
MOST_DIFFERENCE_PERCENT = 5.0
RUNS = 3
SECONDS = 4
FILE_BYTES = 256 << 20
BLOCK_BYTES = 4096
_BLKIO = Path("/sys/fs/cgroup/blkio")
MADE_BYTES = 64 << 20
"""Of the file that a put makes before the runs, in the usual requests."""
_READ_HEADERS_BYTES = 80
_WRITE_HEADERS_BYTES = 112
"""Of the message that carries a block: what smbd counts beside it (MS-SMB2 2.2.20, 2.2.21)."""
_COUNTED = re.compile(r"^(smb2_(?:read_count|read_outbytes|write_count|write_inbytes)):\s+(\d+)", re.MULTILINE)
_COUNTERS_ARE_LATE_SECONDS = 2.5
"""smbd writes what it counted once a second."""


@dataclass(frozen=True, slots=True)
class DiskCase:
    """What is asked of the limited disk."""

    in_flight: int
    writes: bool

    @property
    def name(self) -> str:
        return f"disk, {'writes' if self.writes else 'reads'}, {self.in_flight} at once"


@dataclass(frozen=True, slots=True)
class ServerCase:
    """What is asked of smbd."""

    in_flight: int
    options: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"smbd, {' '.join(self.options)}, {self.in_flight} at once"


DISK_CASES = [DiskCase(in_flight, writes) for writes in (False, True) for in_flight in (1, 32)]
SERVER_CASES = [
    ServerCase(in_flight, options)
    for options in (("--make-file",), ("--put",), ("--mix", "70"), ("--make-file", "--encrypt"))
    for in_flight in (1, 32)
]

ALL: tuple[DiskCase | ServerCase, ...] = (*DISK_CASES, *SERVER_CASES)


def campaign(_seconds: float, share: Share | None = None, cases: Sequence[DiskCase | ServerCase] = ALL) -> Figures:
    """All cases of the share; a disk that cannot be limited here is told and not looked at."""
    share = share or Share()
    for case in share.of_mine(cases):
        if share.has(case.name):
            continue
        with share.carrying_out(case.name) as figures:
            if isinstance(case, DiskCase):
                _look_at_disk(case, figures)
            else:
                _look_at_server(case, figures)
    return share.figures


def _look_at_disk(case: DiskCase, figures: Figures) -> None:
    with tempfile.TemporaryDirectory(prefix="sharebench-random-", dir="/var/tmp") as name:
        folder = Path(name)
        with _limited_group(folder) as group:
            if group is None or shutil.which("fio") is None:
                figures.counts["cases that need root, blkio and fio"] += 1
                return

            file = folder / "fio.bin"
            file.write_bytes(os.urandom(FILE_BYTES))
            os.sync()
            ours: list[float] = []
            fios: list[float] = []
            for number in range(RUNS):
                # In turns, and each time the other one first.
                looks = [(_our_operations, ours), (_fio_operations, fios)]
                for look, operations in looks if number % 2 else reversed(looks):
                    operations.append(look(case, folder, group))

    difference = 100 * (mean(ours) / mean(fios) - 1)
    told = f"{_listed(ours)} beside fio's {_listed(fios)} operations a second, {difference:+.1f} %"
    figures.check(case.name, holds=abs(difference) <= MOST_DIFFERENCE_PERCENT, told=told)


def _listed(rates: Sequence[float]) -> str:
    return ", ".join(f"{rate:,.0f}" for rate in rates)


@contextmanager
def _limited_group(folder: Path) -> Iterator[Path | None]:
    """A group whose processes get few operations of the folder's disk; None where there can be none."""
    device = folder.stat().st_dev
    numbers = f"{os.major(device)}:{os.minor(device)}"
    group = _BLKIO / f"sharebench-random-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        yield None
        return

    try:
        for kind in ("read", "write"):
            (group / f"blkio.throttle.{kind}_iops_device").write_text(f"{numbers} {LIMIT_PER_SECOND}")
        yield group
    finally:
        group.rmdir()


def _in_group(group: Path, words: list[str]) -> list[str]:
    """A command that is limited with all its children."""
    return ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh", *words]


def _fio_operations(case: DiskCase, folder: Path, group: Path) -> float:
    # One request at a time is a call of the system for both; more at a time need a queue.
    engine = "psync" if case.in_flight == 1 else "libaio"
    words = ["fio", "--name=random", f"--filename={folder}/fio.bin", f"--ioengine={engine}", "--direct=1"]
    words += [f"--rw=rand{'write' if case.writes else 'read'}", f"--bs={BLOCK_BYTES}", f"--iodepth={case.in_flight}"]
    words += ["--time_based", f"--runtime={SECONDS}", "--output-format=json"]
    done = subprocess.run(_in_group(group, words), capture_output=True, text=True, check=True, timeout=HANG_SECONDS)
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    return float(job["write" if case.writes else "read"]["iops"])


def _our_operations(case: DiskCase, folder: Path, group: Path) -> float:
    sharebench = Sharebench(folder / "notebook.db")
    place = ["--put", "--size", str(MADE_BYTES), f"file://{folder}"] if case.writes else [f"file://{folder}/fio.bin"]
    running = sharebench.start(
        "run", *place, "--random", "--drop-cache", "--in-flight", str(case.in_flight), "--seconds", str(SECONDS),
        "--runs", "1", "--warmup", "0", *QUICK, "--json", under=tuple(_in_group(group, [])),
    )  # fmt: skip
    output, told = running.communicate(timeout=HANG_SECONDS)
    assert running.returncode == 0, told
    (run,) = json.loads(output)["runs"]
    return float(run["request_figures"]["operations_per_second"])


@contextmanager
def _counting_server() -> Iterator[Smbd]:
    server = Smbd({"smbd profiling level": "count"})
    try:
        server.start()
        yield server
    finally:
        server.stop()


def _look_at_server(case: ServerCase, figures: Figures) -> None:
    with _counting_server() as server, tempfile.TemporaryDirectory() as folder:
        sharebench = Sharebench(Path(folder) / "notebook.db", server.password)
        document = sharebench.json(
            "run", format_target(server.target()), "--random", *case.options, "--size", str(MADE_BYTES),
            "--in-flight", str(case.in_flight), "--seconds", "2", "--runs", "3", "--warmup", "0", *QUICK, "--json",
        )  # fmt: skip
        counted = _counted_by(server)

    asked = _asked_in(document)
    told = f"{asked['reads']:,} reads and {asked['writes']:,} writes, by smbd {counted}"
    figures.check(case.name, holds=counted == _expected_of(asked), told=told)
    figures.counts["requests"] += asked["reads"] + asked["writes"]


def _expected_of(asked: dict[str, int]) -> dict[str, int]:
    """What smbd has to count: the requests of the runs, and the put of their file before."""
    puts = MADE_BYTES // DEFAULT_BLOCK_BYTES
    written_bytes = MADE_BYTES + asked["writes"] * BLOCK_BYTES
    return {
        "smb2_read_count": asked["reads"],
        "smb2_read_outbytes": asked["reads"] * (_READ_HEADERS_BYTES + BLOCK_BYTES),
        "smb2_write_count": asked["writes"] + puts,
        "smb2_write_inbytes": (asked["writes"] + puts) * _WRITE_HEADERS_BYTES + written_bytes,
    }


def _asked_in(document: dict[str, Any]) -> dict[str, int]:
    """The requests that the runs counted, by kind."""
    asked = {"reads": 0, "writes": 0}
    for run in document["runs"]:
        for kind in asked:
            asked[kind] += sum(count for _least, count in run["requests"][kind]["counts"])
    return asked


def _counted_by(server: Smbd) -> dict[str, int]:
    time.sleep(_COUNTERS_ARE_LATE_SECONDS)
    words = [program("smbstatus"), "-s", str(server.conf), "-P"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return {name: int(count) for name, count in _COUNTED.findall(said)}
