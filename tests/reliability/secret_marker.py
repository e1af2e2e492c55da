"""The secrets campaign: a marker password is used everywhere, and is found nowhere."""

from __future__ import annotations

import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil

from app.base.child_process import own_command, own_environment
from app.practice.servers import PracticeServers
from storage.programs import PASSWORD_VARIABLE
from storage.records import format_target
from tests.reliability.figures import Clock, Figures
from tests.waiting import LIMIT_SECONDS

HALF_TYPED = (
    "smb:/u:{}@h/s", "smb://u:{}/x@h/s", "smb:u:{}@h", "u:{}@h/s", "smb//u:{}@h/s", "\\\\u:{}@h\\s", "smb://u:{}",
    "https://u:{}@h/s", "smb://u:a/{}@x/y@h", "sbm://u:{}@h/s", "smb://[::1]:{}", "smb://:{}@h", "file://u:{}@h/s",
    "iperf3://h:1/u:{}@k", "ftp:/u:{}@",
)  # fmt: skip
ABORTS = 10
QUICK = ("--runs", "2", "--warmup", "0", "--quiet-time", "skip", "--ceiling", "skip", "--timeout", "10")


class _Watch:
    """Looks at the command lines and environments of a process and its children, over and over."""

    def __init__(self, process: subprocess.Popen[bytes], command: list[str], marker: str) -> None:
        self.found: set[str] = set()
        self._process, self._command, self._marker = process, command, marker
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        while not self._over.wait(0.01):
            for process_id in _tree(self._process.pid):
                with suppress(OSError):
                    self._look_at(Path(f"/proc/{process_id}"))

    def _look_at(self, process: Path) -> None:
        command = (process / "cmdline").read_bytes()
        words = command.decode(errors="surrogateescape").split("\0")[:-1]
        if self._marker.encode() in command:
            self.found.add(f"arguments of {words[:4]}")
        # Its own may have it, and between fork and exec a child still is what its parent was. One without words begins
        # or ends just now: the next look knows it.
        if words and words != self._command and self._marker.encode() in (process / "environ").read_bytes():
            self.found.add(f"environment of {words[:4]}")

    def end(self) -> set[str]:
        """Stop looking; where it was."""
        self._over.set()
        self._thread.join()
        return self.found


def _tree(process_id: int) -> Iterator[int]:
    """The process and all that it started, by what the kernel lists: a look at every process would cost a processor."""
    yield process_id
    for task in Path(f"/proc/{process_id}/task").glob("*/children"):
        with suppress(OSError):
            for child in task.read_text().split():
                yield from _tree(int(child))


def _commands(servers: PracticeServers, folder: Path) -> Iterator[tuple[str, ...]]:
    for target, place in ((servers.ftp, replace(servers.ftp, path="/")), (servers.smb, replace(servers.smb, path=""))):
        url, where = format_target(target), format_target(place)
        yield ("check", url)
        yield ("run", url, *QUICK, "--json")
        yield ("run", url, *QUICK, "--debug", "--client", "curl" if target.protocol == "ftp" else "smbclient")
        yield ("run", "--put", "--size", "1M", where, *QUICK)
        yield ("run", "--make-file", "--size", "1M", where, *QUICK, "--verify", "--debug")
        yield ("run", f"{url}-none", *QUICK, "--debug")
        yield ("clean", where)
    yield ("list", "--json")
    yield ("export", "last", "-o", str(folder / "form.json"))
    yield ("export", "last", "-o", str(folder / "form.pdf"))
    yield ("export", "last", "-o", str(folder / "form.xlsx"))


