"""A load held against what others count, against itself made otherwise, and against limits that are made.

Requests a second against smbd's own counters; one process against two, and against two machines (network namespaces
with an sshd each); a link of 100 Mbit/s, smbd in a control group with a fifth of a processor, and a generator pinned
beside burners, each of which must be named; 1,000 idle users. It wants a machine that does nothing else.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from app.load.events import PointMeasured
from app.load.measurement import LoadClosed
from app.load.record import run_load
from app.load.scenario import change_scenario, find_scenario
from app.load.spec import LoadRequest
from app.recording.process import SeriesControl
from storage.load.records import Load, LoadChoices
from storage.records import format_target
from tests.benchmarks.users import IDLE_USERS, MOST_IDLE_CPU_PERCENT, MOST_IDLE_MEGABYTES, idle_users
from tests.command_line import ROOT, Sharebench
from tests.reliability.counters import CreateCounter
from tests.reliability.figures import Figures
from tests.servers.netns import PAYLOAD_SHARE, Link
from tests.servers.process import program
from tests.servers.smbd import Smbd
from tests.servers.sshd import Sshd
from tests.waiting import HANG_SECONDS

USERS = (5, 10, 20)
COUNTERS_PERCENT, MIX_POINTS, SAME_PERCENT, LINK_SHARE = 1.0, 1.0, 3.0, 0.005
GROUPS = Path("/sys/fs/cgroup/cpu")
_LONGEST_WINDOW, _SHORTEST_WINDOW, _WINDOWS = 20.0, 3.0, 15


def campaign(seconds: float) -> Figures:
    """Each of the parts once, with longer windows for more seconds."""
    figures = Figures()
    window = min(_LONGEST_WINDOW, max(_SHORTEST_WINDOW, seconds / _WINDOWS))
    for part in PARTS:
        print(f"  {part.__doc__.splitlines()[0]}" if part.__doc__ else part.__name__, flush=True)
        part(figures, window)
    return figures


def folder_of(server: Smbd) -> str:
    return format_target(server.target())


@contextmanager
def _smbd(options: Mapping[str, str] | None = None, link: Link | None = None) -> Iterator[Smbd]:
    server = Smbd(options, link=link)
    try:
        server.start()
        yield server
    finally:
        server.stop()


def _load(server: Smbd, *arguments: str, path: str = "") -> dict[str, Any]:
    """The document of a load that the command line made."""
    with tempfile.TemporaryDirectory(prefix="sharebench-load-") as folder:
        environment = {"PATH": f"{path}:{os.environ['PATH']}"} if path else {}
        sharebench = Sharebench(Path(folder) / "n.db", server.password, environment)
        words = ("load", folder_of(server), "--smb-conf", str(server.conf), *arguments, "--json")
        running = sharebench.start(*words)
        out, err = running.communicate(timeout=HANG_SECONDS)
    if running.returncode:
        raise RuntimeError(err.strip().splitlines()[-1])
    document: dict[str, Any] = json.loads(out)
    return document


def _rates(document: Mapping[str, Any]) -> dict[int, float]:
    return {point["users"]: point["requests_per_second"] for point in document["points"]}


def against_counters(figures: Figures, window: float) -> None:
    """Requests a second, the mix and Little's law against smbd's own counters."""
    with _smbd({"smbd profiling level": "count"}) as server, CreateCounter(server.conf) as counter:
        request = LoadRequest(
            targets=(server.target(),),
            secrets=server.secrets(),
            scenario=change_scenario(
                find_scenario("redpaper"), files=1200, duration_seconds=window, settle_seconds=5.0
            ),
            choices=LoadChoices(users=USERS, processes=2),
        )
        windows: dict[int, PointMeasured] = {}
        load: Load | None = None
        with tempfile.TemporaryDirectory(prefix="sharebench-load-") as folder:
            for step in run_load(request, Path(folder) / "n.db", SeriesControl()):
                if isinstance(step, PointMeasured):
                    windows[step.users] = step
                elif isinstance(step, LoadClosed):
                    load = step.load
        left = list(server.folder.iterdir())
        assert load is not None
        for point in load.points:
            began = windows[point.users].began_seconds
            rate, counted = point.requests_per_second or 0.0, counter.rate(began, began + point.seconds)
            off = 100 * (rate / counted - 1)
            told = f"{rate:.1f} requests/s, {counted:.1f} creates/s by smbd ({off:+.2f} %)"
            figures.check(f"counters, {point.users} users", holds=abs(off) <= COUNTERS_PERCENT, told=told)
            mix = 100 * point.reads / point.requests
            figures.check(f"reads, {point.users} users", holds=abs(mix - 80) <= MIX_POINTS, told=f"{mix:.2f} %")
            little = point.little_percent
            assert little is not None
            figures.check(f"Little's law, {point.users} users", holds=abs(little) <= 1, told=f"{little:+.2f} %")
        figures.check("files removed", holds=not left, told=f"{len(left)} left")


def otherwise_made(figures: Figures, window: float) -> None:
    """One process against two, and against two machines."""
    options = ("--users", ",".join(map(str, USERS)), "--files", "600", "--duration", f"{window:g}", "--settle", "2")
    with ExitStack() as stack:
        near, path = stack.enter_context(_two_machines())
        server = stack.enter_context(_smbd({"interfaces": f"lo {near}/30"}))
        server.host = near
        one = _rates(_load(server, *options, "--processes", "1"))
        two = _rates(_load(server, *options, "--processes", "2"))
        there = _load(server, *options, "--processes", "1", "--workers-on", "machine1,machine2", path=path)
        for name, other in (("two processes", two), ("two machines", _rates(there))):
            for users in USERS:
                off = 100 * (other[users] / one[users] - 1)
                told = f"{other[users]:.1f} requests/s against {one[users]:.1f} ({off:+.2f} %)"
                figures.check(f"{name}, {users} users", holds=abs(off) <= SAME_PERCENT, told=told)


@contextmanager
def _two_machines() -> Iterator[tuple[str, str]]:
    """Two network namespaces with an sshd each: this machine's address that both reach, and what to put on PATH."""
    with ExitStack() as stack:
        configured, wrappers = "", Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sharebench-load-")))
        nears = []
        for number in (1, 2):
            link = Link("1gbit")
            stack.callback(link.close)
            subprocess.run([*link.prefix, program("ip"), "route", "add", "default", "via", link.near], check=True)
            sshd = Sshd(link)
            stack.callback(sshd.stop)
            sshd.start()
            worker = sshd.path / "sharebench"
            pinned = f"taskset -c {(number - 1) % (os.cpu_count() or 1)}"
            worker.write_text(f'#!/bin/sh\ncd "{ROOT}"\nexec {pinned} "{sys.executable}" -m app "$@"\n')
            worker.chmod(0o755)
            config = (sshd.root / "ssh_config").read_text().replace("Host fileserver", f"Host machine{number}")
            configured += config.replace("Host *\n", "")
            nears.append(link.near)
        (wrappers / "config").write_text(configured)
        ssh = wrappers / "ssh"
        ssh.write_text(f'#!/bin/sh\nexec {program("ssh")} -F {wrappers}/config "$@"\n')
        ssh.chmod(0o755)
        yield nears[0], str(wrappers)


