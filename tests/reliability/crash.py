"""The crash campaign: kill -9 at every stage of every command, and everything that was reported is still there."""

from __future__ import annotations

import contextlib
import itertools
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.reliability.crash_rounds import CLI_WORDS, SIZE_BYTES, Round
from tests.reliability.figures import Clock, Figures
from tests.reliability.old_formats import OLD_FORMATS
from tests.servers.smbd import Smbd
from tests.waiting import HANG_SECONDS, LIMIT_SECONDS

WORKERS = 3
MOMENT_SECONDS = 0.03
"""The kill comes within so long after what the program reported last."""
LOCAL_KINDS = ("get", "put", "make", "selftest", *CLI_WORDS)
SERVER_KINDS = ("smb get", "smb put", "smb make", "survey")
"""Kinds that measure a real smbd; in all these the program itself is killed."""
OTHERS_KILLED = (
    "child get", "child put", "child make", "child selftest", "child survey", "smbd get", "smbd put", "smbd make",
    "smbd survey",
)  # fmt: skip
"""Kinds in which the measuring process, or the server's process of the session, is killed."""
ALL_KILLED = ("all selftest", "all survey")
"""Kinds in which the program is killed with all that it has started."""
KINDS = (*LOCAL_KINDS, *SERVER_KINDS, *OTHERS_KILLED, *ALL_KILLED)
_ON_A_SERVER = (*SERVER_KINDS, *(kind for kind in KINDS if kind.startswith("smbd") or kind.endswith(" survey")))


