"""Facts of a server that follow from others."""

import socket

import pytest

from app.audit.path_facts import derived_facts, path_facts
from app.clients.tcp_info import Segments, TcpInfo
from forms.findings.path import FAR_SECONDS
from storage.records import FactValue, Target
from tests.servers.process import require_localhost


def test_the_share_of_free_space():
    assert derived_facts({"filesystem.size_bytes": 2000, "filesystem.free_bytes": 99}) == {
        "filesystem.free_percent": 5.0
    }
    assert derived_facts({"filesystem.size_bytes": 0, "filesystem.free_bytes": 0}) == {}


def test_what_a_card_sends_and_the_path_does_not_carry():
    def lost(card: int, path: int, interface: str = "eth0") -> object:
        facts: dict[str, FactValue] = {"link.mtu_bytes": card, "mtu.path_bytes": path, "link.interface": interface}
        return derived_facts(facts).get("mtu.lost_bytes")

    assert lost(9000, 1500) == 7500
    assert lost(1500, 1500) == 0
    assert lost(1500, 9000) == 0
    assert lost(65536, 1500, "lo") is None
    assert derived_facts({"link.mtu_bytes": 9000}) == {}


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.mark.parametrize(
    ("seconds", "far"), [(FAR_SECONDS, {"path.far": "yes"}), (0.999 * FAR_SECONDS, {"path.far": "no"}), (None, {})]
)
def test_far_is_what_the_kernel_saw_take_long_and_an_address_takes_no_lookup(port, seconds, far, monkeypatch):
    """A process that waits for a processor is not far away."""
    monkeypatch.setattr(TcpInfo, "of_socket", lambda _sock: TcpInfo(segments=Segments(), round_trip_seconds=seconds))
    assert path_facts(Target(protocol="smb", host="127.0.0.1", port=port)) == far


def test_a_name_takes_a_lookup_and_the_loopback_is_near(port):
    require_localhost()
    facts = path_facts(Target(protocol="smb", host="localhost", port=port))
    assert isinstance(facts.pop("lookup.seconds"), float)
    assert facts in ({"path.far": "no"}, {})
