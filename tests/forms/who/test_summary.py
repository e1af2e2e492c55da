"""What is the limit of a server, and the order and shares of its sessions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forms.who import summary
from forms.who.report import who_answer, who_document
from forms.who.summary import Amount, Resource, who_summary, with_busiest_first
from storage.who import MachineUse, ServerSession, Who
from tests.recordings import WHO

IDLE_MACHINE = MachineUse(processors=4, cpu_percent=5.0, disk="sda", disk_percent=1.0)


def session(process: int, moved_bytes: int = 0, cpu_percent: float = 0.0, disk_bytes: int = 0) -> ServerSession:
    return replace(
        WHO.sessions[0],
        process=process,
        sent_bytes=moved_bytes,
        received_bytes=0,
        cpu_percent=cpu_percent,
        disk_bytes=disk_bytes,
    )


def look(*sessions: ServerSession, machine: MachineUse = IDLE_MACHINE) -> Who:
    return replace(WHO, machine=machine, sessions=sessions)


MOVER = session(1, moved_bytes=800_000_000, cpu_percent=10.0)
WORKER = session(2, moved_bytes=150_000_000, cpu_percent=70.0)
DISK_USER = session(3, moved_bytes=50_000_000, cpu_percent=1.0, disk_bytes=10**9)
ALL = (DISK_USER, WORKER, MOVER)


def order(who: Who) -> list[int]:
    return [share.session.process for share in who_summary(who).shares]


def test_without_a_limit_the_bytes_decide():
    made = who_summary(look(*ALL))
    assert (made.limit, made.amount) == (None, Amount.BYTES)
    assert [share.share_percent for share in made.shares] == pytest.approx([80, 15, 5])
    assert made.bytes_per_second == pytest.approx(100e6)


@pytest.mark.parametrize(
    ("machine", "limit", "first"),
    [
        (replace(IDLE_MACHINE, cpu_percent=79.9), None, 1),
        (replace(IDLE_MACHINE, cpu_percent=80.0), Resource.PROCESSORS, 2),
        (replace(IDLE_MACHINE, disk_percent=80.0), Resource.DISK, 3),
        (replace(IDLE_MACHINE, disk_percent=79.9), None, 1),
        (replace(IDLE_MACHINE, card_bits_per_second=800e6, link_bits_per_second=10**9), Resource.NETWORK, 1),
        (replace(IDLE_MACHINE, card_bits_per_second=799e6, link_bits_per_second=10**9), None, 1),
        (replace(IDLE_MACHINE, card_bits_per_second=1e12), None, 1),
        (replace(IDLE_MACHINE, disk_percent=90.0, cpu_percent=95.0), Resource.PROCESSORS, 2),
    ],
)
def test_the_busiest_part_of_the_server_orders_the_sessions(machine, limit, first):
    who = look(*ALL, machine=machine)  # together they take a fifth of four processors
    assert who_summary(who).limit is limit
    assert order(who)[0] == first


@pytest.mark.parametrize(("cpu_percent", "amount"), [(80.0, Amount.CPU), (79.0, Amount.BYTES)])
def test_processors_that_are_busy_with_other_work_do_not_order_them(cpu_percent, amount):
    sessions = (replace(MOVER, cpu_percent=0.0), replace(WORKER, cpu_percent=cpu_percent))
    who = look(*sessions, machine=replace(IDLE_MACHINE, cpu_percent=99.0))
    made = who_summary(who)
    assert (made.limit, made.amount) == (Resource.PROCESSORS, amount)
    assert made.is_limited_by_others == (amount is Amount.BYTES)


@pytest.mark.parametrize(
    ("disk_rate", "amount"), [(10_000, Amount.DISK_BYTES), (9_999, Amount.BYTES), (0, Amount.BYTES)]
)
def test_a_disk_that_is_busy_with_other_work_does_not_order_them(disk_rate, amount):
    reader = replace(DISK_USER, disk_bytes=round(disk_rate * WHO.seconds))
    who = look(MOVER, reader, machine=replace(IDLE_MACHINE, disk_percent=99.0))
    made = who_summary(who)
    assert (made.limit, made.amount) == (Resource.DISK, amount)
    assert made.is_limited_by_others == (amount is Amount.BYTES)
    assert order(who)[0] == (3 if amount is Amount.DISK_BYTES else 1)


@pytest.mark.parametrize(("cpu_percent", "limit"), [(79.9, None), (80.0, Resource.ONE_PROCESSOR)])
def test_a_session_that_fills_its_processor_is_the_limit_though_others_are_idle(cpu_percent, limit):
    who = look(MOVER, replace(WORKER, cpu_percent=cpu_percent))
    assert who_summary(who).limit is limit
    assert order(who)[0] == (2 if limit else 1)


def test_sessions_that_do_nothing_are_none_the_busiest():
    idle = session(1, moved_bytes=round(summary.LEAST_BYTES_PER_SECOND * WHO.seconds) - 1, cpu_percent=0.9)
    assert who_summary(look(idle)).busiest is None
    moving = replace(idle, sent_bytes=(idle.sent_bytes or 0) + 1)
    assert who_summary(look(idle, moving)).busiest is not None
    working = replace(idle, cpu_percent=summary.LEAST_CPU_PERCENT)
    assert who_summary(look(working)).busiest is not None


def test_bytes_that_are_not_known_are_no_zero():
    unknown = replace(MOVER, sent_bytes=None, received_bytes=None)
    made = who_summary(look(unknown, replace(unknown, process=2)))
    assert made.bytes_per_second is None
    assert [share.bytes_percent for share in made.shares] == [None, None]
    assert who_answer(look(unknown)).text


def test_nobody_is_connected():
    who = look()
    assert who_summary(who).busiest is None
    assert who_answer(who).text == "Nobody is connected."
    assert who_document(who)["shares"] == []


def test_the_order_is_kept_in_the_record():
    ordered = with_busiest_first(look(*ALL))
    assert [one.process for one in ordered.sessions] == [1, 2, 3]
    assert with_busiest_first(ordered) == ordered


def test_a_document_leads_to_no_server():
    document = who_document(replace(WHO, server_ssh="root@nas", smb_conf="/etc/smb.conf"))
    assert document.keys().isdisjoint({"server_ssh", "smb_conf"})


def test_sessions_that_do_nothing_keep_their_order():
    idle = [session(process) for process in (31, 12, 25)]
    assert order(look(*idle, MOVER)) == [1, 12, 25, 31]
    assert order(look(*reversed(idle), MOVER)) == [1, 12, 25, 31]
