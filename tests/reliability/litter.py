"""The litter campaign: what loads, isolations, diagnoses and surveys leave on shares of each type, killed or not.

Afterwards a share lists what it listed before. If not, after a kill, each thing that is left is named by the notebook
(``show``, or the next start) and removed by ``restore`` and ``clean``; a printer has been given documents of our names
alone, and by the scenario ``print`` alone.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from app.clients.base import Secrets
from app.load.scenario import NAMES
from app.recording.process import SeriesControl
from app.survey.choices import SurveyChoices
from app.survey.planning import plan_round
from app.survey.record import measure_round
from storage.notebook import Notebook
from storage.plan import CeilingPolicy, QuietTime
from storage.programs import PASSWORD_VARIABLE
from tests.command_line import ROOT, Sharebench
from tests.reliability.figures import Clock, Figures, Share
from tests.servers.process import program, unavailable
from tests.servers.smbd import UNIX_USER, Smbd
from tests.specs import spec_with
from tests.waiting import HANG_SECONDS, LIMIT_SECONDS

SHARES = ("files", "printer", "read only", "small disk")
"""The types; the last one is full long before its users are done."""
CASES = 50
SMALL_DISK = "6m"
LONGEST_SECONDS = 14.0
"""Within so long after its start a command is killed."""
_LOAD = ("--users", "2,4", "--ramp", "20", "--settle", "0", "--duration", "3", "--files", "60", "--sizes", "4K:3,64K:1")
_IDLE = ("--users", "3", "--settle", "0", "--duration", "3")
_PRINT = ("--users", "2", "--settle", "0", "--duration", "3", "--sizes", "4K", "--think", "0.1")


def _commands() -> dict[str, tuple[str, ...]]:
    loads = {
        f"load {name}": ("load", "{url}", "--scenario", name, *{"idle": _IDLE, "print": _PRINT}.get(name, _LOAD))
        for name in NAMES
    }
    return loads | {
        "isolate": ("isolate", "{url}", "--clients", "2", "--rounds", "1", "--seconds", "2", "--smb-conf", "{conf}"),
        "diagnose": ("diagnose", "{url}", "--yes"),
        "survey": (),
    }


COMMANDS = _commands()
ENDS = ("well", "main", "child", "all", "server")
"""What is killed: nothing, the command, what it started, both, or smbd's processes that serve it."""


@dataclass(frozen=True, slots=True)
class Case:
    number: int
    command: str
    share: str
    end: str
    seconds: float

    @property
    def name(self) -> str:
        return f"{self.number}: {self.command} on {self.share}, {self.end} after {self.seconds:.1f} s"


def cases(seed: int, count: int) -> list[Case]:
    """Each command on each type of share comes up, with a random end; every second one is of a share with files."""
    chance = random.Random(seed)
    pairs = [(command, share) for command in COMMANDS for share in SHARES]
    chance.shuffle(pairs)
    while len(pairs) < count:
        pairs.append((chance.choice(list(COMMANDS)), chance.choice(("files", "small disk"))))
    return [
        Case(number, command, share, chance.choice(ENDS), chance.uniform(0.5, LONGEST_SECONDS))
        for number, (command, share) in enumerate(pairs[:count])
    ]


def campaign(seconds: float, *, seed: int = 41, share: Share | None = None, chosen: Sequence[Case] = ()) -> Figures:
    """All cases, as far as there is time."""
    share, clock = share or Share(), Clock(seconds)
    with _servers() as server:
        for case in share.of_mine(list(chosen) or cases(seed, CASES)):
            if share.has(case.name):
                continue
            with (
                share.carrying_out(case.name) as figures,
                tempfile.TemporaryDirectory(prefix="sharebench-litter-") as folder,
            ):
                _Trial(case, server, Path(folder), figures).carry_out()
            if clock.is_over():
                break
    return share.figures


@contextmanager
def _servers() -> Iterator[Smbd]:
    server = Smbd()
    disk = server._make_folder("disk")
    read_only = server._make_folder("read-only")
    spool = server.root / "spool"
    spool.mkdir()
    spool.chmod(0o1777)
    printed = server.root / "printed"
    printed.touch()
    printed.chmod(0o666)
    mount = [program("mount"), "-t", "tmpfs", "-o", f"size={SMALL_DISK},mode=0777", "none", str(disk)]
    mounted = subprocess.run(mount, check=False, capture_output=True)
    if mounted.returncode:
        unavailable(f"mount: {mounted.stderr.decode(errors='replace').strip()}")
    try:
        server.more_shares = {
            "laser": {
                "path": str(spool), "printable": "yes", "print command": f"echo %J >>{printed}; rm %s",
                "lpq command": "true",
            },
            "frozen": {"path": str(read_only), "read only": "yes"},
            "small": {"path": str(disk), "read only": "no"},
        }  # fmt: skip
        server.start()
        for folder in (server.folder, read_only, disk):
            (folder / "theirs").mkdir()
            for path in (folder / "file", folder / "theirs" / "u1001-1"):
                path.write_bytes(os.urandom(500_000))
            for path in folder.rglob("*"):
                shutil.chown(path, UNIX_USER)
        yield server
    finally:
        server.stop()
        subprocess.run([program("umount"), "--lazy", str(disk)], check=True)


