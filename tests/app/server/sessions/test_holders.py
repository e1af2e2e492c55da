"""Whose the sessions are, from what smbstatus of several versions prints."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.base.errors import MeasurementError
from app.server.sessions.holders import FILES, LOCKS, parse_holders

TABLES = """
Samba version 4.13.13-Debian
PID     Username     Group        Machine                                   Protocol Version  Encryption           Signing
----------------------------------------------------------------------------------------------------------------------------------------
22546   daemon       daemon       127.0.0.1 (ipv4:127.0.0.1:50784)          SMB3_11           partial(AES-128-CCM) partial(AES-128-CMAC)
0:22549 CORP\\john.smith CORP\\domain users ws7       (ipv4:10.0.0.7:50790)          SMB2_10           -                    -
22550   al b         domain users ws8 (ipv6:fe80::1:50798)                  SMB3_11           -                    -

Service      pid     Machine       Connected at                     Encryption   Signing
---------------------------------------------------------------------------------------------
bench        22546   127.0.0.1     Sun Nov 29 10:15:18 2026 UTC     AES-128-CCM  AES-128-CMAC

Locked files:
Pid          User(ID)   DenyMode   Access      R/W        Oplock           SharePath   Name   Time
--------------------------------------------------------------------------------------------------
22546        1          DENY_NONE  0x1         RDONLY     NONE             /srv/bench   a.bin   Sun Nov 29 10:15:18 2026
22546        1          DENY_NONE  0x1         RDONLY     NONE             /srv/bench   22549 b  Sun Nov 29 10:15:18 2026
0:22549      2          DENY_NONE  0x3         RDWR       NONE             /srv/bench   c.bin   Sun Nov 29 10:15:18 2026

Byte range locks:
Pid        dev:inode       R/W  start     size      SharePath               Name
--------------------------------------------------------------------------------
22546      65024:1001:0     W    0         100       /srv/bench              a.bin
"""  # noqa: E501 - as smbstatus prints it


def session(pid: int, user: str, hostname: str, **more: Any) -> dict[str, Any]:
    return {
        "server_id": {"pid": str(pid)},
        "username": user,
        "remote_machine": "ws",
        "hostname": hostname,
        "session_dialect": "SMB3_11",
        **more,
    }


def printed(*sessions: dict[str, Any]) -> str:
    """What the script passes on: all up to the end of the sessions, with a line end behind each brace."""
    document = json.dumps({"version": "4.22", "sessions": {str(n): one for n, one in enumerate(sessions)}})
    return document.removesuffix("}").replace("}", "}\n")


def test_the_tables_of_an_older_version():
    holders, held = parse_holders(TABLES, "")
    assert {pid: holder.users for pid, holder in holders.items()} == {
        22546: ["daemon"],
        22549: ["CORP\\john.smith"],
        22550: ["al b"],
    }
    assert [holders[pid].peers for pid in (22546, 22549, 22550)] == [
        ["127.0.0.1:50784"],
        ["10.0.0.7:50790"],
        ["fe80::1:50798"],
    ]
    assert holders[22549].dialect == "SMB2_10"
    assert held == {(FILES, 22546): 2, (FILES, 22549): 1, (LOCKS, 22546): 1}


def test_json_has_all_channels_of_a_client_and_all_users_of_a_process():
    channels = {"1": {"remote_address": "ipv4:10.0.0.5:1000"}, "2": {"remote_address": "ipv4:10.0.0.5:1001"}}
    text = printed(
        session(7, "alice", "ipv4:10.0.0.5:1000", channels=channels),
        session(7, "bob", "ipv4:10.0.0.5:1000"),
        session(8, "{odd}", "ipv6:::ffff:10.0.0.6:1002"),
    )
    holders, held = parse_holders(text, "files 7 12\nlocks 7 3\nfiles x y\n\nnonsense")
    assert holders[7].users == ["alice", "bob"]
    assert holders[7].peers == ["10.0.0.5:1000", "10.0.0.5:1001"]
    assert holders[8].peers == ["10.0.0.6:1002"]
    assert held[(FILES, 7)] == 12
    assert held[(LOCKS, 7)] == 3


def test_nobody_is_no_error():
    assert parse_holders(printed(), "")[0] == {}


@pytest.mark.parametrize(
    "text",
    [
        '{"version": "4.22"',
        '{"sessions": []',
        '{"sessions": {"1": {}}',
        '{"sessions": {"1": {"server_id": 7}}',
        '{"sessions": {"1": {"server_id": {"pid": "7"}, "channels": 5}}',
        '{"sessions": {"1": ',
        "{" * 100_000,
    ],
)
def test_what_lists_no_sessions_says_so(text: str):
    with pytest.raises(MeasurementError):
        parse_holders(text, "")
