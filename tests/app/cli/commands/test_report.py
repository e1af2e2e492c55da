"""``sharebench report``: one page of any recording."""

import re
from dataclasses import replace
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


def test_a_page_of_several_calls_each_by_the_name_it_was_given_and_counts_each_run_once(inside: Inside, tmp_path: Path):
    rates = (1e8, 1.01e8, 0.99e8, 1e8, 1e8)
    shown = [one(number, [rate * factor for rate in rates], label="") for number, factor in enumerate((1, 1, 2, 3), 1)]
    with Notebook(book(inside.db, *shown)) as notebook:
        notebook.set_baseline("before-switch", f"{1:012x}", f"{2:012x}")
        notebook.set_baseline("march", f"{3:012x}")
        notebook.set_baseline("april", f"{4:012x}")
    done = inside("report", "before-switch", "march", "april", "-o", str(tmp_path / "report.html"))
    assert done.returncode == 0, done.stderr
    page = " ".join((tmp_path / "report.html").read_text().split())
    assert "before-switch → march: Faster by " in page, "the first step is told as one, once"
    assert "april against before-switch (2 series): Faster by a factor of " in page
    assert "20 runs in 4 series" in page
    assert "SMB (2)" not in page
    assert "get data/big.bin" not in page, "the name that was given is the only one"


def test_loads_are_called_by_the_baselines_that_were_named(inside: Inside, tmp_path: Path):
    with Notebook(inside.db) as notebook:
        first = MAKERS["load"](notebook)
        second = replace(notebook.load(first), id="f" * 12, label="")
        notebook.add_load(second)
        notebook.set_baseline("march", first)
        notebook.set_baseline("april", second.id)
    for command in (("compare", "march", "april"), ("report", "march", "april", "-o", str(tmp_path / "report.html"))):
        done = inside(*command)
        assert done.returncode in {0, 3}, done.stderr
        said = done.stdout if command[0] == "compare" else (tmp_path / "report.html").read_text()
        assert "march" in said
        assert "april" in said


def test_what_is_no_page_is_refused(inside: Inside, tmp_path: Path):
    book(inside.db, one(1))
    assert "report.html" in inside.fails(2, "report", "last", "-o", str(tmp_path / "report.csv"))
    (tmp_path / "there.pdf").write_text("mine")
    inside.fails(2, "report", "last", "-o", str(tmp_path / "there.pdf"))
    assert (tmp_path / "there.pdf").read_text() == "mine"


def test_a_page_says_for_whom_by_whom_and_when_it_was_made(inside: Inside, tmp_path: Path):
    book(inside.db, one(1, environment={"client": {"measured.site": "Bonn"}}))
    file = tmp_path / "report.html"
    done = inside("report", "last", "-o", str(file), "--for", "Example Ltd <1>", "--by", "Anna")
    assert done.returncode == 0, done.stderr
    names = re.findall("<dt>(.*?)</dt><dd[^>]*>(.*?)</dd>", file.read_text())
    assert names[0][0] == "Answer"
    assert names[1:3] == [("Prepared for", "Example Ltd &lt;1&gt;"), ("Prepared by", "Anna")]
    assert names[3][0] == "Made"
    assert ("Site", "Bonn") in names

    done = inside("report", "last", "-o", str(file), "--force")
    assert done.returncode == 0, done.stderr
    assert "Prepared for" not in file.read_text()
    assert "<dt>Made</dt>" in file.read_text()
