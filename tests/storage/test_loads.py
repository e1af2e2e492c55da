"""Histograms, and loads in the notebook."""

import os
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.errors import RefusedError
from storage.json_reader import DocumentError, JSONNode
from storage.load.documents import point_from_json, point_to_json
from storage.load.records import HistogramBuilder, histogram_from_json, merge_histograms
from storage.migrations import CURRENT_FORMAT
from storage.notebook import Notebook
from storage.recordings import UnknownReferenceError
from storage.records import SeriesStatus
from storage.request_times import class_of, class_width, lower_bound
from tests.loads import full_load, histogram, point


@given(st.integers(min_value=0, max_value=2**40))
def test_a_class_holds_its_time_and_is_one_percent_wide_at_most(microseconds):
    number = class_of(microseconds)
    low, width = lower_bound(number), class_width(number)
    assert low <= microseconds < low + width
    assert width == 1 or width <= 0.01 * low
    assert class_of(low) == number
    assert class_of(low + width) == number + 1


def test_percentiles_of_a_sum_are_those_of_all_times_not_a_mean_of_percentiles():
    quick, slow = histogram(*[0.001] * 99), histogram(*[1.0] * 99, 2.0)
    both = merge_histograms([quick, slow])
    assert both.count == 199
    assert both.quantile_seconds(0.49) == pytest.approx(0.001, rel=0.01)
    assert both.quantile_seconds(0.51) == pytest.approx(1.0, rel=0.01)
    assert both.quantile_seconds(1.0) == pytest.approx(2.0, rel=0.01)
    assert both.max_microseconds == 2_000_000
    assert both.total_microseconds / both.count / 1e6 == pytest.approx((99 * 0.001 + 99 * 1.0 + 2.0) / 199)
    assert histogram_from_json(JSONNode("h", both.to_json())) == both
    assert HistogramBuilder().built().quantile_seconds(0.5) is None


def test_a_load_comes_back_as_it_was_stored(tmp_path: Path):
    load = full_load()
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add_load(replace(load, points=()))
        for each in load.points:
            notebook.put_point(load.id, each)
        notebook.set_baseline("before", load.id)
    with Notebook(tmp_path / "notebook.db") as notebook:
        assert [notebook.load(ref) for ref in ("0123", "before", "last-load", load.id)] == [load] * 4
        with pytest.raises(UnknownReferenceError, match="no load or baseline is called 'ffff'"):
            notebook.load("ffff")
        notebook.update_load(replace(load, status=SeriesStatus.FAILED))
        assert notebook.loads()[0].status is SeriesStatus.FAILED
        notebook.remove(load.id)
        assert notebook.loads() == []
        assert notebook.baselines() == []


def test_what_people_write_while_a_load_is_measured_stays(tmp_path: Path):
    load = full_load()
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add_load(load)
        notebook.describe(load.id, label="given meanwhile", note="switch rebooted", question="enough?")
        notebook.update_load(replace(load, error="at its end"))
        (stored,) = notebook.loads()
    assert (stored.label, stored.note, stored.question) == ("given meanwhile", "switch rebooted", "enough?")
    assert stored.error == "at its end"


def test_a_load_is_measured_once_at_a_time_and_whose_process_has_died_is_free(tmp_path: Path):
    load = full_load(status=SeriesStatus.INTERRUPTED)
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add_load(load)
        notebook.take(load.id)
        notebook.update_load(replace(load, file_set_bytes=5))
        assert notebook.loads()[0].running
        with pytest.raises(RefusedError, match=f"load {load.id} is being measured by process {os.getpid()} on"):
            notebook.take(load.id)
        notebook.release(load.id)
        assert not notebook.loads()[0].running
        notebook.take(load.id)
    with sqlite3.connect(tmp_path / "notebook.db") as connection:
        connection.execute("UPDATE leases SET process_started = '1'")
    connection.close()
    with Notebook(tmp_path / "notebook.db") as notebook:
        assert not notebook.loads()[0].running
        notebook.take(load.id)


def test_the_points_can_be_read_with_any_sqlite_tool(tmp_path: Path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add_load(full_load())
    rows = sqlite3.connect(tmp_path / "notebook.db").execute(
        "SELECT users, requests_per_second, status FROM load_points ORDER BY number"
    )
    assert list(rows) == [(10, 95.0, "valid"), (20, 190.0, "valid"), (40, 200.0, "failed")]


def test_a_notebook_from_before_loads_gets_their_tables(tmp_path: Path):
    path = tmp_path / "notebook.db"
    connection = sqlite3.connect(path)
    connection.executescript(Path(__file__).with_name("format-1.sql").read_text())
    connection.close()
    with Notebook(path) as notebook:
        notebook.add_load(full_load())
        assert len(notebook.loads()) == 1
        assert notebook.heads()
    found = sqlite3.connect(path).execute("SELECT max(format) FROM notebook_formats").fetchone()
    assert found == (CURRENT_FORMAT,)


@pytest.mark.parametrize(
    ("key", "value"),
    [("users", -1), ("status", "fine"), ("requests", 1.5), ("histogram", []), ("errors", {"x": -1}), ("seconds", "1")],
)
def test_a_point_that_cannot_be_is_refused_by_its_place(key, value):
    with pytest.raises(DocumentError, match=key):
        point_from_json(JSONNode("", point_to_json(point()) | {key: value}))
