"""Which client moves bytes by which protocol; a client's libraries are loaded when it is made."""

from __future__ import annotations

from importlib import import_module

from app.clients.base import Client, Secrets, Settings
from app.errors import UsageError
from storage.records import Target

OWN = "sharebench"

_CLIENTS = {
    "smb": {
        OWN: "app.clients.smb.client:SMBClient",
        "smbclient": "app.clients.external.smbclient:SmbclientClient",
        "smbclient-ng": "app.clients.external.smbclientng:SmbclientNgClient",
    },
    "ftp": {OWN: "app.clients.ftp.client:FTPClient", "curl": "app.clients.external.curl:CurlClient"},
    "ftps": {OWN: "app.clients.ftp.client:FTPClient", "curl": "app.clients.external.curl:CurlClient"},
    "file": {OWN: "app.clients.local:LocalClient"},
    "iperf3": {"iperf3": "app.clients.iperf3:Iperf3Client"},
}


def client_names(protocol: str) -> tuple[str, ...]:
    """The clients for a protocol, the usual one first."""
    return tuple(_CLIENTS[protocol])


def check_client_name(protocol: str, name: str) -> str:
    """The name of the client to use; the usual one for an empty name. Raises UsageError."""
    names = client_names(protocol)
    if name and name not in names:
        raise UsageError(f"no client {name!r} for {protocol}://; --client takes {', '.join(names)}")
    return name or names[0]


def make_client(
    target: Target, name: str, secrets: Secrets, settings: Settings, size_bytes: int | None = None
) -> Client:
    """The client of that name for the target, not connected yet. Raises UsageError for a name it has not.

    ``size_bytes`` is how much an ``iperf3://`` target moves in a run; no other client needs to be told.
    """
    module, _, kind = _CLIENTS[target.protocol][check_client_name(target.protocol, name)].partition(":")
    make = getattr(import_module(module), kind)
    extra = {"size_bytes": size_bytes} if target.protocol == "iperf3" else {}
    client: Client = make(target, secrets, settings, **extra)
    return client
