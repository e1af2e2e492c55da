"""The judgement of each figure of a diagnosis, on both sides of its edges, and that it agrees with the findings."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from forms.diagnosis import rules
from forms.diagnosis.document import diagnosis_document
from forms.diagnosis.figures import figures
from forms.diagnosis.judgement import JudgedFigure, judged_figures
from forms.diagnosis.path import GOOD_SHARE
from forms.diagnosis.references import figure_references
from forms.diagnosis.report import diagnosis_report
from forms.exporters import FORMATS, export_reports
from forms.findings.finding import Severity
from forms.findings.path import FAR_SECONDS
from forms.tuning.smb_conf import toml_data
from forms.worksheets.references import ethernet_payload
from storage.looks import Diagnosis, Stage, StageName
from storage.records import SeriesStatus
from tests import diagnoses
from tests.diagnoses import HEALTHY, LINK, MIB, ROUND_TRIP, healthy_but, invented

WRONG = {Severity.PROBLEM, Severity.WARNING}
SERVER_SECONDS = 0.00033
"""What a usual server takes for a request."""


def judged(diagnosis: Diagnosis, key: str) -> JudgedFigure:
    (figure,) = (figure for figure in judged_figures(diagnosis) if figure.figure.key == key)
    return figure


def severity(diagnosis: Diagnosis, key: str) -> Severity | None:
    return judged(diagnosis, key).severity


def test_every_figure_of_a_healthy_server_that_has_a_reference_is_as_it_should_be():
    for figure in judged_figures(HEALTHY):
        if figure.reference is not None:
            assert figure.severity is Severity.GOOD, figure.figure.key
        if figure.reference is None:
            assert figure.severity is None


@pytest.mark.parametrize(("write_seconds", "is_fine_alone"), [(0.0024, True), (0.012, False)])
def test_a_figure_within_its_own_reference_says_what_of_it_is_not(write_seconds: float, is_fine_alone: bool):
    """Each file takes 0.4 ms beside its write."""
    quick = diagnoses.small_files_stage(0.0006)
    slow = replace(quick, samples={**quick.samples, "put_data_seconds": (write_seconds,) * 40})
    saving = judged(healthy_but(slow), "put_file")
    assert saving.severity in WRONG
    assert saving.reference is not None
    assert saving.reference.holds(saving.figure.value) is is_fine_alone
    assert ("the server's write step is not" in saving.why) is is_fine_alone


def test_usual_ranges_end_where_the_rules_begin():
    usual = toml_data("usual.toml", package="forms.diagnosis")["figure"]
    assert usual["round_trip"]["most"] == FAR_SECONDS
    assert usual["growth"]["most"] == rules.STEEP
    assert (usual["connections"]["least"], usual["connections"]["most"]) == (
        rules.SEVERAL_ARE_SLOW,
        rules.ONE_STREAM_LIMITS,
    )
    assert all(row["source"] and row["text"] for row in usual.values())


@pytest.mark.parametrize(("share", "is_good"), [(1.0, True), (1.499, True), (1.501, False)])
def test_a_small_file_may_take_half_as_long_again_as_its_path(share: float, is_good: bool):
    """Created, written and closed by a usual server."""
    path_seconds = 3 * ROUND_TRIP + 0.00092 + 16384 / ethernet_payload(LINK / 1e6)
    diagnosis = healthy_but(diagnoses.small_files_stage(share * path_seconds, get_seconds=0.5 * share * path_seconds))
    reference = judged(diagnosis, "put_file").reference
    assert reference is not None
    assert reference.allowed == pytest.approx(path_seconds)
    assert severity(diagnosis, "put_file") is (Severity.GOOD if is_good else None)


def test_a_small_file_that_is_a_complaint_has_its_severity_although_its_path_allows_no_more():
    slow = healthy_but(diagnoses.small_files_stage(0.0145, round_trip=0.0045))
    keys = [finding.key for finding in rules.complaints(slow) if finding.is_wrong]
    assert keys == ["small-files"]
    for key in ("put_file", "get_file", "explorer_put", "finder_get"):
        assert severity(slow, key) is Severity.WARNING, key
    assert severity(slow, "robocopy_put") is not Severity.WARNING, "several files at once wait side by side"


@pytest.mark.parametrize(
    ("rate", "expected"), [(301.0, Severity.GOOD), (299.0, None), (226.0, None), (224.0, Severity.WARNING)]
)
def test_a_figure_that_is_half_of_what_is_usual_is_wrong_unless_this_client_was_busy(
    rate: float, expected: Severity | None
):
    """Explorer's get: 450/s are usual on a path whose usual rate the reference tells."""
    healthy = judged(HEALTHY, "explorer_get").reference
    assert healthy is not None
    assert healthy.allowed is not None
    seconds = 30 / (rate / 450 * healthy.allowed)
    stage = diagnoses.small_files_stage(pattern_seconds=seconds)
    assert severity(healthy_but(stage), "explorer_get") is expected

    busy = replace(stage, facts={**stage.facts, "machine.load_per_processor": 1.5})
    figure = judged(healthy_but(busy), "explorer_get")
    assert figure.severity is (Severity.GOOD if expected is Severity.GOOD else None)
    assert (figure.sign == "?") is (expected is not Severity.GOOD), "a row without a good value says why"


