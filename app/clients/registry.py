"""Which client moves bytes by which protocol; a client's libraries are loaded when it is made."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

from app.clients.base import Caller, Client, Files, Secrets, call_here
from app.errors import UsageError
from storage.plan import Settings
from storage.records import Target

OWN = "sharebench"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientModules:
    """Where the code for one protocol is, as ``MODULE:CLASS``."""

    clients: Mapping[str, str]
    """By client name, the default first."""
    files: str | None = None
    ceiling: str | None = None


_FTP = ClientModules(
    clients={OWN: "app.clients.ftp.client:FTPClient", "curl": "app.clients.curl:CurlClient"},
    files="app.clients.ftp.client:FTPClient",
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
        ceiling="app.clients.smb.null_server",
    ),
    "ftp": _FTP,
    "ftps": _FTP,
    "file": ClientModules(
        clients={OWN: "app.clients.local:LocalClient"},
        files="app.clients.local:LocalClient",
        ceiling="app.clients.local",
    ),
    "iperf3": ClientModules(clients={"iperf3": "app.clients.iperf3:Iperf3Client"}),
}


def client_names(protocol: str) -> tuple[str, ...]:
    """The default comes first."""
    return tuple(MODULES[protocol].clients)


def check_client_name(protocol: str, name: str) -> str:
    """The name, or the default if empty. Raises UsageError."""
    names = client_names(protocol)
    if name and name not in names:
        raise UsageError(f"no client {name!r} for {protocol}://: there are {', '.join(names)}", options="--client NAME")
    return name or names[0]


def make_client(
    target: Target, name: str, secrets: Secrets, settings: Settings, size_bytes: int | None = None
) -> Client:
    """Not connected yet; ``size_bytes`` is for clients that move no file. Raises UsageError for an unknown name."""
    module, _, kind = MODULES[target.protocol].clients[check_client_name(target.protocol, name)].partition(":")
    make = getattr(import_module(module), kind)
    extra = {} if target.abilities.moves_files else {"size_bytes": size_bytes}
    client: Client = make(target, secrets, settings, **extra)
    return client


def make_files(target: Target, secrets: Secrets, settings: Settings, call: Caller = call_here) -> Files:
    """Not connected yet; ``call`` runs blocking calls. Raises UsageError for a protocol without files."""
    place = MODULES[target.protocol].files
    if place is None:
        raise UsageError(f"{target.protocol}:// has no files; take an smb://, ftp:// or file:// target")
    module, _, kind = place.partition(":")
    make = getattr(import_module(module), kind)
    files: Files = (
        make(target, secrets, settings, call) if target.abilities.is_local else make(target, secrets, settings)
    )
    return files
