"""Finds the setting of a server that a name means: of Samba, the kernel, a network card, or what commands change."""

from collections.abc import Sequence

from app.base.errors import UsageError
from app.server.changes.card_setting import is_nic, nic_setting
from app.server.changes.hook_setting import hook_setting
from app.server.changes.samba_setting import samba_setting
from app.server.changes.samba_values import socket_option
from app.server.changes.setting import ChangeableSetting, Ways
from app.server.changes.sysctl_setting import is_sysctl, sysctl_setting
from app.server.routes import is_this_machine
from forms.tuning import catalogue
from forms.tuning.catalogue import EntryKind
from forms.tuning.smb_conf import spelling, suggestions
from storage.records import Target


def find_setting(name: str, values: Sequence[str], target: Target, ways: Ways) -> ChangeableSetting:
    """The setting, and the values to try, which are all checked; nothing is written.

    Without ``values``, those of the catalogue. Raises UsageError, ChangeFailedError.
    """
    _refuse_what_only_a_person_changes(name, ways)
    if ways.ssh is None and target.host and not is_this_machine(target.host):
        raise _way_is_missing(name, target, ways)

    if ways.apply or ways.revert:
        if not (ways.apply and ways.revert):
            raise UsageError("--apply and --revert go together: nothing is changed without a way back")
        if values:
            raise UsageError("with --apply the command says what is changed: name it without =VALUE")
        return hook_setting(name, ways.apply, ways.revert, ssh=ways.ssh)

    if is_nic(name):
        if not values:
            raise UsageError(f"name a value: {name}=VALUE")
        return nic_setting(name, values, ssh=ways.ssh)
    if is_sysctl(name):
        return sysctl_setting(name, values, ssh=ways.ssh, accepted=ways.accepted)
    return samba_setting(name, values, target, ways)


def _refuse_what_only_a_person_changes(name: str, ways: Ways) -> None:
    """Raises UsageError for what the catalogue has, but sharebench does not change itself, such as a mount option."""
    has_commands = bool(ways.apply or ways.revert)
    if has_commands or _is_parameter(name):
        return

    kinds = {entry.kind for entry in catalogue.about(name)}
    if kinds and not kinds & {EntryKind.SMB_CONF, EntryKind.SYSCTL, EntryKind.NIC}:
        raise UsageError(
            f"sharebench does not change {name} on a server: the catalogue says how to by hand; or name the commands",
            options="--apply and --revert",
        )


def _way_is_missing(name: str, target: Target, ways: Ways) -> UsageError:
    """The error where the server is another machine and no ssh is named; a name that does not exist comes first."""
    has_commands = bool(ways.apply or ways.revert)
    is_for_samba = not (has_commands or is_nic(name) or is_sysctl(name) or socket_option(name))
    similar_names = suggestions(name) if is_for_samba and not _is_parameter(name) else ()
    if similar_names:
        return UsageError(f"Samba has no parameter {name!r}; did you mean {' or '.join(similar_names)}?")
    return UsageError(
        f"{target.host} is another machine: name the way there by ssh, root@{target.host}", options="--server-ssh"
    )


def _is_parameter(name: str) -> bool:
    return spelling(name).parameter is not None
