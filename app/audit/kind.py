"""Audits as a kind of recording: what commands and screens that show any kind call (`Kind` tells what each is for)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.recording.kind import ComparedRecordings, ComparisonChoices, Kind
from forms.layout import Toned
from storage.json_reader import JSONNode
from storage.looks import AUDIT, Audit, audit_from_json, audit_of, recording_of
from storage.notebook import Notebook
from storage.recordings import Recording

if TYPE_CHECKING:
    from forms.report import Report


class AuditKind(Kind[Audit]):
    name = AUDIT
    record: type = Audit
    shows_own_texts = True

    def report(self, notebook: Notebook, head: Recording) -> "Report":
        from app.comparison.audit_form import audit_form

        return audit_form(notebook, self.read(notebook, head))

    def answer(self, notebook: Notebook, head: Recording) -> Toned:
        from forms.audit.report import audit_line, audit_sign

        audit = self.read(notebook, head)
        sign = audit_sign(audit)
        return Toned(f"{sign} {audit_line(audit)}", sign.tone)

    def compare(
        self, notebook: Notebook, heads: Sequence[Recording], choices: ComparisonChoices | None = None
    ) -> ComparedRecordings:
        from forms.audit.comparison import audit_comparison_report

        del choices
        base, other = self.two_of(heads)
        return ComparedRecordings(audit_comparison_report(self.read(notebook, base), self.read(notebook, other)))

    def read(self, notebook: Notebook, head: Recording) -> Audit:
        del notebook
        return audit_of(head)

    def from_node(self, node: JSONNode) -> Audit:
        return audit_from_json(node)

    def add(self, notebook: Notebook, record: Audit) -> None:
        notebook.add_recording(recording_of(record))


AUDIT_KIND = AuditKind()
