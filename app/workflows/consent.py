"""What a trial would write, shown before anything is written."""

from collections.abc import Iterator

from app.workflows.trial_order import TrialOrder
from forms import wording
from forms.tuning.relevance import acts_on
from storage.changes import TrialPlan


def consent_lines(order: TrialOrder) -> Iterator[str]:
    """What will be written and where, how it is undone, and what to beware of: shown before anything is written."""
    settings, plan = order.settings, order.plan
    where = settings[0].ssh or "this machine"
    now = " and ".join(f"{one.name} is {one.previous or 'empty'}" for one in settings)
    yield f"On {where}, {now} now. This will be written there, in turns:"
    yield from (f"  {line}" for line in dict.fromkeys(line for one in settings for line in one.writes))
    yield "It is put back byte for byte at the end; after a crash by `sharebench restore`, or there, as root:"
    yield f"  sh {settings[0].undo_path}"
    most = plan.looks[-1] * (len(plan.values) + 1)
    yield f"At most {wording.count(most, 'run')}, {_each(plan)}; new sessions of others are affected."
    acting = {None if plan.load else acts_on(one.name) for one in settings}
    if acting.isdisjoint({None, order.request.plan.command}):
        yield f"Beware: {plan.name} is known to act on a {' or '.join(sorted(filter(None, acting)))} alone."
    yield from (f"Accepted risk: {risk}." for one in settings for risk in one.risks)
    yield from (f"Beware: {manager}." for manager in dict.fromkeys(each for one in settings for each in one.managers))


def _each(plan: TrialPlan) -> str:
    if plan.load is None:
        return "each after a settling run"
    return f"each a window of {plan.load.scenario.duration_seconds:g} s with {wording.count(plan.load.users, 'user')}"
