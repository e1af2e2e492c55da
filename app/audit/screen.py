"""The audit on the screen: a form that asks for the server or a file, and leads to what was found."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from app.audit import audit_result, engine, file_audit, server_session
from app.clients.base import Secrets
from app.server.named_servers import server_ways
from app.tui.notebook.audit_screen import AuditResultScreen
from app.tui.widgets import form_lines
from app.tui.widgets.lines_screen import LinesScreen
from app.tui.widgets.logins import log_in
from storage.looks import recording_of
from storage.notebook import Notebook
from storage.records import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFile:
    """A file of this machine that is audited by itself."""

    path: str
    """Of an smb.conf, or of the output of testparm."""


class AuditScreen(LinesScreen):
    """The form: `parse` makes the request of its lines, and `begin` audits that server once it has the login."""

    NAME = "audit"
    HEADING = BUTTON = "Audit"
    START = "Audit the server that the lines name."
    LINES = (
        form_lines.TARGET,
        form_lines.SSH,
        form_lines.FormLine(
            form_lines.CONF.key,
            form_lines.CONF.name,
            "its path on the server; without a target: a file here",
            about="smb.conf: its path on the server; empty: the one that smbd uses. Without a target it is a file on"
            " this machine: an smb.conf, or the output of `testparm -s` that somebody sent you.",
        ),
    )

    @classmethod
    def parse(cls, typed: Mapping[str, str]) -> server_session.AuditRequest | LocalFile:
        values = form_lines.typed_values(cls.LINES, typed)
        if values["conf"] and not values["target"]:
            return LocalFile(path=values["conf"])

        question = "which server? type [USER@]HOST/SHARE, or smb://USER@HOST/SHARE"
        target = form_lines.typed_target(values["target"], question)
        ways = server_ways(target, values["ssh"], values["conf"])
        return server_session.AuditRequest(target=target, ssh=ways.server_ssh, smb_conf=ways.smb_conf)

    def begin(self, request: server_session.AuditRequest | LocalFile) -> None:
        if isinstance(request, LocalFile):
            self.in_background(partial(file_audit.audit_file, request.path), self._store)
            return

        def audit(secrets: Secrets) -> None:
            def give_secrets() -> Secrets:
                return secrets

            job = partial(engine.audit_server, replace(request, secrets=give_secrets))
            self.in_background(job, partial(self._store_of_server, request.target))

        log_in(self, request.target, audit)

    def _store_of_server(self, target: Target, result: audit_result.AuditResult) -> None:
        if result.refused:  # the settings were read all the same; the next audit asks again
            self.context.logins.refuse(target)
        self._store(result)

    def _store(self, result: audit_result.AuditResult) -> None:
        def add(notebook: Notebook) -> None:
            notebook.add_recording(recording_of(result.audit))

        def show(_result: None) -> None:
            self.app.push_screen(AuditResultScreen(result))

        self.with_notebook(add, show)
