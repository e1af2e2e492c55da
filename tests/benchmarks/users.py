"""What one generator process costs: small files a second and core, and users who only stay connected."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from storage.target_url import format_target
from tests.command_line import ROOT
from tests.servers.smbd import Smbd

LEAST_A_CORE, AIM_A_CORE = 5_000, 10_000
MOST_IDLE_MEGABYTES, MOST_IDLE_CPU_PERCENT, IDLE_USERS = 0.2, 2.0, 1_000
_FILES = 64
_WORK = """
from gevent import monkey
monkey.patch_all()
import gevent, json, sys, time, psutil
from app.clients.registry import make_files
from app.clients.base import Secrets
from app.targets import parse_target
from storage.plan import Settings
url, password, count, seconds, files = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
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
        users[number].read_file(f"small{turn % files}", 4096)
        turn += 1
        done += 1
    gevent.sleep(max(0, end - time.monotonic()))
began, processor = time.monotonic(), time.process_time()
end = began + seconds
gevent.joinall([gevent.spawn(work, number) for number in range(count)], raise_error=True)
used, took = time.process_time() - processor, time.monotonic() - began
print(json.dumps({"done": done, "cpu_seconds": used, "seconds": took, "bytes_a_user": memory / count}))
"""


def _measured(server: Smbd, users: int, seconds: float, files: int) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", _WORK, format_target(server.target()), server.password, str(users), str(seconds),
         str(files)],
        capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def idle_users(count: int) -> dict[str, Any]:
    """What so many users who only stay connected cost, over twenty seconds."""
    server = Smbd({"max smbd processes": "0"})
    try:
        server.start()
        return _measured(server, count, 20.0, 0)
    finally:
        server.stop()


def users_table(idle_count: int = IDLE_USERS) -> str:
    """The table in Markdown; rates are those of one processor that does nothing else."""
    server = Smbd({"max smbd processes": "0"})
    try:
        server.start()
        for number in range(_FILES):
            server.make_file(f"small{number}", os.urandom(4096))
        busy = {users: _measured(server, users, 5.0, _FILES) for users in (1, 4, 16)}
    finally:
        server.stop()
    idle = idle_users(idle_count)
    lines = ["| many users, one process | measured | at least | aim |", "| --- | ---: | ---: | ---: |"]
    lines += [
        f"| open-read-close of 4 KiB a second and core, {users} users | {each['done'] / each['cpu_seconds']:,.0f} "
        f"({each['done'] / each['seconds']:,.0f}/s at {100 * each['cpu_seconds'] / each['seconds']:.0f} %) "
        f"| {LEAST_A_CORE:,} | {AIM_A_CORE:,} |"
        for users, each in busy.items()
    ]
    lines.append(
        f"| {idle_count:,} idle users: MB each, CPU of a core | {idle['bytes_a_user'] / 1e6:.3f} MB, "
        f"{100 * idle['cpu_seconds'] / idle['seconds']:.1f} % "
        f"| {MOST_IDLE_MEGABYTES} MB, {MOST_IDLE_CPU_PERCENT:g} % | |"
    )
    return "\n".join(lines) + "\n"
