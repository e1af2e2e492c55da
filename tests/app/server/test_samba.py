"""What is made of a server's own words: every trap of testparm, smbstatus and the file itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from app.server import samba
from app.server.mounts import mount_of
from app.server.probe import listens_on, server_facts
from app.server.samba import (
    BETWEEN_WORDS,
    SambaFacts,
    config_option,
    running_log_level,
    samba_facts,
    session_addresses,
)
from app.server.shell import Answer
from app.server.testparm import parse_dump, parse_scopes, warnings
from forms.tuning.conf_file import read_conf
from forms.tuning.fact_names import CONF_SET, lines_of_fact
from storage.records import FactValue, Target
from tests.servers.process import require

SHARE = "smb.conf/share/"
GLOBAL = "smb.conf/global/"


@pytest.fixture
def testparm() -> None:
    """Samba's own reader of its configuration."""
    require("testparm", root=False)


def facts_of(folder: Path, text: str, share: str = "bench") -> tuple[Mapping[str, FactValue], tuple[str, ...]]:
    """Facts and problems of this machine's Samba with a private smb.conf."""
    folder.chmod(0o755)
    conf = folder / "smb.conf"
    private = "".join(
        f"{name} = {folder}\n"
        for name in ("lock directory", "state directory", "cache directory", "pid directory", "private dir")
    )
    conf.write_text(text.replace("[global]\n", "[global]\n" + private))
    target = Target(protocol="smb", host="127.0.0.1", port=445, share=share, path="x")
    found = server_facts(target, None, str(conf))
    return found.facts, tuple(line for line in found.problems if "smbd runs with" not in line)


CONF = """
[global]
log level = 1
debug level = 3
Dead Time = 15
smb encrypt = desired
strict sync = no
server min protocol = SMB3
[bench]
path = /tmp
smb encrypt = required
vfs objects = posixacl
[other]
path = /srv
strict sync = yes
"""


@pytest.mark.usefixtures("testparm")
def test_the_effective_values_of_server_and_share(tmp_path: Path) -> None:
    facts, problems = facts_of(tmp_path, CONF)
    assert problems == ()
    assert facts["smb.conf.state"] == "loads"
    assert facts["smb.conf.path"] == str(tmp_path / "smb.conf")
    assert facts[GLOBAL + "log level"] == "3"
    assert facts[GLOBAL + "deadtime"] == "15"
    assert facts[GLOBAL + "server min protocol"] == "SMB3"
    assert facts[GLOBAL + "server smb encrypt"] == "desired"
    assert facts[SHARE + "server smb encrypt"] == "required"
    assert facts[SHARE + "strict sync"] == "No"
    assert facts[SHARE + "vfs objects"] == "posixacl"
    assert facts[SHARE + "path"] == "/tmp"
    assert GLOBAL + "strict sync" not in facts
    has_known_mount = mount_of("/tmp", Path("/proc/self/mounts").read_text()) is not None  # not so in a chroot
    assert ("filesystem.type" in facts) == has_known_mount
    assert str(facts["samba.version"])[0].isdigit()
    assert len([name for name in facts if name.startswith("smb.conf/")]) > 400


@pytest.mark.usefixtures("testparm")
def test_another_share_has_its_own_values(tmp_path: Path) -> None:
    facts, _ = facts_of(tmp_path, CONF, share="OTHER")
    assert facts[SHARE + "strict sync"] == "Yes"
    assert facts[SHARE + "server smb encrypt"] == "desired"
    assert facts[SHARE + "vfs objects"] == ""


@pytest.mark.usefixtures("testparm")
def test_a_share_that_is_not_in_the_file_has_the_values_of_global(tmp_path: Path) -> None:
    facts, problems = facts_of(tmp_path, CONF, share="usershare")
    assert facts[SHARE + "strict sync"] == "No"
    assert any("has no [usershare]" in line for line in problems)


@pytest.mark.usefixtures("testparm")
def test_a_home_share_has_the_values_of_homes(tmp_path: Path) -> None:
    facts, problems = facts_of(tmp_path, CONF + "[homes]\nstrict sync = yes\n", share="anna")
    assert facts[SHARE + "strict sync"] == "Yes"
    assert problems == ()


