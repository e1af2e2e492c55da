"""Experiments: a table with a kind, also for notebooks in which a kind was a name or a label."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from storage.changes import ChangeKind, ChangeState, JournalEntry
from storage.notebook import Notebook
from storage.owners import this_process
from storage.records import (
    ClientFacts,
    Experiment,
    ExperimentKind,
    Series,
    Target,
    dated_experiment,
)

OLD = Path(__file__).with_name("format-1-experiments.sql")
"""A notebook that version 0.1.0 measured, without its facts and progress: a survey, two self-tests, an experiment."""
TIME = "2026-01-31T10:00:00.000Z"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notebook.db"


def one(number: int, experiment: str | None = None) -> Series:
    return Series(
        id=f"{number:012x}",
        created_at=f"2026-01-31T10:00:0{number}.000Z",
        experiment=experiment,
        target=Target(protocol="file", path="/x"),
        client=ClientFacts(name="sharebench"),
    )


def made_by(script: str, path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()


def names(path: Path, kind: ExperimentKind) -> list[str]:
    with Notebook(path) as notebook:
        return [entry.experiment.name for entry in notebook.experiments(kind)]


def test_a_notebook_of_the_old_version_keeps_every_series_and_gets_kinds(path: Path):
    made_by(OLD.read_text(), path)
    with sqlite3.connect(path) as connection:
        rows = dict(connection.execute("SELECT id, experiment FROM series").fetchall())
        names_of_columns = [column[1] for column in connection.execute("PRAGMA table_info(runs)")]
        runs = connection.execute("SELECT * FROM runs ORDER BY series_id, phase, number").fetchall()
        forms = connection.execute("SELECT * FROM form_rows").fetchall()
    connection.close()
    with Notebook(path) as notebook:
        (survey,) = notebook.experiments(ExperimentKind.SURVEY)
        (steps,) = notebook.experiments(ExperimentKind.STEPS)
        selftests = notebook.experiments(ExperimentKind.SELFTEST)
        pairs = [[one.label for one in notebook.experiment(entry.experiment.name)] for entry in selftests]
        now = {one.id: one for one in notebook.heads()}
        bases = [one.base_id for one in notebook.experiment("tuning")]
    assert survey.experiment == Experiment(
        name="survey 127.0.0.1 2026-11-21 13:58:27",
        kind=ExperimentKind.SURVEY,
        subject="127.0.0.1",
        created_at="2026-11-21T13:58:27.574Z",
    )
    assert (survey.series_count, steps.series_count, steps.experiment.name) == (4, 2, "tuning")
    assert [entry.experiment.name for entry in selftests] == [
        "selftest /srv/file.bin 2026-11-21 13:58:36",
        "selftest /srv/file.bin 2026-11-21 13:58:33",
    ]
    assert {entry.experiment.subject for entry in selftests} == {"/srv/file.bin"}
    assert pairs == [["self-test, first", "self-test, second"]] * 2
    assert all(now[series_id].experiment == name for series_id, name in rows.items() if name)
    assert bases == [None, "520f6068b784"]
    with sqlite3.connect(path) as connection:
        columns = ", ".join(names_of_columns)
        after = connection.execute(f"SELECT {columns} FROM runs ORDER BY series_id, phase, number").fetchall()
        impossible = [row for row in runs if not row[6]]  # without a byte: the bare TCP path was asked for too little
        assert [row for row in after if row[3] != "failed"] == [row for row in runs if row[6]]
        assert [row[10] for row in after if row[3] == "failed"] == [
            f"this cannot have been: 0 bytes in {row[7]} seconds" for row in impossible
        ]
        shown = connection.execute("SELECT * FROM form_rows").fetchall()
        assert {row for row in shown if row[8] != "failed"} == {row for row in forms if row[3]}
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_what_only_looks_like_a_survey_or_self_test_is_none(path: Path):
    made_by(OLD.read_text(), path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE series SET experiment = 'selftest of mine' WHERE experiment = 'tuning'")
        connection.execute("UPDATE series SET experiment = 'surveys' WHERE label = 'loopback bare TCP get'")
        connection.execute("UPDATE series SET label = 'other' WHERE id = '76a6ced0e127'")
    connection.close()
    assert sorted(names(path, ExperimentKind.STEPS)) == ["selftest of mine", "surveys"]
    assert names(path, ExperimentKind.SELFTEST) == ["selftest /srv/file.bin 2026-11-21 13:58:36"]
    with Notebook(path) as notebook:
        assert notebook.series("e5e371a5fd54").experiment is None


def test_a_series_makes_its_experiment_and_leaves_the_kind_of_one_that_is_there(path: Path):
    survey = dated_experiment(ExperimentKind.SURVEY, "nas")
    with Notebook(path) as notebook:
        notebook.add_experiment(survey)
        assert notebook.experiments(ExperimentKind.SURVEY) == []
        notebook.add(one(1, survey.name))
        notebook.add(one(2, "tuning"))
        notebook.annotate(replace(one(2), experiment="cables"))
        assert notebook.experiment_called(survey.name) == survey
        assert notebook.experiment_called("cables") == Experiment(name="cables", created_at=one(2).created_at)
        assert notebook.experiment_called("none") is None
    assert names(path, ExperimentKind.SURVEY) == [survey.name]
    assert names(path, ExperimentKind.STEPS) == ["cables"]


def test_a_name_has_the_local_time_and_the_record_that_of_utc(monkeypatch, zone):
    monkeypatch.setattr("storage.records.utc_now", lambda: "2026-07-31T23:30:05.000Z")
    zone("Europe/Berlin")
    survey = dated_experiment(ExperimentKind.SURVEY, "nas")
    assert (survey.name, survey.created_at) == ("survey nas 2026-08-01 01:30:05", "2026-07-31T23:30:05.000Z")


def test_what_is_taken_out_and_put_back_keeps_its_kind(path: Path):
    survey = dated_experiment(ExperimentKind.SURVEY, "nas")
    with Notebook(path) as notebook:
        notebook.add_experiment(survey)
        notebook.add(one(1, survey.name))
        removed = notebook.remove(one(1).id)
        assert notebook.experiments(ExperimentKind.SURVEY) == []
        notebook.restore(removed)
    assert names(path, ExperimentKind.SURVEY) == [survey.name]


def test_the_names_in_documents_tell_their_kind(path: Path):
    survey, pair = (dated_experiment(kind, "nas") for kind in (ExperimentKind.SURVEY, ExperimentKind.SELFTEST))
    with Notebook(path) as notebook:
        notebook.add_all([one(1, survey.name), one(2, pair.name), one(3, "survey"), one(4, "survey of disks"), one(5)])
    assert names(path, ExperimentKind.SURVEY) == [survey.name]
    assert names(path, ExperimentKind.SELFTEST) == [pair.name]
    assert names(path, ExperimentKind.STEPS) == ["survey of disks", "survey"]


def test_plain_sql_tells_which_series_belong_to_surveys(path: Path):
    made_by(OLD.read_text(), path)
    Notebook(path).close()
    with sqlite3.connect(path) as connection:
        found = connection.execute(
            "SELECT part.label FROM recordings AS part JOIN recordings AS whole ON whole.id = part.part_of"
            " WHERE whole.kind = 'survey' ORDER BY part.created_at"
        ).fetchall()
    connection.close()
    assert [label for (label,) in found][:2] == ["loopback bare TCP get", "loopback bare TCP put"]


def test_the_journal_of_changes_says_what_stands_and_who_is_at_work(path: Path):
    entry = JournalEntry(
        id="0123456789ab", created_at="2026-01-31T10:00:00.000Z", experiment="trial of it", kind=ChangeKind.SMB_CONF,
        name="strict sync", machine="nas 1234", ssh="root@nas", undo_path="/etc/samba/sharebench-undo.sh",
        undo_script="exit 1\n", effective_before="Yes", owner=this_process(),
    )  # fmt: skip
    with Notebook(path) as notebook:
        notebook.open_journal(entry)
    with Notebook(path) as notebook:
        assert notebook.journal() == [entry]
        assert notebook.abandoned_changes() == [], "this process is still there to put it back"
        gone = replace(entry, id="1", owner=replace(entry.owner, process_started="before"))
        notebook.open_journal(gone)
        assert notebook.abandoned_changes() == [gone]
        notebook.close_journal("1")
        assert notebook.abandoned_changes() == []
        assert [one.state for one in notebook.journal()] == [ChangeState.OPEN, ChangeState.UNDONE]


def test_a_whole_runs_as_long_as_a_part_of_it(path: Path):
    trial = dated_experiment(ExperimentKind.TRIAL, "nas")
    with Notebook(path) as notebook:
        made = notebook.add_experiment(trial)
        assert made
        for number in (1, 2):
            notebook.add(one(number, trial.name))
        (whole,) = notebook.recordings_of([made])
        assert not whole.running
        notebook.take(one(2).id)
        (whole,) = notebook.recordings_of([whole.id])
        assert whole.running
        assert notebook.running()[whole.id].process_id == this_process().process_id
        assert one(1).id not in notebook.running()
        notebook.release(one(2).id)
        assert not notebook.recordings_of([whole.id])[0].running


@pytest.mark.parametrize(
    ("name", "said", "kind"),
    [
        ("nightly", ExperimentKind.SURVEY, ExperimentKind.SURVEY),
        ("survey nas 2026-01-03 10:00:00", ExperimentKind.STEPS, ExperimentKind.STEPS),
        ("survey nas 2026-01-03 10:00:00", None, ExperimentKind.SURVEY),
        ("nightly", None, ExperimentKind.STEPS),
    ],
)
def test_a_name_tells_the_kind_only_where_the_document_does_not(
    tmp_path: Path, name: str, said: ExperimentKind | None, kind: ExperimentKind
):
    """Documents of version 0.2 have names alone."""
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        notebook.add_all([replace(one(1, name), experiment_kind=said)])
        assert names(path, kind) == [name]
        assert [read.experiment_kind for read in notebook.experiment(name)] == [kind]
