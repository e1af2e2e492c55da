"""Small reads of /proc and /sys and runs of small programs that never raise: what is not there is None."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from app.child_process import clean_environment
from storage.records import FactValue

LARGEST = 2**63 - 1

ADMIN_PATH = f"{os.defpath}:/usr/local/sbin:/usr/sbin:/sbin"
"""Where an ordinary user's PATH often does not look, although the programs there may be read-only and harmless."""


class SystemReader(Protocol):
    """Gives the text of a file by its absolute path; None where it does not exist or may not be read."""

    def __call__(self, path: str, /) -> str | None:
        """Return the text of ``path``."""


def read_text(path: str, /) -> str | None:
    """The text of a small file of this machine, or None."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def read_int(path: str, read: SystemReader = read_text) -> int | None:
    """The whole number that a file begins with, or None."""
    return whole_number((read(path) or "").split())


def whole_number(words: Sequence[str]) -> int | None:
    """The first word as a number that the notebook can hold (64 bits); None where there is none or it is no number."""
    try:
        number = int(words[0])
    except (ValueError, IndexError):
        return None
    return number if abs(number) <= LARGEST else None


def storable(facts: Mapping[str, FactValue]) -> dict[str, FactValue]:
    """The facts without those numbers that the notebook cannot hold: whole ones of more than 64 bits."""
    return {name: value for name, value in facts.items() if not isinstance(value, int) or abs(value) <= LARGEST}


def run_text(*words: str, timeout_seconds: float = 2.0) -> str | None:
    """What a program prints when it succeeds; None where it is not installed, fails or takes too long.

    It runs without a shell, without input, in the C locale, and finds programs in the system folders too.
    """
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
