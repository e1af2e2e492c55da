"""``list``, ``show``, ``reject``, ``accept``, ``note``, ``baseline``, and the way a series takes out and in again."""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.cli.recording_table import ListedColumn, fit_to
from forms.layout import local_zones
from storage.notebook import Notebook
from tests.builders import book, one
from tests.command_line import QUICK, Inside
from tests.loads import full_load


@pytest.fixture
def series(inside: Inside, tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "file").write_bytes(b"x" * 300_000)
    document: dict[str, Any] = inside.json(
        "run", f"file://{tmp_path}/file", "--runs", "4", "--label", "first", "--json", *QUICK
    )
    return document


def test_an_empty_notebook_says_what_to_do(inside: Inside):
    with Notebook(inside.db):
        pass
    done = inside("list")
    assert (done.returncode, done.stdout) == (0, "")
    assert "sharebench run" in done.stderr
    assert "sharebench run" in inside.fails(2, "show", "last")


def test_reading_makes_no_notebook_and_says_which_file_was_looked_for(inside: Inside, tmp_path: Path):
    folder = tmp_path / "not there"
    for words in (("list",), ("list", "--json"), ("show", "last"), ("export", "last"), ("delete", "last", "--yes")):
        said = inside.fails(2, *words, "--db", str(folder / "typo.db"))
        assert f"there is no notebook at {folder}/typo.db" in said
        assert "sharebench run TARGET" in said
    assert not folder.exists()


def test_list_has_a_line_a_series(inside: Inside, series: dict[str, Any]):
    lines = inside("list").stdout.splitlines()
    assert len(lines) == 2
    assert series["id"] in lines[1]
    assert "first" in lines[1]
    assert inside.json("list", "--json")[0]["id"] == series["id"]


def test_words_list_the_series_that_have_them_all(inside: Inside):
    with Notebook(inside.db) as notebook:
        for each in (one(1, label="old switch"), one(2, label="new switch"), one(3, label="new disk")):
            notebook.add(each)
    for words, found in ((["switch"], [2, 1]), (["NEW", "switch"], [2]), (["nas", "--limit", "1"], [3])):
        lines = inside("list", *words).stdout.splitlines()[1:]
        assert [line.split()[0] for line in lines] == [f"{number:012x}" for number in found]
    assert [document["label"] for document in inside.json("list", "disk", "--json")] == ["new disk"]
    none = inside("list", "zebra")
    assert (none.returncode, none.stdout) == (0, "")
    assert "no recording has 'zebra'" in none.stderr


def test_the_list_has_no_column_that_is_empty_in_every_line(inside: Inside):
    for number, label in ((1, ""), (2, "new switch")):
        with Notebook(inside.db) as notebook:
            notebook.add(one(number, label=label))
        heading = inside("list").stdout.splitlines()[0].split()
        assert heading[-1] == ("label" if label else "what")
    widths = {ListedColumn.ID: 12, ListedColumn.WHEN: 16, ListedColumn.ANSWER: 60}
    assert fit_to(widths, 60) == {**widths, ListedColumn.ANSWER: 28}, "neither target nor label"


def test_what_somebody_typed_as_a_label_stands_before_the_names_of_baselines(inside: Inside):
    with Notebook(inside.db) as notebook:
        notebook.add(one(1, label="old switch"))
        notebook.set_baseline("before-switch", f"{1:012x}")
    assert inside("list").stdout.splitlines()[1].endswith("  old switch [before-switch]")


def test_a_line_of_the_list_fits_80_columns():
    widths = dict(zip(ListedColumn, (12, 16, 9, 4, 60, 40, 30), strict=False))
    for room in (80, 100, 200):
        cells = fit_to(widths, room)
        assert sum(cells.values()) + 2 * (len(cells) - 1) <= room
        assert cells[ListedColumn.ANSWER] >= 15
        assert cells[ListedColumn.LABEL] >= 14
    assert ListedColumn.WHAT not in fit_to(widths, 80)
    assert fit_to(widths, 200) == widths


