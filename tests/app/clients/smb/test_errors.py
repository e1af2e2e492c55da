"""Every status and every exception that can come out of a server's answer becomes one of our errors, in one line."""

import inspect
import struct
from typing import Any

import pytest
from impacket import nmb, nt_errors, smb, smb3, smbconnection
from impacket.dcerpc.v5 import rpcrt, srvs
from impacket.krb5 import ccache, kerberosv5, types

from app.base.errors import ConnectionLostError, LoginError, MeasurementError, ProtocolError, SharebenchError
from app.clients.smb.impacket_errors import mapped
from app.clients.smb.wire import MEANINGS, STATUSES, place, status_error
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
