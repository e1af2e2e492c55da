"""The folder beside a share in which dbench measures the server's disk.

Users of a share can replace anything in its folder by a link. So dbench never runs as root, and works in a folder that
only root can rename, as can no part of its path. What others could exchange is removed with its owner's rights only.
The shell that does this on the server is folders.sh.
"""

from typing import NamedTuple

from app.base import errors
from app.server import running_program
from app.server import shell as server_shell

NOBODY = 65534
"""The user and the group nobody of most systems."""
_WORK = "work"
"""The folder in ours that dbench works in; beside it lies its script."""
_NO_SAFE_PLACE = 4
"""Exit code of ``find`` in folders.sh; an error of the shell has another."""
_RUN_IN_FOLDER = 'cd -P -- "$1" && shift && exec "$@"'


def _script(verb: str) -> tuple[str, ...]:
    """The words that run folders.sh; ``verb`` is the first of its arguments: find, make, remove or as_nobody."""
    return "sh", "-c", server_shell.script_file("app.isolation", "folders.sh"), "sh", verb


class DiskPlace(NamedTuple):
    """Where dbench works, and as whom."""

    folder: str
    """On the share's file system, in a folder that only root can change."""
    user: int
    """Owner of the share's folder, or nobody; never root."""
    as_user: tuple[str, ...] = ()
    """The words before a command that run it as that user; none where we are not root."""


def find_disk_place(shell: server_shell.ServerShell, share_folder: str, name: str) -> DiskPlace | str:
    """Where dbench can work beside the share; else a sentence that says why nowhere."""
    # It prints a line each: our user, the share's owner, and the folder to work in, or else the one that is not safe.
    answer = shell.run(*_script("find"), share_folder)
    lines = answer.out.split("\n")
    if answer.code not in {0, _NO_SAFE_PLACE} or len(lines) < 4 or not (lines[0] + lines[1]).isdecimal():
        return f"{share_folder} cannot be written there; run this as root, or name the way there by ssh"
    if answer.code == _NO_SAFE_PLACE:
        return (
            f"{lines[2]} belongs to other users or they can write to it, and no folder of root's above it is on the "
            "same file system: whoever can write there could have dbench delete files elsewhere"
        )

    own_user = int(lines[0])
    owner = int(lines[1])
    parent = lines[2].rstrip("/")
    folder = f"{parent}/{name}"
    if own_user:
        return DiskPlace(folder, own_user)

    if not shell.has("setpriv"):
        return f"dbench is not run as root, and setpriv is not installed: {shell.how_to_install('util-linux')}"
    user = owner or NOBODY
    drop = ("setpriv", f"--reuid={user}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs")
    return DiskPlace(folder, user, drop)


def make_disk_folder(shell: server_shell.ServerShell, place: DiskPlace, script: str) -> None:
    """Make the folder with dbench's script in it. Raises MeasurementError."""
    answer = shell.run(*_script("make"), place.folder, str(place.user), stdin=script)
    if answer.code:
        raise errors.MeasurementError(
            f"the folder {place.folder} cannot be made on {shell.where} ({answer.last_words}); run this as root, or"
            " name the way there by ssh"
        )


def start_in(
    shell: server_shell.ServerShell, place: DiskPlace, *words: str, files: tuple[int, ...] = ()
) -> running_program.RunningProgram:
    """Start a program in the folder, as its user; relative paths stay inside even if folders are moved."""
    return shell.start("sh", "-c", _RUN_IN_FOLDER, "sh", f"{place.folder}/{_WORK}", *place.as_user, *words, files=files)


def start_as_nobody(shell: server_shell.ServerShell, program: str) -> running_program.RunningProgram:
    """Start a program without root's rights, if setpriv is installed."""
    return shell.start(*_script("as_nobody"), program)


def remove_folders(shell: server_shell.ServerShell, *folders: str) -> str | None:
    """Returns why they could not be removed; None if they are."""
    answer = shell.run(*_script("remove"), *folders)
    return answer.last_words if answer.code else None
