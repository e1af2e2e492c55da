"""Hosts behind ``ssh`` that answer anything: endless, silent, garbled, lying, dying; every command that uses ssh.

A command may take no more of them than its limits of time and memory, repeats no escape sequence, and ends with a line
of its own. ``ssh`` is a shell script that is found first; it reads what it is told, so that it lies by our own marks.
"""

import math
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from app import __version__
from app.server.shell import RUN_SECONDS
from storage.records import format_target
from tests.command_line import QUICK, Sharebench
from tests.reliability.figures import Clock, Figures, Share
from tests.servers.smbd import Smbd

MOST_MEGABYTES = 100
"""More than the same command takes whose ssh says nothing and ends."""
MOST_CALLS = 4
"""Of a command that asks a host which never answers, one after the other."""
_SLACK_SECONDS = 400.0
_MARK = "mark=$(sed -n 's/^mark=//p' | head -n 1 | tr -d \"'\")"
_SECTIONS = (
    "uid uname machine meta:/etc/samba/smb.conf content:/etc/samba/smb.conf testparm testparm.rc stat.first "
    "nic:mtu nic:speed nic:statistics/rx_errors file:/proc/meminfo file:/proc/net/dev file:/proc/stat interfaces done"
)
_NUMBERS = (f"-{'9' * 300}", "9" * 4000, "1e999", "-1", "nan", "\\033]52;c;QQ==\\007\\302\\23331m")
PEERS: Mapping[str, str] = {
    "refusing": "exit 255",
    "endless line": "exec tr '\\0' x </dev/zero",
    "endless zeros": "exec cat /dev/zero",
    "endless lines": "exec yes",
    "endless complaint": "exec yes >&2",
    "endless marks": f'{_MARK}; exec yes "$mark end"',
    "endless samples": f"{_MARK}; while printf '%s uptime\\n1.0 1\\n%s cpu\\ncpu 1 1 1 1\\n%s interfaces\\n%s disks\\n"
    "%s end\\n' \"$mark\" \"$mark\" \"$mark\" \"$mark\" \"$mark\"; do :; done",
    "silent": "exec sleep 1000",
    "silent, with a child that holds the pipe": "sleep 1000 & exec sleep 1000",
    "silent, with a child elsewhere": "setsid sleep 600 & exec sleep 1000",
    "deaf": "exec sleep 1000 <&-",
    "silent after a greeting": "echo '{\"version\": \"VERSION\", \"processes\": 1}'; exec sleep 1000",
    "endless after a greeting": "echo '{\"version\": \"VERSION\", \"processes\": 1}'; exec yes",
    "escapes": "printf '\\033]52;c;QQ==\\007\\302\\23331m\\n'; printf '\\033[2J\\302\\23331m\\n' >&2; exit 1",
    "dying": "echo x; kill -9 $$",
    **{
        f"greeting {number}": f"echo '{{\"version\": \"VERSION\", \"processes\": {number}}}'; exec sleep 1000"
        for number in ("1000000000", "4097", "-1", "0", "true", '"4"', "1e400", "NaN", "[" * 1000 + "]" * 1000)
    },
    **{
        f"lies {place}": f"{_MARK}; for name in {_SECTIONS} uptime cpu end; do "
        f"printf '\\n%s %s\\n{number} {number}: {number}\\n' \"$mark\" $name; done; exec sleep 1"
        for place, number in enumerate(_NUMBERS)
    },
}  # fmt: skip
_STEERING = ("\033", "\x07", "\x9b")


