"""The bytes that a put sends: random, so that neither compression nor deduplication flatters the server."""

import hashlib
import os

MAX_BLOCK_BYTES = 8 * 1024 * 1024
"""The longest block that :meth:`Content.block` gives."""

_PERIOD = MAX_BLOCK_BYTES - 4099
"""The bytes repeat after this; no multiple of a file system's block, so that equal blocks never line up."""


class Content:
    """A file's worth of incompressible bytes, in 16 MiB of memory whatever its size."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        period = os.urandom(_PERIOD)
        self._pool = memoryview(b"".join((period, period, period[: MAX_BLOCK_BYTES - _PERIOD])))

    def block(self, offset: int, length: int) -> memoryview:
        """The ``length`` bytes (at most MAX_BLOCK_BYTES) at ``offset``, without copying."""
        start = offset % _PERIOD
        return self._pool[start : start + length]

    def digest(self) -> str:
        """The SHA-256 of all ``size_bytes``, in hexadecimal."""
        sha = hashlib.sha256()
        for offset in range(0, self.size_bytes, MAX_BLOCK_BYTES):
            sha.update(self.block(offset, min(MAX_BLOCK_BYTES, self.size_bytes - offset)))
        return sha.hexdigest()
