"""Series measured onto notebooks in trouble: held by another program, on a disk that fails, many programs at once."""

from __future__ import annotations

import multiprocessing
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from unittest import mock

from app.base.errors import NotebookError
from app.recording import writer
from app.recording.process import RunFinished, SeriesControl, Warned
from app.recording.spec import SeriesRequest
from app.series.record import record
from storage.errors import NotebookFileError, unusable
from storage.notebook import Notebook
from storage.plan import CeilingPolicy, QuietTime
from storage.records import Command, Run, SeriesStatus, Target
from tests.builders import one
from tests.command_line import Sharebench
from tests.reliability import disks
from tests.reliability.figures import Figures
from tests.specs import order_with, request_with

RUNS = 60
PAUSE_RUN = 5
"""After this run the trouble begins."""
HOLD = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
time.sleep(float(sys.argv[2]))
connection.execute("ROLLBACK")
"""
"""Another program, such as a backup."""


def _request(folder: Path, runs: int = RUNS) -> SeriesRequest:
    file = folder / "measured.bin"
    if not file.exists():
        file.write_bytes(bytes(300_000))
    target = Target(protocol="file", path=str(file))
    plan = order_with(command=Command.GET, target=target, warmups=0, runs=runs)
    return request_with(order=plan, quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP, link_bits_per_second=10**9)


def _measured(
    request: SeriesRequest, book: Path, trouble: Callable[[], None], warned: list[str], runs: list[Run]
) -> None:
    """A series with trouble in the middle; what it warns of, and the runs that it reported."""
    for event in record(request, book, SeriesControl()):
        if isinstance(event, Warned):
            warned.append(event.text)
        if isinstance(event, RunFinished):
            runs.append(event.run)
            if len(runs) == PAUSE_RUN:
                trouble()


def _check_runs(figures: Figures, book: Path, reported: list[Run], how: str) -> None:
    with Notebook(book) as notebook:
        stored = [(run.number, run.seconds) for run in notebook.series("last").runs]
    missing = [run.number for run in reported if stored.count((run.number, run.seconds)) != 1]
    figures.counts["reported runs"] += len(reported)
    if missing:
        figures.losses.append(f"{how}: runs {missing} are not there once")


def held(figures: Figures, folder: Path, seconds: float) -> None:
    """Another program holds the notebook: a series waits, says so and loses nothing; a command says so, and ends."""
    book, warned, runs = folder / "held.db", list[str](), list[Run]()
    others: list[subprocess.Popen[str]] = []

    def hold() -> None:
        command = [sys.executable, "-c", HOLD, str(book), str(seconds)]
        other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert other.stdout
        other.stdout.readline()
        others.append(other)
        if seconds > writer.GIVE_UP_SECONDS / 20:
            _check_commands(figures, book)

    began = time.monotonic()
    _measured(_request(folder), book, hold, warned, runs)
    others[0].wait()
    figures.took(time.monotonic() - began)
    figures.counts["seconds held by another program"] += round(seconds)
    if ["waits in memory" in text for text in warned] != [True, False]:
        figures.losses.append(f"held: {warned}")
    _check_runs(figures, book, runs, "held")


def _check_commands(figures: Figures, book: Path) -> None:
    """What reads goes on; what writes waits, and says why not in one line."""
    command = Sharebench(book)
    if command("list").returncode:
        figures.losses.append("held: list does not read")
    said = command("note", "last", "a note")
    figures.counts["commands told that it is held"] += 1
    if said.returncode == 0 or "held by another program" not in said.stderr or said.stderr.count("\n") != 1:
        figures.losses.append(f"held: note ends with {said.returncode}: {said.stderr[:200]!r}")


def failing_disk(figures: Figures, folder: Path) -> None:
    """The disk gives errors for a while, for good, or when it is read."""
    for trouble in (_errors_for_a_while, _errors_for_good, _errors_when_read):
        with disks.failing_disk() as disk:
            if disk is None:
                figures.counts["I/O errors not tried, since nobody may mount here"] = 1
                return
            trouble(figures, folder, disk)
            figures.counts["disks that failed"] += 1


def _errors_for_a_while(figures: Figures, folder: Path, disk: disks.FailingDisk) -> None:
    book, warned, runs = disk.folder / "notebook.db", list[str](), list[Run]()
    for event in record(_request(folder), book, SeriesControl()):
        if isinstance(event, RunFinished):
            runs.append(event.run)
            if len(runs) == PAUSE_RUN:
                disk.fail_writes()
        if isinstance(event, Warned):
            warned.append(event.text)
            disk.work_again()
    if ["gives errors" in text for text in warned] != [True, False]:
        figures.losses.append(f"a disk that fails for a while: {warned}")
    _check_runs(figures, _copied(book, folder), runs, "a disk that fails for a while")


def _errors_for_good(figures: Figures, folder: Path, disk: disks.FailingDisk) -> None:
    """All goes into another notebook, in the folder that one is in; and the error at the end names it."""
    book, warned, runs = disk.folder / "notebook.db", list[str](), list[Run]()
    said = ""
    with mock.patch.object(writer, "DISK_SECONDS", 1.0), chdir(folder):
        try:
            _measured(_request(folder), book, disk.fail_writes, warned, runs)
        except NotebookError as error:
            said = str(error)
    disk.work_again()

    saved_books = list(folder.glob("notebook-saved-*.db"))
    if len(saved_books) != 1 or str(saved_books[0]) not in said or "gives errors" not in "".join(warned):
        figures.losses.append(f"a disk that fails for good: {saved_books}; {said}; {warned}")
        return

    _check_runs(figures, saved_books[0], runs, "a disk that fails for good")
    with Notebook(saved_books[0]) as notebook:
        if notebook.series("last").status is not SeriesStatus.COMPLETE:
            figures.losses.append("a disk that failed for good: the series is not whole in the other notebook")


def _errors_when_read(figures: Figures, _folder: Path, disk: disks.FailingDisk) -> None:
    book = disk.folder / "notebook.db"
    with Notebook(book) as notebook:
        notebook.add_all([one(n, created_at="2026-01-01T10:00:00.000Z", note="x" * 9_000) for n in range(1, 300)])
    disk.fail_reads(book)
    try:
        with Notebook(book) as notebook:
            notebook.all_of([head.id for head in notebook.heads()])
        figures.losses.append("a disk that cannot be read was read")
    except (sqlite3.Error, NotebookFileError) as error:
        said = str(error) if isinstance(error, NotebookFileError) else str(unusable(error))
        if "gives errors" not in said or len(said.splitlines()) != 1:
            figures.losses.append(f"a disk that cannot be read: {said}")


def _copied(book: Path, folder: Path) -> Path:
    """The notebook copied to a disk that works, as the error advises."""
    place = Path(tempfile.mkdtemp(dir=folder))
    for file in book.parent.glob(f"{book.name}*"):
        if not file.name.endswith("-shm"):
            shutil.copy(file, place)
    return place / book.name


def _measure(folder: Path, number: int) -> list[Run]:
    runs: list[Run] = []
    _measured(_request(folder / str(number), runs=5), folder / "many.db", lambda: None, [], runs)
    return runs


def many_programs(figures: Figures, folder: Path, count: int) -> None:
    """So many programs measure at once onto one notebook that was not there before."""
    for number in range(count):
        (folder / str(number)).mkdir()
    with multiprocessing.get_context("fork").Pool(count) as pool:
        reported = pool.starmap(_measure, [(folder, number) for number in range(count)], chunksize=1)
    with Notebook(folder / "many.db") as notebook:
        stored = [{(run.number, run.seconds) for run in notebook.series(head.id).runs} for head in notebook.heads()]
    figures.counts["series at once"] += count
    figures.counts["reported runs"] += sum(map(len, reported))
    for runs in reported:
        if stored.count({(run.number, run.seconds) for run in runs}) != 1:
            figures.losses.append(f"one of {count} series at once is not there once")
