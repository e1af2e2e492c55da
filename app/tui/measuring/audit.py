"""An audit on the screen: the lines to fill in, and what it found."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from app.clients.base import Secrets
from app.subjects.audit import AuditRequest, AuditResult, audit_server
from app.tui.frame.commands import keys
from app.tui.frame.dialogs import MessageDialog
from app.tui.widgets.asking import TARGET, FormLine, LinesScreen, log_in, typed_target, typed_values
from app.tui.widgets.reading import ReportScreen
from app.tui.widgets.views import joined
from app.workflows.compare import audit_form
from app.workflows.guide.known import server_ways
from forms.audit.report import audit_answer, audit_sign, proposed_diff, remedies
from forms.layout import Toned
from forms.report import Report
from storage.looks import recording_of
from storage.notebook import Notebook

LINES = (
    TARGET,
    FormLine(key="ssh", name="Server by ssh", hint="[USER@]HOST; empty: the server is this machine"),
    FormLine(key="conf", name="smb.conf", hint="its path on the server; empty: the path of its smbd"),
)


class AuditScreen(LinesScreen):
    """Asks which server to audit."""

    NAME = "audit"
    HEADING = BUTTON = "Audit"
    START = "Audit the server that the lines name."
    LINES = LINES

    def read(self, typed: Mapping[str, str]) -> AuditRequest:
        return audit_request(typed)

    def begin(self, request: AuditRequest) -> None:
        log_in(self, request.target, lambda secrets: self._audit(request, secrets))

    def _audit(self, request: AuditRequest, secrets: Secrets) -> None:
        self.in_background(lambda: audit_server(replace(request, secrets=lambda: secrets)), self._show)

    def _show(self, result: AuditResult) -> None:
        def store(notebook: Notebook) -> None:
            notebook.add_recording(recording_of(result.audit))

        self.with_notebook(store)
        self.app.push_screen(AuditResultScreen(result))


def audit_request(typed: Mapping[str, str]) -> AuditRequest:
    """What the lines ask for, without a login. Raises UsageError with what is wrong."""
    text = typed_values(LINES, typed)
    target = typed_target(text["target"], "which server? type [USER@]HOST/SHARE, or smb://USER@HOST/SHARE")
    ways = server_ways(target, text["ssh"], text["conf"])
    return AuditRequest(target=target, ssh=ways["server_ssh"], smb_conf=ways["smb_conf"])


class AuditResultScreen(ReportScreen):
    """What an audit found; the costliest finding can be tested, and the edits read."""

    KEYS: ClassVar = keys("audit.try audit.fix audit.export")

    def __init__(self, result: AuditResult) -> None:
        super().__init__(f"Audit · {result.audit.subject}", lambda notebook: audit_form(notebook, result.audit))
        self.result = result
        self.diff = proposed_diff(result.audit.findings, result.files)

    def show(self, report: Report) -> None:
        super().show(report)
        sign = audit_sign(self.result.audit)
        headline = self.query_one("#headline")
        headline.display = True
        headline.update(joined([Toned(f"{sign} {audit_answer(self.result.audit)}", sign.tone)], ""))  # type: ignore[attr-defined]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "try":
            return bool(remedies(self.result.audit.findings))
        if action == "fix":
            return bool(self.diff)
        return super().check_action(action, parameters)

    def action_try(self) -> None:
        remedy = remedies(self.result.audit.findings)[0]
        self.sharebench_app.visit("trial", setting=f"{remedy.name} = {remedy.value}")

    def action_fix(self) -> None:
        self.app.push_screen(MessageDialog("Proposed edits (nothing is written)", self.diff))
