"""Two notebooks that are changed all the time, pushed and pulled through a real sshd: equal at the end, nothing lost.

Each round both sides are changed at the same recordings before the exchange, and others while it goes on. Every word
written is one of its own: it must be found in both notebooks at the end, but for a label that another one replaced
knowingly.
"""

import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from app.base.errors import MeasurementError
from app.exchange import peers, taking
from app.recording.kind import kind_of
from storage.notebook import Notebook
from storage.records import SeriesStatus, new_series_id, utc_now
from tests.builders import one, runs
from tests.command_line import ROOT
from tests.loads import full_load
from tests.recordings import MAKERS
from tests.reliability.figures import Figures
from tests.servers.sshd import Sshd

HOST = "fileserver"
ROUNDS = 50
_ATTEMPTS = 5
_OF_THIS_NOTEBOOK = {"running", "left_behind", "lease", "leftovers"}


def campaign(seconds: float, *, rounds: int = ROUNDS, seed: int = 29) -> Figures:
    """So many rounds, or as many as there is time for."""
    figures, until = Figures(), time.monotonic() + seconds
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sharebench-sharing-")))
        sshd = Sshd()
        stack.callback(sshd.stop)
        sshd.start()
        stack.enter_context(patch.dict(os.environ, {"PATH": f"{sshd.path}:{os.environ['PATH']}"}))
        here, there = folder / "here.db", folder / "there.db"
        script = sshd.path / "sharebench"
        script.write_text(f'#!/bin/sh\ncd "{ROOT}"\nSHAREBENCH_DB={there} exec "{sys.executable}" -m app "$@"\n')
        script.chmod(0o755)
        with Notebook(here) as notebook:
            for kind in ("series", "load", "isolation", "audit", "trial"):
                MAKERS[kind](notebook)
        with Notebook(there) as notebook:
            notebook.add(one(20))
        _exchange(figures, here)
        sides = [_Side(name, path, random.Random(f"{seed}{name}")) for name, path in (("h", here), ("t", there))]
        for number in range(rounds):
            if time.monotonic() > until and number:
                break
            _round(figures, here, sides, number)
        _exchange(figures, here)
        _compare(figures, here, there, sides)
    return figures


class _Side:
    """Somebody who writes into one of the notebooks."""

    def __init__(self, name: str, path: Path, chance: random.Random) -> None:
        self.path, self._name, self._chance = path, name, chance
        self.words: set[str] = set()
        self.ids: set[str] = set()
        self._count = 0

    def word(self) -> str:
        """A word that nobody else writes."""
        self._count += 1
        return f"{self._name}{self._count}w"

    def write(self, recording_id: str) -> None:
        """Another paragraph of its note, and another label."""
        with Notebook(self.path) as notebook, notebook.transaction():
            for head in notebook.recordings_of([recording_id]):
                said, label = self.word(), self.word()
                notebook.describe(head.id, note=f"{head.note}\n\n{said}".strip(), label=f"{head.label} {label}".strip())
                self.words |= {said, label}

    def change(self) -> None:
        """Add a recording, write about one, reject a run, or name a baseline."""
        with Notebook(self.path) as notebook:
            ids = [head.id for head in notebook.recordings(parts=True) if head.kind == "series"]
            chosen = self._chance.choice(ids)
            match self._chance.randrange(6):
                case 0:
                    notebook.add(one(1, id=new_series_id(), created_at=utc_now(), base_id=chosen))
                case 1:
                    notebook.add_load(replace(full_load(), id=new_series_id(), created_at=utc_now(), label=self.word()))
                case 2:
                    reason = self.word()
                    self.words.add(reason)
                    found = notebook.series(chosen)
                    if not any(run.reason for run in found.runs):
                        notebook.judge_run(chosen, 3, type(found.runs[0].status)("rejected"), reason)
                    else:
                        self.words.discard(reason)
                case 3:
                    notebook.set_baseline(self.word(), chosen)
                case 4:
                    self._resume(notebook)
                case _:
                    self.write(chosen)
            self.ids |= {head.id for head in notebook.recordings(parts=True)}

    def _resume(self, notebook: Notebook) -> None:
        """Interrupt a series, or complete one that was interrupted here."""
        for head in notebook.recordings("series"):
            if head.status is SeriesStatus.INTERRUPTED and not head.imported_at:
                found = notebook.series(head.id)
                notebook.add_run(head.id, runs((100e6,) * 5)[-1])
                notebook.update(replace(found, status=SeriesStatus.COMPLETE))
                return
        first = one(2, (100e6,) * 4, id=new_series_id(), created_at=utc_now(), status=SeriesStatus.INTERRUPTED)
        notebook.add(first)


