"""Notebooks that the programs of formats 4 and 8 measured, without their facts and progress, opened by this one."""

import sqlite3
from pathlib import Path

import pytest

from forms.trial.changes_report import judge_change
from forms.trial.summary import TrialSummary
from storage.changes import ChangeKind
from storage.migrations import CURRENT_FORMAT
from storage.notebook import Notebook
from storage.records import ExperimentKind, RunStatus
from tests.loads import full_load


def opened(name: str, folder: Path) -> Notebook:
    path = folder / "notebook.db"
    connection = sqlite3.connect(path)
    connection.executescript(Path(__file__).with_name(name).read_text())
    connection.close()
    return Notebook(path)


@pytest.mark.parametrize(("name", "was"), [("format-4.sql", 4), ("format-8-trial.sql", 8)])
def test_every_row_is_kept_and_a_copy_of_the_old_notebook(name: str, was: int, tmp_path: Path):
    moved = {"series": "series JOIN recordings USING (id)", "baselines": "baselines"}
    leftover = "json_extract(leftovers, '$.scratch_path')"
    renamed = {"baselines": {"series_id": "recording_id"}, "series": {"scratch_path": leftover}}
    tables = ("series", "runs", "baselines", "experiments", "failed_attempts")
    old = sqlite3.connect(":memory:")
    old.executescript(Path(__file__).with_name(name).read_text())
    assert old.execute("SELECT max(format) FROM notebook_formats").fetchone() == (was,)
    with opened(name, tmp_path):
        now = sqlite3.connect(tmp_path / "notebook.db")
        for table in tables:
            names = [row[1] for row in old.execute(f"PRAGMA table_info({table})") if row[1] != "stored_order"]
            before = ", ".join(f'"{name}"' for name in names)
            after = ", ".join(renamed.get(table, {}).get(name, f'"{name}"') for name in names)
            kept = old.execute(f"SELECT {before} FROM {table} ORDER BY 1, 2, 3").fetchall()
            found = now.execute(f"SELECT {after} FROM {moved.get(table, table)} ORDER BY 1, 2, 3").fetchall()
            assert found == kept, table
        assert now.execute("SELECT max(format) FROM notebook_formats").fetchone() == (CURRENT_FORMAT,)
        now.close()
    assert len(list(tmp_path.glob("notebook*"))) > 1


def test_a_baseline_of_several_from_format_4_can_be_changed_and_a_trial_begun(tmp_path: Path):
    with opened("format-4.sql", tmp_path) as notebook:
        series = [head.id for head in notebook.heads()]
        assert sorted(one.recording_id for one in notebook.baselines()) == sorted(series)[:2]
        (rejected,) = [run for head in series for run in notebook.series(head).runs if run.status is RunStatus.REJECTED]
        assert rejected.reason == "somebody copied"
        assert notebook.journal() == []
        assert notebook.experiments(ExperimentKind.TRIAL) == []


def test_a_trial_from_format_8_is_judged_as_it_was_measured_in_turns(tmp_path: Path):
    with opened("format-8-trial.sql", tmp_path) as notebook:
        (entry,) = notebook.experiments(ExperimentKind.TRIAL)
        name = entry.experiment.name
        plan, slots = notebook.trial(name), notebook.slots(name)
        assert plan is not None
        assert (plan.kind, plan.axes, plan.load, plan.allow_restart) == (ChangeKind.HOOK, (), None, False)
        found = judge_change(entry.experiment, plan, notebook.experiment(name), slots)
        assert isinstance(found, TrialSummary)
        assert [pair.base_first for pair in found.pairs[:4]] == [True, False, True, False]
        assert not any(slot.requests_per_second or slot.generator_limited for slot in slots)
        (journal,) = notebook.journal()
        assert (journal.machine, journal.state.value) == ("nas 1234", "undone")


WRITTEN = {number: Path(__file__).parent / f"formats/format-{number}.sql" for number in range(1, 13)}
"""A notebook of each format, as the program of that format wrote it: series, and whatever else it knew by then."""
SURVEYS_SINCE, TRIALS_SINCE, ISOLATIONS_SINCE, LOADS_SINCE = 2, 5, 6, 7


def test_there_is_a_stored_notebook_of_every_older_format():
    assert sorted(WRITTEN) == list(range(1, CURRENT_FORMAT))


@pytest.mark.parametrize("number", sorted(WRITTEN))
def test_a_notebook_of_each_format_opens_with_all_that_it_had(number: int, tmp_path: Path):
    path = tmp_path / "notebook.db"
    connection = sqlite3.connect(path)
    connection.executescript(WRITTEN[number].read_text())
    assert connection.execute("SELECT max(format) FROM notebook_formats").fetchone() == (number,)
    connection.close()
    with Notebook(path) as notebook:
        base, other = (notebook.series(f"{one:012x}") for one in (1, 2))
        assert (base.label, base.note, base.question, len(base.runs)) == ("as delivered", "the first", "", 4)
        assert base.environment["server"]["memory_bytes"] == 2**33
        assert (other.base_id, other.scratch_path, other.experiment) == (base.id, ".sharebench-left.bin", "tuning")
        assert [one.id for one in notebook.recordings_with_leftovers()] == [other.id]
        assert notebook.resolve("before") == base.id
        (sheet,) = notebook.worksheets("bottleneck")
        assert (sheet.name, sheet.content) == ("nas", {"rows": [1, 2]})
        kinds = [one.kind for one in notebook.recordings()]
        expected = ["series", "series"]
        expected += ["survey"] if number >= SURVEYS_SINCE else []
        expected += ["trial"] if number >= TRIALS_SINCE else []
        expected += ["isolation"] if number >= ISOLATIONS_SINCE else []
        expected += ["load"] if number >= LOADS_SINCE else []
        assert sorted(kinds) == sorted(expected)
        if number >= SURVEYS_SINCE:
            survey = notebook.recording("last", "survey")
            assert (survey.subject, survey.status.value) == ("survey nas 2026-01-04 10:00:00", "complete")
            assert [one.label for one in notebook.recordings(part_of=survey.id)] == ["SMB put", "SMB get"]
        if number >= TRIALS_SINCE:
            trial = notebook.recording("last", "trial")
            plan = notebook.trial(trial.subject)
            assert plan is not None
            assert (plan.name, plan.values, plan.seed) == ("strict sync", ("no",), 7)
            assert [slot.position for slot in notebook.slots(trial.subject)] == [0, 1, 2, 3, 4, 5]
        if number >= ISOLATIONS_SINCE:
            isolation = notebook.isolation("aa11")
            assert (isolation.label, len(isolation.runs), isolation.clients) == ("after tuning", 1, (1, 4))
        if number >= LOADS_SINCE:
            load = notebook.load("usual day")
            assert (load.note, [point.users for point in load.points]) == ("office day", [10, 20, 40])
            assert load.scenario.name == full_load().scenario.name
            assert load.targets == full_load().targets
        assert not list(notebook._db.execute("PRAGMA foreign_key_check"))
        assert notebook._db.execute("PRAGMA foreign_keys").fetchone() == (1,)
        notebook.restore(notebook.remove(base.id))
        assert notebook.series("before") == base
