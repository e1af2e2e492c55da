"""Verdicts: each cause by what shows it, and what is looked at first."""

from dataclasses import replace
from unittest.mock import Mock

import pytest

from forms.isolation.charts import waterfall_chart
from forms.isolation.verdict import Cause, IsolationDoubt, LayerEvidence, judge
from forms.isolation.wording import LOOK_AT, answer_sentence, describe_doubt, reservations, verdict_sentence
from forms.tuning.catalogue import entries

SLOW = LayerEvidence(
    clients=4, server=26e6, disk=100e6, network=300e6, least=100e6, ratio=0.26, ratio_low=0.24, ratio_high=0.29,
    cpu_percent=98, server_percent=60, clients_percent=30, ceiling_share=0.3, throttled_percent=None,
    disk_busy_percent=40, file_system_share=0.1, rounds=3,
)  # fmt: skip
AT_THE_LIMIT = replace(SLOW, server=95e6, ratio=0.95, ratio_low=0.9, ratio_high=1.0)


@pytest.mark.parametrize(
    ("evidence", "cause", "said"),
    [
        (
            SLOW,
            Cause.SAMBA,
            "Limit: Samba, 26 % (24 % to 29 %) of what disk and network carry together, with 4 clients",
        ),
        (replace(SLOW, link_share=0.94), Cause.NETWORK, "Limit: the network (94 % of the link)"),
        (replace(SLOW, held_share=0.9), Cause.CLIENT, "90 % of an operation's time is its own work"),
        (replace(SLOW, link_share=1.2), Cause.NETWORK, "more came through than the link is said to carry"),
        (replace(SLOW, ceiling_share=1.2), Cause.CLIENT, "did more than this machine could ask for"),
        (replace(SLOW, ceiling_share=0.8), Cause.CLIENT, "did 80 % of what this machine can ask for"),
        (replace(SLOW, ceiling_share=None, client_cpu_percent=97), Cause.CLIENT, "Limit: this client"),
        (replace(SLOW, throttled_percent=99, processor_quota=0.2), Cause.PROCESSOR, "held to 0.2 of one"),
        (
            replace(SLOW, file_system_share=0.7, cpu_percent=89.9),
            Cause.DISK,
            "70 % of the clients' waiting is calls of its file system",
        ),
        (replace(SLOW, file_system_share=1.0, cpu_percent=90), Cause.SAMBA, "Limit: Samba, 26 %"),
        (replace(AT_THE_LIMIT, cpu_percent=89.9), Cause.DISK, "the server reaches 0.95 of dbench's rate"),
        (replace(AT_THE_LIMIT, cpu_percent=90), Cause.PROCESSOR, "of what the machine carries; processors 90 % busy"),
        (replace(AT_THE_LIMIT, disk=900e6), Cause.NETWORK, "Limit: the network; the server reaches 95 %"),
        (replace(AT_THE_LIMIT, server=199e6, least=100e6), Cause.PROCESSOR, "Limit: the processor"),
        (replace(AT_THE_LIMIT, disk=290e6), Cause.PROCESSOR, "of what the machine carries; processors 98 % busy"),
    ],
)
def test_each_cause_is_told_by_what_shows_it(evidence: LayerEvidence, cause: Cause, said: str):
    verdict = judge(evidence)
    assert verdict.cause is cause
    assert said in verdict_sentence(verdict)


@pytest.mark.parametrize(
    ("evidence", "doubt"),
    [
        (LayerEvidence(clients=1), IsolationDoubt.NO_SERVER),
        (replace(SLOW, ratio=None), IsolationDoubt.NO_LEAST),
        (replace(SLOW, clients=1, cpu_percent=30), IsolationDoubt.WAKE_UP),
        (replace(SLOW, ratio=0.6, ratio_low=0.3, ratio_high=1.6), IsolationDoubt.VARYING),
        (replace(AT_THE_LIMIT, disk=290e6, cpu_percent=70, server_percent=50), IsolationDoubt.CLOSE),
        (replace(SLOW, server=200e6, file_system_share=0.68, cpu_percent=60), IsolationDoubt.DISTURBED),
        (replace(AT_THE_LIMIT, server=200e6, ratio=2.0, cpu_percent=70, server_percent=50), IsolationDoubt.DISTURBED),
        (replace(AT_THE_LIMIT, server=200e6, least=100e6), IsolationDoubt.DISTURBED),
        (replace(SLOW, server=200e6, least=100e6), IsolationDoubt.DISTURBED),
        (replace(AT_THE_LIMIT, server_percent=30), IsolationDoubt.OTHERS),
        (replace(SLOW, ratio_low=None, ratio_high=None, server_percent=30), IsolationDoubt.OTHERS),
    ],
)
def test_what_cannot_be_told_apart_says_why(evidence: LayerEvidence, doubt: IsolationDoubt):
    verdict = judge(evidence)
    assert verdict.cause is Cause.UNKNOWN
    assert verdict.doubts[0] is doubt
    text = describe_doubt(doubt, evidence)
    assert text in verdict_sentence(verdict)
    assert all(text not in said for said in reservations(verdict))


