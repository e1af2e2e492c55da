"""The kills campaign: kill -9 of isolate, load and diagnose at any moment; none runs on, and all is as it was.

After an isolation's end the next start restores what it changed (``restore`` here); what a load or a diagnosis leaves
on the share, ``clean`` lists and removes.
"""

import json
import os
import random
import signal
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from app.server.shell import ServerShell
from app.server.smbd import SmbdControl
from tests.command_line import Sharebench
from tests.reliability.figures import Clock, Figures, Share
from tests.servers.smbd import Smbd
from tests.waiting import LIMIT_SECONDS

WORDS = {
    "isolate": ("isolate", "{url}", "--clients", "2", "--rounds", "1", "--seconds", "2", "--smb-conf", "{conf}"),
    "load": (
        "load", "{url}", "--users", "3,6", "--ramp", "10", "--settle", "0", "--duration", "5", "--files", "40",
        "--sizes", "4K:1",
    ),
    "diagnose": ("diagnose", "{url}", "--yes"),
}  # fmt: skip
"""By kind, the command that is killed."""
KINDS = tuple(WORDS)
LONGEST_SECONDS = 20.0
"""Within so long after its start a command is killed."""
EVERYTHING_SHARE = 0.5
"""Of the kills, those that end with the command all that it had started."""


def campaign(
    seconds: float, kinds: tuple[str, ...] = KINDS, seed: int = 23, share: Share | None = None, most: int = 10**6
) -> Figures:
    """At least one kill of each kind, and then as many of these rounds as there is time for."""
    share, clock = share or Share(), Clock(seconds)
    samba = Smbd()
    samba.start()
    samba.make_file("file", os.urandom(2_000_000))
    try:
        for number in share.of_mine(range(most)):
            for kind in kinds:
                case = f"{seed} {number} {kind}"
                if share.has(case):
                    continue
                chance = random.Random(case)
                end = _End(chance.uniform(0.3, LONGEST_SECONDS), everything=chance.random() < EVERYTHING_SHARE)
                with (
                    share.carrying_out(case) as figures,
                    tempfile.TemporaryDirectory(prefix="sharebench-kills-") as folder,
                ):
                    _one(kind, end, chance.choice(("off", "count", "on")), samba, Path(folder), figures)
            if clock.is_over():
                break
        return share.figures
    finally:
        samba.stop()


@dataclass(frozen=True, slots=True)
class _End:
    """How a command is killed."""

    seconds: float
    """After its start."""
    everything: bool
    """With all that it had started."""


def _one(kind: str, end: _End, level: str, samba: Smbd, folder: Path, figures: Figures) -> None:
    def lose(what: str) -> None:
        figures.losses.append(f"{kind}, {end}, profiling {level}: {what}")

    control = SmbdControl(ServerShell(), str(samba.conf))
    control.set_level(level)
    before = _state(samba)
    sharebench = Sharebench(folder / "notebook.db", samba.password)
    url = f"smb://{samba.user}@{samba.host}:{samba.port}/{samba.share}"
    process = sharebench.start(*(word.format(url=url, conf=samba.conf) for word in WORDS[kind]))
    with suppress(subprocess.TimeoutExpired):
        process.wait(end.seconds)
    children = _killed(process, everything=end.everything)
    figures.counts["killed" if process.returncode == -signal.SIGKILL else "ended before"] += 1
    _, alive = psutil.wait_procs(children, timeout=LIMIT_SECONDS)
    if alive:
        lose(f"processes live on: {[one.name() for one in alive]}")
    figures.counts[f"changed at first: {kind}"] += (_state(samba), control.level()) != (before, level)
    if kind == "isolate":
        said, left = sharebench("restore"), sharebench("restore", "--list")
        if said.returncode or "not put back" in left.stdout + left.stderr:
            lose(f"restore said {said.stdout} {said.stderr} and lists {left.stdout} {left.stderr}")
    else:
        left_there = {name.partition("/")[0] for name in _state(samba).keys() - before.keys()}
        said = sharebench("clean", url, "--yes", "--json")
        listed = {item["path"].strip("/") for item in json.loads(said.stdout or "[]")}
        if said.returncode or not left_there <= listed:
            lose(f"clean lists {listed}, there were {left_there}: {said.stderr}")
    if _state(samba) != before:
        lose(f"the share has {sorted(_state(samba))}, had {sorted(before)}")
    if control.level() != level:
        lose(f"smbd's profiling is {control.level()}")
    figures.counts[f"as before: {kind}"] += 1


def _killed(process: subprocess.Popen[str], *, everything: bool) -> list[psutil.Process]:
    """End it by SIGKILL, unless it has ended; what it had started, all the way down."""
    found: list[psutil.Process] = []
    with suppress(psutil.NoSuchProcess, ProcessLookupError):
        if process.poll() is None:
            os.kill(process.pid, signal.SIGSTOP)  # so that it starts nothing between the look and the end
            found = psutil.Process(process.pid).children(recursive=True)
            process.kill()
    for each in found if everything else ():
        with suppress(psutil.NoSuchProcess):
            each.kill()
    process.wait()
    for pipe in filter(None, (process.stdout, process.stderr)):
        pipe.close()
    return found


def _state(samba: Smbd) -> dict[str, int]:
    """Every file of the share with its size, and every folder; ours beside it, too."""
    found = [*samba.folder.rglob("*"), *samba.root.glob(".sharebench-*")]
    return {os.path.relpath(path, samba.folder): path.stat().st_size if path.is_file() else 0 for path in found}
