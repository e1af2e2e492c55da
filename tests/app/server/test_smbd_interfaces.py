"""Which entries of `interfaces` a server does not have. What smbd does with each was tried on Samba 4.17.12."""

from __future__ import annotations

import pytest

from app.server.smbd_interfaces import missing_interfaces, server_addresses

PRINTED = r"""
1: lo    inet 127.0.0.1/8 scope host lo\       valid_lft forever preferred_lft forever
1: lo    inet6 ::1/128 scope host \       valid_lft forever preferred_lft forever
2: eth0    inet 192.0.2.2/24 scope global eth0\       valid_lft forever preferred_lft forever
2: eth0    inet 192.0.2.3/24 scope global secondary eth0:1\       valid_lft forever preferred_lft forever
2: eth0    inet6 fd00::2/64 scope global \       valid_lft forever preferred_lft forever
3: tun0    inet6 fe80::fc:ff:fe00:1/64 scope link \       valid_lft forever preferred_lft forever
"""
HOSTS = "127.0.0.1 localhost\n192.0.2.9 filer  # beside it\n"


@pytest.mark.parametrize(
    ("entry", "is_missing"),
    [
        ("eth0", False),
        ("ETH0", False),
        ("eth*", False),
        ("eth?", False),
        ("eth0:1", False),
        ("eth0;speed=1000", False),
        ("eth9", True),
        ("eth9;speed=1000", True),
        ("eth[0-1]", True),
        ("tun0", True),
        ("fe80::fc:ff:fe00:1", True),
        ("::1", False),
        ("fd00::/64", False),
        ("192.0.2.2", False),
        ("192.0.2.2/8", False),
        ("192.0.2.4", True),
        ("192.0.2.77/24", True),
        ("192.0.2.255/24", False),
        ("192.0.2.0/255.255.255.0", False),
        ("192.0.0.0/8", False),
        ("192.0.2.0/16", True),
        ("10.0.0.0/8", True),
        ("localhost", False),
        ("filer", False),
        ("filer.example.org", False),
        ("%h", False),
    ],
)
def test_an_entry_is_missing_where_smbd_finds_nothing_for_it(entry: str, is_missing: bool) -> None:
    missing = missing_interfaces([entry, "lo"], server_addresses(PRINTED), HOSTS)
    assert missing == ([entry] if is_missing else [])
