"""What a trial will write, shown before it starts."""

from collections.abc import Iterator

from app.workflows.trial_order import TrialOrder
from forms import wording
from forms.series.progress import duration
from forms.tuning.catalogue import acts_on
from storage.changes import TrialPlan


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
