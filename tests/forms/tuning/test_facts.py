"""What a session shows of a setting of the server, and what it contradicts."""

from dataclasses import replace

import pytest

from forms.tuning import fact_names
from forms.tuning.session_evidence import agreement, contradiction, dialect_rank
from tests.builders import CLIENT

PLAIN = replace(CLIENT, dialect="3.1.1", signing="none", encryption="none")
SIGNED, SEALED = replace(PLAIN, signing="aes-cmac"), replace(PLAIN, encryption="aes-128-gcm")
ENCRYPT, SIGN = "server smb encrypt", "server signing"
CIPHERS, SIGNERS = "server smb3 encryption algorithms", "server smb3 signing algorithms"
MOST, LEAST = "server max protocol", "server min protocol"


@pytest.mark.parametrize(
    ("name", "value", "client", "denied"),
    [
        (ENCRYPT, "required", PLAIN, True),
        (ENCRYPT, "required", SIGNED, True),
        (ENCRYPT, "required", SEALED, False),
        (ENCRYPT, "desired", PLAIN, True),
        (ENCRYPT, "desired", replace(PLAIN, dialect="3.0"), True),
        (ENCRYPT, "desired", replace(PLAIN, dialect="2.1"), False),
        (ENCRYPT, "desired", SEALED, False),
        (ENCRYPT, "no", SEALED, True),
        (ENCRYPT, "no", PLAIN, False),
        (SIGN, "required", PLAIN, True),
        (SIGN, "mandatory", PLAIN, True),
        (SIGN, "required", SIGNED, False),
        (SIGN, "required", SEALED, False),
        (SIGN, "auto", PLAIN, False),
        (CIPHERS, "AES-256-GCM", SEALED, True),
        (CIPHERS, "AES-256-GCM AES-128-GCM", SEALED, False),
        (CIPHERS, "-AES-128-GCM", SEALED, False),
        (CIPHERS, "AES-256-GCM", PLAIN, False),
        (SIGNERS, "AES-128-GMAC", SIGNED, True),
        (SIGNERS, "AES-128-CMAC", SIGNED, False),
        (MOST, "SMB3_00", replace(PLAIN, dialect="3.0"), False),
        (MOST, "SMB3_00", replace(PLAIN, dialect="3.0.2"), True),
        (LEAST, "SMB3_00", replace(PLAIN, dialect="3.0"), False),
        (LEAST, "SMB3_00", replace(PLAIN, dialect="2.1"), True),
        (MOST, "NT1", PLAIN, False),
        (MOST, "SMB2_02", replace(PLAIN, dialect="4.0"), False),
        (ENCRYPT, "required", replace(PLAIN, dialect=None), False),
        ("strict sync", "no", PLAIN, False),
    ],
)
def test_a_session_contradicts_what_it_would_not_be_under_the_value(name, value, client, denied):
    assert (contradiction(name, value, client) is not None) is denied


def test_a_session_agrees_by_what_changed_and_follows_from_the_setting():
    assert agreement(SIGN, "required", PLAIN, SIGNED) == "signing none -> aes-cmac"
    assert agreement(SIGN, "required", PLAIN, PLAIN) is None, "that contradicts it"
    assert agreement(SIGN, "required", SIGNED, SIGNED) is None
    assert agreement(CIPHERS, "aes-128-gcm", replace(PLAIN, encryption=None), SEALED) == (
        "encryption unknown -> aes-128-gcm"
    )
    assert (
        agreement(CIPHERS, "aes-128-gcm", SIGNED, replace(SEALED, signing="none")) == "encryption none -> aes-128-gcm"
    )


def test_dialects_are_ranked_by_age():
    ranks = [dialect_rank(dialect) for dialect in ("1.0", "2.0.2", "2.1", "3.0", "3.0.2", "3.1.1")]
    assert ranks == [-1, 0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "name",
    ["load.1min", "link.errors_during", "link.drops_before", "memory.available_bytes", "server.sessions.others"],
)
def test_what_varies_by_itself_is_volatile(name: str) -> None:
    assert fact_names.is_volatile(name)


@pytest.mark.parametrize(
    "name", ["kernel", "link.rate_bits_per_second", "smb.conf/global/load printers", "memory_bytes"]
)
def test_settings_are_not_volatile(name: str) -> None:
    assert not fact_names.is_volatile(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("link.duplex", "duplex"),
        ("smb.conf/global/log level", "log level (smb.conf)"),
        ("smb.conf/share/strict sync", "strict sync (smb.conf, this share)"),
        ("tcp.window_scaling", "TCP window scaling"),
        ("link.rx_crc_errors_during", "link received CRC errors during"),
        ("filesystem.size_bytes", "filesystem size"),
    ],
)
def test_human_names(name: str, said: str) -> None:
    assert fact_names.human_name(name) == said


def test_a_list_in_a_fact_is_read_as_it_was_written() -> None:
    warned = fact_names.in_one_fact(["one; with a semicolon", "two;", "one; with a semicolon", "three"])
    assert fact_names.lines_of_fact({"x": warned}, "x") == ["one, with a semicolon", "two;", "three"]
    assert fact_names.lines_of_fact({}, "x") == fact_names.lines_of_fact({"x": ""}, "x") == []
