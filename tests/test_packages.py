"""What is said of tests that were skipped, and where the packages are named."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import packages
from tests.command_line import ROOT

WANTED = set(packages.PACKAGES) - packages.ONLY_FOR_CAMPAIGNS


def test_nothing_is_said_where_nothing_was_skipped():
    assert packages.summary([], 0) == ""


def test_a_test_counts_once_for_each_package_it_needs():
    line = packages.summary([("smbd", "smbcontrol"), ("testparm", "curl"), ("fio",)], 0)
    assert line == "tests skipped: 3 need packages (curl 1, fio 1, samba 2): apt install curl fio samba"


def test_what_needs_root_alone_names_no_package():
    assert packages.summary([], 2) == "tests skipped: 2 need root"


def listed_after(start: str, text: str) -> set[str]:
    """The words between ``start`` and a closing parenthesis, or the end of a line without a backslash."""
    words = re.search(rf"^{re.escape(start)}([^)`]+)", text, re.MULTILINE)
    assert words, start
    return set(words[1].replace("\\\n", " ").split())


@pytest.mark.parametrize(
    ("file", "start", "besides"),
    [
        ("README.md", "apt install ", set()),
        (".ci/run", "packages=(", {"python3-venv"}),
    ],
)
def test_the_readme_and_ci_install_every_package(file: str, start: str, besides: set[str]):
    assert listed_after(start, (ROOT / file).read_text(encoding="utf-8")) == WANTED | besides


LACKING = """
from tests.skipped import pytest_runtest_makereport, pytest_unconfigure
"""
LACKING_TESTS = """
import pytest
from tests.servers.process import require

@pytest.fixture(scope="session")
def server():
    require("no-such-server", root=False)

@pytest.mark.parametrize("number", range(3))
def test_with_the_server(server, number): pass

def test_with_another():
    require("no-such-client", "sh", root=False)

def test_that_passes(): pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Tests that lack something, under the same hooks as our own."""
    (tmp_path / "conftest.py").write_text(LACKING)
    (tmp_path / "test_it.py").write_text(LACKING_TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]")
    return tmp_path


def run_tests(folder: Path, *, workers: int, required: bool) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", str(workers)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "SHAREBENCH_REQUIRE_SERVERS": str(int(required))},
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.long
def test_the_last_line_of_the_tests_counts_them_also_from_other_processes(folder: Path, workers: int):
    done = run_tests(folder, workers=workers, required=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == packages.summary([("no-such-server",)] * 3 + [("no-such-client",)], 0)


def test_what_is_missing_fails_where_it_is_required(folder: Path):
    done = run_tests(folder, workers=0, required=True)
    assert done.returncode == 1
    assert "SHAREBENCH_REQUIRE_SERVERS=1, but not installed: no-such-client" in done.stdout
