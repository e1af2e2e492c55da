"""Ladders, surveys and self-tests as JSON objects; nothing is rounded."""

from dataclasses import asdict
from typing import Any

from forms.comparison.comparison import Comparison
from forms.comparison.document import comparison_document
from forms.comparison.verdict import rates_of
from forms.experiments.ladder import Gain, Ladder, Rung
from forms.experiments.selftest import Repeats, Selftest
from forms.experiments.survey import Station, Survey
from forms.findings.document import finding_document
from forms.stats.summary import mean
from storage.json_reader import named

LADDER_SCHEMA = "sharebench/experiment/1"
SURVEY_SCHEMA = "sharebench/survey/1"
SELFTEST_SCHEMA = "sharebench/selftest/1"
REPEATS_SCHEMA = "sharebench/repeats/1"

Document = dict[str, Any]


def ladder_document(ladder: Ladder) -> Document:
    """The JSON object ``sharebench/experiment/1`` of a ladder."""
    return {
        "schema": LADDER_SCHEMA,
        "experiment": ladder.name,
        "rungs": [_rung(rung) for rung in ladder.rungs],
        "gains": [_gain(gain) for gain in ladder.gains],
    }


def survey_document(filled: Survey) -> Document:
    """The JSON object ``sharebench/survey/1``: stations with their averages, findings, and the first one's key."""
    return {
        "schema": SURVEY_SCHEMA,
        "name": filled.name,
        "complete": filled.complete,
        "stations": [_station(station) for station in filled.stations],
        "findings": [finding_document(finding) for finding in filled.findings],
        "first": filled.first.key if filled.first else None,
        "next_step": filled.next_step,
    }


def selftest_document(test: Selftest) -> Document:
    """The JSON object ``sharebench/selftest/1``, its comparison included."""
    return {
        "schema": SELFTEST_SCHEMA,
        "first": test.comparison.base_id,
        "second": test.comparison.other_id,
        "runs": test.runs,
        "smallest_change_percent": test.smallest_percent,
        "by_runs": [{"runs": count, "smallest_change_percent": change} for count, change in test.by_runs],
        "comparison": comparison_document(test.comparison),
    }


def repeats_document(found: Repeats) -> Document:
    """The JSON object ``sharebench/repeats/1``: how far equal series lie apart."""
    return {
        "schema": REPEATS_SCHEMA,
        "series": [one.id for one in found.series],
        "averages_bytes_per_second": list(found.averages_bytes_per_second),
        **named(found, "within_percent", "between_percent", "by_chance_percent", "trend_percent"),
        "smallest_change_percent": found.smallest_percent,
    }


def _station(station: Station) -> Document:
    return {
        **named(station, "place", "host", "protocol", "command", "state"),
        "why": station.why or None,
        "series": station.series.id if station.series else None,
        "bytes_per_second": mean(rates_of(station.series)) if station.series else None,
    }


def _gain(gain: Gain) -> Document:
    return {
        "command": gain.command.value,
        "kept_path": [rung.series.id for rung in gain.path],
        "base": gain.path[0].series.id,
        "other": gain.path[-1].series.id,
        "counted": [rung.series.id for rung in gain.counted],
        **_verdict(gain.comparison),
    }


def _rung(rung: Rung) -> Document:
    found = rung.comparison
    return {
        "number": rung.number,
        "series": rung.series.id,
        "created_at": rung.series.created_at,
        "status": rung.series.status.value,
        "resumed_at": list(rung.series.resumed_at),
        "command": rung.series.command.value,
        "base": found.base_id if found else rung.series.base_id,
        "base_number": rung.base_number,
        "change": {**asdict(rung.change), "also_changed": list(rung.change.also_changed)} if rung.change else None,
        "standing": rung.standing.value if rung.standing else None,
        "doubts": list(rung.doubts),
        "average_bytes_per_second": rung.average_bytes_per_second,
        "valid_runs": len(rung.series.measured()),
        **_verdict(found),
        "doubt": found.doubt if found else None,
        "needed_runs": found.needed_runs if found else None,
        "decision": rung.decision.value if rung.decision else None,
        "on_kept_path": rung.on_kept_path,
    }


def _verdict(found: Comparison | None) -> Document:
    return {
        "verdict": found.verdict if found else None,
        "change_percent": found.change_percent if found else None,
        "interval_percent": list(found.interval_percent) if found and found.interval_percent else None,
        "p_value": found.p_value if found else None,
    }
