"""Which measurements are told that a running trial has changed a setting just now."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.base.targets import parse_target
from app.trial.changes_beside import changes_beside
from storage.changes import ChangeKind, TrialPlan
from storage.notebook import Notebook
from storage.owners import this_process
from storage.records import Experiment, ExperimentKind
from tests.builders import abandoned_change, series

TRIAL = "trial of it"


def trial_of(section: str, target: str, path: Path) -> Notebook:
    """A notebook in which a live process has a setting of that section changed, measuring the target."""
    notebook = Notebook(path / "notebook.db")
    notebook.add_experiment(Experiment(name=TRIAL, kind=ExperimentKind.TRIAL))
    notebook.add(series((100e6,), experiment=TRIAL, target=parse_target(target)))
    plan = TrialPlan(kind=ChangeKind.SMB_CONF, name="strict sync", section=section, values=("no",), looks=(8,))
    notebook.set_trial(TRIAL, plan)
    notebook.open_journal(replace(abandoned_change(), owner=this_process(), ssh="root@nas.invalid"))
    return notebook


@pytest.mark.parametrize(
    ("section", "target", "is_told"),
    [
        ("[global]", "smb://nas.invalid/public/file", True),
        ("[global]", "smb://NAS.invalid/public/file", True),
        ("[global]", "smb://other.invalid/photos/file", False),
        ("[global]", "ftp://nas.invalid/file", True),
        ("[global]", "file:///srv/file", False),
        ("[photos]", "smb://nas.invalid/Photos/other", True),
        ("[photos]", "smb://nas.invalid/public/file", False),
        ("[photos]", "ftp://nas.invalid/file", False),
    ],
)
def test_a_change_is_told_where_a_measurement_includes_it(section: str, target: str, is_told: bool, tmp_path: Path):
    with trial_of(section, "smb://nas.invalid/photos/file", tmp_path) as notebook:
        assert bool(changes_beside(notebook, parse_target(target))) is is_told


def test_one_machine_is_known_by_its_addresses(tmp_path: Path):
    with trial_of("[global]", "smb://127.0.0.1/photos/file", tmp_path) as notebook:
        assert changes_beside(notebook, parse_target("smb://localhost/public/file"))
        assert changes_beside(notebook, parse_target("file:///srv/file"))
        assert not changes_beside(notebook, parse_target("smb://nas.invalid/public/file"))


def test_the_share_of_a_change_is_named(tmp_path: Path):
    with trial_of("[photos]", "smb://nas.invalid/photos/file", tmp_path) as notebook:
        [text] = changes_beside(notebook, parse_target("smb://nas.invalid/photos/file"))
    assert text.startswith("[photos] strict sync")
    assert "root@nas.invalid" in text
