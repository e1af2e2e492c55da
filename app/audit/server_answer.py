"""What a server answers to the probe: a text of named sections, read as what an audit judges."""

from dataclasses import replace

from app.server import conf_warnings, testparm
from app.server.shell import Answer
from forms.audit.audited_server import AuditedServer
from storage.records import Target


def with_what_samba_knows(server: AuditedServer, answer: Answer, target: Target) -> AuditedServer:
    """The server with the parameters and modules that its Samba knows, its files' modes, and the share's files."""
    scopes = testparm.parse_scopes(answer.text("scopes"))
    modes = {
        name.removeprefix("mode:"): int(text.strip(), 8)
        for name, text in answer.sections.items()
        if name.startswith("mode:") and text.strip().isdecimal()
    }
    names = (answer.text("names") or "").splitlines()
    share = (target.share or "").lower()

    return replace(
        server,
        global_names=scopes.for_server if scopes else frozenset(),
        share_names=scopes.for_share if scopes else frozenset(),
        modules=frozenset(conf_warnings.loadable_modules(answer)),
        modes=modes,
        names_in_shares={share: names} if names else {},
        missing_folders=frozenset((answer.text("folders.missing") or "").splitlines()),
    )
