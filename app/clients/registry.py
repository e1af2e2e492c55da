"""Which client moves bytes by which protocol, as one file or a tree; its libraries are loaded when it is made."""

import builtins
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from time import perf_counter

from app.clients.base import (
    Caller,
    Client,
    Content,
    DirectoryEntry,
    FileMove,
    Files,
    Meter,
    Secrets,
    Sink,
    Transfer,
    call_here,
)
from app.errors import NoSuchFileError, ProtocolError, UsageError
from storage.plan import Settings
from storage.records import ClientFacts, Target

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


FILES_FACT = "tree.files"
_NAMES = "f{:07}"


class TreeClient:
    """A client whose paths are folders of ``count`` files; each is opened, moved and closed, several at a time."""

    def __init__(self, client: Client, files: Files, count: int) -> None:
        self.target = client.target
        self._client, self._files, self._count = client, files, count

    def connect(self) -> None:
        self._client.connect()
        self._files.connect()

    def facts(self) -> ClientFacts:
        return self._client.facts()

    def shares(self) -> builtins.list[str]:
        return self._client.shares()

    def list(self, path: str) -> builtins.list[DirectoryEntry]:
        return self._client.list(path)

    def size(self, path: str) -> int:
        return sum(entry.size_bytes for entry in self._files.list(path))

    def get(self, path: str, meter: Meter, into: Sink | None = None) -> Transfer:
        if into is not None:
            raise UsageError("a tree is not verified", options="leave out --verify")
        found = [FileMove(f"{path}/{entry.name}", entry.size_bytes) for entry in self._files.list(path)]
        return self._moved(found, meter)

    def put(self, path: str, content: Content, meter: Meter) -> Transfer:
        each, began = content.size_bytes // self._count, perf_counter()
        self._files.make_folder(path)
        open_seconds = perf_counter() - began
        made = (
            FileMove(f"{path}/{_NAMES.format(number)}", each, content.block(number * each, each))
            for number in range(self._count)
        )
        return replace(self._moved(made, meter), open_seconds=open_seconds)

    def _moved(self, files: Iterable[FileMove], meter: Meter) -> Transfer:
        moved_bytes, began = 0, meter.start()

        def moved(file: FileMove, count: int) -> None:
            nonlocal moved_bytes
            if count != file.size_bytes:
                raise ProtocolError(f"{file.path}: the file became shorter while it was read; leave it alone")
            moved_bytes += count
            meter.advance(moved_bytes)

        self._files.move_files(files, moved)
        return Transfer(size_bytes=moved_bytes, seconds=meter.clock() - began)

    def digest(self, path: str) -> str:
        raise UsageError(f"{path}: a tree is not verified", options="leave out --verify")

    def remove(self, path: str) -> None:
        with suppress(NoSuchFileError):
            for entry in self._files.list(path):
                self._files.remove(f"{path}/{entry.name}")
            self._files.remove_folder(path)

    def facts_of_path(self) -> dict[str, str | int | float]:
        return {**self._client.facts_of_path(), FILES_FACT: self._count}

    def abort(self) -> None:
        self._client.abort()
        self._files.abort()

    def close(self) -> None:
        self._files.close()
        self._client.close()
