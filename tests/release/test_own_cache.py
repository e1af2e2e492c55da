"""The application in one file runs nothing that another user unpacked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.release.build import choose_own_cache
from tests.servers.process import require

SHIV = Path(sys.executable).with_name("shiv")


@pytest.fixture
def application(tmp_path: Path) -> Path:
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "tiny.py").write_text("def main():\n    print(__file__)\n")
    file = tmp_path / "tiny.pyz"
    words = ("--site-packages", tmp_path / "packages", "--entry-point", "tiny:main", "--compressed", "-o", file)
    subprocess.run([SHIV, *map(str, words)], check=True, capture_output=True)
    choose_own_cache(file)
    return file


def said(file: Path, home: Path) -> str:
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    return subprocess.run(
        [sys.executable, "-I", str(file)], env=environment, check=True, capture_output=True, text=True
    ).stdout


@pytest.mark.skipif(not SHIV.exists(), reason="shiv is not installed")
def test_with_another_users_home_nothing_of_that_users_is_run(application: Path, tmp_path: Path):
    require(root=True)
    home = tmp_path / "home"
    home.mkdir()
    assert str(home) in said(application, home), "one's own is used"

    (planted,) = home.glob(".shiv/*/site-packages/tiny.py")
    planted.write_text("def main():\n    print('somebody else')\n")
    assert "somebody else" in said(application, home)
    for path in (home, *home.rglob("*")):
        os.chown(path, 65534, 65534)
    answer = said(application, home)
    assert "somebody else" not in answer
    assert str(home) not in answer
