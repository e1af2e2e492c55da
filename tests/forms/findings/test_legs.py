"""What several machines show: each finding once, with those that show it."""

from __future__ import annotations

from forms.findings.finding import Finding, Severity
from forms.findings.legs import Leg, findings_of_places, leg_of_findings


def rows_of(findings_by_host: dict[str, list[Finding]]) -> list[list[object]]:
    tables = list(findings_of_places(findings_by_host))
    return [[cell.value for cell in row.cells] for table in tables for row in table.rows]


def test_a_finding_stands_once_with_the_machines_that_show_it():
    finding = Finding(key="slow", title="All is slow", what_to_do="Look there.")
    other = Finding(key="other", title="Something else", what_to_do="Look elsewhere.")
    rows = rows_of({"a": [finding], "b": [finding, other]})
    assert rows == [["a and b", "All is slow. Look there."], ["b", "Something else. Look elsewhere."]]


def test_titles_that_differ_are_told_with_their_machines():
    near = Finding(key="distance", title="10 ms away", what_to_do="Move.")
    far = Finding(key="distance", title="50 ms away", what_to_do="Move.")
    assert rows_of({"a": [near], "b": [far], "c": [far]}) == [
        ["a, b and c", "a: 10 ms away; b and c: 50 ms away. Move."]
    ]


def test_what_is_only_worth_knowing_is_no_row():
    assert rows_of({"a": [Finding(key="note", title="x", severity=Severity.NOTE)]}) == []


def test_losses_are_told_before_the_distance_that_they_come_with():
    distance = Finding(key="distance", title="x")
    assert leg_of_findings([distance]) is Leg.DISTANCE
    assert leg_of_findings([distance, Finding(key="retransmits", title="x")]) is Leg.LOSSES
    assert leg_of_findings([Finding(key="slow-saving", title="x")]) is None
