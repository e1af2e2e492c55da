"""A client whose transfers another program makes, and whose listing and tidying our own client does."""

import builtins

from app.clients.base import Client, DirectoryEntry
from app.clients.subprocesses import SourceFile, Subprocess
from app.errors import AccessDeniedError, NoSuchFileError, NotAFileError
from storage.records import Target


class ExternalClient:
    """What all clients for external programs share; ``own`` is our client for the same target."""

    def __init__(self, own: Client) -> None:
        self._own = own
        self._program = Subprocess()
        self._source = SourceFile()

    @property
    def target(self) -> Target:
        """The target of both."""
        return self._own.target

    @target.setter
    def target(self, target: Target) -> None:
        self._own.target = target

    def shares(self) -> list[str]:
        return self._own.shares()

    def list(self, path: str) -> builtins.list[DirectoryEntry]:
        return self._own.list(path)

    def size(self, path: str) -> int:
        return self._own.size(path)

    def digest(self, path: str) -> str:
        """The SHA-256 of the file as our own client reads it."""
        return self._own.digest(path)

    def remove(self, path: str) -> None:
        self._own.remove(path)

    def facts_of_path(self) -> dict[str, str | int | float]:
        """Facts of our own connection to the same server."""
        return self._own.facts_of_path()

    def abort(self) -> None:
        """End the program that runs, and our own connection."""
        self._program.abort()
        self._own.abort()

    def close(self) -> None:
        """Let the source file and our own connection go."""
        self._source.close()
        self._own.close()

    def _size_to_get(self, path: str, where: str) -> int:
        size_bytes = self._own.size(path)
        if not size_bytes:
            raise NotAFileError(f"{where}: the file is empty; name one with something in it")
        return size_bytes

    def _must_be_new(self, path: str, where: str) -> None:
        try:
            self._own.size(path)
        except NoSuchFileError:
            return
        raise AccessDeniedError(f"{where}: there is a file already, and none is replaced; name another folder")
