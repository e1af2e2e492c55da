"""The ``sharebench`` command: in a process of its own as a script calls it, or inside the test's own."""

from __future__ import annotations

import io
import json
import os
import statistics
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from app.cli.main import run
from tests import fork_server
from tests.waiting import HANG_SECONDS

ROOT, LEAN = fork_server.ROOT, fork_server.LEAN
MIB = 1024 * 1024
QUICK = ("--quiet-time", "skip", "--ceiling", "skip", "--timeout", "10")
"""Options of a run that measures nothing but its transfers."""


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@dataclass
class Sharebench:
    """The command with a notebook of its own; ``password`` goes into its environment."""

    db: Path
    password: str | None = None
    environment: dict[str, str] = field(default_factory=dict)

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SHAREBENCH_")}
        return kept | {"PYTHONPATH": f"{LEAN}{os.pathsep}{ROOT}"} | self._own_environment()

    def _own_environment(self) -> dict[str, str]:
        own = {"SHAREBENCH_DB": str(self.db)} | self.environment
        return own | ({"SHAREBENCH_PASSWORD": self.password} if self.password is not None else {})

    def start(self, *arguments: str, under: tuple[str, ...] = (), forked: bool = False) -> subprocess.Popen[str]:
        """The running command, its output piped; ``under`` a program such as nohup, ``forked`` as by a call."""
        return (fork_server.Forked if forked else subprocess.Popen)(
            [*under, sys.executable, "-m", "app", *arguments],
            env=self._environment(), cwd=self.db.parent, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def __call__(self, *arguments: str, stdin: str | None = None) -> Done:
        """The finished command."""
        with fork_server.Forked(
            [sys.executable, "-m", "app", *arguments],
            env=self._environment(), cwd=self.db.parent, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            try:
                out, err = process.communicate(stdin or "", timeout=HANG_SECONDS)
            except BaseException:
                process.kill()
                raise
        return Done(process.returncode, out, err)

    def json(self, *arguments: str) -> Any:
        """What the command says on stdout, as JSON; it must have ended well."""
        done = self(*arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def fails(self, code: int, *arguments: str) -> str:
        """The one line on stderr of a command that must end with ``code``."""
        done = self(*arguments)
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.startswith("sharebench: ")]
        assert len(lines) == len(done.stderr.splitlines()), done.stderr
        assert "Traceback" not in done.stderr
        return lines[-1].removeprefix("sharebench: ")


def _no_tui(notebook_path: Path, **_options: Any) -> int:
    raise AssertionError("the TUI was opened")


class Inside(Sharebench):
    """The command inside the test's own process, with a notebook of its own: as quick as its work."""

    def __call__(self, *arguments: str, stdin: str | None = None) -> Done:
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
        given = io.TextIOWrapper(io.BytesIO((stdin or "").encode()), encoding="utf-8")
        with (
            patch.dict(os.environ, self._own_environment()),
            chdir(self.db.parent),
            patch.object(sys, "stdin", given),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            code = run(arguments, _no_tui)
        texts = []
        for stream in (out, err):
            stream.flush()
            stream.seek(0)
            texts.append(stream.buffer.read().decode(errors="replace"))
        return Done(code, *texts)


def check_document(document: dict[str, Any], runs: int, warmups: int) -> None:
    """Averages, deviations and percentages agree with the rows to the last digit."""
    rows = [run for run in document["runs"] if run["phase"] == "measured"]
    assert len(rows) == runs
    assert len(document["runs"]) == runs + warmups
    for row in document["runs"]:
        assert row["bytes_per_second"] == row["size_bytes"] / row["seconds"]
        assert row["bits_per_second"] == 8 * row["bytes_per_second"]
        assert row["percent_of_link"] == 100 * row["bits_per_second"] / document["link_bits_per_second"]
        assert row["open_seconds"] > 0
    for name in ("size_bytes", "seconds", "bytes_per_second", "bits_per_second", "percent_of_link"):
        values = [row[name] for row in rows]
        assert document["average"][name] == pytest.approx(statistics.mean(values), rel=1e-12)
        assert document["deviation"][name] == pytest.approx(statistics.stdev(values), rel=1e-9, abs=1e-12)
    low, high = (document["confidence"][f"{end}_bytes_per_second"] for end in ("low", "high"))
    assert low < document["average"]["bytes_per_second"] < high
