"""Each finding with a set-up that provokes it and one in which it stays silent."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from forms.comparison.rules import _is_loss, findings
from forms.exporters.text_tables import table_lines
from forms.findings.finding import Finding, Severity, first_to_look_at
from forms.findings.report import NO_FINDINGS, finding_document, findings_table
from forms.series.report import result_fields
from forms.series.summary import run_form
from forms.stats.decision import Verdict
from storage.plan import Settings
from storage.records import ClientFacts, Command, Quiet, QuietVerdict, Series, Target
from tests.builders import CLIENT, interleaved, series
from tests.specs import plan_with

GIGABIT = 1_000_000_000
SHAPE = (1.0, 1.004, 0.997, 1.002, 0.998, 1.001)
PLAIN = ClientFacts(name="sharebench", version="0.1.0")


def steady(protocol: str, megabytes: float, *, host: str = "nas", kind: str = "card", **fields: Any) -> Series:
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
    return steady("ftp", 110, environment={"path": {name.replace("__", "."): value for name, value in facts.items()}})


def test_nothing_measured_finds_nothing():
    assert findings([]) == []
    assert findings([series()]) == []
    assert first_to_look_at([]) is None


def test_well_configured():
    found = findings([steady("smb", 112), steady("ftp", 111)])
    assert [f.key for f in found] == ["well-configured"]
    assert found[0].severity is Severity.GOOD
    assert "SMB 112.0 MB/s (90 % of 1 Gb/s)" in found[0].evidence
    assert first_to_look_at(found) is None


def test_as_fast_as_ftp_but_for_chance_is_well_configured():
    assert keys(*interleaved(steady("smb", 111), steady("ftp", 111.5))) == ["well-configured"]


def test_unusual_runs_take_the_compliment_back():
    stray = steady("smb", 115)
    runs = tuple(replace(r, seconds=(r.seconds or 0) * 1.2) if r.number == 4 else r for r in stray.runs)
    found = findings([replace(stray, runs=runs), steady("ftp", 100)])
    assert [f.key for f in found] == ["unusual-runs"]
    assert "1 unusual run" in found[0].evidence


@pytest.mark.parametrize(
    ("megabytes", "key", "severity"),
    [
        (60, "time-to-tune", Severity.WARNING),
        (67.9, "time-to-tune", Severity.WARNING),
        (70, "usual-ratio", Severity.NOTE),
        (90, "usual-ratio", Severity.GOOD),
        (117, "well-configured", Severity.GOOD),
    ],
)
def test_the_ratio_to_ftp(megabytes, key, severity):
    found = findings([steady("smb", megabytes), steady("ftp", 100)])
    assert (found[0].key, found[0].severity) == (key, severity)


def test_runs_that_scatter_too_much_tell_no_ratio():
    wild = [60e6, 180e6, 110e6, 100e6]
    found = findings(interleaved(series(wild, id="wild"), steady("ftp", 110, host="nas")))
    assert [f.key for f in found] == ["ratio-unknown"]
    assert "Measure more runs" in found[0].what_to_do
    assert keys(series([50e6, 20e6, 120e6, 40e6], id="wild"), steady("ftp", 100)) == ["ratio-unknown"]
    assert keys(series([110e6], id="once"), steady("ftp", 100)) == ["ratio-unknown"]


# Table B-1 of Using Samba in KB/s: FTP, untuned and tuned Samba; the Pentium has no untuned figures.
B1 = {
    ("sparc", Command.GET): (1014.5, 645.3, 866.7),
    ("sparc", Command.PUT): (379.8, 386.1, 329.5),
    ("pentium", Command.GET): (973.27, None, 725.0),
    ("pentium", Command.PUT): (1014.5, None, 1100.0),
}


def table_b1(shape: Sequence[float] = (1.0, 1.001, 0.999)) -> list[Series]:
    """The ten series of table B-1, each with runs of that shape."""
    found = []
    for (host, command), rates in B1.items():
        for minute, (label, rate) in enumerate(zip(("", "untuned Samba", "tuned Samba"), rates, strict=True)):
            if rate is None:
                continue
            one = steady(
                "smb" if label else "ftp", rate / 1000, host=host, command=command, link_bits_per_second=10_000_000
            )
            runs = series([rate * 1000 * share for share in shape]).runs
            moment = f"2026-01-31T10:0{minute}:00.000Z"
            found.append(replace(one, id=f"{host}-{command}-{label}", label=label, runs=runs, created_at=moment))
    return found


def test_the_books_own_table_b1_is_told_whole():
    found = findings(table_b1())
    titles = {f.title for f in found}
    assert "Writing is slow, reading fills the link: the server's disk or its sync settings" in titles
    assert "network-slow" not in [f.key for f in found]
    assert "SMB get with untuned Samba reaches 64 % of FTP: time to tune" in titles
    assert "SMB get with tuned Samba reaches 85 % of FTP: good" in titles
    assert "Well configured: SMB put with untuned Samba is no slower than FTP" in titles
    assert "SMB put with tuned Samba reaches 87 % of FTP: good" in titles
    assert "SMB get reaches 74 % of FTP: as usual" in titles
    lost = next(f for f in found if f.key == "slower")
    assert lost.title == "put is 14.7 % slower with tuned Samba than with untuned Samba"
    assert "386.1 kB/s with untuned Samba, 329.5 kB/s with tuned Samba" in lost.evidence
    assert sum(f.key == "slower" for f in found) == 1


def test_where_the_usual_share_is_quoted_it_is_said_that_the_book_does_not_meet_it():
    (tune,) = of("time-to-tune", *table_b1())
    assert "63.6 % of FTP" in tune.evidence
    assert "68 to 80 %. Of the four tuned figures in the book's own table B-1 one does" in tune.evidence


def test_a_loss_by_single_runs_is_told_and_not_called_proven():
    found = findings(table_b1((1.0,)))
    lost = next(f for f in found if f.key == "slower")
    assert lost.severity is Severity.NOTE
    assert "do not prove it" in lost.evidence
    assert "SMB get with untuned Samba reaches 64 % of FTP, by a single run" in {f.title for f in found}


def test_a_loss_is_judged_between_set_ups_of_one_place():
    before, after = steady("smb", 100, label="as found"), steady("smb", 80, label="changed", created_at="2026-02-01")
    assert [f.series_ids for f in of("slower", before, after)] == [(before.id, after.id)]
    proven = of("slower", *interleaved(before, after))
    assert [(f.severity, "do not prove" in f.evidence) for f in proven] == [(Severity.WARNING, False)]
    assert of("slower", before, replace(after, label="as found")) == []
    assert of("slower", before, replace(after, label="")) == []
    assert of("slower", before, replace(after, target=replace(after.target, path="/other"))) == []
    assert of("slower", before, steady("smb", 96, label="changed", created_at="2026-02-01")) == []
    assert of("slower", after, replace(before, created_at="2026-02-02")) == []


def test_a_loss_that_nothing_judges_is_told_from_the_margin_on_unless_the_runs_deny_it():
    for change, interval, runs, told in (
        (-5.0, None, None, True),
        (-4.99, None, None, False),
        (-5.0, None, (-9.0, -0.1), True),
        (-5.0, None, (-9.0, 0.0), False),
        (-5.0, (-9.0, -0.1), (-9.0, -0.1), False),
    ):
        found: Any = SimpleNamespace(verdict=Verdict.UNKNOWN, interval_percent=interval, runs_interval_percent=runs)
        assert _is_loss(found, change) is told, (change, interval, runs)


def test_the_newest_series_of_a_set_up_is_judged():
    old, new = steady("smb", 50), steady("smb", 90, created_at="2026-03-01")
    assert [f.key for f in findings([old, new, steady("ftp", 100)])] == ["usual-ratio"]


HOURS = tuple(f"2026-03-01T{hour:02}:00:00.000Z" for hour in range(4))


def test_equal_series_of_a_day_are_held_against_ftp_by_their_means():
    fast, slow = (steady("smb", rate, created_at=hour) for rate, hour in zip((1072, 400.6), HOURS[:2], strict=True))
    ftp = [steady("ftp", rate, created_at=hour) for rate, hour in zip((1576, 1683), HOURS[2:], strict=True)]
    (found,) = [f for f in findings([fast, slow, *ftp]) if f.key.startswith(("ratio", "time", "usual"))]
    assert found.key == "ratio-unknown", "the two series of SMB differ by more than the ratio tells"
    assert "45.2 %" in found.evidence
    assert "more series" in found.what_to_do
    assert {fast.id, slow.id, ftp[0].id, ftp[1].id} == {*found.series_ids}


def test_equal_series_that_agree_tell_the_ratio_of_their_means():
    smb = [steady("smb", rate, created_at=hour) for rate, hour in zip((50, 51), HOURS[:2], strict=True)]
    ftp = [steady("ftp", rate, created_at=hour) for rate, hour in zip((100, 102), HOURS[2:], strict=True)]
    (found,) = of("time-to-tune", *smb, *ftp)
    assert "50.0 %" in found.evidence


def test_a_single_lucky_series_of_ftp_is_not_the_whole_of_it():
    smb = [steady("smb", rate, created_at=hour) for rate, hour in zip((85, 85.5), HOURS[:2], strict=True)]
    ftp = [steady("ftp", rate, created_at=hour) for rate, hour in zip((90, 150), HOURS[2:], strict=True)]
    assert of("time-to-tune", *smb, *ftp) == [], "85 of 150 would be 57 %"


@pytest.mark.parametrize(
    ("second", "key"), [("2026-03-02T00:00:00.000Z", "ratio-unknown"), ("2026-03-02T00:00:01.000Z", "usual-ratio")]
)
def test_a_series_of_more_than_a_day_before_is_of_another_time(second: str, key: str):
    old, new = steady("smb", 50, created_at=HOURS[0]), steady("smb", 90, created_at=second)
    assert keys(old, new, steady("ftp", 100)) == [key]


def test_gets_are_held_against_gets_on_the_same_host_only():
    assert keys(steady("smb", 60), steady("ftp", 110, command=Command.PUT)) == []
    assert keys(steady("smb", 60), steady("ftp", 110, host="other")) == []


def test_loopback_no_faster_than_the_network():
    near, far = steady("ftp", 118, host="127.0.0.1", kind="loopback"), steady("ftp", 112)
    found = of("loopback-no-faster", near, far)
    assert len(found) == 1
    assert "FTP 118.0 MB/s on the loopback, FTP 112.0 MB/s (90 % of 1 Gb/s) over the network" in found[0].evidence
    assert "iperf3" in found[0].what_to_do
    assert of("loopback-no-faster", steady("ftp", 2600, host="127.0.0.1", kind="loopback"), far) == []
    assert of("loopback-no-faster", near) == []
    assert of("loopback-no-faster", replace(near, ceiling_bytes_per_second=120e6), far) == []


def test_bare_tcp_decides_about_the_loopback_where_it_was_measured():
    disk_bound = [steady("ftp", 118, host="127.0.0.1", kind="loopback"), steady("ftp", 112)]
    fast = [steady("iperf3", 2900, host="127.0.0.1", kind="loopback"), steady("iperf3", 116)]
    assert of("loopback-no-faster", *disk_bound, *fast) == []
    slow = [steady("iperf3", 117, host="127.0.0.1", kind="loopback"), steady("iperf3", 116)]
    assert "bare TCP" in of("loopback-no-faster", *disk_bound, *slow)[0].evidence


def test_a_fast_network_may_be_as_fast_as_the_loopback():
    near = steady("smb", 3_300, host="127.0.0.1", kind="loopback")
    assert of("loopback-no-faster", near, steady("smb", 2_900, link_bits_per_second=25 * GIGABIT)) == []
    assert of("loopback-no-faster", near, steady("smb", 2_900, link_bits_per_second=None)) == []
    slow = steady("smb", 1_500, link_bits_per_second=25 * GIGABIT)
    assert of("loopback-no-faster", steady("smb", 1_600, host="127.0.0.1", kind="loopback"), slow)


def test_the_loopback_is_known_by_its_address_where_no_facts_are():
    near = steady("ftp", 118, host="::1", environment={})
    assert of("loopback-no-faster", near, steady("ftp", 112, environment={}))


def both_ways(get: float, put: float, **fields: Any) -> list[Series]:
    return [
        steady(protocol, rate, command=command, **fields)
        for command, rate in ((Command.GET, get), (Command.PUT, put))
        for protocol in ("smb", "ftp")
    ]


def test_both_directions_slow_is_the_network():
    found = findings(both_ways(30, 32))
    assert found[0].key == "network-slow"
    assert found[0].severity is Severity.PROBLEM
    assert "iperf3 -s" in found[0].what_to_do
    assert first_to_look_at(found) is found[0]
    assert "network-slow" not in keys(steady("smb", 30), steady("ftp", 110))
    assert "network-slow" not in keys(*both_ways(30, 32, link_bits_per_second=None))
    assert "network-slow" not in keys(*both_ways(30, 32, ceiling_bytes_per_second=34e6))


def test_one_direction_that_fills_the_link_clears_the_network():
    title = "Writing is slow, reading fills the link: the server's disk or its sync settings"
    (found,) = of("server-slow", *both_ways(100, 30))
    assert (found.title, found.severity) == (title, Severity.WARNING)
    assert "sync always" in found.what_to_do
    assert "get by SMB 100.0 MB/s (80 % of 1 Gb/s)" in found.evidence
    (found,) = of("server-slow", *both_ways(30, 100))
    assert found.title == "Reading is slow, writing fills the link: the server's disk"
    assert of("server-slow", *both_ways(99, 30)) == []
    assert [f.series_ids for f in of("network-or-disk", *both_ways(99, 30))]
    bare = steady("iperf3", 33, command=Command.PUT)
    assert "network-slow" in keys(*both_ways(100, 30), bare)


def test_one_direction_alone_does_not_tell_the_network_from_the_disk():
    (found,) = of("network-or-disk", steady("smb", 30), steady("ftp", 32))
    assert found.severity is Severity.WARNING
    assert found.what_to_do.startswith("Measure put too")
    assert "network-slow" not in keys(*both_ways(30, 75))
    assert "network-slow" in keys(*both_ways(30, 74))


def test_a_wireless_link_is_held_against_what_is_usual_there():
    half = [steady("smb", 69, kind="wireless"), steady("ftp", 70, kind="wireless")]
    assert not {"network-slow", "wireless-slow"} & set(keys(*half))
    found = findings([steady("smb", 30, kind="wireless"), steady("ftp", 32, kind="wireless")])
    slow = next(f for f in found if f.key == "wireless-slow")
    assert slow.severity is Severity.NOTE
    assert "network-slow" not in [f.key for f in found]


def test_a_slow_network_explains_why_nothing_is_busy():
    idle = Quiet(verdict=QuietVerdict.QUIET, figures={"cpu_percent_during": 8.0})
    slow = [steady("smb", 30, quiet=idle), steady("ftp", 32, quiet=idle)]
    assert "low-utilisation" in keys(slow[0])
    assert "low-utilisation" not in keys(*slow)


def test_a_ceiling_that_was_beaten_is_none():
    beaten = steady("smb", 100, ceiling_bytes_per_second=90e6)
    assert of("client-ceiling", beaten) == []
    assert "network-slow" in keys(*both_ways(30, 32, ceiling_bytes_per_second=20e6))


def test_a_sound_network_turns_the_suspicion_to_the_server():
    found = findings([steady("smb", 30), steady("ftp", 32), steady("iperf3", 117)])
    assert "server-slow" in [f.key for f in found]
    assert "network-slow" not in [f.key for f in found]
    assert "network-slow" in keys(steady("smb", 30), steady("ftp", 32), steady("iperf3", 33))


def test_the_clients_ceiling():
    found = of("client-ceiling", steady("smb", 100, ceiling_bytes_per_second=110e6))
    assert "smbclient" in found[0].what_to_do
    assert of("client-ceiling", steady("smb", 100, ceiling_bytes_per_second=1000e6)) == []
    near = steady("smb", 1000, host="127.0.0.1", kind="loopback", ceiling_bytes_per_second=1100e6)
    assert (found[0].severity, of("client-ceiling", near)[0].severity) == (Severity.WARNING, Severity.NOTE)


def settings_with(name: str, *, on: bool) -> Settings:
    return Settings(sign=name == "sign" and on, encrypt=name == "encrypt" and on)


def test_signing_and_encryption():
    signed = steady("smb", 100, client=replace(CLIENT, signing="aes-cmac"))
    assert "aes-cmac" in of("signing", signed)[0].evidence
    sealed = steady("smb", 100, client=replace(CLIENT, signing="aes-cmac", encryption="aes-128-gcm"))
    assert "aes-128-gcm" in of("encryption", sealed)[0].evidence
    assert of("signing", sealed) == []
    for one, name, key in ((sealed, "encrypt", "encryption"), (signed, "sign", "signing")):
        for asked in (True, False):
            plan = plan_with(runs=5, warmups=2, settings=settings_with(name, on=asked))
            assert ("This client asked for it" in of(key, replace(one, plan=plan))[0].what_to_do) is asked
        names = {"encrypt": "server smb encrypt", "sign": "server signing"}
        server = {"server": {f"smb.conf/global/{names[name]}": "required"}}
        both = replace(one, environment=server, plan=plan_with(runs=5, settings=settings_with(name, on=True)))
        assert "This client asked" not in of(key, both)[0].what_to_do, "the server requires it as well"
    assert keys(steady("smb", 100)) == []
    assert keys(steady("ftps", 100, client=replace(PLAIN, encryption="TLS 1.3"))) == []


@pytest.mark.parametrize(("dialect", "severity"), [("2.0.2", Severity.WARNING), ("3.0.2", Severity.NOTE)])
def test_an_old_dialect(dialect, severity):
    found = of("old-dialect", steady("smb", 100, client=replace(CLIENT, dialect=dialect)))
    assert found[0].severity is severity
    assert of("old-dialect", steady("smb", 100)) == []
    lowered = steady("smb", 100, client=replace(CLIENT, dialect=dialect))
    found = of("old-dialect", replace(lowered, environment={"path": {"smb.dialect_before": "3.1.1"}}))
    assert found[0].severity is Severity.WARNING
    assert "spoke 3.1.1 with this client before." in found[0].evidence


def test_a_form_that_contradicts_itself():
    said = {"client": {"form.contradictions": "run 2: printed 1 bytes/sec"}}
    assert of("contradicting-cells", steady("smb", 100, environment=said))[0].evidence == "run 2: printed 1 bytes/sec."
    assert of("contradicting-cells", steady("smb", 100)) == []


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
    by_radio = of("growing-errors", with_path(link__kind="wireless", link__errors_during=7))[0]
    assert (by_radio.title, by_radio.what_to_do[:8]) == ("Errors on the link", "Come nea")
    lost_by_radio = of("growing-errors", with_path(link__kind="wireless", link__drops_during=7))[0]
    assert (lost_by_radio.title, lost_by_radio.what_to_do[:8]) == ("Packets dropped on the link", "Come nea")


def test_retransmits():
    found = of("retransmits", with_path(tcp__segments_sent_during=100_000, tcp__retransmitted_during=900))
    assert "0.90 %" in found[0].evidence
    assert of("retransmits", with_path(tcp__segments_sent_during=100_000, tcp__retransmitted_during=9)) == []
    lost = {"tcp__segments_sent_during": 100_000, "tcp__retransmitted_during": 900}
    theirs = {"tcp.segments_sent_during": 100_000, "tcp.retransmitted_during": 900}
    assert (
        "retransmitted 900 of 100000"
        in of("retransmits", steady("ftp", 110, environment={"server": theirs}))[0].evidence
    )
    assert of("retransmits", with_path(**lost, link__kind="loopback")) == []
    assert of("retransmits", with_path(tcp__segments_sent_during=0, tcp__retransmitted_during=0)) == []


def test_one_segment_of_few_is_no_loss():
    assert of("retransmits", with_path(tcp__segments_sent_during=900, tcp__retransmitted_during=1)) == []
    assert of("retransmits", with_path(tcp__segments_sent_during=900, tcp__retransmitted_during=20))


def test_losses_are_those_of_our_own_connections():
    others = {"tcp__segments_sent_during": 100_000, "tcp__retransmitted_during": 900}
    ours = {"tcp__own_segments_sent_during": 50_000, "tcp__own_retransmitted_during": 0}
    assert of("retransmits", with_path(**others, **ours)) == []
    lost = of("retransmits", with_path(**others, **{**ours, "tcp__own_retransmitted_during": 100}))
    assert "this client retransmitted 100 of 50000 TCP segments (0.20 %)" in lost[0].evidence


def test_what_the_server_lost_is_seen_where_it_arrives():
    ours = {"tcp__own_segments_received_during": 62_184, "tcp__own_out_of_order_during": 9_000}
    found = of("retransmits", with_path(tcp__own_segments_sent_during=30_000, **ours))
    assert "9000 of 62184 TCP segments came here after a gap" in found[0].evidence
    all_here = with_path(tcp__segments_received_during=62_184, tcp__out_of_order_during=9_000)
    assert "to the client, in all its connections, after a gap" in of("retransmits", all_here)[0].evidence
    few = {**ours, "tcp__own_out_of_order_during": 300}
    assert of("retransmits", with_path(tcp__own_segments_sent_during=30_000, **few)) == []


@pytest.mark.parametrize("facts", [{"link__kind": "wireless"}, {"tcp__least_round_trip_seconds": 0.02}])
def test_nobody_looks_at_the_cable_of_a_far_or_wireless_way(facts):
    lost = {"tcp__segments_sent_during": 100_000, "tcp__retransmitted_during": 900}
    assert "cable" in of("retransmits", with_path(**lost))[0].what_to_do
    assert "cable" not in of("retransmits", with_path(**lost, **facts))[0].what_to_do


def test_more_than_the_link_can_carry():
    found = of("above-link", steady("smb", 130))
    assert found[0].severity is Severity.PROBLEM
    assert "1.04 Gb/s of content, where a link of 1 Gb/s carries at most 1 Gb/s." in found[0].evidence
    assert of("above-link", steady("smb", 120)) == []
    assert of("above-link", steady("smb", 130, kind="loopback", link_bits_per_second=GIGABIT)) == []
    known = {"link.rate_bits_per_second": GIGABIT, "link.payload_ceiling_bits_per_second": 941_000_000}
    assert of("above-link", steady("smb", 120, environment={"path": known}))
    assert of("above-link", steady("smb", 118, environment={"path": known})) == []
    said = steady("smb", 12, link_bits_per_second=10**8, environment={"path": known})
    assert (
        "a link of 100 Mb/s carries at most 94.1 Mb/s (94 %; headers take the rest)."
        in of("above-link", said)[0].evidence
    )


def test_one_interface_counts_all_the_outbound_traffic():
    facts = {
        "interface.eth0.tx_bytes_during": 10_000_000,
        "interface.eth1.tx_bytes_during": 20_000,
        "interface.eth0.rx_bytes_during": 500_000,
        "interface.eth1.rx_bytes_during": 480_000,
    }
    found = of("one-interface-out", steady("smb", 100, environment={"server": facts}))
    assert "eth0 of the server sent 100 %" in found[0].evidence
    shared = {**facts, "interface.eth1.tx_bytes_during": 9_000_000}
    assert of("one-interface-out", steady("smb", 100, environment={"server": shared})) == []
    idle = {**facts, "interface.eth1.rx_bytes_during": 1_000}
    assert of("one-interface-out", steady("smb", 100, environment={"server": idle})) == []


def test_one_interface_carries_all_the_outbound_traffic():
    facts = {"link.inward_interface": "eth1", "link.interface": "eth0", "link.cards_up": 2}
    found = of("one-interface-out", steady("smb", 100, environment={"server": facts}))
    assert "by eth1, its answers leave by eth0 of 2 that are up" in found[0].evidence
    same = {**facts, "link.interface": "eth1"}
    assert of("one-interface-out", steady("smb", 100, environment={"server": same})) == []
    of_loopback = {**facts, "link.inward_interface": "lo"}
    assert of("one-interface-out", steady("smb", 100, environment={"server": of_loopback})) == []
    assert of("one-interface-out", steady("smb", 100, environment={"server": {"link.interface": "eth0"}})) == []


def test_a_busy_time():
    found = of("busy", steady("smb", 100, quiet=Quiet(verdict=QuietVerdict.BUSY, reasons=("another load",))))
    assert "another load" in found[0].evidence
    assert of("busy", steady("smb", 100, quiet=Quiet(verdict=QuietVerdict.QUIET))) == []


def test_low_utilisation():
    idle = steady("smb", 20, quiet=Quiet(verdict=QuietVerdict.QUIET, figures={"cpu_percent_during": 8.0}))
    assert "16 % of the link and 8 %" in of("low-utilisation", idle)[0].evidence
    assert (
        of(
            "low-utilisation",
            replace(idle, quiet=Quiet(verdict=QuietVerdict.QUIET, figures={"cpu_percent_during": 80.0})),
        )
        == []
    )
    assert (
        of(
            "low-utilisation",
            steady("smb", 110, quiet=Quiet(verdict=QuietVerdict.QUIET, figures={"cpu_percent_during": 8.0})),
        )
        == []
    )
    assert of("low-utilisation", steady("smb", 20)) == []


def test_what_many_series_show_is_said_once():
    signed = [steady("smb", rate, client=replace(CLIENT, signing="aes-cmac")) for rate in (100, 101, 102)]
    found = of("signing", *signed)
    assert len(found) == 1
    assert len(found[0].series_ids) == 3
    assert "Likewise in 2" in found[0].evidence


def test_what_is_alike_is_counted_by_command():
    signed = [
        steady("smb", rate, command=command, client=replace(CLIENT, signing="aes-cmac"))
        for rate, command in ((100, Command.GET), (101, Command.GET), (102, Command.PUT), (103, Command.PUT))
    ]
    assert "Likewise in 1 get and 2 puts more." in of("signing", *signed)[0].evidence


def test_a_protected_session_is_named_before_tuning():
    signed = steady("smb", 60, client=replace(CLIENT, signing="aes-cmac"))
    assert "signed (aes-cmac)" in of("time-to-tune", signed, steady("ftp", 100))[0].what_to_do
    assert "signed" not in of("time-to-tune", steady("smb", 60), steady("ftp", 100))[0].what_to_do
    ftps = steady("ftps", 100, client=replace(PLAIN, encryption="TLSv1.3"))
    assert "signed" not in of("time-to-tune", signed, ftps)[0].what_to_do


def test_a_good_ratio_asks_for_no_tuning():
    assert "baseline" in of("usual-ratio", steady("smb", 90), steady("ftp", 100))[0].what_to_do
    assert "catalogue" in of("usual-ratio", steady("smb", 70), steady("ftp", 100))[0].what_to_do


def test_nobody_is_told_to_use_the_cipher_in_use():
    sealed = [
        steady("smb", 100, client=replace(CLIENT, encryption=cipher)) for cipher in ("aes-128-gcm", "aes-256-ccm")
    ]
    assert "offer it first" not in of("encryption", sealed[0])[0].what_to_do
    assert "aes-128-gcm costs the least" in of("encryption", sealed[1])[0].what_to_do


def test_a_slow_login():
    assert "5.2 s" in of("slow-login", with_path(session__login_seconds=5.2))[0].evidence
    assert of("slow-login", with_path(session__login_seconds=0.05)) == []


def with_opening(opened: float, closed: float, **path: Any) -> Series:
    one = steady("smb", 100)
    timed = tuple(replace(run, open_seconds=opened, close_seconds=closed) for run in one.runs)
    return replace(one, runs=timed, environment={"path": {**one.environment["path"], **path}})


def test_a_slow_opening():
    (found,) = of("slow-opening", with_opening(0.04, 0.01))
    assert "40 ms to open it and 10 ms to close it" in found.evidence
    assert of("slow-opening", with_opening(0.039, 0.0109)) == []
    far = {"tcp.least_round_trip_seconds": 0.05}
    assert of("slow-opening", with_opening(0.2, 0.049, **far)) == []
    assert of("slow-opening", with_opening(0.2, 0.051, **far))
    fields = {field.name: field.text for field in result_fields(run_form(with_opening(0.0012, 0.0003)))}
    told = fields["Opening and closing"]
    assert told == "opening 1.2 ms, closing 0.3 ms in the middle one of the runs, whose times leave it out"
    assert "Opening and closing" not in {field.name for field in result_fields(run_form(steady("smb", 100)))}


def test_nfs_is_a_poor_reference_and_a_poor_place_for_a_share():
    nfs = {"server": {"filesystem.type": "nfs4"}}
    local = steady("file", 100, target=Target(protocol="file", path="/mnt/f"), environment=nfs)
    assert "mounted by nfs4" in of("nfs-reference", local)[0].evidence
    assert [f.severity for f in of("share-on-nfs", steady("smb", 100, environment=nfs))] == [Severity.WARNING]
    for kind in ("ext4", "zfs"):
        other = replace(local, environment={"server": {"filesystem.type": kind}})
        assert not {"nfs-reference", "share-on-nfs"} & set(keys(other))


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (
            {"mtu.path_bytes": 1400, "mtu.segment_bytes": 1348},
            "the path takes packets of 1400 bytes, the MTU of eth0 is",
        ),
        ({"mtu.path_bytes": 1500, "mtu.segment_bytes": 1447}, "segments of 1447 bytes, packets of 1499"),
        ({"mtu.path_bytes": 1500, "mtu.segment_bytes": 1448}, None),
        ({"mtu.segment_bytes": 1428, "link.ip_version": 6}, None),
        ({"mtu.segment_bytes": 1427, "link.ip_version": 6}, "packets of 1499"),
        ({}, None),
    ],
)
def test_smaller_packets_than_the_card_sends(facts, said):
    path = {"link.kind": "card", "link.interface": "eth0", "link.mtu_bytes": 1500, **facts}
    found = of("smaller-mtu", steady("smb", 100, environment={"path": path}))
    assert [said in f.evidence for f in found] == ([True] if said else [])
    if said:
        assert of("smaller-mtu", steady("smb", 100, environment={"path": {**path, "link.kind": "loopback"}})) == []


def test_nobody_is_told_to_set_up_the_practice_server():
    old = replace(CLIENT, dialect="2.0.2")
    target = Target(protocol="smb", host="127.0.0.1", share="practice", path="f", user="practice")
    assert of("old-dialect", steady("smb", 100, client=old, target=target)) == []
    assert of("old-dialect", steady("smb", 100, client=old, target=replace(target, user="alice")))
    assert of("old-dialect", steady("smb", 100, client=old, target=replace(target, host="nas")))


def test_the_gravest_comes_first_and_every_finding_says_what_to_do():
    wrong = with_path(link__duplex="half")
    signed = steady("smb", 100, client=replace(CLIENT, signing="aes-cmac"))
    given: Sequence[Series] = [signed, steady("ftp", 120), wrong]
    found = findings(given)
    severities = [list(Severity).index(f.severity) for f in found]
    assert severities == sorted(severities)
    assert first_to_look_at(found) is found[0]
    assert found[0].key == "half-duplex"
    assert all(f.title and f.evidence.endswith(".") and f.what_to_do.endswith(".") for f in found)


def test_findings_as_text_and_as_a_document():
    found = findings([steady("smb", 60, client=replace(CLIENT, signing="aes-cmac")), steady("ftp", 110)])
    lines = list(table_lines(findings_table(found), 80))
    assert max(map(len, lines)) <= 80
    assert lines[0] == "! SMB get reaches 55 % of FTP: time to tune"
    assert any(line.startswith("→ The session is signed") for line in lines)
    assert list(table_lines(findings_table([]), 80)) == [NO_FINDINGS]
    on_terminal = list(table_lines(findings_table(found), 80, ansi=True))
    assert on_terminal[0] == f"\x1b[33m{lines[0]}\x1b[0m"
    assert sum("\x1b" in line for line in on_terminal) == 1  # a note is no warning
    assert finding_document(found[0])["severity"] == "warning"


@pytest.mark.parametrize(
    ("megabytes", "key", "severity"),
    [
        (11.5, "lower-ethernet", Severity.WARNING),
        (12.2, "lower-ethernet", Severity.WARNING),
        (12.4, "low-share", Severity.WARNING),
        (10.9, "low-share", Severity.WARNING),
        (12.6, "low-share", Severity.NOTE),
        (37.4, "low-share", Severity.NOTE),
    ],
)
def test_a_link_that_is_hardly_used_is_a_finding_by_itself(megabytes: float, key: str, severity: Severity):
    (found,) = findings([steady("smb", megabytes)])
    assert (found.key, found.severity) == (key, severity)


@pytest.mark.parametrize(("link", "megabytes"), [(2.5e9, 117), (10e9, 117), (10e9, 290), (100e6, 1.15), (5e9, 293)])
def test_each_lower_ethernet_is_recognized(link: float, megabytes: float):
    assert keys(steady("smb", megabytes, link_bits_per_second=int(link))) == ["lower-ethernet"]


@pytest.mark.parametrize(
    ("link", "megabytes", "is_filled"),
    [
        (1e9, 10.99, False),
        (1e9, 11.0, True),
        (1e9, 12.24, True),
        (1e9, 12.26, False),
        (10e9, 109.9, False),
        (10e9, 112, True),
        (10e9, 122.6, False),
        (10e9, 274.9, False),
        (10e9, 280, True),
        (10e9, 306.3, False),
        (25e9, 1099, False),
        (25e9, 1100, True),
        (25e9, 1224, True),
        (25e9, 1226, False),
        (100e9, 5800, True),
        (1e9, 117, False),
        (10e9, 1170, False),
    ],
)
def test_a_lower_ethernet_is_full_between_88_and_98_percent(link: float, megabytes: float, is_filled: bool):
    assert ("lower-ethernet" in keys(steady("smb", megabytes, link_bits_per_second=int(link)))) is is_filled


def test_a_link_that_is_used_or_explained_is_no_finding():
    assert keys(steady("smb", 37.6)) == []
    assert keys(steady("smb", 11.5, link_bits_per_second=100_000_000)) == [], "a full link"
    assert keys(steady("smb", 11.5, kind="loopback")) == []
    assert keys(steady("smb", 11.5, kind="wireless")) == []
    assert keys(steady("smb", 11.5, plan=plan_with(files=100))) == [], "small files wait for other things"
    assert keys(series([10e6, 13e6, 11e6, 12e6], target=Target(protocol="smb", host="nas", share="data"))) == [
        "low-share"
    ], "a wire at its limit does not vary"


@pytest.mark.parametrize(("spread_percent", "key"), [(2.9, "lower-ethernet"), (3.1, "low-share")])
def test_a_wire_at_its_limit_gives_the_same_rate_again_and_again(spread_percent: float, key: str):
    # Of two runs the standard deviation is half of their distance, times the square root of 2.
    distance = 11.7e6 * spread_percent / 100 * 2**0.5
    rates = [11.7e6 - distance / 2, 11.7e6 + distance / 2]
    assert keys(series(rates, target=Target(protocol="smb", host="nas", share="data"))) == [key]


def test_a_busy_disk_says_what_the_link_waits_for():
    found = keys(steady("smb", 20), steady("ftp", 20), steady("iperf3", 112))
    assert "low-share" not in found
    assert "server-slow" in found
