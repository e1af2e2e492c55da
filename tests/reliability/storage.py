"""The storage campaign: notebooks damaged, held, crowded, on full and failing disks, of every format."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import sqlite3
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

from storage.errors import NotebookFileError, unusable
from storage.notebook import Notebook
from storage.queries import SeriesQuery
from storage.recordings import UnknownReferenceError
from storage.records import ExperimentKind
from tests.builders import FORMAT_1, full_series, one
from tests.reliability.disks import small_disk
from tests.reliability.figures import Clock, Figures
from tests.reliability.old_formats import OLD_FORMATS, old_notebook
from tests.reliability.storage_series import failing_disk, held, many_programs

LONG_SECONDS = 90.0
"""With so much time the longest cases are as long as they should be."""
HELD_SECONDS = 61.0
PROGRAMS = 20
WRITERS = 20
FULL_DISK_KIB = 400


def _read_all(path: Path) -> None:
    """Everything that a list, a form and the screens read."""
    with Notebook(path) as notebook:
        heads = notebook.heads()
        notebook.find(SeriesQuery(text="nas"))
        notebook.runs_of(head.id for head in heads)
        for kind in ExperimentKind:
            for entry in notebook.experiments(kind):
                notebook.experiment(entry.experiment.name)
        for head in heads:
            notebook.series(head.id)
        notebook.baselines()
        notebook.worksheets("bottleneck")
        notebook.remembered("guide")
        with suppress(UnknownReferenceError):
            notebook.series("last")


def _told(figures: Figures, path: Path, how: str) -> None:
    """Read it: it is whole, or one of our errors says what is wrong with it."""
    began = time.monotonic()
    try:
        _read_all(path)
        figures.counts["read"] += 1
    except (NotebookFileError, UnknownReferenceError) as error:
        figures.counts["refused"] += 1
        _check_line(figures, str(error), how)
    except sqlite3.Error as error:
        figures.counts["refused"] += 1
        _check_line(figures, str(unusable(error)), how)
    except Exception as error:
        figures.losses.append(f"{how}: {type(error).__name__}: {error}")
    figures.took(time.monotonic() - began)


def _check_line(figures: Figures, text: str, how: str) -> None:
    if len(text.splitlines()) != 1 or not text.isprintable():
        figures.losses.append(f"{how}: no line for people: {text[:200]!r}")


def _damaged(content: bytes, chance: random.Random) -> tuple[bytes, str]:
    """The file with something done to it, and what."""
    kind = chance.choice(("bytes", "truncated", "page", "garbage", "swapped"))
    found = bytearray(content)
    if kind == "bytes":
        for _ in range(chance.randint(1, 40)):
            found[chance.randrange(len(found))] = chance.randrange(256)
    elif kind == "truncated":
        del found[chance.randrange(len(found)) :]
    elif kind == "page":
        at = chance.randrange(len(found) // 4096) * 4096
        found[at : at + 4096] = chance.randbytes(4096) if chance.random() < 0.5 else bytes(4096)
    elif kind == "garbage":
        found[:] = chance.randbytes(chance.randint(0, 20_000))
    else:
        pages = len(found) // 4096
        a, b = chance.randrange(pages) * 4096, chance.randrange(pages) * 4096
        found[a : a + 4096], found[b : b + 4096] = found[b : b + 4096], found[a : a + 4096]
    return bytes(found), kind


def _damage(figures: Figures, folder: Path, clock: Clock, chance: random.Random) -> None:
    whole = folder / "whole.db"
    with Notebook(whole) as notebook:
        notebook.add(full_series())
        for number in range(1, 6):
            notebook.add(one(number))
        notebook.set_baseline("before", full_series().id)
    content = whole.read_bytes()
    for count in range(1_000_000):
        if count >= 60 and clock.is_over():
            return
        seed = chance.randrange(2**32)
        path = folder / "damaged.db"
        for file in folder.glob("damaged.db*"):
            file.unlink()
        found, kind = _damaged(content, random.Random(seed))
        path.write_bytes(found)
        figures.counts["damaged files"] += 1
        _told(figures, path, f"damage {kind} seed {seed}")


def _places(figures: Figures, folder: Path) -> None:
    """What is no notebook of ours, one of each kind."""
    os.mkfifo(folder / "fifo")
    (folder / "text").write_text("no notebook\n" * 100)
    (folder / "folder").mkdir()
    connection = sqlite3.connect(folder / "other.db")
    connection.execute("CREATE TABLE mine (x)")
    connection.close()
    dumps = sorted(FORMAT_1.parent.glob("format-1*.sql"))
    for number, (dump, old_format) in enumerate(itertools.product(dumps, OLD_FORMATS)):
        old_notebook(folder / f"old-{number}.db", old_format, more=2, dump=dump)
        _read_all(folder / f"old-{number}.db")
        figures.counts["notebooks of older formats"] += 1
    Notebook(folder / "future.db").close()
    connection = sqlite3.connect(folder / "future.db")
    connection.execute("INSERT INTO notebook_formats VALUES (99, '7.1')")
    connection.commit()
    connection.close()
    refused = figures.counts["refused"]
    places = [folder / name for name in ("fifo", "text", "folder", "other.db", "future.db")]
    for place in [*places, Path("/dev/null"), Path("/dev/zero")]:
        _told(figures, place, str(place))
    if figures.counts["refused"] - refused != len(places) + 2:
        figures.losses.append("something was taken for a notebook that is none")


def _crowd(figures: Figures, folder: Path) -> None:
    """Many programs on one new notebook, at once."""
    path, errors = folder / "crowd.db", []

    def write(number: int) -> None:
        try:
            with Notebook(path) as notebook:
                notebook.add(one(number))
                notebook.take(one(number).id)
                notebook.release(one(number).id)
        except Exception as error:
            errors.append(f"writer {number}: {type(error).__name__}: {error}")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(1, WRITERS + 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    figures.losses += errors
    figures.counts["writers at once"] += WRITERS
    with Notebook(path) as notebook:
        if len(notebook.heads()) != WRITERS:
            figures.losses.append(f"{len(notebook.heads())} of {WRITERS} series of writers at once are there")


def _full(figures: Figures) -> None:
    """Series after series until the disk is full: what was stored before is whole."""
    with small_disk(FULL_DISK_KIB) as folder:
        if folder is None:
            return
        path, stored = folder / "notebook.db", 0
        try:
            for number in range(1, 10_000):
                with Notebook(path) as notebook:
                    notebook.add(one(number, created_at="2026-01-01T10:00:00.000Z"))
                stored = number
        except NotebookFileError as error:
            _check_line(figures, str(error), "full disk")
        except sqlite3.Error as error:
            _check_line(figures, str(unusable(error)), "full disk")
        figures.counts["series until the disk was full"] += stored
        shutil.copytree(folder, folder.with_name(f"{folder.name}-copy"))
        copy = folder.with_name(f"{folder.name}-copy")
        with Notebook(copy / "notebook.db") as notebook:
            if len(notebook.heads()) != stored:
                figures.losses.append(f"full disk: {len(notebook.heads())} of {stored} series are there")
        shutil.rmtree(copy)


def campaign(seconds: float, *, seed: int = 17) -> Figures:
    """Every kind of place once, then damage until the time is over."""
    figures, clock = Figures(), Clock(seconds)
    folder = Path(tempfile.mkdtemp(prefix="sharebench-storage-"))
    try:
        _places(figures, folder)
        _crowd(figures, folder)
        _full(figures)
        long = seconds >= LONG_SECONDS
        many_programs(figures, folder, PROGRAMS if long else 4)
        held(figures, folder, HELD_SECONDS if long else 1.0)
        failing_disk(figures, folder)
        _damage(figures, folder, clock, random.Random(seed))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return figures
