"""Repeats and turns from the command line: baselines of several series, --again, --apart, --versus; on a local file."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli import measuring
from app.cli.main import run
from app.recording.process import TimeLimit
from storage.notebook import Notebook
from storage.records import ExperimentKind
from tests.builders import book, interleaved, one

EXIT_CODES = {"faster": 0, "same": 0, "slower": 1, "unknown": 3}
QUICK = ("--runs", "4", "--warmup", "1", "--quiet-time", "skip", "--ceiling", "skip")


@pytest.fixture
def url(tmp_path: Path) -> str:
    (tmp_path / "file").write_bytes(bytes(4 << 20))
    return f"file://{tmp_path}/file"


def sharebench(db: Path, *words: str) -> int:
    return run([*words, "--db", str(db)], lambda *_args, **_more: 0)


def measured(db: Path, url: str, capsys, *words: str) -> str:
    assert sharebench(db, "run", url, *QUICK, "--json", *words) == 0
    found: str = json.loads(capsys.readouterr().out)["id"]
    return found


def test_a_baseline_holds_several_series_and_asks_for_them(tmp_path, url, capsys):
    db = tmp_path / "notebook.db"
    ids = [measured(db, url, capsys) for _ in range(3)]
    assert sharebench(db, "baseline", "set", "before", ids[0]) == 0
    assert "sharebench run --again before" in capsys.readouterr().err
    assert sharebench(db, "baseline", "add", "before", *ids[1:]) == 0
    assert "--again" not in capsys.readouterr().err, "three series are enough"
    with Notebook(db) as notebook:
        assert notebook.baseline_ids("before") == ids
        assert notebook.repeated_ids() == [tuple(ids)]
    put = measured(db, f"file://{tmp_path}", capsys, "--put", "--size", "1M")
    assert sharebench(db, "baseline", "add", "before", put) == 2
    assert "repeats of the same settings" in capsys.readouterr().err
    assert sharebench(db, "baseline", "add", "nothing", put) == 2


def test_again_makes_a_repeat_in_the_experiment(tmp_path, url, capsys):
    db = tmp_path / "notebook.db"
    base = measured(db, url, capsys, "--experiment", "x")
    measured(db, url, capsys, "--experiment", "x", "--block", "64K", "--change", "block=64K")
    again = measured(db, url, capsys, "--again", base)
    with Notebook(db) as notebook:
        series = notebook.series(again)
        assert (series.base_id, series.experiment, series.change) == (base, "x", None)
    assert sharebench(db, "experiment", "show", "x", "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["rungs"][2]["doubt"] == "same settings"
    assert [gain["kept_path"][0] for gain in summary["gains"]] == [base]
    assert sharebench(db, "run", url, "--again", base, "--change", "x=1", "--experiment", "x") == 2


def test_again_alone_measures_with_the_settings_of_the_series(tmp_path, url, capsys):
    db = tmp_path / "notebook.db"
    base = measured(db, url, capsys, "--block", "64K")
    assert sharebench(db, "run", "--again", base, "--runs", "5") == 2
    assert "--again measures as the series began: leave --runs out" in capsys.readouterr().err
    assert sharebench(db, "run", "--again", base, "--note", "put back", "--json") == 0
    again = json.loads(capsys.readouterr().out)["id"]
    with Notebook(db) as notebook:
        first, second = notebook.series(base), notebook.series(again)
        assert notebook.repeated_ids() == [(base, again)]
    assert (second.base_id, second.note, second.target) == (base, "put back", first.target)
    assert (second.client, second.plan) == (first.client, first.plan)


def test_apart_measures_whole_series_one_after_the_other(tmp_path, url, capsys):
    db = tmp_path / "notebook.db"
    assert sharebench(db, "selftest", url, *QUICK, "--apart", "3", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "sharebench/repeats/1"
    assert len(found["series"]) == 3
    assert found["between_percent"] > 0
    assert found["smallest_change_percent"] > found["between_percent"]
    with Notebook(db) as notebook:
        (entry,) = notebook.experiments(ExperimentKind.REPEATS)
        assert notebook.repeated_ids() == [tuple(found["series"])]
    assert sharebench(db, "experiment", "show", entry.experiment.name) == 0
    assert "Answer: Equal series vary by" in " ".join(capsys.readouterr().out.split())


def test_apart_measures_two_series_at_least_and_no_other_that_would_not_end_in_time(tmp_path, url, capsys, monkeypatch):
    monkeypatch.setattr(TimeLimit, "has_time_for_another", lambda limit: not limit._longest)
    db = tmp_path / "notebook.db"
    assert sharebench(db, "selftest", url, "--apart", "4", "--within", "30", *QUICK, "--json") == 0
    said = capsys.readouterr().err
    assert "no further series would end in time (--within 30): it ends with what it has" in said
    assert said.count("each in 4 series") == 1, "what all of them take is said once, before the first"
    with Notebook(db) as notebook:
        assert len(notebook.heads()) == 2


def test_versus_measures_both_in_turns_and_compares(tmp_path, url, capsys):
    db = tmp_path / "notebook.db"
    code = sharebench(db, "run", url, *QUICK, "--versus", "--block 64K", "--json")
    found = json.loads(capsys.readouterr().out)
    assert code == EXIT_CODES[found["verdict"]]
    assert found["in_turns"]
    assert {"name": "client.block_bytes", "base": 1 << 20, "other": 64 << 10} in found["differences"]
    with Notebook(db) as notebook:
        assert [notebook.series(found[side]).label for side in ("base", "other")] == ["as it is", "--block 64K"]


@pytest.mark.parametrize(
    ("percent", "verdict"), [(110.0, "faster"), (100.2, "same"), (90.0, "slower"), (None, "unknown")]
)
def test_versus_exits_as_compare_does(tmp_path, url, capsys, monkeypatch, percent, verdict):
    rates = [(100.0 + number % 3 / 10) * 1e6 for number in range(8)]
    other_rates = [rate * percent / 100 for rate in rates] if percent else [60e6, 150e6] * 4
    both = interleaved(one(1, rates), one(2, other_rates, client=replace(one(2).client, block_bytes=64 << 10)))
    measured = measuring.Interleaved(series=list(both), error=None)
    monkeypatch.setattr(measuring, "measure_interleaved", lambda *_: measured)

    db = book(tmp_path / "notebook.db", *both)
    assert sharebench(db, "run", url, "--versus", "--block 64K", "--json") == EXIT_CODES[verdict]
    assert json.loads(capsys.readouterr().out)["verdict"] == verdict
    assert sharebench(db, "compare", both[0].id, both[1].id, "--alone", "--json") == EXIT_CODES[verdict]
    assert json.loads(capsys.readouterr().out)["verdict"] == verdict


@pytest.mark.parametrize("words", ["", "--runs 4", "nonsense", "--block 'x"])
def test_versus_takes_only_what_the_client_can_change(tmp_path, url, capsys, words):
    assert sharebench(tmp_path / "notebook.db", "run", url, *QUICK, "--versus", words) == 2
    assert "--versus" in capsys.readouterr().err