def _patiently(
    figures: Figures, carry_out: Callable[[Notebook, str], taking.Taken], notebook: Notebook
) -> taking.Taken:
    """What came of it, once it came through: on a busy machine ssh may give up before sshd answers."""
    for _ in range(_ATTEMPTS):
        try:
            return carry_out(notebook, HOST)
        except MeasurementError as error:
            figures.counts["interrupted"] += 1
            print(f"    again: {error}", flush=True)
    return carry_out(notebook, HOST)


def _exchange(figures: Figures, here: Path) -> None:
    with Notebook(here) as notebook:
        for carry_out in (peers.push, peers.pull):
            began = time.monotonic()
            taken = _patiently(figures, carry_out, notebook)
            figures.took(time.monotonic() - began)
            figures.counts[f"{carry_out.__name__}ed"] += 1
            figures.counts["new"] += len(taken.new)
            figures.counts["merged"] += len(taken.changed)
            figures.losses += taken.problems


def _round(figures: Figures, here: Path, sides: list[_Side], number: int) -> None:
    with Notebook(here) as notebook:
        heads = notebook.recordings()
    for side in sides:
        side.write(heads[number % len(heads)].id)
    threads = [threading.Thread(target=lambda side=side: [side.change() for _ in range(4)]) for side in sides]
    for thread in threads:
        thread.start()
    _exchange(figures, here)
    for thread in threads:
        thread.join()
    figures.counts["rounds"] += 1


def _compare(figures: Figures, here: Path, there: Path, sides: list[_Side]) -> None:
    found = [_contents(path) for path in (here, there)]
    figures.counts["recordings"] = len(found[0][0])
    for one_id in {*found[0][0], *found[1][0]}:
        mine, theirs = (side[0].get(one_id) for side in found)
        if mine != theirs:
            named = sorted(
                key for key in {*(mine or {}), *(theirs or {})} if (mine or {}).get(key) != (theirs or {}).get(key)
            )
            figures.losses.append(f"{one_id} differs in {', '.join(named)}")
    if found[0][1] != found[1][1]:
        figures.losses.append(f"baselines differ: {found[0][1] ^ found[1][1]}")
    for side in sides:
        figures.counts["words"] += len(side.words)
        figures.losses += [f"{one_id} is gone" for one_id in side.ids - found[0][0].keys() - found[0][2]]
        for _, _, _, text in found:
            figures.losses += [f"{word} is lost" for word in side.words if word not in text]


def _contents(path: Path) -> tuple[dict[str, dict[str, Any]], set[tuple[str, str]], set[str], set[str]]:
    """The documents by id, baselines, the ids of parts, and all words that people wrote."""
    with Notebook(path) as notebook:
        documents = {}
        for head in notebook.recordings():
            document = kind_of(head).form(notebook, head).document()
            documents[head.id] = {name: value for name, value in document.items() if name not in _OF_THIS_NOTEBOOK}
        heads = notebook.recordings(parts=True)
        said = {word for head in heads for word in f"{head.label} {head.note}".split()}
        said |= {str(run.reason) for head in heads if head.kind == "series" for run in notebook.series(head.id).runs}
        baselines = {(one.name, one.recording_id) for one in notebook.baselines()}
        return documents, baselines, {head.id for head in heads if head.part_of}, said
