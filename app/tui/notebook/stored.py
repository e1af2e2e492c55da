"""A stored recording of any kind: its form, and how it is resumed."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar, NamedTuple

from textual.widgets import Static

from app.clients.base import Secrets
from app.clients.logins import same_login
from app.diagnosis.screen import DiagnosisRunScreen
from app.isolation.screen import IsolationRunScreen
from app.load.screen import LoadRunScreen
from app.method.next_steps import NextStep
from app.recording.experiments import stored_change
from app.recording.kind import kind_of
from app.trial.screen import TrialScreen
from app.tui.frame import commands, dialogs
from app.tui.frame.base import BaseScreen
from app.tui.frame.parts import text_behind_drawing
from app.tui.widgets import reading, views
from app.tui.widgets.following import FollowsRecording
from app.tui.widgets.logins import log_in
from app.tui.widgets.report_run import MeasurementScreen
from forms import wording
from forms.layout import Toned
from forms.report import Report
from storage import recordings, records
from storage.looks import DIAGNOSIS
from storage.notebook import Notebook

_RESUME = NextStep(name="Resume it")

_RUN_SCREENS: dict[str, type[MeasurementScreen]] = {
    recordings.LOAD: LoadRunScreen,
    recordings.ISOLATION: IsolationRunScreen,
    DIAGNOSIS: DiagnosisRunScreen,
}
_KINDS_OF_CHANGES = {"trial", "sweep"}


class WayToResume(NamedTuple):
    """How a recording is resumed."""

    target: records.Target | None
    """Where to log in first; None where nothing is sent yet."""
    begin: Callable[[BaseScreen, Secrets], None]


def _tell(dialog: dialogs.MessageDialog) -> WayToResume:
    """No resumption here: a dialog that says how it is done elsewhere."""

    def show(screen: BaseScreen, _secrets: Secrets) -> None:
        screen.app.push_screen(dialog)

    return WayToResume(None, show)


def _resumption_of(notebook: Notebook, head: recordings.Recording) -> WayToResume | None:
    if head.kind in _RUN_SCREENS:
        return _resumption_of_measurement(notebook, head)
    if head.kind in _KINDS_OF_CHANGES:
        return _resumption_of_change(notebook, head)
    return _resumption_on_the_command_line(head)


def _resumption_of_measurement(notebook: Notebook, head: recordings.Recording) -> WayToResume:
    run_screen = _RUN_SCREENS[head.kind]
    target = kind_of(head).target(notebook, head)
    record = kind_of(head).read(notebook, head)
    remembered = notebook.remembered(head.kind) or {}

    targets = getattr(record, "targets", ())
    if target is None or not all(same_login(other, target) for other in targets):
        text = (
            "Its targets have several users or protocols, and a password typed here would go to all of them."
            f" Resume {head.kind} {head.id} on the command line, as it was begun there."
        )
        return _tell(dialogs.MessageDialog("Several logins", text))

    def begin(screen: BaseScreen, secrets: Secrets) -> None:
        typed = remembered | screen.context.typed.get(head.kind, {})

        def run(request: object) -> None:
            screen.app.push_screen(run_screen(request, record))

        screen.in_background(partial(run_screen.to_resume, record, secrets, typed), run)

    return WayToResume(target, begin)


def _resumption_of_change(notebook: Notebook, head: recordings.Recording) -> WayToResume | None:
    plan = notebook.trial(head.subject)
    is_imported = any(series.imported_at for series in notebook.heads(experiment=head.subject))
    if plan is None or is_imported:
        return None

    change = stored_change(notebook, head.subject)
    is_complete = change.complete if change else head.status is records.SeriesStatus.COMPLETE
    if is_complete:
        return None
    if head.kind != records.ExperimentKind.TRIAL:
        return _resumption_on_the_command_line(head)

    setting = f"{plan.name} = {plan.values[0]}"

    def begin(screen: BaseScreen, _secrets: Secrets) -> None:
        screen.app.push_screen(TrialScreen(setting, head.subject))

    return WayToResume(None, begin)


def _resumption_on_the_command_line(head: recordings.Recording) -> WayToResume | None:
    command = kind_of(head).resume
    if not command:
        return None
    return _tell(dialogs.MessageDialog("Resume it on the command line", f"sharebench {command} {head.id}"))


class StoredScreen(FollowsRecording, reading.ReportScreen, reading.RecordingGoesOn, views.ShowsMore, views.ZoomsCharts):
    KEYS: ClassVar[tuple[commands.KeyCommand, ...]] = commands.keys(
        "screen.next stored.resume stored.label report.more report.less chart.zoom"
    )

    def __init__(self, recording_id: str) -> None:
        super().__init__("", self.read_report)
        self.reference = recording_id
        self.head: recordings.Recording | None = None
        self.answer = Toned("")
        self.resumption: WayToResume | None = None

    # Reading and showing

    def read_report(self, notebook: Notebook) -> Report:
        head = notebook.recording(self.reference)
        kind = kind_of(head)
        self.head = head

        is_complete = head.status is records.SeriesStatus.COMPLETE and not kind.is_made_of_series
        can_resume = not (head.imported_at is not None or head.running or is_complete)
        self.resumption = _resumption_of(notebook, head) if can_resume else None

        target = None if kind.is_made_of_series else kind.target(notebook, head)
        self.heading = head.label or (wording.place(target) if target else head.subject) or head.kind

        report = kind.form(notebook, head)
        if report.answer and not head.running:
            self.answer = Toned(wording.plain(report.answer.text), report.answer.tone)
        else:
            self.answer = kind.current_answer(notebook, head)
        return report

    def read_page(self, notebook: Notebook) -> tuple[Report, recordings.Recording | None, Toned]:
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
        tells_its_end_itself = self.head.kind in _KINDS_OF_CHANGES and not self.head.error
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
        if self.resumption is None or self.sharebench_app.leads_back():
            return

        target, begin = self.resumption
        if target is None:
            begin(self, Secrets())
        else:
            log_in(self, target, partial(begin, self))


def _write_label(notebook: Notebook, recording_id: str, label: str) -> None:
    notebook.describe(recording_id, label=label)
