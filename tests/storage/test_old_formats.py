"""Notebooks that the programs of formats 4 and 8 measured, without their facts and progress, opened by this one."""

import sqlite3
from pathlib import Path

import pytest

from forms.trials.judged import judged
from forms.trials.summary import TrialSummary
from storage.changes import ChangeKind
from storage.migrations import CURRENT_FORMAT
from storage.notebook import Notebook
from storage.records import ExperimentKind, RunStatus


def opened(name: str, folder: Path) -> Notebook:
    path = folder / "notebook.db"
    connection = sqlite3.connect(path)
    connection.executescript(Path(__file__).with_name(name).read_text())
    connection.close()
    return Notebook(path)


@pytest.mark.parametrize(("name", "was"), [("format-4.sql", 4), ("format-8-trial.sql", 8)])
def test_every_row_is_kept_and_a_copy_of_the_old_notebook(name: str, was: int, tmp_path: Path):
    tables = ("series", "runs", "baselines", "experiments", "failed_attempts")
    old = sqlite3.connect(":memory:")
    old.executescript(Path(__file__).with_name(name).read_text())
    assert old.execute("SELECT max(format) FROM notebook_formats").fetchone() == (was,)
    with opened(name, tmp_path):
        now = sqlite3.connect(tmp_path / "notebook.db")
        for table in tables:
            columns = ", ".join(f'"{row[1]}"' for row in old.execute(f"PRAGMA table_info({table})"))
            query = f"SELECT {columns} FROM {table} ORDER BY 1, 2, 3"
            assert now.execute(query).fetchall() == old.execute(query).fetchall(), table
        assert now.execute("SELECT max(format) FROM notebook_formats").fetchone() == (CURRENT_FORMAT,)
        now.close()
    assert len(list(tmp_path.glob("notebook*"))) > 1


def test_a_baseline_of_several_from_format_4_can_be_changed_and_a_trial_begun(tmp_path: Path):
    with opened("format-4.sql", tmp_path) as notebook:
        series = [head.id for head in notebook.heads()]
        assert sorted(one.series_id for one in notebook.baselines()) == sorted(series)[:2]
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
        found = judged(entry.experiment, plan, notebook.experiment(name), slots)
        assert isinstance(found, TrialSummary)
        assert [pair.base_first for pair in found.pairs[:4]] == [True, False, True, False]
        assert not any(slot.requests_per_second or slot.generator_limited for slot in slots)
        (journal,) = notebook.journal()
        assert (journal.machine, journal.state.value) == ("nas 1234", "undone")
