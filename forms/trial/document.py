"""The JSON documents of trials and sweeps, which are exported and imported, and of the plan that both have.

What the keys hold is said at the fields of :class:`forms.trial.summary.TrialSummary` and
:class:`forms.trial.sweep.SweepSummary`.
"""

from dataclasses import asdict
from typing import Any

from forms.series.document import series_document
from forms.trial.plan_fields import counted_work
from forms.trial.summary import Pair, TrialSummary
from forms.trial.sweep import SweepSummary, SweepValue
from storage import changes

TRIAL_SCHEMA = "sharebench/trial/1"
SWEEP_SCHEMA = "sharebench/sweep/1"
Document = dict[str, Any]


def trial_document(trial: TrialSummary) -> Document:
    unit = counted_work(trial.plan, trial.base)
    return {
        "schema": TRIAL_SCHEMA,
        "experiment": trial.experiment.name,
        "created_at": trial.experiment.created_at,
        "complete": trial.complete,
        "verdict": trial.verdict.value,
        "doubt": trial.doubt.value if trial.doubt else None,
        "reservations": [reservation.key for reservation in trial.reservations],
        "plan": plan_document(trial.plan),
        "looked_at_pairs": trial.looked_at,
        "rejected_pairs": trial.rejected_pairs,
        "effect": trial.effect and asdict(trial.effect),
        "slot_effect_percent": trial.slot_effect_percent,
        "control": trial.control and asdict(trial.control),
        "pairs": [_pair_document(pair, unit) for pair in trial.pairs],
        "slots": [asdict(slot) for slot in trial.slots],
        "series": [series_document(trial.base), series_document(trial.other)],
    }


def _pair_document(pair: Pair, unit: str) -> Document:
    return {
        "number": pair.number,
        "base_first": pair.base_first,
        f"base_{unit}_per_second": pair.base_rate,
        f"other_{unit}_per_second": pair.other_rate,
        "change_percent": 100 * (pair.ratio - 1),
        "control_ratio": pair.control_ratio,
    }


def sweep_document(sweep: SweepSummary) -> Document:
    return {
        "schema": SWEEP_SCHEMA,
        "experiment": sweep.experiment.name,
        "created_at": sweep.experiment.created_at,
        "complete": sweep.complete,
        "plan": plan_document(sweep.plan),
        "blocks": sweep.blocks,
        "friedman_p_value": sweep.friedman_p,
        "settled": sweep.settled,
        "default_is_as_good": sweep.default_is_as_good,
        "smallest_on_plateau": sweep.smallest,
        "blocks_to_settle": sweep.blocks_to_settle,
        "values": [_value_document(value, has_blocks=bool(sweep.blocks)) for value in sweep.values],
        "slots": [asdict(slot) for slot in sweep.slots],
        "series": [series_document(value.series) for value in sweep.values],
    }


def _value_document(value: SweepValue, *, has_blocks: bool) -> Document:
    return {
        "value": value.value,
        "series": value.series.id,
        "effect": value.effect and asdict(value.effect),
        "adjusted_p_value": value.adjusted_p,
        "against_best": value.against_best and asdict(value.against_best),
        # Without a whole block no value is known to be as good as another.
        "on_plateau": has_blocks and value.on_plateau,
        "standing": value.standing.value,
    }


def plan_document(plan: changes.TrialPlan) -> Document:
    """The plan without what leads to a server or runs commands there."""
    hidden = {"server_ssh", "smb_conf", "apply", "revert"}
    return {name: value for name, value in plan.to_json().items() if name not in hidden}
