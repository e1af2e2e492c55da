"""``sharebench import``: taken whole or refused whole."""

import json
import resource
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.base import limits
from app.cli import input_file
from forms.isolation.document import isolation_document
from forms.isolation.summary import isolation_summary
from forms.load.document import load_document
from forms.series.document import series_document
from storage.notebook import Notebook
from tests.builders import all_series, book_series, example_isolation, export, full_series
from tests.command_line import Inside
from tests.loads import full_load


def test_from_stdin(inside):
    done = inside("import", "-", stdin=export([book_series()], "json").decode())
    assert done.stdout.split() == [book_series().id]
    assert "1 recording imported" in done.stderr


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
    monkeypatch.setattr(input_file, "MOST_BYTES", 1000)
    file = tmp_path / "large.json"
    file.write_bytes(b" " * 1001)
    assert "export fewer series" in inside.fails(2, "import", str(file))
    done = inside("import", "-", stdin=" " * 1001)
    assert (done.returncode, "export fewer series" in done.stderr) == (2, True)


def test_what_cannot_be_read(inside, tmp_path):
    assert "No such file" in inside.fails(2, "import", str(tmp_path / "none.json"))
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG\r\n")
    assert "picture" in inside.fails(2, "import", str(picture))


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"PK\x03\x04...", "workbook"),
        (b"\xd0\xcf\x11\xe0...", "workbook"),
        ("Run;Time\n1;2\n".encode("utf-16") + b"\0", "UTF-16"),
        ("Run;Time\n1;2\n".encode("utf-32"), "UTF-32"),
    ],
)
def test_what_a_spreadsheet_saves_instead_of_a_form_is_told_as_that(inside, tmp_path, content, kind):
    file = tmp_path / "saved"
    file.write_bytes(content)
    error = inside.fails(2, "import", str(file))
    assert (kind in error, "CSV UTF-8" in error) == (True, True)


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


def test_the_example_opens_on_the_whole_isolation_of_2003(inside):
    inside("import", "--example")
    assert inside.json("show", "last", "--json")["id"] == "isolation-2003"
    compared = inside("compare", "isolation-2003", "isolation-2003-without")
    assert len(compared.stdout.splitlines()) < 40, "no rows of rates that one side does not have"
    assert "isolation-2003-without has no rates" in " ".join(compared.stdout.split())


ONE_OF_EACH = {
    "series": series_document(replace(full_series(), id="5e51e5000001")),
    "load": load_document(full_load()),
    "isolation": isolation_document(isolation_summary(example_isolation())),
}
"""A document of each kind that stands for itself."""


def written(folder: Path, document: object) -> str:
    (folder / "in.json").write_text(json.dumps(document))
    return str(folder / "in.json")


@pytest.mark.parametrize("kind", ONE_OF_EACH)
@pytest.mark.varied(name=3)
@pytest.mark.parametrize(
    "name", ["last", "last-load", "-x", "../../x", "a\nb", "x" * 500, "\x1b]52;c;QQ==\x07", "\u202e"]
)
def test_the_id_of_every_kind_is_one_that_can_be_typed(inside, tmp_path, kind, name):
    file = written(tmp_path, ONE_OF_EACH[kind] | {"id": name})
    assert "--as-new" in inside.fails(2, "import", file)
    new = inside.json("import", file, "--as-new", "--json")["imported"]
    assert len(new) == 1
    assert inside.json("show", new[0], "--json")["id"] == new[0]


@pytest.mark.parametrize("kind", ["load", "isolation"])
def test_an_id_is_one_recordings_alone(inside, tmp_path, kind):
    assert inside("import", written(tmp_path, ONE_OF_EACH["series"])).returncode == 0
    same = written(tmp_path, ONE_OF_EACH[kind] | {"id": "5e51e5000001"})
    assert "is not what" in inside.fails(2, "import", same)
    both = written(tmp_path, [ONE_OF_EACH["series"] | {"id": "same"}, ONE_OF_EACH[kind] | {"id": "same"}])
    assert "two recordings" in inside.fails(2, "import", both)


