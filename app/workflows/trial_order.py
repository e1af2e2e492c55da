"""The order of a trial, what is consented to before it starts, and the events of its progress."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from secrets import randbelow

from app.changes.find import Ways, find_setting
from app.changes.smb_conf import ChangeableSetting
from app.clients.base import Client, Secrets
from app.clients.registry import make_client
from app.errors import UsageError
from app.measure.events import Event
from app.recorder.request import SeriesRequest
from app.workflows.requests import options_of, parse_change, series_request
from forms import wording
from forms.series.progress import duration
from forms.stats.paired import LOOKS
from forms.trials.judged import ChangeSummary
from forms.tuning.catalogue import acts_on
from storage.changes import TrialPlan
from storage.notebook import Notebook
from storage.records import Experiment, ExperimentKind, Series, Target, dated_experiment

AS_IT_IS = "as it is"
SEEDS = 2**31
"""Number of possible seeds of the random order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOrder:
    """A trial, checked and consented to."""

    request: SeriesRequest
    setting: ChangeableSetting
    plan: TrialPlan
    experiment: Experiment


@dataclass(frozen=True, slots=True)
class ValueSet:
    """A value was set and verified; the next events are of a run with it."""

    value: str | None
    """None for the previous value."""
    block: int


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair or block is complete; the result so far."""

    summary: ChangeSummary


@dataclass(frozen=True, slots=True)
class SettingRestored:
    """Everything is restored and verified."""

    text: str


TrialEvent = Event | ValueSet | Judged | SettingRestored


def new_order(
    request: SeriesRequest, setting: ChangeableSetting, *, kind: ExperimentKind, plan: TrialPlan | None = None
) -> TrialOrder:
    """The order of a new trial or sweep."""
    plan = plan or TrialPlan(kind=setting.kind, name=setting.name, values=setting.values, looks=LOOKS)
    target = request.plan.target
    return TrialOrder(
        request=request,
        setting=setting,
        plan=replace(
            plan,
            section=setting.section,
            previous=setting.previous or "",
            server_ssh=request.server_ssh,
            smb_conf=request.smb_conf,
            seed=randbelow(SEEDS),
        ),
        experiment=dated_experiment(kind, f"{plan.name} {target.host or target.path}"),
    )


def order_of(
    request: SeriesRequest, setting: str, *, accepted: tuple[str, ...] = (), restart: bool = False
) -> TrialOrder:
    """The checked order of a trial of ``NAME = VALUE``; nothing is written. Raises SharebenchError.
    ``accepted`` are names whose risks are accepted; ``restart`` allows a restart of smbd.
    """
    name, value = parse_change(setting)
    ways = Ways(ssh=request.server_ssh, smb_conf=request.smb_conf, accepted=accepted, restart=restart)
    found = find_setting(name, [value], request.plan.target, ways)
    check_target(request)
    plan = TrialPlan(
        kind=found.kind,
        name=found.name,
        values=found.values,
        looks=LOOKS,
        accepted_risks=accepted,
        allow_restart=restart,
    )
    return new_order(request, found, kind=ExperimentKind.TRIAL, plan=plan)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTrial:
    """A stored trial or sweep that can be resumed."""

    experiment: Experiment
    plan: TrialPlan
    base: Series
    """With the previous value."""


def stored_trial(notebook: Notebook, name: str) -> StoredTrial:
    """The trial or sweep of that name. Raises UsageError."""
    experiment, plan, series = notebook.experiment_called(name), notebook.trial(name), notebook.experiment(name)
    if experiment is None or plan is None or not series:
        raise UsageError(f"no trial or sweep is called {name!r}; `sharebench experiment list` shows what there is")
    if any(one.imported_at for one in series):
        raise UsageError(f"{name!r} was imported: it cannot be resumed, only measured again")
    if plan.axes:
        raise UsageError(f"{name!r} changes two settings at once, which sharebench no longer does: sweep one at a time")
    return StoredTrial(experiment=experiment, plan=plan, base=series[0])


def order_to_resume(stored: StoredTrial, target: Target, secrets: Secrets) -> TrialOrder:
    """The original order, checked again; nothing is written. Raises SharebenchError."""
    plan = stored.plan
    options = replace(options_of(stored.base), server_ssh=plan.server_ssh, experiment=None)
    ways = Ways(
        ssh=plan.server_ssh,
        smb_conf=plan.smb_conf,
        accepted=plan.accepted_risks,
        apply=plan.apply,
        revert=plan.revert,
        restart=plan.allow_restart,
    )
    setting = find_setting(plan.name, () if plan.apply else plan.values, target, ways)
    now, before = setting.previous, plan.previous
    if before is None or now is None or not setting.same(now, before):
        raise UsageError(
            f"{setting.name} is {now} now and was {before} when {stored.experiment.name!r} began: runs of now and then"
            " cannot be compared; begin a new one"
        )
    request = series_request(options, target, secrets)
    return TrialOrder(request=request, setting=setting, plan=plan, experiment=stored.experiment)


@contextmanager
def open_client(request: SeriesRequest) -> Iterator[Client]:
    """The measuring client, not connected yet."""
    plan = request.plan
    client = make_client(plan.target, plan.client, plan.secrets, plan.settings, plan.size_bytes)
    try:
        yield client
    finally:
        client.close()


def check_target(request: SeriesRequest) -> None:
    """Raise MeasurementError if the target cannot be measured."""
    plan = request.plan
    with open_client(request) as client:
        client.connect()
        if plan.command == "get" and not plan.make_file and plan.target.abilities.moves_files:
            client.size(plan.target.path)


def consent_lines(order: TrialOrder) -> Iterator[str]:
    """What will be written and where, how it is restored, and the risks."""
    setting, plan = order.setting, order.plan
    where = setting.ssh or "this machine"
    yield f"{setting.name} is {setting.previous or 'empty'} now, on {where}. The trial writes there:"
    yield from (f"  {line}" for line in setting.writes)
    yield "It restores everything byte for byte. After a crash, use `sharebench restore`, or run there as root:"
    yield f"  sh {setting.undo_path}"
    most = plan.looks[-1] * (len(plan.values) + 1)
    yield f"At most {wording.count(most, 'run')}, {_each(plan)}; new sessions of others are affected."
    acting = None if plan.load else acts_on(setting.name)
    if acting not in {None, order.request.plan.command}:
        yield f"Beware: {setting.name} is known to affect only a {acting}."
    yield from (f"Accepted risk: {risk}." for risk in setting.risks)
    yield from (f"Beware: {manager}." for manager in setting.managers)
    yield _how_long(plan, most)


def _how_long(plan: TrialPlan, most: int) -> str:
    if plan.load is None:
        return "It ends as soon as it is decided. How long that can take is shown once the first run has ended."
    scenario = plan.load.scenario
    seconds = most * (scenario.duration_seconds + scenario.settle_seconds)
    return f"It ends as soon as it is decided, after {duration(seconds)} or somewhat longer at most."


def _each(plan: TrialPlan) -> str:
    if plan.load is None:
        return "each after a settling run"
    return f"each a window of {plan.load.scenario.duration_seconds:g} s with {wording.count(plan.load.users, 'user')}"
