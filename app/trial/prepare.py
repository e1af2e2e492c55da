"""Prepares a trial or sweep: its setting is found, its target and its values are checked; nothing is written yet.

A `TrialOrder` is what a trial is asked to do (as an order to a workshop), not the sequence of its runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from secrets import randbelow

from app.base.errors import UsageError
from app.recording.spec import SeriesRequest
from app.series.requests import parse_change
from app.server.changes import find_setting
from app.server.changes.setting import ChangeableSetting, Ways
from app.trial import fitting
from app.trial.spec import TrialOrder
from app.trial.target import check_target
from forms.stats.paired import LOOKS
from storage import records
from storage.changes import LoadWindow, TrialPlan
from storage.plan import MARGIN_PERCENT, NOISE_PERCENT

SEEDS = 2**31
"""The seed of the order of pairs or blocks is drawn from as many."""


def new_order(
    request: SeriesRequest, setting: ChangeableSetting, *, kind: records.ExperimentKind, plan: TrialPlan | None = None
) -> TrialOrder:
    """An order of the setting's values; ``plan`` says how they are compared, None: as a trial usually does."""
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

    experiment = records.dated_experiment(kind, f"{plan.name} {target.host or target.path}")
    return TrialOrder(request=request, setting=setting, plan=plan, experiment=experiment)


def order_of(
    request: SeriesRequest, setting: str, *, keeps_size: bool, accepted: tuple[str, ...], restart: bool
) -> TrialOrder:
    """The checked order of a trial of ``NAME = VALUE``; nothing is written. Raises SharebenchError."""
    name, value = parse_change(setting)
    monitor = request.spec.monitor
    ways = Ways(ssh=monitor.server_ssh, smb_conf=monitor.smb_conf, accepted=accepted, restart=restart)
    found_setting = find_values(name, [value], request.target, ways)
    trial = prepare(request, found_setting, ways, keeps_size=keeps_size)
    return trial.order(records.ExperimentKind.TRIAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A checked trial or sweep; nothing is written yet."""

    short: fitting.FittedRequest
    """What a run measures, with a smaller file where the usual one would take too long."""
    setting: ChangeableSetting
    ways: Ways
    """How the server is reached and changed."""
    load: LoadWindow | None
    """The window of a load that is measured in place of a transfer; None for a transfer."""

    def order(
        self,
        kind: records.ExperimentKind,
        values: tuple[str, ...] = (),
        *,
        looks: tuple[int, ...] = LOOKS,
        noise_percent: float = NOISE_PERCENT,
        margin_percent: float = MARGIN_PERCENT,
    ) -> TrialOrder:
        """The order of a trial or sweep of ``values``, or of all values that were named."""
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


def find_values(name: str, values: Sequence[str], target: records.Target, ways: Ways) -> ChangeableSetting:
    """Read the setting and check the values; of several, the present one is left out. Raises SharebenchError.

    No login at the target is needed for that.
    """
    setting = find_setting.find_setting(name, values, target, ways)
    if len(values) > 1:
        return _without_present_value(setting, values, target, ways)
    return setting


def prepare(
    request: SeriesRequest,
    setting: ChangeableSetting,
    ways: Ways,
    *,
    keeps_size: bool,
    load: LoadWindow | None = None,
) -> Prepared:
    """Check the target for a trial or sweep of the setting.

    ``keeps_size``: the size of the file was named, so no smaller one is moved. Raises SharebenchError.
    """
    check_target(request)
    short = fitting.FittedRequest(request, 0) if load else fitting.fit_request(request, keeps_size=keeps_size)
    return Prepared(short=short, setting=setting, ways=ways, load=load)


def _without_present_value(
    setting: ChangeableSetting, values: Sequence[str], target: records.Target, ways: Ways
) -> ChangeableSetting:
    """The setting with those of the values that it does not have already. Raises UsageError where none is left.

    ``setting.values`` are the same values as typed, each as it would be written: a number of bytes for ``128K``.
    """
    before = setting.previous or ""
    pairs = zip(values, setting.values, strict=True)
    new_values = [typed for typed, written in pairs if not setting.same(before, written)]
    if not new_values:
        raise UsageError(f"{setting.name} is {before} already: name another value")
    if len(new_values) == len(values):
        return setting
    return find_setting.find_setting(setting.name, new_values, target, ways)
