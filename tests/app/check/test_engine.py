"""The look before a measurement, with a server that behaves badly."""

from __future__ import annotations

from dataclasses import replace

from app.base.errors import NoSpaceError
from app.check.checked import CheckState
from app.check.surroundings import check_server
from app.check.target_checks import check_file, check_login
from app.recording.spec import SeriesSpec
from app.server.facts import Environment
from storage.records import ClientFacts, Command, Target
from tests.app.fakes import FakeClient, FakeServer

FOLDER = Target(protocol="file", path="/data")


def test_a_file_that_could_only_be_begun_is_taken_away_again():
    server = FakeServer(fail_at={1: NoSpaceError("/data: the disk is full")})
    (found,) = check_file(FOLDER, SeriesSpec(command=Command.PUT), FakeClient(server, FOLDER), Environment())
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
    fine, settings, first, second = check_server(replace(Environment(), server=facts), "sharebench audit smb://nas/x")
    assert fine.state is CheckState.FINE
    assert settings.state is CheckState.FINE
    assert settings.text == "nothing harmful; `sharebench audit smb://nas/x` judges them all"
    assert (first.state, second.state) == (CheckState.ATTENTION, CheckState.ATTENTION)
    assert "(chmod o-w /etc/samba/smb.conf)" in first.text
    assert "(chmod o-w /etc/samba)" in second.text


def test_a_server_without_size_is_told():
    *_, size = check_login(Target(protocol="ftp", host="nas", port=21), ClientFacts(name="x"), {"ftp.size": "no"})
    assert (size.name, size.state) == ("SIZE", CheckState.UNKNOWN)