@pytest.mark.usefixtures("testparm")
def test_the_log_level_is_the_servers_and_not_testparms(tmp_path: Path) -> None:
    assert facts_of(tmp_path, "[global]\n")[0][GLOBAL + "log level"] == "0"
    (tmp_path / "extra.conf").write_text("log level = 2 auth:5\n")
    text = f"[global]\nlog level = 7\ninclude = {tmp_path}/extra.conf\n"
    assert facts_of(tmp_path, text)[0][GLOBAL + "log level"] == "2 auth:5"


@pytest.mark.varied
@pytest.mark.parametrize(
    ("lines", "warning"),
    [
        ("[global]\nread prediction = yes\n", 'Unknown parameter encountered: "read prediction"'),
        ("[global]\nno equals sign here\n", "a line has no equals sign"),
        ("[global]\nread only yes\n", "'read only yes' has no equals sign"),
        ("[global]\ninclude = /nonexistent/x.conf\n", "include = /nonexistent/x.conf: there is no such file"),
        ("[global]\ninclude = /etc/samba/%I.conf\n", "depends on the client"),
        ("[global]\n[bench]\npath = /tmp\nlog level = 5\n", "log level = 5 stands in [bench]"),
        ("[global]\n[bench]\npath = /tmp\nsocket options = TCP_NODELAY\n", "socket options = TCP_NODELAY stands in"),
        ("[global]\n[bench]\npath = /tmp\nvfs objects = nosuchmodule\n", "nosuchmodule: there is no such module"),
        ("[global]\nserver string = us # and them\n", "no comments at the end of a line"),
    ],
)
@pytest.mark.usefixtures("testparm")
def test_what_testparm_exits_with_0_on_is_a_warning(tmp_path: Path, lines: str, warning: str) -> None:
    facts, _ = facts_of(tmp_path, lines)
    assert facts["smb.conf.state"] == "loads with warnings"
    assert warning in str(facts["smb.conf.warnings"])


@pytest.mark.usefixtures("testparm")
def test_a_file_that_is_no_smb_conf_is_not_repeated(tmp_path: Path) -> None:
    facts, problems = facts_of(
        tmp_path, "root:$6$SECRET$x:19000:0:::\nexport TOKEN=SECRET # x\npassword = SECRET ; y\nSECRET\n"
    )
    assert "a line has no equals sign" in str(facts["smb.conf.warnings"])
    assert "SECRET" not in f"{facts} {problems}"


@pytest.mark.varied
@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("[global]\n[bench]\npath = /tmp\nstrict sync = maybe\n", "strict sync = maybe is refused"),
        ("[global]\nserver min protocol = BANANA\n", "server min protocol"),
        ("[global]\n[bench]\naio read size = banana\n", "aio read size = banana"),
        ("[global]\n[bench\npath = /tmp\n", "testparm"),
    ],
)
@pytest.mark.usefixtures("testparm")
def test_a_file_that_does_not_load_costs_its_values_and_nothing_else(tmp_path: Path, lines: str, reason: str) -> None:
    facts, problems = facts_of(tmp_path, lines)
    assert facts["smb.conf.state"] == "does not load"
    assert not [name for name in facts if name.startswith("smb.conf/")]
    assert facts["samba.version"]
    assert facts["kernel"]
    assert len(problems) == 1
    assert "does not load on the server" in problems[0]
    assert reason in problems[0] + str(facts.get("smb.conf.warnings"))


@pytest.mark.usefixtures("testparm")
def test_what_the_file_sets_for_this_share_is_told(tmp_path: Path) -> None:
    lines = "[global]\nsmb  ports = 4450\ndead time = 5\n[bench]\npath = /tmp\n[other]\nstrict sync = no\n"
    facts, _ = facts_of(tmp_path, lines)
    assert lines_of_fact(facts, CONF_SET)[-3:] == ["smb ports", "deadtime", "path"]
    assert "strict sync" not in lines_of_fact(facts, CONF_SET), "that is another share's"


