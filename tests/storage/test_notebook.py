"""The notebook: what goes in comes out, under every reference, and an old file stays readable."""

from __future__ import annotations

import os
import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from storage.errors import NotebookFileError, RefusedError
from storage.migrations import CURRENT_FORMAT
from storage.notebook import Notebook
from storage.recordings import UnknownReferenceError
from storage.records import (
    Ceiling,
    Decision,
    Facts,
    Phase,
    Run,
    RunStatus,
    SeriesStatus,
    Worksheet,
)
from tests.builders import FORMAT_1, every_field


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "notebook.db"


@pytest.fixture
def notebook(path: Path):
    with Notebook(path) as found:
        yield found


def test_a_series_in_brief_has_the_same_facts_to_the_last_digit_and_the_runs_that_count(notebook: Notebook):
    facts: dict[str, Facts] = {
        "client": {"load.1min": 0.1 + 0.2, "cpu.count": 2**53 + 1},
        "path": {"tcp.mss": 1448},
        "server": {"os": "né"},
    }
    whole = replace(every_field(), environment=facts)
    notebook.add(whole)
    (brief,) = notebook.all_of([whole.id], brief=True)
    assert brief.environment == facts
    assert [run.seconds for run in brief.runs] == [run.seconds for run in whole.measured()]


def test_a_series_comes_out_as_it_went_in(notebook: Notebook):
    notebook.add(every_field())
    assert notebook.series("last") == every_field()


def test_a_series_goes_in_once(notebook: Notebook):
    notebook.add(every_field())
    with pytest.raises(sqlite3.IntegrityError):
        notebook.add(every_field())
    assert len(notebook.heads()) == 1


def test_references(notebook: Notebook):
    notebook.add(every_field("aaaa00000000", "2026-01-01T00:00:00.000Z"))
    notebook.add(every_field("aaab00000000", "2026-01-03T00:00:00.000Z"))
    notebook.add(every_field("bbbb00000000", "2026-01-02T00:00:00.000Z"))
    notebook.set_baseline("before", "aaaa00000000")
    assert notebook.resolve("last") == "bbbb00000000"
    assert notebook.resolve("b") == "bbbb00000000"
    assert notebook.resolve("aaaa") == notebook.resolve("before") == "aaaa00000000"
    for wrong, says in (
        ("aaa", "short for several"),
        ("c", "no recording"),
        ("", "no recording"),
        ("%", "no recording"),
    ):
        with pytest.raises(UnknownReferenceError, match=says):
            notebook.resolve(wrong)


def test_a_failed_run_is_replaced_by_the_one_that_is_made_again(notebook: Notebook):
    notebook.add(every_field())
    notebook.add_run("a1b2c3d4e5f6", Run(number=3, phase=Phase.MEASURED, size_bytes=100, seconds=2.0))
    assert [(r.number, r.status) for r in notebook.series("last").measured()] == [
        (1, RunStatus.VALID),
        (3, RunStatus.VALID),
    ]


def test_judging_runs(notebook: Notebook):
    notebook.add(every_field())
    notebook.judge_run("a1b2c3d4e5f6", 1, RunStatus.REJECTED, "backup")
    assert notebook.series("last").measured() == ()
    notebook.judge_run("a1b2c3d4e5f6", 1, RunStatus.VALID, None)
    assert [r.number for r in notebook.series("last").measured()] == [1]
    for number in (3, 4):
        with pytest.raises(UnknownReferenceError, match=f"run {number}"):
            notebook.judge_run("a1b2c3d4e5f6", number, RunStatus.REJECTED, "x")


def test_what_is_removed_comes_back_whole(notebook: Notebook):
    notebook.add(every_field())
    notebook.add(replace(every_field("ffffffffffff"), base_id="a1b2c3d4e5f6"))
    notebook.set_baseline("before", "a1b2c3d4e5f6")
    removed = notebook.remove("a1b2c3d4e5f6")
    assert len(notebook.heads()) == 1
    assert notebook.baselines() == []
    assert notebook.series("ffffffffffff").base_id is None
    notebook.restore(removed)
    assert notebook.series("before") == every_field()
    assert notebook.series("ffffffffffff").base_id == "a1b2c3d4e5f6"