def test_a_load_takes_one_line_among_the_series(inside: Inside, series: dict[str, Any]):
    with Notebook(inside.db) as notebook:
        notebook.add_load(replace(full_load(), label="before the new switch in the cellar"))
    heading, *lines = inside("list").stdout.splitlines()
    assert heading.split()[:2] == ["id", "when"]
    (line,) = [one for one in lines if one.startswith(full_load().id)]
    assert [word in line for word in ("load", "20 users carried, 40 not", "cellar")] == [True] * 3
    assert any(one.startswith(series["id"]) for one in lines)


def test_a_name_that_is_nearly_right_is_told(inside: Inside):
    with Notebook(inside.db) as notebook:
        notebook.add(one(1, experiment="tuning"))
        notebook.set_baseline("as-delivered", f"{1:012x}")
    assert "did you mean as-delivered? `sharebench list`" in inside.fails(2, "show", "as-deliverd")
    assert "did you mean tuning? `sharebench experiment list`" in inside.fails(2, "experiment", "show", "tunig")
    assert "'zebra'; `sharebench list`" in inside.fails(2, "show", "zebra")


def test_a_prefix_is_enough(inside: Inside, series: dict[str, Any]):
    assert inside.json("show", series["id"][:5], "--json")["id"] == series["id"]
    assert "zzz" in inside.fails(2, "show", "zzz")


def test_a_rejected_run_stays_on_the_form_and_leaves_the_average(inside: Inside, series: dict[str, Any]):
    done = inside("reject", "last", "2", "--reason", "backup [red]ran[/red]")
    assert done.returncode == 0
    assert "backup [red]ran[/red]" in done.stdout
    document = inside.json("show", "last", "--json")
    rejected = document["runs"][3]
    assert (rejected["number"], rejected["status"], rejected["reason"]) == (2, "rejected", "backup [red]ran[/red]")
    rates = [r["bytes_per_second"] for r in document["runs"] if r["phase"] == "measured" and r["number"] != 2]
    assert document["average"]["bytes_per_second"] == pytest.approx(sum(rates) / 3)
    assert inside("accept", "last", "2").returncode == 0
    assert inside.json("show", "last", "--json")["average"] == series["average"]


def test_rejecting_needs_a_run_and_a_reason(inside: Inside, series: dict[str, Any]):
    assert "run 9" in inside.fails(2, "reject", "last", "9", "--reason", "x")
    assert "--reason" in inside.fails(2, "reject", "last", "1")
    assert "--reason" in inside.fails(2, "reject", "last", "1", "--reason", " ")


def test_notes_and_baselines(inside: Inside, series: dict[str, Any]):
    assert inside("note", "last", "after lunch").returncode == 0
    assert inside.json("show", "last", "--json")["note"] == "after lunch"
    assert inside("baseline", "set", "before tuning", "last").stderr.startswith(
        f"before tuning is series first ({series['id']})"
    )
    heading, line = inside("baseline", "list").stdout.splitlines()
    assert re.sub(" +", " ", heading) == f"id named ({local_zones()}) kind baseline"
    assert all(line[at - 2 : at] == "  " for at in (heading.index(" kind") + 1, heading.index(" baseline") + 1))
    assert inside.json("baseline", "list", "--json")[0]["series"] == series["id"]
    assert inside.json("show", "before tuning", "--json")["id"] == series["id"]
    assert "before tuning" in inside("list").stdout
    assert inside("baseline", "remove", "before tuning").returncode == 0
    assert "before tuning" in inside.fails(2, "baseline", "remove", "before tuning")
    for name in ("last", "last-load", "", " before", "0123456789ab"):
        assert "cannot be called" in inside.fails(2, "baseline", "set", name, "last")
        assert "cannot be called" in inside.fails(2, "watch", "file:///etc/hostname", "--baseline", name)


def test_out_and_in_again_changes_nothing_and_says_so(inside: Inside, series: dict[str, Any], tmp_path: Path):
    document = inside("export", "last", "--format", "json").stdout
    (tmp_path / "series.json").write_text(document)
    other = Inside(tmp_path / "other.db")
    first = other("import", str(tmp_path / "series.json"))
    assert first.returncode == 0
    assert other.json("show", "last", "--json") == inside.json("show", "last", "--json") == series
    again = other("import", str(tmp_path / "series.json"))
    assert again.returncode == 0
    assert "already" in again.stderr
    assert len(other.json("list", "--json")) == 1


