"""smbd's counters, from both forms of smbstatus -P, and what they grew by."""

import json

import pytest

from app.server.smbd import parse_profile, parse_profile_level, profile_since
from storage.isolation import ProfileCounter

TEXT = """**** SMBD loop ****************************************************************
connect_count:                                                                1
cpu_user_time:                                                             2824
**** System Calls *************************************************************
syscall_asys_pwrite_count:                                                    1
syscall_asys_pwrite_time:                                                   133
syscall_asys_pwrite_idle:                                                   118
syscall_asys_pwrite_bytes:                                                 1371
**** SMB2 Calls ***************************************************************
smb2_read_count:                                                              7
smb2_read_inbytes:                                                          682
smb2_read_outbytes:                                                         362
"""
COUNTERS = {
    "connect": ProfileCounter(calls=1),
    "cpu_user": ProfileCounter(microseconds=2824),
    "syscall_asys_pwrite": ProfileCounter(calls=1, microseconds=133, idle_microseconds=118, moved_bytes=1371),
    "smb2_read": ProfileCounter(calls=7, in_bytes=682, out_bytes=362),
}


def test_both_forms_tell_the_same():
    document = {
        "timestamp": "now",
        "SMBD loop": {"connect": {"count": 1}, "cpu_user": {"time": 2824}},
        "System Calls": {"syscall_asys_pwrite": {"count": 1, "time": 133, "idle": 118, "bytes": 1371}},
        "SMB2 Calls": {"smb2_read": {"count": 7, "inbytes": 682, "outbytes": 362}},
        "Extended": {"share": {"bench": {"count": 3}}},
    }
    assert parse_profile(json.dumps(document)) == COUNTERS
    assert parse_profile(TEXT) == COUNTERS
    assert parse_profile("Failed to initialise profile memory\n") == {}


def test_the_failed_requests_that_samba_4_25_counts_are_no_counter_and_hide_none():
    with_failed = {"SMB2 Calls": {"smb2_read": {"count": 7, "failed_count": 2, "inbytes": 682, "outbytes": 362}}}
    text = TEXT + "smb2_read_failed_count:                                                       2\n"
    text += "smb2_read_buckets: 0,0,0,1,1,1,1,1,1,1\n"

    assert parse_profile(json.dumps(with_failed)) == {"smb2_read": COUNTERS["smb2_read"]}
    assert parse_profile(json.dumps({"SMB2 Calls": {"smb2_read": {"failed_count": 2}}})) == {}
    assert parse_profile(text) == COUNTERS


def test_what_grew_is_told_and_what_stood_still_is_not():
    before = {"smb2_read": ProfileCounter(calls=5, in_bytes=600, out_bytes=362), "connect": ProfileCounter(calls=1)}
    grown = profile_since(before, COUNTERS)
    assert grown is not None
    assert grown["smb2_read"] == ProfileCounter(calls=2, in_bytes=82)
    assert "connect" not in grown
    assert grown["cpu_user"] == COUNTERS["cpu_user"]


def test_counters_that_ran_backwards_mean_a_restart():
    assert profile_since({"smb2_read": ProfileCounter(calls=9)}, COUNTERS) is None


def test_levels_are_told_in_the_words_that_set_them():
    assert parse_profile_level("Profiling off on pid 21655") == ("off", 21655)
    assert parse_profile_level("Profiling count only on pid 1") == ("count", 1)
    assert parse_profile_level("Profiling count and time on pid 1") == ("on", 1)
    assert parse_profile_level("Can't find pid for destination 'smbd'") is None
    assert parse_profile_level("Profiling not enabled on pid 1") is None


@pytest.mark.parametrize(
    ("told", "version", "level"),
    [
        ("off", "Version 4.24.9", "off"),
        ("off", "Version 4.25.1-Debian-4.25.1+dfsg-1", "count"),
        ("not enabled", "Version 4.25.1-Debian-4.25.1+dfsg-1", "off"),
        ("BOGUS", "Version 4.25.1-Debian-4.25.1+dfsg-1", "on"),
        ("BOGUS", "Version 4.24.9", None),
        ("not enabled", "Version 5.0.0", "off"),
    ],
)
def test_the_level_of_a_samba_that_numbers_its_levels_anew(told, version, level):
    found = parse_profile_level(f"Profiling {told} on pid 7", version)
    assert found == ((level, 7) if level else None)
