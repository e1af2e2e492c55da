"""``sharebench selftest`` against a real smbd."""

import json
from pathlib import Path

import pytest

from app.cli.main import run
from storage.notebook import Notebook
from storage.records import ExperimentKind, SeriesStatus, format_target
from tests.servers.smbd import Smbd


def selftest(db: Path, *arguments: str) -> int:
    return run(
        [
            "selftest",
            "--db",
            str(db),
            "--quiet-time",
            "skip",
            "--ceiling",
            "skip",
            "--warmup",
            "1",
            "--link",
            "1G",
            *arguments,
        ],
        lambda *_args, **_more: 0,
    )


@pytest.fixture
def password(monkeypatch, smbd: Smbd):
    monkeypatch.setenv("SHAREBENCH_PASSWORD", smbd.password)


@pytest.mark.long
def test_the_same_thing_twice_in_turns(smbd: Smbd, password, tmp_path: Path, capsys):
    db = tmp_path / "notebook.db"
    url = format_target(smbd.target())
    assert selftest(db, url, "--make-file", "--size", "8M", "--runs", "5", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["runs"] == 5
    assert document["smallest_change_percent"] > 0
    with Notebook(db) as notebook:
        first, second = (notebook.series(document[side]) for side in ("first", "second"))
    assert (first.label, second.label) == ("self-test, first", "self-test, second")
    with Notebook(db) as notebook:
        (pair,) = notebook.experiments(ExperimentKind.SELFTEST)
        assert notebook.experiments(ExperimentKind.STEPS) == []
    assert first.experiment == second.experiment == pair.experiment.name
    assert (first.base_id, second.base_id) == (None, None)
    assert first.status is second.status is SeriesStatus.COMPLETE
    assert first.plan == second.plan
    starts = sorted((run.started_at, one.label) for one in (first, second) for run in one.measured())
    assert len({label for _, label in starts[:2]}) == 2
    assert list(smbd.folder.glob(".sharebench-*")) == []


@pytest.mark.long
def test_a_put_and_its_text(smbd: Smbd, password, tmp_path: Path, capsys):
    url = format_target(smbd.target())
    assert selftest(tmp_path / "notebook.db", url, "--put", "--size", "1M", "--runs", "3") == 0
    out = capsys.readouterr().out
    answers = (
        "With 3 runs a side this setup finds a change of",
        "Trust no comparison yet: the same thing, measured twice",
    )
    assert any(f"Answer: {answer}" in " ".join(out.split()) for answer in answers), "which of them is chance"
    assert max(map(len, out.splitlines())) <= 80


def test_what_fails_is_an_error(smbd: Smbd, password, tmp_path: Path, capsys):
    assert selftest(tmp_path / "notebook.db", format_target(smbd.target("no such file"))) == 4
    assert "no such file" in capsys.readouterr().err
    assert selftest(tmp_path / "notebook.db", "smb://user:secret@host/share/file") == 2
