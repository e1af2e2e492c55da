"""What was asked for: the order of a trial, new or resumed, checked before anything is written; and its events."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from secrets import randbelow
from statistics import fmean

from app.base.errors import UsageError
from app.clients.base import Secrets
from app.recording import process
from app.recording.spec import Lineage, SeriesRequest
from app.series.requests import parse_change, series_request, spec_of
from app.server.changes.find_setting import find_setting
from app.server.changes.setting import ChangeableSetting, Ways
from app.trial.fitting import FittedRequest, fit_request
from app.trial.target import check_target
from forms.stats.paired import LOOKS
from forms.trial.changes_report import ChangeSummary, judge_change
from storage.changes import LoadWindow, Slot, TrialPlan
from storage.notebook import Notebook
from storage.plan import MARGIN_PERCENT, NOISE_PERCENT
from storage.records import Experiment, ExperimentKind, Series, Target, dated_experiment

AS_IT_IS = "as it is"
SEEDS = 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOrder:
    """A trial, checked and consented to."""

    request: SeriesRequest
    setting: ChangeableSetting
    plan: TrialPlan
    experiment: Experiment
    within_seconds: float = math.inf
    """No pair or block begins that would end later."""
    run_seconds: float | None = None
    why_smaller: str = ""
    blocks_done: int = 0
    """Pairs or blocks that an interrupted trial has measured."""

    @property
    def unit(self) -> str:
        return "block" if self.experiment.kind is ExperimentKind.SWEEP else "pair"

    @property
    def compares_equals(self) -> bool:
        """Whether the server has a value already that is to be tried."""
        return any(self.setting.same(self.setting.previous or "", value) for value in self.plan.values)


@dataclass(frozen=True, slots=True)
class ValueSet:
    """A value was set and verified; the next events are of a run with it."""

    value: str | None
    block: int


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair or block is complete; the result so far."""

    summary: ChangeSummary


@dataclass(frozen=True, slots=True)
class SettingRestored:
    text: str


TrialEvent = process.Event | TrialPlan | ValueSet | Slot | Judged | SettingRestored


def new_order(
    request: SeriesRequest, setting: ChangeableSetting, *, kind: ExperimentKind, plan: TrialPlan | None = None
) -> TrialOrder:
    target = request.target

    plan = plan or TrialPlan(kind=setting.kind, name=setting.name, values=setting.values, looks=LOOKS)
    plan = replace(
        plan,
        section=setting.section,
        previous=setting.previous or "",
        seed=randbelow(SEEDS),
        server_ssh=request.spec.monitor.server_ssh,
        smb_conf=request.spec.monitor.smb_conf,
    )

    experiment = dated_experiment(kind, f"{plan.name} {target.host or target.path}")
    return TrialOrder(request=request, setting=setting, plan=plan, experiment=experiment)


def order_of(
    request: SeriesRequest, setting: str, *, keeps_size: bool, accepted: tuple[str, ...], restart: bool
) -> TrialOrder:
    """The checked order of a trial of ``NAME = VALUE``; nothing is written. Raises SharebenchError."""
    name, value = parse_change(setting)
    monitor = request.spec.monitor
    ways = Ways(ssh=monitor.server_ssh, smb_conf=monitor.smb_conf, accepted=accepted, restart=restart)
    trial = prepare(request, name, [value], ways, keeps_size=keeps_size)
    return trial.order(ExperimentKind.TRIAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A checked trial or sweep; nothing is written yet."""

    short: FittedRequest
    setting: ChangeableSetting
    ways: Ways
    load: LoadWindow | None

    def order(
        self,
        kind: ExperimentKind,
        values: tuple[str, ...] = (),
        *,
        looks: tuple[int, ...] = LOOKS,
        noise_percent: float = NOISE_PERCENT,
        margin_percent: float = MARGIN_PERCENT,
    ) -> TrialOrder:
        plan = TrialPlan(
            kind=self.setting.kind,
            name=self.setting.name,
            values=values or self.setting.values,
            apply=self.ways.apply,
            revert=self.ways.revert,
            looks=looks,
            accepted_risks=self.ways.accepted,
            allow_restart=self.ways.restart,
            load=self.load,
            noise_percent=noise_percent,
            margin_percent=margin_percent,
        )

        order = new_order(self.short.request, self.setting, kind=kind, plan=plan)
        return replace(order, run_seconds=self.short.run_seconds, why_smaller=self.short.explanation)


def prepare(
    request: SeriesRequest,
    name: str,
    values: Sequence[str],
    ways: Ways,
    *,
    keeps_size: bool,
    load: LoadWindow | None = None,
) -> Prepared:
    """Reads the setting and checks the target; the present value is not among several. Raises SharebenchError."""
    setting = find_setting(name, values, request.target, ways)
    if len(values) > 1:
        setting = _without_present_value(setting, values, request.target, ways)
    check_target(request)

    short = FittedRequest(request, 0) if load else fit_request(request, keeps_size=keeps_size)
    return Prepared(short=short, setting=setting, ways=ways, load=load)


def _without_present_value(
    setting: ChangeableSetting, values: Sequence[str], target: Target, ways: Ways
) -> ChangeableSetting:
    before = setting.previous or ""
    whole_values = zip(values, setting.values, strict=True)
    new_values = [value for value, whole_value in whole_values if not setting.same(before, whole_value)]
    if not new_values:
        raise UsageError(f"{setting.name} is {before} already: name another value")
    return setting if len(new_values) == len(values) else find_setting(setting.name, new_values, target, ways)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTrial:
    experiment: Experiment
    plan: TrialPlan
    base: Series
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
    setting = find_setting(plan.name, () if plan.apply else plan.values, target, ways)

    now = setting.previous
    before = plan.previous
    if before is None or now is None or not setting.same(now, before):
        raise UsageError(
            f"{setting.name} is {now} now and was {before} when {stored.experiment.name!r} began: runs of now and then"
            " cannot be compared; begin a new one"
        )
    return setting
