"""Pieces of a file that tell two files of the same size apart, whatever its blocks are."""

import os
import random

import pytest

from app.recording.content_sample import PIECES, ContentSample

SIZE_BYTES = 3 * 2**20 + 7


def checksum_of(content: bytes, block_bytes: int, order: random.Random | None = None) -> str:
    sample = ContentSample(len(content))
    offsets = list(range(0, len(content), block_bytes))
    if order:
        order.shuffle(offsets)
    for offset in offsets:
        sample(offset, memoryview(content)[offset : offset + block_bytes])
    return sample.checksum


@pytest.mark.parametrize("size_bytes", [1, PIECES - 1, PIECES, PIECES + 1, 5000, 2**18, SIZE_BYTES])
def test_blocks_of_any_size_in_any_order_have_one_checksum(size_bytes: int):
    content = os.urandom(size_bytes)
    checksum = checksum_of(content, size_bytes)
    assert checksum
    for block_bytes in (size_bytes // 3 + 1, size_bytes // 7 + 1, 4097):
        assert checksum_of(content, block_bytes, random.Random(1)) == checksum


@pytest.mark.parametrize("place", [0, SIZE_BYTES - 1])
def test_the_first_and_the_last_byte_are_among_the_pieces(place: int):
    content = bytearray(SIZE_BYTES)
    checksum = checksum_of(bytes(content), 65536)
    content[place] = 1
    assert checksum_of(bytes(content), 65536) != checksum


def test_there_is_none_where_a_block_is_missing():
    sample = ContentSample(SIZE_BYTES)
    sample(0, memoryview(bytes(SIZE_BYTES - 1)))
    assert sample.checksum == ""
    sample(SIZE_BYTES - 1, memoryview(b"x"))
    assert sample.checksum
