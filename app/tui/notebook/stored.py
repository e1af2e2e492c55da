"""The screen of one stored recording that is no series: its report, its label, and the key that resumes it.

The kind of a recording (load, isolation, trial, survey, …) makes the report from what the notebook has stored. The
``head`` of a recording is its row in the table of recordings: id, kind, status, label.
"""

from functools import partial

from textual.widgets import Static

from app.clients.base import Secrets
from app.method.next_steps import NextStep
from app.recording.kind import kind_of
from app.tui.frame import commands, dialogs
from app.tui.frame.parts import text_behind_drawing
from app.tui.notebook import resuming
from app.tui.widgets import reading, views
from app.tui.widgets.following import FollowsRecording
from app.tui.widgets.logins import log_in
from app.tui.widgets.report_screen import ReportScreen
from forms import wording
from forms.layout import Toned
from forms.report import Report
from storage import recordings, records
from storage.notebook import Notebook

_RESUME = NextStep(name="Resume it")


class StoredScreen(FollowsRecording, ReportScreen, reading.RecordingGoesOn, views.ShowsMore, views.ZoomsCharts):
    """The report of a recording, drawn anew where the notebook has changed.

    FollowsRecording calls ``read_page`` in a thread, and ``show_page`` where what that returned has changed;
    ReportScreen calls ``draw_report`` for the room that there is; ShowsMore calls ``show_again`` when statistics are
    shown or hidden. RecordingGoesOn reads the next steps of ``recorded`` in the notebook, and calls ``offer``.
    """

    KEYS = commands.keys("screen.next stored.resume stored.label report.more report.less chart.zoom")

    def __init__(self, recording_id: str) -> None:
        super().__init__("", self.read_report)
        self.reference = recording_id
        """Its id, or the name of its experiment."""

        # What read_report has found, set in its thread; until then there is nothing to show.
        self.head: recordings.Recording | None = None
        self.answer = Toned("")
        """What the recording says in one sentence."""
        self.resumption: resuming.WayToResume | None = None
        """None where it is complete, runs, was imported, or cannot be resumed."""

    # Reading and showing

    def read_report(self, notebook: Notebook) -> Report:
        """Called in a thread, when the screen opens and each time the notebook has changed."""
        head = notebook.recording(self.reference)
        kind = kind_of(head)
        self.head = head

        # A whole of several series may be complete so far, and still be measured further.
        is_complete = head.status is records.SeriesStatus.COMPLETE and not kind.is_made_of_series
        can_resume = not (head.imported_at is not None or head.running or is_complete)
        self.resumption = resuming.way_to_resume(notebook, head) if can_resume else None

        target = None if kind.is_made_of_series else kind.target(notebook, head)
        self.heading = head.label or (wording.place(target) if target else head.subject) or head.kind

        report = kind.form(notebook, head)
        # While it is measured, what it says so far is no answer yet.
        if report.answer and not head.running:
            self.answer = Toned("\n".join(map(wording.plain, report.answer.text.splitlines())), report.answer.tone)
        else:
            self.answer = kind.current_answer(notebook, head)
        return report

    def read_page(self, notebook: Notebook) -> tuple[Report, recordings.Recording | None, Toned]:
        # The head and the answer too, since a change of either alone has the page drawn anew.
        return self.read_report(notebook), self.head, self.answer

    def show_page(self, page: tuple[Report, recordings.Recording | None, Toned]) -> None:
        report, _, _ = page
        self.show(report)

    def on_screen_resume(self) -> None:
        if self.report is not None:
            self.context.pointed = self.recorded[0]
            self.look()

    def show(self, report: Report) -> None:
        super().show(report)
        assert self.head is not None
        self.recorded = (self.head.id,)
        self.context.pointed = self.head.id
        self.set_pane_title(f"{self.head.kind.capitalize()} · {self.heading}")

        headline = self.query_one("#headline", Static)
        # The answer of a trial or sweep says why it ended, unless an error did.
        tells_its_end_itself = self.head.kind in resuming.KINDS_OF_CHANGES and not self.head.error
        if self.head.running or tells_its_end_itself:
            headline.update(views.join_toned([self.answer], ""))
        else:
            headline.update(views.join_toned([views.stop_reason(self.head), self.answer], ""))
        headline.display = True

    def draw_report(self, report: Report, width: int, height: int, zoomed: bool) -> str:
        return self.query_one(views.FiguresView).figures(self.of_now(report), width, height, zoomed)

    def show_again(self) -> None:
        if self.report is not None:
            self.show(self.report)

    # What can be done with it

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "resume":
            return self.resumption is not None
        if action == "next":
            return bool(self.recorded)
        if action == "label":
            return self.head is not None
        if action == "more" and (self.report is None or self.report.brief == self.report):
            return False
        return super().check_action(action, parameters)

    def action_label(self) -> None:
        head = self.head
        assert head is not None

        def write(typed: str) -> None:
            label = text_behind_drawing(head.label, typed).strip()
            self.with_notebook(partial(_write_label, recording_id=head.id, label=label), self._look_at_label)

        text = "What it is called in lists and on paper; empty for none."
        self.ask(dialogs.AskDialog("Label", text, value=head.label), write)

    def _look_at_label(self, _result: None) -> None:
        self.look()

    def offer(self, steps: list[NextStep]) -> None:
        others = [step for step in steps if step.screen != "stored"]  # it is open
        super().offer(others if self.resumption is None else [_RESUME, *others])

    def take_step(self, step: NextStep) -> None:
        if step is _RESUME:
            self.action_resume()
        else:
            super().take_step(step)

    def action_resume(self) -> None:
        if self.resumption is None or self.sharebench_app.returned_to_measurement():
            return

        target, begin = self.resumption
        if target is None:
            begin(self, Secrets())  # no login is needed first
        else:
            log_in(self, target, partial(begin, self))


def _write_label(notebook: Notebook, recording_id: str, label: str) -> None:
    notebook.describe(recording_id, label=label)
