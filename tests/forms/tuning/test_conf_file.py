"""An smb.conf as Samba's own reader takes it: joined lines, comments, sections, includes, other files in its place."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from forms.tuning.conf_file import SmbConfFile, UnreadReason, read_conf
from tests.servers.process import require
from tests.waiting import HANG_SECONDS

CONF = "/etc/smb.conf"


def read(text: str, **files: str) -> SmbConfFile:
    """``files`` by name, each in /etc."""
    return read_conf(CONF, {CONF: text, **{f"/etc/{name}": content for name, content in files.items()}})


def values(conf: SmbConfFile) -> list[tuple[str, str, str]]:
    return [(setting.section, setting.name, setting.value) for setting in conf.settings]


READINGS = {
    "comments and blanks": (
        "# a\n; b\n  # c \\\n[global]\nserver string = x  y\t z\n",
        [("global", "server string", "x y z")],
    ),
    "joined lines": (
        "[global]\nhosts allow = 192.0.2.1\\\n   192.0.2.2 \\ \n# 3\n\\\nlog level = 1\n",
        [("global", "hosts allow", "192.0.2.1 192.0.2.2 # 3"), ("global", "log level", "1")],
    ),
    "a line that ends with the file": ("[global]\nlog level = 1 \\", [("global", "log level", "1")]),
    "sections": (
        "log level = 1\n[ GLOBALS ]\nmax log size = 5\n[Team Files]\npath = /srv\n[ x ]\npath = /x\n",
        [
            ("global", "log level", "1"),
            ("global", "max log size", "5"),
            ("team files", "path", "/srv"),
            (" x ", "path", "/x"),
        ],
    ),
    "ends of lines": (
        "[global]\r\nlog level = 1\r\n\r\n[a]\r\npath = /a\r\n",
        [("global", "log level", "1"), ("a", "path", "/a")],
    ),
    "no-break spaces": ("[a]\n\N{NO-BREAK SPACE}path = /a\n", [("a", "\N{NO-BREAK SPACE}path", "/a")]),
    "equals signs": ("[a]\ncomment = a=b\npath=/a\n", [("a", "comment", "a=b"), ("a", "path", "/a")]),
}


@pytest.mark.parametrize("name", READINGS)
def test_lines_are_read_as_samba_reads_them(name: str):
    text, wanted = READINGS[name]
    assert values(read(text)) == wanted


@pytest.mark.parametrize("name", READINGS)
def test_testparm_reads_the_same(name: str, tmp_path: Path):
    require("testparm", root=False)
    text, wanted = READINGS[name]
    path = tmp_path / "smb.conf"
    path.write_text(text, encoding="utf-8", newline="")
    done = subprocess.run(
        ["testparm", "-sd0", str(path)], capture_output=True, text=True, timeout=HANG_SECONDS, check=False
    )
    printed = " ".join(done.stdout.split())
    for section, written_name, value in wanted:
        assert f"[{section}]" in printed.lower()
        # testparm's own log level is that of its command line.
        if written_name.isascii() and written_name != "log level":
            assert f"{written_name} = {value}" in printed


@pytest.mark.parametrize("line", ["[data", "= 5", "[", " = "])
def test_samba_stops_at_a_line_that_it_cannot_take(line: str):
    conf = read(f"[global]\nworkgroup = A\n{line}\nlog level = 10\n")
    assert conf.stopped_at is not None
    assert conf.stopped_at.line == 3
    assert values(conf) == [("global", "workgroup", "A")]


def test_a_line_without_an_equals_sign_is_skipped():
    conf = read("[a]\nbrowseable\npath = /a\n")
    assert [line.text for line in conf.malformed] == ["browseable"]
    assert values(conf) == [("a", "path", "/a")]


@pytest.mark.parametrize("name", ["config file", "Config  File", "configfile"])
def test_the_file_that_smbd_reads_in_place_of_it_is_read(name: str):
    conf = read(
        f"[global]\nworkgroup = OLD\n{name} = /etc/other\n[a]\npath = /a\n",
        other="[global]\nlog level = 3\ninclude = /etc/more\n",
        more="deadtime = 4\n",
    )
    assert values(conf) == [("global", "log level", "3"), ("global", "deadtime", "4")]
    assert [line.line for line in conf.followed] == [3]
    assert conf.unread == ()


def test_files_may_be_read_in_place_of_each_other_one_after_the_other():
    conf = read("config file = /etc/b\n", b="include = /etc/c\n", c="config file = /etc/d\n", d="workgroup = D\n")
    assert values(conf) == [("global", "workgroup", "D")]
    assert len(conf.followed) == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("config file = /etc/none", UnreadReason.CONFIG_FILE_MISSING),
        ("config file = /etc/%U.conf", UnreadReason.CONFIG_FILE_PER_CLIENT),
        ("config file = /etc/loop", UnreadReason.CONFIG_FILE_LOOP),
        ("include = /etc/none", UnreadReason.INCLUDE_MISSING),
        ("include = /etc/%m", UnreadReason.INCLUDE_PER_CLIENT),
        ("[a]\nINCLUDE = /etc/conf.%I", UnreadReason.INCLUDE_PER_CLIENT),
        ("include = registry", UnreadReason.REGISTRY),
        ("config backend = registry", UnreadReason.REGISTRY),
        ("registry shares = true", UnreadReason.REGISTRY),
    ],
)
def test_what_is_not_read_is_told_with_its_line(text: str, reason: UnreadReason):
    conf = read(f"[global]\n{text}\n", loop=f"config file = {CONF}\n")
    assert [part.reason for part in conf.unread] == [reason]
    assert conf.unread[0].setting.line > 0


@pytest.mark.parametrize(
    "text", ["include =", "config file =", f"config file = {CONF}", "registry shares = no", "config backend = file"]
)
def test_what_leads_nowhere_leaves_nothing_unread(text: str):
    assert read(f"[global]\n{text}\n[a]\npath = /a\n").unread == ()


def test_a_registry_that_was_read_and_is_empty_is_read():
    assert read_conf(CONF, {CONF: "include = registry\n", "registry": ""}).unread == ()


def test_options_of_a_module_are_forgotten_where_the_section_begins_again():
    conf = read("[a]\nrecycle:keeptree = yes\nguest ok = yes\n[b]\npath = /b\n[A]\nrecycle:touch = yes\n")
    assert [setting.name for setting in conf.forgotten] == ["recycle:keeptree"]
    assert [setting.name for setting in conf.settings] == ["guest ok", "path", "recycle:touch"]


def test_files_that_include_each_other_twice_come_to_an_end():
    files = {f"/f{number}": f"include = /f{number + 1}\ninclude = /f{number + 1}\n" for number in range(150)}
    conf = read_conf("/f0", files)
    assert UnreadReason.TOO_MANY_INCLUDES in {part.reason for part in conf.unread}


@pytest.mark.parametrize("after", ["", "deadtime = 3\n[a]\npath = /a\n"])
def test_nothing_of_the_file_counts_beside_the_registry_in_its_place(after: str):
    conf = read_conf(CONF, {CONF: f"log level = 9\nconfig backend = registry\n{after}", "registry": "[b]\npath = /b\n"})
    assert values(conf) == [("b", "path", "/b")]
    assert conf.uses_registry


def test_the_last_backend_counts():
    conf = read("config backend = registry\nconfig backend = file\nlog level = 3\n")
    assert not conf.uses_registry
    assert conf.unread == ()
