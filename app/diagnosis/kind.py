"""Diagnoses as a kind of recording: what commands and screens do with them (`Kind` tells what each method is for)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.recording.kind import ComparedRecordings, ComparisonChoices, Kind
from forms.layout import Toned
from storage.json_reader import JSONNode
from storage.looks import DIAGNOSIS, Diagnosis, diagnosis_from_json, diagnosis_of, recording_of
from storage.notebook import Notebook
from storage.recordings import Recording
from storage.records import Target

if TYPE_CHECKING:
    from forms.report import Report


class DiagnosisKind(Kind[Diagnosis]):
    name = DIAGNOSIS
    record: type = Diagnosis
    resume = "diagnose --resume"

    def report(self, notebook: Notebook, head: Recording) -> "Report":
        from app.audit import earlier_looks
        from forms.diagnosis.report import diagnosis_report

        diagnosis = self.read(notebook, head)
        before = earlier_looks.diagnosis_before(notebook, diagnosis)
        return diagnosis_report(diagnosis, before, earlier_looks.explained_between(notebook, before, diagnosis))

    def answer(self, notebook: Notebook, head: Recording) -> Toned:
        from forms.diagnosis.answer import diagnosis_answer

        return diagnosis_answer(self.read(notebook, head))

    def count_done(self, notebook: Notebook, head: Recording) -> int:
        return len(self.read(notebook, head).stages)

    def target(self, notebook: Notebook, head: Recording) -> Target:
        return self.read(notebook, head).target

    def compare(
        self, notebook: Notebook, heads: Sequence[Recording], choices: ComparisonChoices | None = None
    ) -> ComparedRecordings:
        from app.audit import earlier_looks
        from forms.diagnosis.comparison_report import diagnosis_comparison

        del choices
        base, other = (self.read(notebook, one) for one in self.two_of(heads))
        return ComparedRecordings(
            diagnosis_comparison(base, other, earlier_looks.explained_between(notebook, base, other))
        )

    def read(self, notebook: Notebook, head: Recording) -> Diagnosis:
        del notebook
        return diagnosis_of(head)

    def from_node(self, node: JSONNode) -> Diagnosis:
        return diagnosis_from_json(node)

    def add(self, notebook: Notebook, record: Diagnosis) -> None:
        notebook.add_recording(recording_of(record))


DIAGNOSIS_KIND = DiagnosisKind()
