"""``sharebench export``: to stdout, to files that are whole or not there, in every format."""

import json
import os
import pty
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from forms.exporters import FORMATS
from tests.builders import book, book_series, full_series
from tests.command_line import Inside
from tests.servers.process import require_terminals
from tests.waiting import HANG_SECONDS

ROOT = Path(__file__).parents[4]


@pytest.fixture(autouse=True)
def two_series(tmp_path: Path) -> None:
    book(tmp_path / "notebook.db", book_series(), full_series(), baselines={"untuned": book_series().id})


def test_text_to_stdout_is_what_show_prints(inside):
    done = inside("export", "last")
    assert done.returncode == 0
    assert done.stdout.rstrip("\n") == inside("show", "last").stdout.rstrip("\n")
    assert done.stderr == ""


def test_several_series_by_any_name(inside):
    documents = inside.json("export", "untuned", "0123", "--format", "json")
    assert [d["id"] for d in documents] == [book_series().id, full_series().id]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_to_a_file_named_by_its_suffix(inside, tmp_path, name):
    file = tmp_path / f"form{FORMATS[name].suffix}"
    done = inside("export", "last", "-o", str(file))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{file}\n"
    start = {"pdf": b"%PDF", "xlsx": b"PK", "html": b"<!DOCTYPE", "json": b"{", "csv": b"\xef\xbb\xbfForm"}
    assert file.read_bytes().startswith(start.get(name, b""))
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith(".sharebench")) == []


def test_a_suffix_of_no_format_is_refused_with_those_that_are_known(inside, tmp_path):
    said = inside.fails(2, "export", "last", "-o", str(tmp_path / "form.docx"))
    assert ".docx" in said
    assert ".pdf" in said
    assert "--format" in said
    assert not (tmp_path / "form.docx").exists()
    assert inside("export", "last", "-o", str(tmp_path / "form.docx"), "--format", "text").returncode == 0


@pytest.mark.parametrize(("short", "name"), [("md", "markdown"), ("txt", "text"), ("MD", "markdown")])
def test_a_suffix_is_a_formats_name_as_well(inside, short, name):
    assert inside("export", "last", "--format", short).stdout == inside("export", "last", "--format", name).stdout


def test_several_formats_are_a_file_each(inside, tmp_path):
    done = inside("export", "last", "--format", "pdf,html,md", "-o", str(tmp_path / "monday.html"))
    assert done.stdout.split() == [str(tmp_path / f"monday{suffix}") for suffix in (".pdf", ".html", ".md")]
    assert (tmp_path / "monday.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "monday.html").read_bytes().startswith(b"<!DOCTYPE")
    assert "-o FILE" in inside.fails(2, "export", "last", "--format", "pdf,html")
    assert "docx" in inside.fails(2, "export", "last", "--format", "pdf,docx")


@pytest.mark.parametrize("form", ["run", "comparison", "experiment", "bottleneck", "clients"])
def test_blank_forms(inside, form):
    done = inside("export", "--blank", "--form", form)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0]


def test_a_blank_form_has_the_links_rate(inside):
    assert "% of 2.5 Gb/s" in inside("export", "--blank", "--link", "2.5G").stdout


def test_other_forms(inside, tmp_path):
    comparison = inside.json("export", "untuned", "last", "--form", "comparison", "--format", "json")
    assert comparison["schema"] == "sharebench/comparison/1"
    tuned = inside.json("export", "switch", "--form", "experiment", "--format", "json")
    assert tuned["schema"] == "sharebench/experiment/1"
    assert inside("worksheet", "bottleneck", "--disk", "560KB", "--save", "one").returncode == 0
    assert inside.json("export", "one", "--form", "bottleneck", "--format", "json")["name"] == "one"


