"""A few pieces of a file, to tell that two files of the same size are not the same."""

import bisect
import hashlib

PIECES = 64
PIECE_BYTES = 4096


class ContentSample:
    """Takes pieces that are spread evenly over a file out of its blocks, which come in any order and of any size.

    It is called with each block; most of them have none of the pieces, which one search tells.
    """

    def __init__(self, size_bytes: int) -> None:
        self._piece_bytes = min(PIECE_BYTES, -(-size_bytes // PIECES))
        last_offset = size_bytes - self._piece_bytes
        self._offsets = sorted({last_offset * number // (PIECES - 1) for number in range(PIECES)})
        self._pieces = [bytearray(self._piece_bytes) for _ in self._offsets]
        self._missing_bytes = len(self._offsets) * self._piece_bytes

    def __call__(self, offset: int, block: memoryview) -> None:
        end = offset + len(block)
        first = bisect.bisect_right(self._offsets, offset - self._piece_bytes)
        last = bisect.bisect_left(self._offsets, end)
        for index in range(first, last):
            self._take(index, offset, block)

    def _take(self, index: int, offset: int, block: memoryview) -> None:
        """Take what the block at this offset has of a piece."""
        piece_offset = self._offsets[index]
        begin = max(offset, piece_offset)
        end = min(offset + len(block), piece_offset + self._piece_bytes)
        self._pieces[index][begin - piece_offset : end - piece_offset] = block[begin - offset : end - offset]
        self._missing_bytes -= end - begin

    @property
    def checksum(self) -> str:
        """The first digits of their SHA-256; empty where not all of them came, as from a client that hands on none."""
        if self._missing_bytes:
            return ""
        return hashlib.sha256(b"".join(self._pieces)).hexdigest()[:16]
