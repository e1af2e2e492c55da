"""``sharebench report``: one page of any recording."""

from pathlib import Path

import pytest

from storage.notebook import Notebook
from tests.builders import book, one
from tests.command_line import Inside
from tests.recordings import MAKERS


@pytest.mark.parametrize("kind", ["load", "isolation", "trial", "survey", "audit", "watch"])
def test_any_kind_becomes_a_page(inside: Inside, tmp_path: Path, kind: str):
    with Notebook(inside.db) as notebook:
        made = MAKERS[kind](notebook)
    done = inside("report", made, "-o", str(tmp_path / "report.html"))
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "report.html").read_text()
    assert page.count("<article") == 1
    assert "<dt>Answer</dt>" in page


def test_an_experiment_and_two_series(inside: Inside, tmp_path: Path):
    book(inside.db, one(1, experiment="tuning"), one(2, (1.5e8,) * 5, experiment="tuning"), one(3, (2e8,) * 5))
    for names in (("tuning",), (f"{1:012x}", f"{3:012x}"), (f"{1:012x}",)):
        done = inside("report", *names, "-o", str(tmp_path / "report.html"), "--force")
        assert done.returncode == 0, done.stderr
        assert "<dt>How sure</dt>" in (tmp_path / "report.html").read_text() or names == ("tuning",)


def test_what_is_no_page_is_refused(inside: Inside, tmp_path: Path):
    book(inside.db, one(1))
    assert "report.html" in inside.fails(2, "report", "last", "-o", str(tmp_path / "report.csv"))
    (tmp_path / "there.pdf").write_text("mine")
    inside.fails(2, "report", "last", "-o", str(tmp_path / "there.pdf"))
    assert (tmp_path / "there.pdf").read_text() == "mine"