@pytest.mark.parametrize(
    ("break_it", "place"),
    [
        (lambda d: d.pop("target"), "target"),
        (lambda d: d["runs"][1].update(size_bytes="many"), "runs[1].size_bytes"),
        (lambda d: d["runs"][0].update(phase="warm"), "runs[0].phase"),
        (lambda d: d.update(schema="other/1"), "schema"),
        (lambda d: d.update(status="done"), "status"),
    ],
)
def test_a_document_of_another_shape_is_refused_whole(
    inside: Inside, series: dict[str, Any], tmp_path: Path, break_it, place: str
):
    break_it(series)
    (tmp_path / "series.json").write_text(json.dumps(series))
    other = Inside(tmp_path / "other.db")
    done = other("import", str(tmp_path / "series.json"))
    assert done.returncode in {2, 4}
    assert place in done.stderr
    assert not other.db.exists()


def test_show_with_a_chart(inside: Inside, series: dict[str, Any]):
    plain, chart = inside("show", "last").stdout, inside("show", "last", "--chart").stdout
    assert chart.startswith(plain)
    assert "█" in chart.removeprefix(plain)


def test_a_notebook_of_a_newer_version_is_refused(inside: Inside, series: dict[str, Any]):

    with sqlite3.connect(inside.db) as connection:
        connection.execute("INSERT INTO notebook_formats VALUES (99, '7.0.0')")
    assert "sharebench 7.0.0 or newer" in inside.fails(4, "list")


def test_a_list_of_no_such_experiment_does_not_call_the_notebook_empty(inside: Inside, series: dict[str, Any]):
    assert series["id"] in inside("list").stdout
    said = inside("list", "--experiment", "nope").stderr
    assert "nope" in said
    assert "empty" not in said


def test_a_series_gets_another_label(inside: Inside, series: dict[str, Any]):
    known = series["id"]
    assert inside("rename", "last", " old switch ").stderr == f"series first ({known}) is now called 'old switch'\n"
    assert inside.json("show", "last", "--json")["label"] == "old switch"
    assert inside("note", "last", "x").stderr == f"noted with series old switch ({known})\n"
    assert inside("baseline", "set", "before", "last").stderr.startswith(f"before is series old switch ({known})\n")
    assert inside("rename", "last", "").stderr == f"series old switch ({known}) has no label any more\n"
    assert inside("rename", "last", "new").stderr == f"series {known} is now called 'new'\n"


def test_a_mistyped_command_is_told_the_ones_that_look_like_it(inside: Inside):
    assert "did you mean run?" in inside.fails(2, "rnu", "smb://nas")
    assert "did you mean list" in inside.fails(2, "baseline", "lst")
    assert inside.fails(2, "qwxz").startswith("no such command 'qwxz'; see"), "nothing looks like it"
    assert inside.fails(2, "worksheet").startswith("worksheet needs one of bottleneck, clients, list, show; see")


def test_without_a_terminal_each_run_has_a_line(inside: Inside, tmp_path: Path):
    (tmp_path / "file").write_bytes(b"x" * 300_000)
    said = inside("run", f"file://{tmp_path}/file", "--runs", "2", "--warmup", "1", *QUICK).stderr.splitlines()
    assert [line.rpartition(": ")[0] for line in said if line.endswith("B/s")] == [
        "sharebench: warm-up 1 of 1",
        "sharebench: run 1 of 2",
        "sharebench: run 2 of 2",
    ]


def test_what_to_do_about_a_series_names_no_key_of_a_finding(inside: Inside):
    book(inside.db, one(1, (50e6, 100e6, 150e6, 80e6, 120e6), scratch_path="left"))
    *advised, last = inside("show", "last").stderr.splitlines()
    assert last == "Recommendation: sharebench clean smb://nas/data/big.bin"
    assert any(line.startswith("Recommendation: measure again with --runs ") for line in advised)
