"""Trials and sweeps as JSON objects; nothing is rounded."""

from dataclasses import asdict
from typing import Any

from forms.series.report import series_document
from forms.stats.paired import PairedEffect
from forms.trials.summary import TrialSummary
from forms.trials.sweep import SweepSummary
from storage.changes import TrialPlan
from storage.records import Series

TRIAL_SCHEMA = "sharebench/trial/1"
SWEEP_SCHEMA = "sharebench/sweep/1"

Document = dict[str, Any]


def trial_document(found: TrialSummary) -> Document:
    """The JSON object ``sharebench/trial/1``: the plan, every pair, what it came to, and both series whole."""
    unit = "requests" if found.plan.load else "bytes"
    return {
        "schema": TRIAL_SCHEMA,
        "experiment": found.experiment.name,
        "created_at": found.experiment.created_at,
        "complete": found.complete,
        "verdict": found.verdict.value,
        "doubt": found.doubt.value if found.doubt else None,
        "reservations": [one.key for one in found.reservations],
        "plan": plan_document(found.plan),
        "looked_at_pairs": found.looked_at,
        "rejected_pairs": found.rejected_pairs,
        "effect": effect_document(found.effect),
        "slot_effect_percent": found.slot_effect_percent,
        "control": effect_document(found.control),
        "pairs": [
            {
                "number": pair.number,
                "base_first": pair.base_first,
                f"base_{unit}_per_second": pair.base_rate,
                f"other_{unit}_per_second": pair.other_rate,
                "change_percent": 100 * (pair.ratio - 1),
                "control_ratio": pair.control_ratio,
            }
            for pair in found.pairs
        ],
        "slots": [asdict(slot) for slot in found.slots],
        "series": [_series(found.base), _series(found.other)],
    }


def sweep_document(found: SweepSummary) -> Document:
    """The JSON object ``sharebench/sweep/1``: a value each with its effects, the answer, and all series whole."""
    return {
        "schema": SWEEP_SCHEMA,
        "experiment": found.experiment.name,
        "created_at": found.experiment.created_at,
        "complete": found.complete,
        "plan": plan_document(found.plan),
        "blocks": found.blocks,
        "friedman_p_value": found.friedman_p,
        "settled": found.settled,
        "default_is_as_good": found.default_is_as_good,
        "smallest_on_plateau": found.smallest,
        "blocks_to_settle": found.blocks_to_settle,
        "values": [
            {
                "value": one.value,
                "series": one.series.id,
                "effect": effect_document(one.effect),
                "adjusted_p_value": one.adjusted_p,
                "against_best": effect_document(one.against_best),
                "on_plateau": bool(found.blocks) and one.on_plateau,
                "standing": one.standing.value,
            }
            for one in found.values
        ],
        "slots": [asdict(slot) for slot in found.slots],
        "series": [_series(one.series) for one in found.values],
    }


def plan_document(plan: TrialPlan) -> Document:
    """The plan without what leads to a server or runs commands there."""
    hidden = {"server_ssh", "smb_conf", "apply", "revert"}
    return {name: value for name, value in plan.to_json().items() if name not in hidden}


def effect_document(effect: PairedEffect | None) -> Document | None:
    """An effect, its interval as [low, high]."""
    if effect is None:
        return None
    interval = effect.interval_percent
    return {**asdict(effect), "interval_percent": list(interval) if interval else None}


def _series(series: Series) -> Document:
    return dict(series_document(series))
