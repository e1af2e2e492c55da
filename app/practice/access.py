"""Whose a connection to a practice server is: nobody but the user who started the servers, or root, may connect."""

import os
from pathlib import Path

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LOCAL = 1
_REMOTE = 2
_USER = 7
"""Columns of the kernel's tables of TCP sockets. Source: Linux, Documentation/networking/proc_net_tcp.rst."""
_ROOT = 0
"""Also the owner of a socket whose program has closed it already."""


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
