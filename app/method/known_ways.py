"""What was told once of how a server's settings are reached, kept in the notebook for every form, the guide and trials.

A command with ``--server-ssh`` or ``--smb-conf`` tells it as well, though commands themselves take only what is typed.

The *ways* to a server are the ssh host and the path of the smb.conf by which its settings are read.
"""

from dataclasses import dataclass, replace

from app.method.choices import GuideChoices
from storage.notebook import Notebook

_SSH = "ssh"
_CONF = "conf"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownWays:
    """The ways to one server; empty where nothing was told."""

    ssh: str = ""
    conf: str = ""


def read_ways(notebook: Notebook, host: str) -> KnownWays:
    """The ways to the server of that name; an empty name stands for what was told while no server was named."""
    kept = notebook.remembered(_key_of(host)) or {}
    return KnownWays(ssh=str(kept.get(_SSH) or ""), conf=str(kept.get(_CONF) or ""))


def keep_ways(notebook: Notebook, host: str, *, ssh: str | None = None, conf: str | None = None) -> None:
    """Keep the ways that are told: an empty text forgets one, None leaves what is kept."""
    kept = read_ways(notebook, host)
    told = {_SSH: kept.ssh if ssh is None else ssh, _CONF: kept.conf if conf is None else conf}
    if KnownWays(ssh=told[_SSH], conf=told[_CONF]) != kept:
        notebook.remember(_key_of(host), told)


def with_known_ways(notebook: Notebook, choices: GuideChoices) -> GuideChoices:
    """The choices, with those ways to their server that they do not name themselves."""
    if choices.target is None:
        return choices

    monitor = choices.spec.monitor
    ways = read_ways(notebook, choices.target.host)
    monitor = replace(
        monitor, server_ssh=monitor.server_ssh or ways.ssh or None, smb_conf=monitor.smb_conf or ways.conf or None
    )
    return replace(choices, spec=replace(choices.spec, monitor=monitor))


def keep_typed_ways(notebook: Notebook, choices: GuideChoices) -> None:
    """Keep the ways as they were just typed for these choices, for the other forms too."""
    if choices.target is not None:
        monitor = choices.spec.monitor
        keep_ways(notebook, choices.target.host, ssh=monitor.server_ssh or "", conf=monitor.smb_conf or "")


def _key_of(host: str) -> str:
    return f"ways to {host.lower()}" if host else "ways"
