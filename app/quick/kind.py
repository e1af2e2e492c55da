"""Quick tests as a kind of recording: what commands and screens do with them (`Kind` tells what each method is for)."""

from typing import TYPE_CHECKING

from app.recording.kind import Kind
from forms.layout import Toned
from storage.json_reader import JSONNode
from storage.notebook import Notebook
from storage.quick.records import QUICK, Quick, quick_from_json, quick_of, recording_of_quick
from storage.recordings import Recording
from storage.records import Target

if TYPE_CHECKING:
    from forms.report import Report


class QuickKind(Kind[Quick]):
    name = QUICK
    record: type = Quick

    def report(self, notebook: Notebook, head: Recording) -> "Report":
        from forms.quick.report import quick_report

        return quick_report(self.read(notebook, head))

    def answer(self, notebook: Notebook, head: Recording) -> Toned:
        from forms.quick.report import quick_answer

        return quick_answer(self.read(notebook, head))

    def count_done(self, notebook: Notebook, head: Recording) -> int:
        return len(self.read(notebook, head).lines)

    def target(self, notebook: Notebook, head: Recording) -> Target | None:
        return self.read(notebook, head).target

    def read(self, notebook: Notebook, head: Recording) -> Quick:
        del notebook
        return quick_of(head)

    def from_node(self, node: JSONNode) -> Quick:
        return quick_from_json(node)

    def add(self, notebook: Notebook, record: Quick) -> None:
        notebook.add_recording(recording_of_quick(record))


QUICK_KIND = QuickKind()
