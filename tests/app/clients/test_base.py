"""Which client moves bytes by which protocol."""

from __future__ import annotations

import pytest

from app.clients.base import Secrets, check_client_name, client_names, make_client
from app.errors import UsageError
from storage.plan import Settings
from storage.protocols import PROTOCOLS
from storage.records import Target

EVERY = [(protocol, name) for protocol in PROTOCOLS for name in client_names(protocol)]


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
    assert check_client_name(protocol, "") == client_names(protocol)[0]
    with pytest.raises(UsageError, match=client_names(protocol)[0]):
        check_client_name(protocol, "nonsense")
