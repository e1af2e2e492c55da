"""What a server's refusal is about: a file, a command that names none, passive mode, a login, or its settings."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import pytest

from app.base.errors import (
    AccessDeniedError,
    ConnectionLostError,
    LoginDeniedError,
    LoginError,
    MeasurementError,
    NoSuchFileError,
    StalledError,
    UnreachableError,
)
from app.clients.base import Secrets
from app.clients.ftp.client import FTPClient
from storage.plan import Settings
from tests.app.clients.ftp.stand_in import Answer, StandIn
from tests.servers.vsftpd import Vsftpd

DENIED = b"550 Permission denied.\r\n"


def refusal_of_size(answers: dict[str, Answer], user: str | None = None) -> MeasurementError:
    """The error of a server that gives these answers, asked for a file's size or, before that, for the login."""
    with StandIn(answers) as server:
        client = FTPClient(replace(server.target(), user=user), Secrets(password="secret"), Settings(timeout_seconds=5))
        with closing(client), pytest.raises(MeasurementError) as caught:
            client.size("/file")
    return caught.value


def refusal_of_list(answers: dict[str, Answer]) -> MeasurementError:
    with StandIn(answers) as server:
        client = FTPClient(server.target(), Secrets(), Settings(timeout_seconds=0.5))
        with closing(client), pytest.raises(MeasurementError) as caught:
            client.list("/")
    return caught.value


@pytest.mark.parametrize(
    ("reply", "kind", "is_about_the_password"),
    [
        (b"530 Login incorrect.\r\n", LoginError, True),
        (b"530 This FTP server is anonymous only.\r\n", LoginDeniedError, False),
        (b"530 Sorry, the maximum number of clients (5) is connected.\r\n", LoginDeniedError, False),
        (b"500 OOPS: cannot change directory:/nowhere\r\n", LoginDeniedError, False),
        (b"500 OOPS: vsftpd: refusing to run with writable root inside chroot()\r\n", LoginDeniedError, False),
        (b"530 Non-anonymous sessions must use encryption.\r\n", LoginError, False),
    ],
)
def test_a_login_is_refused_for_its_password_only_where_that_is_so(
    reply: bytes, kind: type[Exception], is_about_the_password: bool
):
    error = refusal_of_size({"PASS": reply}, user="bench")
    assert type(error) is kind
    assert ("check the user and the password" in str(error)) is is_about_the_password


def test_who_is_refused_before_a_password_is_not_told_of_one():
    error = refusal_of_size({"USER": b"530 Permission denied.\r\n"}, user="bench")
    assert isinstance(error, LoginDeniedError)
    assert "check the user and the password" not in str(error)


def test_a_server_of_another_protocol_is_not_said_to_refuse_the_user():
    of_ssh = refusal_of_size({"greeting": b"SSH-2.0-OpenSSH_9.2\r\n"}, user="bench")
    assert isinstance(of_ssh, UnreachableError)
    assert "SSH-2.0-OpenSSH_9.2" in str(of_ssh)
    of_mail = refusal_of_size({"greeting": b"220 ESMTP\r\n", "USER": b"502 5.5.2 Error\r\n"}, user="bench")
    assert isinstance(of_mail, LoginDeniedError)
    assert "is it an FTP server" in str(of_mail)


def test_an_anonymous_login_is_told_to_name_a_user():
    assert "name a user" in str(refusal_of_size({"USER": b"530 Permission denied.\r\n"}))


@pytest.mark.parametrize(
    ("greeting", "says_later"),
    [(b"421 There are too many connected users.\r\n", True), (b"500 OOPS: cannot read banner file:/x\r\n", False)],
)
def test_a_server_with_wrong_settings_is_not_tried_later(greeting: bytes, says_later: bool):
    error = refusal_of_size({"greeting": greeting})
    assert isinstance(error, UnreachableError)
    assert ("try later" in str(error)) is says_later


def test_a_command_that_names_no_file_says_nothing_of_one():
    error = refusal_of_size({"TYPE": DENIED})
    assert type(error) is MeasurementError
    assert "TYPE" in str(error)
    assert "rights of the file" not in str(error)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [(b"550 Could not get file size.\r\n", NoSuchFileError), (DENIED, AccessDeniedError)],
)
def test_a_file_whose_size_is_denied_is_not_said_to_be_missing(reply: bytes, kind: type[Exception]):
    error = refusal_of_size({"SIZE": reply, "CWD": b"550 Failed to change directory.\r\n"})
    assert type(error) is kind


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (DENIED, AccessDeniedError),
        (b"550 closed: Permission denied\r\n", AccessDeniedError),
        (b"550 closed: No such file or directory\r\n", NoSuchFileError),
        (b"550 Failed to change directory.\r\n", NoSuchFileError),
    ],
)
def test_a_folder_that_may_not_be_entered_is_missing_only_where_the_server_says_so(reply: bytes, kind: type[Exception]):
    listed = refusal_of_list({"CWD": reply})
    # The folder of the file, of which the reply to SIZE tells nothing.
    sized = refusal_of_size({"SIZE": b"550 Could not get file size.\r\n", "CWD": reply})
    for error in (listed, sized):
        assert type(error) is kind
        may_be_closed = b"No such" not in reply
        assert ("may not enter" in str(error) or "let this user into" in str(error)) is may_be_closed


def test_a_closed_folder_is_not_said_to_be_a_missing_file(make_vsftpd: Callable[..., Vsftpd]):
    server = make_vsftpd()
    closed = server.folder / "closed"
    closed.mkdir(mode=0o000)
    client = FTPClient(server.target(anonymous=True), Secrets(), Settings(timeout_seconds=5))
    with closing(client):
        for path, kind in (("/closed", AccessDeniedError), ("/missing", NoSuchFileError)):
            with pytest.raises(MeasurementError) as caught:
                client.size(path)
            assert type(caught.value) is kind
        with pytest.raises(MeasurementError, match="may not enter"):
            client.size("/closed/file")
        with pytest.raises(MeasurementError, match="may not enter"):
            client.list("/closed")


def test_refused_passive_mode_is_no_refused_file():
    error = refusal_of_list({"PASV": DENIED, "EPSV": DENIED})
    assert type(error) is MeasurementError
    assert "passive mode" in str(error)


def test_a_list_that_is_switched_off_names_the_command():
    error = refusal_of_list({"MLSD": DENIED})
    assert isinstance(error, AccessDeniedError)
    assert "MLSD" in str(error)


def passive(port: int) -> bytes:
    return f"227 passive (127,0,0,1,{port >> 8},{port & 255})\r\n".encode()


def test_a_closed_port_for_data_is_told_as_that():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        error = refusal_of_list({"PASV": passive(port)})
    assert isinstance(error, ConnectionLostError)
    assert f"port {port} for the data" in str(error)


def test_a_port_for_data_that_does_not_answer_is_told_as_that():
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(3)]
        for sock in waiting:
            sock.settimeout(0)
            sock.connect_ex(("127.0.0.1", port))
        try:
            error = refusal_of_list({"PASV": passive(port)})
        finally:
            for sock in waiting:
                sock.close()
    assert isinstance(error, StalledError)
    assert f"port {port} for the data" in str(error)


def test_passive_mode_by_epsv_takes_the_place_of_a_refused_pasv(make_vsftpd):
    server = make_vsftpd({"cmds_denied": "PASV"})
    server.make_file("file", b"content")
    with closing(FTPClient(server.target(), server.secrets(), Settings())) as client:
        assert "file" in {entry.name for entry in client.list("/")}
