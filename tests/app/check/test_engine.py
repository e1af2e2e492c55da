"""The look before a measurement, with a server that behaves badly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.errors import NoSpaceError
from app.check.checked import CheckState
from app.check.file_checks import check_file
from app.check.surroundings import check_link, check_server, missing_server_options
from app.check.target_checks import check_login
from app.recording.spec import SeriesSpec
from app.server.facts import Environment
from app.server.link_facts import Link
from storage.notebook import Notebook
from storage.plan import MonitorChoices
from storage.records import ClientFacts, Command, Target
from tests.app.fakes import FakeClient, FakeServer
from tests.builders import series

FOLDER = Target(protocol="file", path="/data")


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Notebook]:
    with Notebook(tmp_path / "notebook.db") as empty:
        yield empty


def test_a_file_that_could_only_be_begun_is_taken_away_again(notebook: Notebook):
    server = FakeServer(fail_at={1: NoSpaceError("/data: the disk is full")})
    (found,) = check_file(FOLDER, SeriesSpec(command=Command.PUT), FakeClient(server, FOLDER), Environment(), notebook)
    assert found.state is CheckState.FAILED
    assert server.transfers == 1
    assert server.files == {}


def test_a_user_who_became_a_guest_is_told_of_it():
    target, facts = Target(protocol="smb", host="nas", port=445, user="bob"), ClientFacts(name="x", dialect="3.1.1")
    *_, login = check_login(target, facts, {"smb.guest": "yes"})
    assert login.state is CheckState.ATTENTION
    assert login.text.startswith("as guest, not as bob, SMB 3.1.1: the server does not know the user")
    *_, login = check_login(target, facts, {"smb.guest": "no"})
    assert (login.state, login.text) == (CheckState.FINE, "as bob, SMB 3.1.1")


def test_a_configuration_that_every_user_may_write_to_is_named():
    facts = {"samba.version": "4.17.12", "smb.conf.writable_by_all": "/etc/samba/smb.conf\n/etc/samba"}
    fine, settings, first, second = check_server(
        replace(Environment(), server=facts), "sharebench audit smb://nas/x", missing_options=""
    )
    assert fine.state is CheckState.FINE
    assert settings.state is CheckState.FINE
    assert settings.text == "nothing harmful; `sharebench audit smb://nas/x` judges them all"
    assert (first.state, second.state) == (CheckState.ATTENTION, CheckState.ATTENTION)
    assert "(chmod o-w /etc/samba/smb.conf)" in first.text
    assert "(chmod o-w /etc/samba)" in second.text


def test_a_server_without_size_is_told():
    *_, size = check_login(Target(protocol="ftp", host="nas", port=21), ClientFacts(name="x"), {"ftp.size": "no"})
    assert (size.name, size.state) == ("SIZE", CheckState.UNKNOWN)


FAR = Target(protocol="smb", host="192.0.2.250", port=445, share="data")


def test_settings_that_were_not_read_are_reached_by_ssh_and_then_by_their_file():
    by_ssh = SeriesSpec(monitor=MonitorChoices(server_ssh="root@nas"))
    assert missing_server_options(FAR, SeriesSpec()) == "--server-ssh root@192.0.2.250"
    assert missing_server_options(FAR, by_ssh) == "--smb-conf FILE"
    assert missing_server_options(replace(FAR, host="127.0.0.1"), SeriesSpec()) == "--smb-conf FILE"


@pytest.mark.parametrize(
    ("given", "state"),
    [(None, CheckState.FINE), (10**8, CheckState.FINE), (10**9, CheckState.FINE), (10**10, CheckState.ATTENTION)],
)
def test_a_link_speed_above_that_of_the_interface_is_told(given: int | None, state: CheckState):
    link = Link(interface="eth0", card_bits_per_second=10**9)
    checked = check_link(FAR, SeriesSpec(link_bits_per_second=given), replace(Environment(), link=link))
    assert checked.state is state


def test_a_file_is_judged_by_what_an_earlier_series_reached(notebook: Notebook):
    target = replace(FAR, path="big.iso")
    server = FakeServer(files={"big.iso": 64 * 1024**2})
    slow = series((5e6,), target=target)
    at_link_speed = SeriesSpec(link_bits_per_second=10**9)

    (before,) = check_file(target, at_link_speed, FakeClient(server, target), Environment(), notebook)
    notebook.add(slow)
    (after,) = check_file(target, at_link_speed, FakeClient(server, target), Environment(), notebook)
    assert (before.state, after.state) == (CheckState.ATTENTION, CheckState.FINE)
