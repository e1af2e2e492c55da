"""Every status and every exception that can come out of a server's answer becomes one of our errors, in one line."""

import inspect
import struct
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from impacket import nmb, nt_errors, smb, smb3, smbconnection
from impacket.dcerpc.v5 import rpcrt, srvs
from impacket.krb5 import ccache, kerberosv5, types

from app.base.errors import ConnectionLostError, LoginError, MeasurementError, ProtocolError, SharebenchError
from app.clients.base import Secrets
from app.clients.smb.client import SMBClient
from app.clients.smb.credentials import login_credentials
from app.clients.smb.impacket_errors import mapped
from app.clients.smb.wire import MEANINGS, STATUSES, place, status_error
from storage.plan import Settings
from storage.records import Target


@pytest.mark.parametrize(("name", "status"), STATUSES.items())
def test_statuses_have_the_numbers_of_their_names(name, status):
    assert getattr(nt_errors, name) == status
    assert issubclass(MEANINGS[status][0], MeasurementError)


def test_any_status_becomes_one_line_that_says_where_and_what_to_do():
    assert len(nt_errors.ERROR_MESSAGES) > 1000
    for status in nt_errors.ERROR_MESSAGES:
        error = status_error(status, "//nas/data/big.iso")
        assert isinstance(error, MeasurementError)
        assert str(error).startswith("//nas/data/big.iso: ")
        assert "; " in str(error)
        assert "\n" not in str(error)


def test_an_unknown_status_is_named_by_number():
    error = status_error(0xC0DEC0DE, "//nas")
    assert type(error) is ProtocolError
    assert "0xC0DEC0DE" in str(error)


def exception_classes() -> list[type[Exception]]:
    """Every exception that the modules below a client define."""
    modules = (nmb, smb, smb3, smbconnection, rpcrt, srvs, kerberosv5, types, ccache)
    found = {
        value
        for module in modules
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, Exception) and value.__module__.startswith("impacket.")
    }
    return sorted(found, key=lambda kind: (kind.__module__, kind.__name__))


@pytest.mark.parametrize("kind", exception_classes(), ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_exception_of_impacket_is_mapped(kind):
    """Made without its constructor: not even its text can be relied on."""
    error = kind.__new__(kind)
    error.error = nt_errors.STATUS_LOGON_FAILURE
    error.packet = 0
    with pytest.raises(SharebenchError) as caught, mapped("//nas"):
        raise error
    assert caught.value.__cause__ is error
    assert str(caught.value).startswith("//nas: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (smb3.SessionError(nt_errors.STATUS_LOGON_FAILURE), LoginError),
        (smbconnection.SessionError(nt_errors.STATUS_LOGON_FAILURE), LoginError),
        (kerberosv5.KerberosError(6), LoginError),
        (BrokenPipeError("gone"), ConnectionLostError),
        (struct.error("unpack requires a buffer"), ProtocolError),
        (KeyError("Level502"), ProtocolError),
        (Exception("two\nlines"), ProtocolError),
    ],
)
def test_exceptions_become_the_most_specific_error(error, expected):
    with pytest.raises(expected) as caught, mapped("//nas"):
        raise error
    assert type(caught.value) is expected
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("target", "path", "expected"),
    [
        (Target(protocol="smb", host="nas"), None, "smb://nas"),
        (Target(protocol="smb", host="nas", port=445, share="data"), None, "smb://nas/data"),
        (
            Target(protocol="smb", host="nas", port=4450, share="data"),
            "a b\\[c].bin",
            "smb://nas:4450/data/a b/[c].bin",
        ),
    ],
)
def test_a_place_is_written_as_its_target_is(target, path, expected):
    assert place(target, path) == expected


@pytest.mark.parametrize("wrong", [TypeError, AttributeError, AssertionError, NameError])
@pytest.mark.parametrize(("module", "told"), [("app.clients.smb.session", None), ("impacket.smb3", ProtocolError)])
def test_our_own_mistake_is_never_the_servers(wrong: type[Exception], module: str, told: type[SharebenchError] | None):
    """The same from impacket, which stumbles over an odd answer, is."""
    made: dict[str, Any] = {"__name__": module, "wrong": wrong}
    exec("def stumble(): raise wrong('x')", made)
    with pytest.raises(told or wrong), mapped("//nas"):
        made["stumble"]()


@pytest.mark.parametrize("user", ["bench@EXAMPLE.COM", "bench@sub.example.com", "nobody@EXAMPLE.COM"])
@pytest.mark.parametrize("map_to_guest", ["Never", "Bad User"])
def test_a_refused_user_of_a_realm_is_told_of_kerberos(make_smbd, user: str, map_to_guest: str):
    target = replace(make_smbd({"map to guest": map_to_guest}).target(), user=user)
    with (
        pytest.raises(LoginError, match=f"kinit {user}"),
        closing(SMBClient(target, Secrets(password="wrong"), Settings())) as client,
    ):
        client.connect()


@pytest.mark.parametrize("map_to_guest", ["Never", "Bad User"])
def test_a_refused_user_without_a_realm_is_not(make_smbd, map_to_guest: str):
    target = replace(make_smbd({"map to guest": map_to_guest}).target(), user="nobody-here")
    with (
        pytest.raises(LoginError) as caught,
        closing(SMBClient(target, Secrets(password="wrong"), Settings())) as client,
    ):
        client.connect()
    assert "kinit" not in str(caught.value)


@pytest.mark.parametrize(
    ("user", "domain", "expected"),
    [
        ("alice@EXAMPLE.COM", "", ("alice", "EXAMPLE.COM")),
        ("alice@EXAMPLE.COM", "OTHER", ("alice", "EXAMPLE.COM")),
        ("alice", "EXAMPLE.COM", ("alice", "EXAMPLE.COM")),
        ("", "", ("", "")),
    ],
)
def test_a_ticket_names_user_and_realm_apart(
    user: str, domain: str, expected: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "tickets").touch()
    monkeypatch.setenv("KRB5CCNAME", str(tmp_path / "tickets"))
    target = Target(protocol="smb", host="h", share="s", user=user, domain=domain)
    credentials = login_credentials(target, Secrets(kerberos=True))
    assert (credentials.username, credentials.domain) == expected
    by_password = login_credentials(target, Secrets(password="p"))
    assert (by_password.username, by_password.domain) == (user, domain)
