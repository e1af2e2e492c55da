"""Finds a changeable setting by name: Samba's, the kernel's, a card's, or by commands."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from app.changes import sysctl
from app.changes.nic import is_nic, nic_setting
from app.changes.samba_setting import samba_setting, socket_option
from app.changes.script import ServerChange
from app.changes.server import look
from app.changes.smb_conf import ChangeableSetting
from app.changes.sysctl import effective_value, is_sysctl, sysctl_setting
from app.environment.link.facts import is_this_machine
from app.errors import UsageError
from forms.tuning.smb_conf import spelling, suggestions
from storage.changes import ChangeKind
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


APPLIED = "applied"
AS_IT_WAS = "as it was"
_RUN = "</dev/null >&2"


def hook_setting(name: str, apply: str, revert: str, *, ssh: str | None) -> ChangeableSetting:
    """The server's shell runs both as root. Raises ChangeRefusedError."""
    state = look(ssh, undo=sysctl.UNDO)
    return ChangeableSetting(
        kind=ChangeKind.HOOK,
        name=name,
        section="",
        previous=AS_IT_WAS,
        machine=state.machine,
        ssh=ssh,
        values=(APPLIED,),
        managers=state.managers,
        writes=(f"run: {apply}", f"to revert it: {revert}"),
        undo_path=sysctl.UNDO,
        plan=lambda change_id, _values: _plan(change_id, name, apply, revert),
        effective=effective_value,
        same=lambda effective, value: effective == value,
    )


def _plan(change_id: str, name: str, apply: str, revert: str) -> ServerChange:
    """The change is recorded before it is made, so that an interrupted one is reverted too. Both arms write equally to
    disk.
    """
    note = PurePosixPath(sysctl.UNDO).with_name(f"applied-{change_id}")
    back = f"if [ -e {note} ]; then\nif sh -c {shlex.quote(revert)} {_RUN}; then rm -f {note}; else broken=yes; fi\nfi"
    flush, do = f"flush {note.parent}", f"sh -c {shlex.quote(apply)} {_RUN}"
    return ServerChange(
        id=change_id,
        title=f"{name} by a command",
        undo_path=sysctl.UNDO,
        check=":",
        before=":",
        begin=f"mkdir -p {note.parent}",
        arms=(
            f"{back}\n{flush}",
            f"if [ ! -e {note} ]; then\n{{ (: >{note}) && {flush} && {do}; }} || broken=yes\nfi\n{flush}",
        ),
        restore=back,
        look=(
            f"section effective\nif [ -e {note} ]; then echo {APPLIED}; else echo {shlex.quote(AS_IT_WAS)}; fi\n"
            "section effective.rc\necho 0\n"
        ),
        seconds=600,
    )
