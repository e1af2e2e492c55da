"""The best next step after a diagnosis or an audit is what its gravest finding names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.method.next_after_recording import after_recording
from app.method.next_steps import NextStep
from storage.looks import Audit, AuditScope, Stage
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
        (diagnoses.folders_stage(ask=0.02), "entry", {"entry": "vfs objects: catia fruit streams_xattr"}),
    ],
)
def test_a_diagnosis_leads_to_what_its_gravest_finding_names(stage: Stage, screen: str, arguments: dict[str, str]):
    best = best_after("diagnosis", healthy_but(stage, status=COMPLETE))
    assert (best.screen, best.arguments) == (screen, arguments)


def test_a_diagnosis_without_findings_offers_what_it_always_does():
    assert best_after("diagnosis", replace(HEALTHY, status=COMPLETE)).screen == "catalogue"


def test_settings_that_a_diagnosis_could_not_read_are_read_by_ssh():
    unread = healthy_but(audit=diagnoses.audit(AuditScope.SESSION), status=COMPLETE)
    best = best_after("diagnosis", unread)
    assert (best.screen, best.arguments) == ("audit", {"target": TARGET, "ssh": "nas"})


@pytest.mark.parametrize(
    ("audit", "screen", "arguments"),
    [
        (diagnoses.audit(AuditScope.SESSION), "audit", {"target": "smb://nas/public", "ssh": "nas"}),
        (replace(diagnoses.audit(AuditScope.SESSION), subject="nas.example"), "guide", {}),
        (diagnoses.audit(), "guide", {}),
    ],
)
def test_an_audit_that_could_not_read_the_settings_leads_to_reading_them_by_ssh(
    audit: Audit, screen: str, arguments: dict[str, str]
):
    """One from elsewhere may name no target: nobody knows where to read."""
    best = best_after("audit", audit)
    assert (best.screen, best.arguments) == (screen, arguments)
