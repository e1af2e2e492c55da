"""The plan as JSON: read and written alike, unknown keys left out, and refused with the first place that is wrong."""

from __future__ import annotations

import pytest

from storage.json_reader import DocumentError, JSONNode
from storage.plan import CeilingPolicy, Imitated, Plan, QuietTime, Settings, plan_from_json
from tests.specs import plan_with

FULL = plan_with(
    client="smbclient",
    settings=Settings(
        block_bytes=65536,
        in_flight=8,
        sign=True,
        encrypt=True,
        timeout_seconds=5.5,
        flush=True,
        drop_cache=True,
        single_requests=True,
        like=Imitated.WINDOWS_10,
    ),
    runs=7,
    warmups=0,
    until_percent=1.5,
    max_runs=40,
    size_bytes=1 << 20,
    files=9,
    make_file=True,
    verify=True,
    profile=True,
    quiet_time=QuietTime.REQUIRE,
    server_ssh="root@nas",
    smb_conf="/etc/smb.conf",
    ceiling=CeilingPolicy.SKIP,
    from_host="alice@branch",
    random=True,
    read_percent=70,
    random_seconds=3.0,
)


def read(found: object) -> Plan | None:
    return plan_from_json(JSONNode("plan", found))


def test_every_choice_comes_back():
    document = FULL.to_json()
    assert set(document) >= {"client", "settings", "runs", "quiet_time", "ceiling"}
    assert document["settings"]["timeout_seconds"] == 5.5
    assert read(document) == FULL
    usual = Plan().to_json()
    choices = document | document["settings"]
    as_usual = [name for name, value in (usual | usual["settings"]).items() if choices[name] == value]
    assert not as_usual, "the example says something else of everything"


def test_what_is_not_said_is_usual_and_what_is_unknown_is_left_out():
    assert read({"runs": 3, "colour": "blue", "settings": {"sign": True, "warp": 9}}) == plan_with(
        runs=3, settings=Settings(sign=True)
    )
    assert read({}) is None
    assert read(None) is None


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([], r"^plan: expected an object, found an array$"),
        ({"runs": "five"}, r"^plan\.runs: expected a number, found 'five'$"),
        ({"runs": 2.5}, r"^plan\.runs: expected a whole number"),
        ({"settings": {"sign": "yes"}}, r"^plan\.settings\.sign: expected true or false, found 'yes'$"),
        ({"settings": [1]}, r"^plan\.settings: expected an object"),
        ({"make_file": 1}, r"^plan\.make_file: expected true or false, found 1$"),
        ({"quiet_time": "never"}, r"^plan\.quiet_time: expected one of record, require, skip, found 'never'$"),
        ({"client": 5}, r"^plan\.client: expected text, found 5$"),
    ],
)
def test_the_first_wrong_place_is_named(found, said):
    with pytest.raises(DocumentError, match=said):
        read(found)
