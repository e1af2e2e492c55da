"""The servers of the settings file in the guide: offered by name, and what is written of one taken with it."""

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


def with_profile(choices: GuideChoices) -> GuideChoices:
    """The choices with what the settings file says of their server and they do not say themselves."""
    target = choices.target
    for server in _servers().values():
        try:
            named = parse_target(server.url())
            link = parse_rate(server.link) if server.link else None
        except UsageError:
            continue
        if target is not None and _place(named) == _place(target):
            return replace(
                choices,
                server_ssh=choices.server_ssh or server.ssh or None,
                smb_conf=choices.smb_conf or server.smb_conf or None,
                link_bits_per_second=choices.link_bits_per_second or link,
            )
    return choices


def _place(target: Target) -> tuple[object, ...]:
    return (target.protocol, target.host.lower(), target.port, target.share)


def _servers() -> dict[str, ServerProfile]:
    try:
        return dict(config().servers)
    except ConfigError:  # told when the program starts
        return {}
