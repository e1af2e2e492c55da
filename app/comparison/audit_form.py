"""The form of an audit, with what else the notebook knows of its settings."""

from app.audit.earlier_looks import explained_by
from app.comparison.tried import tried_here
from forms.audit.report import audit_report
from forms.diagnosis.explained_complaint import explanation
from forms.report import Report
from storage.looks import Audit
from storage.notebook import Notebook


def audit_form(notebook: Notebook, audit: Audit) -> Report:
    """What trials of its settings gave, and the complaint of a diagnosis that one of them fits."""
    parameters = {finding.parameter for finding in audit.findings if finding.parameter}
    explained = explained_by(notebook, audit)
    return audit_report(
        audit,
        tried_here(notebook, parameters),
        explanation(explained, audit) if explained is not None else None,
    )
