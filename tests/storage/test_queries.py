"""Which series a list shows, and in which order."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from storage.notebook import Notebook
from storage.queries import SeriesQuery, SortKey
from storage.records import Change, Command, Run, RunStatus, Target
from tests.builders import FORMAT_1, one
from tests.recordings import MAKERS


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Notebook]:
    with Notebook(tmp_path / "notebook.db") as opened:
        yield opened


def ids(notebook: Notebook, **query: Any) -> list[int]:
    return [int(found.recording_id, 16) for found in notebook.find(SeriesQuery(**query))]


def test_a_series_without_a_change_or_quiet_time_is_stored_and_read_back(notebook: Notebook) -> None:
    plain = one(1, change=None, quiet=None)
    notebook.add(plain)
    assert notebook.series(plain.id) == plain


def test_newest_first_unless_asked_otherwise(notebook: Notebook) -> None:
    for number in (2, 1, 3):
        notebook.add(one(number))
    assert ids(notebook) == [3, 2, 1]
    assert ids(notebook, descending=False) == [1, 2, 3]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (SortKey.LABEL, [3, 1, 2]),
        (SortKey.TARGET, [1, 3, 2]),
        (SortKey.COMMAND, [3, 1, 2]),
        (SortKey.RUNS, [3, 2, 1]),
        (SortKey.AVERAGE, [2, 3, 1]),
        (SortKey.DEVIATION, [2, 1, 3]),
        (SortKey.PERCENT_OF_LINK, [3, 2, 1]),
        (SortKey.BASELINE, [1, 3, 2]),
        (SortKey.EXPERIMENT, [2, 3, 1]),
        (SortKey.MACHINE, [3, 1, 2]),
    ],
)
def test_each_column_orders(notebook: Notebook, order: SortKey, expected: list[int]) -> None:
    at = Target(protocol="smb", host="nas", port=445, share="data", path="big.bin")
    desk, attic = ({"client": {"host.name": name}} for name in ("desk", "Attic"))
    notebook.add(one(1, (3e8, 2.8e8, 2.9e8), label="beta", target=replace(at, host="alpha"), environment=desk))
    notebook.add(
        one(2, (1e8, 1.001e8), label="gamma", experiment="a", command=Command.PUT, target=replace(at, host="Z"))
    )
    notebook.add(one(3, (2e8,), label="Alpha", experiment="B", link_bits_per_second=10**11, environment=attic))
    notebook.set_baseline("before", f"{1:012x}")
    assert ids(notebook, order=order, descending=False) == expected


def test_what_has_no_value_comes_last_either_way(notebook: Notebook) -> None:
    notebook.add(one(1, (2e8, 2.1e8)))
    notebook.add(one(2, ()))
    notebook.add(one(3, (1e8, 1.1e8)))
    assert ids(notebook, order=SortKey.AVERAGE, descending=True) == [1, 3, 2]
    assert ids(notebook, order=SortKey.AVERAGE, descending=False) == [3, 1, 2]


def test_only_valid_measured_runs_count(notebook: Notebook) -> None:
    slow, fast = one(1, (1e8, 1e8)), one(2, (1.1e8, 9e8))
    rejected: tuple[Run, ...] = (*fast.runs[:-1], replace(fast.runs[-1], status=RunStatus.REJECTED, reason="burst"))
    notebook.add(replace(fast, runs=rejected))
    notebook.add(slow)
    notebook.add(one(3, (2e8,)))
    assert ids(notebook, order=SortKey.AVERAGE) == [3, 2, 1]
    assert ids(notebook, order=SortKey.RUNS, descending=False)[-1] == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gigabit", [1]),
        ("GIGA put", [1]),
        ("smb://nas:445/data/big", [3, 2]),
        ("50%", [2]),
        ("a_b", [3]),
        ("ÜBUNG", [3]),
        ("before", [2]),
        ("encrypt", [1]),
        ("note-text", [2]),
        ("nothing at all", []),
        ("' OR 1=1 --", []),
        ("  ", [3, 2, 1]),
        ("baseline", [2]),
    ],
)
def test_every_word_must_occur(notebook: Notebook, text: str, expected: list[int]) -> None:
    elsewhere = Target(protocol="ftp", host="box", path="/pub/x")
    notebook.add(one(1, label="gigabit", command=Command.PUT, target=elsewhere, experiment="encryption"))
    notebook.add(one(2, label="50% load", note="note-text"))
    notebook.add(one(3, label="Übung a_b"))
    notebook.set_baseline("before", f"{2:012x}")
    assert ids(notebook, text=text) == expected


def test_a_filter_looks_through_what_a_series_says_now(notebook: Notebook) -> None:
    notebook.add(one(1, label="before", experiment="cables"))
    assert ids(notebook, text="before cables") == [1]
    notebook.annotate(replace(notebook.series(f"{1:012x}"), label="after"))
    assert (ids(notebook, text="before"), ids(notebook, text="after cables")) == ([], [1])
    removed = notebook.remove(f"{1:012x}")
    assert ids(notebook, text="after") == []
    notebook.restore(removed)
    assert ids(notebook, text="after") == [1]


def test_a_filter_looks_through_the_values_tried_and_what_a_list_shows(notebook: Notebook) -> None:
    notebook.add(one(1, change=Change(name="smb encrypt", value="required")))
    trial_id = MAKERS["trial"](notebook)
    assert ids(notebook, text="encrypt required") == [1]
    assert ids(notebook, text="v1") == [int(trial_id, 16)], "its series are listed as one"
    assert ids(notebook, text="faster") == []
    assert ids(notebook, text="faster", shown={f"{1:012x}": "Faster by 43 %"}) == [1]
    assert ids(notebook, text="schneller müde", shown={f"{1:012x}": "Schneller, MÜDE"}) == [1]


def test_an_older_notebook_is_filtered_like_a_new_one(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "old.db")
    connection.executescript(FORMAT_1.read_text())
    connection.close()
    with Notebook(tmp_path / "old.db") as notebook:
        heads = notebook.heads()
        assert heads
        for head in heads:
            assert [f.recording_id for f in notebook.find(SeriesQuery(text=f"{head.id} {head.target.host}"))] == [
                head.id
            ]


def plan_of(notebook: Notebook, query: SeriesQuery) -> str:
    """How SQLite goes about it."""
    asked: list[str] = []
    connection = notebook._db.conn
    connection.set_trace_callback(asked.append)
    notebook.find(query)
    connection.set_trace_callback(None)
    return str([row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {asked[-1]}")])


def test_all_series_come_sorted_from_an_index_alone(notebook: Notebook) -> None:
    plan = plan_of(notebook, SeriesQuery())
    assert "SCAN recordings USING COVERING INDEX recordings_by_time" in plan
    assert "ORDER BY" not in plan


def test_a_filter_reads_only_the_text_that_is_kept_for_it(notebook: Notebook) -> None:
    plan = plan_of(notebook, SeriesQuery(text="nas gigabit"))
    assert "SEARCH texts USING PRIMARY KEY" in plan
    assert "SCAN recordings USING COVERING INDEX recordings_by_time" in plan


def test_groups_stand_together_the_newest_first(notebook: Notebook) -> None:
    for number, name in enumerate(["x", "y", None, "x", None], start=1):
        notebook.add(one(number, experiment=name))
    found = notebook.find(SeriesQuery(grouped=True))
    assert [(int(f.recording_id, 16), f.experiment) for f in found] == [
        (4, "x"),
        (1, "x"),
        (2, "y"),
        (5, None),
        (3, None),
    ]


def test_heads_in_the_order_asked_for_without_those_that_are_gone(notebook: Notebook) -> None:
    for number in (1, 2):
        notebook.add(one(number))
    heads = notebook.heads_of([f"{2:012x}", "gone", f"{1:012x}"])
    assert [(head.id, head.runs) for head in heads] == [(f"{2:012x}", ()), (f"{1:012x}", ())]


def test_averages_come_from_the_index_alone(notebook: Notebook) -> None:
    notebook.add(one(1))
    with sqlite3.connect(notebook.path) as connection:
        plan = connection.execute(
            "EXPLAIN QUERY PLAN SELECT series_id, avg(size_bytes / seconds) FROM runs"
            " WHERE phase = 'measured' AND status = 'valid' GROUP BY series_id"
        ).fetchall()
    connection.close()
    assert "COVERING INDEX runs_by_rate" in str(plan)