def full_link(figures: Figures, window: float) -> None:
    """A link of 100 Mbit/s: filled, and named."""
    with ExitStack() as stack:
        link = Link("100mbit")
        stack.callback(link.close)
        server = stack.enter_context(_smbd(link=link))
        found = _load(
            server, "--scenario", "large", "--users", "1,4", "--sizes", "8M", "--files", "8", "--duration",
            f"{window:g}", "--settle", "3", "--processes", "1", "--link", "100M",
        )  # fmt: skip
    for point in found["points"]:
        share = 8 * point["read_bytes_per_second"] / 1e8
        holds = abs(share - PAYLOAD_SHARE) <= LINK_SHARE
        figures.check(f"link, {point['users']} users", holds=holds, told=f"{100 * share:.2f} % of it")
    _is_limit(figures, found, "network")


def held_server(figures: Figures, window: float) -> None:
    """smbd with a fifth of a processor: named."""
    group = GROUPS / f"sharebench-load-{os.getpid()}"
    group.mkdir()
    try:
        with _smbd() as server:
            (group / "cpu.cfs_quota_us").write_text("20000")
            (group / "cgroup.procs").write_text(str(server.pid))
            found = _load(
                server, "--scenario", "small", "--users", "1,8", "--files", "200", "--duration", f"{window:g}",
                "--settle", "2", "--processes", "1",
            )  # fmt: skip
        _is_limit(figures, found, "server CPU")
    finally:
        for process in (group / "cgroup.procs").read_text().split():
            with suppress(OSError):
                (group.parent / "cgroup.procs").write_text(process)
        group.rmdir()


def _is_limit(figures: Figures, found: Mapping[str, Any], limit: str) -> None:
    """Whether a valid capacity names that limit."""
    told = "; ".join(f"{point['users']} users {point['status']}: {point['reason']}" for point in found["points"])
    capacity = found["capacity"]
    holds = capacity is not None and capacity["not_carried"] is not None and capacity["limit"] == limit
    figures.check(f"capacity's reason is {limit}", holds=holds, told=f"{capacity}; {told}")


def held_generator(figures: Figures, window: float) -> None:
    """A generator pinned beside burners: named, and no verdict."""
    burn = "import os; os.sched_setaffinity(0, {0})\nwhile True: pass"
    with _smbd() as server, ExitStack() as stack:
        for _ in range(3):
            burner = subprocess.Popen([sys.executable, "-c", burn])
            stack.callback(burner.wait)
            stack.callback(burner.kill)
        ended = threading.Event()
        pinning = threading.Thread(target=_pin_workers, args=(ended,))
        stack.callback(pinning.join)
        stack.callback(ended.set)
        pinning.start()
        found = _load(
            server, "--scenario", "small", "--users", "40", "--think", "0.005", "--files", "200", "--duration",
            f"{window:g}", "--settle", "2", "--processes", "1",
        )  # fmt: skip
    (point,) = found["points"]
    holds = point["status"] == "generator" and found["capacity"] is None
    figures.check("the generator is named", holds=holds, told=f"{point['status']}: {point['reason']}")


def _pin_workers(ended: threading.Event) -> None:
    """Keep every worker process that we started on the burners' processor."""
    while not ended.wait(0.2):
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                if "worker" in child.cmdline():
                    child.cpu_affinity([0])


def many_idle(figures: Figures, window: float) -> None:
    """Idle users: their memory and processor time at this end."""
    users = IDLE_USERS if window >= _LONGEST_WINDOW else IDLE_USERS // 10
    found = idle_users(users)
    megabytes, percent = found["bytes_a_user"] / 1e6, 100 * found["cpu_seconds"] / found["seconds"]
    holds = megabytes <= MOST_IDLE_MEGABYTES and percent <= MOST_IDLE_CPU_PERCENT
    figures.check(f"{users:,} idle users", holds=holds, told=f"{megabytes:.3f} MB each, {percent:.2f} % of a core")


PARTS: tuple[Callable[[Figures, float], None], ...] = (
    against_counters, otherwise_made, full_link, held_server, held_generator, many_idle,
)  # fmt: skip
