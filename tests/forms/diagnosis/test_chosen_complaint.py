"""The complaint that was named first is answered first, on both sides of each edge."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forms.diagnosis.chosen_complaint import (
    COMPLAINTS,
    chosen_complaint,
    complaint_answer,
    finding_of_complaint,
)
from forms.diagnosis.report import diagnosis_answer, diagnosis_document
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
    assert answer.text == "✓ Small files are as fast as this path allows: 385/s, of 429/s."


def test_small_files_that_are_faster_than_expected_are_told_beside_what_is_usual():
    answer = diagnosis_answer(replace(healthy_but(diagnoses.small_files_stage(0.001)), complaint=SMALL))
    assert answer.text == "✓ Small files are as fast as this path allows: 1,000/s; 429/s is usual on such a path."


def test_the_slower_direction_decides():
    diagnosis = healthy_but(diagnoses.small_files_stage(0.001, get_seconds=0.0039))
    assert sign_of(diagnosis, SMALL) is Sign.UNKNOWN
    assert "256/s" in complaint_answer(diagnosis, SMALL).sentence


@pytest.mark.parametrize(("seconds", "sign"), [(0.0034, Sign.GOOD), (0.0036, Sign.UNKNOWN), (0.0041, Sign.WARNING)])
def test_small_files_are_fine_unclear_or_a_complaint(seconds: float, sign: Sign):
    """A path of 2.33 ms a file: half as long again is 3.49 ms, and the complaint begins at 4 ms."""
    assert sign_of(healthy_but(diagnoses.small_files_stage(seconds)), SMALL) is sign


def test_a_complaint_of_small_files_says_the_rate_the_path_and_the_finding():
    slow = healthy_but(diagnoses.small_files_stage(0.0152, round_trip=0.0045))
    answer = complaint_answer(slow, SMALL)
    assert answer.sign is Sign.WARNING
    assert answer.sentence.startswith("Small files are slow (66/s; this path allows 68/s): each small file costs")


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
