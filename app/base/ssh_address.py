"""What may stand for a host where ssh leads to."""

import re

from app.base.errors import PasswordInURLError, UsageError

FROM_OPTION = "--from"
"""Names the machine that measures."""
_NAME = r"[^\s\x00-\x1f\x7f-\x9f:@/-][^\s\x00-\x1f\x7f-\x9f:@/]*"
_SSH_HOST = re.compile(rf"(?:{_NAME}(?:@{_NAME})?@)?(?:{_NAME}|\[?[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:%[\w.]+)?\]?)")
"""``[USER@]HOST``, IPv6 included; nothing that ssh takes for an option, a port or a password."""
_SSH_PORT = re.compile(r":\d+$")


def check_ssh_host(text: str, options: str = "--server-ssh") -> None:
    """``[USER@]HOST`` or an ``ssh://`` URL. Raises UsageError, which never repeats the text."""
    is_url = text.startswith("ssh://")
    login = text.removeprefix("ssh://").rpartition("@")[0]
    if ":" in login or (is_url and "%3a" in login.lower()):
        raise PasswordInURLError(
            "a password does not belong in the name for ssh: `ssh HOST true` must work without one", options=options
        )
    address = text.removeprefix("ssh://").rstrip("/")
    if not _SSH_HOST.fullmatch(_SSH_PORT.sub("", address) if is_url else text):
        raise UsageError("for ssh write [USER@]HOST; ports and keys belong in ~/.ssh/config", options=options)
