"""The best next step after a diagnosis or an audit is what its gravest finding names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.method.next_after_recording import after_recording
from app.method.next_steps import NextStep
from forms.diagnosis.admin_request import entries_about
from storage.looks import Audit, AuditScope, Stage, StageName
from storage.records import SeriesStatus
from tests import diagnoses
from tests.diagnoses import HEALTHY, healthy_but

TARGET = "smb://alice@nas/public"
COMPLETE = SeriesStatus.COMPLETE


def best_after(kind: str, record: object) -> NextStep:
    return next(iter(after_recording(kind, record)))


@pytest.mark.parametrize(
    ("stage", "screen", "arguments"),
    [
        (diagnoses.long_run_stage(100e6, 10e6), "isolation", {"target": TARGET}),
        (diagnoses.cards_stage(300e6), "trial", {"setting": "server multi channel support = yes"}),
        (
            diagnoses.folders_stage(ask=0.02),
            "entry",
            {"entry": "vfs objects: catia fruit streams_xattr", "looked_at": TARGET},
        ),
    ],
)
def test_a_diagnosis_leads_to_what_its_gravest_finding_names(stage: Stage, screen: str, arguments: dict[str, object]):
    best = best_after("diagnosis", healthy_but(stage, status=COMPLETE))
    assert (best.screen, best.arguments) == (screen, arguments)


def test_a_diagnosis_without_findings_offers_what_it_always_does():
    assert best_after("diagnosis", replace(HEALTHY, status=COMPLETE)).screen == "catalogue"


def test_settings_that_a_diagnosis_could_not_read_are_asked_for_and_read_by_ssh_where_there_is_one():
    unread = healthy_but(audit=diagnoses.audit(AuditScope.SESSION), status=COMPLETE)
    best, *others = after_recording("diagnosis", unread)
    assert best.screen == "request"
    assert "testparm -s" in str(best.arguments["text"])
    assert {"target": TARGET, "ssh": "nas"} in [step.arguments for step in others]


def test_nobody_is_sent_to_the_settings_once_what_was_complained_of_is_gone():
    unread = diagnoses.audit(AuditScope.SESSION)
    slow = replace(diagnoses.slow_saving("public"), audit=unread, status=COMPLETE)
    fine = replace(slow, stages=HEALTHY.stages)
    for now, is_gone in ((fine, True), (slow, False)):
        screens = [step.screen for step in after_recording("diagnosis", now, slow)]
        assert ("audit" not in screens) is is_gone
        assert "diagnosis" in screens


def test_the_catalogue_opens_at_the_settings_of_the_complaint():
    slow = healthy_but(complaint=StageName.SMALL_FILES, status=COMPLETE)
    catalogue = next(step for step in after_recording("diagnosis", slow) if step.screen == "catalogue")
    assert catalogue.arguments["first"] == entries_about(StageName.SMALL_FILES)


@pytest.mark.parametrize(
    ("audit", "screen", "arguments"),
    [
        (replace(diagnoses.audit(AuditScope.SESSION), subject="nas.example"), "guide", {}),
        (diagnoses.audit(), "guide", {}),
    ],
)
def test_an_audit_that_read_the_settings_or_names_no_target_leads_on_to_measuring(
    audit: Audit, screen: str, arguments: dict[str, str]
):
    """One from elsewhere may name no target: nobody knows where to read."""
    best = best_after("audit", audit)
    assert (best.screen, best.arguments) == (screen, arguments)


def test_an_audit_that_could_not_read_the_settings_has_them_asked_for():
    best, by_ssh, *_ = after_recording("audit", diagnoses.audit(AuditScope.SESSION))
    assert (best.screen, by_ssh.screen) == ("request", "audit")
    assert by_ssh.arguments == {"target": "smb://nas/public", "ssh": "nas"}
