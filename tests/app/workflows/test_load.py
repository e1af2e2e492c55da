"""What a load makes of its request, before any process is started."""

from pathlib import Path

import pytest

from app.load.plan import LoadPlan
from app.measure.control import SeriesControl
from app.workflows.load import LoadRequest, resume_load
from storage.loads.records import LoadChoices
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
    with pytest.raises(PlannedError, match=str(keep)):
        list(resume_load(load, request, tmp_path / "notebook.db", SeriesControl()))
