"""Looks at who uses a server as a kind of recording (`Kind` tells what each method is for)."""

from typing import TYPE_CHECKING

from app.recording.kind import Kind
from forms.layout import Toned
from storage.notebook import Notebook
from storage.recordings import Recording
from storage.who import WHO, Who, recording_of_who

if TYPE_CHECKING:
    from forms.report import Report


class WhoKind(Kind[Who]):
    name = WHO
    record: type = Who

    def report(self, notebook: Notebook, head: Recording) -> "Report":
        from forms.who.report import who_report

        return who_report(self.read(notebook, head))

    def answer(self, notebook: Notebook, head: Recording) -> Toned:
        from forms.who.report import who_answer

        return who_answer(self.read(notebook, head))

    def count_done(self, notebook: Notebook, head: Recording) -> int:
        return len(self.read(notebook, head).sessions)

    def add(self, notebook: Notebook, record: Who) -> None:
        notebook.add_recording(recording_of_who(record))


WHO_KIND = WhoKind()
