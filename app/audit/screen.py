"""A recording of the notebook on the screen, with its answer above and how it is resumed; and the audit."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from app.audit.engine import AuditRequest, AuditResult, audit_server
from app.clients.base import Secrets
from app.guide.known import server_ways
from app.tui.frame.commands import keys
from app.tui.frame.dialogs import TextDialog
from app.tui.notebook.stored import StoredScreen
from app.tui.widgets import asking
from forms.audit.report import proposed_diff, remedies
from storage.looks import recording_of


class AuditScreen(asking.LinesScreen):
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
            self.in_background(lambda: audit_server(replace(request, secrets=lambda: secrets)), store)

        def store(result: AuditResult) -> None:
            if result.refused:  # the settings were read all the same; the next audit asks again
                self.context.logins.refuse(request.target)
            self.with_notebook(
                lambda notebook: notebook.add_recording(recording_of(result.audit)),
                lambda _: self.app.push_screen(AuditResultScreen(result)),
            )

        asking.log_in(self, request.target, audit)


class AuditResultScreen(StoredScreen):
    KEYS: ClassVar = keys("audit.try audit.fix audit.export")

    def __init__(self, result: AuditResult) -> None:
        super().__init__(result.audit.id)
        self.remedies = remedies(result.audit.findings)
        self.diff = proposed_diff(result.audit.findings, result.files)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in {"try", "fix"}:
            return bool(self.remedies if action == "try" else self.diff)
        return super().check_action(action, parameters)

    def action_try(self) -> None:
        self.sharebench_app.visit("trial", setting=f"{self.remedies[0].name} = {self.remedies[0].value}")

    def action_fix(self) -> None:
        self.app.push_screen(TextDialog("Proposed edits (nothing is written)", self.diff))