@pytest.mark.parametrize(
    ("disk", "network", "parts"),
    [
        (100e6, 101e6, "the disk alone, so that run was"),
        (101e6, 100e6, "the network alone, so that run was"),
        (100e6, 100e6, "the disk and the network alone, so those runs were"),
        (None, 100e6, "the network alone, so that run was"),
    ],
)
def test_what_was_disturbed_is_named(disk: float | None, network: float, parts: str):
    evidence = replace(AT_THE_LIMIT, server=200e6, least=100e6, disk=disk, network=network)
    said = f"with {evidence.clients} clients the server was much faster than {parts} disturbed"
    assert said in verdict_sentence(judge(evidence))


@pytest.mark.parametrize(
    ("disk_alone", "network_alone", "parts"),
    [
        (50e6, 150.1e6, "the disk alone, so that run was"),
        (50.1e6, 150e6, "the network alone, so that run was"),
        (50e6, 150e6, "the disk and the network alone, so those runs were"),
        (50.1e6, 150.1e6, ""),
        (None, None, ""),
    ],
)
def test_a_part_that_is_far_slower_alone_than_with_the_other_was_disturbed(
    disk_alone: float | None, network_alone: float | None, parts: str
):
    verdict = judge(replace(SLOW, disk_alone=disk_alone, network_alone=network_alone))
    assert verdict.cause is Cause.SAMBA, "judged by what both at once carried"
    said = f"Keep in mind: with 4 clients disk and network together were much faster than {parts} disturbed."
    assert reservations(verdict) == ([said] if parts else [])


@pytest.mark.parametrize(
    ("evidence", "named"),
    [
        (AT_THE_LIMIT, "server signing, server smb encrypt, log level and network card: offloads"),
        (replace(AT_THE_LIMIT, signed=False), "server smb encrypt, log level and network card: offloads"),
        (replace(AT_THE_LIMIT, signed=False, encrypted=False, loopback=True), "log level"),
        (replace(AT_THE_LIMIT, encrypted=False, logs=False, loopback=True), "server signing"),
    ],
)
def test_what_cannot_have_cost_anything_is_not_advised(evidence: LayerEvidence, named: str):
    assert f"Next, look in the catalogue at: {named}." in answer_sentence(judge(evidence))


def test_beside_other_programs_a_quiet_time_is_what_helps():
    busy = replace(AT_THE_LIMIT, server_percent=30)
    assert answer_sentence(judge(busy)).endswith("of the processors. Measure again at a quiet time.")
    varying = replace(SLOW, ratio=0.6, ratio_low=0.3, ratio_high=1.6)
    assert "Measure more rounds" in answer_sentence(judge(varying))


@pytest.mark.parametrize(
    ("ratio", "high", "said"),
    [
        (0.22, 3.0, "reaches 22 % (0 % to 300 %) of"),
        (0.22, 3.1, "reaches roughly 22 % of"),
        (2.0, 6.0, "reaches 200 % (0 % to 600 %) of"),
        (2.0, 6.1, "reaches roughly 200 % of"),
    ],
)
def test_an_interval_that_says_nothing_has_no_figure_of_ten_digits(ratio: float, high: float, said: str):
    verdict = judge(replace(SLOW, ratio=ratio, ratio_low=0.001, ratio_high=high))
    assert said in verdict_sentence(verdict)


@pytest.mark.parametrize(("ratio_high", "cause"), [(0.363, Cause.SAMBA), (0.365, Cause.UNKNOWN)])
def test_several_rounds_name_samba_where_its_share_of_the_processors_would_not_have_sufficed(ratio_high, cause):
    """Others had 48 % of full processors: with all of them the server may do 100 / 52 times as much."""
    rounds = replace(SLOW, ratio=0.3, ratio_low=0.25, ratio_high=ratio_high, server_percent=35, clients_percent=15)
    assert judge(rounds).cause is cause


