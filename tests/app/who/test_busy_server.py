"""A quiet-time check and a diagnosis that find the server busy say whose session does most there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.server import quiet_time
from app.server.sessions import busiest
from app.server.sessions.busiest import facts_of_busiest, facts_of_busy_server
from storage.notebook import Notebook
from storage.records import BUSIEST_USER, format_target
from tests.command_line import MIB, Inside
from tests.servers.paced_users import Pace, PacedUsers
from tests.servers.smbd import Smbd
from tests.servers.sshd import Sshd

QUICK_BUT_LOOKED_AT = ("--runs", "1", "--warmup", "0", "--ceiling", "skip", "--timeout", "10")


@pytest.fixture(scope="module")
def used_smbd() -> Iterator[Smbd]:
    """An smbd that a user reads from."""
    server = Smbd()
    try:
        server.start()
        server.make_file("big.bin", bytes(MIB))
        with PacedUsers(server, [Pace(user="bin", bytes_per_second=1e6)]):
            yield server
    finally:
        server.stop()


def set_threshold(monkeypatch: pytest.MonkeyPatch, typical: float) -> None:
    limit = quiet_time.Threshold(typical=typical, busy=max(typical, 101.0))
    monkeypatch.setattr(quiet_time, "SERVER_CPU_PERCENT", limit)
    monkeypatch.setattr(busiest, "SERVER_CPU_PERCENT", limit)


@pytest.mark.varied
@pytest.mark.parametrize(("typical", "is_named"), [(0.0, True), (101.0, False)])
def test_a_series_names_the_busiest_session_of_a_busy_server(
    used_smbd: Smbd, through: Sshd, inside: Inside, monkeypatch, typical: float, is_named: bool
):
    assert through
    set_threshold(monkeypatch, typical)
    options = ("--server-ssh", "fileserver", "--smb-conf", str(used_smbd.conf))
    inside.password = used_smbd.password
    made = inside.json("run", format_target(used_smbd.target("big.bin")), *QUICK_BUT_LOOKED_AT, *options, "--json")

    said = [reason for reason in made["quiet"]["reasons"] if "bin on 127.0.0.1" in reason]
    assert bool(said) is is_named
    with Notebook(inside.db) as notebook:
        series = notebook.series(made["id"])
    assert series.environment["server"].get(BUSIEST_USER) == ("bin" if is_named else None)


@pytest.mark.long
@pytest.mark.parametrize(("typical", "is_named"), [(0.0, True), (101.0, False)])
def test_a_diagnosis_names_it_too(used_smbd: Smbd, inside: Inside, monkeypatch, typical: float, is_named: bool):
    set_threshold(monkeypatch, typical)
    inside.password = used_smbd.password
    target = format_target(used_smbd.target())
    words = ("diagnose", target, "--smb-conf", str(used_smbd.conf), "--only", "settings", "--yes")
    made = inside.json(*words, "--json")
    assert made["stages"][0]["facts"].get(BUSIEST_USER) == ("bin" if is_named else None)
    shown = " ".join(inside("show", "last").stdout.split())
    assert ("bin on 127.0.0.1" in shown) is is_named

    anonymous = inside("export", "last", "--format", "json", "--anonymous", "-o", "-")
    assert anonymous.returncode == 0, anonymous.stderr
    assert '"bin"' not in anonymous.stdout


@pytest.mark.long
def test_where_nobody_can_look_nothing_is_said(used_smbd: Smbd, smbd: Smbd):
    assert facts_of_busiest(1, None, None) == {}
    assert facts_of_busy_server(1, None, None) == {}
    assert facts_of_busiest(smbd.port, None, None).keys().isdisjoint({BUSIEST_USER}), "nobody is at work there"
    assert facts_of_busiest(used_smbd.port, None, None)[BUSIEST_USER] == "bin"