@pytest.mark.usefixtures("testparm")
def test_what_a_share_takes_from_homes_or_another_is_told_too(tmp_path: Path) -> None:
    homes = "[global]\n[homes]\nstrict sync = no\n"
    assert "strict sync" in lines_of_fact(facts_of(tmp_path, homes, "anna")[0], CONF_SET)
    copied = "[global]\n[tpl]\nstrict sync = no\n[bench]\ncopy = tpl\npath = /tmp\n"
    assert "strict sync" in lines_of_fact(facts_of(tmp_path, copied)[0], CONF_SET)
    assert "path" in lines_of_fact(facts_of(tmp_path, copied, "Bench")[0], CONF_SET), "whatever its case"


def test_what_a_registry_sets_is_told_where_it_could_be_read() -> None:
    assert CONF_SET not in samba_facts(registry_answer(), "bench").facts
    listed = samba_facts(registry_answer(registry="[global]\nstrict sync = no\n"), "bench").facts
    assert "strict sync" in lines_of_fact(listed, CONF_SET)


@pytest.mark.usefixtures("testparm")
def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    target = Target(protocol="smb", host="127.0.0.1", port=445, share="bench", path="x")
    found = server_facts(target, None, str(tmp_path / "nowhere.conf"))
    assert found.facts["smb.conf.state"] == "not readable"
    assert any("name the right file" in line for line in found.problems)


@pytest.mark.parametrize(
    ("facts", "port", "expected"),
    [
        ({"samba.smbd_running": 3, "smb.conf/global/smb ports": "445 139"}, 445, True),
        ({"samba.smbd_running": 3, "smb.conf/global/smb ports": "445 139"}, 4450, False),
        ({"samba.smbd_running": 3, "smb.conf/global/smb ports": "tcp:4450"}, 4450, True),
        ({"samba.smbd_running": 0, "smb.conf/global/smb ports": "445 139"}, 445, False),
        ({"samba.smbd_running": 3}, 445, True),
        ({}, 445, False),
    ],
)
def test_a_server_on_another_port_is_another_server(facts: dict[str, FactValue], port: int, expected: bool) -> None:
    assert listens_on(facts, port) is expected


def test_the_configuration_of_another_server_is_not_taken_for_this_ones() -> None:
    target = Target(protocol="smb", host="127.0.0.1", port=1, share="bench", path="x")
    found = server_facts(target)
    assert found.facts["kernel"]
    assert not [name for name in found.facts if name.startswith(("smb.conf", "samba"))]
    assert any("is unknown; name the file" in line for line in found.problems)


def answered(**sections: str) -> SambaFacts:
    return samba_facts(Answer(sections={name.replace("__", "."): text for name, text in sections.items()}), "bench")


def test_a_server_without_samba() -> None:
    found = answered()
    assert found.facts == {}
    assert "no smbd is on the PATH" in found.problems[0]


def test_a_server_without_testparm() -> None:
    conf = {"conf": "/etc/smb.conf", "conf:/etc/smb.conf": "[global]\n", "version": "Version 4.20.1"}
    found = samba_facts(Answer(sections=conf), "bench")
    assert found.facts["samba.version"] == "4.20.1"
    assert any("testparm is not installed" in line for line in found.problems)


def registry_answer(**more: str) -> Answer:
    dump = "[global]\n\tlog level = 1\n\tdeadtime = 0\n[bench]\n\tpath = /srv\n"
    sections = {
        "version": "Version 4.17.12",
        "conf": "/etc/smb.conf",
        "conf:/etc/smb.conf": "[global]\ninclude = registry\n",
        "testparm": dump,
        "testparm.rc": "0",
    }
    return Answer(sections={**sections, **more})


def test_the_log_level_of_a_registry() -> None:
    listed = registry_answer(registry="[global]\n\tlog level = 4\n")
    assert samba_facts(listed, "bench").facts[GLOBAL + "log level"] == "4"


def test_the_log_level_of_a_registry_that_cannot_be_listed_is_what_runs_or_nothing() -> None:
    assert GLOBAL + "log level" not in samba_facts(registry_answer(), "bench").facts
    running = registry_answer(debuglevel="PID 7: all:2 tdb:2")
    assert samba_facts(running, "bench").facts[GLOBAL + "log level"] == "2"


def test_a_registry_that_only_root_may_read() -> None:
    refused = registry_answer(
        **{"testparm": "", "testparm.rc": "1", "testparm.err": "error opening registry: WERR_ACCESS_DENIED"}
    )
    assert "by ssh as root" in samba_facts(refused, "bench").problems[0]


