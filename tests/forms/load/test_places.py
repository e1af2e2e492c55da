"""Several machines that loaded one server in turn: the slow one, by how much, and on which leg, beside each edge."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from forms.findings.legs import FULL_SHARE, USUAL_PAYLOAD_SHARE, Leg
from forms.load import places as load_places_module
from forms.load.places import LEAST_FURTHER_SECONDS, MOST_EXCHANGES, LoadPlace, LoadPlaces, load_places
from forms.load.places_report import load_places_document, load_places_report
from forms.stats.decision import Verdict
from storage.load.records import Load, LoadChoices, LoadPoint, PointStatus
from tests.loads import full_load, many, point, scenario

LINK = 10**9
NEAR_SECONDS = 0.0002


def steady(number: int, users: int, rate: float, **changes: Any) -> LoadPoint:
    """A point whose rate hardly varies, with answers after 2 ms."""
    requests = round(20 * rate)
    fifth = requests // 5
    slices = (fifth, fifth + 1, fifth - 1, fifth, fifth)
    changes = {"operations": {"read": many(0.002)}, "service": many(0.002), **changes}
    return point(number, users, rate, requests=requests, slices=slices, errors={}, **changes)


def load_from(host: str, *points: LoadPoint, round_trip: float = NEAR_SECONDS, **facts: float) -> Load:
    path_facts = {"tcp.least_round_trip_seconds": round_trip, "link.kind": "card", **facts}
    return full_load(
        id=host,
        choices=LoadChoices(users=tuple(point.users for point in points), from_host=host),
        points=points,
        capacity=None,
        link_bits_per_second=LINK,
        environment={"path": path_facts},
    )


def places_of(*loads: Load) -> LoadPlaces:
    return load_places([LoadPlace(host=str(load.choices.from_host), load=load) for load in loads])


def place_named(summary: LoadPlaces, host: str) -> LoadPlace:
    return next(place for place in summary.places if place.host == host)


def document_of(summary: LoadPlaces) -> dict[str, Any]:
    targets = full_load().targets
    report = load_places_report(summary, targets, scenario())
    assert report.answer is not None
    document = load_places_document(summary, targets, scenario(), report.answer.text)
    assert report.document() == document
    return document


HEAD = load_from("head", steady(1, 4, 38.0), steady(2, 16, 150.0))


def test_the_machine_that_is_slower_with_any_number_of_users_is_named():
    branch = load_from("branch", steady(1, 4, 38.0), steady(2, 16, 50.0))
    summary = places_of(branch, HEAD)
    assert summary.fastest is not None
    assert summary.fastest.host == "head"
    pair = summary.slower_pair(place_named(summary, "branch"))
    assert pair is not None
    assert pair.users == 16, "with 4 users it is as fast"
    assert summary.slower_pair(place_named(summary, "head")) is None

    document = document_of(summary)
    assert document["slow_leg"] == "branch"
    assert document["fastest"] == "head"
    of_branch, of_head = document["places"]
    assert (of_branch["verdict"], of_head["verdict"]) == ("slower", None)
    four, sixteen = of_branch["points"]
    assert four["verdict"] != "slower"
    assert sixteen["verdict"] == "slower"
    assert sixteen["change_percent"] == pytest.approx(-66.7, abs=0.1)
    assert "16 users" in document["answer"]


def test_of_two_slow_machines_the_one_with_the_largest_change_is_named():
    branch = load_from("branch", steady(1, 16, 50.0))
    home = load_from("home", steady(1, 16, 25.0))
    assert document_of(places_of(HEAD, home, branch))["slow_leg"] == "home"
    assert document_of(places_of(HEAD, branch, home))["slow_leg"] == "home"


def test_a_machine_that_is_faster_with_other_users_is_not_called_slow():
    branch = load_from("branch", steady(1, 4, 80.0), steady(2, 16, 50.0))
    summary = places_of(branch, HEAD)
    verdicts = {pair.users: pair.decision.verdict for pair in summary.pairs_of(place_named(summary, "branch"))}
    assert verdicts == {4: Verdict.FASTER, 16: Verdict.SLOWER}
    assert document_of(summary)["slow_leg"] is None


def test_what_varies_too_much_is_probably_slower_and_no_slow_leg():
    varied = replace(steady(1, 16, 50.0), slices=(150, 250, 170, 240, 190))
    summary = places_of(HEAD, load_from("branch", varied))
    document = document_of(summary)
    assert document["slow_leg"] is None
    (of_point,) = document["places"][1]["points"]
    assert (of_point["verdict"], of_point["probably"]) == ("unknown", "slower")
    assert summary.likely_slowest is not None
    assert "probably" in document["answer"]


@pytest.mark.parametrize(("rate", "are_alike"), [(150.0, True), (146.0, False)])
def test_machines_are_alike_only_where_that_is_certain(rate: float, are_alike: bool):
    # A change inside the margin takes series that hardly vary, and earlier ones that say so.
    loads = [HEAD, load_from("branch", steady(1, 16, rate))]
    earlier = [replace(HEAD, id=f"earlier{number}") for number in range(20)]
    summary = load_places([LoadPlace(host=str(load.choices.from_host), load=load) for load in loads], earlier)
    assert summary.are_alike is are_alike
    assert document_of(summary)["slow_leg"] is None


@pytest.mark.parametrize(("above", "leg"), [(1.001, Leg.LINK), (0.999, None)])
def test_a_link_is_full_from_nine_tenths_of_what_it_carries(above: float, leg: Leg | None):
    moved_bytes = round(20 * FULL_SHARE * USUAL_PAYLOAD_SHARE * LINK / 8 * above)
    full = steady(1, 16, 50.0, read_bytes=moved_bytes)
    load = load_from("branch", full)
    summary = places_of(load)
    assert summary.leg_at(summary.places[0], full) is leg


def test_a_link_that_is_full_with_fewer_users_is_full_with_more_and_not_the_other_way_round():
    full_bytes = round(20 * USUAL_PAYLOAD_SHARE * LINK / 8)
    with_four = steady(1, 4, 30.0, read_bytes=full_bytes)
    with_sixteen = steady(2, 16, 50.0)
    summary = places_of(load_from("branch", with_four, with_sixteen))
    assert summary.leg_at(summary.places[0], with_sixteen) is Leg.LINK

    fewer = replace(with_sixteen, number=1, users=1)
    summary = places_of(load_from("branch", fewer, with_four))
    assert summary.leg_at(summary.places[0], fewer) is None


FURTHER_SECONDS = 0.010


@pytest.mark.parametrize(
    ("further_seconds", "longer_seconds", "leg"),
    [
        (FURTHER_SECONDS, 0.95 * MOST_EXCHANGES * FURTHER_SECONDS, Leg.DISTANCE),
        (FURTHER_SECONDS, 1.05 * MOST_EXCHANGES * FURTHER_SECONDS, None),
        (1.01 * LEAST_FURTHER_SECONDS, LEAST_FURTHER_SECONDS, Leg.DISTANCE),
        (0.99 * LEAST_FURTHER_SECONDS, LEAST_FURTHER_SECONDS, None),
        (FURTHER_SECONDS, -0.001, None),
    ],
)
def test_the_distance_is_the_limit_where_it_explains_how_much_longer_a_request_takes(
    further_seconds: float, longer_seconds: float, leg: Leg | None
):
    # Other kinds of request go there and back more often: the quickest tells.
    operations = {"read": many(0.002 + longer_seconds), "save": many(10.0)}
    slow = steady(1, 16, 50.0, operations=operations, service=many(0.002 + longer_seconds))
    branch = load_from("branch", slow, round_trip=NEAR_SECONDS + further_seconds)
    summary = places_of(HEAD, branch)
    assert summary.leg_at(place_named(summary, "branch"), slow) is leg


def test_a_far_machine_that_is_not_slower_has_no_limit():
    as_fast = steady(1, 16, 150.0, operations={"read": many(0.012)}, service=many(0.012))
    summary = places_of(HEAD, load_from("branch", as_fast, round_trip=0.010))
    assert summary.leg_at(place_named(summary, "branch"), as_fast) is None


def test_lost_packets_come_before_the_distance():
    slow = steady(1, 16, 50.0, operations={"read": many(0.012)}, service=many(0.012))
    losses = {"tcp.segments_sent_during": 10_000, "tcp.retransmitted_during": 500}
    summary = places_of(HEAD, load_from("branch", slow, round_trip=0.010, **losses))
    branch = place_named(summary, "branch")
    assert summary.leg_at(branch, slow) is Leg.LOSSES
    assert [finding.key for finding in branch.findings] == ["retransmits"]
    findings_table = load_places_report(summary, full_load().targets, scenario()).tables[1]
    assert [row.name for row in findings_table.rows] == ["branch"]


def test_a_machine_that_is_too_slow_to_make_the_load_is_its_own_limit_and_is_not_compared():
    late = steady(1, 16, 50.0, status=PointStatus.GENERATOR, reason="cannot be judged: late")
    summary = places_of(HEAD, load_from("branch", steady(2, 4, 38.0), late))
    branch = place_named(summary, "branch")
    assert summary.leg_at(branch, late) is Leg.CLIENT
    assert [pair.users for pair in summary.pairs_of(branch)] == [4]
    assert summary.compared_key == (4, None)
    (advice,) = load_places_report(summary, full_load().targets, scenario()).advice
    assert "late" in advice


def test_a_machine_alone_is_told_apart_from_one_that_alone_can_be_judged():
    late = steady(1, 16, 50.0, status=PointStatus.GENERATOR, reason="cannot be judged: late")
    unjudged = places_of(HEAD, load_from("branch", late))
    dead = load_places([LoadPlace(host="head", load=HEAD), LoadPlace(host="branch", error="no answer")])
    answers = {document_of(unjudged)["answer"], document_of(dead)["answer"]}
    assert len(answers) == 2
    assert all("150.0" in answer for answer in answers)


def test_machines_without_a_number_of_users_in_common_are_not_compared():
    summary = places_of(HEAD, load_from("branch", steady(1, 8, 30.0)))
    assert summary.fastest is None
    assert document_of(summary)["slow_leg"] is None


@pytest.mark.parametrize("loads", [[], [HEAD]])
def test_fewer_than_two_machines_are_not_compared_and_a_dead_one_has_its_row(loads: list[Load]):
    places = [LoadPlace(host=str(load.choices.from_host), load=load) for load in loads]
    summary = load_places([*places, LoadPlace(host="dead", error="no answer")])
    document = document_of(summary)
    assert document["slow_leg"] is None
    assert document["places"][-1]["error"] == "no answer"
    assert document["places"][-1]["load_id"] is None
    table = load_places_report(summary, full_load().targets, scenario()).tables[0]
    assert table.rows[-1].name == "dead"
    assert len(table.rows) == 1 + sum(len(load.points) for load in loads)


def test_rows_of_the_same_users_stand_beside_each_other():
    branch = load_from("branch", steady(1, 4, 38.0), steady(2, 16, 50.0))
    rows = load_places_module.rows_in_order(places_of(branch, HEAD).places)
    assert [(place.host, measured.users) for place, measured in rows] == [
        ("branch", 4),
        ("head", 4),
        ("branch", 16),
        ("head", 16),
    ]


def test_the_more_machines_are_compared_the_wider_are_their_intervals():
    branch = load_from("branch", steady(1, 16, 50.0))
    alone = places_of(HEAD, branch).comparisons["branch"].pairs[0].decision.interval_percent
    beside_another = places_of(HEAD, branch, replace(branch, id="home", choices=LoadChoices(from_host="home")))
    among_several = beside_another.comparisons["branch"].pairs[0].decision.interval_percent
    assert alone is not None
    assert among_several is not None
    assert among_several[0] < alone[0]
    assert alone[1] < among_several[1]


def test_a_folder_that_several_machines_used_is_left_once():
    kept = [replace(HEAD, scratch_folder="kept"), replace(load_from("branch"), scratch_folder="kept")]
    other = replace(load_from("home"), scratch_folder="other")
    report = load_places_report(places_of(*kept, other), full_load().targets, scenario())
    (leftovers,) = [field.text for field in report.fields if field.name == "Leftovers"]
    assert (leftovers.count("kept"), leftovers.count("other")) == (1, 1)
