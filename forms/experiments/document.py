"""The JSON document of an experiment of steps."""

from dataclasses import asdict
from typing import Any

from forms.comparison.document import verdict_document
from forms.experiments.summary import ExperimentStep, ExperimentSummary, Gain
from storage.json_reader import named

SCHEMA = "sharebench/experiment/1"
Document = dict[str, Any]


def steps_document(experiment: ExperimentSummary) -> Document:
    return {
        "schema": SCHEMA,
        "experiment": experiment.name,
        "rungs": [_step_document(step) for step in experiment.steps],
        "gains": [_gain_document(gain) for gain in experiment.gains],
    }


def _gain_document(gain: Gain) -> Document:
    return {
        "command": gain.command.value,
        "kept_path": [step.series.id for step in gain.path],
        "base": gain.path[0].series.id,
        "other": gain.path[-1].series.id,
        "counted": [step.series.id for step in gain.counted],
        **verdict_document(gain.comparison),
    }


def _step_document(step: ExperimentStep) -> Document:
    comparison = step.comparison
    series = step.series
    change = step.change

    return {
        "number": step.number,
        "series": series.id,
        "created_at": series.created_at,
        "status": series.status.value,
        "resumed_at": list(series.resumed_at),
        "command": series.command.value,
        "base": comparison.base_id if comparison else series.base_id,
        "base_number": step.base_number,
        "change": {**asdict(change), "also_changed": list(change.also_changed)} if change else None,
        "standing": step.standing,
        "doubts": list(step.doubts),
        "average_bytes_per_second": step.average_bytes_per_second,
        "valid_runs": len(series.measured()),
        **verdict_document(comparison),
        "doubt": comparison and comparison.doubt,
        "needed_runs": comparison and comparison.needed_runs,
        **named(step, "decision", "on_kept_path"),
    }
