"""What the notebook holds under the name of an experiment, as a report."""

from app.errors import UsageError
from forms.experiments.report import experiment_report
from forms.report import Report
from storage.notebook import Notebook


def stored_experiment(notebook: Notebook, name: str, only: str | None = None) -> Report:
    """The ladder, survey or self-test of that name; ``only`` is the kind it must be. Raises UsageError."""
    experiment, series = notebook.experiment_called(name), notebook.experiment(name)
    if experiment is None or not series:
        raise UsageError(f"no experiment is called {name!r}; `sharebench experiment list` shows what there is")
    if only is not None and experiment.kind != only:
        raise UsageError(f"{name!r} is a {experiment.kind}: export it with --form experiment")
    try:
        return experiment_report(name, series, experiment.kind)
    except ValueError as error:
        raise UsageError(f"{name!r} was not completed: measure it again with sharebench selftest") from error
