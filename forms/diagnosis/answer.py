"""The answer of a diagnosis: what costs users most, or that nothing was found."""

from collections.abc import Sequence
from dataclasses import replace

from forms import layout, wording
from forms.diagnosis.chosen_complaint import (
    COMPLAINTS,
    ComplaintAnswer,
    chosen_complaint,
    complaint_answer,
    finding_of_complaint,
)
from forms.diagnosis.findings_since import findings_since
from forms.diagnosis.judgement import judged_figures
from forms.diagnosis.rules import settings_finding
from forms.diagnosis.stage_names import STAGE_NAMES
from forms.findings import report as findings_report
from forms.findings.finding import Finding, Severity
from storage import looks, records


def diagnosis_answer(
    diagnosis: looks.Diagnosis,
    before: looks.Diagnosis | None = None,
    *,
    is_short: bool = False,
    is_repeat_advised: bool = True,
) -> layout.Toned:
    """The verdict on the complaint that was named first; else the costliest thing that is wrong, or that nothing is.

    ``before`` is an earlier diagnosis of the same share, which may explain what is found. A short answer leaves out how
    certain the verdict on the complaint is; ``is_repeat_advised``: what varied is to be measured again.
    """
    findings = findings_since(diagnosis, before)
    wrong = [finding for finding in findings if finding.is_wrong]
    complete = [stage for stage in diagnosis.stages if stage.status is records.SeriesStatus.COMPLETE]
    if not complete and not wrong:
        reason = f": {wording.plain(diagnosis.error)}" if diagnosis.error else ""
        return layout.Toned(f"Nothing was measured{reason}.", layout.Tone.CAUTION)

    name = chosen_complaint(diagnosis)
    if name is not None:
        answer = complaint_answer(diagnosis, name, is_repeat_advised=is_repeat_advised)
        return _answer_to_complaint(diagnosis, name, wrong, replace(answer, certainty="") if is_short else answer)
    if wrong:
        sign = findings_report.SIGNS[wrong[0].severity]
        return layout.Toned(f"{sign} {_costliest_text(wrong)}", sign.tone)
    return _answer_without_complaints(diagnosis, findings)


def answer_so_far(diagnosis: looks.Diagnosis) -> layout.Toned | None:
    """The verdict on the complaint that was named, once it is known what it is held against; None before.

    None without a complaint, too. A reference that people have seen must not be another one later.
    """
    name = chosen_complaint(diagnosis)
    if name is None or diagnosis.stage(name) is None or not _is_reference_final(diagnosis, name):
        return None
    return complaint_answer(diagnosis, name).toned


def _is_reference_final(diagnosis: looks.Diagnosis, name: looks.StageName) -> bool:
    """Whether nothing that is still to be measured or read changes what the complaint is held against."""
    if name is looks.StageName.PROTECTION:
        # The client's own ceiling is read at the end.
        return diagnosis.ceiling_bytes_per_second is not None

    has_ended = any(stage.name is looks.StageName.DISTANCE for stage in diagnosis.stages)
    return has_ended or looks.StageName.DISTANCE not in diagnosis.planned


def stage_sign(diagnosis: looks.Diagnosis, name: looks.StageName) -> layout.Sign:
    """✓ only where the stage was measured to its end and is as it should be; ? where that could not be judged."""
    if diagnosis.stage(name) is None:
        return layout.Sign.WARNING
    if name in COMPLAINTS:
        return complaint_answer(diagnosis, name).sign
    if not is_judged(diagnosis, name):
        return layout.Sign.UNKNOWN
    finding = settings_finding(diagnosis)
    return layout.Sign.GOOD if finding is None else findings_report.SIGNS[finding.severity]


def _costliest_text(findings: Sequence[Finding]) -> str:
    """The first of them, and the number of the others."""
    more = f" {len(findings) - 1} more below." if len(findings) > 1 else ""
    return f"{findings[0].title}.{more}"


def _answer_to_complaint(
    diagnosis: looks.Diagnosis, name: looks.StageName, wrong: Sequence[Finding], verdict: ComplaintAnswer
) -> layout.Toned:
    """The verdict on that complaint, and then what else is wrong."""
    answer = verdict.toned
    finding = finding_of_complaint(diagnosis, name)
    others = [other for other in wrong if finding is None or other.key != finding.key]
    if not others:
        return answer

    tone = layout.Tone.CAUTION if answer.tone is layout.Tone.GOOD else answer.tone
    return layout.Toned(f"{answer.text} Something else is wrong: {_costliest_text(others)}", tone)


def _answer_without_complaints(diagnosis: looks.Diagnosis, findings: Sequence[Finding]) -> layout.Toned:
    """That nothing is wrong in the stages that were judged; ✓ only where that is all of them."""
    unexplained = [judged for judged in judged_figures(diagnosis) if judged.severity is Severity.WARNING]
    if unexplained:
        names = wording.listed([f"{judged.figure.name} ({judged.figure.text})" for judged in unexplained])
        return layout.Toned(
            f"! {names}: far from what is usual here; nothing that was measured says why.", layout.Tone.CAUTION
        )

    judged_names = [name for name in diagnosis.planned if is_judged(diagnosis, name)]
    other_names = [STAGE_NAMES[name] for name in diagnosis.planned if name not in judged_names]
    stages = wording.count(len(judged_names), "stage")
    if other_names:
        stages = f"{len(judged_names)} of {wording.count(len(diagnosis.planned), 'stage')}"
    unjudged = f"; not judged: {wording.listed(other_names)}" if other_names else ""

    advice = next((finding for finding in findings if finding.setting or finding.next_act is not None), None)
    if advice is not None:
        return layout.Toned(
            f"{layout.Sign.ADVICE} {advice.title}. No other reason for complaints found in {stages}{unjudged}.",
            layout.Tone.CAUTION if other_names else layout.Tone.PLAIN,
        )

    notes = f" {wording.count(len(findings), 'thing')} worth knowing below." if findings else ""
    if other_names:
        return layout.Toned(f"? No reason for complaints found in {stages}{unjudged}.{notes}", layout.Tone.CAUTION)
    return layout.Toned(f"✓ No reason for complaints found in {stages}.{notes}", layout.Tone.GOOD)


def is_judged(diagnosis: looks.Diagnosis, name: looks.StageName) -> bool:
    """Whether the stage was measured to its end, and could be judged by what it saw."""
    if diagnosis.stage(name) is None:
        return False
    if name in COMPLAINTS:
        return complaint_answer(diagnosis, name).sign is not layout.Sign.UNKNOWN
    if diagnosis.audit is None:
        return True
    # Without the server's files an audit knows only what the server tells any client.
    return diagnosis.audit.scope is not looks.AuditScope.SESSION
