"""``sharebench history`` of targets, recordings and experiments."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from storage.notebook import Notebook
from tests.builders import book, one
from tests.command_line import Inside
from tests.recordings import MAKERS

TARGET = "smb://nas:445/data/big.bin"
STEADY = (100e6, 100.2e6, 99.8e6, 100.1e6, 99.9e6)


@pytest.fixture
def years(inside: Inside) -> Inside:
    levels = [1.0] * 5 + [0.8] * 3
    book(
        inside.db, *(one(n, [rate * level for rate in STEADY]) for n, level in enumerate(levels, 1)),
        baselines={"nightly": f"{1:012x}"},
    )  # fmt: skip
    return inside


def test_a_target_shows_its_levels_and_a_chart(years: Inside):
    done = years("history", TARGET)
    assert done.returncode == 0, done.stderr
    assert "Slower by 20 % since 2026-01-06." in done.stdout
    assert "[nightly]" in done.stdout
    assert "newest level" in done.stdout
    assert years.json("history", TARGET, "--json") == years.json("history", "nightly", "--json")


def test_a_new_normal_is_set_by_a_person_and_undone(years: Inside):
    last = f"{8:012x}"
    assert "new normal" in years("history", TARGET, "--new-normal", last).stdout
    with Notebook(years.db) as notebook:
        assert notebook.new_normals() == [last]
        assert "new normal" not in notebook.series(last).note
    levels = years.json("history", TARGET, "--json")["lines"][0]["levels"]
    assert [level["why"] for level in levels] == ["", "", "new normal"]
    assert [level["verdict"] for level in levels] == [None, "slower", None]
    years("history", TARGET, "--undo-normal", last)
    assert len(years.json("history", TARGET, "--json")["lines"][0]["levels"]) == 2


def test_into_a_file(years: Inside, tmp_path: Path):
    done = years("history", TARGET, "-o", str(tmp_path / "history.csv"))
    assert done.stdout.strip() == str(tmp_path / "history.csv")
    assert "Slower by 20 %" in (tmp_path / "history.csv").read_text()


def test_people_read_their_own_zone_and_data_has_utc(years: Inside, tmp_path: Path, zone: Callable[[str], None]):
    zone("Asia/Kolkata")
    assert "When (IST)" in years("history", TARGET).stdout
    assert f"{8:012x}  2026-01-08 15:30" in years("history", TARGET).stdout
    for name, heading, when in (("html", "When (IST)", "15:30"), ("csv", "When (UTC)", "10:00")):
        years("history", TARGET, "-o", str(tmp_path / f"history.{name}"))
        written = (tmp_path / f"history.{name}").read_text()
        assert heading in written
        assert f"2026-01-08 {when}" in written
    assert years.json("history", TARGET, "--json")["lines"][0]["points"][-1]["created_at"] == "2026-01-08T10:00:00.000Z"
    assert "2026-01-08 15:30" in years("list").stdout
    assert f"2026-01-08 15:30 IST, series {8:012x}" in years("show", "last").stdout


def test_a_terminal_shows_the_newest_and_a_document_all(years: Inside, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("app.watch.history.MOST_SHOWN", 8)
    whole = years("history", TARGET).stdout
    assert "Recordings: 8, 2026-01-01 to 2026-01-08\n" in whole
    monkeypatch.setattr("app.watch.history.MOST_SHOWN", 7)
    for name in (TARGET, "nightly"):
        shown = years("history", name).stdout
        assert "Recordings: newest 7, 2026-01-02 to 2026-01-08; sharebench history -o FILE" in shown
        assert len(years.json("history", name, "--json")["lines"][0]["points"]) == 8
    years("history", TARGET, "-o", str(tmp_path / "history.csv"))
    assert f"{1:012x}" in (tmp_path / "history.csv").read_text()


@pytest.mark.parametrize("kind", ["load", "trial", "survey", "repeats"])
def test_any_recording_has_the_history_of_its_path(inside: Inside, kind: str):
    with Notebook(inside.db) as notebook:
        made = MAKERS[kind](notebook)
        notebook.add(one(3))
    document = inside.json("history", made, "--json")
    assert document["lines"]
    if kind == "trial":
        assert [mark["recording"] for mark in document["marks"]] == [made]
    assert (document["unit"] == "requests/s") == (kind == "load")


def test_what_has_no_history_is_told(years: Inside):
    assert "no put of smb://nas/data/big.bin" in years.fails(2, "history", TARGET, "--put")
    with Notebook(years.db) as notebook:
        audit = MAKERS["audit"](notebook)
    assert "has no history" in years.fails(2, "history", audit)
    assert json.loads(years("history", "last", "--json").stdout)["schema"] == "sharebench/history/1"
