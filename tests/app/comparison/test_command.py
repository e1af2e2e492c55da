"""``sharebench compare`` as an admin and as a script meet it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli.main import run
from storage.notebook import Notebook
from storage.records import Command, Target
from tests.builders import repeats, series

STEADY = (100e6, 101e6, 99e6, 100.5e6, 99.5e6, 100e6)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A notebook with a base, what is faster, slower, the same and too short, and an FTP series."""
    path = tmp_path / "notebook.db"
    base = series(STEADY, id="aaaaaaaaaaaa", label="as found")
    with Notebook(path) as notebook:
        notebook.add(base)
        for name, factor in (("b", 1.2), ("c", 0.8), ("d", 1.001)):
            notebook.add(series([rate * factor for rate in STEADY], id=name * 12, label=f"times {factor}"))
        notebook.add(series(STEADY[:2], id="e" * 12))
        notebook.add(series(STEADY, id="f" * 12, target=Target(protocol="ftp", host="nas", port=21, path="/big.bin")))
        notebook.add(replace(base, id="0" * 12, command=Command.PUT))
        for name, one in (("before", base), ("ftp", notebook.series("f"))):
            again = [replace(each, id=f"9{each.id[:10]}{n}") for n, each in enumerate(repeats(one, 1.001, 0.999))]
            for each in again:
                notebook.add(each)
            notebook.set_baseline(name, one.id, *(each.id for each in again))
    return path


def compare(db: Path, *arguments: str) -> int:
    return run(["compare", "--db", str(db), *arguments], lambda *_args, **_more: 0)


@pytest.mark.parametrize(
    ("other", "code", "word"),
    [("b", 0, "Faster"), ("c", 1, "Slower"), ("d", 3, "Inconclusive"), ("e", 3, "Inconclusive")],
)
def test_exit_codes_and_words(db, other, code, word, capsys):
    assert compare(db, "before", other) == code
    out, err = capsys.readouterr()
    assert word in out
    assert err == ""
    assert max(map(len, out.splitlines())) <= 80
    assert ("at least 3 runs a side" in " ".join(out.split())) == (other == "e")
    assert ("To settle it:" in out) == (other == "d")


def test_the_document(db, capsys):
    assert compare(db, "before", "c", "--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "sharebench/comparison/1"
    assert (document["base"], document["other"], document["verdict"]) == ("9aaaaaaaaaa1", "c" * 12, "slower")
    assert sorted(document["base_series"]) == ["9aaaaaaaaaa0", "9aaaaaaaaaa1", "a" * 12]


def test_noise_and_margin_are_taken(db, capsys):
    assert compare(db, "before", "c", "--noise", "30") == 3
    assert compare(db, "before", "c", "--noise", "30", "--margin", "40") == 0
    capsys.readouterr()


def test_several_stand_side_by_side_with_the_ratio_to_ftp(db, capsys):
    assert compare(db, "f", "b", "c") == 1
    out = capsys.readouterr().out
    figures = next(line.split() for line in out.splitlines() if line.startswith("get"))
    assert figures == ["get", "100.0", "0.7", "120.0", "0.9", "120.0", "80.0", "0.6", "80.0"]
    text = " ".join(out.split())
    assert "times 1.2 against get ftp://nas/big.bin: ▲ Faster" in text
    assert "times 0.8 against get ftp://nas/big.bin: ▼ Slower" in text
    assert max(map(len, out.splitlines())) <= 80
    assert compare(db, "f", "a", "e") == 3
    capsys.readouterr()
    assert compare(db, "f", "a", "b", "--json") == 3
    assert [d["verdict"] for d in json.loads(capsys.readouterr().out)] == ["unknown", "faster"]


def test_each_side_is_called_as_it_was_named_in_verdicts_tables_and_documents(db, capsys):
    with Notebook(db) as notebook:
        notebook.set_baseline("march", "b" * 12)
        notebook.set_baseline("april", "c" * 12)
    assert compare(db, "before", "march", "april") == 1
    out = capsys.readouterr().out
    text = " ".join(out.split())
    assert "march against before (3 series): ▲ Faster" in text
    assert "april against before (3 series): ▼ Slower" in text
    assert "SMB" not in text
    assert '"before" is the mean of 3 series' in text
    assert out.splitlines()[0] == "before, march and april compared"
    rows = out.partition("Averages of the valid runs")[2].splitlines()[4:7]
    assert [row.split("  ")[0] for row in rows] == ["before (3 series)", "march", "april"]

    assert compare(db, "before", "march", "april", "--json") == 1
    documents = json.loads(capsys.readouterr().out)
    assert [(document["base_name"], document["other_name"]) for document in documents] == [
        ("before", "march"),
        ("before", "april"),
    ]
    assert [document["verdict_in_words"] for document in documents] == ["faster", "slower"]


def test_the_document_says_inconclusive_and_why_in_the_words_of_the_text(db, capsys):
    assert compare(db, "a", "d", "--alone", "--json") == 3
    document = json.loads(capsys.readouterr().out)
    assert (document["verdict"], document["doubt"]) == ("unknown", "wandered"), "as scripts know them"
    assert document["verdict_in_words"] == "inconclusive"
    assert document["doubt_in_words"]
    assert compare(db, "a", "b", "--json") == 0
    decided = json.loads(capsys.readouterr().out)
    assert (decided["verdict_in_words"], decided["doubt_in_words"]) == ("faster", None)


def test_repeats_count_where_that_is_asked(db, capsys):
    assert compare(db, "a", "b", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["base_series"], document["unnamed_series"]) == (["a" * 12], ["9aaaaaaaaaa0", "9aaaaaaaaaa1"])
    assert compare(db, "a", "b", "--repeats", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (len(document["base_series"]), document["unnamed_series"]) == (3, [])
    assert compare(db, "a", "b", "--repeats", "--alone") == 2
    assert "--repeats" in capsys.readouterr().err


def test_a_get_against_a_put_is_allowed_and_said(db, capsys):
    assert compare(db, "a", "000", "--json") == 3
    document = json.loads(capsys.readouterr().out)
    assert {"name": "command", "base": "get", "other": "put"} in document["differences"]
    assert compare(db, "a", "000") == 3
    assert "different work" in capsys.readouterr().out


def test_wrong_words(db, capsys):
    assert compare(db, "before") == 2
    assert compare(db, "before", "nothing") == 2
    assert compare(db, "before", "b", "--margin", "0") == 2
    assert compare(db, "before", "b", "before") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "before is compared with itself" in err
    assert "no recording or baseline is called 'nothing'" in err
