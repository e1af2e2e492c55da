"""``sharebench import``: taken whole or refused whole."""

import json
from dataclasses import replace

import pytest

from app.cli.commands import import_
from forms.exporters import export
from storage.notebook import Notebook
from tests.builders import all_series, book_series, full_series


def test_from_stdin(inside):
    done = inside("import", "-", stdin=export([book_series()], "json").decode())
    assert done.stdout.split() == [book_series().id]


def test_a_filled_form(inside, tmp_path):
    file = tmp_path / "form.csv"
    lines = inside("export", "--blank", "--format", "csv", "--link", "10M").stdout
    file.write_text(lines.replace("\n1,,,", "\n1,1812898,2.3,").replace("\n2,,,", "\n2,,2.4,"))
    series_id = inside("import", str(file)).stdout.strip()
    document = inside.json("show", series_id, "--json")
    assert [run["seconds"] for run in document["runs"]] == [2.3, 2.4]
    assert document["link_bits_per_second"] == 10_000_000


def test_one_wrong_series_refuses_all(inside, tmp_path):
    documents = json.loads(export([book_series(), full_series()], "json"))
    documents[1]["runs"][3]["seconds"] = "fast"
    file = tmp_path / "two.json"
    file.write_text(json.dumps(documents))
    message = inside.fails(2, "import", str(file))
    assert "[1].runs[3].seconds: expected a number, found 'fast'" in message
    assert len(all_series(inside.db)) == 0


@pytest.mark.parametrize("name", ["last", "kept", "", "a b", "--json", "x" * 400, "a\x1b[31m"])
def test_an_id_that_could_not_be_typed_or_means_something_else_is_refused(inside, tmp_path, name):
    with Notebook(inside.db) as notebook:
        notebook.add(full_series())
        notebook.set_baseline("kept", full_series().id)
    file = tmp_path / "one.json"
    file.write_bytes(export([replace(book_series(), id=name)], "json"))
    message = inside.fails(2, "import", str(file))
    assert "--as-new" in message or "id" in message
    assert "\x1b" not in message
    assert len(all_series(inside.db)) == 1
    assert inside("import", str(file), "--as-new").returncode == 0 or not name


def test_a_series_that_differs_is_not_replaced(inside, tmp_path):
    file = tmp_path / "one.json"
    file.write_bytes(export([book_series()], "json"))
    assert inside("import", str(file)).returncode == 0
    file.write_bytes(export([full_series(), replace(book_series(), runs=book_series().runs[:3])], "json"))
    assert "--as-new" in inside.fails(2, "import", str(file))
    assert len(all_series(inside.db)) == 1
    assert len(inside("import", str(file), "--as-new").stdout.split()) == 2


def test_a_base_that_is_not_there_is_forgotten_and_one_that_is_is_kept(inside, tmp_path):
    follower = replace(full_series(), base_id=book_series().id)
    file = tmp_path / "f.json"
    file.write_bytes(export([follower], "json"))
    assert inside("import", str(file)).returncode == 0
    assert inside.json("show", follower.id, "--json")["base_id"] is None
    file.write_bytes(export([follower, book_series()], "json"))
    follower_id, base_id = inside("import", str(file), "--as-new").stdout.split()
    assert inside.json("show", follower_id, "--json")["base_id"] == base_id


def test_two_series_of_one_id_are_imported_as_new(inside, tmp_path):
    file = tmp_path / "twice.json"
    twice = [book_series(), replace(full_series(), id=book_series().id)]
    file.write_bytes(export([*twice, replace(full_series(), base_id=book_series().id)], "json"))
    assert "--as-new" in inside.fails(2, "import", str(file))
    ids = inside("import", str(file), "--as-new").stdout.split()
    assert len(set(ids)) == 3
    assert inside.json("show", ids[2], "--json")["base_id"] == ids[1]


def test_a_refusal_is_a_line_however_long_what_was_found_is(inside, tmp_path):
    file = tmp_path / "long.json"
    file.write_text(json.dumps({"schema": "x" * 1_000_000}))
    assert len(inside.fails(2, "import", str(file))) < 400
    file.write_text(json.dumps({"schema": ["x"] * 1_000_000}))
    assert "found an array" in inside.fails(2, "import", str(file))


def test_a_file_that_is_too_large_is_refused_with_what_to_do(inside, tmp_path, monkeypatch):
    monkeypatch.setattr(import_, "MOST_BYTES", 1000)
    file = tmp_path / "large.json"
    file.write_bytes(b" " * 1001)
    assert "export fewer series" in inside.fails(2, "import", str(file))
    done = inside("import", "-", stdin=" " * 1001)
    assert (done.returncode, "export fewer series" in done.stderr) == (2, True)


def test_what_cannot_be_read(inside, tmp_path):
    assert "No such file" in inside.fails(2, "import", str(tmp_path / "none.json"))
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG\r\n")
    assert "byte 0: not UTF-8 text" in inside.fails(2, "import", str(picture))


def test_the_paper_form_as_printed_comes_in_and_its_contradictions_are_told(inside, tmp_path):
    paper = tmp_path / "b9.csv"
    paper.write_text('Run No,Size in Bytes,"Time, sec",Bytes/sec\n1,"1,812,898",2.3,"788,217"\nAverage:,,,"777,310"\n')
    done = inside("import", str(paper))
    assert done.returncode == 0
    told = " ".join(done.stderr.split())
    assert "average: printed 777,310 bytes/sec, the other cells give 788,217" in told
    assert "The form contradicts itself" in " ".join(inside("show", "last").stdout.split())


def test_the_example_names_what_its_source_says_wrongly(inside):
    assert "Its own table gives 108.6 µs" in " ".join(inside("import", "--example").stderr.split())