def test_an_array_of_every_kind_is_imported_whole_or_not_at_all(inside, tmp_path):
    many = list(ONE_OF_EACH.values())
    wrong = [*many[:2], many[2] | {"clients": "many"}]
    assert "[2].clients: expected" in inside.fails(2, "import", written(tmp_path, wrong))
    assert not inside.db.exists()
    file = written(tmp_path, many)
    ids = [document["id"] for document in many]
    assert inside.json("import", file, "--json") == {"imported": ids, "already_there": []}
    assert inside.json("import", file, "--json") == {"imported": [], "already_there": ids}


def test_what_list_writes_is_imported_again(inside, tmp_path):
    assert inside("import", written(tmp_path, list(ONE_OF_EACH.values()))).returncode == 0
    listed = inside("list", "--json").stdout
    other = Inside(tmp_path / "other.db")
    assert other("import", "-", stdin=listed).returncode == 0
    assert other("list", "--json").stdout == listed


@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_a_host_in_a_document_has_no_character_that_steers(inside, tmp_path, kind):
    text = json.dumps(ONE_OF_EACH[kind])
    host = json.loads(text).get("target", {}).get("host") or ONE_OF_EACH[kind]["targets"][0]["host"]
    (tmp_path / "in.json").write_text(text.replace(f'"host": "{host}"', '"host": "na\\u009b\\u202es"'))
    assert "target.host" in inside.fails(2, "import", str(tmp_path / "in.json"))


@pytest.mark.parametrize("begin", ["[", '{"a":', '[{"schema":"sharebench/load/1","points":'])
def test_json_that_is_nested_too_deep_is_refused_in_a_line(inside, begin):
    done = inside("import", "-", stdin=begin * 100_000)
    assert done.returncode == 2
    assert "nested too deep" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("kind", ONE_OF_EACH)
@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**300, 1e308])
def test_a_number_that_no_notebook_holds_is_refused_wherever_it_is(inside, tmp_path, kind, number):
    for key, value in ONE_OF_EACH[kind].items():
        if isinstance(value, int):
            file = written(tmp_path, ONE_OF_EACH[kind] | {key: number})
            assert "too large" in (said := inside.fails(2, "import", file)) or "expected" in said, key


HUGE: dict[str, Callable[[], str]] = {
    "line ends": lambda: "\n" * 3_000_000,
    "lists": lambda: "[" + "[]," * 3_000_000 + "[]]",
    "one document of lists": lambda: '{"schema": "x", "runs": [' + "[]," * 3_000_000 + "[]]}",
    "commas": lambda: "," * 3_000_000,
    "names": lambda: "{" + ",".join(f'"{i:x}":0' for i in range(1_500_000)) + "}",
    "a wide text": lambda: '["\U0001f600' + "x" * 30_000_000 + '"]',
    "quotes": lambda: '"' * 3_000_000,
}
"""Each is made where it is needed: together they take hundreds of megabytes."""


@pytest.mark.long
@pytest.mark.parametrize("what", HUGE)
def test_a_huge_file_is_refused_in_a_line_within_the_memory_that_is_allowed(inside, what, monkeypatch):
    monkeypatch.setattr(limits, "MOST_MEMORY_BYTES", 60_000_000)
    done = inside("import", "-", stdin=HUGE[what]())
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "fault" not in done.stderr
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    assert limit == resource.RLIM_INFINITY, "the limit is of the import alone"


def test_what_needs_more_memory_than_is_allowed_is_refused_and_named(inside, tmp_path, monkeypatch):
    document = ONE_OF_EACH["series"] | {"runs": [[]] * 1_000_000}
    file = written(tmp_path, document)
    monkeypatch.setattr(limits, "MOST_MEMORY_BYTES", 30_000_000)
    assert "more than 30 MB of memory" in inside.fails(2, "import", file)


def test_long_text_of_other_alphabets_comes_back_as_it_was(inside, tmp_path):
    note = "日本語 é 🚀 שלום " * 40_000
    (tmp_path / "in.json").write_text(json.dumps(ONE_OF_EACH["series"] | {"note": note}, ensure_ascii=False))
    series_id = inside("import", str(tmp_path / "in.json")).stdout.strip()
    assert inside.json("show", series_id, "--json")["note"] == note