def test_one_round_names_samba_only_where_others_cannot_have_made_it_so_slow():
    one_round = replace(SLOW, ratio_low=None, ratio_high=None, server_percent=30)
    most_others = replace(one_round, server_percent=10, clients_percent=5)
    not_busy = replace(most_others, cpu_percent=89, server_percent=4, clients_percent=2)
    for evidence, ratio, cause in (
        (one_round, 0.175, Cause.UNKNOWN),
        (one_round, 0.1749, Cause.SAMBA),
        (most_others, 0.01, Cause.UNKNOWN),
        (not_busy, 0.1191, Cause.SAMBA),
    ):
        found = judge(replace(evidence, ratio=ratio))
        assert found.cause is cause, (evidence, ratio)


def test_a_verdict_says_what_it_leaves_open():
    found = judge(replace(SLOW, loopback=True, same_machine=True, disk_busy_percent=0.1, rounds=1, server_percent=20))
    (said,) = reservations(found)
    for doubt in ("no network card", "page cache", "share the processors", "one round gives no interval"):
        assert doubt in said
    assert "other programs used 48 % of the processors" in said


@pytest.mark.parametrize(("held", "is_client"), [(0.5, True), (0.499, False), (None, True)])
def test_a_ceiling_that_the_clients_own_time_denies_names_no_client(held: float | None, is_client: bool):
    """It was measured once, before the runs: what disturbed it then makes the client look like the limit."""
    found = judge(replace(SLOW, ceiling_share=0.87, held_share=held))
    assert (found.cause is Cause.CLIENT) is is_client


@pytest.mark.parametrize(("disk", "alone", "told"), [(1e9, None, True), (None, 1e9, True), (None, None, False)])
def test_a_disk_that_was_not_measured_is_not_said_to_have_rested(disk: float | None, alone: float | None, told: bool):
    said = reservations(judge(replace(SLOW, disk=disk, disk_alone=alone, disk_busy_percent=0.1)))
    assert any("page cache" in one for one in said) is told


def test_a_disk_that_is_named_did_not_hardly_work():
    """The device below a file system may be no disk of the kernel's list."""
    found = judge(replace(SLOW, file_system_share=0.68, disk_busy_percent=0.1, cpu_percent=60))
    assert found.cause is Cause.DISK
    assert "68 % of the clients' waiting" in verdict_sentence(found)
    assert "no physical disk was busy" in verdict_sentence(found)
    assert reservations(found) == []


def test_a_disk_may_be_somewhat_slower_by_itself_than_under_a_server_that_caches():
    for evidence in (
        replace(SLOW, server=199.9e6, file_system_share=0.68, cpu_percent=60),
        replace(AT_THE_LIMIT, server=199.9e6, ratio=1.999, cpu_percent=70, server_percent=50),
    ):
        assert judge(evidence).cause is Cause.DISK


FULL_LINK = LayerEvidence(
    clients=4, server=5.82e6, disk=283e6, network=5.92e6, least=5.92e6, ratio=0.98, cpu_percent=97, server_percent=8,
    link_share=0.61, link_share_both_ways=0.99, disk_busy_percent=3, file_system_share=0.1, rounds=1,
)  # fmt: skip
"""Seen on a link of 50 Mbit/s while other programs kept both processors busy."""


@pytest.mark.parametrize(("others", "cause"), [(24.9, Cause.CLIENT), (25.0, Cause.UNKNOWN)])
def test_a_client_that_waits_for_others_programs_is_not_the_limit(others, cause):
    alone = replace(SLOW, server_percent=60, clients_percent=None, kernel_percent=None)
    held = replace(alone, held_share=0.9, cpu_percent=60 + others, same_machine=True)
    assert judge(held).cause is cause
    if cause is Cause.UNKNOWN:
        assert "Measure again at a quiet time" in answer_sentence(judge(held))
    assert judge(replace(held, ceiling_share=0.99)).cause is Cause.CLIENT, "all that this machine can ask for"
    assert judge(replace(held, same_machine=False)).cause is Cause.CLIENT, "they worked on the server"


def test_a_full_link_is_named_beside_other_programs():
    found = judge(FULL_LINK)
    assert found.cause is Cause.NETWORK
    assert "99 % of the link speed, in and out together" in verdict_sentence(found)
    assert judge(replace(FULL_LINK, link_share_both_ways=None)).cause is Cause.NETWORK, "TCP alone got no more"
    assert judge(replace(FULL_LINK, held_share=0.7)).cause is Cause.NETWORK, "a client that fills the link keeps up"


