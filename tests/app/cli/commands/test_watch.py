"""``sharebench watch`` as a timer calls it."""

import json
from pathlib import Path

import pytest

from storage.notebook import Notebook
from storage.watches import WATCH
from tests.command_line import QUICK, Inside


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "big.bin"
    found.write_bytes(b"x" * 300_000)
    return found


def test_the_first_night_is_collected_and_a_failure_is_told_once(inside: Inside, file: Path, tmp_path: Path):
    told = tmp_path / "told"
    asked = ("watch", f"file://{file}", "--baseline", "nightly", *QUICK, "--runs", "3", "--warmup", "0")
    done = inside(*asked, "--on-change", f"cat >> {told}")
    assert done.returncode == 3
    assert "1 of 3 nights" in done.stdout
    assert not told.exists()
    with Notebook(inside.db) as notebook:
        assert len(notebook.baseline_ids("nightly")) == 1
        assert len(notebook.recordings(WATCH)) == 1
    file.unlink()
    for _ in range(2):
        done = inside(*asked, "--on-change", f"cat >> {told}", "--json")
        assert done.returncode == 4
        assert json.loads(done.stdout)["state"] == "unmeasurable"
    assert [json.loads(line)["state"] for line in told.read_text().splitlines()] == ["unmeasurable"]
    assert "Cannot be measured since" in inside("show", "last").stdout or inside("list").stdout


@pytest.mark.parametrize("confirm", ["3/2", "0/2", "2", "x/3", "9/10"])
def test_a_wrong_confirm_stores_nothing(inside: Inside, file: Path, confirm: str):
    assert "--confirm" in inside.fails(2, "watch", f"file://{file}", "--baseline", "n", "--confirm", confirm)
    assert not inside.db.exists()


def test_options_that_do_not_fit_store_nothing(inside: Inside, file: Path):
    assert "smb://" in inside.fails(2, "watch", f"file://{file}", "--baseline", "n", "--sign")
    assert not inside.db.exists()
