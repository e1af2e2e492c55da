"""How sure a diagnosis is: one scale, causes only as possible unless shown, and what runs that vary mean."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from forms.diagnosis import rules, rules_small_files
from forms.diagnosis.answer import diagnosis_answer, is_judged, stage_sign
from forms.diagnosis.chosen_complaint import complaint_answer, finding_of_complaint
from forms.diagnosis.judgement import JudgedFigure, judged_figures
from forms.diagnosis.next_act import advised_act
from forms.diagnosis.report import diagnosis_report
from forms.diagnosis.summary import programs_beside, side_by_side_interval
from forms.findings.finding import Finding, NextAct, Severity
from forms.layout import Sign
from storage.looks import Audit, AuditScope, Diagnosis, Stage, StageName
from tests import diagnoses
from tests.diagnoses import HEALTHY, healthy_but, invented

SMALL = StageName.SMALL_FILES


def slow_write(write_seconds: float = 0.004) -> Stage:
    """Small files whose saving waits for the write."""
    stage = diagnoses.small_files_stage(0.0009, round_trip=0.00005, get_seconds=0.0006)
    return replace(stage, samples={**stage.samples, "put_data_seconds": (write_seconds,) * 40})


def slow_finding(audit: Audit | None) -> Finding:
    finding = finding_of_complaint(healthy_but(slow_write(), audit=audit), SMALL)
    assert finding is not None
    return finding


def audit_of(lines: str, section: str = "public", scope: AuditScope = AuditScope.SERVER) -> Audit:
    audit = diagnoses.audit(scope, line="log level = 1")
    found = diagnoses.audit(line=lines).findings
    return replace(audit, findings=tuple(replace(finding, section=section) for finding in found))


def judged(diagnosis: Diagnosis, key: str) -> JudgedFigure:
    (figure,) = (figure for figure in judged_figures(diagnosis) if figure.figure.key == key)
    return figure


# One scale


def test_every_finding_of_a_diagnosis_is_certain_or_likely():
    dice = random.Random(62)
    first_words = set()
    for _ in range(200):
        first_words |= {finding.sure.split()[0].strip(":;,") for finding in rules.complaints(invented(dice))}
    assert first_words <= {"certain", "likely"}
    assert "certain" in first_words


# Causes


@pytest.mark.parametrize(
    ("audit", "is_possible", "setting"),
    [
        (None, True, ""),
        (diagnoses.audit(AuditScope.SESSION), True, ""),
        (audit_of("sync always = yes"), False, "sync always=no"),
        (audit_of("sync always = yes", section="global"), False, "sync always=no"),
        (audit_of("sync always = yes", section="photos"), False, ""),  # of another share
        (diagnoses.audit(), False, ""),  # read, and off
        (replace(diagnoses.audit(), unread=("registry",)), True, ""),
    ],
)
def test_one_of_several_causes_is_possible_until_the_settings_show_it(
    audit: Audit | None, is_possible: bool, setting: str
):
    finding = slow_finding(audit)
    assert ("`sync always = yes` in smb.conf" in finding.what_to_do) is is_possible
    assert finding.setting == setting
    assert finding.what_to_do.startswith("Likely reason" if setting else "Possible reasons, the likeliest first: (1) ")


def test_each_possible_reason_says_what_shows_it():
    for step in rules_small_files.SAVING_STEPS:
        assert len(step.possible_reasons) > 1
        assert all("show" in reason for reason in step.possible_reasons)


def test_a_setting_that_was_found_for_this_share_is_tried_next():
    diagnosis = healthy_but(slow_write(), audit=audit_of("sync always = yes"), complaint=SMALL)
    advised = advised_act(diagnosis)
    assert advised is not None
    assert (advised.act, advised.setting) == (NextAct.TRY, "sync always=no")


# Runs that vary


def with_rounds(stage: Stage, first_seconds: float, last_seconds: float) -> Stage:
    """Two rounds of twenty files each, whose writes take as long."""
    writes = (first_seconds,) * 20 + (last_seconds,) * 20
    return replace(stage, samples={**stage.samples, "put_data_seconds": writes, "put_files_of_round": (20.0, 20.0)})


@pytest.mark.parametrize(("last_seconds", "is_told"), [(0.0085, False), (0.0087, True)])
def test_rounds_that_differ_by_twice_are_told_with_what_they_mean(last_seconds: float, is_told: bool):
    """A file takes 0.6 ms beside its write: 4.6 ms in the first round, and 9.2 ms are twice as long."""
    diagnosis = healthy_but(with_rounds(slow_write(), 0.004, last_seconds), complaint=SMALL)
    answer = complaint_answer(diagnosis, SMALL)
    assert ("varied from" in answer.certainty) is is_told
    assert ("slow all the time" in answer.certainty) is is_told
    assert ("its runs vary" in judged(diagnosis, "put_file").why) is is_told


def test_what_is_slow_in_some_rounds_only_is_not_said_to_be_slow_all_the_time():
    diagnosis = healthy_but(with_rounds(slow_write(), 0.0002, 0.02), complaint=SMALL)
    assert "not slow all the time" in complaint_answer(diagnosis, SMALL).certainty


@pytest.mark.parametrize(("last_seconds", "is_fine"), [(0.0016, True), (0.0028, False)])
def test_the_answer_calls_fine_only_what_the_table_does(last_seconds: float, is_fine: bool):
    """A file is read in 0.5 ms beside its data, and is fine up to 2.3 ms; its rounds take 0.6 ms and more."""
    stage = slow_write(0.02)
    reads = (0.0001,) * 20 + (last_seconds,) * 20
    varying = replace(stage, samples={**stage.samples, "get_data_seconds": reads, "get_files_of_round": (20.0, 20.0)})
    diagnosis = healthy_but(varying, complaint=SMALL)
    assert (judged(diagnosis, "get_file").sign == "✓") is is_fine
    assert complaint_answer(diagnosis, SMALL).sentence.startswith("Reading small files is fine (") is is_fine


@pytest.mark.parametrize(("lowest", "severity"), [(79e6, Severity.GOOD), (50e6, None)])
def test_a_figure_whose_runs_are_good_only_now_and_then_has_no_tick(lowest: float, severity: Severity | None):
    """The link carries 118 MB/s, and two thirds of it are good; the median of the runs is."""
    stage = replace(
        diagnoses.protection_stage(), samples={"plain_bytes_per_second": (lowest, 110e6, 110e6, 110e6, 158.5e6)}
    )
    figure = judged(healthy_but(stage, link_bits_per_second=1e9), "as_it_is")
    assert figure.figure.variation is not None
    assert figure.severity is severity
    assert (figure.sign == "?") is (severity is None)


def test_a_price_about_nothing_does_not_vary():
    stage = diagnoses.protection_stage()
    signed = replace(stage, samples={**stage.samples, "signed_bytes_per_second": (100e6, 120e6, 110e6)})
    assert judged(healthy_but(signed), "signed").figure.variation is None


# Signs and references


def test_each_measured_line_has_its_reference_or_says_why_none():
    dice = random.Random(63)
    for _ in range(200):
        for figure in judged_figures(invented(dice)):
            assert bool(figure.reference) is not bool(figure.without_reference), figure.figure.key


def test_a_stage_that_could_not_be_judged_has_no_tick_and_is_not_counted_as_judged():
    burst = healthy_but(diagnoses.protection_stage(200e6))
    assert stage_sign(burst, StageName.PROTECTION) is Sign.UNKNOWN
    assert not is_judged(burst, StageName.PROTECTION)
    answer = diagnosis_answer(burst)
    assert answer.text.startswith("?")
    assert "8 of 9 stages; not judged: signing and encryption" in answer.text
    assert all(stage_sign(HEALTHY, name) is Sign.GOOD for name in HEALTHY.planned)


# One figure for one thing


def test_several_at_once_are_told_by_the_figures_of_the_table():
    facts = {"explorer_put_seconds": 0.6, "robocopy_put_seconds": 0.3, "pattern_files": 240, "streams": 8}
    stage = slow_write()
    stage = replace(stage, facts={**stage.facts, **facts, "put_side_by_side_seconds": 0.02})
    diagnosis = healthy_but(stage, complaint=SMALL)

    programs = programs_beside(stage, "put")
    assert programs is not None
    assert (programs.single_per_second, programs.several_per_second) == (400, 800)
    finding = finding_of_complaint(diagnosis, SMALL)
    assert finding is not None
    assert "`robocopy /MT:8` does, 800/s were saved" in finding.what_to_do
    assert "one after the other, 400/s" in finding.what_to_do
    assert " times" not in finding.what_to_do, "the table's row compares something else"


def test_one_file_is_told_as_time_and_as_rate():
    """The answer says a rate, and the table a time: both stand in the table."""
    assert judged(healthy_but(diagnoses.small_files_stage(0.0025)), "put_file").figure.text == "2.5 ms (400/s)"


def test_streams_are_compared_round_by_round():
    stage = with_rounds(slow_write(), 0.0034, 0.0094)
    several = replace(stage, samples={**stage.samples, "put_side_by_side_files_per_second": (500.0, 500.0)})
    assert side_by_side_interval(several, "put") == pytest.approx((2.0, 5.0))
    assert side_by_side_interval(stage, "put") is None


def test_requests_of_programs_and_sources_are_details():
    report = diagnosis_report(HEALTHY)
    captions = [table.caption for table in report.tables]
    brief_captions = [table.caption for table in report.brief.tables]
    assert captions[:-1] == brief_captions
    columns = [len(table.columns) for table in report.tables]
    assert columns[-2] > len(report.brief.tables[-1].columns)
