"""The changes campaign: kill -9 of try, sweep, tune and ssh, and the server is as it was, byte for byte."""

import hashlib
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from unittest.mock import patch

import psutil

from storage.changes import ChangeState
from storage.notebook import Notebook
from tests.command_line import Sharebench
from tests.reliability.figures import Clock, Figures, Share
from tests.servers.process import program
from tests.servers.smbd import Smbd
from tests.servers.sshd import Sshd
from tests.waiting import HANG_SECONDS, LIMIT_SECONDS

CUT = ("ssh", "sshd")
"""Kinds in which not the program is killed but its connection to the server, at this end or at the other."""
KINDS = ("try", "sweep", "tune", "load", "try through ssh", *CUT)
LONGEST_SECONDS = 12.0
"""Within so long after its start a command is killed."""
PARAMETERS = (
    ("server signing", None),
    ("strict sync", Smbd.share),
    ("socket options", None),
    ("aio read size", Smbd.share),
)


def campaign(
    seconds: float, kinds: tuple[str, ...] = KINDS, seed: int = 24, share: Share | None = None, most: int = 10**6
) -> Figures:
    """At least one kill of each kind, and then as many of these rounds as there is time for."""
    share, clock = share or Share(), Clock(seconds)
    with _servers(with_ssh=any("ssh" in kind for kind in kinds)) as (samba, sshd):
        before = _state(samba)
        for number in share.of_mine(range(most)):
            for kind in kinds:
                case = f"{seed} {number} {kind}"
                if share.has(case):
                    continue
                moment = random.Random(case).uniform(0.3, LONGEST_SECONDS)
                with (
                    share.carrying_out(case) as figures,
                    tempfile.TemporaryDirectory(prefix="sharebench-changes-") as folder,
                ):
                    _one(kind, moment, samba, sshd, Path(folder), before, figures)
            if clock.is_over():
                break
    return share.figures


@contextmanager
def _servers(*, with_ssh: bool) -> Iterator[tuple[Smbd, Sshd | None]]:
    sshd: Sshd | None = None
    with ExitStack() as stack:
        samba = Smbd()
        stack.callback(samba.stop)
        samba.start()
        samba.make_file("file", os.urandom(2_000_000))
        if with_ssh:
            sshd = Sshd()
            stack.callback(sshd.stop)
            sshd.start()
            stack.enter_context(patch.dict(os.environ, {"PATH": f"{sshd.path}:{os.environ['PATH']}"}))
        yield samba, sshd


def _state(samba: Smbd) -> dict[str, object]:
    """Every file beside smb.conf, and what is in effect."""
    found: dict[str, object] = {}
    for path in samba.root.iterdir():
        if path.is_file() and path.name != "output.txt":
            about = path.stat()
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            found[path.name] = (content, about.st_mode, about.st_uid, about.st_gid, about.st_mtime_ns)
    for name, share in PARAMETERS:
        words = ["-s", f"--parameter-name={name}", *([f"--section-name={share}"] if share else []), str(samba.conf)]
        done = subprocess.run([program("testparm"), *words], capture_output=True, text=True, check=False)
        found[name] = done.stdout.strip()
    return found


def _words(kind: str, samba: Smbd) -> list[str]:
    words = {"sweep": ["sweep", "SO_RCVBUF=64K,1M"], "tune": ["tune"]}.get(kind, ["try", "server signing=mandatory"])
    ssh = ["--server-ssh", "fileserver"] if "ssh" in kind else []
    load = ["--load", "2", "--files", "20", "--window", "1"] if kind == "load" else []
    url = f"smb://{samba.user}@{samba.host}:{samba.port}/{samba.share}/{'' if load else 'file'}"
    return [
        *words,
        url,
        *load,
        "--smb-conf",
        str(samba.conf),
        "--ceiling",
        "skip",
        "--yes",
        *ssh,
    ]


def _one(
    kind: str,
    moment: float,
    samba: Smbd,
    sshd: Sshd | None,
    folder: Path,
    before: dict[str, object],
    figures: Figures,
) -> None:
    sharebench = Sharebench(folder / "notebook.db", samba.password)
    process = sharebench.start(*_words(kind, samba))
    _wait(process, moment)
    if kind in CUT:
        cut = _cut(process, sshd if kind == "sshd" else None)
        figures.counts["ssh connections cut" if cut else "ended before"] += 1
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(HANG_SECONDS)
    else:
        figures.counts["ended before" if process.poll() is not None else "killed"] += 1
    with suppress(ProcessLookupError):
        process.kill()
    process.communicate()
    figures.counts["changed when it was cut off"] += _state(samba) != before
    done = sharebench("restore")
    for what, found in (("before", before), ("after", _state(samba))):
        (folder / what).write_text("\n".join(f"{name}: {value}" for name, value in sorted(found.items())))
    if (folder / "before").read_text() != (folder / "after").read_text():
        figures.losses.append(
            f"{kind} after {moment:.2f} s: {(folder / 'after').read_text()} is not {(folder / 'before').read_text()};"
            f" restore said {done.stdout} {done.stderr}"
        )
    figures.counts["as before"] += 1
    if (folder / "notebook.db").exists():
        with Notebook(folder / "notebook.db") as notebook:
            if notebook.journal(ChangeState.OPEN):
                figures.losses.append(f"{kind} after {moment:.2f} s: the journal is still open: {done.stderr}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()


def _wait(process: subprocess.Popen[str], seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def _cut(process: subprocess.Popen[str], sshd: Sshd | None) -> bool:
    """Kill the command's ssh, or what ``sshd`` serves it with, the next within some seconds; whether one was there."""
    until = time.monotonic() + LIMIT_SECONDS
    while process.poll() is None and time.monotonic() < until:
        with suppress(psutil.Error):
            for child in psutil.Process(sshd.pid if sshd else process.pid).children():
                if child.name() == ("sshd" if sshd else "ssh"):
                    child.kill()
                    return True
        time.sleep(0.002)
    return False