@pytest.mark.parametrize(
    ("evidence", "cause"),
    [
        (replace(AT_THE_LIMIT, cpu_percent=80, link_share=0.6, link_share_both_ways=0.9), Cause.DISK),
        (replace(SLOW, same_machine=True, link_share=0.6, link_share_both_ways=0.9, network=30e6), Cause.NETWORK),
        (replace(SLOW, link_share=0.6, link_share_both_ways=0.89, network=30e6), Cause.SAMBA),
        (replace(SLOW, link_share=0.6, link_share_both_ways=0.9, network=38e6), Cause.SAMBA),
        (replace(SLOW, link_share=0.6, link_share_both_ways=0.9, network=None), Cause.NETWORK),
    ],
)
def test_both_directions_fill_a_link_where_tcp_alone_gets_no_more_out_of_it(evidence: LayerEvidence, cause: Cause):
    assert judge(evidence).cause is cause


def test_a_disk_is_not_named_beside_other_programs_which_use_it_too():
    """Seen on a healthy server of a busy machine: dbench fell to 66 MB/s, and to less than the server itself."""
    busy = replace(SLOW, server=48.3e6, disk=65.9e6, network=372e6, ratio=0.73, ratio_low=None, ratio_high=None,
                   cpu_percent=99.8, server_percent=42, clients_percent=10)  # fmt: skip
    slower = replace(busy, server=19.3e6, disk=7.7e6, network=677e6, ratio=2.5, server_percent=17)
    for evidence in (busy, slower):
        found = judge(replace(evidence, loopback=True))
        assert (found.cause, found.doubts[0]) == (Cause.UNKNOWN, IsolationDoubt.OTHERS)


SLOW_DISK = LayerEvidence(
    clients=4, server=17.1e6, disk=13.9e6, network=1458e6, least=13.9e6, ratio=1.23, cpu_percent=99, server_percent=8,
    clients_percent=6, disk_busy_percent=1, file_system_share=0.67, loopback=True, same_machine=True, rounds=1,
)  # fmt: skip
"""Seen on a device of 60 writes a second while other programs used three quarters of the processors."""


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({}, Cause.DISK),
        ({"file_system_share": 0.5}, Cause.DISK),
        ({"file_system_share": 0.49}, Cause.UNKNOWN),  # the disk's own evidence
        ({"file_system_share": None}, Cause.UNKNOWN),
        ({"disk": 290e6, "server": 300e6}, Cause.DISK),  # times four, still less than eight tenths of the network
        ({"disk": 292e6, "server": 300e6}, Cause.UNKNOWN),
        ({"network": None}, Cause.UNKNOWN),
    ],
)
def test_a_slow_disk_is_named_beside_other_programs_where_they_cannot_close_the_gap(changes, cause):
    found = judge(replace(SLOW_DISK, **changes))
    assert found.cause is cause
    if cause is Cause.DISK:
        assert "67 %" in verdict_sentence(found) or "50 %" in verdict_sentence(found)
    else:
        assert found.doubts[0] is IsolationDoubt.OTHERS


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({}, Cause.DISK),
        ({"file_system_share": 0.49}, Cause.UNKNOWN),
        ({"disk": 10e6}, Cause.UNKNOWN),  # dbench found it six times as fast
        ({"disk": 7e6}, Cause.DISK),
        ({"ratio": 0.09}, Cause.UNKNOWN),  # an eighth of the processors was left
    ],
)
def test_a_slow_disk_is_named_beside_other_programs_where_dbench_could_not_measure_it(changes, cause):
    """Seen on that device at a load of 9: dbench failed, and "Limit: Samba, 0 % of what the network alone carries"."""
    starved = replace(
        SLOW_DISK, server=1.57e6, disk=None, network=346e6, least=346e6, ratio=0.0045, cpu_percent=98,
        server_percent=3.5, clients_percent=2.4, kernel_percent=3.3, file_system_share=0.75,
    )  # fmt: skip
    assert judge(replace(starved, **changes)).cause is cause


@pytest.mark.parametrize(
    ("disk", "disk_alone", "cause"),
    [(129e6, None, Cause.DISK), (130e6, None, Cause.SAMBA), (30e6, 260e6, Cause.SAMBA), (30e6, 129e6, Cause.DISK)],
)
def test_a_disk_that_does_many_times_as_much_is_not_what_the_calls_wait_for(disk, disk_alone, cause):
    """Seen where each open of smbd took 5 ms more: "Limit: the disk; the server reaches 0.10 of dbench's rate"."""
    waiting = replace(SLOW, file_system_share=0.9, cpu_percent=40, disk=disk, disk_alone=disk_alone)
    found = judge(waiting)
    assert found.cause is cause
    if cause is Cause.SAMBA:
        assert "although the disk is fast" in verdict_sentence(found)
        assert "90 % of the clients' waiting" in verdict_sentence(found)
    assert "although" not in verdict_sentence(judge(replace(waiting, file_system_share=0.1)))