@pytest.mark.parametrize("name", ["last", "last-load", "", " x", "x ", "a1b2c3d4e5f6", "0" * 12])
def test_no_baseline_is_called_by_what_names_a_recording_already(notebook: Notebook, name: str):
    notebook.add(every_field())
    with pytest.raises(RefusedError, match="cannot be called"):
        notebook.set_baseline(name, "a1b2c3d4e5f6")
    assert notebook.baselines() == []


@pytest.mark.parametrize("name", ["lasts", "last load", "0" * 11, "0" * 13, "g" * 12])
def test_what_only_looks_a_little_like_it_is_a_name(notebook: Notebook, name: str):
    notebook.add(every_field())
    notebook.set_baseline(name, "a1b2c3d4e5f6")
    assert [one.name for one in notebook.baselines()] == [name]


def test_names_ceilings_worksheets_and_memory(notebook: Notebook):
    notebook.add(every_field())
    notebook.set_baseline("x", "a1b2c3d4e5f6")
    notebook.remove_baseline("x")
    with pytest.raises(UnknownReferenceError):
        notebook.remove_baseline("x")
    ceiling = Ceiling(key="k", bytes_per_second=2.5, measured_at="2026-01-31T10:00:00.000Z")
    notebook.set_ceiling(replace(ceiling, bytes_per_second=1.0))
    notebook.set_ceiling(ceiling)
    assert notebook.ceiling("k") == ceiling
    assert notebook.ceiling("other") is None
    sheet = Worksheet(kind="clients", name="w", saved_at="2026-01-31T10:00:00.000Z", content={"rows": [1, None]})
    notebook.save_worksheet(sheet)
    assert notebook.worksheets("clients") == [sheet]
    assert notebook.worksheets("bottleneck") == []
    notebook.remember("guide", {"step": "run"})
    assert notebook.remembered("guide") == {"step": "run"}
    notebook.remember("guide", None)
    assert notebook.remembered("guide") is None


def test_the_paper_view_has_a_row_a_run_with_units_in_the_names(notebook: Notebook, path: Path):
    notebook.add(every_field())
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    rows = [dict(row) for row in connection.execute("SELECT * FROM form_rows")]
    connection.close()
    assert [row["phase"] for row in rows] == ["warm-up", "measured", "measured", "measured"]
    assert rows[1] == {
        "series_id": "a1b2c3d4e5f6", "phase": "measured", "run_number": 1, "size_bytes": 100, "seconds": 0.25,
        "bytes_per_second": 400.0, "bits_per_second": 3200.0, "percent_of_link": 0.00032, "status": "valid",
        "reason": None,
    }  # fmt: skip
    assert rows[3]["bytes_per_second"] is None


def test_the_file_is_what_the_contract_says(notebook: Notebook, path: Path):
    connection = sqlite3.connect(path)
    tables = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
    ours = {name: sql for name, sql in tables if not name.startswith(("sqlite_", "_sqlite_"))}
    assert {"series", "runs", "facts", "baselines"} <= set(ours)
    assert all("STRICT" in sql for sql in ours.values())


def test_a_writer_waits_for_another(notebook: Notebook, path: Path):
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.3, lambda: other.execute("COMMIT"))
    timer.start()
    notebook.add(every_field())
    timer.join()
    other.close()
    assert len(notebook.heads()) == 1


def test_a_notebook_of_the_first_format_opens_as_it_was(path: Path):
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.executescript(FORMAT_1.read_text())
    connection.close()
    with Notebook(path) as notebook:
        assert notebook.series("last") == every_field()
        assert [b.name for b in notebook.baselines()] == ["before"]


def test_an_older_format_is_migrated_after_a_copy_is_kept(path: Path, monkeypatch: pytest.MonkeyPatch):
    with Notebook(path) as notebook:
        notebook.add(every_field())
    monkeypatch.setattr("storage.database.CURRENT_FORMAT", CURRENT_FORMAT + 1)
    with Notebook(path) as notebook:
        assert len(notebook.heads()) == 1
    copy = path.with_name(f"{path.name}.format-{CURRENT_FORMAT}")
    with sqlite3.connect(copy) as connection:
        assert connection.execute("SELECT count(*) FROM series").fetchone() == (1,)
    connection.close()


