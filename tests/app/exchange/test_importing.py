"""Documents are imported into the notebook whole or not at all."""

from pathlib import Path

from storage.notebook import Notebook
from storage.records import Experiment, ExperimentKind
from tests.builders import book, one
from tests.command_line import Inside


def test_an_imported_series_is_part_of_the_kind_that_its_document_names(tmp_path: Path):
    """Whatever its name looks like."""
    here, there = Inside(book(tmp_path / "a.db"), None), Inside(tmp_path / "b.db", None)
    file = tmp_path / "a.json"
    with Notebook(here.db) as notebook:
        notebook.add_experiment(Experiment(name="nightly", kind=ExperimentKind.SURVEY))
        notebook.add(one(1, experiment="nightly"))
        notebook.add(one(2, experiment="survey nas 2026-01-03 10:00:00"))
    assert here("export", f"{1:012x}", f"{2:012x}", "-o", str(file)).returncode == 0
    assert there("import", str(file)).returncode == 0
    with Notebook(there.db) as notebook:
        kinds = {each.experiment.name: each.experiment.kind for each in notebook.experiments()}
    assert kinds == {"nightly": ExperimentKind.SURVEY, "survey nas 2026-01-03 10:00:00": ExperimentKind.STEPS}
