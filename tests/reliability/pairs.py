"""Two real series of five runs: equal ones on a link and beside a burner, a link slowed by a fifth, and signing.

Each case is one pair, measured by ``sharebench run`` and decided by ``sharebench compare``: equal pairs may be called
different twice in sixty, and each change must be named in nine of ten.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from storage.records import format_target
from tests.reliability.figures import Clock, Figures, Share
from tests.servers.netns import Link
from tests.servers.smbd import Smbd
from tests.truth.record import MI, PathKind, busy, over_smb, random_file, smb, smb_order
from tests.waiting import HANG_SECONDS

RUNS = 5
PAIRS = {"link": 30, "busy": 30, "slower": 10, "signing": 10}
"""How many pairs of each; the first two are equal."""
MOST_FALSE = 2
"""Of the 60 equal pairs."""
LEAST_NAMED = 9
"""Of 10 pairs with a change."""

Change = Callable[[], None]


@contextmanager
def _equal(kind: PathKind, folder: Path) -> Iterator[tuple[str, str, Change]]:
    with kind.open(folder) as order:
        yield order.target, order.password or "", lambda: None


@contextmanager
def _slower(folder: Path) -> Iterator[tuple[str, str, Change]]:
    with contextlib.closing(Link("1gbit")) as link, smb(folder, 64 * MI, link=link) as server:
        order = smb_order(server, 64 * MI)
        yield order.target, order.password or "", lambda: link.change_rate("800mbit")


@contextmanager
def _signing(folder: Path) -> Iterator[tuple[str, str, Change]]:
    """On a link that is faster than what signing leaves, so that the runs themselves hardly vary."""
    only_cmac = {"server smb3 signing algorithms": "aes-128-cmac"}  # as Samba before 4.15 signs
    random_file(folder, 512 * MI)
    with ExitStack() as stack:
        link = stack.enter_context(contextlib.closing(Link("8gbit")))
        server = Smbd(global_options=only_cmac, share_options={"path": str(folder)}, link=link)
        server.start()
        stack.callback(server.stop)
        yield (
            format_target(server.target("big.bin")),
            server.password or "",
            lambda: server.rewrite_conf({"server signing": "mandatory"}),
        )


PATHS: dict[str, Callable[[Path], contextlib.AbstractContextManager[tuple[str, str, Change]]]] = {
    "link": lambda folder: _equal(over_smb(64 * MI, rate="1gbit"), folder),
    "busy": lambda folder: _equal(busy(over_smb(512 * MI)), folder),
    "slower": _slower,
    "signing": _signing,
}


def _sharebench(folder: Path, password: str, *words: str) -> dict[str, object]:
    environment = {**os.environ, "SHAREBENCH_DB": str(folder / "notebook.db"), "SHAREBENCH_PASSWORD": password}
    done = subprocess.run(
        [sys.executable, "-m", "app", *words, "--json"],
        env=environment, capture_output=True, text=True, check=False, timeout=HANG_SECONDS,
    )  # fmt: skip
    if not done.stdout.startswith("{"):
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    return {"exit": done.returncode, **json.loads(done.stdout)}


def _pair(name: str, figures: Figures) -> str:
    """Measure one pair, and return what ``compare`` says of it."""
    with tempfile.TemporaryDirectory(prefix="pairs-", dir="/dev/shm") as memory:
        folder = Path(memory)
        folder.chmod(0o777)
        with PATHS[name](folder) as (target, password, change):
            asked = ("--runs", str(RUNS), "--warmup", "1", "--ceiling", "skip", "--quiet-time", "skip")
            first = _sharebench(folder, password, "run", target, *asked)
            change()
            second = _sharebench(folder, password, "run", target, *asked)
            told = _sharebench(folder, password, "compare", str(first["id"]), str(second["id"]))
    verdict = str(told["verdict"])
    figures.counts[f"{name} {verdict}"] += 1
    print(f"    {name}: {verdict} ({told.get('change_percent')} %)", flush=True)
    return verdict


def campaign(seconds: float, share: Share | None = None) -> Figures:
    """All pairs, equal ones first in turn with the others, until ``seconds`` are over."""
    share, clock = share or Share(), Clock(seconds)
    cases = [(name, number) for number in range(max(PAIRS.values())) for name in PAIRS if number < PAIRS[name]]
    for name, number in share.of_mine(cases):
        case = f"{name} {number}"
        if share.has(case) or clock.is_over():
            continue
        found = Figures()
        _pair(name, found)
        share.note(case, found)
    figures = share.figures
    different = sum(figures.counts[f"{name} {way}"] for name in ("link", "busy") for way in ("faster", "slower"))
    equal = sum(count for case, count in figures.counts.items() if case.split()[0] in {"link", "busy"})
    figures.check(f"{equal} equal pairs", holds=different <= MOST_FALSE, told=f"{different} called different")
    for name in ("slower", "signing"):
        tried = sum(count for case, count in figures.counts.items() if case.split()[0] == name)
        named, missed = figures.counts[f"{name} slower"], tried - figures.counts[f"{name} slower"]
        figures.check(name, holds=missed <= PAIRS[name] - LEAST_NAMED, told=f"{named} of {tried} named")
    return figures
