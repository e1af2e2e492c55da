"""The commands that stand in for a screen where the guide asks line by line."""

import shlex
from collections.abc import Mapping

from app.load.spec import USUAL_USERS


def commands_for_screens(arguments: Mapping[str, object]) -> dict[str, str]:
    """What to type in place of a screen."""
    target = shlex.quote(str(arguments.get("target", "")))
    ssh = str(arguments.get("ssh", ""))
    server = f" --server-ssh {shlex.quote(ssh)}" if ssh else ""
    return {
        "quick": "The four lines that everybody quotes: sharebench quick TARGET, such as smb://alice@nas/public",
        "survey": "Everything at once: sharebench survey HOST --smb SHARE/FOLDER --ftp FOLDER --user USER",
        "audit": "The server's settings: sharebench audit TARGET --server-ssh [USER@]HOST",
        "load": f"Many users at once: sharebench load {target} --users {USUAL_USERS} --scenario office{server}",
    }
