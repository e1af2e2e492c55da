"""Which client moves bytes by which protocol."""

from __future__ import annotations

import pytest

from app.base.errors import UsageError
from app.clients.base import _PERIOD, MAX_BLOCK_BYTES, Content, Secrets
from app.clients.registry import MODULES, check_client_name, make_client
from storage.plan import Settings
from storage.protocols import PROTOCOLS
from storage.records import Target

EVERY = [(protocol, name) for protocol in PROTOCOLS for name in MODULES[protocol].clients]


@pytest.mark.parametrize(("protocol", "name"), EVERY)
def test_every_client_can_be_made_without_reaching_anything(protocol, name):
    target = Target(protocol=protocol, host="no-such-host.invalid", share="share", path="/nowhere")
    client = make_client(target, name, Secrets(), Settings(), size_bytes=1000)
    assert client.target == target
    assert "connect" in dir(client)
    client.abort()
    client.close()
    client.close()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_name_is_the_usual_client(protocol):
    usual = next(iter(MODULES[protocol].clients))
    assert check_client_name(protocol, "") == usual
    with pytest.raises(UsageError, match=usual):
        check_client_name(protocol, "nonsense")


@pytest.mark.parametrize("size", [0, 1, _PERIOD - 1, _PERIOD, _PERIOD + 1, MAX_BLOCK_BYTES, 2 * MAX_BLOCK_BYTES + 1])
def test_content_has_its_size_however_it_is_cut_and_no_more_memory_than_it_needs(size: int):
    content = Content(size)
    whole = b"".join(content.blocks())
    assert len(whole) == size
    small = b"".join(content.block(at, min(700_001, size - at)) for at in range(0, size, 700_001))
    assert small == whole
    assert len(content._pool) == (size if size <= _PERIOD else _PERIOD + MAX_BLOCK_BYTES)


def test_contents_of_one_seed_are_equal_and_all_others_differ():
    seeds = ("", "", "0fb2c4", "0fb2c5")
    assert len({Content(4096, seed=seed).digest() for seed in seeds}) == 4
    assert Content(4096, seed="0fb2c4").digest() == Content(4096, seed="0fb2c4").digest()
