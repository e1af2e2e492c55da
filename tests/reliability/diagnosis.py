"""Diagnoses of a healthy server, alone and beside burners: twenty may give at most one finding in all.

``python -m tests.reliability diagnosis --part i/n --results FOLDER``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from storage.records import format_target
from tests.reliability.figures import Clock, Figures, Share
from tests.reliability.hiccups import burners
from tests.servers.smbd import Smbd
from tests.waiting import HANG_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Healthy:
    """Diagnoses of an unchanged smbd, which has no fault."""

    times: int
    burners: int
    words: tuple[str, ...]
    group: str
    """Those of a group may give ``MOST_FINDINGS`` together."""


HEALTHY = {
    "alone": Healthy(times=20, burners=0, words=("--quick",), group="short, alone"),
    "beside burners": Healthy(times=20, burners=2, words=("--quick",), group="short, beside burners"),
    "full": Healthy(times=10, burners=0, words=(), group="full"),
    "full, beside one burner": Healthy(times=10, burners=1, words=(), group="full"),
}
MOST_FINDINGS = 1
"""In twenty diagnoses."""


def diagnosed(smbd: Smbd, folder: Path, *words: str, name: str = "", under: Sequence[str] = ()) -> dict[str, Any]:
    """The document of a diagnosis by ``sharebench diagnose --yes``, of a server by its name or address."""
    target = format_target(replace(smbd.target(), host=name or smbd.host))
    environment = {**os.environ, "SHAREBENCH_DB": str(folder / "notebook.db"), "SHAREBENCH_PASSWORD": smbd.password}
    done = subprocess.run(
        [*under, sys.executable, "-m", "app", "diagnose", target, "--yes", "--json", *words],
        env=environment, capture_output=True, text=True, check=False, timeout=2 * HANG_SECONDS,
    )  # fmt: skip
    if not done.stdout.startswith("{"):
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def complaints_of_healthy(name: str) -> list[str]:
    """What a diagnosis complains of an unchanged smbd, under a circumstance of ``HEALTHY``."""
    case = HEALTHY[name]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="diagnosis-")))
        smbd = Smbd()
        stack.callback(smbd.stop)
        smbd.start()
        stack.enter_context(burners(case.burners))
        document = diagnosed(smbd, folder, *case.words)
    return [finding["title"] for finding in document["findings"] if finding["severity"] in {"problem", "warning"}]


def campaign(seconds: float, share: Share | None = None) -> Figures:
    """All healthy diagnoses, each kind in turn, until ``seconds`` are over."""
    share, clock = share or Share(), Clock(seconds)
    most = max(case.times for case in HEALTHY.values())
    cases = [(name, number) for number in range(most) for name, case in HEALTHY.items() if number < case.times]
    for name, number in share.of_mine(cases):
        key = f"{name} {number}"
        if share.has(key) or (clock.is_over() and share.figures.counts):
            continue
        complaints = complaints_of_healthy(name)
        print(f"    {name}: {'; '.join(complaints) or 'no finding'}", flush=True)

        found = Figures()
        found.counts[f"{HEALTHY[name].group} diagnoses"] += 1
        found.counts[f"{HEALTHY[name].group} findings"] += len(complaints)
        share.note(key, found)
    figures = share.figures
    for group in dict.fromkeys(case.group for case in HEALTHY.values()):
        made, wrong = figures.counts[f"{group} diagnoses"], figures.counts[f"{group} findings"]
        if made:
            figures.check(f"{made} healthy, {group}", holds=wrong <= MOST_FINDINGS, told=f"{wrong} findings")
    return figures
