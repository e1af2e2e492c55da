"""What Explorer asks with every window: the complaint and its edges, and diagnoses of before it was asked."""

from dataclasses import replace

import pytest

from forms.diagnosis.answer import diagnosis_answer
from forms.diagnosis.chosen_complaint import complaint_answer
from forms.diagnosis.judgement import judged_figures
from forms.diagnosis.rules import complaints
from forms.findings.finding import Finding, Severity
from forms.layout import Sign
from storage.looks import Diagnosis, Stage, StageName
from storage.records import SeriesStatus
from tests import diagnoses
from tests.diagnoses import HEALTHY, healthy_but, window_stage


def wrong(diagnosis: Diagnosis) -> list[Finding]:
    return [finding for finding in complaints(diagnosis) if finding.is_wrong]


WINDOW_KEYS = ("free_space", "quota", "streams", "notify")


@pytest.mark.parametrize(
    ("free_space", "severity"),
    [
        (0.1 + diagnoses.ROUND_TRIP - 0.0001, None),
        (0.1 + diagnoses.ROUND_TRIP + 0.0001, Severity.WARNING),
        (1.0 + diagnoses.ROUND_TRIP - 0.0001, Severity.WARNING),
        (1.0 + diagnoses.ROUND_TRIP + 0.0001, Severity.PROBLEM),
    ],
)
def test_a_slow_question_is_a_complaint(free_space: float, severity: Severity | None):
    diagnosis = healthy_but(window_stage(free_space=free_space))
    found = [finding for finding in complaints(diagnosis) if finding.key == "slow-window"]
    assert [finding.severity for finding in found] == ([severity] if severity else [])

    (judged,) = (judged for judged in judged_figures(diagnosis) if judged.figure.key == "free_space")
    assert judged.severity is (severity or Severity.GOOD)
    sign = complaint_answer(diagnosis, StageName.WINDOW).sign
    assert sign is {None: Sign.GOOD, Severity.WARNING: Sign.WARNING, Severity.PROBLEM: Sign.BAD}[severity]


@pytest.mark.parametrize("key", WINDOW_KEYS)
def test_each_question_is_named_by_itself(key: str):
    samples = dict(window_stage().samples) | {f"{key}_seconds": (0.3,) * 20}
    (found,) = wrong(healthy_but(replace(window_stage(), samples=samples)))
    assert (found.key, found.figures) == ("slow-window", (key,))
    assert ("dfree cache time" in found.what_to_do) is (key == "free_space")
    assert found.setting == "", "no transfer would show it"


def test_a_question_that_is_late_now_and_then_is_no_complaint():
    samples = dict(window_stage().samples) | {"quota_seconds": (0.001,) * 9 + (0.5,) * 11}
    diagnosis = healthy_but(replace(window_stage(), samples=samples))
    assert wrong(diagnosis) == []
    assert complaint_answer(diagnosis, StageName.WINDOW).sign is Sign.UNKNOWN


def test_a_complete_diagnosis_of_before_has_what_was_measured_then():
    stages = tuple(stage for stage in HEALTHY.stages if stage.name is not StageName.WINDOW)
    of_before = replace(HEALTHY, stages=stages, status=SeriesStatus.COMPLETE)
    assert diagnosis_answer(of_before).text.startswith("✓")
    assert StageName.WINDOW not in of_before.planned
    interrupted = replace(of_before, status=SeriesStatus.INTERRUPTED)
    assert diagnosis_answer(interrupted).text.startswith("?")


@pytest.mark.parametrize("name", [name for name in StageName if name is not StageName.SETTINGS])
def test_a_stage_that_could_not_be_measured_is_never_a_tick(name: StageName):
    failed = Stage(name=name, status=SeriesStatus.FAILED, error="nothing moved for 15 s")
    diagnosis = healthy_but(failed, status=SeriesStatus.FAILED)
    assert not diagnosis_answer(diagnosis).text.startswith("✓")
    assert complaint_answer(diagnosis, name).sign is Sign.UNKNOWN
    only_it = healthy_but(failed, status=SeriesStatus.FAILED, complaint=name)
    assert not diagnosis_answer(only_it).text.startswith("✓")
