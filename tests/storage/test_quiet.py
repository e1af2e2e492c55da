"""Quiet time as JSON: read and written alike, and refused with the first place that is wrong."""

from __future__ import annotations

import pytest

from storage.json_reader import DocumentError, JSONNode
from storage.records import Quiet, QuietVerdict, quiet_from_json


def read(found: object) -> Quiet | None:
    return quiet_from_json(JSONNode("quiet", found))


def test_verdict_reasons_and_figures_come_back():
    quiet = Quiet(
        verdict=QuietVerdict.BUSY, reasons=("a backup",), figures={"cpu_percent_during": 8.5, "run_queue_before": None}
    )
    assert quiet.to_json() == {
        "verdict": "busy", "reasons": ["a backup"], "cpu_percent_during": 8.5, "run_queue_before": None,
    }  # fmt: skip
    assert read(quiet.to_json()) == quiet


@pytest.mark.parametrize("nothing", [None, {}, {"verdict": "unknown"}])
def test_where_nobody_looked_there_is_none(nothing):
    assert read(nothing) is None


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (5, r"^quiet: expected an object, found 5$"),
        ({"verdict": "loud"}, r"^quiet\.verdict: expected one of quiet, typical, busy, unknown, found 'loud'$"),
        ({"verdict": "busy", "reasons": "x"}, r"^quiet\.reasons: expected an array"),
        ({"verdict": "busy", "reasons": [1]}, r"^quiet\.reasons\[0\]: expected text, found 1$"),
        ({"verdict": "busy", "cpu_percent_during": "8"}, r"^quiet\.cpu_percent_during: expected a number"),
    ],
)
def test_what_is_wrong_is_named(found, said):
    with pytest.raises(DocumentError, match=said):
        read(found)
