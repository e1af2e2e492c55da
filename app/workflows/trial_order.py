"""What is ordered of a trial, and what happens while it is carried out."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from app.changes.setting import ChangeableSetting
from app.clients.base import Client
from app.clients.registry import make_client
from app.measure.events import Event
from app.recorder.request import SeriesRequest
from forms import wording
from forms.stats.paired import LOOKS
from forms.trials.judged import ChangeSummary
from storage.changes import TrialPlan
from storage.records import Experiment, ExperimentKind, dated_experiment

AS_IT_IS = "as it is"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOrder:
    """What is to be tried, checked and consented to."""

    request: SeriesRequest
    """Of one measured run: target, client, file."""
    setting: ChangeableSetting
    plan: TrialPlan
    experiment: Experiment


@dataclass(frozen=True, slots=True)
class ValueSet:
    """A value was set and proven; the next events are of a run under it."""

    value: str | None
    """None for the one that was there."""
    block: int


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair or block is complete; this is how it stands."""

    summary: ChangeSummary


@dataclass(frozen=True, slots=True)
class PutBack:
    """Everything is as it was, proven."""

    text: str


TrialEvent = Event | ValueSet | Judged | PutBack


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
            previous=setting.previous,
            server_ssh=request.server_ssh,
            smb_conf=request.smb_conf,
        ),
        experiment=dated_experiment(kind, f"{setting.name} {target.host or target.path}"),
    )


@contextmanager
def open_client(request: SeriesRequest) -> Iterator[Client]:
    """The client that measures, not connected yet; it is closed in the end."""
    plan = request.plan
    client = make_client(plan.target, plan.client, plan.secrets, plan.settings, plan.size_bytes)
    try:
        yield client
    finally:
        client.close()


def check_target(request: SeriesRequest) -> None:
    """Whether the target can be measured at all, before anything is changed. Raises MeasurementError."""
    plan = request.plan
    with open_client(request) as client:
        client.connect()
        if plan.command == "get" and not plan.make_file and plan.target.abilities.moves_files:
            client.size(plan.target.path)


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
