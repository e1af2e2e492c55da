"""``sharebench experiment`` on a notebook with a small ladder."""

import json
from pathlib import Path

import pytest

from app.cli.main import run
from storage.notebook import Notebook
from storage.records import Change, Decision
from tests.builders import series

FIVE = (99e6, 99.5e6, 100e6, 100.5e6, 101e6)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A notebook with the experiment ``tuning`` (a base and two changes) and a series outside of it."""
    path = tmp_path / "notebook.db"
    first = Change(name="log level", value="3", previous="0", evidence="confirmed", remark="log level changed.")
    second = Change(name="strict sync", value="no", evidence="contradicted", remark="strict sync did not change.")
    with Notebook(path) as notebook:
        made = (("a", 1.0, None, None), ("b", 0.9, first, "a"), ("c", 1.2, second, "b"))
        for minute, (name, factor, change, base) in enumerate(made):
            notebook.add(
                series(
                    [rate * factor for rate in FIVE],
                    id=name * 12,
                    created_at=f"2026-01-31T10:0{minute}:00.000Z",
                    experiment="tuning",
                    base_id=base * 12 if base else None,
                    change=change,
                )
            )
        notebook.add(series(FIVE, id="d" * 12))
    return path


def experiment(db: Path, *arguments: str) -> int:
    return run(["experiment", *arguments, "--db", str(db)], lambda *_args, **_more: 0)


def test_list(db, tmp_path, capsys):
    assert experiment(db, "list") == 0
    assert capsys.readouterr().out == "2026-01-31 10:02    3 series  tuning\n"
    assert experiment(db, "list", "--json") == 0
    assert json.loads(capsys.readouterr().out) == [
        {"name": "tuning", "series": 3, "last_at": "2026-01-31T10:02:00.000Z"}
    ]
    assert experiment(tmp_path / "empty.db", "list") == 0
    out, err = capsys.readouterr()
    assert (out, "no experiments yet" in err) == ("", True)


def test_show(db, capsys):
    assert experiment(db, "show", "tuning") == 0
    out, err = capsys.readouterr()
    assert err == ""
    for words in ("log level = 3 (was 0)", "[-] from 0: Slower", "[+] from 1: Faster", "not as claimed: strict sync"):
        assert words in out
    assert max(map(len, out.splitlines())) <= 80


def test_the_document(db, capsys):
    assert experiment(db, "show", "tuning", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "sharebench/experiment/1"
    assert [rung["series"][0] for rung in document["rungs"]] == ["a", "b", "c"]
    assert [rung["standing"] for rung in document["rungs"]] == [None, "proven", "not as claimed"]


def test_keep_and_revert_are_written_down_and_move_the_next_base(db, capsys):
    assert experiment(db, "keep", "bbbb") == 0
    assert "the next change is made from series bbbbbbbbbbbb" in capsys.readouterr().err
    assert experiment(db, "revert", "c", "--json") == 0
    out, err = capsys.readouterr()
    assert "put strict sync back as it was yourself; the next change is made from series bbbbbbbbbbbb" in err
    document = json.loads(out)
    assert [rung["decision"] for rung in document["rungs"]] == [None, "kept", "reverted"]
    assert [rung["on_kept_path"] for rung in document["rungs"]] == [True, True, False]
    with Notebook(db) as notebook:
        assert [one.decision for one in notebook.experiment("tuning")] == [None, Decision.KEPT, Decision.REVERTED]
        assert len(notebook.series("b").measured()) == 5
    assert experiment(db, "revert", "b") == 0
    assert (
        "put log level back to 0 yourself; the next change is made from series aaaaaaaaaaaa" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("show", "nothing"), "no experiment is called 'nothing'"),
        (("keep", "d"), "part of no experiment"),
        (("revert", "a"), "claims no change"),
        (("keep", "f"), "no series or baseline is called 'f'"),
    ],
)
def test_wrong_words(db, arguments, words, capsys):
    assert experiment(db, *arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert len(err.splitlines()) == 1