@dataclass
class Program:
    """A command in a process of its own, forked from here so that it begins at once."""

    made: Round
    pid: int = 0
    lines: list[str] = field(default_factory=list)
    """What it has said, without a last line that is not whole."""
    status: int | None = None
    _rest: bytes = b""
    _pipe: int = -1

    def start(self) -> None:
        """Begin."""
        self._pipe, ours = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(ours)
            return
        os.close(self._pipe)
        self._become(ours)

    def _become(self, pipe: int) -> None:
        """Be the program, from the fork to its end."""
        code = 70
        try:
            sys.stdout = os.fdopen(pipe, "w", encoding="utf-8")
            sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  open to its end
            self.made.do(lambda line: print(line, flush=True))
            sys.stdout.flush()
            code = 0
        except BaseException:
            with contextlib.suppress(Exception):
                (self.made.folder / "fault").write_text(traceback.format_exc())
        finally:
            os._exit(code)

    def hear(self, count: int) -> bool:
        """Wait until it has said so many lines; False where it ended before."""
        while len(self.lines) < count:
            block = os.read(self._pipe, 65536)
            if not block:
                return False
            *whole, self._rest = (self._rest + block).split(b"\n")
            self.lines += [line.decode() for line in whole]
        return True

    def has_ended(self) -> bool:
        """Whether it is a process no more."""
        try:
            return bool(psutil.Process(self.pid).status() == psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:
            return True

    def children(self) -> list[psutil.Process]:
        """What it started and still runs."""
        with contextlib.suppress(psutil.NoSuchProcess):
            return list(psutil.Process(self.pid).children(recursive=True))
        return []

    def kill(self) -> list[psutil.Process]:
        """End it by SIGKILL; what it had started is told."""
        os.kill(self.pid, signal.SIGSTOP)  # so that it starts nothing between the look and the end
        found = self.children()
        os.kill(self.pid, signal.SIGKILL)
        return found

    def end(self) -> None:
        """Hear what it still says, and wait for it."""
        self.hear(sys.maxsize)
        os.close(self._pipe)
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        runs = [line for line in self.lines if line.startswith("[")]
        self.made.reported = [tuple(json.loads(line)) for line in runs]
        self.made.answers = [] if runs else self.lines


@dataclass
class Usual:
    """How one kind of command goes when nobody kills it."""

    lines: Sequence[str]
    seconds: float


class Killer:
    """Rounds of kills, one after the other, with a server of their own where they need one."""

    def __init__(self, chance: random.Random, server: Smbd | None) -> None:
        self.figures = Figures()
        self._chance = chance
        self._server = server
        self._usual: dict[str, Usual] = {}

    def round(self, kind: str) -> None:
        """One kill, and all that must hold after it."""
        if kind not in self._usual:
            self._usual[kind] = self._watched(kind)
        with self._prepared(kind) as made:
            program = Program(made)
            program.start()
            victims = self._victims(program)
            stage = self._wait(program, self._usual[kind])
            if kind in OTHERS_KILLED:
                self._kill_another(program, stage, victims)
            else:
                self._kill(program, stage)
            self._check(made)

    @contextlib.contextmanager
    def _prepared(self, kind: str) -> Iterator[Round]:
        folder = Path(tempfile.mkdtemp(prefix="sharebench-crash-"))
        server = self._server if kind in _ON_A_SERVER else None
        try:
            made = Round(kind, folder, self.figures, server, self._chance.choice(OLD_FORMATS))
            made.prepare()
            yield made
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _watched(self, kind: str) -> Usual:
        with self._prepared(kind) as made:
            program, began = Program(made), time.monotonic()
            program.start()
            program.end()
            seconds = time.monotonic() - began
            if program.status:
                made.lose(f"ended with {program.status}: {_fault(made)}")
            self._check(made)
            return Usual(program.lines, seconds)

    def _check(self, made: Round) -> None:
        self.figures.counts["reported runs"] += len(made.reported)
        try:
            made.check()
        except Exception:
            made.lose(" ".join(traceback.format_exc().split())[-600:])

    def _wait(self, program: Program, usual: Usual) -> str:
        """Wait for the moment of the kill, anywhere in the program's course; its stage in words."""
        if program.made.kind in CLI_WORDS:
            share = self._chance.random()
            time.sleep(share * usual.seconds)
            return f"quarter {int(share * 4) + 1} of its time"
        count = self._chance.randrange(len(usual.lines))
        program.hear(count)
        time.sleep(self._chance.uniform(0, MOMENT_SECONDS if count else 10 * MOMENT_SECONDS))
        said = [line for line in program.lines[:count] if not line.startswith("[")]
        return said[-1] if said else "the start"

    def _kill(self, program: Program, stage: str) -> None:
        began, children = time.monotonic(), program.kill()
        for child in children if program.made.kind in ALL_KILLED else ():
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        program.end()
        if program.status == -signal.SIGKILL:
            self._count(program, stage)
        else:
            self.figures.counts["ended before"] += 1
        _, alive = psutil.wait_procs(children, timeout=LIMIT_SECONDS)
        self.figures.took(time.monotonic() - began)
        if alive:
            program.made.lose(f"{len(alive)} processes live on")

    def _kill_another(self, program: Program, stage: str, victims: list[psutil.Process]) -> None:
        killed, began = 0, time.monotonic()
        for victim in victims:
            with contextlib.suppress(psutil.NoSuchProcess):
                victim.kill()
                killed += 1
        alarm = threading.Timer(HANG_SECONDS, os.kill, (program.pid, signal.SIGKILL))
        alarm.start()
        program.end()
        alarm.cancel()
        alarm.join()
        self.figures.took(time.monotonic() - began)
        if killed:
            self._count(program, stage)
        else:
            self.figures.counts["ended before"] += 1
        if program.status:
            program.made.lose(f"ended with {program.status}: {_fault(program.made)}")

    def _count(self, program: Program, stage: str) -> None:
        counts = self.figures.counts
        counts["kills"] += 1
        counts[f"killed in {program.made.kind}"] += 1
        counts[f"at {stage}"] += 1

    def _victims(self, program: Program) -> list[psutil.Process]:
        """Whom to kill in place of the program, as soon as they are there."""
        find = {"child": self._measuring, "smbd": self._sessions}.get(program.made.kind.split()[0])
        while find and not program.has_ended():
            with contextlib.suppress(psutil.Error):
                if found := find(program):
                    return found
            time.sleep(0.002)
        return []

    def _measuring(self, program: Program) -> list[psutil.Process]:
        return [each for each in program.children() if "app.recording.child" in each.cmdline()]

    def _sessions(self, _program: Program) -> list[psutil.Process]:
        """The server's processes that serve somebody."""
        assert self._server
        port, found = self._server.port, psutil.Process(self._server.pid).children(recursive=True)
        return [each for each in found if any(c.laddr[1:] == (port,) and c.raddr for c in each.net_connections("tcp"))]


def _fault(made: Round) -> str:
    fault = made.folder / "fault"
    return " ".join(fault.read_text().split())[-600:] if fault.exists() else "killed, since it hung"


def _work(kinds: Sequence[str], seconds: float, seed: int) -> Figures:
    """One worker's share: each of its kinds at least once, then again until the time is over."""
    clock, server = Clock(seconds), None
    if set(kinds) & set(_ON_A_SERVER):
        server = Smbd()
        server.start()
        server.make_file("file", os.urandom(SIZE_BYTES))
    try:
        killer = Killer(random.Random(seed), server)
        for turn in itertools.count():
            for kind in kinds:
                if turn and clock.is_over():
                    return killer.figures
                killer.round(kind)
    finally:
        if server:
            server.stop()
    raise AssertionError


def campaign(seconds: float, *, kinds: Sequence[str] = KINDS, seed: int = 17) -> Figures:
    """Kill after kill, each kind of command in its turn, each at another moment, by several workers."""
    workers = min(WORKERS, len(kinds))
    total = Figures()
    total.counts.update(dict.fromkeys(("kills", "ended before", "reported runs", "resumed"), 0))
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        shares = [(kinds[worker::workers], seconds, seed + worker) for worker in range(workers)]
        for part in pool.starmap(_work, shares):
            total.add(part)
    first = list(total.counts)[:4]
    total.counts = Counter({name: total.counts[name] for name in (*first, *sorted(total.counts.keys() - set(first)))})
    return total
