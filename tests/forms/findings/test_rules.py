"""Each finding with a set-up that provokes it and one in which it stays silent."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from forms.findings.finding import Finding, Severity
from forms.findings.report import finding_document, findings_text
from forms.findings.rules import findings, first_to_look_at
from storage.records import ClientFacts, Command, Series, Target
from tests.forms.samples import CLIENT, in_turns, series

GIGABIT = 1_000_000_000
SHAPE = (1.0, 1.004, 0.997, 1.002, 0.998, 1.001)
PLAIN = ClientFacts(name="sharebench", version="0.1.0")


def one(protocol: str, megabytes: float, *, host: str = "nas", kind: str = "card", **fields: Any) -> Series:
    """A steady series at so many MB/s."""
    usual: dict[str, Any] = {
        "id": f"{protocol}-{host}-{megabytes}-{fields.get('command', 'get')}",
        "target": Target(protocol=protocol, host=host, share="data" if protocol == "smb" else None, path="/f"),
        "client": CLIENT if protocol == "smb" else PLAIN,
        "link_bits_per_second": GIGABIT if kind != "loopback" else None,
        "environment": {"path": {"link.kind": kind, "link.interface": "eth0"}},
    }
    return series([megabytes * 1e6 * share for share in SHAPE], **{**usual, **fields})


def of(key: str, *given: Series) -> list[Finding]:
    return [finding for finding in findings(given) if finding.key == key]


def keys(*given: Series) -> list[str]:
    return [finding.key for finding in findings(given)]


def with_path(**facts: Any) -> Series:
    return one("ftp", 110, environment={"path": {name.replace("__", "."): value for name, value in facts.items()}})


def test_nothing_measured_finds_nothing():
    assert findings([]) == []
    assert findings([series()]) == []
    assert first_to_look_at([]) is None


def test_well_configured():
    found = findings([one("smb", 112), one("ftp", 111)])
    assert [f.key for f in found] == ["well-configured"]
    assert found[0].severity is Severity.GOOD
    assert "SMB 112.0 MB/s (90 % of 1 Gb/s)" in found[0].evidence
    assert first_to_look_at(found) is None


def test_as_fast_as_ftp_but_for_chance_is_well_configured():
    assert keys(*in_turns(one("smb", 111), one("ftp", 111.5))) == ["well-configured"]


def test_unusual_runs_take_the_compliment_back():
    stray = one("smb", 115)
    runs = tuple(replace(r, seconds=(r.seconds or 0) * 1.2) if r.number == 4 else r for r in stray.runs)
    found = findings([replace(stray, runs=runs), one("ftp", 100)])
    assert [f.key for f in found] == ["unusual-runs"]
    assert "1 unusual run" in found[0].evidence


@pytest.mark.parametrize(
    ("megabytes", "key", "severity"),
    [
        (60, "time-to-tune", Severity.WARNING),
        (67.9, "time-to-tune", Severity.WARNING),
        (70, "usual-ratio", Severity.NOTE),
        (90, "usual-ratio", Severity.GOOD),
        (130, "well-configured", Severity.GOOD),
    ],
)
def test_the_ratio_to_ftp(megabytes, key, severity):
    found = findings([one("smb", megabytes), one("ftp", 100)])
    assert (found[0].key, found[0].severity) == (key, severity)


def test_runs_that_scatter_too_much_tell_no_ratio():
    wild = [60e6, 180e6, 110e6, 200e6]
    found = findings(in_turns(series(wild, id="wild"), one("ftp", 110, host="nas")))
    assert [f.key for f in found] == ["ratio-unknown"]
    assert "more runs (about " in found[0].what_to_do
    assert keys(series([50e6, 20e6, 120e6, 40e6], id="wild"), one("ftp", 100)) == ["ratio-unknown"]
    assert keys(series([110e6], id="once"), one("ftp", 100)) == ["ratio-unknown"]


def test_the_books_own_table_b1():
    def sparc(protocol: str, kilobytes: float, command: Command) -> Series:
        return one(protocol, kilobytes / 1000, command=command, link_bits_per_second=10_000_000)

    untuned = findings([sparc("ftp", 1014.5, Command.GET), sparc("smb", 645.3, Command.GET)])
    assert untuned[0].key == "time-to-tune"
    assert "63.6 % of FTP" in untuned[0].evidence
    put = findings([sparc("ftp", 379.8, Command.PUT), sparc("smb", 386.1, Command.PUT)])
    assert "well-configured" in [f.key for f in put]


def test_gets_are_held_against_gets_on_the_same_host_only():
    assert keys(one("smb", 60), one("ftp", 110, command=Command.PUT)) == []
    assert keys(one("smb", 60), one("ftp", 110, host="other")) == []


def test_loopback_no_faster_than_the_network():
    near, far = one("ftp", 118, host="127.0.0.1", kind="loopback"), one("ftp", 112)
    found = of("loopback-no-faster", near, far)
    assert len(found) == 1
    assert "FTP 118.0 MB/s on the loopback, FTP 112.0 MB/s (90 % of 1 Gb/s) over the network" in found[0].evidence
    assert "iperf3" in found[0].what_to_do
    assert of("loopback-no-faster", one("ftp", 2600, host="127.0.0.1", kind="loopback"), far) == []
    assert of("loopback-no-faster", near) == []
    assert of("loopback-no-faster", replace(near, ceiling_bytes_per_second=120e6), far) == []


def test_bare_tcp_decides_about_the_loopback_where_it_was_measured():
    disk_bound = [one("ftp", 118, host="127.0.0.1", kind="loopback"), one("ftp", 112)]
    fast = [one("iperf3", 2900, host="127.0.0.1", kind="loopback"), one("iperf3", 116)]
    assert of("loopback-no-faster", *disk_bound, *fast) == []
    slow = [one("iperf3", 117, host="127.0.0.1", kind="loopback"), one("iperf3", 116)]
    assert "bare TCP" in of("loopback-no-faster", *disk_bound, *slow)[0].evidence


def test_the_loopback_is_known_by_its_address_where_no_facts_are():
    near = one("ftp", 118, host="::1", environment={})
    assert of("loopback-no-faster", near, one("ftp", 112, environment={}))


def test_both_slow_against_the_link_is_the_network():
    found = findings([one("smb", 30), one("ftp", 32)])
    assert found[0].key == "network-slow"
    assert found[0].severity is Severity.PROBLEM
    assert "iperf3 -s" in found[0].what_to_do
    assert first_to_look_at(found) is found[0]
    assert "network-slow" not in keys(one("smb", 30), one("ftp", 110))
    assert "network-slow" not in keys(one("smb", 30), one("ftp", 32, link_bits_per_second=None))
    assert "network-slow" not in keys(one("smb", 30, ceiling_bytes_per_second=33e6), one("ftp", 32))


def test_a_sound_network_turns_the_suspicion_to_the_server():
    found = findings([one("smb", 30), one("ftp", 32), one("iperf3", 117)])
    assert "server-slow" in [f.key for f in found]
    assert "network-slow" not in [f.key for f in found]
    assert "network-slow" in keys(one("smb", 30), one("ftp", 32), one("iperf3", 33))


def test_the_clients_ceiling():
    found = of("client-ceiling", one("smb", 100, ceiling_bytes_per_second=110e6))
    assert "--client smbclient" in found[0].what_to_do
    assert of("client-ceiling", one("smb", 100, ceiling_bytes_per_second=1000e6)) == []
    near = one("smb", 1000, host="127.0.0.1", kind="loopback", ceiling_bytes_per_second=1100e6)
    assert (found[0].severity, of("client-ceiling", near)[0].severity) == (Severity.WARNING, Severity.NOTE)


def test_signing_and_encryption():
    signed = one("smb", 100, client=replace(CLIENT, signing="aes-cmac"))
    assert "aes-cmac" in of("signing", signed)[0].evidence
    sealed = one("smb", 100, client=replace(CLIENT, signing="aes-cmac", encryption="aes-128-gcm"))
    assert "aes-128-gcm" in of("encryption", sealed)[0].evidence
    assert of("signing", sealed) == []
    assert keys(one("smb", 100)) == []
    assert keys(one("ftps", 100, client=replace(PLAIN, encryption="TLS 1.3"))) == []


@pytest.mark.parametrize(("dialect", "severity"), [("2.0.2", Severity.WARNING), ("3.0.2", Severity.NOTE)])
def test_an_old_dialect(dialect, severity):
    found = of("old-dialect", one("smb", 100, client=replace(CLIENT, dialect=dialect)))
    assert found[0].severity is severity
    assert of("old-dialect", one("smb", 100)) == []


def test_half_duplex():
    found = of("half-duplex", with_path(link__duplex="half", link__interface="eth0"))
    assert found[0].severity is Severity.PROBLEM
    assert "eth0" in found[0].evidence
    assert of("half-duplex", with_path(link__duplex="full")) == []


def test_a_slow_link_on_a_fast_card():
    facts = {"link__card_rate_bits_per_second": 100_000_000, "link__fastest_rate_bits_per_second": GIGABIT}
    found = of("slow-link", with_path(**facts))
    assert found[0].title == "A 100 Mb/s link on a 1 Gb/s card"
    assert found[0].severity is Severity.PROBLEM
    less = {**facts, "link__card_rate_bits_per_second": GIGABIT, "link__fastest_rate_bits_per_second": 2_500_000_000}
    assert of("slow-link", with_path(**less))[0].severity is Severity.NOTE
    assert of("slow-link", with_path(**{**facts, "link__card_rate_bits_per_second": GIGABIT})) == []
    assert of("slow-link", with_path(link__rate_bits_per_second=100_000_000)) == []


def test_growing_error_counters():
    found = of("growing-errors", with_path(link__errors_during=7, link__rx_crc_errors_during=5, link__drops_during=0))
    assert found[0].severity is Severity.PROBLEM
    assert "7 errors" in found[0].evidence
    assert "bad checksums 5" in found[0].evidence
    assert of("growing-errors", with_path(link__drops_during=3))[0].severity is Severity.NOTE
    assert of("growing-errors", with_path(link__errors_before=900, link__errors_during=0, link__drops_during=0)) == []


def test_retransmits():
    found = of("retransmits", with_path(tcp__segments_sent_during=100_000, tcp__retransmitted_during=900))
    assert "0.90 %" in found[0].evidence
    assert of("retransmits", with_path(tcp__segments_sent_during=100_000, tcp__retransmitted_during=9)) == []
    lost = {"tcp__segments_sent_during": 100_000, "tcp__retransmitted_during": 900}
    theirs = {"tcp.segments_sent_during": 100_000, "tcp.retransmitted_during": 900}
    assert "the server sent 900" in of("retransmits", one("ftp", 110, environment={"server": theirs}))[0].evidence
    assert of("retransmits", with_path(**lost, link__kind="loopback")) == []
    assert of("retransmits", with_path(tcp__segments_sent_during=0, tcp__retransmitted_during=0)) == []


def test_one_interface_counts_all_the_outbound_traffic():
    facts = {
        "interface.eth0.tx_bytes_during": 10_000_000,
        "interface.eth1.tx_bytes_during": 20_000,
        "interface.eth0.rx_bytes_during": 500_000,
        "interface.eth1.rx_bytes_during": 480_000,
    }
    found = of("one-interface-out", one("smb", 100, environment={"server": facts}))
    assert "eth0 of the server sent 100 %" in found[0].evidence
    shared = {**facts, "interface.eth1.tx_bytes_during": 9_000_000}
    assert of("one-interface-out", one("smb", 100, environment={"server": shared})) == []
    idle = {**facts, "interface.eth1.rx_bytes_during": 1_000}
    assert of("one-interface-out", one("smb", 100, environment={"server": idle})) == []


def test_one_interface_carries_all_the_outbound_traffic():
    facts = {"link.inward_interface": "eth1", "link.interface": "eth0", "link.cards_up": 2}
    found = of("one-interface-out", one("smb", 100, environment={"server": facts}))
    assert "by eth1, its answers leave by eth0 of 2 that are up" in found[0].evidence
    same = {**facts, "link.interface": "eth1"}
    assert of("one-interface-out", one("smb", 100, environment={"server": same})) == []
    assert of("one-interface-out", one("smb", 100, environment={"server": {"link.interface": "eth0"}})) == []


def test_a_busy_time():
    found = of("busy", one("smb", 100, quiet={"verdict": "busy", "reasons": ["another load"]}))
    assert "another load" in found[0].evidence
    assert of("busy", one("smb", 100, quiet={"verdict": "quiet"})) == []


def test_low_utilisation():
    idle = one("smb", 20, quiet={"verdict": "quiet", "cpu_percent_during": 8.0})
    assert "16 % of the link and 8 %" in of("low-utilisation", idle)[0].evidence
    assert of("low-utilisation", replace(idle, quiet={"verdict": "quiet", "cpu_percent_during": 80.0})) == []
    assert of("low-utilisation", one("smb", 110, quiet={"verdict": "quiet", "cpu_percent_during": 8.0})) == []
    assert of("low-utilisation", one("smb", 20)) == []


def test_what_many_series_show_is_said_once():
    signed = [one("smb", rate, client=replace(CLIENT, signing="aes-cmac")) for rate in (100, 101, 102)]
    found = of("signing", *signed)
    assert len(found) == 1
    assert len(found[0].series_ids) == 3
    assert "Likewise in 2" in found[0].evidence


def test_the_gravest_comes_first_and_every_finding_says_what_to_do():
    wrong = with_path(link__duplex="half")
    signed = one("smb", 100, client=replace(CLIENT, signing="aes-cmac"))
    given: Sequence[Series] = [signed, one("ftp", 160), wrong]
    found = findings(given)
    severities = [list(Severity).index(f.severity) for f in found]
    assert severities == sorted(severities)
    assert first_to_look_at(found) is found[0]
    assert found[0].key == "half-duplex"
    assert all(f.title and f.evidence.endswith(".") and f.what_to_do.endswith(".") for f in found)


def test_findings_as_text_and_as_a_document():
    found = findings([one("smb", 60, client=replace(CLIENT, signing="aes-cmac")), one("ftp", 110)])
    text = findings_text(found)
    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith("[! ] SMB get reaches 55 % of FTP: time to tune\n")
    assert "[i ] The session is signed" in text
    assert "No findings" in findings_text([])
    assert finding_document(found[0])["severity"] == "warning"
