"""Several machines that measured one target: the slow leg, and what limits it, on both sides of each edge."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from forms.experiments.places import places_summary
from forms.experiments.places_report import places_document, places_report
from forms.findings.legs import FULL_SHARE, USUAL_PAYLOAD_SHARE, Leg
from forms.stats.decision import Verdict
from storage.records import Series, Target
from tests.builders import interleaved, one

TARGET = Target(protocol="smb", host="nas", port=445, share="data", path="big.bin")
LINK = 10**9
FAR: dict[str, str | float] = {"tcp.least_round_trip_seconds": 0.05, "link.kind": "card"}


def measured(number: int, rate: float, **fields: Any) -> Series:
    rates = [rate * factor for factor in (1.0, 1.01, 0.99, 1.0, 1.0)]
    return one(number, rates, target=TARGET, **fields)


def leg_of(series: Series) -> Leg | None:
    (place,) = places_summary([("branch", series, "")]).places
    return place.leg


@pytest.mark.parametrize(("above", "leg"), [(1.001, Leg.LINK), (0.999, None)])
@pytest.mark.parametrize("payload_share", [None, 0.5])
def test_a_link_is_full_from_nine_tenths_of_what_it_carries(above: float, leg: Leg | None, payload_share: float | None):
    facts: dict[str, float] = {}
    if payload_share is not None:
        facts = {"link.payload_ceiling_bits_per_second": payload_share * LINK, "link.rate_bits_per_second": LINK}
    rate = FULL_SHARE * (payload_share or USUAL_PAYLOAD_SHARE) * LINK / 8 * above
    series = measured(1, rate, link_bits_per_second=LINK, environment={"path": facts})
    assert leg_of(series) is leg


def test_a_far_machine_with_a_link_to_spare_is_limited_by_its_distance():
    near: dict[str, str | float] = {**FAR, "tcp.least_round_trip_seconds": 0.004}
    far = measured(1, 5e6, link_bits_per_second=LINK, environment={"path": FAR})
    assert leg_of(far) is Leg.DISTANCE
    assert leg_of(replace(far, environment={"path": near})) is None


def test_the_slowest_leg_is_named_where_the_pairs_show_it():
    head_office, branch = interleaved(measured(1, 100e6), measured(2, 50e6))
    outcomes = [("branch", branch, ""), ("head", head_office, ""), ("dead", None, "no answer")]
    summary = places_summary(outcomes)
    assert [place.host for place in summary.measured] == ["head", "branch"]
    branch_place, head_place, dead_place = summary.places
    assert summary.verdict_on(branch_place) is Verdict.SLOWER
    assert summary.verdict_on(head_place) is None
    assert summary.verdict_on(dead_place) is None

    document = places_document(summary, TARGET, "")
    assert document["slow_leg"] == "branch"
    assert [place["from"] for place in document["places"]] == ["branch", "head", "dead"]
    assert document["places"][0]["change_percent"] == pytest.approx(-50, abs=1)
    assert document["places"][2]["error"] == "no answer"


def test_none_is_named_where_they_are_alike():
    outcomes = [("a", measured(1, 100e6), ""), ("b", measured(2, 100.1e6), "")]
    assert places_document(places_summary(outcomes), TARGET, "")["slow_leg"] is None


@pytest.mark.parametrize("outcomes", [[("a", None, "no answer")], [("a", measured(1, 1e6), ""), ("b", None, "x")]])
def test_fewer_than_two_machines_are_not_compared(outcomes: list[tuple[str, Series | None, str]]):
    summary = places_summary(outcomes)
    assert summary.slowest is None
    assert summary.comparisons == ()
    report = places_report(summary, TARGET)
    assert [row.name for row in report.tables[0].rows] == [host for host, _series, _error in outcomes]
