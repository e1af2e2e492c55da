"""The servers that the settings file names, and by which way a server is reached."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from app.base.config import ConfigError, ServerProfile, config
from app.base.errors import UsageError
from app.base.targets import parse_target
from app.server.routes import is_this_machine
from storage.records import Target


class NamedServer(NamedTuple):
    """A server of the settings file."""

    name: str
    """Without the ``@`` by which it is named."""
    target: Target
    profile: ServerProfile
    """What the settings file says of it."""


class ServerWays(NamedTuple):
    """How a server is asked for its settings."""

    server_ssh: str | None
    """None for this machine, or where no way is known."""
    smb_conf: str | None
    """The path of its smb.conf there; None for the one that its smbd runs with."""


def _readable_servers() -> Iterator[NamedServer]:
    """The servers of the settings file, without those that cannot be read.

    Such an error is told when the server is named, and that of the whole file when the program starts.
    """
    with suppress(ConfigError):
        for name, profile in config().servers.items():
            with suppress(UsageError):
                yield NamedServer(name, parse_target(profile.url()), profile)


def named_servers() -> tuple[tuple[str, Target], ...]:
    """Each as it is typed, ``@NAME``, with its target."""
    return tuple((f"@{server.name}", server.target) for server in _readable_servers())


def server_of(target: Target) -> ServerProfile | None:
    """What the settings file says of the target's server; None where it has none."""
    for server in _readable_servers():
        if _place_of(server.target) == _place_of(target):
            return server.profile
    return None


def _place_of(target: Target) -> tuple[object, ...]:
    return (target.protocol, target.host.lower(), target.port, target.share)


def server_ways(target: Target, ssh: str, smb_conf: str = "") -> ServerWays:
    """By which ssh and smb.conf the server is reached: as given here, else as the settings file says.

    Raises UsageError for an smb.conf of this machine that is not there.
    """
    profile = server_of(target)
    ssh = ssh or (profile.ssh if profile else "")
    if smb_conf and not ssh and is_this_machine(target.host) and not Path(smb_conf).is_file():
        raise UsageError(f"cannot read {smb_conf}: it is not on this machine; name an smb.conf")

    smb_conf = smb_conf or (profile.smb_conf if profile else "")
    return ServerWays(server_ssh=ssh or None, smb_conf=smb_conf or None)
