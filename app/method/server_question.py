"""The guide's question how a server's settings are read: by ssh, from a file of this machine, or both."""

from dataclasses import replace
from pathlib import Path

from app.audit.configuration_files import read_configuration
from app.base.errors import UsageError
from app.base.ssh_address import check_ssh_host
from app.method.choices import GuideChoices

SERVER_QUESTION = "The server's settings"
SERVER_QUESTION_TEXT = (
    "[USER@]HOST to read them by ssh (which must work without a password), the path of its smb.conf where that is not"
    " the usual one, or both. Empty: read where the server is this machine."
)


def typed_server(choices: GuideChoices) -> str:
    """The answer to the question as the choices have it."""
    monitor = choices.spec.monitor
    return " ".join(str(word) for word in (monitor.server_ssh, monitor.smb_conf) if word)


def with_typed_server(choices: GuideChoices, text: str) -> GuideChoices:
    """The choices with that answer. Raises UsageError."""
    words = text.split()
    paths = [word for word in words if word.startswith("/")]
    hosts = [word for word in words if not word.startswith("/")]
    for host in hosts:
        check_ssh_host(host, "[USER@]HOST")
    if len(paths) > 1 or len(hosts) > 1:
        raise UsageError(f"not understood: {text!r}; write [USER@]HOST, or /path/of/smb.conf, or one of each")

    ssh = hosts[0] if hosts else None
    smb_conf = paths[0] if paths else None
    if smb_conf and not ssh:
        read_configuration(Path(smb_conf))
    monitor = replace(choices.spec.monitor, server_ssh=ssh, smb_conf=smb_conf)
    return replace(choices, spec=replace(choices.spec, monitor=monitor))
