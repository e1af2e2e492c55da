"""The names and values of smb.conf, held against the installed Samba's testparm."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from forms.tuning import smb_conf
from forms.tuning.smb_values import read_by_atoi, read_by_strtol
from tests.servers.process import require
from tests.servers.samba_version import installed_samba
from tests.waiting import HANG_SECONDS


def testparm(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    require("testparm", root=False)
    return subprocess.run(
        ["testparm", *map(str, arguments)], capture_output=True, text=True, check=False, timeout=HANG_SECONDS
    )


testparm.__test__ = False  # type: ignore[attr-defined]


def test_every_parameter_of_the_installed_samba_is_known_by_name_scope_and_synonym() -> None:
    scope = ""
    for line in testparm("--show-all-parameters").stdout.splitlines():
        if line.startswith("["):
            scope = "share" if line == "[local]" else "global"
            continue
        name = line.partition("=")[0]
        if name == "-valid":  # made by smbd for itself, refused in a file
            continue
        found = smb_conf.spelling(name)
        canonical = re.search(r"synonym of ([^)]*)\)", line)
        # What this Samba calls a parameter may be a synonym in newer ones.
        canonical_name = canonical[1] if canonical and name != "smb ports" else name
        assert found.name == smb_conf.spelling(canonical_name).name
        assert found.is_synonym or not canonical or name == "smb ports"
        assert found.opposite == ("inverse synonym" in line)
        assert found.parameter is not None
        assert not found.is_too_new_for(installed_samba()), name
        assert found.removed_after(installed_samba()) is None, name
        assert found.parameter.scope == scope, name


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("debug level", "log level"),
        ("Debug Level", "log level"),
        ("LOGLEVEL", "log level"),
        ("dead time", "deadtime"),
        ("smb encrypt", "server smb encrypt"),
        ("max protocol", "server max protocol"),
        (" strict   Sync ", "strict sync"),
    ],
)
def test_a_name_is_read_as_samba_reads_it(typed: str, name: str, tmp_path: Path) -> None:
    assert smb_conf.spelling(typed).name == name
    empty = tmp_path / "smb.conf"
    empty.write_text("[global]\n")
    asked = testparm("-s", f"--parameter-name={typed.strip()}", empty)
    assert asked.returncode == 0
    assert asked.stdout == testparm("-s", f"--parameter-name={name}", empty).stdout


def test_blanks_and_case_make_no_synonym() -> None:
    assert not smb_conf.spelling("Strict  sync").is_synonym
    assert not smb_conf.spelling("dead time").is_synonym
    assert smb_conf.spelling("debug level").is_synonym


def test_an_unknown_name_keeps_its_words_and_has_suggestions() -> None:
    assert smb_conf.spelling("Strickt  Sync") == smb_conf.Spelling(
        typed="Strickt  Sync", name="strickt sync", parameter=None
    )
    assert smb_conf.suggestions("strickt sync")[0] == "strict sync"
    assert smb_conf.suggestions("sockt options") == ("socket options",)
    assert smb_conf.suggestions("banana") == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("strict sync", "0"),
        ("strict sync", "off"),
        ("strict sync", "True"),
        ("server signing", "mandatory"),
        ("server signing", "auto"),
        ("server signing", "disabled"),
        ("server smb encrypt", "force"),
        ("server max protocol", "SMB3_11"),
        ("server max protocol", "SMB2_10"),
        ("server max protocol", "CORE+"),
        ("case sensitive", "auto"),
        ("strict locking", "TRUE"),
        ("aio read size", "64K"),
        ("smb2 max read", "1M"),
        ("deadtime", "0x0F"),
        ("create mask", "744"),
        ("vfs objects", "catia,fruit streams_xattr"),
        ("hosts allow", "1.2.3.4,5.6.7.8"),
        ("smb ports", "445,139"),
        ("socket options", "TCP_NODELAY   IPTOS_LOWDELAY"),
        ("server smb3 encryption algorithms", "AES-256-GCM, AES-128-GCM"),
        ("hide files", "/*.tmp/Desktop.ini/"),
    ],
)
def test_a_value_means_what_testparm_prints_for_it(name: str, value: str, tmp_path: Path) -> None:
    file = tmp_path / "smb.conf"
    file.write_text(f"[global]\n{name} = {value}\n")
    printed = testparm("-s", f"--parameter-name={name}", file)
    assert printed.returncode == 0, printed.stderr
    assert smb_conf.refusal(name, value) is None
    assert smb_conf.same_value(name, value, printed.stdout.strip())


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("strict sync", "yes", "no"),
        ("server signing", "mandatory", "auto"),
        ("vfs objects", "catia fruit", "fruit catia"),
        ("server smb3 encryption algorithms", "AES-128-GCM, AES-256-GCM", "AES-256-GCM, AES-128-GCM"),
        ("socket options", "TCP_NODELAY", "TCP_NODELAY=0"),
        ("log level", "1", "3"),
        ("smb2 max read", "64K", "64000"),
    ],
)
def test_values_that_differ(name: str, one: str, other: str) -> None:
    assert not smb_conf.same_value(name, one, other)


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("socket options", "IPTOS_LOWDELAY TCP_NODELAY", "TCP_NODELAY=1 IPTOS_LOWDELAY"),
        ("socket options", "SO_SNDBUF=64K", "SO_SNDBUF=64"),
        ("socket options", "TCP_NODELAY=yes", "TCP_NODELAY=0"),
        ("deadtime", "0x10", "16 minutes"),
        ("aio read size", "16 k", "16384"),
        ("create mask", "0775", "775"),
        ("read only", "Y es", "1"),
        ("hosts allow", "10.0.0.1 10.0.0.2", "10.0.0.2, 10.0.0.1"),
        ("log level", "all:3", "3"),
    ],
)
def test_values_whose_order_or_spelling_does_not_matter(name: str, one: str, other: str) -> None:
    assert smb_conf.same_value(name, one, other)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("strict sync", "maybe"),
        ("server min protocol", "BANANA"),
        ("aio read size", "banana"),
        ("aio read size", "64KB"),
        ("case sensitive", "on"),
        ("smbd profiling level", "yes"),
    ],
)
def test_what_testparm_refuses_is_refused(name: str, value: str, tmp_path: Path) -> None:
    file = tmp_path / "smb.conf"
    file.write_text(f"[global]\n{name} = {value}\n")
    assert testparm("-s", file).returncode == 1
    assert value in (smb_conf.refusal(name, value) or "")


def test_the_section_of_a_line() -> None:
    assert smb_conf.section(smb_conf.spelling("strict sync").parameter, "data") == "[data]"
    assert smb_conf.section(smb_conf.spelling("strict sync").parameter, None) == "[global]"
    assert smb_conf.section(smb_conf.spelling("log level").parameter, "data") == "[global]"
    assert smb_conf.opposite_value("Yes") == "no"


@pytest.mark.parametrize(
    ("veto_files", "path", "pattern"),
    [
        ("/*.iso/", "big.iso", "*.iso"),
        ("/*.iso/", "folder/BIG.ISO", "*.iso"),
        ("/tmp?/", "tmp1/big.bin", "tmp?"),
        ("/*.eml/*.nws/riched20.dll/*.**/", "big.bin", "*.**"),
        ("/*.eml/*.nws/riched20.dll/*.**/", "big", None),
        ("/[ab]/", "a", None),
        ("/iso/", "big.iso", None),
        ("", "big.iso", None),
        ("/", "big.iso", None),
    ],
)
def test_the_pattern_that_hides_a_file(veto_files, path, pattern):
    assert smb_conf.hiding_pattern(veto_files, path) == pattern


def test_the_defaults_of_the_installed_samba_are_those_of_its_version(tmp_path: Path) -> None:
    """-d0, or testparm prints its own log level."""
    empty = tmp_path / "smb.conf"
    empty.write_text("")
    wrong = []
    for line in testparm("-d0", "-sv", empty).stdout.splitlines():
        name, equals, value = (part.strip() for part in line.partition("="))
        parameter = smb_conf.spelling(name).parameter
        if not equals or ":" in name or parameter is None or not parameter.defaults:
            continue
        # Where folders are is the choice of who built the packages.
        known = parameter.possible_defaults(installed_samba())
        if not any(smb_conf.same_value(parameter.name, value, default) for default in known) and "/" not in value:
            wrong.append((name, value, known))
    assert [entry for entry in wrong if entry[0] != "server string"] == []


@pytest.mark.parametrize("read", [read_by_atoi, read_by_strtol])
def test_a_number_of_any_length_is_read(read: Callable[[str], int]):
    """The file is from outside, and Python refuses a number of more than 4,300 digits."""
    assert read("9" * 5000) >= 2**63
    assert read("12") == 12
