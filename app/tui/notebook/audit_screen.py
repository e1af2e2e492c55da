"""An audit just made, on the screen: what is stored of it, and the edits it proposes."""

from typing import ClassVar

from app.audit import audit_result
from app.tui.frame.commands import keys
from app.tui.frame.dialogs import TextDialog
from app.tui.notebook.stored import StoredScreen
from forms.audit.remedies import proposed_diff, remedies


class AuditResultScreen(StoredScreen):
    """The audit as it is stored, with what only the one who made it has: the diff of the files that were read."""

    KEYS: ClassVar = keys("audit.try audit.fix audit.export")

    def __init__(self, result: audit_result.AuditResult) -> None:
        super().__init__(result.audit.id)
        self.remedies = remedies(result.audit.findings)
        self.diff = proposed_diff(result.audit.findings, result.files)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "try":
            return bool(self.remedies)
        if action == "fix":
            return bool(self.diff)
        return super().check_action(action, parameters)

    def action_try(self) -> None:
        first = self.remedies[0]
        self.sharebench_app.visit("trial", setting=f"{first.name} = {first.value}")

    def action_fix(self) -> None:
        self.app.push_screen(TextDialog("Proposed edits (nothing is written)", self.diff))
