"""Which class moves the bytes of a protocol: sharebench's own client, or one that runs another program.

The classes are named as text, so that the libraries of a protocol are loaded only where it is measured.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pkgutil import resolve_name

from app.base import errors
from app.clients.base import OWN, Caller, Client, Files, Secrets, call_here
from storage import records
from storage.plan import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientModules:
    """Where the code for one protocol is, as ``MODULE:CLASS``."""

    clients: Mapping[str, str]
    """Of each ``Client`` by its name, the default first."""
    files: str | None = None
    """Of ``Files``; None where the protocol moves no files."""
    ceiling: str | None = None
    """The module whose ``ceiling_seconds`` measures how fast our own client could be; None where there is none.

    Its ``random_bytes_per_second`` does so for random requests, where the protocol has them.
    """


_OWN_FTP = "app.clients.ftp.client:FTPClient"
_LOCAL = "app.clients.local:LocalClient"
_FTP = ClientModules(
    clients={OWN: _OWN_FTP, "curl": "app.clients.curl:CurlClient"},
    files=_OWN_FTP,
    ceiling="app.clients.ftp.ceiling",
)
MODULES = {
    "smb": ClientModules(
        clients={
            OWN: "app.clients.smb.client:SMBClient",
            "smbclient": "app.clients.smbclient:SmbclientClient",
            "smbclient-ng": "app.clients.smbclientng:SmbclientNgClient",
        },
        files="app.clients.smb.files:SMBFiles",
        ceiling="app.clients.smb.ceiling",
    ),
    "ftp": _FTP,
    "ftps": _FTP,
    "file": ClientModules(clients={OWN: _LOCAL}, files=_LOCAL, ceiling="app.clients.local_ceiling"),
    "iperf3": ClientModules(clients={"iperf3": "app.clients.iperf3:Iperf3Client"}),
}


def check_client_name(protocol: str, name: str) -> str:
    """The name, or the default if empty. Raises UsageError."""
    names = tuple(MODULES[protocol].clients)
    if name and name not in names:
        raise errors.UsageError(
            f"no client {name!r} for {protocol}://: there are {', '.join(names)}", options="--client NAME"
        )
    return name or names[0]


def make_client(
    target: records.Target, name: str, secrets: Secrets, settings: Settings, size_bytes: int | None = None
) -> Client:
    """A client that is not connected yet; ``size_bytes`` is what one that moves no files is to move, such as iperf3.

    Raises UsageError for an unknown name.
    """
    make: Callable[..., Client] = resolve_name(
        MODULES[target.protocol].clients[check_client_name(target.protocol, name)]
    )
    if target.abilities.moves_files:
        return make(target, secrets, settings)
    return make(target, secrets, settings, size_bytes=size_bytes)


def make_files(target: records.Target, secrets: Secrets, settings: Settings, call: Caller = call_here) -> Files:
    """A user's connection that is not connected yet; local files are asked for through ``call``.

    Raises UsageError for a protocol without files.
    """
    place = MODULES[target.protocol].files
    if place is None:
        raise errors.UsageError(f"{target.protocol}:// has no files; take an smb://, ftp:// or file:// target")

    make: Callable[..., Files] = resolve_name(place)
    if target.abilities.is_local:
        return make(target, secrets, settings, call)
    return make(target, secrets, settings)


@contextlib.contextmanager
def connected_files(
    target: records.Target, secrets: Secrets, settings: Settings, call: Caller = call_here
) -> Iterator[Files]:
    with contextlib.closing(make_files(target, secrets, settings, call)) as files:
        files.connect()
        yield files
