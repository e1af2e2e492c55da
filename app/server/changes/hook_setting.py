"""A setting that commands of the user's change and revert."""

import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

from app.server.changes import machine, script
from app.server.changes.setting import ChangeableSetting
from storage.changes import ChangeKind

APPLIED = "applied"
AS_IT_WAS = "as it was"
"""The values of such a setting: there is no other to read."""

_RUN = "</dev/null >&2"
"""What a command prints is no answer of the script that runs it."""


def hook_setting(name: str, apply: str, revert: str, *, ssh: str | None) -> ChangeableSetting:
    """The server's shell runs both as root. Raises ChangeRefusedError."""

    def plan(change_id: str, _values: Sequence[str]) -> script.ServerChange:
        """Recorded before it is made, so that an interrupted one is reverted too. Both arms write equally to disk."""
        # A file beside the undo script says that the command was begun.
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

    state = script.look(ssh, undo=machine.UNDO)
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
