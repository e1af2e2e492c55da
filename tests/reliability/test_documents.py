"""The short form of the documents campaign: some cases of each kind, a fault that is found, and a resume."""

import json
from pathlib import Path

import pytest

from tests.reliability import documents
from tests.reliability.figures import Share


@pytest.mark.long
def test_no_document_and_no_damage_makes_a_fault():
    figures = documents.campaign(60, most=60)
    assert figures.losses == []
    assert figures.counts["taken"] > 5
    assert figures.counts["damaged notebooks"] > 5


def test_a_fault_is_a_loss_and_a_campaign_goes_on_behind_its_last_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    results = tmp_path / "results"
    monkeypatch.setattr(documents, "_READ", ("list",))
    assert documents.campaign(60, share=Share(2, 3, results), most=6).losses == []
    monkeypatch.setattr("app.recording.listing.recording_lines", lambda *_: 1 // 0)
    again = documents.campaign(60, share=Share(2, 3, results), most=15)
    found = [json.loads(line) for line in results.read_text().splitlines()]
    assert [one["case"] for one in found] == ["1", "4", "7", "10", "13"]
    assert any("ZeroDivisionError" in loss for loss in again.losses)
    assert len(again.losses) == sum(bool(one["losses"]) for one in found)
