"""Base of the clients that have another program move the bytes: curl, smbclient, smbclient-ng."""

from typing import Any

from app.base import errors
from app.clients import base
from app.clients.programs import SourceFile, Subprocess
from storage.plan import Settings


class ExternalClient:
    """A client whose transfers a program makes; ``own_client``, sharebench's for the same target, does all else.

    A subclass writes ``connect``, ``facts``, ``get`` and ``put``; whatever it does not have is asked of the own client.
    """

    def __init__(self, own_client: base.Client, secrets: base.Secrets, settings: Settings) -> None:
        self._own = own_client
        self._secrets = secrets
        self._settings = settings
        self._program = Subprocess()
        self._source = SourceFile()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def abort(self) -> None:
        self._program.abort()
        self._own.abort()

    def close(self) -> None:
        self._source.close()
        self._own.close()

    def _size_to_get(self, path: str, where: str) -> int:
        """In bytes. Raises NotAFileError for an empty file."""
        size_bytes = self._own.size(path)
        if not size_bytes:
            raise errors.NotAFileError(f"{where}: the file is empty; name one with something in it")
        return size_bytes

    def _must_be_new(self, path: str, where: str) -> None:
        """Raises AccessDeniedError where there is a file of that name."""
        try:
            self._own.size(path)
        except errors.NoSuchFileError:
            return
        raise errors.AccessDeniedError(f"{where}: there is a file already, and none is replaced; name another folder")