@pytest.mark.parametrize(("get_seconds", "expected"), [(0.0034, None), (0.0041, Severity.WARNING)])
def test_the_other_direction_is_named_where_it_is_slow_too(get_seconds: float, expected: Severity | None):
    """Seconds of a get that is beyond what is usual; the put is the slower one."""
    diagnosis = healthy_but(diagnoses.small_files_stage(0.006, get_seconds=get_seconds))
    assert severity(diagnosis, "put_file") is Severity.WARNING
    assert severity(diagnosis, "get_file") is expected


@pytest.mark.parametrize(("first_seconds", "is_good"), [(0.9, True), (1.1, False)])
def test_a_first_connect_may_take_a_second_and_its_round_trips(first_seconds: float, is_good: bool):
    figure = judged(healthy_but(diagnoses.connect_stage(first_seconds)), "first_connect")
    assert figure.reference is not None
    assert figure.reference.most == pytest.approx(6 * ROUND_TRIP + 1.0)
    assert figure.severity is (Severity.GOOD if is_good else Severity.WARNING)


def test_a_late_connect_that_no_part_explains_is_not_judged_and_says_so():
    legs = {f"{leg}_seconds": (0.5,) for leg in ("tcp_ipv4", "negotiate", "login_1", "login_2", "share", "first_open")}
    spread = Stage(
        name=StageName.CONNECT,
        samples={**legs, "total_seconds": (3.0,), "echo_seconds": (ROUND_TRIP,) * 6},
    )
    figure = judged(healthy_but(spread), "first_connect")
    assert (figure.severity, bool(figure.why)) == (None, True)
    page = "".join(export_reports([diagnosis_report(healthy_but(spread))], "markdown").decode().split())
    assert "".join(figure.why.split()) in page


@pytest.mark.parametrize(
    ("round_trip", "expected"), [(0.00499, Severity.GOOD), (0.005, Severity.WARNING), (0.0051, Severity.WARNING)]
)
def test_a_round_trip_is_near_up_to_the_rule_of_distance(round_trip: float, expected: Severity):
    assert severity(healthy_but(diagnoses.distance_stage(round_trip)), "round_trip") is expected


@pytest.mark.parametrize(("share", "is_good"), [(0.67, True), (0.66, False), (1.09, True)])
def test_a_get_is_held_against_the_link(share: float, is_good: bool):
    link_rate = ethernet_payload(LINK / 1e6)
    diagnosis = healthy_but(diagnoses.protection_stage(share * link_rate))
    reference = judged(diagnosis, "as_it_is").reference
    assert reference is not None
    assert reference.allowed == pytest.approx(link_rate)
    assert severity(diagnosis, "as_it_is") is (Severity.GOOD if is_good else None)


