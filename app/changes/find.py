"""Finds a changeable setting by name: Samba's, the kernel's, a card's, or by commands."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.changes.machine_setting import hook_setting, is_nic, is_sysctl, nic_setting, sysctl_setting
from app.changes.samba_setting import samba_setting, socket_option
from app.changes.smb_conf import ChangeableSetting
from app.environment.link.facts import is_this_machine
from app.errors import UsageError
from forms.tuning.smb_conf import spelling, suggestions
from storage.records import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """Access to the server, and what the admin consented to."""

    ssh: str | None = None
    smb_conf: str | None = None
    accepted: tuple[str, ...] = ()
    """Names whose risks are accepted."""
    apply: str | None = None
    revert: str | None = None
    restart: bool = False


def find_setting(name: str, values: Sequence[str], target: Target, ways: Ways) -> ChangeableSetting:
    """All values are checked, nothing is written. Raises ChangeRefusedError, UsageError."""
    if ways.ssh is None and target.host and not is_this_machine(target.host):
        of_samba = not (ways.apply or ways.revert or is_nic(name) or is_sysctl(name) or socket_option(name))
        if of_samba and spelling(name).parameter is None and (close := suggestions(name)):
            raise UsageError(f"Samba has no parameter {name!r}; did you mean {' or '.join(close)}?")
        raise UsageError(
            f"{target.host} is another machine: name the way there by ssh, root@{target.host}", options="--server-ssh"
        )
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
    return samba_setting(
        name, values, target, ssh=ways.ssh, smb_conf=ways.smb_conf, accepted=ways.accepted, restart=ways.restart
    )