def test_scopes_are_known_where_testparm_does_not_list_them() -> None:
    facts = samba_facts(registry_answer(testparm="[global]\n\tstrict sync = No\n\tdeadtime = 9\n"), None).facts
    assert facts[SHARE + "strict sync"] == "No"
    assert facts[GLOBAL + "deadtime"] == "9"


SESSIONS = """{"sessions": {"1": {"hostname": "ipv4:127.0.0.1:38076"}, "2": {"hostname": "ipv6:2001:db8::7:49152"}}}"""


SESSIONS_OF_4_13 = """
Samba version 4.13.13-Debian
PID     Username     Group        Machine                                   Protocol Version  Encryption  Signing
-----------------------------------------------------------------------------------------------------------------
{sessions}
Service      pid     Machine       Connected at                     Encryption   Signing
---------------------------------------------------------------------------------------
bench        5734    10.9.9.9      Thu Jan  1 12:00:00 2026 UTC     -            -

No locked files
"""
"""What an smbstatus prints that has no JSON."""


@pytest.mark.parametrize(
    ("printed", "addresses"),
    [
        (SESSIONS, ["127.0.0.1", "2001:db8::7"]),
        ('{"sessions": {}}', []),
        ('{"timestamp": "2026-11-20T10:20:25", "version": "4.17.12"}', None),
        ("smbstatus only works as root!", None),
        (SESSIONS_OF_4_13.format(sessions=""), []),
        (
            SESSIONS_OF_4_13.format(
                sessions="5734  daemon  daemon  127.0.0.1 (ipv4:127.0.0.1:38154)  SMB3_11  -  partial(AES-128-CMAC)\n"
                "5741  alice  users  nas (office) (ipv6:2001:db8::7:49874)  SMB3_11  -  -\n"
            ),
            ["127.0.0.1", "2001:db8::7"],
        ),
        ('{"sessions": []}', None),
        (None, None),
    ],
)
def test_sessions_that_are_not_told_are_not_none(printed: str | None, addresses: list[str] | None) -> None:
    assert session_addresses(printed) == addresses


def test_other_machines_sessions_are_counted_and_a_refusal_is_a_problem() -> None:
    told = registry_answer(**{"smbstatus": SESSIONS, "smbstatus.rc": "0"})
    facts = samba_facts(told, "bench", "127.0.0.1").facts
    assert facts["server.sessions"] == 2
    assert facts["server.sessions.other_machines"] == 1
    refused = samba_facts(registry_answer(**{"smbstatus": '{"version": "4.17"}', "smbstatus.rc": "1"}), "bench")
    assert "server.sessions" not in refused.facts
    assert any("needs root" in line for line in refused.problems)


@pytest.mark.parametrize(
    ("command", "conf"),
    [
        ("/usr/sbin/smbd|-F|-s|/tmp/smb.conf|", "/tmp/smb.conf"),
        ("smbd|--configfile=/tmp/smb.conf|-D|", "/tmp/smb.conf"),
        ("smbd|--configfile|/tmp/smb.conf|", "/tmp/smb.conf"),
        ("smbd|-s/tmp/smb.conf|", "/tmp/smb.conf"),
        ("smbd|--foreground|--no-process-group|", None),
        ("smbd: client [192.0.2.7]", None),
        ("smbd|-s|/srv/the office's -s/x y.conf|-D|", "/srv/the office's -s/x y.conf"),
    ],
)
def test_the_file_that_a_running_smbd_was_given(command: str, conf: str | None) -> None:
    assert config_option(command.replace("|", BETWEEN_WORDS)) == conf


OTHER = BETWEEN_WORDS.join(["smbd", "-F", "-s", "/opt/smb.conf", ""])


