"""Changes by two commands of the admin: one applies, one reverts."""

import shlex
from pathlib import PurePosixPath

from app.changes import sysctl
from app.changes.script import ServerChange
from app.changes.server import look
from app.changes.setting import ChangeableSetting
from app.changes.sysctl import effective_value
from storage.changes import ChangeKind

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
        put_back=back,
        look=(
            f"section effective\nif [ -e {note} ]; then echo {APPLIED}; else echo {shlex.quote(AS_IT_WAS)}; fi\n"
            "section effective.rc\necho 0\n"
        ),
        seconds=600,
    )
