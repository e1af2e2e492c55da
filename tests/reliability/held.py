"""The held campaign: every kind measured by its command while the notebook is locked, or its disk full, for seconds."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from tests.command_line import QUICK, Sharebench
from tests.reliability.disks import small_disk
from tests.reliability.figures import Clock, Figures, Share
from tests.servers.smbd import Smbd

TIMES = 20
MOST_SECONDS, LONG_SECONDS = 20.0, 60.0
LONG_FULL_SECONDS = 25.0
"""A full disk is waited for half a minute at the end."""
LONG_CASE_SECONDS = 600.0
"""With so much time, each kind is held for a minute as well."""
AT_ONCE = 6
"""Most of a case is waiting for the notebook, a reload of smbd, or a second of users."""
LIMIT_SECONDS = 900.0
DISK_KIB = 6 * 1024
RUNS = 300
USERS = (1, 2, 3)
STAGES = ("connect", "small-files", "long-run")
HOLD = """
import sqlite3, sys, time
print("ready", flush=True)
sys.stdin.readline()
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
connection.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
time.sleep(float(sys.argv[2]))
connection.execute("ROLLBACK")
"""
"""Another program, such as a backup."""
_MADE = ("--make-file", "--size", "64K")
_ALONE = (*_MADE, *QUICK)
_FEWEST = ("--ceiling", "skip", "--noise", "100")
"""Decided at the first look."""


def _runs(document: dict[str, Any]) -> list[int]:
    return sorted(run["number"] for run in document["runs"] if run["phase"] == "measured" and run["status"] == "valid")


def _all_runs(document: dict[str, Any]) -> bool:
    return _runs(document) == list(range(1, RUNS + 1))


def _of_parts(count: int) -> Callable[[dict[str, Any]], bool]:
    return lambda document: len(document["parts"]) == count and all(map(_all_runs, document["parts"]))


def _pairs(document: dict[str, Any]) -> bool:
    """Whether every pair or block that began has all its runs."""
    found = [_runs(part) for part in document["series"] if isinstance(part, dict)]
    return len(found) > 1 and len(found[0]) >= 6 and all(each == found[0] for each in found)


def _layer_runs(document: dict[str, Any]) -> bool:
    found = document["isolation"]["runs"] if "isolation" in document else document["runs"]
    return all(run["status"] == "valid" for run in found) and len({run["round"] for run in found}) == 2


@dataclass(frozen=True)
class HeldKind:
    """How a kind is measured, when the trouble begins, and whether what came of it is whole."""

    words: tuple[str, ...]
    begun: str
    """A query with a row once its first run, point or pair is stored."""
    is_whole: Callable[[dict[str, Any]], bool]


_A_RUN = "SELECT 1 FROM runs WHERE phase = 'measured'"
KINDS = {
    "series": HeldKind(("run", "URL", *_ALONE, "--runs", str(RUNS)), _A_RUN, _all_runs),
    "load": HeldKind(
        ("load", "URL", "--users", ",".join(map(str, USERS)), "--duration", "1", "--settle", "0", "--files", "20",
         "--processes", "1"),
        "SELECT 1 FROM load_points", lambda document: [point["users"] for point in document["points"]] == list(USERS),
    ),
    "isolation": HeldKind(
        ("isolate", "URL", "--clients", "1", "--rounds", "2", "--seconds", "2", "--smb-conf", "CONF"),
        "SELECT 1 FROM layer_runs", _layer_runs,
    ),
    "trial": HeldKind(
        ("try", "server signing=mandatory", "URL", *_MADE, *_FEWEST, "--smb-conf", "CONF", "--yes"),
        _A_RUN, _pairs,
    ),
    "sweep": HeldKind(
        ("sweep", "smb2 max read=65536,131072", "URL", *_MADE, "--ceiling", "skip", "--blocks", "6",
         "--smb-conf", "CONF", "--yes"),
        _A_RUN, _pairs,
    ),
    "survey": HeldKind(
        ("survey", "127.0.0.1", "--smb", "bench", "--smb-port", "PORT", "--user", "bench", "--no-iperf3", "--size",
         "64K", "--runs", str(RUNS), *QUICK),
        _A_RUN, lambda document: all(map(_all_runs, document["parts"])) and len(document["parts"]) >= 2,
    ),
    "diagnosis": HeldKind(
        ("diagnose", "URL", "--yes", "--only", ",".join(STAGES)),
        "SELECT 1 FROM recordings WHERE kind = 'diagnosis' AND json_array_length(content, '$.stages')",
        lambda document: [(one["name"], one["status"]) for one in document["stages"]]
        == [(name, "complete") for name in STAGES],
    ),
    "selftest": HeldKind(("selftest", "URL", *_ALONE, "--runs", str(RUNS)), _A_RUN, _of_parts(2)),
}  # fmt: skip


@contextmanager
def _locked(book: Path, seconds: float) -> Iterator[Callable[[], None]]:
    words = [sys.executable, "-c", HOLD, str(book), str(seconds)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:

        def lock() -> None:
            assert other.stdin
            assert other.stdout
            other.stdin.write("now\n")
            other.stdin.flush()
            other.stdout.readline()

        assert other.stdout
        other.stdout.readline()
        yield lock


@contextmanager
def _full(book: Path, seconds: float) -> Iterator[Callable[[], None]]:
    filler = book.with_name("filler")

    def fill() -> None:
        try:
            with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
            time.sleep(seconds)
        finally:
            filler.unlink()

    yield fill


TROUBLES = {"locked": _locked, "full": _full}
"""Each is ready before the measurement starts and yields what begins it; a full disk is over when that returns."""


def _has_begun(book: Path, query: str) -> bool:
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(f"file:{book}?mode=ro", uri=True)) as db,
    ):
        return db.execute(query).fetchone() is not None
    return False


def _case(smbd: Smbd, folder: Path, name: str, trouble: str, seconds: float) -> Figures:
    """One measurement with the trouble in the middle of it; what it lost."""
    figures, kind, book = Figures(), KINDS[name], folder / "notebook.db"
    target = smbd.target()
    places = {"URL": f"smb://bench@127.0.0.1:{target.port}/bench", "CONF": str(smbd.conf), "PORT": str(target.port)}
    command = Sharebench(book, smbd.password)
    began, before = time.monotonic(), smbd.conf.read_bytes()
    words = [places.get(word, word) for word in kind.words]
    with TROUBLES[trouble](book, seconds) as begin, command.start(*words, forked=True) as process:
        while process.poll() is None and not _has_begun(book, kind.begun):
            time.sleep(0.01)
        held_at = time.monotonic()
        begin()
        try:
            _, said = process.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            said = "it never ended"
    figures.took(time.monotonic() - began)
    case = f"{name}, {trouble} for {seconds:.1f} s"
    if "waits in memory" not in said:
        figures.counts["without effect"] += 1
    elif trouble == "locked" and time.monotonic() - held_at < seconds - 0.5:
        figures.losses.append(f"{case}: it ended before the notebook was free")
    if process.returncode not in {0, 1, 3} or ("waits in memory" in said) != ("nothing was lost" in said):
        figures.losses.append(f"{case}: ended with {process.returncode}: {said[-300:]!r}")
    listed = Sharebench(book)("list", "--json")
    documents = json.loads(listed.stdout or "[]")
    figures.counts[f"{name}, {trouble}"] += 1
    if [one["status"] for one in documents] != ["complete"] or not kind.is_whole(documents[0]):
        figures.losses.append(f"{case}: {[one['status'] for one in documents]}, and not whole: {said[-300:]!r}")
    left = list(smbd.folder.glob(".sharebench-*"))
    if left or smbd.conf.read_bytes() != before:
        figures.losses.append(f"{case}: {left} or a change was left")
    return figures


Case = tuple[str, str, str, float]
"""Its key, the kind, the trouble, and how long that lasts."""
_NOTING = threading.Lock()


def campaign(
    seconds: float, *, share: Share | None = None, kinds: tuple[str, ...] = tuple(KINDS), seed: int = 24
) -> Figures:
    """Every kind under every trouble, for a random time; with enough time 20 each, and each once for a minute."""
    share, clock, chance = share or Share(), Clock(seconds), random.Random(seed)
    long = seconds >= LONG_CASE_SECONDS
    times = [(number, chance.uniform(1, MOST_SECONDS)) for number in range(1, TIMES + 1)]
    if not long:
        times = [(1, seconds)]
    cases = [(name, number, length) for number, length in times for name in kinds]
    if long:
        cases = [(name, 0, LONG_SECONDS) for name in kinds] + cases
    waiting: SimpleQueue[Case] = SimpleQueue()
    for name, number, length in share.of_mine(cases):
        for trouble in TROUBLES if not number or not long else [tuple(TROUBLES)[number % 2]]:
            held_seconds = min(length, LONG_FULL_SECONDS) if trouble == "full" else length
            waiting.put((f"{name} {trouble} {number}", name, trouble, held_seconds))
    at_once = AT_ONCE if long else 1
    with ThreadPoolExecutor(at_once) as pool:
        workers = [pool.submit(_work, waiting, share, lambda: long and clock.is_over()) for _ in range(at_once)]
    for worker in workers:
        worker.result()
    return share.figures


def _work(waiting: SimpleQueue[Case], share: Share, is_late: Callable[[], bool]) -> None:
    """Case after case, on a server of its own."""
    smbd = Smbd()
    try:
        smbd.start()
        while not is_late():
            key, name, trouble, length = waiting.get_nowait()
            if share.has(key):
                continue
            with small_disk(DISK_KIB) as disk:
                if disk is None and trouble == "full":
                    share.figures.counts["full disks not tried, since nobody may mount here"] = 1
                    continue
                folder = disk or Path(tempfile.mkdtemp(prefix="sharebench-held-"))
                found = _case(smbd, folder, name, trouble, length)
                with _NOTING:
                    share.note(key, found)
                if disk is None:
                    shutil.rmtree(folder)
    except Empty:
        pass
    finally:
        smbd.stop()