def test_facts_of_another_file_than_the_one_that_runs_are_a_problem() -> None:
    other = samba_facts(registry_answer(processes=f"{OTHER}\nsmbd: notifyd"), "bench")
    assert any("smbd runs with /opt/smb.conf" in line and "name that file" in line for line in other.problems)
    for running in (OTHER.replace("opt", "etc"), "smbd", f"smbd\n{OTHER}"):
        same = samba_facts(registry_answer(processes=running), "bench")
        assert not any("smbd runs with" in line for line in same.problems)
    several = "\n".join(OTHER.replace("opt", name) for name in ("a", "b", "c"))
    for serving, named in (({}, "/a/smb.conf, /b/smb.conf and 1 more"), ({"serving": "/c/smb.conf\n"}, "/c/smb.conf")):
        many = samba_facts(registry_answer(processes=several, **serving), "bench")
        assert f"smbd runs with {named}, but the facts are those of /etc/smb.conf; name that file" in many.problems
    absent = samba_facts(registry_answer(conf="/none.conf", processes=f"{OTHER}\nsmbd: notifyd"), "bench")
    assert "smbd runs with /opt/smb.conf; name that file" in absent.problems, "no facts were read"


def test_running_log_level() -> None:
    assert running_log_level("PID 20781: all:3 tdb:3 printdrivers:3") == "3"
    assert running_log_level("Can't find pid for destination 'smbd'") is None


def test_a_dump_keeps_values_that_have_equals_signs_and_brackets() -> None:
    dump = parse_dump("# Global parameters\n[global]\n\tadd user script = /x --a=b\n\tveto files = [x]\n[My Share]\n")
    assert dump["global"] == {"add user script": "/x --a=b", "veto files": "[x]"}
    assert dump["my share"] == {}
    assert dump.keys() == {"global", "my share"}


def test_scopes_of_a_list_of_parameters() -> None:
    scopes = parse_scopes("[local]\nstrict sync=P_BOOL,\n\n[global]\nlog level=P_STRING, (synonyms: debuglevel)\n")
    assert scopes is not None
    assert scopes.for_share == {"strict sync"}
    assert scopes.for_server == {"log level"}
    assert parse_scopes("unknown option") is None


def test_small_talk_is_no_warning() -> None:
    said = "Load smb config files from x\nLoaded services file OK.\nServer role: X\n\nWARNING: a\nWARNING: a\n"
    assert warnings(said) == ["WARNING: a"]


def test_a_written_file_with_continued_lines_comments_and_nested_includes() -> None:
    files = {
        "/a": "# c\n; c\nlog level = 1\n[Global]\nhosts allow = ::1 \\\n  192.0.2.2\ninclude = /b\n[x]\npath=/x\n",
        "/b": "include = /c\nlog level = 2\n[y]\nstrict sync = no\ninclude = /c\n",
        "/c": "deadtime = 7\n",
    }
    conf = read_conf("/a", files)
    assert conf.last("global", "debuglevel") == "2"
    assert conf.last("global", "dead time") == "7"
    assert conf.last("y", "Strict Sync") == "no"
    assert conf.last("y", "deadtime") == "7"
    assert conf.last("X", "path") == "/x"
    assert "192.0.2.2" in str(conf.last("global", "allow hosts"))
    assert conf.unread == ()


def test_a_registry_backend_replaces_the_file() -> None:
    files = {"/a": "[global]\nlog level = 3\nconfig backend = registry\n", "registry": "[global]\nlog level = 5\n"}
    conf = read_conf("/a", files)
    assert conf.uses_registry
    assert conf.last("global", "log level") == "5"


def test_build_flags() -> None:
    found = answered(version="Version 4.17.12", build="   WITH_SMB1SERVER\n   HAVE_SENDFILE\n")
    assert found.facts["samba.build.smb1"] == "yes"
    assert found.facts["samba.build.io_uring"] == "no"
    assert set(samba.BUILD_FLAGS) <= set(found.facts)


def test_a_renamed_parameter_has_its_newest_name_whatever_the_version_calls_it():
    """Samba 4.13 calls the one smb encrypt, and the other unix extensions."""
    conf = {"version": "Version 4.13.13", "conf": "/s", "conf:/s": "[bench]\npath = /srv\n", "testparm.rc": "0"}
    printed = "[global]\n\tunix extensions = No\n\tsmb encrypt = default\n[bench]\n\tsmb encrypt = required\n"
    facts = samba_facts(Answer(sections={**conf, "testparm": printed}), "bench").facts
    assert (facts[GLOBAL + "server smb encrypt"], facts[SHARE + "server smb encrypt"]) == ("default", "required")
    assert facts[GLOBAL + "smb1 unix extensions"] == "No"