def test_a_get_is_held_against_the_lowest_of_link_window_and_this_machine():
    slow_client = replace(HEALTHY, ceiling_bytes_per_second=50e6)
    reference = judged(slow_client, "as_it_is").reference
    assert reference is not None
    assert reference.allowed == 50e6

    far = healthy_but(diagnoses.distance_stage(0.4, least=0.1e6, most=30e6))
    reference = judged(far, "most_in_flight").reference
    assert reference is not None
    assert reference.allowed == pytest.approx(16 * MIB / 0.4)

    signed = healthy_but(diagnoses.protection_stage(signing="aes-cmac"), link_bits_per_second=100e9)
    reference = judged(signed, "as_it_is").reference
    assert reference is not None
    assert reference.allowed == 2e9


def test_without_a_link_or_a_known_client_a_get_has_no_reference():
    unknown = replace(HEALTHY, link_bits_per_second=None)
    for key in ("as_it_is", "most_in_flight"):
        assert (judged(unknown, key).reference, severity(unknown, key)) == (None, None)
    assert judged(unknown, "put_file").reference is not None, "round trips are known"
    loopback = replace(HEALTHY, loopback=True)
    assert judged(loopback, "as_it_is").reference is None, "nothing crosses the link"


@pytest.mark.parametrize(("times", "is_burst"), [(1.09, False), (1.11, True)])
def test_what_the_link_cannot_carry_is_a_burst_and_no_good_value(times: float, is_burst: bool):
    """Seen: 64 KiB in flight 430.1 MB/s on a link of 250 MB/s, without a word."""
    link_rate = ethernet_payload(LINK / 1e6)
    figure = judged(healthy_but(diagnoses.distance_stage(least=times * link_rate)), "least_in_flight")
    assert bool(figure.why) is is_burst
    assert figure.severity is (None if is_burst else Severity.GOOD)


def test_fewer_credits_than_the_link_needs_are_not_as_they_should_be():
    needed = ethernet_payload(LINK / 1e6) * ROUND_TRIP

    def granted(granted_bytes: float) -> Severity | None:
        distance = diagnoses.distance_stage()
        return severity(
            healthy_but(replace(distance, facts={**distance.facts, "granted_bytes_in_flight": granted_bytes})),
            "granted",
        )

    assert granted(needed + 1) is Severity.GOOD
    assert granted(needed - 1) is None


def test_an_entry_may_take_half_as_long_again_as_two_round_trips():
    path_seconds = 2 * (ROUND_TRIP + SERVER_SECONDS)
    assert severity(healthy_but(diagnoses.folders_stage(ask=1.499 * path_seconds)), "ask") is Severity.GOOD
    assert severity(healthy_but(diagnoses.folders_stage(ask=1.501 * path_seconds)), "ask") is None


def test_a_complaint_about_folders_that_another_outweighs_is_a_complaint_with_its_reason():
    """Of large folders the costliest is told: a missing name here, and not that an entry takes 6 ms."""
    scans = diagnoses.folders_stage(ask=0.006, missing=0.05)
    diagnosis = healthy_but(replace(scans, facts={"existing": "projects"}))
    assert [finding.key for finding in rules.complaints(diagnosis) if finding.is_wrong] == ["missing-name"]
    figure = judged(diagnosis, "ask")
    assert (figure.severity, bool(figure.why)) == (Severity.WARNING, True)


@pytest.mark.parametrize(("after", "expected"), [(62e6, None), (58e6, Severity.WARNING)])
def test_a_run_that_fades_is_never_as_it_should_be(after: float, expected: Severity | None):
    diagnosis = healthy_but(diagnoses.long_run_stage(100e6, after), link_bits_per_second=None)
    whole = severity(diagnosis, "whole")
    assert whole is (expected or Severity.GOOD)
    assert severity(diagnosis, "after") is expected


@pytest.mark.parametrize(("samples", "is_judged"), [(8, False), (9, True)])
def test_a_run_of_few_samples_shows_nothing(samples: int, is_judged: bool):
    """Of twice as many samples and the beginning; sixteen are needed to see both parts of a break."""
    run = diagnoses.long_run_stage(samples=samples)
    short = replace(run, samples={key: values[: 2 * samples] for key, values in run.samples.items()})
    diagnosis = healthy_but(short, link_bits_per_second=None)
    assert (severity(diagnosis, "whole") is Severity.GOOD) is is_judged


