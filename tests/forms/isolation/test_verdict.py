"""Verdicts: each cause by what shows it, and what is looked at first."""

from dataclasses import replace

import pytest

from forms.isolation.verdict import Cause, IsolationDoubt, LayerEvidence, judge
from forms.isolation.words import LOOK_AT, reservations, verdict_sentence
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
        (SLOW, Cause.SAMBA, "Samba: 0.26 (0.24 to 0.29) of what disk and network together carry, with 4 clients"),
        (replace(SLOW, link_share=0.94), Cause.NETWORK, "The network (94 % of the link)"),
        (replace(SLOW, held_share=0.9), Cause.CLIENT, "90 % of an operation's time is its own work"),
        (replace(SLOW, link_share=1.2), Cause.NETWORK, "more came through than the link is said to carry"),
        (replace(SLOW, ceiling_share=1.2), Cause.CLIENT, "as fast as all that this machine asked for"),
        (replace(SLOW, ceiling_share=0.8), Cause.CLIENT, "ran at 80 % of what this machine can ask for"),
        (replace(SLOW, ceiling_share=None, client_cpu_percent=97), Cause.CLIENT, "This client"),
        (replace(SLOW, throttled_percent=99, processor_quota=0.2), Cause.PROCESSOR, "held to 0.2 of one"),
        (replace(SLOW, file_system_share=0.7), Cause.DISK, "70 % of the clients' waiting is calls of its file system"),
        (AT_THE_LIMIT, Cause.DISK, "the server reaches 0.95 of dbench's rate"),
        (replace(AT_THE_LIMIT, disk=900e6), Cause.NETWORK, "The network: the server reaches 0.95"),
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
        (replace(SLOW, ratio=0.6, ratio_low=0.3, ratio_high=1.6), IsolationDoubt.SCATTER),
        (replace(AT_THE_LIMIT, disk=290e6, cpu_percent=70, server_percent=50), IsolationDoubt.CLOSE),
        (replace(AT_THE_LIMIT, server_percent=30), IsolationDoubt.OTHERS),
        (replace(SLOW, ratio_low=None, ratio_high=None, server_percent=30), IsolationDoubt.OTHERS),
    ],
)
def test_what_cannot_be_told_apart_says_why(evidence: LayerEvidence, doubt: IsolationDoubt):
    verdict = judge(evidence)
    assert verdict.cause is Cause.UNKNOWN
    assert verdict.doubts[0] is doubt
    assert doubt.value in verdict_sentence(verdict)
    assert all(doubt.value not in said for said in reservations(verdict))


def test_a_verdict_says_what_it_leaves_open():
    found = judge(replace(SLOW, loopback=True, same_machine=True, disk_busy_percent=0.1, rounds=1, server_percent=20))
    (said,) = reservations(found)
    for doubt in ("no network card", "page cache", "share the processors", "one round", "others used"):
        assert doubt in said


def test_on_the_loopback_the_network_is_never_named():
    assert judge(replace(AT_THE_LIMIT, disk=900e6, loopback=True)).cause is not Cause.NETWORK


def test_what_to_look_at_is_in_the_catalogue():
    known = {entry.name for entry in entries()}
    assert {name for names in LOOK_AT.values() for name in names} <= known
