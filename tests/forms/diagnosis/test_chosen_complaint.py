"""The complaint that was named first is answered first, on both sides of each edge."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from forms.diagnosis.answer import diagnosis_answer
from forms.diagnosis.chosen_complaint import (
    COMPLAINTS,
    chosen_complaint,
    complaint_answer,
    finding_of_complaint,
)
from forms.diagnosis.document import diagnosis_document
from forms.diagnosis.judgement import judged_figures
from forms.diagnosis.report import diagnosis_report
from forms.diagnosis.summary import BUSIEST_PERCENT, BUSIEST_PROGRAM, patterns
from forms.layout import Sign, Tone
from storage.json_reader import JSONNode
from storage.looks import Diagnosis, Stage, StageName, diagnosis_from_json, stages_of
from storage.records import SeriesStatus
from tests import diagnoses
from tests.diagnoses import HEALTHY, healthy_but

SMALL = StageName.SMALL_FILES


def sign_of(diagnosis: Diagnosis, name: StageName) -> Sign:
    return complaint_answer(diagnosis, name).sign


def test_every_stage_but_the_settings_is_a_complaint():
    assert set(COMPLAINTS) == set(stages_of(())) - {StageName.SETTINGS}


@pytest.mark.parametrize("name", COMPLAINTS)
def test_of_a_healthy_server_each_complaint_is_answered_by_one_sentence_that_all_is_well(name: StageName):
    answer = diagnosis_answer(replace(HEALTHY, complaint=name))
    assert (answer.text[0], answer.tone) == ("✓", Tone.GOOD)
    assert answer.text.count(". ") == 0
    assert "{" not in answer.text


@pytest.mark.parametrize("name", COMPLAINTS)
def test_what_was_not_measured_is_never_answered_with_a_tick(name: StageName):
    failed = Stage(name=name, status=SeriesStatus.FAILED, error="the link is down")
    answer = diagnosis_answer(replace(healthy_but(failed), complaint=name))
    assert (answer.text[0], answer.tone) == ("?", Tone.CAUTION)
    assert "the link is down" in answer.text

    absent = replace(HEALTHY, complaint=name, stages=tuple(stage for stage in HEALTHY.stages if stage.name is not name))
    assert diagnosis_answer(absent).text[0] == "?"


def test_small_files_are_told_as_a_rate_beside_what_the_path_allows():
    seconds = 0.0026
    answer = diagnosis_answer(replace(healthy_but(diagnoses.small_files_stage(seconds)), complaint=SMALL))
    assert answer.text == "✓ Small files are as fast as is usual on this path: saving 385/s, usual 443/s."


def test_small_files_that_are_faster_than_expected_are_told_beside_what_is_usual():
    answer = diagnosis_answer(replace(healthy_but(diagnoses.small_files_stage(0.001)), complaint=SMALL))
    assert (
        answer.text
        == "✓ Small files are as fast as is usual on this path: saving 1,000/s; 443/s is usual on such a path."
    )


def test_the_slower_direction_decides():
    diagnosis = healthy_but(diagnoses.small_files_stage(0.001, get_seconds=0.0034))
    assert sign_of(diagnosis, SMALL) is Sign.UNKNOWN
    assert "294/s" in complaint_answer(diagnosis, SMALL).sentence


@pytest.mark.parametrize(("seconds", "sign"), [(0.0033, Sign.GOOD), (0.0036, Sign.UNKNOWN), (0.0046, Sign.WARNING)])
def test_small_files_are_fine_unclear_or_a_complaint(seconds: float, sign: Sign):
    """A path of 2.26 ms a file: half as long again is 3.39 ms, and the complaint begins at 4 ms."""
    assert sign_of(healthy_but(diagnoses.small_files_stage(seconds, get_seconds=0.002)), SMALL) is sign


@pytest.mark.parametrize(("get_seconds", "sign"), [(0.0034, Sign.UNKNOWN), (0.0036, Sign.WARNING)])
def test_what_is_twice_as_slow_as_usual_is_wrong_although_nobody_knows_why(get_seconds: float, sign: Sign):
    """1.76 ms is usual of a get here."""
    diagnosis = healthy_but(diagnoses.small_files_stage(0.002, get_seconds=get_seconds))
    answer = complaint_answer(diagnosis, SMALL)
    assert (answer.sign, answer.has_unknown_reason) == (sign, True)
    assert answer.sentence.startswith("Saving a small file is fine (500/s)"), "what is established comes first"


@pytest.mark.parametrize(("load", "is_busy"), [(1.49, False), (1.5, True)])
def test_a_busy_client_is_no_answer_and_its_busiest_program_is_named(load: float, is_busy: bool):
    slow = diagnoses.small_files_stage(0.002, get_seconds=0.0036)
    facts = {**slow.facts, "machine.load_per_processor": load, BUSIEST_PROGRAM: "backup", BUSIEST_PERCENT: 98.0}
    diagnosis = healthy_but(replace(slow, facts=facts), complaint=SMALL)
    answer = complaint_answer(diagnosis, SMALL)
    assert ("backup (98 % of a processor)" in answer.sentence) is is_busy
    assert (answer.sign is Sign.UNKNOWN) is is_busy
    busy_field = [field for field in diagnosis_report(diagnosis).fields if field.name == "Busy"]
    assert bool(busy_field) is is_busy


def slow_to(step: str, put_seconds: float, get_seconds: float = 0.0001) -> Stage:
    """Small files whose saving takes as long in one step, and whose reading takes as long in the same."""
    quick = diagnoses.small_files_stage(0.0009, round_trip=0.00005, get_seconds=0.0006)
    samples = {
        **quick.samples,
        f"put_{step}_seconds": (put_seconds,) * 40,
        f"get_{step}_seconds": (get_seconds,) * 40,
    }
    return replace(quick, samples=samples)


@pytest.mark.parametrize(
    ("step", "put_seconds", "get_seconds", "is_named"),
    [
        ("data", 0.00036, 0.0001, True),
        ("data", 0.00034, 0.0001, False),  # less than 0.25 ms longer
        ("data", 0.0013, 0.00043, True),
        ("data", 0.0013, 0.00044, False),  # less than three times
        ("open", 0.0022, 0.0001, True),
        ("open", 0.0020, 0.0001, False),
        ("close", 0.00062, 0.0001, True),
        ("close", 0.00058, 0.0001, False),
    ],
)
def test_saving_that_waits_where_reading_does_not_is_the_servers(
    step: str, put_seconds: float, get_seconds: float, is_named: bool
):
    """Also where the client was busy: both cross one path from one client."""
    for load in (0.1, 7.0):
        stage = slow_to(step, put_seconds, get_seconds)
        busy = replace(stage, facts={**stage.facts, "machine.load_per_processor": load})
        finding = finding_of_complaint(healthy_but(busy), SMALL)
        assert (finding is not None and finding.key == "slow-saving") is is_named


def test_slow_saving_says_first_what_is_fine_and_clears_network_and_signing():
    diagnosis = healthy_but(slow_to("data", 0.004), complaint=SMALL)
    answer = complaint_answer(diagnosis, SMALL)
    assert answer.sign is Sign.WARNING
    assert answer.sentence.startswith("Reading small files is fine (2,000/s); saving them is slow (217/s, usual")
    assert "of the 4.6 ms that a file takes, the server needs 4 ms to answer its write" in answer.sentence
    assert re.search(r"\(and [\d.]+ ms to create it and [\d.]+ ms to close it\)", answer.sentence)
    assert answer.sentence.endswith("It is not the network and not signing, since reading goes through both")
    assert answer.certainty == "It is certain that the server's write step takes the time."
    signs = {figure.figure.key: figure.sign for figure in judged_figures(diagnosis)}
    assert (signs["put_file"], signs["get_file"]) == ("!", "✓")
    assert all(signs[f"{pattern.key}_put"] == "!" for pattern in patterns())


@pytest.mark.parametrize(("load", "is_busy"), [(1.49, False), (1.5, True)])
def test_a_busy_client_makes_the_numbers_uncertain_and_not_what_takes_the_time(load: float, is_busy: bool):
    stage = slow_to("data", 0.004)
    stage = replace(stage, facts={**stage.facts, "machine.load_per_processor": load})
    answer = complaint_answer(healthy_but(stage, complaint=SMALL), SMALL)
    assert answer.certainty.startswith("It is certain that the server's write step takes the time")
    assert ("How much is not certain" in answer.certainty) is is_busy


@pytest.mark.parametrize(
    ("robocopy_seconds", "is_advised"), [(None, True), (0.39, True), (0.4, True), (0.41, False), (0.7, False)]
)
def test_several_at_once_are_advised_only_where_the_programs_do_not_contradict(
    robocopy_seconds: float | None, is_advised: bool
):
    """Explorer takes 0.6 s for the same files: a multiple is told from 1.5 times on."""
    stage = slow_to("data", 0.004)
    facts = {key: value for key, value in stage.facts.items() if key != "robocopy_put_seconds"}
    facts |= {"explorer_put_seconds": 0.6, "pattern_files": 256, "streams": 8, "files": 100}
    facts |= {"put_side_by_side_seconds": 0.1}
    if robocopy_seconds is not None:
        facts["robocopy_put_seconds"] = robocopy_seconds
    finding = finding_of_complaint(healthy_but(replace(stage, facts=facts)), SMALL)
    assert finding is not None
    assert ("several files at once" in finding.what_to_do) is is_advised


@pytest.mark.parametrize(("files", "is_advised"), [(131, True), (129, False)])
def test_several_at_once_are_advised_only_where_they_beat_one_stream(files: int, is_advised: bool):
    """One stream saves a file in 4.6 ms, 217/s; 1.5 times as many are 130 in 0.4 s."""
    stage = slow_to("data", 0.004)
    facts = {**stage.facts, "explorer_put_seconds": 0.8, "robocopy_put_seconds": 0.4, "pattern_files": files}
    facts |= {"streams": 8, "files": 100, "put_side_by_side_seconds": 0.1}
    finding = finding_of_complaint(healthy_but(replace(stage, facts=facts)), SMALL)
    assert finding is not None
    assert ("several files at once" in finding.what_to_do) is is_advised


def test_the_table_does_not_repeat_the_answer():
    diagnosis = healthy_but(slow_to("data", 0.004), complaint=SMALL)
    report = diagnosis_report(diagnosis)
    assert report.tables[0].rows[0].cells[0].value == "! The server's write step is slow"


@pytest.mark.parametrize(("rate", "is_named"), [(1e6, False), (9e6, True)])
def test_a_line_that_carries_little_to_the_server_is_not_taken_for_it(rate: float, is_named: bool):
    """16 KiB take 16 ms at 1 MB/s: twice that is more than the 4 ms that a write takes."""
    diagnosis = healthy_but(slow_to("data", 0.004), diagnoses.long_run_stage(rate, rate))
    finding = finding_of_complaint(diagnosis, SMALL)
    assert (finding is not None and finding.key == "slow-saving") is is_named


def test_a_write_that_the_distance_takes_is_not_taken_for_the_servers():
    far = replace(slow_to("data", 0.0402, 0.012), samples={**slow_to("data", 0.0402, 0.012).samples})
    far = replace(far, samples={**far.samples, "echo_seconds": (0.012,) * 20})
    finding = finding_of_complaint(healthy_but(far), SMALL)
    assert finding is None or finding.key != "slow-saving"


def test_a_complaint_of_small_files_says_the_rate_the_path_and_the_finding():
    slow = healthy_but(diagnoses.small_files_stage(0.0152, round_trip=0.0045))
    answer = complaint_answer(slow, SMALL)
    assert answer.sign is Sign.WARNING
    assert answer.sentence.startswith("Small files are slow (66/s; this path allows 69/s): each small file costs")


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        (StageName.CONNECT, diagnoses.connect_stage(2.0)),
        (StageName.DISTANCE, diagnoses.distance_stage(0.02)),
        (SMALL, diagnoses.small_files_stage(0.02)),
        (StageName.FOLDERS, diagnoses.folders_stage(ask=0.02)),
        (StageName.PROTECTION, diagnoses.protection_stage(signing="aes-cmac")),
        (StageName.LONG_RUN, diagnoses.long_run_stage(100e6, 10e6)),
        (StageName.CARDS, diagnoses.cards_stage(300e6)),
    ],
)
def test_a_finding_of_the_stage_is_the_answer_to_its_complaint_and_no_answer_to_others(name: StageName, stage: Stage):
    diagnosis = healthy_but(stage)
    finding = finding_of_complaint(diagnosis, name)
    assert finding is not None
    answer = diagnosis_answer(replace(diagnosis, complaint=name)).text
    assert answer[0] == "!"
    assert finding.title[1:] in answer

    other = StageName.CONNECT if name is not StageName.CONNECT else SMALL
    elsewhere = diagnosis_answer(replace(diagnosis, complaint=other))
    assert (elsewhere.text[0], elsewhere.tone) == ("✓", Tone.CAUTION)
    assert finding.title in elsewhere.text


def test_what_cannot_be_compared_is_not_judged():
    unknown = replace(HEALTHY, link_bits_per_second=None)
    assert sign_of(unknown, StageName.PROTECTION) is Sign.UNKNOWN
    assert sign_of(unknown, StageName.LONG_RUN) is Sign.GOOD, "a run shows by itself that it keeps its speed"


def test_a_burst_is_no_answer():
    diagnosis = healthy_but(diagnoses.protection_stage(200e6))
    assert sign_of(diagnosis, StageName.PROTECTION) is Sign.UNKNOWN


@pytest.mark.parametrize(
    ("complaint", "only", "expected"),
    [
        (None, (), None),
        (SMALL, (), SMALL),
        (None, (SMALL,), SMALL),
        (None, (StageName.SETTINGS, SMALL), SMALL),
        (None, (StageName.SETTINGS,), None),
        (None, (StageName.CONNECT, SMALL), None),
        (StageName.CONNECT, (StageName.CONNECT, SMALL), StageName.CONNECT),
    ],
)
def test_the_only_stage_that_was_asked_for_is_the_complaint(
    complaint: StageName | None, only: tuple[StageName, ...], expected: StageName | None
):
    assert chosen_complaint(replace(HEALTHY, complaint=complaint, only=only)) is expected


def test_a_document_keeps_the_complaint_and_one_of_an_older_version_has_none():
    document = diagnosis_document(replace(HEALTHY, complaint=SMALL))
    assert diagnosis_from_json(JSONNode("", document)).complaint is SMALL
    del document["complaint"]
    assert diagnosis_from_json(JSONNode("", document)).complaint is None
