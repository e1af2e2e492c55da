"""What earlier changes of a setting gave, as sentences beside that setting: trials, sweeps and steps of experiments.

A trial tries one value of a setting, a sweep several; a step of an experiment is a series measured after one change.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from app.base.errors import UsageError
from app.comparison import named, sides
from forms import wording
from forms.comparison.summary import comparisons
from forms.comparison.wording import comparison_headline
from forms.trial.changes_report import KINDS, change_answer, judge_change
from forms.tuning.smb_conf import parameter_key
from storage import records
from storage.notebook import Notebook
from storage.recordings import UnknownReferenceError

MOST_RESULTS = 3
"""How many results of one setting are told, the newest."""


@dataclass(frozen=True, slots=True, order=True)
class _Result:
    """What a change gave, as a sentence; in order of time."""

    moment: str
    """UTC, ISO 8601."""
    sentence: str
    name: str
    """The setting, spelled as the caller asked for it."""

    @property
    def dated_text(self) -> str:
        return f"{self.moment[:10]}, {self.sentence}"


def tried_here(notebook: Notebook, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Dated sentences by setting, the newest first; the settings are spelled as in ``names``."""
    names_by_key = {parameter_key(name): name for name in names}
    results: dict[str, list[_Result]] = {}
    for result in (*_results_of_trials(notebook, names_by_key), *_results_of_steps(notebook, names_by_key)):
        results.setdefault(result.name, []).append(result)

    texts = {}
    for name, results_of_name in results.items():
        newest = sorted(results_of_name, reverse=True)[:MOST_RESULTS]
        texts[name] = tuple(result.dated_text for result in newest)
    return texts


def _results_of_trials(notebook: Notebook, names_by_key: Mapping[str, str]) -> Iterator[_Result]:
    """Of trials and sweeps."""
    for entry in _trials_and_sweeps(notebook):
        experiment = entry.experiment
        plan = notebook.trial(experiment.name)
        name = names_by_key.get(parameter_key(plan.name)) if plan else None
        if plan is None or name is None:
            continue

        series = notebook.experiment(experiment.name)
        try:
            change = judge_change(experiment, plan, series, notebook.slots(experiment.name))
        except ValueError:
            continue  # one that is not whole says nothing
        yield _Result(entry.last_at, f"{_measured_path(series[0])}: {change_answer(change).text}", name)


def _trials_and_sweeps(notebook: Notebook) -> list[records.ExperimentEntry]:
    entries = []
    for kind in KINDS:
        entries += notebook.experiments(kind)
    return entries


def _results_of_steps(notebook: Notebook, names_by_key: Mapping[str, str]) -> Iterator[_Result]:
    """Of series that were measured with a change of their base, outside of trials and sweeps."""
    names_of_trials = {entry.experiment.name for entry in _trials_and_sweeps(notebook)}
    for head in notebook.heads():
        if not head.change or not head.base_id or head.experiment in names_of_trials:
            continue
        name = names_by_key.get(parameter_key(head.change.name))
        if name is None:
            continue

        ids = (head.base_id, head.id)
        try:
            (form, *_) = comparisons(sides.sides_to_compare(notebook, ids, counted=named.Counted.REPEATS))
        except (UsageError, UnknownReferenceError):
            continue  # its base is gone, or has nothing in common with it
        comparison = form.comparison
        setting = wording.plain(f"{head.change.name} = {head.change.value or 'empty'}")
        headline = comparison_headline(comparison)
        sentence = f"{_measured_path(head)}: {comparison.sign} {setting}: {headline}"
        yield _Result(head.created_at, sentence, name)


def _measured_path(series: records.Series) -> str:
    return f"{series.command} {wording.place(series.target)}"
