"""Commands that several subjects advise, as one types them."""

import shlex

from storage.plan import MonitorChoices
from storage.records import Target, format_target


def audit_command(target: Target, monitor: MonitorChoices) -> str:
    """The command that judges all settings of the target's server, by the way there that is known."""
    words = ["sharebench", "audit", format_target(target)]
    if monitor.server_ssh:
        words += ["--server-ssh", monitor.server_ssh]
    if monitor.smb_conf:
        words += ["--smb-conf", monitor.smb_conf]
    return shlex.join(words)


def clean_command(folder: Target) -> str:
    """The command that removes what sharebench left in that folder."""
    return shlex.join(["sharebench", "clean", format_target(folder)])
