"""An audit on the screen: the lines to fill in, and what it found."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from app.clients.base import Secrets
from app.subjects.audit import AuditRequest, AuditResult, audit_server
from app.tui.frame.commands import keys
from app.tui.frame.dialogs import MessageDialog
from app.tui.widgets import asking
from app.tui.widgets.reading import ReportScreen
from app.tui.widgets.views import joined
from app.workflows.compare import audit_form
from app.workflows.guide.known import server_ways
from forms.audit.report import audit_answer, audit_sign, proposed_diff, remedies
from forms.layout import Toned
from forms.report import Report
from storage.looks import recording_of


class AuditScreen(asking.LinesScreen):
    """Asks which server to audit."""

    NAME = "audit"
    HEADING = BUTTON = "Audit"
    START = "Audit the server that the lines name."
    LINES = (asking.TARGET, asking.SSH, asking.CONF)

    @classmethod
    def read(cls, typed: Mapping[str, str]) -> AuditRequest:
        text = asking.typed_values(cls.LINES, typed)
        target = asking.typed_target(text["target"], "which server? type [USER@]HOST/SHARE, or smb://USER@HOST/SHARE")
        ways = server_ways(target, text["ssh"], text["conf"])
        return AuditRequest(target=target, ssh=ways["server_ssh"], smb_conf=ways["smb_conf"])

    def begin(self, request: AuditRequest) -> None:
        def audit(secrets: Secrets) -> None:
            self.in_background(lambda: audit_server(replace(request, secrets=lambda: secrets)), self._show)

        asking.log_in(self, request.target, audit)

    def _show(self, result: AuditResult) -> None:
        self.with_notebook(lambda notebook: notebook.add_recording(recording_of(result.audit)))
        self.app.push_screen(AuditResultScreen(result))


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
