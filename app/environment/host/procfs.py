"""Reads /proc and /sys and runs small programs; never raises, unknown is None."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from app.child_process import clean_environment
from storage.records import FactValue

LARGEST = 2**63 - 1

ADMIN_PATH = f"{os.defpath}:/usr/local/sbin:/usr/sbin:/sbin"
"""Includes the system folders, which an ordinary user's PATH often lacks."""


class SystemReader(Protocol):
    """Returns a file's text; None if it does not exist or is not readable."""

    def __call__(self, path: str, /) -> str | None:
        """Absolute path."""


def read_text(path: str, /) -> str | None:
    """None if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def read_int(path: str, read: SystemReader = read_text) -> int | None:
    """The integer that a file begins with, or None."""
    return whole_number((read(path) or "").split())


def whole_number(words: Sequence[str]) -> int | None:
    """The first word as a 64-bit integer, or None."""
    try:
        number = int(words[0])
    except (ValueError, IndexError):
        return None
    return number if abs(number) <= LARGEST else None


def storable(facts: Mapping[str, FactValue]) -> dict[str, FactValue]:
    """Without integers of more than 64 bits, which the notebook cannot store."""
    return {name: value for name, value in facts.items() if not isinstance(value, int) or abs(value) <= LARGEST}


def run_text(*words: str, timeout_seconds: float = 2.0) -> str | None:
    """Output of a successful program, else None. No shell, no input, C locale, system folders searched."""
    environ = clean_environment(LC_ALL="C", PATH=os.environ.get("PATH", os.defpath) + ":" + ADMIN_PATH)
    try:
        done = subprocess.run(
            words,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_seconds,
            text=True,
            errors="replace",
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None
