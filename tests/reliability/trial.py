"""What trials say on links and under loads that are made: the buffer's curve, a load's yardstick, and nothing changed.

A sweep of SO_SNDBUF over a link of 100 Mbit/s with 5 ms on the way must show its plateau and name the smallest value on
it; `log level = 10` must be slower under many small requests; and 20 trials of the value that is there are to end in
"no difference". Each is the command itself, against an smbd of ours. It needs a quiet machine and about 11 minutes:
``python -m tests.reliability trial --seconds 660``.

``python -m tests.reliability trial nothing --times 60 --results FILE`` makes trials that change nothing, of every kind
of change one after the other; each result is written as it comes, and what the file has is not done again. With
``--part 1/2`` only those of smb.conf and the registry are made, with ``--part 2/2`` the others.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from forms.stats.decision import Verdict
from tests.command_line import Sharebench
from tests.reliability.figures import Clock, Figures, Share
from tests.servers.distance import FarLink
from tests.servers.netns import Link
from tests.servers.process import program
from tests.servers.smbd import Smbd
from tests.servers.smbd_registry import RegistrySmbd
from tests.servers.sshd import Sshd
from tests.servers.systemd import Systemd

ROUND_TRIP_SECONDS = 0.005
SHAPE = ("root", "tbf", "rate", "100mbit", "burst", "64kb", "latency", "100ms")
BUFFERS = ("4K", "16K", "64K", "128K", "512K", "4M")
"""The link holds 62,500 bytes: a quarter of that cannot fill it, eight times that does."""
FILE_BYTES = 2 << 20
TRIALS = 20
MOST_WRONG = 1
"""Of 20 trials of equal values: 5 %."""
NOTHING_BYTES = 8 << 20
"""Two thirds of a second of the link of 100 Mbit/s, so that the link sets the pace, whatever else this machine does."""
NOTHING = {
    "smb.conf, share": ("aio read size=1",),
    "sysctl": ("net.ipv4.icmp_echo_ignore_broadcasts=1", "--accept-risk", "net.ipv4.icmp_echo_ignore_broadcasts"),
    "smb.conf, global": ("getwd cache=yes",),
    "network card": ("mtu@link0=1500", "--accept-risk", "mtu"),
    "registry": ("aio read size=1",),
    "hook": ("nothing", "--apply", "true", "--revert", "true"),
}
"""By the kind of change, what is in effect anyway or touches nothing; every second keeps its script in one place."""
MOST_DIFFERENT_PERCENT = 10
"""Of trials that change nothing: 6 of 60."""
REST = ("--ceiling", "skip", "--yes", "--json")


def campaign(seconds: float, trials: int = TRIALS) -> Figures:
    """The sweep and the load once, and so many trials of nothing changed as there is time for, at most 20."""
    figures, clock = Figures(), Clock(seconds)
    with tempfile.TemporaryDirectory(prefix="sharebench-trials-") as folder:
        _load(Path(folder), figures)
        with _served(Link("100mbit")) as samba:
            _nothing_changed(samba, Path(folder), figures, clock, trials)
        link = FarLink(ROUND_TRIP_SECONDS)
        with _served(link) as samba:
            words = ("tc", "qdisc", "add", "dev", "link0", *SHAPE)
            subprocess.run([*link.prefix, program(words[0]), *words[1:]], check=True, capture_output=True)
            _sweep(samba, Path(folder), figures)
    return figures


@contextmanager
def _served(link: Link | FarLink, *, size: int = FILE_BYTES, kind: str = "") -> Iterator[Smbd]:
    """A share with a file at the end of the link; ``ssh fileserver`` leads to what that kind of change needs."""
    with ExitStack() as stack:
        stack.callback(link.close)
        samba = RegistrySmbd(link) if kind == "registry" and isinstance(link, Link) else Smbd(link=link)
        sshd = Sshd(link)
        for server in (samba, sshd):
            stack.callback(server.stop)
            server.start()
        samba.make_file("file", bytes(size))
        (samba.root / "client").mkdir()
        (samba.root / "client" / "ssh").symlink_to(sshd.path / "ssh")
        if isinstance(samba, RegistrySmbd):
            samba.shell_in(sshd.path)
        elif kind == "network card":
            systemd = Systemd()
            stack.callback(systemd.stop)
            systemd.start()
            systemd.inside.remove("--net")  # that of the link stays, with its card
            systemd.shell_in(sshd.path)
        stack.enter_context(patch.dict(os.environ, {"PATH": f"{samba.root / 'client'}:{os.environ['PATH']}"}))
        yield samba


def _said(samba: Smbd, folder: Path, *words: str) -> dict[str, Any]:
    """The document of a command that changes that server."""
    sharebench = Sharebench(folder / "notebook.db", samba.password)
    there = ("--server-ssh", "fileserver") if samba.link else ()
    process = sharebench.start(*words, "--smb-conf", str(samba.conf), *there, *REST)
    said, told = process.communicate()
    if not said:
        raise RuntimeError(told)
    found: dict[str, Any] = json.loads(said)
    return found


def _url(samba: Smbd, path: str) -> str:
    return f"smb://{samba.user}@{samba.host}:{samba.port}/{samba.share}/{path}"


def _load(folder: Path, figures: Figures) -> None:
    """Many opens, reads and closes of small files: each of them writes to the log."""
    began = time.monotonic()
    samba = Smbd({"max log size": "1000"})
    try:
        samba.start()
        words = ("--load", "4", "--files", "200", "--window", "3", "--accept-risk", "log level")
        found = _said(samba, folder, "try", "log level=10", _url(samba, ""), *words)
    finally:
        samba.stop()
    figures.took(time.monotonic() - began)
    change = found["effect"]["change_percent"]
    figures.counts[f"load with log level 10: {found['verdict']}, {change:+.0f} %"] += 1
    if found["verdict"] != Verdict.SLOWER:
        figures.losses.append(f"log level 10 under a load is {found['verdict']}: {found['effect']}")


def _nothing_changed(samba: Smbd, folder: Path, figures: Figures, clock: Clock, trials: int) -> None:
    wrong = 0
    for _ in range(trials):
        if clock.is_over():
            break
        began = time.monotonic()
        found = _said(samba, folder, "try", "aio read size=1", _url(samba, "file"))
        figures.took(time.monotonic() - began)
        figures.counts[f"nothing changed: {found['verdict']}"] += 1
        if found["verdict"] != Verdict.SAME:
            wrong += found["verdict"] != Verdict.UNKNOWN
            figures.counts[f"(with {found['effect']['change_percent']:+.1f} %, {found['doubt']})"] += 1
    if wrong > MOST_WRONG:
        figures.losses.append(f"{wrong} trials of equal values were called faster or slower")


def main(words: Sequence[str]) -> int:
    """Trials that change nothing; 1 where too many of them say different."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability trial nothing")
    parser.add_argument("--times", type=int, default=60, help="how many trials")
    parser.add_argument("--results", type=Path, metavar="FILE", help="where each is written, and not done again")
    parser.add_argument("--part", default="1/1", help="1/2 and 2/2 may run at the same time, with files of their own")
    asked = parser.parse_args(words)
    part, _, of = asked.part.partition("/")
    share = Share(int(part), int(of), asked.results)
    kinds = list(NOTHING)
    with tempfile.TemporaryDirectory(prefix="sharebench-trials-") as folder:
        for number in share.of_mine(range(asked.times)):
            kind = kinds[number % len(kinds)]
            if not share.has(f"{number + 1}"):
                with _served(Link("100mbit"), size=NOTHING_BYTES, kind=kind) as samba:
                    found = _one_of_nothing(samba, Path(folder), kind)
                if found.losses:  # made again when the campaign is resumed
                    share.figures.add(found)
                else:
                    share.note(f"{number + 1}", found)
                print(f"{number + 1} {'; '.join(found.losses) or found.text()}", flush=True)
    figures = share.figures
    wrong = figures.counts["different"]
    print(f"{figures.text()}; at most {MOST_DIFFERENT_PERCENT} % may say different")
    return 1 if figures.losses or 100 * wrong > MOST_DIFFERENT_PERCENT * figures.counts["trials"] else 0


def _one_of_nothing(samba: Smbd, folder: Path, kind: str) -> Figures:
    figures, began = Figures(), time.monotonic()
    try:
        found = _said(samba, folder, "try", NOTHING[kind][0], _url(samba, "file"), *NOTHING[kind][1:])
    except RuntimeError as error:
        figures.losses.append(f"{kind}: {error}")
        return figures
    figures.took(time.monotonic() - began)
    figures.counts["trials"] += 1
    figures.counts[f"{kind}: {found['verdict']}" + (f" ({found['doubt']})" if found["doubt"] else "")] += 1
    if found["verdict"] in {Verdict.FASTER, Verdict.SLOWER}:
        figures.counts["different"] += 1
        figures.counts[f"(with {found['effect']['change_percent']:+.1f} %)"] += 1
    return figures


def _sweep(samba: Smbd, folder: Path, figures: Figures) -> None:
    began = time.monotonic()
    found = _said(samba, folder, "sweep", f"SO_SNDBUF={','.join(BUFFERS)}", _url(samba, "file"))
    figures.took(time.monotonic() - began)
    rates = {}
    for size, value in zip((None, *BUFFERS), found["values"], strict=True):
        series = next(one for one in found["series"] if one["id"] == value["series"])
        rates[size] = series["average"]["bytes_per_second"]
        figures.counts[f"{size or 'as it was'}: {rates[size] / 1e6:.2f} MB/s{'*' if value['on_plateau'] else ''}"] += 1
    level = [size for size, value in zip(BUFFERS, found["values"][1:], strict=True) if value["on_plateau"]]
    smallest = next((size for size in BUFFERS if size in level), None)
    named = (found["smallest_on_plateau"] or "").rpartition("=")[2]
    figures.counts[f"named: {named}"] += 1
    if not found["settled"]:
        figures.losses.append("the sweep scattered too much for an answer")
    if {"4K", "16K"} & set(level) or not {"512K", "4M"} <= set(level):
        figures.losses.append(f"no curve with a plateau: {rates}, level {level}")
    if smallest is None or named != str(int(smallest[:-1]) << (10 if smallest.endswith("K") else 20)):
        figures.losses.append(f"{named} is named, and {smallest} is the smallest on the plateau")
