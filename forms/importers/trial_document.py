"""Read a trial or sweep from the JSON document that was exported of it."""

from dataclasses import dataclass, replace

from forms.series.document import series_inside
from forms.trial.document import SWEEP_SCHEMA, TRIAL_SCHEMA
from storage import changes, json_reader, records

KINDS = {
    TRIAL_SCHEMA: records.ExperimentKind.TRIAL,
    SWEEP_SCHEMA: records.ExperimentKind.SWEEP,
}
MOST_PAIRS = 1000

_LEADS_TO_A_SERVER = frozenset({"server_ssh", "smb_conf", "apply", "revert", "accepted_risks"})
"""Fields of a plan that name a server, its files or commands to run there, or what its owner agreed to: none is taken
from another's document, since resuming the trial would follow it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTrial:
    experiment: records.Experiment
    plan: changes.TrialPlan
    slots: tuple[changes.Slot, ...]
    series: tuple[records.Series, ...]


def trial_from_document(document: object) -> ImportedTrial:
    """The trial or sweep of a document; its result is computed again. Raises DocumentError."""
    top = json_reader.JSONNode("", document).object()
    name = top.at("experiment").filled_text()
    plan = top.at("plan").record(changes.TrialPlan, leave=_LEADS_TO_A_SERVER)
    if not plan.looks or not plan.values or not all(0 < look <= MOST_PAIRS for look in plan.looks):
        raise json_reader.DocumentError(
            f"plan.looks: expected numbers of pairs from 1 to {MOST_PAIRS}, and values to try"
        )

    series = [replace(series_inside(place), experiment=name) for place in top.at("series").items()]
    values = {member.change.value if member.change else None for member in series}
    if values != {None, *plan.values}:
        raise json_reader.DocumentError("series: expected one of each value of the plan, and one without a change")

    series_ids = {member.id for member in series}
    slots = [place.record(changes.Slot) for place in top.maybe("slots").items()]
    kind = KINDS[top.value["schema"]]
    return ImportedTrial(
        experiment=records.Experiment(name=name, kind=kind, created_at=top.at("created_at").time()),
        plan=plan,
        slots=tuple(slot for slot in slots if slot.series_id in series_ids and slot.number > 0),
        series=tuple(series),
    )