@pytest.mark.parametrize(
    ("several", "expected"),
    [(69e6, Severity.WARNING), (71e6, Severity.GOOD), (149e6, Severity.GOOD), (151e6, None), (160e6, Severity.WARNING)],
)
def test_several_connections_carry_what_one_does(several: float, expected: Severity | None):
    """From 1.5 times on they do not; that one stream is the limit must be sure as well."""
    assert severity(healthy_but(diagnoses.cards_stage(several)), "connections") is expected


def test_the_speed_of_several_connections_on_the_loopback_is_not_judged():
    diagnosis = healthy_but(diagnoses.cards_stage(300e6), loopback=True)
    assert severity(diagnosis, "connections") is None


@pytest.mark.parametrize(("segment_bytes", "is_good"), [(1427, False), (1428, True), (8948, True)])
def test_a_segment_is_usual_from_full_frames_on(segment_bytes: int, is_good: bool):
    distance = diagnoses.distance_stage()
    diagnosis = healthy_but(replace(distance, facts={**distance.facts, "mtu.segment_bytes": segment_bytes}))
    assert severity(diagnosis, "segment") is (Severity.GOOD if is_good else None)


def test_signs_agree_with_the_findings_whatever_was_measured():
    """A figure that a complaint names is ! or ✗; no other is, unless a sentence says why."""
    dice = random.Random(59)
    wrong_figures = 0
    for _ in range(300):
        diagnosis = invented(dice)
        complaints = [finding for finding in rules.complaints(diagnosis) if finding.is_wrong]
        named_keys = {key for finding in complaints for key in finding.figures}
        for figure in judged_figures(diagnosis):
            is_wrong = figure.severity in WRONG
            wrong_figures += is_wrong
            if figure.figure.key in named_keys:
                assert is_wrong, figure.figure.key
            elif is_wrong:
                assert figure.why, figure.figure.key
    assert wrong_figures > 300


def test_every_figure_that_a_finding_names_has_a_key_of_the_figures():
    dice = random.Random(60)
    known_keys: set[str] = set()
    named_keys: set[str] = set()
    for _ in range(200):
        diagnosis = invented(dice)
        known_keys |= {figure.key for figure in figures(diagnosis)}
        named_keys |= {key for finding in rules.complaints(diagnosis) for key in finding.figures}
    assert named_keys
    assert named_keys <= known_keys


def test_a_stage_that_was_not_measured_to_its_end_has_no_figures_and_no_sign():
    failed = replace(diagnoses.cards_stage(), status=SeriesStatus.FAILED, error="the link is down")
    diagnosis = healthy_but(failed)
    assert all(figure.figure.stage is not StageName.CARDS for figure in judged_figures(diagnosis))


def test_damaged_samples_are_judged_without_an_error():
    """Documents from elsewhere may hold zeros."""
    zeros = [
        replace(stage, samples={key: (0.0,) * len(values) for key, values in stage.samples.items()})
        for stage in HEALTHY.stages
        if stage.name in {StageName.CONNECT, StageName.SMALL_FILES, StageName.PROTECTION}
    ]
    assert judged_figures(healthy_but(*zeros, link_bits_per_second=0.0, ceiling_bytes_per_second=0.0))


def test_the_document_has_judgement_and_reference_of_each_figure():
    document = json.loads(json.dumps(diagnosis_document(HEALTHY), allow_nan=False))
    by_key = {figure["key"]: figure for figure in document["figures"]}
    small_file = by_key["put_file_seconds"]
    assert small_file["judgement"] == "good"
    assert small_file["reference"]["most"] == pytest.approx(small_file["reference"]["allowed"] / GOOD_SHARE)
    assert small_file["reference"]["source"]
    assert (by_key["jitter_seconds"]["judgement"], by_key["jitter_seconds"]["reference"]) == (None, None)


@pytest.mark.parametrize("name", ["text", "html", "markdown", "csv"])
def test_every_format_has_the_signs_and_the_references(name: str):
    exported = export_reports([diagnosis_report(HEALTHY)], name).decode()
    references = figure_references(HEALTHY)
    assert "✓" in exported
    joined = "".join(exported.split())
    for key in ("round_trip", "ask"):
        assert "".join(references[key].text.replace("<", "&lt;").split())[:12] in joined, name
    assert FORMATS[name]
