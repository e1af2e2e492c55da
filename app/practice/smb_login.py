"""Lets only one user into impacket's SMB server, and only after a login."""

from collections.abc import Callable
from typing import Any

# SMB 1 has commands 0 to 255.
_EVERY_COMMAND = 256
_ANY_OTHER_COMMAND = 0xFF
"""impacket's name for those that it does not know."""
_LOGON_FAILURE = 0xC000006D
_SUCCESS = 0

Answer = Callable[..., Any]
"""impacket's handler of one command."""


def let_in_only(user: str, server: Any) -> None:
    """Have impacket's SMB server answer nothing before ``user`` has logged in.

    By itself impacket takes a session without a user name even where it was given credentials. After any answer to a
    login, a refusal too, it answers whatever is asked; in a compound of requests it checks the first one alone. So each
    handler of a command is replaced by one that checks first. ``hookSmb2Command`` sets a handler and returns the one
    before; with None it just returns it.
    """
    from impacket import smb3structs

    def refuse_old_dialect(*_: Any) -> None:
        raise PermissionError("SMB 1 is not spoken here")

    for command in range(_EVERY_COMMAND):
        server.hookSmbCommand(command, refuse_old_dialect)
    before_login = {smb3structs.SMB2_NEGOTIATE, smb3structs.SMB2_SESSION_SETUP}
    for command in (*range(smb3structs.SMB2_SET_INFO + 1), _ANY_OTHER_COMMAND):
        if command not in before_login:
            server.hookSmb2Command(command, _after_login(server.hookSmb2Command(command, None)))
    log_in = server.hookSmb2Command(smb3structs.SMB2_SESSION_SETUP, None)
    server.hookSmb2Command(smb3structs.SMB2_SESSION_SETUP, _login(log_in, user))


def _login(original: Answer, user: str) -> Answer:
    """The handler of SESSION_SETUP: refuses every other user, and notes whether this one is logged in."""

    def answer(connection: str, server: Any, packet: Any) -> Any:
        commands, packets, status = original(connection, server, packet)
        session = server.getConnectionData(connection, checkStatus=False)
        is_user = session.get("user_name", "").lower() == user.lower()
        session["Authenticated"] = status == _SUCCESS and is_user
        if status == _SUCCESS and not is_user:
            status = _LOGON_FAILURE
        return commands, packets, status

    return answer


def _after_login(original: Answer) -> Answer:
    """The handler of a command that is answered after a login alone."""

    def answer(connection: str, server: Any, packet: Any) -> Any:
        if not server.getConnectionData(connection, checkStatus=False)["Authenticated"]:
            raise PermissionError("not logged in")
        return original(connection, server, packet)

    return answer
