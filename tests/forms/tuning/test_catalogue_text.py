"""How a change is made by hand, tried with the installed testparm."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from forms.layout import width
from forms.tuning import catalogue, smb_conf
from forms.tuning.catalogue import CatalogueEntry, EntryKind, Status
from forms.tuning.catalogue_text import entry_text
from forms.tuning.instructions import Instructions, advise, suggested_value
from tests.cases import for_each
from tests.servers.process import require
from tests.waiting import HANG_SECONDS

USABLE = [
    e for e in catalogue.entries() if e.kind is EntryKind.SMB_CONF and e.status in (Status.EXISTS, Status.SMB1_ONLY)
]


def commands(advice: Instructions) -> list[str]:
    return [step.command for step in advice.steps if step.command]


@pytest.mark.long
@for_each("entry", USABLE, lambda e: e.name)
def test_the_line_in_its_section_gives_what_the_check_prints(entry: CatalogueEntry, tmp_path: Path) -> None:
    conf = tmp_path / "my smb.conf"
    value = suggested_value(entry)
    advice = advise(entry, value, share="data", conf=str(conf))
    assert advice.section == ("[data]" if entry.scope == "share" else "[global]")
    sections = {"[global]": [""], "[data]": ["path = /tmp"]}
    sections[advice.section].append(advice.line)
    conf.write_text("\n".join(line for name, lines in sections.items() for line in (name, *lines)) + "\n")
    for command in [c for c in commands(advice) if c.startswith("testparm")]:
        require("testparm", root=False)
        done = subprocess.run(shlex.split(command), capture_output=True, text=True, check=False, timeout=HANG_SECONDS)
        assert done.returncode == 0, done.stderr
        assert "Unknown parameter" not in done.stderr
        assert "Ignoring" not in done.stderr
        if "--parameter-name" in command:
            assert smb_conf.same_value(entry.parameter, done.stdout.strip(), value)


def test_each_way_of_taking_effect_has_its_command() -> None:
    assert commands(advise(catalogue.find("deadtime"), "15"))[-1] == "smbcontrol smbd reload-config"
    assert commands(advise(catalogue.find("interfaces"), "lo"))[-1] == "systemctl restart smbd"
    assert commands(advise(catalogue.find("hide files"), "/x/", share="my data"))[-1] == (
        "smbcontrol smbd close-share 'my data'"
    )
    elsewhere = advise(catalogue.find("hide files"), "/x/", share="data", conf="/srv/my smb.conf")
    assert commands(elsewhere)[-2:] == [
        "smbcontrol -s '/srv/my smb.conf' smbd reload-config",
        "smbcontrol -s '/srv/my smb.conf' smbd close-share data",
    ]
    assert "keep what they agreed on" in entry_text(catalogue.find("server signing"), value="mandatory")


def test_the_log_level_is_never_checked_by_testparm() -> None:
    advice = advise(catalogue.find("log level"), "3")
    assert not [command for command in commands(advice) if "--parameter-name" in command]
    assert "smbcontrol smbd debuglevel" in entry_text(catalogue.find("log level"), value="3")


def test_socket_options_are_put_back_by_a_restart() -> None:
    assert "restart smbd" in advise(catalogue.find("SO_SNDBUF"), "TCP_NODELAY SO_SNDBUF=65536").undo


@pytest.mark.parametrize(
    ("name", "value", "command"),
    [
        ("tcp_rmem", "4096 131072 16777216", "sysctl -w net.ipv4.tcp_rmem='4096 131072 16777216'"),
        ("rsize", "1048576", "mount -t cifs //HOST/SHARE FOLDER -o rsize=1048576"),
        ("mount.cifs seal", "sign", "mount -t cifs //HOST/SHARE FOLDER -o sign"),
        ("nosharesock", "nosharesock", "mount -t cifs //HOST/SHARE FOLDER -o nosharesock"),
        ("block", "64K", "sharebench run … --block 64K"),
        ("MTU", "9000", "ip link set dev INTERFACE mtu 9000"),
        ("read_ahead_kb", "4096", "echo 4096 > /sys/block/DISK/queue/read_ahead_kb"),
    ],
)
def test_what_is_no_matter_of_smb_conf_has_commands_too(name: str, value: str, command: str) -> None:
    advice = advise(catalogue.find(name), value)
    assert command in commands(advice)
    assert (advice.section, advice.line) == ("", "")


def test_warnings_say_what_would_come_to_nothing() -> None:
    assert (
        advise(catalogue.find("use sendfile"), "yes").warnings[0].startswith("Does nothing unless aio read size is 0")
    )
    assert (
        advise(catalogue.find("read size"), "1").warnings[0] == "Removed in Samba 3.0.2; aio read size took its place."
    )
    assert "testparm refuses" in " ".join(advise(catalogue.find("strict sync"), "maybe").warnings)
    assert "Only for a share with read only = yes." in advise(catalogue.find("fake oplocks"), "yes").warnings


@for_each("entry", catalogue.entries(), lambda e: e.name)
def test_every_entry_fits_eighty_columns(entry: CatalogueEntry) -> None:
    assert "--change" not in entry_text(entry, share="data"), "a screen names no commands"
    text = entry_text(entry, share="data", with_command=True)
    assert max(width(line) for line in text.splitlines()) <= 80
    assert ("--change" in text) == (entry.status is not Status.REMOVED)


def test_what_is_typed_cannot_leave_its_line() -> None:
    text = entry_text(catalogue.find("hide files"), value="a\n[global]\nb; rm -rf /\x1b[0m", share="x'y")
    assert "\x1b" not in text
    assert "\n[global]" not in text
    assert "rm -rf" in text
    assert shlex.split(advise(catalogue.find("hide files"), "a; b").claim) == ["hide files=a; b"]


@pytest.mark.parametrize(
    ("name", "where"), [("server signing", "[global]"), ("strict sync", "[SHARE], or [global] for all")]
)
def test_where_a_setting_stands_is_said(name: str, where: str):
    assert re.search(rf"where +smb.conf, {re.escape(where)}\n", entry_text(catalogue.find(name), value="no"))


@pytest.mark.parametrize(
    ("share", "sections", "section", "query"),
    [
        ("photos", (), "[photos]", "--section-name=photos"),
        ("photos", ("photos",), "[photos]", "--section-name=photos"),
        ("photos", ("global", "PHOTOS"), "[photos]", "--section-name=photos"),
        ("photos", ("global",), "[global]", ""),
        ("photos", ("archive",), "[photos]", "--section-name=photos"),
        (None, (), "[global]", ""),
        (None, ("photos",), "[photos]", "--section-name=photos"),
        (None, ("photos", "archive"), "[photos] and [archive]", "--section-name=photos"),
    ],
)
def test_the_line_is_changed_where_it_stands(
    share: str | None, sections: tuple[str, ...], section: str, query: str
) -> None:
    """A line of a share wins over that of [global], which would then change nothing."""
    advice = advise(catalogue.find("sync always"), "no", share=share, sections=sections)
    assert advice.section == section
    assert section in advice.steps[0].text
    (check,) = [command for command in commands(advice) if "--parameter-name" in command]
    assert ("--section-name" in check) is bool(query)
    assert query in check
    is_warned = "keeps its own" in advice.steps[0].text
    assert is_warned is (section == "[global]" and not sections)


def test_a_setting_of_the_whole_server_stands_in_global() -> None:
    advice = advise(catalogue.find("server signing"), "mandatory", share="photos", sections=("global",))
    assert advice.section == "[global]"
    assert "keeps its own" not in advise(catalogue.find("server signing"), "mandatory").steps[0].text


def test_the_page_tells_the_risk_of_the_value_that_it_shows() -> None:
    assert "no: a power cut" in entry_text(catalogue.find("sync always"))
    assert "power cut" not in entry_text(catalogue.find("sync always"), value="yes")
