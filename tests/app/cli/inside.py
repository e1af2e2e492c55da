"""The ``sharebench`` command inside the test's own process: as quick as its work, for tests of words and answers."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from app.cli.main import run


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def _no_tui(notebook_path: Path, **_options: Any) -> int:
    raise AssertionError("the TUI was opened")


@dataclass
class Inside:
    """The command with a notebook of its own."""

    db: Path

    def __call__(self, *arguments: str, stdin: str = "") -> Done:
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
        given = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        with patch.object(sys, "stdin", given), redirect_stdout(out), redirect_stderr(err):
            code = run(["--db", str(self.db), *arguments], _no_tui)
        texts = []
        for stream in (out, err):
            stream.flush()
            stream.seek(0)
            texts.append(stream.buffer.read().decode(errors="replace"))
        return Done(code, *texts)

    def json(self, *arguments: str) -> Any:
        """What the command says on stdout, as JSON; it must have ended well."""
        done = self(*arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def fails(self, code: int, *arguments: str) -> str:
        """The one line on stderr of a command that must end with ``code``."""
        done = self(*arguments)
        assert done.returncode == code, done
        assert done.stderr.startswith("sharebench: ")
        assert done.stderr.count("\n") == 1
        return done.stderr.removeprefix("sharebench: ")
