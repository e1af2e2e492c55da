"""Isolations in the notebook: stored as they go, read back whole."""

from dataclasses import replace
from pathlib import Path

import pytest

from storage.isolations import CPUUse, Isolation, Layer, LayerRun, LeftBehind, ProfileCounter
from storage.notebook import Notebook
from storage.plan import Settings
from storage.recordings import UnknownReferenceError
from storage.records import ClientFacts, RunStatus, SeriesStatus, Spread, Target

SPREAD = Spread(mean=1.5, median=1.0, deviation=0.25)
RUN = LayerRun(
    round=1, layer=Layer.SERVER, clients=4, seconds=5.0, bytes_per_second=1e6, operations={"readx": 3},
    requests={"read": 3}, server_cpu=CPUUse(user=SPREAD, system=SPREAD, total=SPREAD, samples=5),
    processes={"server": 40.0}, profile={"smb2_read": ProfileCounter(calls=3, microseconds=20)},
)  # fmt: skip
ISOLATION = Isolation(
    id="aa11", created_at="2026-01-31T10:00:00.000Z", target=Target(protocol="smb", host="h", share="s"),
    script="office", clients=(1, 4), rounds=2, seconds=5, ceilings={4: 9000.5}, settings=Settings(sign=True),
    client=ClientFacts(name="sharebench", dialect="3.1.1"), problems=("no dbench",), without=("find_first",),
)  # fmt: skip


def test_what_is_stored_is_read_back(tmp_path: Path):
    with Notebook(tmp_path / "n.db") as notebook:
        notebook.add_isolation(replace(ISOLATION, runs=(RUN,)))
        assert notebook.isolation("aa") == replace(ISOLATION, runs=(RUN,))
        assert notebook.isolations() == [ISOLATION]
        for nothing in ("bb", ""):
            with pytest.raises(UnknownReferenceError):
                notebook.isolation(nothing)


def test_a_failed_run_gives_way_to_the_next(tmp_path: Path):
    with Notebook(tmp_path / "n.db") as notebook:
        notebook.add_isolation(ISOLATION)
        notebook.add_layer_run("aa11", replace(RUN, status=RunStatus.FAILED, error="no"))
        notebook.add_layer_run("aa11", RUN)
        found = notebook.isolation("last")
    assert found
    assert found.runs == (RUN,)


def test_what_must_be_put_back_survives_until_it_is(tmp_path: Path):
    left = LeftBehind(
        ssh="root@h", smb_conf="/etc/smb.conf", profiling="off", server_folders=("/srv/.sharebench-isolate-1",)
    )
    with Notebook(tmp_path / "n.db") as notebook:
        notebook.add_isolation(replace(ISOLATION, left_behind=left))
        notebook.take("aa11")
        (found,) = notebook.isolations()
        assert found.left_behind == left
        assert found.running
        assert notebook.left_over() == []
        notebook.release("aa11")
        assert [one.id for one in notebook.left_over()] == ["aa11"]
        notebook.update_isolation(replace(ISOLATION, status=SeriesStatus.COMPLETE))
        assert notebook.left_over() == []
        (found,) = notebook.isolations()
        assert found.left_behind.nothing
        assert not found.running


def test_an_isolation_goes_with_its_runs(tmp_path: Path):
    with Notebook(tmp_path / "n.db") as notebook:
        notebook.add_isolation(replace(ISOLATION, runs=(RUN,)))
        notebook.remove("aa11")
        assert notebook.isolations() == []
        notebook.add_isolation(ISOLATION)
        assert notebook.isolation("aa11") == ISOLATION
