"""How a stored recording is resumed from its screen: by the screen that measures its kind, or on the command line."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from app.clients.base import Secrets
from app.clients.logins import same_login
from app.diagnosis.run_screen import DiagnosisRunScreen
from app.isolation.run_screen import IsolationRunScreen
from app.load.run_screen import LoadRunScreen
from app.recording.experiments import stored_change
from app.recording.kind import kind_of
from app.trial.screen import TrialScreen
from app.tui.frame.base import BaseScreen
from app.tui.frame.dialogs import MessageDialog
from app.tui.widgets.report_run import MeasurementScreen
from storage import recordings, records
from storage.looks import DIAGNOSIS
from storage.notebook import Notebook

_RUN_SCREENS: dict[str, type[MeasurementScreen]] = {
    recordings.LOAD: LoadRunScreen,
    recordings.ISOLATION: IsolationRunScreen,
    DIAGNOSIS: DiagnosisRunScreen,
}
KINDS_OF_CHANGES = {"trial", "sweep"}


class WayToResume(NamedTuple):
    """How a recording is resumed."""

    target: records.Target | None
    """Where to log in first; None where no login is needed before ``begin``."""
    begin: Callable[[BaseScreen, Secrets], None]
    """Opens the screen that resumes it, over the screen given; called when the login is known."""


def _tell(dialog: MessageDialog) -> WayToResume:
    """No resumption here: a dialog that says how it is done elsewhere."""

    def show(screen: BaseScreen, _secrets: Secrets) -> None:
        screen.app.push_screen(dialog)

    return WayToResume(None, show)


def way_to_resume(notebook: Notebook, head: recordings.Recording) -> WayToResume | None:
    """How an incomplete recording is resumed; None where it cannot be.

    ``head`` is its row in the table of recordings.
    """
    if head.kind in _RUN_SCREENS:
        return _resumption_of_measurement(notebook, head)
    if head.kind in KINDS_OF_CHANGES:
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
        return _tell(MessageDialog("Several logins", text))

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
    return _tell(MessageDialog("Resume it on the command line", f"sharebench {command} {head.id}"))
