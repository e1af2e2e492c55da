"""The servers of the settings file in the guide: offered by name, and what is written of one taken with it."""

from contextlib import suppress
from dataclasses import replace

from app.config import ConfigError, ServerProfile, config
from app.errors import UsageError
from app.targets import parse_target
from app.units import parse_rate
from app.workflows.guide.state.choices import GuideChoices
from storage.records import Target


def named_servers() -> tuple[tuple[str, Target], ...]:
    """The servers that have a name, as targets; those that cannot be read are told when they are named."""
    found = []
    for name, server in _servers().items():
        try:
            found.append((f"@{name}", parse_target(server.url())))
        except UsageError:
            continue
    return tuple(found)


def server_of(target: Target) -> ServerProfile | None:
    """What the settings file says of the server of that share; None where it names none."""
    for server in _servers().values():
        try:
            named = parse_target(server.url())
        except UsageError:
            continue
        if _place(named) == _place(target):
            return server
    return None


def with_profile(choices: GuideChoices) -> GuideChoices:
    """The choices with what the settings file says of their server and they do not say themselves."""
    server = server_of(choices.target) if choices.target is not None else None
    if server is None:
        return choices
    link = None
    with suppress(UsageError):
        link = parse_rate(server.link) if server.link else None
    return replace(
        choices,
        server_ssh=choices.server_ssh or server.ssh or None,
        smb_conf=choices.smb_conf or server.smb_conf or None,
        link_bits_per_second=choices.link_bits_per_second or link,
    )


def _place(target: Target) -> tuple[object, ...]:
    return (target.protocol, target.host.lower(), target.port, target.share)


def _servers() -> dict[str, ServerProfile]:
    try:
        return dict(config().servers)
    except ConfigError:  # told when the program starts
        return {}
