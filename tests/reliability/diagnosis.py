"""Short diagnoses of a healthy server, alone and beside burners: twenty may give at most one finding in all.

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
from dataclasses import replace
from pathlib import Path
from typing import Any

from storage.records import format_target
from tests.reliability.figures import Clock, Figures, Share
from tests.servers.process import die_with_parent
from tests.servers.smbd import Smbd

HEALTHY = {"alone": 20, "beside burners": 20}
"""How many short diagnoses of each."""
MOST_FINDINGS = 1
"""In twenty diagnoses."""
BURNERS = 2


def diagnosed(smbd: Smbd, folder: Path, *words: str, name: str = "", under: Sequence[str] = ()) -> dict[str, Any]:
    """The document of a diagnosis by ``sharebench diagnose --yes``, of a server by its name or address."""
    target = format_target(replace(smbd.target(), host=name or smbd.host))
    environment = {**os.environ, "SHAREBENCH_DB": str(folder / "notebook.db"), "SHAREBENCH_PASSWORD": smbd.password}
    done = subprocess.run(
        [*under, sys.executable, "-m", "app", "diagnose", target, "--yes", "--json", *words],
        env=environment, capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    if not done.stdout.startswith("{"):
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _healthy(case: str, burners: int, figures: Figures) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="diagnosis-")))
        smbd = Smbd()
        stack.callback(smbd.stop)
        smbd.start()
        for _ in range(burners):
            burner = subprocess.Popen(
                [sys.executable, "-c", "while True: pass"],
                preexec_fn=die_with_parent,  # noqa: PLW1509  # no threads matter before exec
            )
            stack.callback(burner.wait)
            stack.callback(burner.kill)
        document = diagnosed(smbd, folder, "--quick")
    wrong = [one["title"] for one in document["findings"] if one["severity"] in {"problem", "warning"}]
    figures.counts[f"{case} diagnoses"] += 1
    figures.counts[f"{case} findings"] += len(wrong)
    print(f"    {case}: {'; '.join(wrong) or 'no finding'}", flush=True)


def campaign(seconds: float, share: Share | None = None) -> Figures:
    """All healthy diagnoses, alone in turn with beside burners, until ``seconds`` are over."""
    share, clock = share or Share(), Clock(seconds)
    cases = [(name, number) for number in range(max(HEALTHY.values())) for name in HEALTHY if number < HEALTHY[name]]
    for name, number in share.of_mine(cases):
        case = f"{name} {number}"
        if share.has(case) or (clock.is_over() and share.figures.counts):
            continue
        found = Figures()
        _healthy(name, BURNERS if name == "beside burners" else 0, found)
        share.note(case, found)
    figures = share.figures
    for name in HEALTHY:
        made, wrong = figures.counts[f"{name} diagnoses"], figures.counts[f"{name} findings"]
        if made:
            figures.check(f"{made} healthy, {name}", holds=wrong <= MOST_FINDINGS, told=f"{wrong} findings")
    return figures
