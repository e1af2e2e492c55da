"""Two profiles of one server: equal ones, and causes that are made in between and must be blamed first.

Each case is one pair of diagnoses by ``sharebench diagnose --profile``, decided by ``sharebench compare``: of 40 equal
pairs 4 may blame anything, and each cause must be blamed first in nine of ten.
``python -m tests.reliability blame --part i/n --results FOLDER``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forms.comparison.call_effects import OWN
from storage.records import format_target
from tests.reliability.figures import Clock, Figures, Share
from tests.servers.late import LateOpeningSmbd
from tests.servers.smbd import Smbd
from tests.waiting import HANG_SECONDS

EQUAL, TIMES = 40, 10
MOST_BLAMED = 4
"""Of the 40 equal pairs."""
LEAST_FIRST = 9
"""Of 10 pairs with a cause."""
NAMES = 10_000


@dataclass(frozen=True, slots=True)
class Cause:
    """What is changed between two diagnoses, and which calls may be blamed first."""

    first: frozenset[str] = frozenset()
    server: type[Smbd] = Smbd
    of_all: Mapping[str, str] = field(default_factory=dict)
    of_share: Mapping[str, str] = field(default_factory=dict)
    names: int = 0


CAUSES = {
    "equal": Cause(),
    "full_audit": Cause(frozenset({OWN}), of_share={"vfs objects": "full_audit", "full_audit:success": "all"}),
    "log level 5": Cause(frozenset({OWN}), of_all={"log level": "5"}),
    "streams": Cause(
        frozenset({OWN, *(f"syscall_{name}" for name in ("stat", "openat", "mkdirat", "unlinkat"))}),
        of_share={"vfs objects": "streams_depot"},
    ),
    "10,000 names": Cause(frozenset({"syscall_readdir"}), names=NAMES),
    "sync always": Cause(
        frozenset({"syscall_asys_fsync", "syscall_fsync"}), of_share={"sync always": "yes", "strict sync": "yes"}
    ),
    "delay in open": Cause(frozenset({"syscall_openat"}), server=LateOpeningSmbd),
}


def _sharebench(folder: Path, *words: str) -> dict[str, Any]:
    environment = {**os.environ, "SHAREBENCH_DB": str(folder / "notebook.db"), "SHAREBENCH_PASSWORD": Smbd.password}
    done = subprocess.run(
        [sys.executable, "-m", "app", *words, "--json"],
        env=environment, capture_output=True, text=True, check=False, timeout=2 * HANG_SECONDS,
    )  # fmt: skip
    if not done.stdout.startswith("{"):
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def profiled(folder: Path, cause: Cause) -> str:
    """The id of a diagnosis of a server with that cause, with its profile."""
    smbd = cause.server(cause.of_all, cause.of_share)
    with ExitStack() as stack:
        stack.callback(smbd.stop)
        smbd.start()
        for number in range(cause.names):
            os.close(os.open(smbd.folder / f"name {number}", os.O_CREAT))
        asked = ("--yes", "--quick", "--only", "small-files", "--profile", "--smb-conf", str(smbd.conf))
        return str(_sharebench(folder, "diagnose", format_target(smbd.target()), *asked)["id"])


def pair(name: str) -> dict[str, Any]:
    """What ``compare`` blames where that cause was made between two diagnoses."""
    with tempfile.TemporaryDirectory(prefix="blame-") as place:
        folder = Path(place)
        both = [profiled(folder, cause) for cause in (CAUSES["equal"], CAUSES[name])]
        found: dict[str, Any] = _sharebench(folder, "compare", *both)["blame"]
        return found


def campaign(seconds: float, share: Share | None = None) -> Figures:
    """All pairs, each cause in turn with equal ones, until ``seconds`` are over."""
    share, clock = share or Share(), Clock(seconds)
    wanted = {name: TIMES if cause.first else EQUAL for name, cause in CAUSES.items()}
    cases = [(name, number) for number in range(EQUAL) for name in CAUSES if number < wanted[name]]
    for name, number in share.of_mine(cases):
        case = f"{name} {number}"
        if share.has(case) or (clock.is_over() and share.figures.counts):
            continue
        found, told = Figures(), pair(name)
        blamed = [one["name"] for one in told["calls"] if one["blamed_seconds"]]
        right = (
            (blamed[0] in CAUSES[name].first) if blamed and name != "equal" else bool(not blamed) == (name == "equal")
        )
        found.counts[f"{name}, {'right' if right else 'wrong'}"] += 1
        print(f"    {name}: {told['sentence']}", flush=True)
        share.note(case, found)
    figures = share.figures
    for name in CAUSES:
        named, wrong = (figures.counts[f"{name}, {how}"] for how in ("right", "wrong"))
        if named + wrong:
            most = MOST_BLAMED if name == "equal" else TIMES - LEAST_FIRST
            figures.check(name, holds=wrong <= most, told=f"{named} right of {named + wrong}")
    return figures
