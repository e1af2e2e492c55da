"""Whose the sessions are, from the lines of smbstatus that the script passes on."""

from __future__ import annotations

import pytest

from app.base.errors import MeasurementError
from app.server.sessions.holders import FILES, LOCKS, parse_holders

PASSWD = """\
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
CORP\\john smith:*:10007:10000:John Smith:/home/john:/bin/false
bob:x:1002:1002::/home/bob:/bin/sh
nonsense
"""
LISTED = """\
listed
22546   1            1            127.0.0.1 (ipv4:127.0.0.1:50784)          SMB3_11           -                    partial(AES-128-GMAC)
0:22549 10007        10000        ws7       (ipv4:10.0.0.7:50790)           SMB2_10           -                    -
22550   1002         1002         ws8 (ipv6:fe80::1:50798)                  SMB3_11           -                    -
22550   1            1            ws8 (ipv6:fe80::1:50798)                  SMB3_11           -                    -
22551   4711         4294967295   ws9 (ipv6:::ffff:10.0.0.9:1)              SMB3_11           -                    -
files 22546 12
files 0:22549 1
locks 22546 3
"""  # noqa: E501 - as smbstatus prints it


def test_users_by_name_machines_and_what_they_hold():
    holders, held = parse_holders(LISTED, PASSWD)
    assert {pid: holder.users for pid, holder in holders.items()} == {
        22546: ["daemon"],
        22549: ["CORP\\john smith"],
        22550: ["bob", "daemon"],
        22551: ["user 4711"],
    }
    assert [holder.address for holder in holders.values()] == ["127.0.0.1", "10.0.0.7", "fe80::1", "10.0.0.9"]
    assert (holders[22549].machine, holders[22549].dialect) == ("ws7", "SMB2_10")
    assert held == {(FILES, 22546): 12, (FILES, 22549): 1, (LOCKS, 22546): 3}


def test_nobody_is_no_error():
    assert parse_holders("listed\n", "") == ({}, {})


@pytest.mark.parametrize("printed", ["", "files 7 1\n", "not listed", "Can't load smb.conf"])
def test_an_smbstatus_that_lists_no_sessions_is_an_error(printed: str):
    with pytest.raises(MeasurementError):
        parse_holders(printed, PASSWD)


def test_other_lines_cost_nothing():
    noise = "listed\nfiles x 1\n7 1 1 (ipv4\n" + "9" * 40 + " 1 1 ws (ipv4:1.2.3.4:5) SMB3\nfiles 7 " + "9" * 30
    assert parse_holders(noise, ":::\n::") == ({}, {})
