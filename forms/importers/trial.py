"""Trials and sweeps read back from their documents, without anything that leads to a server or runs a command there."""

from dataclasses import dataclass, replace

from forms.series.document import series_from_document
from forms.trials.document import SWEEP_SCHEMA, TRIAL_SCHEMA
from storage.changes import Slot, TrialPlan
from storage.json_reader import DocumentError, JSONNode
from storage.records import Experiment, ExperimentKind, Series

KINDS = {TRIAL_SCHEMA: ExperimentKind.TRIAL, SWEEP_SCHEMA: ExperimentKind.SWEEP}
MOST_PAIRS = 1000
_LEADS_SOMEWHERE = frozenset({"server_ssh", "smb_conf", "apply", "revert", "accepted_risks"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTrial:
    """A trial or sweep of a document."""

    experiment: Experiment
    plan: TrialPlan
    slots: tuple[Slot, ...]
    series: tuple[Series, ...]


def trial_from_document(document: object) -> ImportedTrial:
    """The trial or sweep that a document describes; what it came to is computed again. Raises DocumentError."""
    top = JSONNode("", document).object()
    name = top.at("experiment").filled_text()
    plan = top.at("plan").record(TrialPlan, leave=_LEADS_SOMEWHERE)
    if not plan.looks or not plan.values or not all(0 < look <= MOST_PAIRS for look in plan.looks):
        raise DocumentError(f"plan.looks: expected numbers of pairs from 1 to {MOST_PAIRS}, and values to try")
    series = []
    for place in top.at("series").items():
        try:
            series.append(replace(series_from_document(place.value), experiment=name))
        except DocumentError as error:
            raise DocumentError(f"{place.name}.{error}") from error
    if {one.change.value if one.change else None for one in series} != {None, *plan.values}:
        raise DocumentError("series: expected one of each value of the plan, and one without a change")
    known = {one.id for one in series}
    slots = tuple(place.record(Slot) for place in top.maybe("slots").items())
    kind = KINDS[top.value["schema"]]
    return ImportedTrial(
        experiment=Experiment(name=name, kind=kind, created_at=top.at("created_at").time()),
        plan=plan,
        slots=tuple(slot for slot in slots if slot.series_id in known and slot.number > 0),
        series=tuple(series),
    )
