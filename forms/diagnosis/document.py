"""The JSON document of a diagnosis."""

from typing import Any

from forms.audit import report as audit_report
from forms.diagnosis.answer import diagnosis_answer
from forms.diagnosis.judgement import judged_figures
from forms.diagnosis.next_act import advised_act, advised_command
from forms.diagnosis.rules import complaints
from forms.findings import report as findings_report
from forms.findings.finding import Finding
from storage import looks
from storage.json_reader import named

SCHEMA = "sharebench/diagnosis/1"


def diagnosis_document(diagnosis: looks.Diagnosis) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        **named(diagnosis, "id", "created_at", "status", "error", "label", "note", "question"),
        **looks.recording_of(diagnosis).content,
        "audit": diagnosis.audit and audit_report.audit_document(diagnosis.audit),
        "answer": diagnosis_answer(diagnosis).text,
        "next_step": _next_step_document(diagnosis),
        "findings": [complaint_document(complaint) for complaint in complaints(diagnosis)],
        "figures": [judged.to_json() for judged in judged_figures(diagnosis)],
    }


def _next_step_document(diagnosis: looks.Diagnosis) -> dict[str, str] | None:
    advised = advised_act(diagnosis)
    if advised is None:
        return None
    return {"act": advised.act.value, "command": advised_command(diagnosis)}


def complaint_document(complaint: Finding) -> dict[str, Any]:
    """A finding with the keys of ``sharebench/findings/1``."""
    document = {name: value for name, value in findings_report.finding_document(complaint).items() if name != "series"}
    return document | {
        "cost": complaint.cost,
        "certainty": complaint.sure,
        "setting": complaint.setting or None,
    }
