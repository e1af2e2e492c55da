"""``who``: three users with 80, 15 and 5 % of the bytes must be ranked right, their shares told, at little cost.

Each case is one look of 10 s at an smbd of its own. A look holds if its order is right and each share is within 5
points of what the users counted themselves meanwhile; 19 of 20 must. The look takes less than 0.8 % of a processor of
the server on average. ``python -m tests.reliability who --part i/n --results FOLDER``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storage.records import Target, format_target
from tests.reliability.figures import Clock, Figures, Share
from tests.servers.paced_users import Pace, PacedUsers
from tests.servers.smbd import UNIX_USER, Smbd
from tests.waiting import HANG_SECONDS

TIMES = 20
LOOK_SECONDS = 10.0
MOST_WRONG_SHARE = 1 / 20
"""Of the looks."""
MOST_POINTS = 5.0
"""By which a share may differ from what the user counted."""
MOST_COST_PERCENT = 0.8
"""Of one processor of the server."""
SHARES = (0.80, 0.15, 0.05)
USERS = (UNIX_USER, "bin", "sys")


@dataclass(frozen=True, slots=True)
class Kind:
    """How the three users work: what they do in all, and which of them write."""

    name: str
    bytes_per_second: float
    writers: tuple[bool, bool, bool] = (False, False, False)
    options: Mapping[str, str] | None = None
    """Of smb.conf."""


KINDS = (
    Kind("reads", 4e6),
    Kind("writes", 1.5e6, (True, True, True)),
    Kind("reads beside a writer", 4e6, (False, True, False)),
    Kind("slow", 4e5),
    Kind("encrypted, profiled", 2e6, options={"server smb encrypt": "required", "smbd profiling level": "count"}),
)


def _paces(kind: Kind, number: int) -> list[Pace]:
    """The users in another order each time: neither their names nor when they came say who is busiest."""
    turned = number % len(USERS)
    users = USERS[turned:] + USERS[:turned]
    return [
        Pace(user=user, bytes_per_second=share * kind.bytes_per_second, is_writing=is_writing)
        for user, share, is_writing in zip(users, SHARES, kind.writers, strict=True)
    ]


def _looked(smbd: Smbd, folder: Path, seconds: float) -> dict[str, Any]:
    target = format_target(Target(protocol="smb", host=smbd.host, port=smbd.port))
    done = subprocess.run(
        [sys.executable, "-m", "app", "who", target, "--seconds", f"{seconds:g}", "--json"],
        env={**os.environ, "SHAREBENCH_DB": str(folder / "notebook.db")},
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def _look(kind: Kind, number: int, seconds: float, figures: Figures) -> None:
    paces = _paces(kind, number)
    with tempfile.TemporaryDirectory(prefix="who-") as folder:
        smbd = Smbd(kind.options)
        try:
            smbd.start()
            with PacedUsers(smbd, paces) as users:
                before = users.moved_bytes()
                document = _looked(smbd, Path(folder), seconds)
                after = users.moved_bytes()
        finally:
            smbd.stop()

    counted = {user: after[user] - before[user] for user in after}
    true_shares = {user: 100 * moved / sum(counted.values()) for user, moved in counted.items()}
    names = {session["process"]: session["users"][0] for session in document["sessions"]}
    told_shares = {names[share["process"]]: share["bytes_percent"] for share in document["shares"]}

    told_order = sorted(told_shares, key=told_shares.__getitem__, reverse=True)
    off_points = max(abs(told_shares.get(user, 0.0) - share) for user, share in true_shares.items())
    is_ranked = told_order == [pace.user for pace in paces]
    figures.counts["looks"] += 1
    figures.counts["ranked right"] += is_ranked
    figures.counts["right"] += is_ranked and off_points <= MOST_POINTS
    figures.counts["cost in ms"] += round(1000 * document["look_cpu_seconds"])
    figures.counts["looked in ms"] += round(1000 * document["seconds"])
    told = ", ".join(f"{share:.1f} %" for share in told_shares.values())
    print(f"    {kind.name} {number}: {told}; {off_points:.1f} points off", flush=True)


def campaign(seconds: float, share: Share | None = None, look_seconds: float = LOOK_SECONDS) -> Figures:
    """All looks, one of each kind in turn, until ``seconds`` are over."""
    share = share or Share()
    clock = Clock(seconds)
    for number in share.of_mine(range(TIMES)):
        kind = KINDS[number % len(KINDS)]
        case = f"{kind.name} {number}"
        if share.has(case) or (clock.is_over() and share.figures.counts["looks"]):
            continue
        with share.carrying_out(case) as case_figures:
            _look(kind, number, look_seconds, case_figures)

    figures = share.figures
    looks = figures.counts["looks"]
    right = figures.counts["right"]
    most_wrong = max(1.0, MOST_WRONG_SHARE * looks)
    figures.check("order and shares", holds=looks - right <= most_wrong, told=f"right in {right} of {looks} looks")

    cost_percent = 100 * figures.counts["cost in ms"] / figures.counts["looked in ms"]
    told = f"{cost_percent:.2f} % of a processor"
    figures.check("cost", holds=cost_percent < MOST_COST_PERCENT or look_seconds < LOOK_SECONDS, told=told)
    return figures
