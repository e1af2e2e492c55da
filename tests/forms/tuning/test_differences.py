"""What differs between two series, and what is known to vary by itself."""

from dataclasses import replace
from typing import Any

import pytest

from forms.tuning.differences import (
    GLOBAL,
    Difference,
    differences,
    differences_before,
    replaced_between,
    settings_of_one_version,
    told_differences,
)
from forms.tuning.fact_names import is_volatile
from storage.plan import Settings
from storage.records import ClientFacts, Command, FactValue, Series, Target
from tests.builders import CLIENT, one, series
from tests.specs import plan_with


def on_server(**environment: dict[str, FactValue]) -> Series:
    return series((100.0, 101.0), environment=environment)


def named(found: tuple[Difference, ...]) -> list[tuple[str, Any, Any]]:
    return [(d.name, d.base, d.other) for d in found]


def test_a_series_does_not_differ_from_itself() -> None:
    same = on_server(server={"smb.conf/global/log level": "0"})
    assert differences(same, same) == ()


def test_settings_that_differ_are_named() -> None:
    base = series((100.0,))
    other = series(
        (100.0,),
        size_bytes=1 << 20,
        command=Command.PUT,
        target=Target(protocol="smb", host="nas", port=445, share="data", path="folder"),
        client=replace(CLIENT, encryption="aes-128-gcm", in_flight=1),
        plan=plan_with(settings=Settings(drop_cache=True)),
    )
    assert named(differences(base, other)) == [
        ("command", "get", "put"),
        ("target", "smb://nas/data/big.bin", "smb://nas/data/folder"),
        ("size_bytes", 1 << 30, 1 << 20),
        ("client.encryption", "none", "aes-128-gcm"),
        ("client.in_flight", 4, 1),
        ("settings.drop_cache", False, True),
    ]


def test_what_the_other_protocol_does_not_have_is_no_difference() -> None:
    smb = series()
    plain = ClientFacts(name="sharebench", version="0.1.0", block_bytes=1 << 20)
    ftp = replace(smb, target=Target(protocol="ftp", host="nas", path="/big.bin"), client=plain)
    names = [one.name for one in differences(ftp, smb)]
    assert "target" in names
    assert not [name for name in names if name.startswith("client.")]
    assert "client.dialect" in [one.name for one in differences(smb, replace(smb, client=plain))]


def test_a_parameter_of_the_share_is_said_once_although_global_has_it_too() -> None:
    base = on_server(server={"smb.conf/global/strict sync": "Yes", "smb.conf/share/strict sync": "Yes"})
    other = on_server(server={"smb.conf/global/strict sync": "No", "smb.conf/share/strict sync": "No"})
    (found,) = differences(base, other)
    assert found == Difference(name="server.smb.conf/share/strict sync", base="Yes", other="No")
    assert (found.parameter, found.label, str(found)) == ("strict sync", "strict sync", "strict sync Yes -> No")


def test_a_share_without_a_line_of_its_own_has_the_value_of_global() -> None:
    base = on_server(server={"smb.conf/global/strict sync": "Yes"})
    other = on_server(server={"smb.conf/global/strict sync": "Yes", "smb.conf/share/strict sync": "no"})
    assert named(differences(base, other)) == [("server.smb.conf/share/strict sync", None, "no")]
    unchanged = on_server(server={"smb.conf/global/strict sync": "Yes", "smb.conf/share/strict sync": "True"})
    assert differences(base, unchanged) == ()


def test_another_word_for_the_same_value_is_no_difference() -> None:
    base = on_server(server={"smb.conf/global/server signing": "mandatory", "smb.conf/global/smb2 max read": "1M"})
    other = on_server(server={"smb.conf/global/server signing": "required", "smb.conf/global/smb2 max read": "1048576"})
    assert differences(base, other) == ()


def test_what_only_one_of_the_two_could_see_is_not_known_to_differ() -> None:
    seen = on_server(server={"smb.conf/global/log level": "0", "smbd.version": "4.17.12"})
    unseen = on_server(server={"smbd.version": "4.17.12"})
    assert differences(seen, unseen) == ()
    assert named(differences(unseen, on_server(server={"smbd.version": "4.20.0"}))) == [
        ("server.smbd.version", "4.17.12", "4.20.0")
    ]


def test_a_size_that_no_run_has_shown_yet_is_not_known_to_differ() -> None:
    assert differences(series((100.0,)), series(())) == ()


def test_a_series_that_never_connected_has_told_nothing_of_its_client() -> None:
    assert differences(series((100.0,)), series((), client=ClientFacts(name="sharebench"))) == ()
    other = differences(series((100.0,)), series((), client=ClientFacts(name="smbclient")))
    assert named(other) == [("client.name", "sharebench", "smbclient")]


def test_of_a_series_known_by_its_login_alone_what_is_absent_differs_only_in_how_the_session_is_protected() -> None:
    base = series((100.0,), client=replace(CLIENT, signing="aes-cmac", encryption=None), environment={"path": {"a": 1}})
    again = replace(base, runs=(), client=replace(base.client, signing=None, encryption="aes-128-gcm"))
    assert [found.name for found in differences_before(base, again)] == ["client.signing", "client.encryption"]
    assert differences_before(base, replace(again, client=replace(again.client, dialect=None))) == ()
    spoken = replace(again, client=replace(base.client, dialect="2.1", block_bytes=None))
    assert named(differences_before(base, spoken)) == [("client.dialect", CLIENT.dialect, "2.1")]


@pytest.mark.parametrize("name", ["host.load_1", "host.uptime_seconds", "link.rx_errors"])
def test_facts_that_vary_by_themselves_do_not_count(name: str) -> None:
    assert is_volatile(name)
    assert differences(on_server(client={name: 1}), on_server(client={name: 2})) == ()


