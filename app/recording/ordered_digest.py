"""The checksum of a file whose blocks arrive in any order."""

import hashlib

from app.base.errors import ProtocolError

MOST_EARLY_BYTES = 128 * 1024 * 1024
"""Eight times what is asked for at once by default: so far no honest server is out of order."""


class OrderedDigest:
    """SHA-256 of a file whose blocks come in any order; called with each block.

    A block that comes before those in front of it is kept until they have come, up to a limit.
    """

    def __init__(self, where: str = "", most_early_bytes: int = MOST_EARLY_BYTES) -> None:
        """``where`` is for the error."""
        self._where = where
        self._sha = hashlib.sha256()
        self._next_offset = 0
        self._early_blocks: dict[int, bytes] = {}
        self._early_bytes = 0
        self._most_early_bytes = most_early_bytes

    def __call__(self, offset: int, block: memoryview) -> None:
        """Raises ProtocolError if the server holds back a block for so long that the others fill the memory."""
        self._early_blocks[offset] = bytes(block)
        self._early_bytes += len(block)

        while self._next_offset in self._early_blocks:
            next_block = self._early_blocks.pop(self._next_offset)
            self._early_bytes -= len(next_block)
            self._sha.update(next_block)
            self._next_offset += len(next_block)

        if self._early_bytes > self._most_early_bytes:
            raise ProtocolError(
                f"{self._where}: the server holds back the byte at {self._next_offset} and has sent"
                f" {self._early_bytes} bytes behind it; see its log, and look for what is in between"
            )

    def hexdigest(self) -> str:
        return self._sha.hexdigest()
