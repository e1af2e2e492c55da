"""A stored recording of any kind: its form, and how it is resumed."""

from collections.abc import Callable
from typing import ClassVar

from textual.widgets import Static

from app.clients.base import Secrets
from app.clients.logins import same_login
from app.diagnosis.screen import DiagnosisRunScreen
from app.guide.rounds import NextStep
from app.isolation.screen import IsolationRunScreen
from app.kinds import answer_of, kind_of, stored_change, stored_record
from app.load.screen import LoadRunScreen
from app.trial.screen import TrialScreen
from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import KeyCommand, keys
from app.tui.frame.dialogs import AskDialog, MessageDialog
from app.tui.frame.parts import text_behind_drawing
from app.tui.widgets import logins
from app.tui.widgets.following import FollowsRecording
from app.tui.widgets.reading import RecordingGoesOn, ReportScreen
from app.tui.widgets.report_run import MeasurementScreen
from app.tui.widgets.views import FiguresView, ShowsMore, ZoomsCharts, join_toned, stop_reason
from forms.layout import Toned
from forms.report import Report
from forms.wording import place, plain
from storage.looks import DIAGNOSIS
from storage.notebook import Notebook
from storage.recordings import ISOLATION, LOAD, Recording
from storage.records import ExperimentKind, SeriesStatus, Target

_RESUME = NextStep(name="Resume it")


ResumeStep = tuple[Target | None, Callable[[BaseScreen, Secrets], object]]


"""Where to log in first, None where nothing is sent yet; and what resumes a recording then."""


def _of_form(notebook: Notebook, head: Recording) -> ResumeStep | None:
    run, target = _RUN[head.kind], kind_of(head).target(notebook, head)
    record, remembered = stored_record(notebook, head), notebook.remembered(head.kind) or {}
    if target is None or not all(same_login(one, target) for one in getattr(record, "targets", ())):
        text = "Its targets have several users or protocols, and a password typed here would go to all of them."
        text += f" Resume {head.kind} {head.id} on the command line, as it was begun there."
        return (None, lambda screen, _: screen.app.push_screen(MessageDialog("Several logins", text)))

    def begin(screen: BaseScreen, secrets: Secrets) -> None:
        typed = remembered | screen.context.typed.get(head.kind, {})
        screen.in_background(
            lambda: run.to_resume(record, secrets, typed), lambda request: screen.app.push_screen(run(request, record))
        )

    return (target, begin)


def _of_trial(notebook: Notebook, head: Recording) -> ResumeStep | None:
    found, plan = stored_change(notebook, head.subject), notebook.trial(head.subject)
    imported = any(one.imported_at for one in notebook.heads(experiment=head.subject))
    if plan is None or imported or (found.complete if found else head.status is SeriesStatus.COMPLETE):
        return None
    if head.kind != ExperimentKind.TRIAL:
        return _on_the_command_line(notebook, head)
    setting = f"{plan.name} = {plan.values[0]}"
    return (None, lambda screen, _: screen.app.push_screen(TrialScreen(setting, head.subject)))


def _on_the_command_line(_notebook: Notebook, head: Recording) -> ResumeStep | None:
    if not (resume := kind_of(head).resume):
        return None
    dialog = MessageDialog("Resume it on the command line", f"sharebench {resume} {head.id}")
    return (None, lambda screen, _: screen.app.push_screen(dialog))


_RUN: dict[str, type[MeasurementScreen]] = {
    LOAD: LoadRunScreen,
    ISOLATION: IsolationRunScreen,
    DIAGNOSIS: DiagnosisRunScreen,
}


_RESUMED = dict.fromkeys(_RUN, _of_form) | {"trial": _of_trial, "sweep": _of_trial}


class StoredScreen(FollowsRecording, ReportScreen, RecordingGoesOn, ShowsMore, ZoomsCharts):
    KEYS: ClassVar[tuple[KeyCommand, ...]] = keys(
        "screen.next stored.resume stored.label report.more report.less chart.zoom"
    )

    def __init__(self, recording_id: str) -> None:
        super().__init__("", self.read_report)
        self.reference = recording_id
        self.head: Recording | None = None
        self.answer = Toned("")
        self.resumption: ResumeStep | None = None

    def read_report(self, notebook: Notebook) -> Report:
        head = self.head = notebook.recording(self.reference)
        kind, over = kind_of(head), head.imported_at is not None or head.running
        over = over or (head.status is SeriesStatus.COMPLETE and not kind.whole)
        resume = _RESUMED.get(head.kind, _on_the_command_line)
        self.resumption = None if over else resume(notebook, head)
        target = None if kind.whole else kind.target(notebook, head)
        self.heading = head.label or (place(target) if target else head.subject) or head.kind
        report = kind.form(notebook, head)
        said = None if head.running else report.answer
        self.answer = Toned(plain(said.text), said.tone) if said else answer_of(notebook, head)
        return report

    def read_page(self, notebook: Notebook) -> tuple[Report, Recording | None, Toned]:
        return self.read_report(notebook), self.head, self.answer

    def show_page(self, page: tuple[Report, Recording | None, Toned]) -> None:
        self.show(page[0])

    def on_screen_resume(self) -> None:
        if self.report is not None:
            self.context.pointed = self.recorded[0]
            self.look()

    def show(self, report: Report) -> None:
        super().show(report)
        assert self.head is not None
        self.recorded, self.context.pointed = (self.head.id,), self.head.id
        self.set_pane_title(f"{self.head.kind.capitalize()} · {self.heading}")
        line = self.query_one("#headline", Static)
        is_told = self.head.running or (_RESUMED.get(self.head.kind) is _of_trial and not self.head.error)
        line.update(join_toned([self.answer] if is_told else [stop_reason(self.head), self.answer], ""))
        line.display = True

    def draw_report(self, report: Report, width: int, height: int, zoomed: bool) -> str:
        return self.query_one(FiguresView).figures(self.of_now(report), width, height, zoomed)

    def show_again(self) -> None:
        if self.report is not None:
            self.show(self.report)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "resume":
            return self.resumption is not None
        if action == "more" and (self.report is None or self.report.brief == self.report):
            return False
        if action == "next":
            return bool(self.recorded)
        return self.head is not None if action == "label" else super().check_action(action, parameters)

    def action_label(self) -> None:
        head = self.head
        assert head is not None

        def answered(label: str) -> None:
            text = text_behind_drawing(head.label, label).strip()
            self.with_notebook(lambda notebook: notebook.describe(head.id, label=text), lambda _: self.look())

        text = "What it is called in lists and on paper; empty for none."
        self.ask(AskDialog("Label", text, value=head.label), answered)

    def offer(self, steps: list[NextStep]) -> None:
        others = [step for step in steps if step.screen != "stored"]  # it is open
        super().offer([_RESUME, *others] if self.resumption is not None else others)

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
            logins.log_in(self, target, lambda secrets: begin(self, secrets))
