"""The ``sharebench`` command in a process of its own, as a script would call it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


@dataclass
class Sharebench:
    """The command with a notebook of its own; ``password`` goes into its environment."""

    db: Path
    password: str | None = None
    environment: dict[str, str] = field(default_factory=dict)

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SHAREBENCH_")}
        kept |= {"PYTHONPATH": str(ROOT), "SHAREBENCH_DB": str(self.db)} | self.environment
        return kept | ({"SHAREBENCH_PASSWORD": self.password} if self.password is not None else {})

    def start(self, *arguments: str, under: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        """The running command, its output piped; ``under`` a program such as nohup."""
        return subprocess.Popen(
            [*under, sys.executable, "-m", "app", *arguments],
            env=self._environment(), cwd=self.db.parent, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def __call__(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """The finished command."""
        return subprocess.run(
            [sys.executable, "-m", "app", *arguments],
            env=self._environment(), cwd=self.db.parent, text=True, timeout=120, check=False,
            input=stdin if stdin is not None else "", capture_output=True,
        )  # fmt: skip

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
