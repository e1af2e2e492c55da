"""``run --versus`` of two servers: equal ones, one behind a slower link, one with half a processor.

Each case is one comparison of eight pairs of runs. Equal servers may be called different in 3 of 20; the slower link
must be named in 16 of 20, and the interval hold the truth in 17; half a processor must be named in 18. Half is that of
what smbd takes beforehand: on a busy machine half of a whole one would limit nothing.
``python -m tests.reliability versus --part i/n --results FOLDER``.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from storage.records import format_target
from tests.reliability.figures import Clock, Figures, Share
from tests.servers.netns import Link
from tests.servers.smbd import Smbd
from tests.truth.record import MI, random_file
from tests.waiting import HANG_SECONDS

PAIRS = 8
QUICK = ("--warmup", "1", "--ceiling", "skip", "--quiet-time", "skip", "--json")
TIMES = 20
MOST_FALSE = 3
"""Of 20 comparisons of equal servers."""
LEAST_NAMED = {"link": 16, "processor": 18}
"""Of 20 comparisons with a slower server."""
LEAST_HELD = 17
"""Of 20 intervals, that hold the true change of the link's rate."""
RATES = ("100mbit", "95mbit")
FASTER_PERCENT = 100 * (100 / 95 - 1)
SLOWER_PERCENT = 100 * (95 / 100 - 1)
CPU_GROUPS = Path("/sys/fs/cgroup/cpu")
PERIOD_MICROSECONDS = 100_000
"""That the quota of a control group is counted by."""


@dataclass(frozen=True, slots=True)
class Servers:
    """Two servers of one folder, the usual one first, the slower one second."""

    usual: Smbd
    slower: Smbd


@contextmanager
def _on(folder: Path, links: Sequence[Link | None]) -> Iterator[Servers]:
    with ExitStack() as stack:
        servers = []
        for link in links:
            server = Smbd(share_options={"path": str(folder)}, link=link)
            stack.callback(server.stop)
            server.start()
            servers.append(server)
        yield Servers(*servers)


@contextmanager
def _equal(folder: Path) -> Iterator[Servers]:
    random_file(folder, 256 * MI)
    with _on(folder, (None, None)) as servers:
        yield servers


@contextmanager
def _slower_link(folder: Path) -> Iterator[Servers]:
    random_file(folder, 16 * MI)
    with ExitStack() as stack:
        # One burst for both: what passes unshaped is the same.
        links = [stack.enter_context(contextlib.closing(Link(rate, burst="64kb"))) for rate in RATES]
        yield stack.enter_context(_on(folder, links))


def _processor_share(folder: Path, server: Smbd) -> float:
    """How much of a processor smbd takes while a file is got from it."""
    words = [sys.executable, "-m", "app", "run", format_target(server.target("big.bin")), "--runs", "3", *QUICK]
    taken: dict[int, float] = {}
    with subprocess.Popen(
        words, env=_environment(folder, server), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as client:
        while client.poll() is None:
            for process in psutil.Process(server.pid).children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    times = process.cpu_times()
                    taken[process.pid] = times.user + times.system
            time.sleep(0.02)
        assert client.stdout is not None
        document = json.loads(client.stdout.read())
    transfer_seconds: float = sum(run["seconds"] for run in document["runs"])
    return sum(taken.values()) / transfer_seconds


@contextmanager
def _half_processor(folder: Path) -> Iterator[Servers]:
    # Long beside the period of the quota.
    random_file(folder, 512 * MI)
    group = CPU_GROUPS / f"versus-{os.getpid()}"
    group.mkdir()
    try:
        with _on(folder, (None, None)) as servers:
            # Half of what it takes of a processor now: where others are busy that is less than a half of one, which
            # would then limit nothing.
            share = _processor_share(folder, servers.slower)
            (group / "cpu.cfs_quota_us").write_text(str(round(share / 2 * PERIOD_MICROSECONDS)))
            # smbd makes a process of each connection, which is in the group of the one that made it.
            (group / "cgroup.procs").write_text(str(servers.slower.pid))
            yield servers
            for process in (group / "cgroup.procs").read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    (CPU_GROUPS / "cgroup.procs").write_text(process)
    finally:
        group.rmdir()


PATHS: dict[str, Callable[[Path], contextlib.AbstractContextManager[Servers]]] = {
    "equal": _equal,
    "link": _slower_link,
    "processor": _half_processor,
}


def _environment(folder: Path, server: Smbd) -> dict[str, str]:
    notebook = str(folder / "notebook.db")
    return {**os.environ, "SHAREBENCH_DB": notebook, "SHAREBENCH_PASSWORD": server.password}


def _compared(folder: Path, base: Smbd, other: Smbd) -> dict[str, Any]:
    words = ["--runs", str(PAIRS), *QUICK]
    versus = ["--versus", format_target(other.target("big.bin"))]
    done = subprocess.run(
        [sys.executable, "-m", "app", "run", format_target(base.target("big.bin")), *words, *versus],
        env=_environment(folder, base),
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )
    if not done.stdout.startswith("{"):
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    comparison: dict[str, Any] = json.loads(done.stdout)
    return comparison


def _compare(name: str, number: int, figures: Figures) -> None:
    """Compare once; the slower server is the base every second time."""
    with tempfile.TemporaryDirectory(prefix="versus-", dir="/dev/shm") as memory:
        folder = Path(memory)
        folder.chmod(0o777)
        slower_is_base = number % 2 == 1
        with PATHS[name](folder) as servers:
            sides = [servers.usual, servers.slower]
            if slower_is_base:
                sides.reverse()
            comparison = _compared(folder, *sides)

    verdict = comparison["verdict"]
    interval = comparison["interval_percent"]
    figures.counts[f"{name} compared"] += 1
    if name == "equal":
        figures.counts["equal different"] += verdict in ("faster", "slower")
    else:
        figures.counts[f"{name} named"] += verdict == ("faster" if slower_is_base else "slower")
    if name == "link" and interval:
        truth = FASTER_PERCENT if slower_is_base else SLOWER_PERCENT
        figures.counts["link held"] += interval[0] <= truth <= interval[1]
    print(f"    {name} {number}: {verdict} ({comparison['change_percent']} %, {interval})", flush=True)


def campaign(seconds: float, share: Share | None = None) -> Figures:
    """All comparisons, one of each kind in turn, until ``seconds`` are over."""
    share = share or Share()
    clock = Clock(seconds)
    cases = [(name, number) for number in range(TIMES) for name in PATHS]
    for name, number in share.of_mine(cases):
        case = f"{name} {number}"
        if share.has(case) or clock.is_over():
            continue
        with share.carrying_out(case) as case_figures:
            _compare(name, number, case_figures)

    figures = share.figures
    compared = figures.counts["equal compared"]
    false = figures.counts["equal different"]
    figures.check(f"{compared} equal servers", holds=false <= MOST_FALSE, told=f"{false} called different")
    for name, least in LEAST_NAMED.items():
        compared = figures.counts[f"{name} compared"]
        named = figures.counts[f"{name} named"]
        figures.check(f"slower {name}", holds=compared - named <= TIMES - least, told=f"{named} of {compared} named")

    compared = figures.counts["link compared"]
    held = figures.counts["link held"]
    figures.check("true change", holds=compared - held <= TIMES - LEAST_HELD, told=f"in {held} of {compared} intervals")
    return figures