@pytest.mark.parametrize("share", [1.0, 1.16])
def test_no_share_of_the_waiting_is_more_than_all_of_it(share):
    said = verdict_sentence(judge(replace(SLOW, file_system_share=share, cpu_percent=40)))
    assert "100 % of the clients' waiting" in said


@pytest.mark.parametrize(
    ("server_percent", "ratio_high", "cause"),
    [
        (13, 0.14, Cause.UNKNOWN),
        (13, None, Cause.UNKNOWN),
        (49, 0.14, Cause.UNKNOWN),
        (50, 0.14, Cause.UNKNOWN),
        (50.1, 0.14, Cause.SAMBA),
    ],
)
def test_samba_is_not_named_where_others_used_nearly_all_of_a_full_machine(server_percent, ratio_high, cause):
    """Seen: "Limit: Samba, 13 %" beside "processors 100 % busy (smbd 13, the rest 87)"; in any number of rounds."""
    evidence = replace(
        SLOW, ratio=0.13, ratio_low=ratio_high and 0.12, ratio_high=ratio_high, cpu_percent=100,
        server_percent=server_percent, clients_percent=None, kernel_percent=None,
    )  # fmt: skip
    found = judge(evidence)
    assert found.cause is cause
    if cause is Cause.UNKNOWN:
        others = 100 - server_percent
        assert verdict_sentence(found) == f"Cannot be judged: other programs used {others} % of the processors"


@pytest.mark.parametrize(("network", "cause"), [(19e6, Cause.NETWORK), (21e6, Cause.UNKNOWN)])
def test_others_are_a_doubt_only_where_they_could_close_the_gap(network: float, cause: Cause):
    """Half of a processor taken at both ends of each request: up to four times the rate without them."""
    evidence = replace(
        AT_THE_LIMIT, network=network, server=0.95 * network, disk=100e6, server_percent=28, clients_percent=20,
    )  # fmt: skip
    assert judge(evidence).cause is cause
    assert judge(replace(evidence, kernel_percent=49)).cause is Cause.NETWORK, "the kernel's part is not others'"


@pytest.mark.parametrize(
    ("cpu_percent", "server_percent", "cause"),
    [(98.8, 48.9, Cause.SAMBA), (98.8, 48.7, Cause.UNKNOWN), (90.0, 10.0, Cause.UNKNOWN), (89.9, 9.9, Cause.SAMBA)],
)
def test_samba_is_not_named_where_others_left_it_too_little_of_busy_processors(
    cpu_percent: float, server_percent: float, cause: Cause
):
    """Seen behind a link of 200 Mbit/s at a load of 19: 2.9 of 21.6 MB/s, with 5 % of the processors for smbd."""
    evidence = replace(
        SLOW, ratio=0.14, ratio_low=None, ratio_high=None, clients_percent=0, cpu_percent=cpu_percent,
        server_percent=server_percent,
    )  # fmt: skip
    assert judge(evidence).cause is cause


def test_on_the_loopback_the_network_is_never_named():
    assert judge(replace(AT_THE_LIMIT, disk=900e6, loopback=True)).cause is not Cause.NETWORK


def test_what_to_look_at_is_in_the_catalogue():
    known = {entry.name for entry in entries()}
    assert {name for names in LOOK_AT.values() for name in names} <= known


def test_a_part_that_is_less_than_nothing_has_no_bar():
    measured = Mock()
    measured.waterfall.parts.return_value = {"this client": 70.0, "protocol": 40.0, "not explained": -10.0}
    measured.verdict.evidence.held_share = None
    chart = waterfall_chart(measured)
    assert chart is not None
    assert [(bar.name, bar.start, bar.value) for bar in chart.bars] == [
        ("this client", 0.0, 70.0), ("protocol", 70.0, 40.0)
    ]  # fmt: skip
    assert chart.title == "Where one operation's time goes; the parts overlap by 10 µs"
    measured.waterfall.parts.return_value = {"this client": 70.0, "not explained": -0.9}
    exact = waterfall_chart(measured)
    assert exact is not None
    assert exact.title == "Where one operation's time goes"


def test_a_processor_that_no_setting_burdens_has_no_setting_to_look_at():
    found = judge(replace(AT_THE_LIMIT, signed=False, encrypted=False, logs=False, loopback=True))
    assert answer_sentence(found).endswith(" No setting of the server is known to cost it.")
