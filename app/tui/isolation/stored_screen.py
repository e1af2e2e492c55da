"""An isolation of the notebook, to be read, labelled, exported, or completed where it stopped."""

from textual.content import Content

from app.clients.base import Secrets
from app.errors import UsageError
from app.isolation.request import IsolationRequest, request_to_resume
from app.tui.isolation.run_screen import IsolationRunScreen, isolation_headline
from app.tui.widgets.stored import StoredScreen, line_of
from app.workflows.isolate import isolation_called
from forms import wording
from forms.isolation.report import isolation_report
from forms.report import Report
from storage.isolations import Isolation
from storage.notebook import Notebook
from storage.records import SeriesStatus, Target


def isolation_line(isolation: Isolation) -> str:
    """What tells an isolation from the others of a list."""
    clients = ",".join(map(str, isolation.clients))
    what = f"{wording.short_place(isolation.target)}  {clients} clients"
    return line_of(isolation.created_at, what, isolation.label, isolation.status, running=isolation.running)


class StoredIsolationScreen(StoredScreen[Isolation]):
    """The form of one isolation."""

    ABOUT = "An isolation from the notebook. Up and down scroll; one that stopped early can be completed."

    def __init__(self, isolation_id: str) -> None:
        super().__init__("Isolation", isolation_id)

    def find(self, notebook: Notebook) -> Isolation:
        return isolation_called(notebook, self.reference)

    def lay_out(self, notebook: Notebook, found: Isolation) -> Report:  # noqa: ARG002  nothing else of it is needed
        return isolation_report(found)

    def headline(self, found: Isolation) -> Content:
        return isolation_headline(found)

    def label_of(self, found: Isolation) -> str:
        return found.label

    def set_label(self, notebook: Notebook, found: Isolation, label: str) -> None:
        if isolation_called(notebook, found.id).running:
            raise UsageError("it is being measured right now: label it when it has ended")
        notebook.describe(found.id, label=label)

    def target_to_go_on(self, found: Isolation) -> Target | None:
        over = found.status is SeriesStatus.COMPLETE or found.imported_at is not None or found.running
        return None if over else found.target

    def go_on(self, found: Isolation, secrets: Secrets) -> None:
        def begin(request: IsolationRequest) -> None:
            self.app.push_screen(IsolationRunScreen(request, found.id))

        self.in_background(lambda: request_to_resume(found, secrets), begin)
