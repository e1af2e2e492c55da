"""What commands take of memory and time on a notebook of a million runs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from storage.notebook import Notebook
from tests import builders
from tests.command_line import ROOT

MEMORY_HEAD = "| a notebook of 1,000,000 runs | MB | seconds | at most MB |\n| --- | ---: | ---: | ---: |"
_SERIES, _RUNS, _AT_ONCE = 20_000, 50, 500
_MOST_MEGABYTES = 300
_FIRST = datetime(2020, 1, 1, tzinfo=UTC)


@cache
def _notebook() -> tuple[tempfile.TemporaryDirectory[str], Path]:
    folder = tempfile.TemporaryDirectory(prefix="sharebench-bench-")
    path = Path(folder.name) / "notebook.db"
    with Notebook(path) as notebook:
        for first in range(0, _SERIES, _AT_ONCE):
            notebook.add_all([_series(number) for number in range(first, first + _AT_ONCE)])
    return folder, path


def _series(number: int) -> Any:
    created = (_FIRST + timedelta(hours=number)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    rates = [100e6 + (number * 7919 + run * 104729) % 2_000_000 for run in range(_RUNS)]
    return builders.series(rates, warmups=0, id=f"{number:012x}", created_at=created)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryResult:
    """The peak memory and the time of one command."""

    name: str
    peak_bytes: int
    seconds: float

    def as_document(self) -> dict[str, Any]:
        """For the JSON file."""
        return {"name": self.name, "peak_memory_bytes": self.peak_bytes, "seconds": self.seconds}


def memory_line(result: MemoryResult) -> str:
    """The row of one command."""
    mark = ", **too much**" if result.peak_bytes > 1e6 * _MOST_MEGABYTES else ""
    return f"| {result.name} | {result.peak_bytes / 1e6:,.0f}{mark} | {result.seconds:.1f} | {_MOST_MEGABYTES} |"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRow:
    """One command on the large notebook."""

    words: tuple[str, ...]
    long: bool = True
    needs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"memory: {self.words[0]}"

    def measure(self) -> MemoryResult:
        """Run it once, in a process of its own."""
        _folder, path = _notebook()
        words = [sys.executable, "-m", "app", *self.words, "--db", str(path)]
        began = time.monotonic()
        with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            assert process.stderr
            errors = process.stderr.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1, 3):
            raise RuntimeError(errors.decode(errors="replace"))
        return MemoryResult(name=self.name, peak_bytes=1024 * used.ru_maxrss, seconds=time.monotonic() - began)


def memory_rows() -> Iterator[CommandRow]:
    """Lists, a comparison, and the curve."""
    yield CommandRow(words=("list",))
    yield CommandRow(words=("compare", f"{_SERIES - 2:012x}", f"{_SERIES - 1:012x}"))
    yield CommandRow(words=("history", "smb://nas/data/big.bin"))
