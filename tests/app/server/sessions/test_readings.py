"""The counters of sockets, processes and requests, from what the server printed."""

from __future__ import annotations

import json

from app.server.sessions.readings import parse_owners, parse_requests, parse_sockets, reading_of
from app.server.shell import Answer
from storage.json_reader import LARGEST

SOCKETS = """\
LISTEN 0      50         127.0.0.1:445          0.0.0.0:*    ino:7 sk:1 cgroup:/ <->
\t cubic cwnd:10
ESTAB  0      0          127.0.0.1:445    127.0.0.1:39446 ino:8 sk:2 cgroup:/ <->
\t bbr wscale:10,10 rto:212 bytes_sent:67119678 bytes_retrans:6868 bytes_acked:67112810 bytes_received:3741 segs_out:9
ESTAB  0      0      [::ffff:10.0.0.5]:445    [::ffff:10.0.0.5]:50000
\t cubic bytes_received:12
ESTAB  0      0      [fe80::1]:445    [fe80::2%eth0]:50001
\t cubic rto:200
"""


def test_of_what_was_sent_what_was_confirmed_counts_so_that_nothing_counts_twice():
    assert parse_sockets(SOCKETS) == {
        "127.0.0.1:39446": (67112810, 3741),
        "10.0.0.5:50000": (0, 12),
        "fe80::2%eth0:50001": (0, 0),
    }


def test_whose_a_socket_is():
    text = """\
0      0          127.0.0.1:445    127.0.0.1:39446 users:(("smbd",pid=15621,fd=33))
0      0      [fe80::1]:445    [fe80::2]:50000 users:(("smbd[fe80::2]",pid=15622,fd=33),("smbd",pid=9,fd=3))
0      0          127.0.0.1:445    127.0.0.1:39447
"""
    assert parse_owners(text) == {"127.0.0.1:39446": 15621, "fe80::2:50000": 15622}


def test_a_system_that_does_not_count_bytes_is_told_from_one_without_sockets():
    assert parse_sockets("ESTAB 0 0 127.0.0.1:445 127.0.0.1:39446\n\t cubic rto:200\n") is None
    assert parse_sockets("") == {}
    assert parse_sockets("\t bytes_acked:7\n") == {}


def test_requests_by_process_and_of_all():
    reads = {"smb2_read": {"count": 7, "inbytes": 1}, "smb2_create": {"count": 1}}
    document = {
        "SMB2 Calls": {"smb2_read": {"count": 20}, "smb2_write": {"count": 5}},
        "System Calls": {"syscall_pread": {"count": 99}},
        "Extended Profile": {
            "bench:15.0[10.0.0.5]": {"SMB2 Calls": reads},
            "open:15.1[10.0.0.5]": {"SMB2 Calls": {"smb2_read": {"count": 2}}},
            "bench:16.0[10.0.0.6]": {"SMB2 Calls": {"smb2_write": {"count": 5}}},
            "odd": {"SMB2 Calls": reads},
        },
    }
    assert parse_requests(json.dumps(document).replace("}", "}\n")) == ({15: 10, 16: 5}, 25)
    del document["Extended Profile"]
    assert parse_requests(json.dumps(document)) == ({}, 25)
    assert parse_requests("smb2_read_count:     7\n") == ({}, 7)
    for nonsense in ("", "{", "[]", '{"Extended Profile": 5}', '{"Extended Profile": {"a:1.0[": 5}}'):
        assert parse_requests(nonsense)[1] == 0


def test_a_reading_that_is_no_whole_one_is_none():
    counters = "/proc/uptime:12.5 8.0\n/proc/stat:cpu  1 2 3 4 5 6 7 8 9 10\n/proc/stat:cpu0 1 2 3 4 5 6 7 8 9 10"
    made = reading_of(Answer(sections={"first.counters": counters}), "first")
    assert made is not None
    assert (made.uptime_seconds, made.processors, made.processes) == (12.5, 1, {})
    for text in (
        "",
        "/proc/uptime:12.5",
        "/proc/uptime:x\n/proc/stat:cpu 1 2 3 4 5 6 7 8",
        counters.replace("cpu ", "x "),
    ):
        assert reading_of(Answer(sections={"first.counters": text}), "first") is None


def test_counters_beyond_64_bits_are_no_numbers():
    line = f"/proc/7/io:read_bytes: {10**25}\n/proc/7/io:write_bytes: {10**19 - 1}\n"
    counters = "/proc/uptime:12.5 8.0\n/proc/stat:cpu  1 2 3 4 5 6 7 8 9 10\n" + line
    made = reading_of(Answer(sections={"first.counters": counters}), "first")
    assert made is not None
    assert made.disk_bytes == {7: LARGEST}
