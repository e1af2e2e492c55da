"""The short form of the campaign of configurations, and that it notices what an audit misses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.audit import audit_result, file_audit
from forms.audit import judge
from tests.reliability import configurations


@pytest.mark.long
def test_changed_configurations_are_read_as_samba_reads_them():
    figures = configurations.campaign(60, most=60)
    assert figures.losses == []
    assert figures.counts["same configurations"] > 20
    assert figures.counts["testparm prints the same"] > 10
    assert figures.counts["refused by testparm"]


@pytest.mark.long
def test_an_all_clear_for_what_was_not_read_is_a_loss(monkeypatch: pytest.MonkeyPatch):
    audit_of = audit_result.audit_of

    def blind_audit(*arguments: object) -> object:
        return replace(audit_of(*arguments), unread=())  # type: ignore[arg-type]

    monkeypatch.setattr(file_audit, "audit_of", blind_audit)
    assert any("all-clear" in loss for loss in configurations.campaign(60, most=10).losses)


@pytest.mark.long
def test_a_finding_that_is_lost_with_another_spelling_is_a_loss(monkeypatch: pytest.MonkeyPatch):
    findings_of_conf = judge._findings_of_conf

    def forgetful(*arguments: object) -> list[object]:
        findings = list(findings_of_conf(*arguments))  # type: ignore[arg-type]
        return [finding for finding in findings if not finding.setting.isupper()]

    monkeypatch.setattr(judge, "_findings_of_conf", forgetful)
    assert configurations.campaign(60, most=60).losses