def test_a_newer_format_is_refused_with_the_version_that_it_needs(path: Path):
    Notebook(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO notebook_formats VALUES (99, '7.1.0')")
    connection.close()
    with pytest.raises(NotebookFileError, match=r"needs sharebench 7\.1\.0"):
        Notebook(path)


def test_what_is_no_notebook_is_left_alone(tmp_path: Path):
    text, database = tmp_path / "text", tmp_path / "other.db"
    text.write_text("no database " * 100)
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    for path, says in ((text, "not a database"), (database, "not a notebook"), (tmp_path, "another notebook")):
        with pytest.raises(NotebookFileError, match=says):
            Notebook(path)
    assert text.read_text() == "no database " * 100


def test_what_people_write_and_what_measuring_tells_do_not_undo_each_other(notebook: Notebook):
    measured = replace(every_field(), status=SeriesStatus.INTERRUPTED)
    notebook.add(measured)
    notebook.annotate(replace(measured, note="written meanwhile", label="renamed", decision=Decision.REVERTED))
    notebook.update(replace(measured, status=SeriesStatus.COMPLETE, scratch_path=None))
    found = notebook.series(measured.id)
    assert (found.note, found.label, found.decision) == ("written meanwhile", "renamed", Decision.REVERTED)
    assert (found.status, found.scratch_path) == (SeriesStatus.COMPLETE, None)
    notebook.annotate(replace(measured, note="again"))
    assert notebook.series(measured.id) == replace(found, note="again", label=measured.label, decision=Decision.KEPT)


def test_names_that_are_no_utf_8_come_out_as_the_bytes_that_they_are(notebook: Notebook, path: Path):
    one = every_field()
    odd = replace(
        one,
        label="caf\udce9",
        error="\ud800",
        scratch_path="/tmp/\udce9/.sharebench-x",
        target=replace(one.target, path="caf\udce9/ä/\udcff"),
        environment={"server": {"path\udce9": "a\udce9"}},
    )
    notebook.add(odd)
    found = notebook.series(one.id)
    assert found.target == odd.target
    assert found.scratch_path == odd.scratch_path
    assert (found.label, found.error) == ("caf\ufffde9", "\ufffd")
    with sqlite3.connect(path) as anyone:
        assert anyone.execute("SELECT path FROM series").fetchone() == ("caf\ufffde9/ä/\ufffdff",)
    anyone.close()


def test_a_run_that_did_not_fail_is_never_replaced_and_a_failed_one_is_kept_as_an_attempt(notebook: Notebook):
    notebook.add(replace(every_field(), runs=()))
    first = Run(number=1, phase=Phase.MEASURED, size_bytes=10, seconds=1.0)
    failed = Run(number=2, phase=Phase.MEASURED, status=RunStatus.FAILED, error="gone", size_bytes=10)
    notebook.add_run(every_field().id, first)
    for other in (replace(first, seconds=2.0), replace(first, status=RunStatus.FAILED, error="x")):
        with pytest.raises(sqlite3.IntegrityError):
            notebook.add_run(every_field().id, other)
    notebook.judge_run(every_field().id, 1, RunStatus.REJECTED, "why")
    with pytest.raises(sqlite3.IntegrityError):
        notebook.add_run(every_field().id, first)
    again = replace(failed, error="gone again")
    for run in (failed, again, replace(first, number=2)):
        notebook.add_run(every_field().id, run)
    found = notebook.series("last")
    assert [run.status for run in found.runs] == [RunStatus.REJECTED, RunStatus.VALID]
    assert found.failed_attempts == (failed, again)


@pytest.mark.parametrize(
    ("size_bytes", "seconds"),
    [(0, 1.0), (-1, 1.0), (1, 0.0), (1, -1.0), (1, None), (1, float("inf")), (1, float("nan"))],
)
def test_a_run_that_cannot_have_been_is_not_stored_as_valid(notebook: Notebook, size_bytes: int, seconds: float | None):
    notebook.add(replace(every_field(), runs=()))
    with pytest.raises(sqlite3.IntegrityError):
        notebook.add_run(every_field().id, Run(number=1, phase=Phase.MEASURED, size_bytes=size_bytes, seconds=seconds))


def test_what_was_stored_last_is_last_whatever_the_clock_says(notebook: Notebook):
    later, sooner = every_field("b" * 12, "2030-01-01T00:00:00.000Z"), every_field("c" * 12, "2026-01-01T00:00:00.000Z")
    notebook.add(later)
    notebook.add(sooner)
    assert notebook.resolve("last") == sooner.id
    assert [one.id for one in notebook.experiment("tuning")] == [later.id, sooner.id]
    notebook.restore(notebook.remove(later.id))
    assert notebook.resolve("last") == sooner.id


def test_what_is_imported_keeps_the_order_of_its_own_times(notebook: Notebook):
    notebook.add_all(
        [every_field("b" * 12, "2026-01-02T00:00:00.000Z"), every_field("a" * 12, "2026-01-01T00:00:00.000Z")]
    )
    assert [one.id for one in notebook.experiment("tuning")] == ["a" * 12, "b" * 12]


def test_one_process_at_a_time_measures_a_series(notebook: Notebook, path: Path):
    notebook.add(every_field())
    notebook.take(every_field().id)
    found = notebook.series("last").running_by
    assert found
    assert found.process_id == os.getpid()
    with Notebook(path) as other, pytest.raises(RefusedError, match=f"by process {os.getpid()} on"):
        other.take(every_field().id)
    with pytest.raises(RefusedError, match="is not deleted"):
        notebook.remove(every_field().id)
    assert [head.running_by for head in notebook.heads()] == [found]
    notebook.release(every_field().id)
    assert notebook.series("last").running_by is None
    notebook.take(every_field().id)


@pytest.mark.parametrize(
    ("changed", "alive"),
    [
        ({}, True),
        ({"process_id": 2**22 + 1}, False),
        ({"process_started": "1"}, False),
        ({"boot_id": "another boot"}, False),
        ({"host": "elsewhere"}, True),
        ({"host": "elsewhere", "renewed_at": "2026-01-01T00:00:00.000Z"}, False),
        ({"host": "elsewhere", "renewed_at": "nonsense"}, False),
    ],
)
def test_an_owner_that_is_gone_owns_nothing(notebook: Notebook, path: Path, changed: dict[str, str | int], alive: bool):
    notebook.add(every_field())
    notebook.take(every_field().id)
    for column, value in changed.items():
        with sqlite3.connect(path) as connection:
            connection.execute(f"UPDATE leases SET {column} = ?", (value,))
        connection.close()
    assert (notebook.series("last").running_by is not None) is alive
    if not alive:
        notebook.take(every_field().id)


def test_a_series_that_measured_nothing_is_no_baseline(notebook: Notebook):
    notebook.add(replace(every_field(), runs=()))
    with pytest.raises(RefusedError, match="no valid measured run") as refused:
        notebook.set_baseline("before", every_field().id)
    assert "--" not in str(refused.value), "a screen shows it too"
    assert refused.value.options == f"run --resume {every_field().id}"


def test_old_runs_that_cannot_have_been_are_failed_ones_now(path: Path):
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.executescript(FORMAT_1.read_text())
    connection.execute("UPDATE runs SET size_bytes = -5 WHERE phase = 'warm-up'")
    connection.execute("UPDATE runs SET seconds = 9e999 WHERE phase = 'measured' AND number = 1")
    connection.execute("UPDATE runs SET seconds = NULL WHERE phase = 'measured' AND number = 2")
    connection.commit()
    connection.close()
    with Notebook(path) as notebook:
        runs = notebook.series("last").runs
    assert {run.status for run in runs} == {RunStatus.FAILED}
    assert [run.error for run in runs] == [
        "this cannot have been: -5 bytes in 0.5 seconds",
        "this cannot have been: 100 bytes in Inf seconds",
        "this cannot have been: 100 bytes in no seconds",
        "gone",
    ]
