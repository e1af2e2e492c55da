"""Finds the setting of a server that a name means: of Samba, the kernel, a network card, or what commands change."""

from collections.abc import Sequence

from app.base.errors import UsageError
from app.server.changes.card_setting import is_nic, nic_setting
from app.server.changes.hook_setting import hook_setting
from app.server.changes.setting import ChangeableSetting, Ways
from app.server.changes.smb_conf import samba_setting, socket_option
from app.server.changes.sysctl_setting import is_sysctl, sysctl_setting
from app.server.link_facts import is_this_machine
from forms.tuning import catalogue
from forms.tuning.catalogue import EntryKind
from forms.tuning.smb_conf import spelling, suggestions
from storage.records import Target


def find_setting(name: str, values: Sequence[str], target: Target, ways: Ways) -> ChangeableSetting:
    """All values are checked, nothing is written. Raises UsageError, ChangeFailedError."""
    has_commands = bool(ways.apply or ways.revert)
    is_parameter = spelling(name).parameter is not None
    if not has_commands and not is_parameter:
        kinds = {entry.kind for entry in catalogue.about(name)}
        if kinds and not kinds & {EntryKind.SMB_CONF, EntryKind.SYSCTL, EntryKind.NIC}:
            raise UsageError(
                f"sharebench does not change {name} on a server: the catalogue says how to by hand; or name the"
                " commands",
                options="--apply and --revert",
            )

    if ways.ssh is None and target.host and not is_this_machine(target.host):
        is_for_samba = not (has_commands or is_nic(name) or is_sysctl(name) or socket_option(name))
        similar_names = suggestions(name) if is_for_samba and not is_parameter else []
        if similar_names:
            raise UsageError(f"Samba has no parameter {name!r}; did you mean {' or '.join(similar_names)}?")
        raise UsageError(
            f"{target.host} is another machine: name the way there by ssh, root@{target.host}", options="--server-ssh"
        )

    if has_commands:
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
