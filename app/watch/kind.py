"""Watches as a kind of recording: what commands and screens do with them (`Kind` tells what each method is for)."""

from typing import TYPE_CHECKING

from app.recording.kind import Kind
from forms.layout import Toned
from storage.notebook import Notebook
from storage.recordings import WATCH, Recording
from storage.records import Series
from storage.watch.records import Watch, recording_of_watch, watch_of

if TYPE_CHECKING:
    from forms.report import Report


class WatchKind(Kind[Watch]):
    name = WATCH
    record: type = Watch
    has_history = True

    def report(self, notebook: Notebook, head: Recording) -> "Report":
        from app.watch.standing import last_check
        from forms.watch.report import watch_report

        return watch_report(last_check(notebook, self.read(notebook, head)))

    def answer(self, notebook: Notebook, head: Recording) -> Toned:
        from forms.watch.report import watch_answer

        return watch_answer(self.read(notebook, head))

    def measured_series(self, notebook: Notebook, head: Recording) -> Series | None:
        newest_id = self.read(notebook, head).series_id
        return notebook.series(newest_id) if newest_id else None

    def read(self, notebook: Notebook, head: Recording) -> Watch:
        del notebook
        return watch_of(head)

    def add(self, notebook: Notebook, record: Watch) -> None:
        notebook.add_recording(recording_of_watch(record))


WATCH_KIND = WatchKind()
