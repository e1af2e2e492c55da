"""What one generator process costs: small files a second and core, smbtorture beside it, and users who only stay."""

from __future__ import annotations

import json
import os
import re
import resource
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from storage.records import format_target
from tests.command_line import ROOT
from tests.servers.process import program
from tests.servers.smbd import Smbd

LEAST_A_CORE, AIM_A_CORE = {1: 7_000, 4: 9_500, 16: 7_000}, 10_000
MOST_IDLE_MEGABYTES, MOST_IDLE_CPU_PERCENT, IDLE_USERS = 0.2, 2.0, 1_000
_FILES = 64
_TORTURE = "smb2.bench.path-contention-shared"
"""Connections that open and close one path again and again: the one of its benches whose operation a load has too."""
_OPENS = re.compile(r"open\[num/s=(\d+)")
_WORK = """
from gevent import monkey
monkey.patch_all()
import gevent, json, resource, sys, time, psutil
from app.clients.registry import make_files
from app.clients.base import Secrets
from app.base.targets import parse_target
from storage.plan import Settings
url, password, count, seconds, files = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
only_open = len(sys.argv) > 6
target, process = parse_target(url), psutil.Process()
make_files(target, Secrets(password=password), Settings()).connect()
before = process.memory_full_info().uss
users = [make_files(target, Secrets(password=password), Settings()) for _ in range(count)]
for user in users:
    user.connect()
memory = process.memory_full_info().uss - before
done, end = 0, time.monotonic() + seconds
def work(number):
    global done
    turn = number
    while files and time.monotonic() < end:
        if only_open:
            users[number].close_file(users[number].open("small0"))
        else:
            users[number].read_file(f"small{turn % files}", 4096)
        turn += 1
        done += 1
    gevent.sleep(max(0, end - time.monotonic()))
began, processor = time.monotonic(), time.process_time()
end = began + seconds
gevent.joinall([gevent.spawn(work, number) for number in range(count)], raise_error=True)
used, took = time.process_time() - processor, time.monotonic() - began
print(json.dumps({"done": done, "cpu_seconds": used, "seconds": took, "bytes_a_user": memory / count,
    "peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
"""


def _measured(server: Smbd, users: int, seconds: float, files: int, *more: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", _WORK, format_target(server.target()), server.password, str(users), str(seconds),
         str(files), *more],
        capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _by_smbtorture(server: Smbd, connections: int, seconds: int) -> dict[str, float]:
    """The same operations by smbtorture: how many, and the processor time of its process."""
    conf = server.root / "smbtorture.conf"
    conf.write_text("[global]\n")
    options = {"timelimit": seconds, "nprocs": connections, "qdepth": 1, "bench_path": "small0"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [f"--option=torture:{name}={value}" for name, value in options.items()]
    done = subprocess.run(
        [program("smbtorture"), "-s", str(conf), f"//{server.host}/{server.share}", "-p", str(server.port),
         "-U", f"{server.user}%{server.password}", *words, _TORTURE],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    rates = [int(found) for found in _OPENS.findall(done.stdout + done.stderr)]
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"done": statistics.mean(rates) * seconds, "cpu_seconds": used}


def idle_users(count: int) -> dict[str, Any]:
    """The cost of that many users who only stay connected, over twenty seconds."""
    with _server(files=0) as server:
        return _measured(server, count, 20.0, 0)


@contextmanager
def _server(files: int = _FILES) -> Iterator[Smbd]:
    server = Smbd({"max smbd processes": "0"})
    try:
        server.start()
        for number in range(files):
            server.make_file(f"small{number}", os.urandom(4096))
        yield server
    finally:
        server.stop()


USERS_HEAD = "| many users, one process | measured | at least | aim |\n| --- | ---: | ---: | ---: |"


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersResult:
    """One row about many users in one process, as text, with its numbers."""

    name: str
    measured: str
    at_least: str = ""
    aim: str = ""
    numbers: dict[str, float]

    def as_document(self) -> dict[str, Any]:
        """For the JSON file."""
        return {"name": self.name, **self.numbers}


def users_line(result: UsersResult) -> str:
    """The row of the table."""
    return f"| {result.name} | {result.measured} | {result.at_least} | {result.aim} |"


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallFilesRow:
    """Files of 4 KiB that are opened, read and closed; the rate is that of one processor that does nothing else."""

    users: int
    needs: tuple[str, ...] = ("smbd",)

    @property
    def name(self) -> str:
        return f"users: open-read-close of 4 KiB per core and second ({self.users} users)"

    def measure(self) -> UsersResult:
        """For five seconds."""
        with _server() as server:
            each = _measured(server, self.users, 5.0, _FILES)
        a_core, least = each["done"] / each["cpu_seconds"], LEAST_A_CORE[self.users]
        return UsersResult(
            name=self.name,
            measured=f"{a_core:,.0f} ({each['done'] / each['seconds']:,.0f}/s at "
            f"{100 * each['cpu_seconds'] / each['seconds']:.0f} %){', **below**' if a_core < least else ''}",
            at_least=f"{least:,}",
            aim=f"{AIM_A_CORE:,}",
            numbers=each,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCloseRow:
    """Opening and closing one file, beside smbtorture."""

    name: str = "users: open-close of one file per core and second (4 users)"
    needs: tuple[str, ...] = ("smbd", "smbtorture")

    def measure(self) -> UsersResult:
        """For five seconds each."""
        with _server() as server:
            ours, theirs = _measured(server, 4, 5.0, 1, "open"), _by_smbtorture(server, 4, 5)
        rates = [each["done"] / each["cpu_seconds"] for each in (ours, theirs)]
        return UsersResult(
            name=self.name,
            measured=f"{rates[0]:,.0f} (smbtorture's {_TORTURE}: {rates[1]:,.0f})",
            numbers={"a_core": rates[0], "a_core_of_smbtorture": rates[1]},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleRow:
    """Users who only stay connected."""

    count: int = IDLE_USERS
    long: bool = True
    needs: tuple[str, ...] = ("smbd",)

    @property
    def name(self) -> str:
        return f"users: {self.count} idle (MB each, CPU of a core, peak memory of the process)"

    def measure(self) -> UsersResult:
        """For twenty seconds."""
        idle = idle_users(self.count)
        return UsersResult(
            name=self.name,
            measured=f"{idle['bytes_a_user'] / 1e6:.3f} MB, {100 * idle['cpu_seconds'] / idle['seconds']:.1f} %, "
            f"{idle['peak_bytes'] / 1e6:,.0f} MB",
            at_least=f"{MOST_IDLE_MEGABYTES} MB, {MOST_IDLE_CPU_PERCENT:g} %",
            numbers=idle,
        )


def users_rows() -> Iterator[SmallFilesRow | OpenCloseRow | IdleRow]:
    """What one process can do for many users."""
    yield from (SmallFilesRow(users=users) for users in (1, 4, 16))
    yield OpenCloseRow()
    yield IdleRow()
