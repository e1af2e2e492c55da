"""``run --versus`` of two servers: equal ones, one behind a slower link, one with half a processor.

Each case is one comparison of eight pairs of runs. Equal servers may be called different in 3 of 20; the slower link
must be named in 16 of 20, and the interval hold the truth in 17; half a processor must be named in 18.
``python -m tests.reliability versus --part i/n --results FOLDER``.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storage.records import format_target
from tests.reliability.figures import Clock, Figures, Share
from tests.servers.netns import Link
from tests.servers.smbd import Smbd
from tests.truth.record import MI, random_file

PAIRS = 8
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
HALF_MICROSECONDS = 50_000
"""Of each tenth of a second."""


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


@contextmanager
def _half_processor(folder: Path) -> Iterator[Servers]:
    # Long beside the tenth of a second that the quota is counted by.
    random_file(folder, 1024 * MI)
    group = CPU_GROUPS / f"versus-{os.getpid()}"
    group.mkdir()
    try:
        (group / "cpu.cfs_quota_us").write_text(str(HALF_MICROSECONDS))
        with _on(folder, (None, None)) as servers:
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


def _compared(folder: Path, base: Smbd, other: Smbd) -> dict[str, Any]:
    environment = {
        **os.environ,
        "SHAREBENCH_DB": str(folder / "notebook.db"),
        "SHAREBENCH_PASSWORD": base.password or "",
    }
    words = ["--runs", str(PAIRS), "--warmup", "1", "--ceiling", "skip", "--quiet-time", "skip", "--json"]
    versus = ["--versus", format_target(other.target("big.bin"))]
    done = subprocess.run(
        [sys.executable, "-m", "app", "run", format_target(base.target("big.bin")), *words, *versus],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
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