def _run(words: tuple[str, ...], way: str, folder: Path, marker: str, figures: Figures) -> None:
    """One command, the password from the environment or from a file; it is in nothing that comes of it."""
    environment, command = own_environment(), own_command("app", *words, "--db", str(folder / "notebook.db"))
    if way == "environment":
        environment[PASSWORD_VARIABLE] = marker
    else:
        command += ["--credentials", str(folder / "secret" / "credentials")]
    began = time.monotonic()
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
        watch = _Watch(process, command, marker)
        process.wait()
    figures.took(time.monotonic() - began)
    figures.counts["commands"] += 1
    for where in watch.end():
        figures.losses.append(f"{' '.join(words[:2])} by {way}: in the {where}")
    for file in folder.iterdir():
        if file.is_file() and marker.encode() in file.read_bytes():
            figures.losses.append(f"{' '.join(words[:2])} by {way}: in {file.name}")
            file.unlink()


def _aborted(words: tuple[str, ...], folder: Path, marker: str, figures: Figures, *, times: int) -> None:
    """Program and measuring process are aborted while they know the password: no core file has it."""
    place = folder / "cores"
    place.mkdir()
    careless = [sys.executable, "-c", "import os; os.abort()"]
    subprocess.run(careless, cwd=place, preexec_fn=_allow_cores, check=False, capture_output=True)
    figures.counts["core files that others leave here"] = len(list(place.iterdir()))
    environment = own_environment() | {PASSWORD_VARIABLE: marker}
    for _ in range(times):
        process = subprocess.Popen(
            own_command("app", *words, "--runs", "1000", "--db", str(folder / "aborted.db")), env=environment,
            cwd=place, preexec_fn=_allow_cores, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,  # noqa: PLW1509
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        top = psutil.Process(process.pid)
        measuring: list[psutil.Process] = []
        while not measuring and process.poll() is None:
            time.sleep(0.01)
            with suppress(psutil.Error):
                measuring = [child for child in top.children() if "app.recording.child" in child.cmdline()]
        time.sleep(0.5)
        for each in (*measuring, top):
            with suppress(psutil.Error):
                each.send_signal(signal.SIGABRT)
                figures.counts["processes aborted"] += 1
        process.wait()
        psutil.wait_procs(measuring, timeout=LIMIT_SECONDS)
    for file in place.iterdir():
        if marker.encode() in file.read_bytes():
            figures.losses.append(f"aborted: in {file.name}")


def _allow_cores() -> None:
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))


def _half_typed(folder: Path, figures: Figures) -> None:
    """What is typed wrong is refused without being repeated."""
    environment = own_environment()
    for url in HALF_TYPED:
        typed = url.format("MARKERpw")
        for words in (("run", typed), (typed,), ("check", typed, "--debug")):
            done = subprocess.run(
                own_command("app", "--db", str(folder / "notebook.db"), *words), env=environment, cwd=folder,
                capture_output=True, check=False, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            figures.counts["half-typed URLs"] += 1
            if b"MARKERpw" in done.stdout + done.stderr:
                figures.losses.append(f"{words} is repeated")
        if figures.counts["half-typed URLs"] >= 9 and figures.counts["in a hurry"]:
            return


def campaign(seconds: float, *, seed: int = 17) -> Figures:
    """Commands against practice servers with a password, by both ways it can be given."""
    figures, clock, chance = Figures(), Clock(seconds), random.Random(seed)
    folder = Path(tempfile.mkdtemp(prefix="sharebench-secrets-"))
    (folder / "secret").mkdir()
    try:
        with PracticeServers(report_bytes=1_000_000) as servers:
            marker = servers.secrets.password or ""
            (folder / "secret" / "credentials").write_text(f"username = practice\npassword = {marker}\n")
            todo = [(words, way) for words in _commands(servers, folder) for way in ("environment", "file")]
            chance.shuffle(todo)
            for number, (words, way) in enumerate(todo):
                if number >= 4 and clock.is_over():
                    break
                _run(words, way, folder, marker, figures)
            words = ("run", format_target(servers.smb), *QUICK)
            _aborted(words, folder, marker, figures, times=1 if clock.is_over() else ABORTS)
        figures.counts["in a hurry"] += clock.is_over()
        _half_typed(folder, figures)
        del figures.counts["in a hurry"]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return figures
