"""A claimed change judged by what was seen, on facts made from what the installed testparm says."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forms.tuning import smb_conf
from forms.tuning.change_evidence import SettingState, judge_change, setting_state
from forms.tuning.fact_names import in_one_fact
from forms.wording import changed
from storage.records import Change, Facts, FactValue, Series, Target
from tests.builders import CLIENT, series
from tests.servers.process import require
from tests.servers.samba_version import installed_samba
from tests.waiting import HANG_SECONDS

SHARE = "data"


def facts_of(conf: Path) -> Facts:
    """The facts of a server with that configuration, named as the environment names them."""
    require("testparm", root=False)
    done = subprocess.run(
        ["testparm", "-d0", "-sv", str(conf)], capture_output=True, text=True, check=False, timeout=HANG_SECONDS
    )
    warned = [line for line in done.stderr.splitlines() if "nknown parameter" in line or "value is not" in line]
    if done.returncode:
        return {"smb.conf.state": "does not load", "smb.conf.warnings": in_one_fact(warned)}
    sections: dict[str, dict[str, str]] = {}
    for line in done.stdout.splitlines():
        if line.startswith("["):
            section = sections.setdefault(line[1:-1], {})
        elif "=" in line:
            name, _, value = line.partition("=")
            section[name.strip()] = value.strip()
    facts: dict[str, FactValue] = {}
    for name, value in (sections["global"] | sections.get(SHARE, {})).items():
        parameter = smb_conf.spelling(name).parameter
        scope = "share" if parameter and parameter.scope == "share" else "global"
        facts[f"smb.conf/{scope}/{name}"] = value
    if warned:
        facts["smb.conf.warnings"] = in_one_fact(warned)
    written = re.search(r"(?m)^(?:debug|log) level = (.*)$", conf.read_text().partition(f"[{SHARE}]")[0])
    facts["smb.conf/global/log level"] = written[1] if written else "0"  # testparm prints its own
    return facts


class Server:
    """A server that is no more than its smb.conf, and the session that one would have with it."""

    def __init__(self, folder: Path) -> None:
        self.conf = folder / "smb.conf"

    def series(self, in_global: str = "", in_share: str = "", *, environment: Any = None, **client: Any) -> Series:
        self.conf.write_text(f"[global]\n{in_global}\n[{SHARE}]\npath = /tmp\n{in_share}\n")
        surroundings = {"server": facts_of(self.conf), **(environment or {})}
        return series((100.0, 101.0), client=replace(CLIENT, **client), environment=surroundings)


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path)


def told(change: Change) -> tuple[str, str, str, str | None, tuple[str, ...]]:
    return change.name, change.value, change.evidence, change.previous, change.also_changed


def test_a_change_that_took_effect_is_confirmed_and_named_alone(server: Server) -> None:
    change = judge_change("strict sync", "no", server.series(), server.series(in_share="strict sync = no"))
    assert told(change) == ("strict sync", "no", "confirmed", "Yes", ())
    assert (
        change.remark == 'strict sync changed from "Yes" to "No". It acts only if the client flushes or writes through.'
    )
    assert setting_state(change) is SettingState.PROVEN


def test_a_share_inherits_what_global_says(server: Server) -> None:
    change = judge_change("strict sync", "off", server.series(), server.series(in_global="strict sync = no"))
    assert told(change) == ("strict sync", "off", "confirmed", "Yes", ())


@pytest.mark.parametrize("typed", ["debug level", "debuglevel", "Log  Level"])
def test_a_synonym_is_taken_as_the_canonical_name_and_said(server: Server, typed: str) -> None:
    change = judge_change(typed, "3", server.series(), server.series(in_global="debug level = 3"))
    assert told(change) == ("log level", "3", "confirmed", "0", ())
    assert ("synonym of log level" in (change.remark or "")) == (typed != "Log  Level")


def test_dead_time_is_deadtime(server: Server) -> None:
    change = judge_change("dead time", "15", server.series(), server.series(in_global="dead time = 15"))
    assert told(change) == ("deadtime", "15", "confirmed", "10080", ())


def test_a_synonym_that_says_the_opposite_is_turned_round(server: Server) -> None:
    change = judge_change("writeable", "yes", server.series(), server.series(in_share="writeable = yes"))
    assert told(change) == ("read only", "no", "confirmed", "Yes", ())
    assert "writeable = yes says the same as read only = no." in (change.remark or "")


def test_the_session_shows_encryption(server: Server) -> None:
    before = server.series()
    after = server.series(in_global="smb encrypt = required", encryption="aes-128-gcm")
    change = judge_change("smb encrypt", "required", before, after)
    assert told(change) == ("server smb encrypt", "required", "confirmed", "default", ())
    assert "the session shows it (encryption none -> aes-128-gcm)" in (change.remark or "")


def test_the_session_shows_signing(server: Server) -> None:
    after = server.series(in_global="server signing = mandatory", signing="aes-gmac")
    change = judge_change("server signing", "mandatory", server.series(), after)
    assert told(change) == ("server signing", "mandatory", "confirmed", "default", ())
    assert "signing none -> aes-gmac" in (change.remark or "")


@pytest.mark.parametrize(
    ("line", "name", "value", "seen"),
    [
        ("smb encrypt = required", "smb encrypt", "required", "the session is not encrypted"),
        ("server signing = mandatory", "server signing", "mandatory", "the session is not signed"),
        ("server max protocol = SMB2_10", "max protocol", "SMB2", "the session speaks SMB 3.1.1"),
    ],
)
def test_an_old_session_does_not_show_the_change(server: Server, line: str, name: str, value: str, seen: str) -> None:
    change = judge_change(name, value, server.series(), server.series(in_global=line))
    assert change.evidence == "contradicted"
    assert f"in smb.conf, but {seen}: smbd has not read it yet, or the session is an old one." in (change.remark or "")
    assert setting_state(change) is SettingState.NOT_AS_CLAIMED


def test_an_encrypted_session_need_not_be_signed(server: Server) -> None:
    before = server.series(in_global="smb encrypt = required", encryption="aes-128-gcm")
    after = server.series("smb encrypt = required\nserver signing = mandatory", encryption="aes-128-gcm")
    assert judge_change("server signing", "mandatory", before, after).evidence == "confirmed"


def test_a_parameter_that_did_not_change_is_contradicted(server: Server) -> None:
    change = judge_change("strict sync", "no", server.series(), server.series())
    assert told(change) == ("strict sync", "no", "contradicted", "Yes", ())
    assert 'strict sync did not change: it still is "Yes".' in (change.remark or "")


def test_a_global_parameter_in_a_share_does_nothing(server: Server) -> None:
    change = judge_change("log level", "3", server.series(), server.series(in_share="log level = 3"))
    assert told(change) == ("log level", "3", "contradicted", "0", ())
    assert "smbd ignores it in a share's section" in (change.remark or "")


def test_what_the_environment_found_in_the_file_comes_first(server: Server) -> None:
    after = server.series(in_share="log level = 3")
    found = "log level = 3 stands in [data], but it holds for the whole server only: it does nothing there"
    after = replace(after, environment={"server": {**after.environment["server"], "smb.conf.warnings": found}})
    assert f"testparm says: {found}." in (judge_change("log level", "3", server.series(), after).remark or "")


def test_a_value_that_was_there_before_is_no_change(server: Server) -> None:
    same = server.series(in_global="deadtime = 15")
    change = judge_change("deadtime", "0x0F", same, same)
    assert (change.evidence, change.remark) == ("contradicted", "deadtime was 15 before already: nothing changed.")


def test_a_change_to_another_value_is_contradicted(server: Server) -> None:
    change = judge_change("deadtime", "15", server.series(), server.series(in_global="deadtime = 60"))
    assert change.remark == 'deadtime changed, but from "10080" to "60", not to "15".'


def test_two_changes_at_once(server: Server) -> None:
    after = server.series(in_global="deadtime = 15", in_share="strict sync = no")
    change = judge_change("strict sync", "no", server.series(), after)
    assert told(change) == ("strict sync", "no", "confirmed", "Yes", ("deadtime 10080 -> 15",))
    assert "2 things changed at once." in (change.remark or "")
    assert setting_state(change) is SettingState.NOT_ALONE


def test_another_setting_of_the_client_is_a_second_change(server: Server) -> None:
    after = server.series(in_share="strict sync = no", in_flight=1)
    assert judge_change("strict sync", "no", server.series(), after).also_changed == ("client.in_flight 4 -> 1",)


def test_a_change_under_the_wrong_name(server: Server) -> None:
    change = judge_change("strict sync", "no", server.series(), server.series(in_share="sync always = yes"))
    assert told(change) == ("strict sync", "no", "contradicted", "Yes", ("sync always No -> Yes",))
    assert "Something else did change." in (change.remark or "")


def test_a_name_that_nobody_knows(server: Server) -> None:
    after = server.series(in_share="strickt sync = no")
    change = judge_change("strickt sync", "no", server.series(), after)
    assert told(change) == ("strickt sync", "no", "contradicted", None, ())
    assert "no parameter called strickt sync: smbd ignores the line. Did you mean strict sync?" in (change.remark or "")


def test_a_removed_option(server: Server) -> None:
    change = judge_change("read size", "65536", server.series(), server.series(in_global="read size = 65536"))
    assert change.evidence == "contradicted"
    assert change.remark == (
        "read size was removed in Samba 3.0.2, and aio read size took its place: smbd ignores the line."
    )


def test_an_option_that_is_too_new_for_the_server(server: Server) -> None:
    change = judge_change("persistent handles", "yes", server.series(), server.series("persistent handles = yes"))
    if installed_samba() >= (4, 25):
        pytest.skip("the installed Samba has every option that we know")
    assert change.evidence == "contradicted"
    assert "needs Samba 4.25" in (change.remark or "")


def test_an_option_that_the_installed_server_has_in_spite_of_our_tables(server: Server) -> None:
    if installed_samba() < (4, 22):
        pytest.skip("the installed Samba is older than 4.22")
    after = server.series(in_global="smb3 directory leases = no")
    change = judge_change("smb3 directory leases", "no", server.series(), after)
    assert change.evidence == "confirmed"
    assert "needs Samba" not in (change.remark or "")


def test_a_value_that_testparm_refuses(server: Server) -> None:
    after = server.series(in_share="strict sync = maybe")
    assert after.environment["server"]["smb.conf.state"] == "does not load"
    change = judge_change("strict sync", "maybe", server.series(), after)
    assert told(change) == ("strict sync", "maybe", "contradicted", "Yes", ())
    assert change.remark == (
        "testparm refuses the value ('maybe' is neither yes nor no): smbd stops reading smb.conf at that line."
    )


def test_a_value_that_only_testparm_knows_to_be_wrong(server: Server) -> None:
    after = server.series(in_global="server services = -dns smb")
    assert after.environment["server"]["smb.conf.state"] == "does not load"
    named = {"smb.conf.state": "does not load", "smb.conf.warnings": "server services = -dns smb is refused"}
    change = judge_change("server services", "-dns smb", server.series(), replace(after, environment={"server": named}))
    assert change.evidence == "contradicted"
    assert "testparm refuses the value (server services = -dns smb)" in (change.remark or "")


def test_an_option_that_needs_another(server: Server) -> None:
    change = judge_change("use sendfile", "yes", server.series(), server.series(in_share="use sendfile = yes"))
    assert change.evidence == "contradicted"
    assert change.remark == (
        'use sendfile changed from "No" to "Yes", but does nothing: it needs aio read size = 0, and that is 1.'
    )
    ready = server.series(in_share="aio read size = 0")
    after = server.series(in_share="aio read size = 0\nuse sendfile = yes")
    assert judge_change("use sendfile", "yes", ready, after).evidence == "confirmed"
    signed = server.series(in_share="aio read size = 0\nuse sendfile = yes", signing="aes-gmac")
    before = server.series(in_share="aio read size = 0", signing="aes-gmac")
    assert "needs an unsigned session" in (judge_change("use sendfile", "yes", before, signed).remark or "")


def test_smb1_options_do_nothing_today(server: Server) -> None:
    change = judge_change("read raw", "no", server.series(), server.series(in_global="read raw = no"))
    assert change.evidence == "contradicted"
    assert "it is for SMB1 alone, and the session speaks SMB 3.1.1" in (change.remark or "")


def test_settings_that_smb2_and_the_kernel_overrule(server: Server) -> None:
    signing = judge_change("server signing", "off", server.series(), server.series(in_global="server signing = off"))
    assert signing.evidence == "contradicted"
    assert "cannot be told not to" in (signing.remark or "")
    after = server.series(in_global="socket options = IPTOS_LOWDELAY")
    options = judge_change("socket options", "IPTOS_LOWDELAY", server.series(), after)
    assert options.evidence == "confirmed"
    assert "TCP_NODELAY stays on" in (options.remark or "")
    off = server.series(in_global="socket options = TCP_NODELAY=0")
    assert "stays on" not in (judge_change("socket options", "TCP_NODELAY=0", server.series(), off).remark or "")


def unseen(**client: Any) -> Series:
    return series((100.0, 101.0), client=replace(CLIENT, **client), environment={})


def test_without_the_configuration_a_claim_is_unproven() -> None:
    change = judge_change("strict sync", "no", unseen(), unseen())
    assert told(change) == ("strict sync", "no", "unconfirmed", None, ())
    assert change.remark == "The server's configuration could not be read."
    assert setting_state(change) is SettingState.UNPROVEN
    why = {"server": {"facts.unknown": "the settings of nas are unknown; name a way there by ssh"}}
    told_why = judge_change("strict sync", "no", unseen(), replace(unseen(), environment=why))
    assert told_why.remark == (
        "The server's configuration could not be read (the settings of nas are unknown; name a way there by ssh)."
    )


def test_without_the_configuration_the_session_is_still_checked() -> None:
    denied = judge_change("smb encrypt", "required", unseen(), unseen())
    assert denied.evidence == "contradicted"
    assert "server smb encrypt = required is not in effect: the session is not encrypted." in (denied.remark or "")
    fits = judge_change("smb encrypt", "required", unseen(), unseen(encryption="aes-256-gcm"))
    assert told(fits) == ("server smb encrypt", "required", "unconfirmed", None, ())
    assert "The session fits it (encryption none -> aes-256-gcm)." in (fits.remark or "")
    other = judge_change("strict sync", "no", unseen(), unseen(dialect="2.1"))
    assert other.also_changed == ("client.dialect 3.1.1 -> 2.1",)
    assert setting_state(other) is SettingState.NOT_ALONE


def test_without_the_configuration_of_the_base_the_value_now_still_counts(server: Server) -> None:
    now = server.series(in_share="strict sync = no")
    assert judge_change("strict sync", "no", unseen(), now).evidence == "unconfirmed"
    assert judge_change("strict sync", "yes", unseen(), now).evidence == "contradicted"
    assert judge_change("strict sync", "no", None, now).evidence == "unconfirmed"


def test_names_that_cannot_be_are_said_without_the_configuration() -> None:
    removed = judge_change("share modes", "no", unseen(), unseen())
    assert removed.evidence == "unconfirmed"
    assert "share modes was removed in Samba 4.0.0" in (removed.remark or "")
    assert "neither yes nor no" in (judge_change("strict sync", "maybe", unseen(), unseen()).remark or "")


def test_what_varies_by_itself_is_no_second_change(server: Server) -> None:
    before = server.series(environment={"client": {"load.1min": 0.1}, "path": {"local_address": "10.0.0.1"}})
    after = server.series(
        in_share="strict sync = no",
        environment={"client": {"load.1min": 3.0}, "path": {"local_address": "10.0.0.1"}},
    )
    assert judge_change("strict sync", "no", before, after).also_changed == ()


def test_settings_of_the_client_are_seen_in_the_series_itself() -> None:
    change = judge_change("block", "64K", unseen(), unseen(block_bytes=65536))
    assert told(change) == ("block", "64K", "confirmed", "1048576", ())
    assert change.remark == 'block changed from "1M" to "64K".'
    assert changed(change) == "block = 64K (was 1M)"
    assert changed(Change(name="read size", value="", previous="65536")) == "read size = empty (was 65536)"
    assert judge_change("in flight", "8", unseen(), unseen(in_flight=2)).evidence == "contradicted"
    assert judge_change("in-flight", "4", unseen(), unseen()).evidence == "contradicted"
    unmoved = judge_change("in-flight", "8", unseen(), unseen(block_bytes=65536))
    assert (unmoved.evidence, unmoved.remark) == ("contradicted", 'in-flight is "4", not "8".')
    other = judge_change("client", "smbclient", unseen(), unseen(name="smbclient", version="4.17", in_flight=1))
    assert (other.evidence, other.also_changed) == ("confirmed", ())


@pytest.mark.parametrize(
    ("name", "fact", "on"), [("client encrypt", "encryption", "aes-128-gcm"), ("client sign", "signing", "aes-gmac")]
)
def test_signing_and_encryption_that_this_client_asks_for_are_seen_in_the_session(name: str, fact: str, on: str):
    plain, sealed = unseen(**{fact: "none"}), unseen(**{fact: on})
    assert told(judge_change(name, "yes", plain, sealed)) == (name, "yes", "confirmed", "no", ())
    assert told(judge_change(name, "no", sealed, plain)) == (name, "no", "confirmed", "yes", ())
    assert judge_change(name, "yes", plain, plain).evidence == "contradicted"
    assert judge_change(name, "yes", sealed, sealed).evidence == "contradicted"


def host(name: str, value: FactValue) -> Series:
    return series((100.0,), environment={"server": {name: value}})


@pytest.mark.parametrize(
    ("name", "value", "fact", "before", "after"),
    [
        ("net.ipv4.tcp_congestion_control", "bbr", "tcp.congestion_control", "cubic", "bbr"),
        ("tcp_rmem", "4096 131072 16777216", "tcp.rmem", "4096 131072 6291456", "4096\t131072\t16777216"),
        ("MTU", "9000", "link.mtu_bytes", 1500, 9000),
        ("read_ahead_kb", "4096", "disk.read_ahead_bytes", 131072, 4194304),
        ("rsize", "1M", "filesystem.options", "rw,rsize=4194304", "rw,rsize=1048576"),
    ],
)
def test_settings_of_hosts_and_mounts(name: str, value: str, fact: str, before: FactValue, after: FactValue) -> None:
    change = judge_change(name, value, host(fact, before), host(fact, after))
    assert (change.evidence, change.also_changed) == ("confirmed", ())
    assert judge_change(name, value, host(fact, before), host(fact, before)).evidence == "contradicted"
    assert judge_change(name, value, unseen(), unseen()).evidence == "unconfirmed"


def test_smb_conf_does_not_matter_to_ftp() -> None:
    ftp = replace(unseen(), target=Target(protocol="ftp", host="nas", path="/big.bin"))
    change = judge_change("strict sync", "no", ftp, ftp)
    assert change.evidence == "unconfirmed"
    assert "ftp does not go through Samba" in (change.remark or "")


def test_what_was_typed_cannot_break_a_line() -> None:
    change = judge_change("no\nsuch", "x\x1b[31m", unseen(), unseen())
    assert "\n" not in f"{change.name}{change.remark}"
    assert "\x1b" not in f"{change.value}{change.remark}"