@dataclass(frozen=True, slots=True)
class _Trial:
    case: Case
    server: Smbd
    folder: Path
    figures: Figures

    @property
    def _share(self) -> str:
        names = {"files": self.server.share, "printer": "laser", "read only": "frozen", "small disk": "small"}
        return names[self.case.share]

    @property
    def _share_folder(self) -> Path:
        names = {"files": "bench", "printer": "spool", "read only": "read-only", "small disk": "disk"}
        return self.server.root / names[self.case.share]

    @property
    def _url(self) -> str:
        return f"smb://{self.server.user}@{self.server.host}:{self.server.port}/{self._share}"

    def carry_out(self) -> None:
        sharebench = Sharebench(self.folder / "n.db", self.server.password)
        printed = self.server.root / "printed"
        printed.write_text("")
        before = self._listing()
        process = self._start(sharebench)
        output = self._end(process)
        if self.case.end != "server" and "Traceback" in output:
            self._lose(f"a fault: {output[-300:]}")
        left = self._left(before)
        self.figures.counts["commands"] += 1
        self.figures.counts[f"ended: {self.case.end}"] += 1
        self.figures.counts["left something"] += bool(left)
        if left and self.case.end == "well":
            self._lose(f"left {sorted(left)}, and was not even killed: {output[-300:]}")
        if left:
            self._look_for(left, sharebench)
        if self._listing() != before:
            self._lose(f"has {sorted(self._listing())}, had {sorted(before)}")
        self._look_at_documents(printed.read_text().splitlines())

    def _lose(self, what: str) -> None:
        self.figures.losses.append(f"{self.case.name}: {what}")

    def _start(self, sharebench: Sharebench) -> subprocess.Popen[str]:
        if self.case.command != "survey":
            words = COMMANDS[self.case.command]
            return sharebench.start(*(word.format(url=self._url, conf=self.server.conf) for word in words))
        arguments = (str(sharebench.db), str(self.server.port), self._share, self.server.user)
        return subprocess.Popen(
            [sys.executable, "-m", __name__, *arguments],
            cwd=ROOT,
            env={**os.environ, PASSWORD_VARIABLE: self.server.password},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _end(self, process: subprocess.Popen[str]) -> str:
        """Everything that was started has ended; what the command said."""
        if self.case.end != "well":
            with suppress(subprocess.TimeoutExpired):
                process.wait(self.case.seconds)
        children: list[psutil.Process] = []
        with suppress(psutil.NoSuchProcess):
            children = psutil.Process(process.pid).children(recursive=True)
        if self.case.end in {"main", "all"}:
            process.kill()
        if self.case.end in {"child", "all"}:
            _kill(children)
        if self.case.end == "server":
            serving = psutil.Process(self.server.pid).children()
            _kill([one for one in serving if one.net_connections("tcp")])
        try:
            out, error = process.communicate(timeout=HANG_SECONDS)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)
            out, error = process.communicate()
            self._lose(f"still ran after {HANG_SECONDS:.0f} s")
        _, alive = psutil.wait_procs(children, timeout=LIMIT_SECONDS)
        if alive:
            self._lose(f"processes live on: {[one.name() for one in alive]}")
            _kill(alive)
        return f"{out}\n{error}"

    def _listing(self) -> dict[str, int]:
        """Every file with its size, every folder, and what isolations make beside a share's folder."""
        found = [*self._share_folder.rglob("*"), *self.server.root.glob(".sharebench-*")]
        return {os.path.relpath(path, self._share_folder): path.stat().st_size * path.is_file() for path in found}

    def _left(self, before: dict[str, int]) -> set[str]:
        until = time.monotonic() + (0.0 if self.case.share != "printer" else 10.0)
        while (left := self._listing().keys() - before.keys()) and time.monotonic() < until:
            time.sleep(0.2)  # a spooled document is printed soon
        return {name.partition("/")[0] if not name.startswith("../") else name for name in left}

    def _look_for(self, left: set[str], sharebench: Sharebench) -> None:
        """Each is named by its recording, and removed by ``restore`` and ``clean``."""
        listed = json.loads(sharebench("list", "--json").stdout or "[]")
        told = ""
        for recording in listed:
            shown = sharebench("show", str(recording["id"]))
            told += shown.stdout + shown.stderr
        restored = sharebench("restore")
        told += restored.stdout + restored.stderr
        for name in left:
            if name.removeprefix("../") not in told:
                self._lose(f"{name} is named nowhere: {told[-500:]}")
        cleaned = sharebench("clean", self._url, "--yes")
        if cleaned.returncode:
            self._lose(f"clean: {cleaned.stderr[-300:]}")
        self.figures.counts["leftovers named and removed"] += len(left)

    def _look_at_documents(self, documents: list[str]) -> None:
        self.figures.counts["documents printed"] += len(documents)
        if documents and self.case.command != "load print":
            self._lose(f"printed {documents[:3]}")
        for document in documents:
            if ".sharebench-" not in document:
                self._lose(f"printed {document}")


def _kill(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def _survey(book: str, port: str, share: str, user: str) -> None:
    spec = spec_with(runs=2, warmups=1, size_bytes=1_000_000, quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP)
    choices = SurveyChoices(
        hosts=("127.0.0.1",), smb=share, iperf3=False, ports={"smb": int(port)}, user=user, spec=spec
    )
    secrets = Secrets(password=os.environ[PASSWORD_VARIABLE])
    with Notebook(Path(book)) as notebook:
        planned = plan_round(choices, notebook, lambda target: (target, secrets))
    for _ in measure_round(planned, Path(book), SeriesControl()):
        continue


if __name__ == "__main__":
    _survey(*sys.argv[1:])
