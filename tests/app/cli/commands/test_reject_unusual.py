"""``run --reject-unusual``: what is flagged is rejected with its reason, and nothing else is."""

import json
from pathlib import Path

import click
import pytest

from app.cli.commands.notebook import reject_unusual
from app.cli.main import run
from forms.stats.unusual import UnusualRate
from storage.notebook import Notebook
from storage.records import RunStatus
from tests.builders import series

SLOW = UnusualRate(share_of_median=0.5, score=-9.0, bound=7.9, is_warm_up=False)


def in_context(db: Path) -> click.Context:
    return click.Context(click.Command("run"), obj={"db": str(db)})


def test_the_unusual_run_is_rejected_and_can_be_accepted_again(tmp_path: Path, capsys):
    db = tmp_path / "notebook.db"
    with Notebook(db) as notebook:
        notebook.add(series((100e6, 101e6, 50e6, 99e6, 100e6), id="a" * 12))
    reject_unusual(in_context(db), "a" * 12)
    with Notebook(db) as notebook:
        rejected = [r for r in notebook.series("a" * 12).runs if r.status is RunStatus.REJECTED]
    assert [r.number for r in rejected] == [3]
    assert (rejected[0].reason or "").startswith("unusual: 50")
    assert f"sharebench accept {'a' * 12} 3" in capsys.readouterr().err
    assert run(["accept", "--db", str(db), "a", "3"], lambda *_args, **_more: 0) == 0


def test_a_steady_series_loses_nothing(tmp_path: Path, capsys):
    db = tmp_path / "notebook.db"
    with Notebook(db) as notebook:
        notebook.add(series((100e6, 101e6, 99e6, 100e6), id="a" * 12))
    reject_unusual(in_context(db), "a" * 12)
    with Notebook(db) as notebook:
        assert len(notebook.series("a").measured()) == 4
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("option", "statuses"), [((), ["valid", "valid"]), (("--reject-unusual",), ["valid", "rejected"])]
)
def test_the_option_of_run(option, statuses, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setattr("forms.series.summary.unusual_runs", lambda _series: {2: SLOW})
    (tmp_path / "file").write_bytes(bytes(1 << 20))
    words = ["run", f"file://{tmp_path}/file", "--runs", "2", "--warmup", "0", "--json", "--db", str(tmp_path / "n.db")]
    assert run([*words, "--quiet-time", "skip", "--ceiling", "skip", *option], lambda *_args, **_more: 0) == 0
    assert [row["status"] for row in json.loads(capsys.readouterr().out)["runs"]] == statuses
