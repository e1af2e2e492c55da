"""Isolations in the notebook: stored as they go, read back whole."""

from dataclasses import replace
from pathlib import Path

import pytest

from storage.isolation import LeftBehind
from storage.notebook import Notebook
from storage.recordings import UnknownReferenceError
from storage.records import RunStatus, SeriesStatus
from tests.recordings import ISOLATION, RUN


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
        assert notebook.recordings_with_leftovers() == []
        notebook.release("aa11")
        assert [one.id for one in notebook.recordings_with_leftovers()] == ["aa11"]
        notebook.update_isolation(replace(ISOLATION, status=SeriesStatus.COMPLETE))
        assert notebook.recordings_with_leftovers() == []
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
