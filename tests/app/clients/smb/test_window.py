"""How much is asked for at once, from what the server allows and the user asks."""

import pytest

from app.clients.base import MAX_BLOCK_BYTES
from app.clients.smb import wire
from app.clients.smb.negotiate import Negotiated
from app.clients.smb.transfer import DEFAULT_BLOCK_BYTES, DEFAULT_IN_FLIGHT, charge, choose_window

KIB, MIB = 1 << 10, 1 << 20


def agreed(dialect: int = wire.SMB_3_1_1, capabilities: int = wire.CAP_LARGE_MTU) -> Negotiated:
    return Negotiated(
        dialect=dialect,
        security_mode=1,
        capabilities=capabilities,
        server_guid=bytes(16),
        max_transact_bytes=8 * MIB,
        max_read_bytes=8 * MIB,
        max_write_bytes=8 * MIB,
        token=b"",
    )


@pytest.mark.parametrize(("length", "cost"), [(1, 1), (65536, 1), (65537, 2), (MIB, 16), (8 * MIB, 128)])
def test_charge_is_one_credit_for_each_64_kib_begun(length, cost):
    assert charge(length) == cost


@pytest.mark.parametrize(
    ("maximum", "credits_left", "block", "depth", "expected"),
    [
        pytest.param(8 * MIB, 8192, None, None, (DEFAULT_BLOCK_BYTES, DEFAULT_IN_FLIGHT), id="plenty"),
        pytest.param(MIB, 8192, None, None, (MIB, DEFAULT_IN_FLIGHT), id="a server that stops at 1 MiB"),
        pytest.param(8 * MIB, 16, None, None, (4 * 64 * KIB, 4), id="few credits make blocks smaller first"),
        pytest.param(8 * MIB, 2, None, None, (64 * KIB, 2), id="then fewer are in flight"),
        pytest.param(8 * MIB, 1, None, None, (64 * KIB, 1), id="one credit"),
        pytest.param(8 * MIB, 8192, 100_000, 9, (100_000, 9), id="as asked"),
        pytest.param(8 * MIB, 8192, 64 * MIB, 1, (MAX_BLOCK_BYTES, 1), id="no larger than content gives"),
        pytest.param(8 * MIB, 40, MIB, 4, (MIB, 2), id="a block that is asked for stays"),
        pytest.param(8 * MIB, 10, MIB, 4, (10 * 64 * KIB, 1), id="as far as the credits go"),
    ],
)
def test_windows(maximum, credits_left, block, depth, expected):
    window = choose_window(agreed(), maximum, credits_left, block, depth)
    assert (window.block_bytes, window.in_flight) == expected
    assert window.credits <= max(credits_left, 1)


@pytest.mark.parametrize(
    "found", [agreed(wire.SMB_2_0_2), agreed(wire.SMB_2_1, capabilities=0)], ids=["2.0.2", "no large MTU"]
)
def test_without_multi_credit_64_kib_is_the_most(found):
    assert choose_window(found, 8 * MIB, 8192, 4 * MIB, None).block_bytes == 64 * KIB
