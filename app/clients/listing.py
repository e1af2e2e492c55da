"""A folder's entries as they arrive, up to what one machine should hold of them."""

from __future__ import annotations

from app.clients.base import DirectoryEntry
from app.errors import ProtocolError

MOST_ENTRIES = 1_000_000
MOST_BYTES = 128 * 1024 * 1024
LISTING_TIMEOUTS = 10
"""So many times ``--timeout`` may a whole list take, however many names come in that time."""


class Listing:
    """The entries so far; a server that never comes to an end is given up."""

    def __init__(self, where: str) -> None:
        self.entries: list[DirectoryEntry] = []
        self.received_bytes = 0
        self._where = where

    def add(self, entry: DirectoryEntry | None, received_bytes: int) -> None:
        """Take an entry (None for a line that is none) and count its bytes. Raises ProtocolError for one too many."""
        self.received_bytes += received_bytes
        if entry is not None and entry.name not in {".", ".."}:
            self.entries.append(entry)
        if len(self.entries) > MOST_ENTRIES or self.received_bytes > MOST_BYTES:
            raise ProtocolError(
                f"{self._where}: the folder's list has no end ({len(self.entries)} names so far); name a file in it, "
                "or look at the server"
            )