def campaign(
    seconds: float, *, peers: tuple[str, ...] = tuple(PEERS), commands: tuple[str, ...] = (), share: Share | None = None
) -> Figures:
    """Each command with each peer, as far as there is time; each command at least once, and each peer."""
    share, clock = share or Share(), Clock(seconds)
    server = Smbd()
    server.start()
    try:
        told = _commands(server)
        names = commands or tuple(told)
        usual = {name: _tried(server, told[name], "refusing")[1] for name in names}
        pairs = [(name, peer) for peer in peers for name in names]
        for number, at in enumerate(share.of_mine(list(_spread(len(pairs))))):
            if clock.is_over() and number >= max(len(names), len(peers)):
                break
            name, peer = pairs[at]
            if share.has(f"{name}, {peer}"):
                continue
            with share.carrying_out(f"{name}, {peer}") as figures:
                wrong, most = _tried(server, told[name], peer)
                figures.counts["conversations"] += 1
                more = (most - usual[name]) / 1e6
                if more > MOST_MEGABYTES:
                    wrong.append(f"it took {more:.0f} MB")
                figures.losses += [f"{name}, {peer}: {each}" for each in wrong]
    finally:
        server.stop()
    return share.figures


def _spread(count: int) -> Iterator[int]:
    """Every number below count once, in steps that come past all commands and all peers soon."""
    step = next(step for step in range(max(1, count * 5 // 13), count + 2) if math.gcd(step, count) == 1)
    return (number * step % count for number in range(count))


def _commands(server: Smbd) -> dict[str, tuple[str, ...]]:
    (server.folder / "file").write_bytes(bytes(100_000))
    folder, file = format_target(server.target()), format_target(server.target("file"))
    load = ("--users", "1", "--duration", "1", "--settle", "0", "--files", "20", "--processes", "1")
    there = ("--server-ssh", "nas")
    return {
        "check": ("check", file, *there),
        "run": ("run", file, "--runs", "1", "--warmup", "0", *there, *QUICK),
        "load": ("load", folder, *load, *there),
        "workers": ("load", folder, *load, "--workers-on", "nas"),
        "isolate": ("isolate", folder, "--clients", "1", "--rounds", "1", "--seconds", "2", *there),
        "try": ("try", "aio read size=1", file, *there, "--yes"),
        "restore": ("restore", *there),
        "push": ("push", "nas"),
        "pull": ("pull", "nas"),
    }


def _tried(server: Smbd, words: tuple[str, ...], peer: str) -> tuple[list[str], int]:
    """What was wrong when a command talked to a peer, and the most memory that its processes had."""
    with tempfile.TemporaryDirectory(prefix="sharebench-peers-") as folder:
        ssh = Path(folder) / "ssh"
        ssh.write_text("#!/bin/sh\n" + PEERS[peer].replace("VERSION", __version__) + "\n")
        ssh.chmod(0o755)
        environment = {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": folder}
        sharebench = Sharebench(Path(folder) / "n.db", server.password, environment)
        began, limit = time.monotonic(), MOST_CALLS * RUN_SECONDS + _SLACK_SECONDS
        running = sharebench.start(*words, forked=True)
        with _watched(running.pid) as most:
            try:
                out, err = running.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                running.send_signal(signal.SIGTERM)
                out, err = running.communicate()
                return [f"it takes longer than {limit:.0f} s"], most[0]
        wrong = []
        if running.returncode not in {0, 2, 3, 4}:
            wrong.append(f"it ended with {running.returncode}: {err[-300:]!r}")
        if "fault in sharebench" in err or "Traceback" in err:
            wrong.append(f"a fault: {err[-300:]!r}")
        if any(code in text for code in _STEERING for text in (out, err)):
            wrong.append(f"it steers the terminal: {(out + err)[-300:]!r}")
        if time.monotonic() - began > limit:
            wrong.append("too late")
        return wrong, most[0]


@contextmanager
def _watched(pid: int) -> Iterator[list[int]]:
    """The most that our processes had in memory together so far."""
    most, ended = [0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.1):
            total = 0
            with suppress(psutil.Error):
                for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
                    with suppress(psutil.Error):
                        if "python" in process.name():
                            total += process.memory_info().rss
            most[0] = max(most[0], total)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield most
    finally:
        ended.set()
        watching.join()