def test_an_existing_file_wants_force(inside, tmp_path):
    file = tmp_path / "form.txt"
    file.write_text("mine")
    file.chmod(0o640)
    assert "exists already" in inside.fails(2, "export", "last", "-o", str(file))
    assert file.read_text() == "mine"
    assert inside("export", "last", "-o", str(file), "--force").returncode == 0
    assert "Bytes/sec" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_what_cannot_be_written_fails_before_any_work(inside, tmp_path):
    assert "there is no folder" in inside.fails(4, "export", "no such", "-o", str(tmp_path / "no/form.txt"))
    assert "it is a folder" in inside.fails(4, "export", "no such", "-o", str(tmp_path))
    assert "no recording or baseline" in inside.fails(2, "export", "no such", "-o", str(tmp_path / "form.txt"))
    assert not (tmp_path / "form.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "nothing to export"),
        (("last", "--blank"), "a blank form has no series"),
        (("last", "--form", "comparison"), "needs a base and at least one other"),
        (("a", "b", "--form", "experiment"), "one experiment at a time"),
        (("nosuch", "--form", "experiment"), "no experiment is called"),
        (("nosuch", "--form", "clients"), "no clients worksheet is called"),
        (("last", "--format", "docx"), "'docx' is not one of"),
    ],
)
def test_wrong_words(inside, arguments, said):
    assert said in inside.fails(2, "export", *arguments)


def test_an_exported_document_is_imported_elsewhere(inside, tmp_path):
    file = tmp_path / "all.json"
    assert inside("export", "untuned", "last", "-o", str(file)).returncode == 0
    other = Inside(tmp_path / "other.db")
    assert other("import", str(file)).stdout.split() == [book_series().id, full_series().id]
    again = other.json("import", str(file), "--json")
    assert again == {"imported": [], "already_there": [book_series().id, full_series().id]}
    assert len(other.json("import", str(file), "--as-new", "--json")["imported"]) == 2
    assert json.loads(other("export", "0123456789ab", "--format", "json").stdout) == json.loads(
        inside("export", "last", "--format", "json").stdout
    )


@pytest.mark.varied
@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 130), ("\n", 130)])
def test_on_a_terminal_it_asks_before_it_replaces(inside, tmp_path, typed, code):
    require_terminals()
    file = tmp_path / "form.txt"
    file.write_text("mine")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "app", "--db", str(inside.db), "export", "last", "-o", str(file)],
        cwd=ROOT, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        os.close(theirs)
        asked = b""
        while not asked.endswith(b": "):
            asked += os.read(ours, 1)
        os.write(ours, typed.encode())
        assert process.stdout is not None
        answer = process.stdout.read()
        assert process.wait(HANG_SECONDS) == code
    os.close(ours)
    assert b"exists already. Replace it? [y/N]" in asked
    assert (file.read_text() == "mine") == (code != 0)
    assert answer == (f"{file}\n".encode() if code == 0 else b"")


def test_all_series_have_an_overview_before_them_where_people_read_it(inside, tmp_path):
    paper = inside("export", "--all", "--format", "text").stdout
    assert paper.startswith("2 series")
    assert paper.index("Deviation,") < paper.index("Run No")
    assert [d["id"] for d in inside.json("export", "--all", "--format", "json")] == [
        full_series().id, book_series().id,
    ]  # fmt: skip
    said = inside.fails(2, "export", "--all", "last")
    assert "leave names" in said


def test_it_goes_to_a_printer_and_says_what_lp_says(inside, tmp_path, monkeypatch):
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, does in (("lpstat", "echo office"), ("lp", f'echo "$@" > {tmp_path}/asked; cat > {tmp_path}/paper')):
        (programs / name).write_text(f"#!/bin/sh\n{does}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    done = inside("export", "last", "--print", "office", "--paper", "letter")
    assert (done.returncode, done.stdout) == (0, "")
    assert "handed to the printer" in done.stderr
    assert (tmp_path / "paper").read_bytes().startswith(b"%PDF")
    assert "media=Letter -d office" in (tmp_path / "asked").read_text()
    assert "there is no printer 'cellar'" in inside.fails(4, "export", "last", "--print", "cellar")
