"""What was picked on a server, as choices of the round; with what the settings file says of that server."""

from contextlib import suppress
from dataclasses import replace

from app.base.errors import UsageError
from app.base.units import parse_rate
from app.clients.browsing import Item
from app.method import choices as method_choices
from forms.findings.path import PRACTICE_LINK_BITS_PER_SECOND, is_practice_target
from storage.records import Target


def with_picked(
    choices: method_choices.GuideChoices, target: Target, file: Item | None, *, kerberos: bool = False
) -> method_choices.GuideChoices:
    """The choices with what was picked on a server: its folder, or a file in it."""
    choices = _with_practice_link(with_profile(method_choices.with_target(choices, target, kerberos=kerberos)))
    if file is None:
        choices = replace(choices, file=None, file_bytes=None)
    else:
        choices = method_choices.with_file(choices, target.path, file.path, file.size_bytes)
    return replace(choices, step=method_choices.MethodStep.FILE)


def _with_practice_link(choices: method_choices.GuideChoices) -> method_choices.GuideChoices:
    """The choices with the limit of a practice server as the speed of the link, where no speed was given."""
    target = choices.target
    if target is None or not is_practice_target(target) or choices.spec.link_bits_per_second is not None:
        return choices
    return replace(choices, spec=replace(choices.spec, link_bits_per_second=PRACTICE_LINK_BITS_PER_SECOND))


def with_profile(choices: method_choices.GuideChoices) -> method_choices.GuideChoices:
    """The choices with what the settings file says of their server and they do not say themselves."""
    from app.server.named_servers import server_of, server_ways

    target = choices.target
    profile = server_of(target) if target is not None else None
    if target is None or profile is None:
        return choices

    link = None
    with suppress(UsageError):
        link = parse_rate(profile.link) if profile.link else None
    spec = choices.spec
    ways = server_ways(target, spec.monitor.server_ssh or "", spec.monitor.smb_conf or "")
    monitor = replace(spec.monitor, server_ssh=ways.server_ssh, smb_conf=ways.smb_conf)
    link_bits_per_second = spec.link_bits_per_second or link
    return replace(choices, spec=replace(spec, monitor=monitor, link_bits_per_second=link_bits_per_second))
