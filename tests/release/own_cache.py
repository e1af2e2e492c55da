"""Placed into sharebench.pyz in front of shiv's own start: it unpacks into a folder of this user's alone.

shiv unpacks into ``~/.shiv`` and runs what lies there already. With another user's HOME (``sudo`` keeps it in some
set-ups) that is that user's, and so would be what root runs.
"""

import os
import pwd
import stat
import tempfile
from pathlib import Path


def is_own(folder: Path) -> bool:
    """Whether only this user and root can have put something there, or can replace a folder above it."""
    existing = (path for path in (folder, *folder.parents) if path.exists())
    return all(map(_is_safe, existing))


def _is_safe(folder: Path) -> bool:
    status = folder.stat()
    if status.st_uid not in {0, os.geteuid()}:
        return False
    if status.st_mode & stat.S_ISVTX:
        return True
    by_others = status.st_mode & stat.S_IWOTH
    by_another_group = status.st_mode & stat.S_IWGRP and status.st_gid not in {0, os.getegid()}
    return not by_others and not by_another_group


def choose() -> None:
    """Set SHIV_ROOT where the usual folder is not this user's: below the home that the system knows, or a new one."""
    usual = Path(os.environ.get("SHIV_ROOT") or "~/.shiv").expanduser()
    if is_own(Path(os.path.realpath(usual))):
        return

    home = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    root = Path(os.path.realpath(home / ".shiv"))
    if not is_own(root) or not os.access(home, os.W_OK):
        root = Path(tempfile.mkdtemp(prefix="sharebench-"))
    os.environ["SHIV_ROOT"] = str(root)


choose()
