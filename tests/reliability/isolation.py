"""Servers whose bottleneck is made: how often the verdict of an isolation names it.

Links shaped to 50, 100 and 200 Mbit/s, beside burners too, smbd in a control group with a fifth of a processor, a
share on a device of 60 writes a second, a client that gets a tenth of a processor, and a server with no bottleneck
made, of which neither disk nor network may be named. Control groups are of version 1, as this kernel mounts them; a
rig that cannot be made here fails the campaign. ``python -m tests.reliability.isolation link --times 10`` runs one rig.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from app.base.child_process import own_environment
from forms.isolation.verdict import BOTH_WAYS_SHARE, Cause
from tests.reliability.figures import Clock, Figures
from tests.reliability.hiccups import burners as burning
from tests.servers.late import SlowOpeningSmbd
from tests.servers.netns import Link
from tests.servers.process import die_with_parent, program
from tests.servers.smbd import UNIX_USER, Smbd
from tests.servers.sshd import Sshd
from tests.waiting import HANG_SECONDS

GROUPS = Path("/sys/fs/cgroup")
CLIENTS, SECONDS = 4, 3
WRITES_A_SECOND = 60
CLIENT_QUOTA_MICROSECONDS = 10_000
"""Of each tenth of a second."""
LEAST_RIGHT = 0.9
_SHOWN = ("server", "network", "disk", "link_share", "link_share_both_ways", "cpu_percent", "server_percent")


@dataclass(slots=True)
class Rig:
    """A server with one bottleneck, ready to be isolated."""

    smbd: Smbd
    words: list[str] = field(default_factory=list)
    """What the command line says beside the target."""
    group: Path | None = None
    """A control group for the program and all that it starts."""
    path: str = ""
    """What stands before PATH."""


@contextlib.contextmanager
def shaped_link(rate: str = "100mbit", burners: int = 0) -> Iterator[Rig]:
    """smbd and sshd behind a link of that rate, beside so many programs that never rest."""
    with ExitStack() as stack:
        stack.enter_context(burning(burners))
        link = Link(rate)
        stack.callback(link.close)
        smbd, sshd = Smbd(link=link), Sshd(link)
        for server in (smbd, sshd):
            stack.callback(server.stop)
            server.start()
        words = ["--server-ssh", "fileserver", "--expose-tbench", link.host]
        yield Rig(smbd, words, path=str(sshd.path))


@contextlib.contextmanager
def held_processor() -> Iterator[Rig]:
    """smbd in a control group with a fifth of a processor."""
    with ExitStack() as stack:
        group = stack.enter_context(_group("cpu"))
        (group / "cpu.cfs_quota_us").write_text("20000")
        smbd = Smbd()
        stack.callback(smbd.stop)
        smbd.start()
        (group / "cgroup.procs").write_text(str(smbd.pid))
        yield Rig(smbd)


@contextlib.contextmanager
def slow_disk(burners: int = 0) -> Iterator[Rig]:
    """A share on a device that writes each request through, of which there are 60 a second, for dbench as for smbd."""
    with ExitStack() as stack:
        stack.enter_context(burning(burners))
        group = stack.enter_context(_group("blkio"))
        smbd = Smbd()
        image = smbd.root / "disk.img"
        with image.open("wb") as file:
            file.truncate(400 * 2**20)
        subprocess.run([program("mke2fs"), "-q", "-t", "ext4", "-F", str(image)], check=True)
        subprocess.run([program("mount"), "-o", "loop,sync,dirsync", str(image), str(smbd.folder)], check=True)
        stack.callback(smbd.stop)
        stack.callback(subprocess.run, [program("umount"), "--lazy", str(smbd.folder)], check=True)
        device = smbd.folder.stat().st_dev
        limit = f"{os.major(device)}:{os.minor(device)} {WRITES_A_SECOND}"
        (group / "blkio.throttle.write_iops_device").write_text(limit)
        (smbd.folder / "lost+found").rmdir()
        smbd.folder.chmod(0o777)
        subprocess.run(["chown", UNIX_USER, str(smbd.folder)], check=True)
        smbd.start()
        (group / "cgroup.procs").write_text(str(smbd.pid))
        yield Rig(smbd, group=group)


@contextlib.contextmanager
def healthy(burners: int = 0) -> Iterator[Rig]:
    """smbd on this machine, with nothing in its way but its own work, and burners."""
    with ExitStack() as stack:
        stack.enter_context(burning(burners))
        smbd = Smbd()
        stack.callback(smbd.stop)
        smbd.start()
        yield Rig(smbd)


@contextlib.contextmanager
def slow_calls() -> Iterator[Rig]:
    """smbd each of whose opens takes 5 ms more, on a disk that is as fast as ever."""
    with ExitStack() as stack:
        smbd = SlowOpeningSmbd()
        stack.callback(smbd.stop)
        smbd.start()
        yield Rig(smbd)


@contextlib.contextmanager
def burnt_client() -> Iterator[Rig]:
    """This program and all that it starts with a tenth of a processor: the rest is burnt."""
    with ExitStack() as stack:
        group = stack.enter_context(_group("cpu"))
        (group / "cpu.cfs_quota_us").write_text(str(CLIENT_QUOTA_MICROSECONDS))
        smbd = Smbd()
        stack.callback(smbd.stop)
        smbd.start()
        yield Rig(smbd, group=group)


_NO_WRONG_NAME = frozenset(Cause) - {Cause.DISK, Cause.NETWORK}
RIGS: dict[str, tuple[Callable[[], contextlib.AbstractContextManager[Rig]], frozenset[Cause]]] = {
    "link": (shaped_link, frozenset({Cause.NETWORK})),
    "link50": (partial(shaped_link, "50mbit"), frozenset({Cause.NETWORK})),
    "link200": (partial(shaped_link, "200mbit"), frozenset({Cause.NETWORK})),
    "link50-busy": (partial(shaped_link, "50mbit", 2), frozenset({Cause.NETWORK})),
    "link200-busy": (partial(shaped_link, "200mbit", 2), frozenset({Cause.NETWORK})),
    "processor": (held_processor, frozenset({Cause.PROCESSOR})),
    "disk": (slow_disk, frozenset({Cause.DISK})),
    "disk-busy": (partial(slow_disk, 2), frozenset({Cause.DISK})),
    "calls": (slow_calls, _NO_WRONG_NAME),
    "healthy-busy": (partial(healthy, 2), _NO_WRONG_NAME),
    "client": (burnt_client, frozenset({Cause.CLIENT})),
    "healthy": (healthy, _NO_WRONG_NAME),
}
"""How each server is made, and what may be named there."""


@contextlib.contextmanager
def _group(controller: str) -> Iterator[Path]:
    """A control group that ends with the block; its processes go back to the one above."""
    group = GROUPS / controller / f"sharebench-isolation-{os.getpid()}"
    group.mkdir()
    try:
        yield group
    finally:
        for process in (group / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                (group.parent / "cgroup.procs").write_text(process)
        group.rmdir()


def isolated(rig: Rig) -> dict[str, object]:
    """The isolation's document, measured by the command line in a process of its own."""

    def enter() -> None:
        die_with_parent()
        if rig.group:
            (rig.group / "cgroup.procs").write_text(str(os.getpid()))

    smbd = rig.smbd
    with tempfile.TemporaryDirectory(prefix="sharebench-isolation-") as folder:
        words = [
            sys.executable, "-m", "app", "--db", f"{folder}/n.db", "isolate",
            f"smb://{smbd.user}@{smbd.host}:{smbd.port}/{smbd.share}", "--smb-conf", str(smbd.conf), "--json",
            "--clients", str(CLIENTS), "--rounds", "1", "--seconds", str(SECONDS), *rig.words,
        ]  # fmt: skip
        environment = own_environment() | {"SHAREBENCH_PASSWORD": smbd.password}
        environment["PATH"] = f"{rig.path}:{environment['PATH']}" if rig.path else environment["PATH"]
        done = subprocess.run(
            words, env=environment, capture_output=True, text=True, check=False, timeout=HANG_SECONDS,
            preexec_fn=enter,
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    document: dict[str, object] = json.loads(done.stdout)
    return document


def _never_filled(evidence: Mapping[str, Any]) -> bool:
    """Whether other programs kept the bytes on a link, in and out, below nine tenths of its rate."""
    share = evidence["link_share_both_ways"]
    return share is not None and share < BOTH_WAYS_SHARE


def repeated(names: Sequence[str], enough: Callable[[int], bool]) -> Figures:
    """The named rigs in turn, each time with a server of its own, until as many times are enough."""
    figures, times = Figures(), 0
    told: dict[str, list[str]] = {name: [] for name in names}
    while not enough(times):
        times += 1
        for name in names:
            make, right_ones = RIGS[name]
            began = time.monotonic()
            with make() as rig:
                verdict = isolated(rig)["verdict"]
            assert isinstance(verdict, dict)
            if verdict["cause"] == Cause.UNKNOWN and _never_filled(verdict["evidence"]):
                figures.counts[f"not full, and so not named: {name}"] += 1
            else:
                told[name].append(verdict["cause"])
            figures.took(time.monotonic() - began)
            told_of = verdict["evidence"]
            shown = ", ".join(f"{key} {told_of[key]:.3g}" for key in _SHOWN if told_of[key] is not None)
            print(f"  {name} {times}: {verdict['cause']} ({shown}; {time.monotonic() - began:.0f} s)", flush=True)
            if verdict["cause"] not in right_ones:
                print(f"    {verdict}", flush=True)
    for name in names:
        right = sum(cause in RIGS[name][1] for cause in told[name])
        figures.counts["isolations"] += len(told[name])
        figures.counts[f"right: {name}"] += right
        least = 1.0 if name.startswith("healthy") else LEAST_RIGHT
        if right < least * len(told[name]):
            figures.losses.append(f"{name}: {right} of {len(told[name])} named rightly: {told[name]}")
    return figures


def campaign(seconds: float) -> Figures:
    """All rigs for that long, and at least once."""
    clock = Clock(seconds)
    return repeated(list(RIGS), lambda times: times > 0 and clock.is_over())


def main() -> int:
    """Run some rigs so many times; 1 where one of them was not named often enough."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.isolation", description=__doc__)
    parser.add_argument("rigs", nargs="*", metavar="RIG", help=f"any of {', '.join(RIGS)}; all of them")
    parser.add_argument("--times", type=int, default=10, help="how often each (10)")
    asked = parser.parse_args()
    if unknown := set(asked.rigs) - set(RIGS):
        parser.error(f"no rig {', '.join(sorted(unknown))}; there are {', '.join(RIGS)}")
    figures = repeated(asked.rigs or list(RIGS), lambda times: times >= asked.times)
    print(figures.text())
    for loss in figures.losses:
        print(f"LOST: {loss}")
    return 1 if figures.losses else 0


if __name__ == "__main__":
    sys.exit(main())
