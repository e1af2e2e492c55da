"""What a trial would write, shown before anything is written."""

from collections.abc import Iterator

from app.workflows.trial_order import TrialOrder
from forms import wording


def consent_lines(order: TrialOrder) -> Iterator[str]:
    """What will be written and where, how it is undone, and what to beware of: shown before anything is written."""
    found = order.setting
    where = found.ssh or "this machine"
    yield f"On {where}, {found.name} is {found.previous or 'empty'} now. This will be written there, in turns:"
    yield from (f"  {line}" for line in found.writes)
    yield "It is put back byte for byte at the end; after a crash by `sharebench restore`, or there, as root:"
    yield f"  sh {found.undo_path}"
    most = order.plan.looks[-1] * (len(order.plan.values) + 1)
    yield f"At most {wording.count(most, 'run')}, each after a settling run; new sessions of others are affected."
    yield from (f"Accepted risk: {risk}." for risk in found.risks)
    yield from (f"Beware: {manager}." for manager in found.managers)
