"""Results of changes measured in this notebook."""

from collections.abc import Iterable, Iterator

from app.errors import UsageError
from app.workflows.compare import sides_to_compare
from forms import wording
from forms.audit.report import audit_report
from forms.comparison.summary import comparisons
from forms.report import Report
from forms.trials.judged import KINDS, answer_of, judged
from forms.tuning.smb_conf import parameter_key
from storage.audits import Audit
from storage.notebook import Notebook
from storage.recordings import UnknownReferenceError
from storage.records import Series

MOST_TOLD = 3
"""Newest measurements shown for each setting."""


def audit_form(notebook: Notebook, audit: Audit) -> Report:
    """The form of an audit, with measured results beside each finding."""
    return audit_report(audit, tried_here(notebook, {one.parameter for one in audit.findings if one.parameter}))


def tried_here(notebook: Notebook, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Results of trials, sweeps and experiment steps by setting, the newest first."""
    wanted = {parameter_key(name): name for name in names}
    found: dict[str, list[tuple[str, str]]] = {}
    for key, moment, sentence in (*_changes(notebook, wanted), *_steps(notebook, wanted)):
        found.setdefault(wanted[key], []).append((moment, f"{moment[:10]}, {sentence}"))
    return {
        name: tuple(sentence for _, sentence in sorted(told, reverse=True)[:MOST_TOLD]) for name, told in found.items()
    }


def _changes(notebook: Notebook, wanted: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    for entry in (entry for kind in KINDS for entry in notebook.experiments(kind)):
        plan = notebook.trial(entry.experiment.name)
        if plan is None or (key := parameter_key(plan.name)) not in wanted:
            continue
        series = notebook.experiment(entry.experiment.name)
        try:
            change = judged(entry.experiment, plan, series, notebook.slots(entry.experiment.name))
        except ValueError:
            continue  # one that is not whole says nothing
        yield key, entry.last_at, f"{_path(series[0])}: {answer_of(change).text}"


def _steps(notebook: Notebook, wanted: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    of_changes = {entry.experiment.name for kind in KINDS for entry in notebook.experiments(kind)}
    for head in notebook.heads():
        if not head.change or not head.base_id or head.experiment in of_changes:
            continue
        if (key := parameter_key(head.change.name)) not in wanted:
            continue
        try:
            (form, *_) = comparisons(sides_to_compare(notebook, (head.base_id, head.id)))
        except (UsageError, UnknownReferenceError):
            continue  # its base is gone, or has nothing in common with it
        what = f"{head.change.name} = {head.change.value or 'empty'}"
        text = f"{_path(head)}: [{form.comparison.sign}] {wording.plain(what)}: {form.comparison.headline}"
        yield key, head.created_at, text


def _path(series: Series) -> str:
    return f"{series.command} {wording.place(series.target)}"
