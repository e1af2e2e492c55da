"""Resumes an interrupted trial or sweep: what is stored of it becomes an order again."""

from contextlib import suppress
from dataclasses import dataclass, replace
from statistics import fmean

from app.base.errors import UsageError
from app.clients.base import Secrets
from app.recording.spec import Lineage
from app.series.requests import series_request, spec_of
from app.server.changes import find_setting
from app.server.changes.setting import ChangeableSetting, Ways
from app.trial.spec import TrialOrder
from forms.trial.changes_report import judge_change
from storage.changes import TrialPlan
from storage.notebook import Notebook
from storage.records import Experiment, ExperimentKind, Series, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTrial:
    """A trial or sweep in the notebook that may be resumed."""

    experiment: Experiment
    plan: TrialPlan
    base: Series
    """The series of the setting as it was found."""
    blocks_done: int
    """Pairs or blocks, of those that were not interrupted."""


def stored_trial(notebook: Notebook, reference: str) -> StoredTrial:
    """A trial or sweep by its id or name. Raises UsageError."""
    name = notebook.recording(reference, ExperimentKind.TRIAL, ExperimentKind.SWEEP).subject
    experiment = notebook.experiment_called(name)
    plan = notebook.trial(name)
    series = notebook.experiment(name)
    if experiment is None or plan is None or not series:
        raise UsageError(f"no trial or sweep is called {name!r}; `sharebench experiment list` shows what there is")
    if any(one_series.imported_at for one_series in series):
        raise UsageError(f"{name!r} was imported: it cannot be resumed, only measured again")
    if plan.axes:
        raise UsageError(f"{name!r} changes two settings at once, which sharebench no longer does: sweep one at a time")

    blocks_done = 0
    with suppress(ValueError):  # not every value has a series yet
        summary = judge_change(experiment, plan, series, notebook.slots(name))
        # The summary of a trial has ``pairs``, each with its figures; that of a sweep the number of its ``blocks``.
        blocks_done = len(getattr(summary, "pairs", ())) or getattr(summary, "blocks", 0)
    return StoredTrial(experiment=experiment, plan=plan, base=series[0], blocks_done=blocks_done)


def order_to_resume(stored: StoredTrial, secrets: Secrets, target: Target | None = None) -> TrialOrder:
    """The original order, checked again; nothing is written. Raises SharebenchError."""
    plan = stored.plan
    target = target or stored.base.target
    setting = _unchanged_setting(stored, target)

    spec = spec_of(stored.base)
    spec = replace(
        spec,
        monitor=replace(spec.monitor, server_ssh=plan.server_ssh),
        lineage=Lineage(),
    )
    run_seconds = [run.seconds for run in stored.base.measured() if run.seconds]
    return TrialOrder(
        request=series_request(spec, target, secrets),
        setting=setting,
        plan=plan,
        experiment=stored.experiment,
        blocks_done=stored.blocks_done,
        run_seconds=fmean(run_seconds) if run_seconds and plan.load is None else None,
    )


def _unchanged_setting(stored: StoredTrial, target: Target) -> ChangeableSetting:
    """Raises UsageError where the server has another value than when the trial began."""
    plan = stored.plan
    ways = Ways(
        ssh=plan.server_ssh,
        smb_conf=plan.smb_conf,
        accepted=plan.accepted_risks,
        apply=plan.apply,
        revert=plan.revert,
        restart=plan.allow_restart,
    )
    setting = find_setting.find_setting(plan.name, () if plan.apply else plan.values, target, ways)

    now = setting.previous
    before = plan.previous
    if before is None or now is None or not setting.same(now, before):
        raise UsageError(
            f"{setting.name} is {now} now and was {before} when {stored.experiment.name!r} began: runs of now and then"
            " cannot be compared; begin a new one"
        )
    return setting
