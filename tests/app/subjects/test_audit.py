"""Facts of a server that follow from others."""

from app.subjects.audit import derived_facts
from storage.records import FactValue


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
