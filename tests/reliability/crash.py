"""The crash campaign: kill -9 at any moment of any command, and everything that was reported is still there."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from app.children import own_command, own_environment
from app.clients.base import Secrets
from app.measure.control import SeriesControl
from app.recorder.recording import resume
from forms.exporters import export
from storage.notebook import Notebook
from storage.records import Series, SeriesStatus
from tests.builders import FORMAT_1, one
from tests.reliability.figures import Clock, Figures

MEASURE = """
import json, sys
from pathlib import Path
from app.measure.control import SeriesControl
from app.measure.events import RunFinished
from app.measure.plan import MeasurementPlan
from app.recorder.recording import record
from app.recorder.request import SeriesRequest
from storage.plan import CeilingPolicy, QuietTime
from storage.records import Command, Target
kind, book, path = sys.argv[1:]
choices = {"get": {}, "put": {"size_bytes": 3_000_000}, "make": {"size_bytes": 3_000_000, "make_file": True}}[kind]
plan = MeasurementPlan(command=Command.PUT if kind == "put" else Command.GET, target=Target(protocol="file", path=path),
    warmups=1, runs=200, **choices)
request = SeriesRequest(plan=plan, quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP, link_bits_per_second=10**9)
print("begun", flush=True)
for event in record(request, Path(book), SeriesControl()):
    if isinstance(event, RunFinished):
        print(json.dumps([event.run.phase, event.run.number, event.run.seconds]), flush=True)
