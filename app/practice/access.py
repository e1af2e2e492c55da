"""Who may use the practice servers: the user who started them, after a login, and nobody else of this machine."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LOCAL = 1
_REMOTE = 2
_USER = 7
"""Columns of the kernel's tables of TCP sockets. Source: Linux, Documentation/networking/proc_net_tcp.rst."""
_ROOT = 0
"""Also the owner of a socket whose program has closed it already."""

_EVERY_COMMAND = 256
_ANY_OTHER_COMMAND = 0xFF
"""impacket's name for those that it does not know."""
_LOGON_FAILURE = 0xC000006D
_SUCCESS = 0


def is_of_another_user(peer_port: int, own_port: int) -> bool:
    """Whether the other end of a connection on this machine is a socket of neither root nor us."""
    for table in _TABLES:
        try:
            lines = Path(table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:  # no Linux: the password alone has to do
            continue
        for columns in map(str.split, lines):
            if _port(columns[_LOCAL]) == peer_port and _port(columns[_REMOTE]) == own_port:
                return int(columns[_USER]) not in {_ROOT, os.geteuid()}
    return False


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)


Answer = Callable[..., Any]
"""impacket's handler of one command."""


def let_in_only(user: str, server: Any) -> None:
    """Have impacket's SMB server answer nothing before ``user`` has logged in.

    By itself it takes a session without a name even where it knows credentials, and after any answer to a login, also
    a refusal, it answers all that is asked; in a compound of requests it looks at the first one alone.
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
    def answer(connection: str, server: Any, packet: Any) -> Any:
        if not server.getConnectionData(connection, checkStatus=False)["Authenticated"]:
            raise PermissionError("not logged in")
        return original(connection, server, packet)

    return answer
