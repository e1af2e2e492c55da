"""What two readings of a server give: connections by process, and answers that somebody broke."""

from __future__ import annotations

import random

import pytest

from app.base.errors import MeasurementError
from app.server import shell
from app.server.sessions.look import REQUESTS_SECONDS, SessionsLook, look_at_sessions
from app.server.shell import Answer
from tests.broken_answers import broken


def socket(peer: str, sent: int, received: int) -> str:
    return f"ESTAB 0 0 10.0.0.1:445 {peer}\n\t cubic bytes_acked:{sent} bytes_received:{received}\n"


def counters(uptime: float, ticks: int, disk_bytes: int) -> str:
    rest = " ".join("0" for _ in range(20))
    return (
        f"/proc/uptime:{uptime} 1.0\n/sys/class/net/eth0/speed:100\n"
        f"/proc/stat:cpu  {ticks} 0 0 {round(200 * uptime) - ticks} 0 0 0 0 0 0\n"
        "/proc/stat:cpu0 1 0 0 1 0 0 0 0 0 0\n/proc/stat:cpu1 1 0 0 1 0 0 0 0 0 0\n"
        f"/proc/net/dev:  eth0: {round(1e6 * uptime)} 1 0 0 0 0 0 0 {round(5e6 * uptime)} 1 0 0 0 0 0 0\n"
        f"/proc/diskstats:   8 0 sda 1 1 1 1 1 1 1 1 0 {round(100 * uptime)} 1 0 0 0 0\n"
        f"/proc/7/stat:7 (smbd) S 1 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 4000 {rest}\n"
        f"/proc/7/io:read_bytes: {disk_bytes}\n/proc/7/io:write_bytes: 0\n"
    )


SECTIONS = {
    "user": "0",
    "smbd": "1",
    "first.sockets": socket("10.0.0.5:1000", 100, 10),
    "first.counters": counters(100.0, 50, 1000) + "/proc/8/stat:8 (smbd) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1 0\n",
    # Its second connection, from another address (multichannel), began after the first reading.
    "last.sockets": socket("10.0.0.5:1000", 1100, 40) + socket("10.0.0.6:1001", 5000, 500),
    "last.counters": counters(110.0, 250, 9000),
    "sessions": """\
listed
7 1 1 ws7 (ipv4:10.0.0.5:1000) SMB3_11 - -
8 1 1 ws8 (ipv4:10.0.0.8:1) SMB3_11 - -
files 7 2""",
    "owners": '0 0 10.0.0.1:445 10.0.0.6:1001 users:(("smbd",pid=7,fd=3))',
    "users": "daemon:x:1:1::/:/bin/sh",
    "times": "0m0.010000s 0m0.000000s\n0m0.050000s 0m0.020000s",
}


def looked(monkeypatch: pytest.MonkeyPatch, sections: dict[str, str]) -> SessionsLook:
    def answer(*_arguments: object) -> Answer:
        return Answer(sections=sections)

    monkeypatch.setattr(shell, "run_script", answer)
    return look_at_sessions(445, "nas", None, 10.0)


def test_what_grew_between_the_readings_is_the_sessions(monkeypatch: pytest.MonkeyPatch):
    made = looked(monkeypatch, SECTIONS)
    (session,) = made.sessions
    assert (session.users, session.client, session.machine) == (("daemon",), "10.0.0.5", "ws7")
    assert (session.sent_bytes, session.received_bytes) == (1000 + 5000, 30 + 500)
    assert (session.cpu_percent, session.disk_bytes, session.open_files) == (20.0, 8000, 2)
    assert made.ended == 1
    assert made.seconds == 10.0
    assert made.look_cpu_seconds == pytest.approx(0.08)

    machine = made.machine
    assert (machine.processors, machine.cpu_percent) == (2, 10.0)
    assert (machine.card, machine.card_bits_per_second, machine.link_bits_per_second) == ("eth0", 40e6, 10**8)
    assert (machine.disk, machine.disk_percent) == ("sda", 10.0)


@pytest.mark.parametrize(("seconds", "are_counted"), [(REQUESTS_SECONDS - 0.1, False), (REQUESTS_SECONDS, True)])
def test_requests_are_counted_where_the_starts_of_smbstatus_cost_little(
    monkeypatch: pytest.MonkeyPatch, seconds: float, are_counted: bool
):
    told: list[dict[str, str]] = []

    def answer(_script: str, settings: dict[str, str], *_arguments: object) -> Answer:
        told.append(settings)
        return Answer(sections=SECTIONS)

    monkeypatch.setattr(shell, "run_script", answer)
    look_at_sessions(445, "nas", None, seconds)
    assert [settings["requests"] != "" for settings in told] == [are_counted]


@pytest.mark.parametrize(("ssh", "told"), [(None, "sudo"), ("alice@nas", "root@HOST")])
def test_without_root_there_it_says_how_to_be_root(monkeypatch: pytest.MonkeyPatch, ssh: str | None, told: str):
    monkeypatch.setattr(shell, "run_script", lambda *_: Answer(sections={**SECTIONS, "user": "1000"}))
    with pytest.raises(MeasurementError) as raised:
        look_at_sessions(445, ssh, None, 1.0)
    assert told in f"{raised.value} {raised.value.options}"


def test_without_owners_the_first_connection_of_a_client_counts(monkeypatch: pytest.MonkeyPatch):
    (session,) = looked(monkeypatch, {**SECTIONS, "owners": ""}).sessions
    assert (session.sent_bytes, session.received_bytes) == (1000, 30)


@pytest.mark.parametrize("missing", ["smbd", "first.counters", "last.counters", "sessions"])
def test_without_what_it_needs_there_is_no_look(monkeypatch: pytest.MonkeyPatch, missing: str):
    with pytest.raises(MeasurementError):
        looked(monkeypatch, {**SECTIONS, missing: ""})


def test_a_server_that_ended_meanwhile_is_not_one_that_nobody_uses(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(MeasurementError, match="ended"):
        looked(monkeypatch, {**SECTIONS, "gone": "1", "sessions": "listed"})


@pytest.mark.parametrize("seed", range(60))
def test_a_broken_answer_is_an_error_in_a_line_or_costs_figures(monkeypatch: pytest.MonkeyPatch, seed: int):
    chance = random.Random(seed)
    sections = {
        name: broken(text, chance) if chance.random() < 0.6 and name != "user" else text
        for name, text in SECTIONS.items()
    }
    try:
        made = looked(monkeypatch, sections)
    except MeasurementError:
        return
    assert made.seconds > 0
    assert all(session.cpu_percent >= 0 for session in made.sessions)
