"""What a load makes of its request, before any process is started."""

from pathlib import Path
from typing import Self

import pytest

from app.errors import UsageError
from app.load.engine_process import EngineProcess
from app.load.events import LoadEnded, LoadWarned
from app.load.plan import LoadPlan
from app.measure.control import SeriesControl
from app.workflows.load import LoadRequest, resume_load
from storage.loads.records import LoadChoices
from storage.notebook import Notebook
from storage.records import SeriesStatus
from tests.loads import full_load


@pytest.mark.parametrize("keep", [False, True])
def test_files_that_were_to_be_kept_are_kept_by_the_rest_of_the_load(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, keep: bool
):
    class PlannedError(Exception):
        """As far as this goes."""

    def engine(plan: LoadPlan) -> None:
        raise PlannedError(plan.keep)

    monkeypatch.setattr("app.workflows.load.EngineProcess", engine)
    choices = LoadChoices(users=(10, 20, 30), keep_files=keep)
    load = full_load(status=SeriesStatus.INTERRUPTED, choices=choices, scratch_folder=".sharebench-load-0123456789ab")
    request = LoadRequest(targets=load.targets, scenario=load.scenario, choices=choices)
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add_load(load)
        with pytest.raises(PlannedError, match=str(keep)):
            list(resume_load(load, request, notebook.path, SeriesControl()))
        assert not notebook.loads()[0].running, "however it ended"
        notebook.take_load(load.id)
        with pytest.raises(UsageError, match="is being measured by process"):
            list(resume_load(load, request, notebook.path, SeriesControl()))
        assert notebook.loads()[0].running, "still by the other one"


def test_that_the_server_is_not_seen_is_said_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    class Ended(EngineProcess):
        """An engine that is over at once."""

        def __init__(self, _plan: LoadPlan) -> None:
            self.ended = LoadEnded(kind="MeasurementError", text="the share is gone")

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None: ...

        def cancel(self) -> None: ...

    monkeypatch.setattr("app.workflows.load.EngineProcess", Ended)
    monkeypatch.setenv("PATH", str(tmp_path))  # where there is no ssh
    load = full_load(status=SeriesStatus.INTERRUPTED, points=())
    request = LoadRequest(targets=load.targets, scenario=load.scenario, choices=load.choices, server_ssh="root@nas")
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add_load(load)
    told = list(resume_load(load, request, tmp_path / "notebook.db", SeriesControl()))
    assert [event.text for event in told if isinstance(event, LoadWarned)] == [
        "the server's load is not seen: `ssh` cannot be run here (No such file or directory)"
    ]
