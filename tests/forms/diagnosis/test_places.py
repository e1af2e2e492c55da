"""Diagnoses of several machines: which is slower, at what, and what limits it on its own leg of the path."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from forms.diagnosis.places import READ, SAVED, DiagnosisPlaces, diagnosis_places
from forms.diagnosis.places_report import diagnosis_places_document, diagnosis_places_report
from forms.diagnosis.summary import BUSY_LOAD
from forms.findings.legs import Leg
from storage.looks import Diagnosis, Stage, StageName
from storage.records import SeriesStatus
from tests.diagnoses import (
    HEALTHY,
    ROUND_TRIP,
    connect_stage,
    distance_stage,
    healthy_but,
    protection_stage,
    small_files_stage,
)

SLOW_LINK = 10e6
"""Bits per second: it carries 1.2 MB/s."""


def of_places(**diagnoses: Diagnosis) -> DiagnosisPlaces:
    return diagnosis_places([(host, diagnosis, "") for host, diagnosis in diagnoses.items()])


def document_of(summary: DiagnosisPlaces) -> dict[str, Any]:
    return diagnosis_places_document(summary, HEALTHY.target, "")


def busy(stage: Stage, load: float) -> Stage:
    return replace(stage, facts={**stage.facts, "machine.load_per_processor": load})


def full_link(load: float = 0.0) -> Diagnosis:
    """Of a machine whose link is full of one large file."""
    return healthy_but(busy(protection_stage(1.15e6), load), link_bits_per_second=SLOW_LINK)


def far(load: float = 0.0) -> Diagnosis:
    """Of a machine whose small files wait for the distance."""
    way = 0.05
    return healthy_but(busy(small_files_stage(0.153, round_trip=way), load), distance_stage(way))


def legs_of(summary: DiagnosisPlaces, number: int) -> dict[str, Leg | None]:
    place = summary.places[number]
    return {pair.known_figure.key: summary.leg_of(place, pair) for pair in summary.slower_pairs(place)}


def test_a_machine_with_a_full_link_is_named_with_it():
    summary = of_places(branch=full_link(), head=HEALTHY)
    assert summary.fastest is not None
    assert summary.fastest.host == "head"
    assert legs_of(summary, 0) == {"as_it_is": Leg.LINK}

    document = document_of(summary)
    assert (document["slow_leg"], document["fastest"]) == ("branch", "head")
    branch, head = document["places"]
    assert (branch["limit"], head["limit"]) == ("link", "link")
    (slower,) = branch["slower"]
    assert (slower["stage"], slower["key"], slower["limit"]) == ("protection", "as_it_is_bytes_per_second", "link")
    assert (slower["value"], slower["fastest_value"]) == (1.15e6, 110e6)
    assert head["slower"] == []
    assert diagnosis_places_report(summary, HEALTHY.target).fields[0].text.startswith("From branch it is slow")


def test_small_files_of_a_far_machine_are_slow_by_the_distance():
    summary = of_places(head=HEALTHY, branch=far())
    assert legs_of(summary, 1) == {SAVED: Leg.DISTANCE, READ: Leg.DISTANCE}
    (told,) = summary.told_pairs(summary.places[1])
    assert told.known_figure.key == SAVED


@pytest.mark.parametrize(("way", "leg"), [(ROUND_TRIP + 0.0011, Leg.DISTANCE), (ROUND_TRIP + 0.0009, None)])
def test_a_distance_is_why_from_half_of_the_time_on_that_it_takes_longer(way: float, leg: Leg | None):
    """Each file takes 6 ms longer, and asks three times."""
    slower_file = small_files_stage(0.0024 + 0.006, round_trip=way)
    summary = of_places(head=HEALTHY, branch=healthy_but(slower_file, distance_stage(way)))
    assert legs_of(summary, 1)[SAVED] is leg


def test_machines_that_are_alike_are_not_told_apart_and_what_all_show_is_told():
    slow_server = healthy_but(small_files_stage(0.05))
    summary = of_places(a=slow_server, b=replace(slow_server, id="dd66dd66dd66"))
    assert (summary.slow, document_of(summary)["slow_leg"]) == ([], None)
    shared = [finding.key for finding in summary.shared_findings]
    assert shared
    text = diagnosis_places_report(summary, HEALTHY.target).fields[0].text
    assert "No machine is shown to be slower" in text
    assert "From each of them" in text

    assert of_places(a=slow_server, b=HEALTHY).shared_findings == []
    assert of_places(a=slow_server).shared_findings == []


@pytest.mark.parametrize("is_busy", [True, False])
def test_other_work_of_a_machine_may_be_why_it_is_slower(is_busy: bool):
    load = BUSY_LOAD if is_busy else BUSY_LOAD - 0.1
    slow_client = healthy_but(busy(protection_stage(40e6), load))
    summary = of_places(head=HEALTHY, branch=slow_client)
    assert [place.host for place in summary.slow] == ([] if is_busy else ["branch"])
    assert [place.host for place in summary.too_busy] == (["branch"] if is_busy else [])


@pytest.mark.parametrize("diagnosis", [full_link(BUSY_LOAD), far(BUSY_LOAD)])
def test_other_work_explains_neither_a_full_link_nor_a_distance(diagnosis: Diagnosis):
    summary = of_places(head=HEALTHY, branch=diagnosis)
    assert [place.host for place in summary.slow] == ["branch"]
    assert summary.too_busy == []


@pytest.mark.parametrize(("ceiling", "leg"), [(100e6, Leg.CLIENT), (120e6, None)])
def test_a_client_near_its_own_ceiling_is_the_leg(ceiling: float, leg: Leg | None):
    diagnosis = healthy_but(protection_stage(80e6), ceiling_bytes_per_second=ceiling, link_bits_per_second=10e9)
    (place,) = of_places(branch=diagnosis).places
    assert place.leg is leg


def test_of_several_slow_machines_the_slowest_is_named():
    middle = healthy_but(protection_stage(11e6), link_bits_per_second=100e6)
    summary = of_places(head=HEALTHY, middle=middle, slow=full_link())
    assert [place.host for place in summary.slow] == ["slow", "middle"]


def test_the_complaint_that_was_named_is_told_first():
    slow_at_both = healthy_but(protection_stage(30e6), connect_stage(2.0), small_files_stage(0.05))
    named = replace(slow_at_both, complaint=StageName.SMALL_FILES)
    for diagnosis, key in ((slow_at_both, "as_it_is"), (named, SAVED)):
        summary = of_places(head=HEALTHY, branch=diagnosis)
        assert summary.told_pairs(summary.places[1])[0].known_figure.key == key


def test_a_machine_that_measured_nothing_or_not_all_is_named_with_its_reason():
    cut_off = replace(HEALTHY, stages=HEALTHY.stages[:3], status=SeriesStatus.FAILED)
    outcomes = [("dead", None, "no answer"), ("cut", cut_off, "was cut off"), ("alive", HEALTHY, "")]
    summary = diagnosis_places(outcomes)
    dead, cut, alive = document_of(summary)["places"]
    assert (dead["id"], dead["error"], dead["findings"]) == (None, "no answer", [])
    assert (cut["status"], cut["error"]) == ("failed", "was cut off")
    assert alive["error"] is None

    report = diagnosis_places_report(summary, HEALTHY.target)
    texts = {field.name: field.text for field in report.fields}
    assert texts["dead"] == "no answer"
    assert texts["cut"].endswith("was cut off")
    assert [row.name for row in report.tables[0].rows] == ["dead", "cut", "alive"]
    assert [row.name for row in report.tables[1].rows] == ["cut", "alive"]


def test_without_any_measured_machine_there_is_a_form_too():
    summary = diagnosis_places([("a", None, "no answer"), ("b", None, "no answer")])
    assert summary.fastest is None
    assert document_of(summary)["slow_leg"] is None
    assert len(diagnosis_places_report(summary, HEALTHY.target).tables) == 1
