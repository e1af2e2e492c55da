"""The findings of a diagnosis beside one before: a run that fades is told with whether it is new, and what explains it.

Writes that no longer wait for the server's disk fill its memory first. A long run is fast then until the disk sets the
pace, and is no slower as a whole: that is the price of the change, and nothing else that is wrong.
"""

from dataclasses import replace

from forms.diagnosis.blamed_step import is_written_later
from forms.diagnosis.change_since import FigureChange, changes_by_key
from forms.diagnosis.chosen_complaint import complaint_answer
from forms.diagnosis.figures import WHOLE_RUN
from forms.diagnosis.rules import complaints
from forms.diagnosis.rules_long_run import FADES_KEY
from forms.findings.finding import Finding, Severity
from forms.layout import Sign
from storage.looks import Diagnosis, StageName
from storage.records import moment_beside


def findings_since(diagnosis: Diagnosis, before: Diagnosis | None) -> list[Finding]:
    """As `complaints` gives them; what is wrong first."""
    findings = complaints(diagnosis)
    whole_run = changes_by_key(before, diagnosis).get(WHOLE_RUN) if before is not None else None
    if before is None or whole_run is None:
        return findings

    findings_beside_before = [
        _beside_before(finding, before, diagnosis, whole_run) if finding.key == FADES_KEY else finding
        for finding in findings
    ]
    wrong = [finding for finding in findings_beside_before if finding.is_wrong]
    notes = [finding for finding in findings_beside_before if not finding.is_wrong]
    return [*wrong, *notes]


def _beside_before(finding: Finding, before: Diagnosis, diagnosis: Diagnosis, whole_run: FigureChange) -> Finding:
    """The run that fades, with whether it did so before; a note where something explains it."""
    moment = moment_beside(before.created_at, diagnosis.created_at)
    if any(earlier.key == FADES_KEY for earlier in complaints(before)):
        return replace(finding, evidence=f"{finding.evidence} It was so {moment}, too.")

    outcome = "as before" if whole_run.is_same else whole_run.times_text
    new = f"It is new since {moment.removeprefix('at ')}; the run as a whole is {outcome}: {whole_run.values_text}."
    finding = replace(finding, evidence=f"{finding.evidence} {new}")
    is_slower = whole_run.times < 1 and not whole_run.is_same
    if is_slower:
        return finding

    if is_written_later(before, diagnosis):
        return _as_price(finding)
    if finding.is_wrong and complaint_answer(before, StageName.LONG_RUN).sign is Sign.UNKNOWN:
        sure = f"not certain that anything is wrong: {moment} the long run could not be judged, and it is no slower now"
        return replace(finding, severity=Severity.NOTE, sure=sure, next_act=None)
    return finding


def _as_price(finding: Finding) -> Finding:
    """What writes that no longer wait for the disk explain."""
    return replace(
        finding,
        severity=Severity.NOTE,
        what_to_do="Nothing, as long as the run as a whole is no slower.",
        sure="likely the price of the change: writes no longer wait for the disk, which sets the pace once the server's"
        " memory is full",
        next_act=None,
    )
