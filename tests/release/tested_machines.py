"""Proves that ``make test`` passes on machines made from nothing: each Debian, each with more or fewer packages.

The last commit is cloned to a path with a blank in it, and its libraries are installed there from the lock file.
WORKERS and PYTEST_ADDOPTS reach ``make test``, such as ``PYTEST_ADDOPTS=tests/forms make proof ONLY=trixie-bare``.
"""

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests import packages
from tests.release.build import ROOT
from tests.release.debian import DebianRoot
from tests.release.running import FailedError, run

_RELEASES = ("bookworm", "trixie")
_ALWAYS = ("ca-certificates", "make", "python3", "python3-venv")
_CLIENTS = ("curl", "git", "iproute2", "openssh-client", "sqlite3")
_ALL = tuple(sorted(packages.PACKAGES.keys() - packages.ONLY_FOR_CAMPAIGNS))
_USER = "tester"
_PLACE = f"/home/{_USER}/some tests/sharebench"
_OUTCOME = re.compile(r"^=+ (.*\d passed.*) in [\d.]+s.*=+$", re.MULTILINE)


@dataclass(frozen=True)
class Machine:
    """What a machine has besides Python and make, and who runs the tests on it."""

    packages: tuple[str, ...] = ()
    user: str = _USER
    has_terminals: bool = True
    skips_for_packages: bool = True


_MACHINES = {
    "bare": Machine(has_terminals=False),
    "clients": Machine(packages=_CLIENTS),
    "servers": Machine(packages=_ALL, skips_for_packages=False),
    "root": Machine(packages=_ALL, user="root", skips_for_packages=False),
}


def _run_tests(release: str, machine: Machine, folder: Path) -> str:
    """Python's version, who ran the tests, pytest's counts and what it says of packages. Raises FailedError."""
    root = DebianRoot(folder, release, _ALWAYS, has_terminals=machine.has_terminals)
    passed_on = {name: os.environ[name] for name in ("WORKERS", "PYTEST_ADDOPTS") if name in os.environ}
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", **passed_on}
    as_root = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}
    root.run("root", as_root, "useradd", "--create-home", _USER)
    if machine.packages:
        root.run("root", as_root, "apt-get", "update", "--quiet")
        root.run(
            "root", as_root, "apt-get", "install", "--quiet", "--yes", "--no-install-recommends", *machine.packages
        )

    checkout = root.path / _PLACE.lstrip("/")
    run(folder, "git", "clone", "--quiet", "--no-hardlinks", f"file://{ROOT}", checkout)
    root.run("root", as_root, "chown", "--recursive", f"{machine.user}:", f"/home/{_USER}/some tests")

    home = "/root" if machine.user == "root" else f"/home/{machine.user}"
    words = root.command(machine.user, environment | {"HOME": home}, "make", "-C", _PLACE, "test")
    done = subprocess.run(words, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    outcome = _OUTCOME.findall(done.stdout)
    if done.returncode or not outcome:
        raise FailedError(f"make test: exit {done.returncode}: {done.stdout[-4000:]}{done.stderr[-2000:]}")

    skipped = next((line for line in done.stdout.splitlines() if line.startswith(packages.SUMMARY_START)), "")
    has_run_all = "PYTEST_ADDOPTS" not in passed_on
    if has_run_all and ("need packages" in skipped) != machine.skips_for_packages:
        raise FailedError(f"skipped tests: {skipped or 'none'}, with {' '.join(machine.packages) or 'no packages'}")
    version = root.run(machine.user, environment, "python3", "--version").strip()
    return f"{version} as {machine.user}: {outcome[0]}; {skipped or 'no tests skipped for packages or rights'}"


PROOFS: dict[str, Callable[[Path], str]] = {
    f"{release}-{name}": partial(_run_tests, release, machine)
    for release in _RELEASES
    for name, machine in _MACHINES.items()
}
