from __future__ import annotations

import shutil
import subprocess

import pytest

from forms import facts
from storage.records import Facts


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("debug level", "log level"),
        ("debuglevel", "log level"),
        ("Debug  Level", "log level"),
        ("smb encrypt", "server smb encrypt"),
        ("writeable", "read only"),
        ("Strict  Sync", "strict sync"),
        ("no such thing", "no such thing"),
    ],
)
def test_canonical_parameter(written: str, canonical: str) -> None:
    assert facts.canonical_parameter(written) == canonical


def test_a_parameter_is_found_by_any_spelling_and_the_share_comes_first() -> None:
    known: Facts = {
        "smb.conf/global/deadtime": 0,
        "smb.conf/global/strict sync": "Yes",
        "smb.conf/share/strict sync": "No",
    }
    assert facts.find_parameter(known, "dead time") == "smb.conf/global/deadtime"
    assert facts.find_parameter(known, "StrictSync") == "smb.conf/share/strict sync"
    assert facts.find_parameter(known, "read prediction") is None
    assert facts.find_parameter({}, "log level") is None


@pytest.mark.skipif(not shutil.which("testparm"), reason="Samba is not installed")
def test_synonyms_are_those_of_the_installed_samba() -> None:
    printed = subprocess.run(["testparm", "--show-all-parameters"], capture_output=True, text=True, check=True).stdout
    known = {facts._squeeze(synonym): name for synonym, name in facts.SYNONYMS.items()}
    seen = 0
    for line in printed.splitlines():
        if "(synonym of " in line:
            name, canonical = line.partition("=")[0], line.rpartition("(synonym of ")[2].rstrip(")")
            assert known.get(facts._squeeze(name)) == canonical
            seen += 1
    assert seen > 20


@pytest.mark.parametrize(
    "name",
    ["load.1min", "link.errors_during", "link.drops_before", "memory.available_bytes", "server.sessions.others"],
)
def test_what_varies_by_itself_is_volatile(name: str) -> None:
    assert facts.is_volatile(name)


@pytest.mark.parametrize("name", ["kernel", "link.rate_bits_per_second", "smb.conf/global/log level", "memory_bytes"])
def test_settings_are_not_volatile(name: str) -> None:
    assert not facts.is_volatile(name)


def test_changed_facts_name_what_differs_and_nothing_that_varies() -> None:
    base: dict[str, Facts] = {
        "path": {"link.rate_bits_per_second": 10**9, "link.errors_during": 0},
        "server": {"smb.conf/share/strict sync": "Yes", "load.1min": 0.1},
    }
    other: dict[str, Facts] = {
        "path": {"link.rate_bits_per_second": 10**8, "link.errors_during": 7, "link.duplex": "half"},
        "server": {"smb.conf/share/strict sync": "No", "load.1min": 3.0},
    }
    assert [(c.part, c.name, c.base, c.other) for c in facts.changed_facts(base, other)] == [
        ("path", "link.duplex", None, "half"),
        ("path", "link.rate_bits_per_second", 10**9, 10**8),
        ("server", "smb.conf/share/strict sync", "Yes", "No"),
    ]


def test_a_server_that_could_not_be_asked_has_not_changed() -> None:
    base: dict[str, Facts] = {
        "server": {"kernel": "6.1", "smb.conf/global/log level": "0"},
        "client": {"kernel": "6.1"},
    }
    assert facts.changed_facts(base, {"client": {"kernel": "6.1"}}) == ()
    assert facts.changed_facts(base, {"server": {"kernel": "6.1"}, "client": {"kernel": "6.1"}}) == ()


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
    assert facts.human_name(name) == said


def test_parameters_are_listed_with_their_scope() -> None:
    known = {"kernel": "6.1", "smb.conf/share/vfs objects": "", "smb.conf.path": "/etc/samba/smb.conf"}
    assert list(facts.parameters(known)) == [("share", "vfs objects", "")]