"""
"""A program that measures, and reports each run once it has seen it."""
END_SECONDS = 15.0
"""So long a measuring process may take to clean up after its parent was killed."""
RUN_KINDS = ("get", "put", "make")


@dataclass
class Round:
    """One command in a folder of its own, and what it reported before it was killed."""

    kind: str
    folder: Path
    figures: Figures
    reported: list[tuple[str, int, float]] = field(default_factory=list)

    @property
    def book(self) -> Path:
        """Its notebook."""
        return self.folder / "notebook.db"

    @property
    def share(self) -> Path:
        """What is measured."""
        return self.folder / "share"

    def lose(self, what: str) -> None:
        """Something happened that must not."""
        self.figures.losses.append(f"{self.kind}: {what}")

    def check_notebook(self) -> None:
        """It opens, and is whole."""
        with Notebook(self.book) as notebook:
            if notebook.running():
                self.lose("a series is still said to be running")
        connection = sqlite3.connect(self.book)
        whole = connection.execute("PRAGMA integrity_check").fetchone()
        dangling = connection.execute("PRAGMA foreign_key_check").fetchall()
        connection.close()
        if whole != ("ok",) or dangling:
            self.lose(f"the notebook is not whole: {whole}, {dangling}")

    def check_runs(self) -> list[Series]:
        """Every run that was reported is there exactly once."""
        with Notebook(self.book) as notebook:
            found = [notebook.series(head.id) for head in notebook.heads()]
        there = [(run.phase.value, run.number, run.seconds) for series in found for run in series.runs]
        for run in self.reported:
            self.figures.counts["runs reported"] += 1
            if there.count(run) != 1:
                self.lose(f"run {run} is there {there.count(run)} times")
        return found

    def check_left(self, found: list[Series]) -> None:
        """Nothing of ours lies there unnamed."""
        named = {series.scratch_path for series in found}
        for file in self.share.glob(".sharebench-*"):
            if str(file) not in named:
                self.lose(f"{file.name} was left and is named nowhere")


def _numbered(number: int) -> Series:
    return one(number, created_at=f"2026-01-01T10:{number // 60:02d}:{number % 60:02d}.000Z")


def _prepared(kind: str, folder: Path, figures: Figures) -> Round:
    made = Round(kind, folder, figures)
    made.share.mkdir(parents=True)
    (made.share / "file").write_bytes(os.urandom(3_000_000))
    if kind == "migrate":
        connection = sqlite3.connect(made.book)
        connection.executescript(FORMAT_1.read_text())
        connection.close()
    elif kind in {"export", "delete", "list"}:
        with Notebook(made.book) as notebook:
            for number in range(1, 30):
                notebook.add(_numbered(number))
    elif kind == "import":
        (folder / "in.json").write_bytes(export([_numbered(number) for number in range(1, 200)], "json"))
    return made


def _command(made: Round) -> list[str]:
    book = ["--db", str(made.book)]
    if made.kind in RUN_KINDS:
        path = made.share / "file" if made.kind == "get" else made.share
        return [sys.executable, "-P", "-c", MEASURE, made.kind, str(made.book), str(path)]
    selftest = ("selftest", f"file://{made.share}/file", "--runs", "6", "--quiet-time", "skip")
    words = {
        "import": ("import", str(made.folder / "in.json")),
        "export": ("export", *(f"{n:012x}" for n in range(1, 30)), "-o", str(made.folder / "out.xlsx")),
        "delete": ("delete", *(f"{n:012x}" for n in range(1, 30)), "--yes"),
        "migrate": ("list",),
        "selftest": selftest,
    }
    return own_command("app", *book, *words[made.kind])


_LONGEST_SECONDS = {**dict.fromkeys(RUN_KINDS, 5.0), "selftest": 5.0, "import": 3.0, "export": 3.0, "delete": 2.0,
    "migrate": 2.0}  # fmt: skip
"""Between nothing and so long after its start each kind of command is killed."""
KINDS = (*RUN_KINDS, "import", "export", "delete", "migrate", "selftest")


def _kill(made: Round, delay_seconds: float) -> None:
    """Start it, kill it after so long, and see that nothing of it lives on."""
    with subprocess.Popen(
        _command(made),
        env=own_environment(),
        cwd=made.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout
        if made.kind in RUN_KINDS:
            process.stdout.readline()
        time.sleep(delay_seconds)
        children = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
        made.figures.counts["killed" if process.poll() is None else "ended before"] += 1
        process.send_signal(signal.SIGKILL)
        said = process.stdout.read()
    if made.kind in RUN_KINDS:
        lines = [line for line in said.splitlines(keepends=True) if line.endswith("\n") and line.startswith("[")]
        made.reported = [tuple(json.loads(line)) for line in lines]
    began = time.monotonic()
    _, alive = psutil.wait_procs(children, timeout=END_SECONDS)
    made.figures.took(time.monotonic() - began)
    if alive:
        made.lose(f"{len(alive)} processes live on")


def _after(made: Round) -> None:
    if not made.book.exists() or not made.book.stat().st_size:
        return  # killed before it was begun
    made.check_notebook()
    found = made.check_runs()
    made.check_left(found)
    if made.kind in RUN_KINDS and found and found[0].status is not SeriesStatus.COMPLETE:
        list(resume(found[0].id, Secrets(), made.book, SeriesControl()))
        made.figures.counts["resumed"] += 1
        (series,) = made.check_runs()
        if series.status is not SeriesStatus.COMPLETE or series.scratch_path:
            made.lose(f"resumed, and {series.status}, {series.scratch_path}")
        made.check_left([series])
    if list(made.folder.glob(".sharebench-*")):
        made.lose("an export left its part")
    if made.kind == "import" and len(found) not in {0, 199}:
        made.lose(f"{len(found)} of 199 series were imported")
    if made.kind == "migrate":
        with Notebook(made.book) as notebook:
            if notebook.count() != 1 or len(notebook.series("last").runs) != 4:
                made.lose("a migration lost something")
        for copy in made.folder.glob("notebook.db.format-1*"):
            _check_copy(made, copy)


def _check_copy(made: Round, copy: Path) -> None:
    if copy.suffix == ".part":
        return
    connection = sqlite3.connect(copy)
    if connection.execute("SELECT count(*) FROM series").fetchone() != (1,):
        made.lose(f"the copy {copy.name} is not whole")
    connection.close()


def campaign(seconds: float, *, kinds: tuple[str, ...] = KINDS, seed: int = 17) -> Figures:
    """Kill after kill, each kind of command in its turn, each at another moment."""
    figures, clock, chance = Figures(), Clock(seconds), random.Random(seed)
    _at_least_once(kinds, clock, lambda kind: _round(kind, chance.uniform(0, _LONGEST_SECONDS[kind]), figures))
    return figures


def _at_least_once(kinds: tuple[str, ...], clock: Clock, do: Callable[[str], None]) -> None:
    first = True
    while first or not clock.is_over():
        for kind in kinds:
            if first or not clock.is_over():
                do(kind)
        first = False


def _round(kind: str, delay_seconds: float, figures: Figures) -> None:
    folder = Path(tempfile.mkdtemp(prefix="sharebench-crash-"))
    try:
        made = _prepared(kind, folder, figures)
        _kill(made, delay_seconds)
        _after(made)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
