"""A long run that is fast, then slow: certain on a quiet client, and beside a diagnosis before perhaps explained."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forms.diagnosis.answer import diagnosis_answer, stage_sign
from forms.diagnosis.answer_since import answer_since, stage_sign_since
from forms.diagnosis.comparison_report import diagnosis_comparison
from forms.diagnosis.findings_since import findings_since
from forms.diagnosis.judgement import judged_figures
from forms.diagnosis.next_act import advised_act
from forms.diagnosis.report import diagnosis_report
from forms.diagnosis.rules_long_run import FADES_KEY
from forms.findings.finding import Finding, NextAct, Severity
from forms.layout import Sign, Tone
from storage.looks import Diagnosis, Stage, StageName
from tests import diagnoses
from tests.diagnoses import healthy_but

ELSE_WRONG = "Something else is wrong"
EARLIER = "2026-01-08T09:06:00.000Z"


def with_load(stage: Stage, load_per_processor: float) -> Stage:
    return replace(stage, facts={**stage.facts, "machine.load_per_processor": load_per_processor})


def fading(busy_percent: float | None = 20.0, *, load: float = 0.2, after: float = 50e6) -> Diagnosis:
    """Of a share that is otherwise well; the complaint is another one."""
    run = with_load(diagnoses.long_run_stage(110e6, after, busy_percent=busy_percent), load)
    return healthy_but(run, complaint=StageName.SMALL_FILES)


def fade(findings: list[Finding]) -> Finding:
    (finding,) = (finding for finding in findings if finding.key == FADES_KEY)
    return finding


@pytest.mark.parametrize(
    ("busy_percent", "load", "is_certain"),
    [
        (20.0, 0.2, True),
        (89.9, 4.0, True),  # what was measured meanwhile tells more than what waited in the last minute
        (90.0, 0.2, False),
        (None, 1.49, True),  # by an older version, which did not look
        (None, 1.5, False),
    ],
)
def test_a_run_that_fades_on_a_full_client_may_be_the_clients_doing(
    busy_percent: float | None, load: float, is_certain: bool
):
    diagnosis = fading(busy_percent, load=load)
    finding = fade(findings_since(diagnosis, None))
    assert finding.is_wrong is is_certain
    assert finding.sure.startswith("certain" if is_certain else "not certain")
    assert finding.next_act is (NextAct.ISOLATE if is_certain else None)
    assert (ELSE_WRONG in diagnosis_answer(diagnosis).text) is is_certain
    assert stage_sign(diagnosis, StageName.LONG_RUN) is (Sign.WARNING if is_certain else Sign.UNKNOWN)
    captions = [table.caption for table in diagnosis_report(diagnosis).tables]
    assert ("What is wrong, the costliest first" in captions) is is_certain


def test_who_complains_of_long_transfers_is_not_told_that_one_that_fades_keeps_its_speed():
    """The run as a whole is as fast as the link is taken to allow."""
    run = diagnoses.long_run_stage(130e6, 70e6, busy_percent=98)
    diagnosis = healthy_but(run, complaint=StageName.LONG_RUN)
    whole = next(judged for judged in judged_figures(diagnosis) if judged.figure.key == "whole")
    assert whole.reference is not None
    assert whole.reference.holds(whole.figure.value)
    assert whole.severity is None
    answer = diagnosis_answer(diagnosis).text
    assert answer.startswith("? A long transfer may become slow")
    assert "keeps its speed" not in answer


def before_with(run: Stage, *, slow: bool = False) -> Diagnosis:
    base = diagnoses.slow_saving("public") if slow else healthy_but(complaint=StageName.SMALL_FILES)
    return replace(base, created_at=EARLIER).with_stage(run)


STEADY = diagnoses.long_run_stage(80e6, 80e6)
STEADY_UNJUDGED = with_load(diagnoses.long_run_stage(70e6, 70e6), 4.0)
FASTER_BEFORE = with_load(diagnoses.long_run_stage(101e6, 101e6), 4.0)
FADING_BEFORE = diagnoses.long_run_stage(110e6, 50e6)


@pytest.mark.parametrize(
    ("before", "told", "severity"),
    [
        # Writes no longer wait for the disk: that explains it, where the run as a whole is no slower.
        (before_with(STEADY, slow=True), "price of the change", Severity.NOTE),
        (before_with(FASTER_BEFORE, slow=True), "It is new since", Severity.WARNING),
        # What could not be judged before is not known to be worse now.
        (before_with(STEADY_UNJUDGED), "could not be judged", Severity.NOTE),
        (before_with(STEADY), "It is new since", Severity.WARNING),
        (before_with(FASTER_BEFORE), "It is new since", Severity.WARNING),
        (before_with(FADING_BEFORE, slow=True), "It was so at", Severity.WARNING),
    ],
)
def test_a_run_that_fades_since_a_change_is_told_with_what_explains_it(
    before: Diagnosis, told: str, severity: Severity
):
    """80 MB/s as a whole now; 1.25 times as much before is slower now."""
    now = fading()
    finding = fade(findings_since(now, before))
    assert told in f"{finding.evidence} {finding.sure}"
    assert finding.severity is severity

    is_wrong = severity is Severity.WARNING
    assert (ELSE_WRONG in answer_since(now, before).text) is is_wrong
    assert stage_sign_since(now, StageName.LONG_RUN, before) is (Sign.WARNING if is_wrong else Sign.UNKNOWN)
    advised = advised_act(now, before)
    assert (advised is not None and advised.act is NextAct.ISOLATE) is is_wrong

    comparison = diagnosis_comparison(before, now)
    new = {finding["key"]: finding for finding in comparison.document()["new"]}
    assert (FADES_KEY in new) is ("It was so" not in told)
    if FADES_KEY in new:
        assert new[FADES_KEY]["severity"] == severity.value


def test_the_price_of_a_change_leaves_its_tick():
    before = before_with(STEADY, slow=True)
    answer = answer_since(fading(), before)
    assert answer.text.startswith("✓ Saving small files is ")
    assert answer.tone is Tone.GOOD
    assert diagnosis_comparison(before, fading()).fields[0].text.startswith("✓")


def test_without_a_long_run_before_a_run_that_fades_is_told_by_itself():
    before = before_with(STEADY)
    without = replace(before, stages=tuple(stage for stage in before.stages if stage.name is not StageName.LONG_RUN))
    assert findings_since(fading(), without) == findings_since(fading(), None)
