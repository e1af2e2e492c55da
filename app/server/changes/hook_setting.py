"""A setting that two commands of the user change and restore: ``--apply`` and ``--revert`` of ``try``."""

import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

from app.server.changes import machine, script
from app.server.changes.setting import ChangeableSetting
from storage.changes import ChangeKind

APPLIED = "applied"
AS_IT_WAS = "as it was"
"""The two values of such a setting, since there is no value to read: whether the command was run."""

_RUN = "</dev/null >&2"
"""What a command prints is no answer of the script that runs it."""


def hook_setting(name: str, apply: str, revert: str, *, ssh: str | None) -> ChangeableSetting:
    """The setting ``name``, for which the server's shell runs both commands as root. Raises ChangeRefusedError."""
    state = script.server_state(ssh, undo=machine.UNDO)

    def plan(change_id: str, _values: Sequence[str]) -> script.ServerChange:
        return _plan_hook(change_id, name, apply, revert)

    return ChangeableSetting(
        kind=ChangeKind.HOOK,
        name=name,
        section="",
        previous=AS_IT_WAS,
        values=(APPLIED,),
        writes=(f"run: {apply}", f"to revert it: {revert}"),
        machine=state.machine,
        ssh=ssh,
        managers=state.managers,
        undo_path=machine.UNDO,
        plan=plan,
        effective=machine.effective_value,
        same=machine.is_same,
    )


def _plan_hook(change_id: str, name: str, apply: str, revert: str) -> script.ServerChange:
    """The shell text of the change, in the parts that `script.ServerChange` describes.

    The first arm reverts what the command did, the second runs the command. A file beside the undo script notes that
    the command was begun: it is written before, so that a command that was interrupted is reverted too. Both arms write
    to the disk (``flush`` of ``undo.sh``), so that neither of the two values has that to do alone.
    """
    note = PurePosixPath(machine.UNDO).with_name(f"applied-{change_id}")
    flush = f"flush {note.parent}"
    run_apply = f"sh -c {shlex.quote(apply)} {_RUN}"
    run_revert = f"sh -c {shlex.quote(revert)} {_RUN}"

    restore = f"if [ -e {note} ]; then\nif {run_revert}; then rm -f {note}; else broken=yes; fi\nfi"
    return script.ServerChange(
        id=change_id,
        title=f"{name} by a command",
        undo_path=machine.UNDO,
        check=":",
        before=":",
        begin=f"mkdir -p {note.parent}",
        arms=(
            f"{restore}\n{flush}",
            f"if [ ! -e {note} ]; then\n{{ (: >{note}) && {flush} && {run_apply}; }} || broken=yes\nfi\n{flush}",
        ),
        restore=restore,
        look=(
            f"section effective\nif [ -e {note} ]; then echo {APPLIED}; else echo {shlex.quote(AS_IT_WAS)}; fi\n"
            "section effective.rc\necho 0\n"
        ),
        seconds=600,
    )