def test_no_parameter_of_the_server_is_taken_for_a_fact_that_is_volatile() -> None:
    assert not is_volatile("smb.conf/global/keepalive")
    assert not is_volatile("smb.conf/global/load printers")
    assert not is_volatile("smb.conf/global/lpq cache time")


@pytest.mark.parametrize("commands", [("get", "get"), ("get", "put"), ("put", "get")])
def test_the_block_size_of_a_put_is_a_difference_where_one_side_is_a_put(commands: tuple[str, str]) -> None:
    sides = (
        replace(series(()), command=Command(command), environment={"path": {"smb.put_block_bytes": size}})
        for command, size in zip(commands, (65536, 16384), strict=True)
    )
    names = [found.name for found in differences(*sides)]
    assert ("path.smb.put_block_bytes" in names) is ("put" in commands)


@pytest.mark.parametrize(("larger", "differs"), [(2**14 - 1, True), (2**14, False), (65483, False)])
def test_segments_as_large_as_the_loopback_has_them_vary_with_the_window(larger: int, differs: bool) -> None:
    one, another = (on_server(path={"mtu.segment_bytes": size}) for size in (1448, larger))
    assert bool(differences(one, another)) is differs
    assert bool(differences(another, one)) is differs


def test_another_way_out_of_this_machine_is_a_difference() -> None:
    by_cable = on_server(path={"local_address": "192.0.2.7"})
    by_radio = on_server(path={"local_address": "198.51.100.7"})
    assert named(differences(by_cable, by_radio)) == [("path.local_address", "192.0.2.7", "198.51.100.7")]


@pytest.mark.parametrize(("rate", "differs"), [(126e6, True), (126.4e6, False)])
def test_a_link_that_carried_more_than_it_can_was_given_wrongly_and_is_no_difference(
    rate: float, differs: bool
) -> None:
    """More than 101 % of 1 Gb/s: what carried the bytes was another link, which may well be the second one."""
    wrongly_given = series((rate, rate), link_bits_per_second=1_000_000_000)
    rightly_given = series((rate, rate), link_bits_per_second=2_000_000_000)
    for found in (differences(wrongly_given, rightly_given), differences(rightly_given, wrongly_given)):
        assert ("link_bits_per_second" in {difference.name for difference in found}) is differs


@pytest.mark.parametrize(
    ("seen", "given", "differs"),
    [
        ((2_000_000_000, 2_000_000_000), (1_000_000_000, 2_000_000_000), False),
        ((2_000_000_000, 2_000_000_000), (500_000_000, 1_000_000_000), True),
        ((1_000_000_000, 2_000_000_000), (1_000_000_000, 2_000_000_000), True),
    ],
)
def test_a_link_speed_that_one_side_was_given_as_both_saw_it_is_no_difference(
    seen: tuple[int, int], given: tuple[int, int], differs: bool
) -> None:
    """It was corrected. Where neither was given what was seen, a slower part of the way may be meant."""
    base, other = (
        replace(
            on_server(path={"link.rate_bits_per_second": 10_000_000_000, "link.shaper_bits_per_second": seen_speed}),
            link_bits_per_second=given_speed,
        )
        for seen_speed, given_speed in zip(seen, given, strict=True)
    )
    for found in (differences(base, other), differences(other, base)):
        assert ("link_bits_per_second" in {difference.name for difference in found}) is differs


def test_of_two_servers_it_is_not_told_where_each_keeps_its_own_files() -> None:
    base_facts = {"smb.conf.path": "/a/smb.conf", f"{GLOBAL}private dir": "/a", f"{GLOBAL}strict sync": "yes"}
    other_facts = {"smb.conf.path": "/b/smb.conf", f"{GLOBAL}private dir": "/b", f"{GLOBAL}strict sync": "no"}
    base = one(1, environment={"server": base_facts})
    beside = one(2, environment={"server": other_facts}, target=replace(base.target, port=1445))
    told = {difference.label for difference in told_differences(differences(base, beside))}
    assert "strict sync" in told
    assert not told & {"private dir", "server: smb.conf"}

    # Of one server they say that somebody has changed something.
    later = one(2, environment={"server": other_facts}, target=base.target)
    told_later = {difference.label for difference in told_differences(differences(base, later))}
    assert {"private dir", "strict sync"} <= told_later


def test_of_two_versions_what_acts_on_transfers_comes_first_and_what_only_one_has_is_left_out() -> None:
    base_facts = {"samba.version": "4.13", f"{GLOBAL}winbind use krb5 enterprise principals": "No"}
    base_facts |= {f"{GLOBAL}server multi channel support": "No", f"{GLOBAL}client use spnego principal": "Yes"}
    other_facts = {"samba.version": "4.25", f"{GLOBAL}winbind use krb5 enterprise principals": "Yes"}
    other_facts |= {f"{GLOBAL}server multi channel support": "Yes", f"{GLOBAL}dns port": "53"}
    base = one(1, environment={"server": base_facts})
    other = one(2, environment={"server": other_facts}, target=replace(base.target, port=1445))
    differing = differences(base, other)
    parameters = [difference.parameter for difference in told_differences(differing) if difference.parameter]
    assert parameters == ["server multi channel support", "winbind use krb5 enterprise principals"]
    assert {difference.parameter for difference in settings_of_one_version(differing)} == {
        "client use spnego principal",
        "dns port",
    }


def test_of_two_servers_none_has_replaced_the_other() -> None:
    base = one(1, environment={"server": {"samba.version": "4.13"}})
    newer = {"server": {"samba.version": "4.25"}}
    assert replaced_between(differences(base, one(2, environment=newer, target=base.target)))
    beside = one(2, environment=newer, target=replace(base.target, port=1445))
    assert replaced_between(differences(base, beside)) == ()
