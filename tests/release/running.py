"""Runs a program as on a machine that knows nothing of this checkout."""

import os
import shlex
import subprocess
from pathlib import Path


class FailedError(Exception):
    """A step did not do what it must."""


def run(home: Path, *words: str | Path, **more: str) -> str:
    """What the program says. Raises FailedError."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "UV_", "LANG"))}
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", **kept, "HOME": str(home), **more}
    done = subprocess.run(
        [str(word) for word in words],
        check=False,
        cwd=home,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise FailedError(f"{shlex.join(map(str, words))[:200]}: exit {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout
