"""Make and remove an isolation's folders on the server.

Users of a share can replace anything in its folder by a link. So dbench never runs as root, and works in a folder that
only root can rename, as can no part of its path. What others could exchange is removed with its owner's rights only.
"""

from dataclasses import replace
from pathlib import PurePosixPath
from typing import NamedTuple

from app.environment.samba.control import SmbdControl
from app.errors import MeasurementError
from app.server.shell import RunningProgram, ServerShell, script_file
from app.targets import is_isolation_folder
from storage.isolations import LeftBehind
from storage.notebook import Notebook
from storage.records import Target, format_target

NOBODY = 65534
"""User and group without any rights."""
_WORK = "work"
_NO_SAFE_PLACE = 4
"""Exit code of ``folders.sh``."""
_IN = 'cd -P -- "$1" && shift && exec "$@"'


def _script(verb: str) -> tuple[str, ...]:
    return "sh", "-c", script_file("app.isolation", "folders.sh"), "sh", verb


class DiskPlace(NamedTuple):
    """Where dbench works."""

    folder: str
    """On the share's file system, in a folder that only root can change."""
    user: int
    """Owner of the share's folder, or nobody; never root."""
    as_user: tuple[str, ...] = ()
    """Command prefix to run as that user."""


def find_disk_place(shell: ServerShell, share_folder: str, name: str) -> DiskPlace | str:
    """A safe place for a folder of that name, or why there is none."""
    said = shell.run(*_script("find"), share_folder)
    lines = said.out.split("\n")
    if said.code not in {0, _NO_SAFE_PLACE} or len(lines) < 4 or not (lines[0] + lines[1]).isdecimal():
        return f"{share_folder} cannot be written there; run this as root, or name the way there by ssh"
    me, owner = int(lines[0]), int(lines[1])
    if said.code == _NO_SAFE_PLACE:
        return (
            f"{lines[2]} belongs to other users or they can write to it, and no folder of root's above it is on the "
            "same file system: whoever can write there could have dbench delete files elsewhere"
        )
    folder = f"{lines[2].rstrip('/')}/{name}"
    if me:
        return DiskPlace(folder, me)
    if not shell.has("setpriv"):
        return f"dbench is not run as root, and setpriv is not installed: {shell.how_to_install('util-linux')}"
    user = owner or NOBODY
    drop = ("setpriv", f"--reuid={user}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs")
    return DiskPlace(folder, user, drop)


def make_disk_folder(shell: ServerShell, place: DiskPlace, script: str) -> None:
    """Make the folder with dbench's script in it. Raises MeasurementError."""
    said = shell.run(*_script("make"), place.folder, str(place.user), stdin=script)
    if said.code:
        raise MeasurementError(
            f"the folder {place.folder} cannot be made on {shell.where} ({said.last_words}); run this as root, or name "
            "the way there by ssh"
        )


def start_in(shell: ServerShell, place: DiskPlace, *words: str, files: tuple[int, ...] = ()) -> RunningProgram:
    """Start a program in the folder, as its user; relative paths stay inside even if folders are moved."""
    return shell.start("sh", "-c", _IN, "sh", f"{place.folder}/{_WORK}", *place.as_user, *words, files=files)


def start_as_nobody(shell: ServerShell, program: str) -> RunningProgram:
    """Start a program without root's rights, if setpriv is installed."""
    return shell.start(*_script("as_nobody"), program)


def remove_folders(shell: ServerShell, *folders: str) -> str | None:
    """Remove an isolation's folders. Returns why one of them stays."""
    said = shell.run(*_script("remove"), *folders)
    return said.last_words if said.code else None


def restore_server(left: LeftBehind) -> tuple[LeftBehind, list[str]]:
    """Restore what can be reached. Returns what is still to do, and why."""
    shell, problems = ServerShell(left.ssh), []
    folders = tuple(folder for folder in left.server_folders if is_isolation_folder(PurePosixPath(folder).name))
    if folders:
        if why := remove_folders(shell, *folders):
            problems.append(f"{', '.join(folders)} on {shell.where} could not be removed: {why}")
        else:
            left = replace(left, server_folders=(), share_folder=None)
    if left.profiling is not None:
        try:
            SmbdControl(shell, left.smb_conf).set_level(left.profiling)
            left = replace(left, profiling=None)
        except MeasurementError as error:
            problems.append(str(error))
    return left, problems


def on_the_share(folder: str, target: Target) -> str:
    """What to do about a leftover folder on the share."""
    return f"{folder} may still be on the share {format_target(target)}: delete it there"


def restore_after_kills(notebook: Notebook) -> list[str]:
    """Restore what killed isolations changed. Returns successes and failures, one line each."""
    said = []
    for head in notebook.isolations():
        if head.left_behind.nothing or head.running:
            continue
        left, problems = restore_server(head.left_behind)
        if left.share_folder:
            problems.append(on_the_share(left.share_folder, head.target))
        notebook.update_isolation(replace(head, left_behind=replace(left, share_folder=None)))
        said += [f"isolation {head.id} was interrupted: {problem}" for problem in problems]
        if not problems:
            said.append(f"isolation {head.id} was interrupted: its folders are removed and smbd is as it was")
    return said
