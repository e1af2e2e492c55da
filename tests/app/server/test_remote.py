"""The server asked through a real ssh, and every way in which that cannot work."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.clients.registry import make_client
from app.server import probe, running_program, shell
from app.server.facts import collect, with_counters
from app.server.filesystem_facts import rights_facts
from app.server.mounts import Mount, mount_of
from app.server.probe import ask_server, counters_since, server_facts
from app.server.shell import Answer
from storage.plan import Settings
from storage.records import Target
from tests.servers.netns import PAYLOAD_SHARE, Link
from tests.servers.process import as_another_user, program, require
from tests.servers.smbd import Smbd
from tests.servers.sshd import Sshd
from tests.waiting import HANG_SECONDS, wait_for

pytestmark = pytest.mark.xdist_group("sshd")


def mount_here(path: str) -> Mount | None:
    """None in a chroot, whose root is no mount."""
    return mount_of(path, Path("/proc/self/mounts").read_text())


FAR = Target(protocol="smb", host="192.0.2.250", port=445, share="bench", path="x")


@pytest.mark.usefixtures("through")
def test_a_distant_servers_facts_come_through_one_ssh_call(tmp_path: Path) -> None:
    conf = tmp_path / "it's $HOME" / "smb.conf"
    conf.parent.mkdir()
    conf.write_text("[global]\nlog level = 4\n[bench]\npath = /\nstrict sync = no\n")
    found = server_facts(FAR, "fileserver", str(conf), window_seconds=1)
    assert found.facts["smb.conf/global/log level"] == "4"
    assert found.facts["smb.conf/share/strict sync"] == "No"
    assert found.facts["smb.conf.path"] == str(conf)
    assert found.facts.get("filesystem.mounted_at") == ("/" if mount_here("/") else None)
    assert found.facts["samba.version"]
    assert found.facts["kernel"]
    assert found.facts["tcp.congestion_control"]
    assert found.facts["link.interface"]
    assert 0 <= float(found.facts["cpu.busy_percent_before"]) <= 100
    assert found.counters is not None
    during = counters_since(found)
    assert int(during["tcp.segments_sent_during"]) > 0
    assert float(during["cpu.busy_percent_during"]) <= 100


@pytest.mark.usefixtures("through")
def test_the_surroundings_hold_what_a_distant_server_counted(tmp_path: Path) -> None:
    before = collect(FAR, ssh="fileserver", smb_conf=str(tmp_path / "none.conf"))
    assert set(before.parts()) <= {"client", "server", "path"}
    assert any("name the right file" in line for line in before.problems)
    after = with_counters(before)
    assert "tcp.retransmitted_during" in after.server
    assert "tcp.retransmitted_during" not in before.server


def test_a_key_that_is_not_let_in_costs_facts_alone(through: Sshd) -> None:
    allowed = through.root / "authorized_keys"
    kept = allowed.read_text()
    allowed.write_text("")
    try:
        found = server_facts(FAR, "fileserver")
    finally:
        allowed.write_text(kept)
    assert found.facts == {}
    assert "Permission denied" in found.problems[0]
    assert "`ssh fileserver true`" in found.problems[0]


def test_a_server_whose_key_is_unknown_is_not_trusted(through: Sshd) -> None:
    known = through.root / "known_hosts"
    kept = known.read_text()
    known.write_text("")
    try:
        found = server_facts(FAR, "fileserver")
    finally:
        known.write_text(kept)
    assert "Host key verification failed" in found.problems[0]


@pytest.mark.parametrize("name", ["no-such-host.invalid", "user@no-such-host.invalid"])
def test_a_host_that_nobody_knows(through: Sshd, name: str) -> None:
    found = server_facts(FAR, name)
    assert found.facts == {}
    assert name in found.problems[0]


@pytest.mark.parametrize("name", ["-oProxyCommand=touch /tmp/pwned", "", "  "])
def test_no_option_can_be_smuggled_in_as_a_host(name: str) -> None:
    assert "for ssh write [USER@]HOST" in str(ask_server({}, name).problem)


def test_no_ssh_program_costs_facts_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = server_facts(FAR, "fileserver")
    assert found.facts == {}
    assert "`ssh` cannot be run here" in found.problems[0]


def fake_ssh(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    """Let ``ssh`` be this shell script; the rest of the PATH stays."""
    (folder / "ssh").write_text("#!/bin/sh\n" + script)
    (folder / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_a_server_without_a_posix_shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_ssh(monkeypatch, tmp_path, "cat >/dev/null; echo \"'exec' is not recognized\" >&2; exit 1")
    problem = server_facts(FAR, "winbox").problems[0]
    assert "is not recognized" in problem
    assert "POSIX shell" in problem


def test_a_login_that_greets_does_no_harm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_ssh(monkeypatch, tmp_path, "echo Welcome; echo '@sharebench-0@ uid'; exec sh -s")
    found = server_facts(FAR, "chatty")
    assert found.problems == () or "POSIX" not in found.problems[0]
    assert found.facts["kernel"]


def test_a_server_that_does_not_answer_in_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_ssh(monkeypatch, tmp_path, "exec sleep 60")
    monkeypatch.setattr(shell, "RUN_SECONDS", 0.2)
    problem = server_facts(FAR, "slow").problems[0]
    assert "did not answer" in problem
    assert "slow" in problem


def test_a_distant_server_without_ssh_is_unknown_and_says_what_to_give() -> None:
    found = server_facts(FAR)
    assert found.facts == {}
    (problem,) = found.problems
    assert "root@192.0.2.250" in problem
    (problem,) = server_facts(FAR, None, "/etc/samba/smb.conf").problems
    assert "(/etc/samba/smb.conf was not read: it names a file on the server)" in problem


def bare_path(folder: Path, *, without: str) -> str:
    """A PATH whose only folder has links to the system's programs but one."""
    bare = folder / "bare"
    bare.mkdir()
    for place in ("/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin", "/bin"):
        for found in Path(place).iterdir():
            link = bare / found.name
            if found.name != without and not link.is_symlink():
                link.symlink_to(found)
    return str(bare)


@pytest.mark.varied
@pytest.mark.parametrize("missing", ["testparm", "smbd", "ip", "smbstatus"])
def test_a_server_without_one_of_the_programs(tmp_path: Path, missing: str) -> None:
    require("smbd", "testparm", root=False)
    conf = tmp_path / "smb.conf"
    conf.write_text("[global]\n[bench]\npath = /\n")
    script = shell.with_variables(
        shell.script_file("app.server", "probe.sh"),
        {**probe.DEFAULTS, "samba": "yes", "conf": str(conf), "share": "bench", "mark": "@m@"},
    )
    lines = [line for line in script.splitlines() if not line.startswith("PATH=")]
    path = bare_path(tmp_path, without=missing)
    said = running_program.RunningProgram(("env", f"PATH={path}", "sh", "-s"), text="\n".join(lines) + "\n").wait(
        HANG_SECONDS
    )
    answer = shell.answer_of(said, "@m@", shell.ServerShell())
    assert answer.problem is None
    if missing == "testparm":
        assert answer.code("testparm") is None
        assert answer.text("version")
    elif missing == "smbd":
        assert answer.text("version") is None
        assert answer.code("testparm") == 0
    else:
        assert answer.code("testparm") == 0


def test_without_testparm_the_measurement_keeps_its_other_facts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = ask_server

    def without_testparm(settings: dict[str, str], through: str | None) -> Answer:
        answer = real(settings, through)
        return Answer(sections={k: v for k, v in answer.sections.items() if not k.startswith(("testparm", "scopes"))})

    monkeypatch.setattr("app.server.probe.ask_server", without_testparm)
    conf = tmp_path / "smb.conf"
    conf.write_text("[global]\n")
    target = Target(protocol="smb", host="127.0.0.1", port=445, share="bench", path="x")
    found = server_facts(target, None, str(conf))
    assert found.facts["kernel"]
    assert not [name for name in found.facts if name.startswith("smb.conf/")]
    assert any("testparm is not installed" in line for line in found.problems)


def test_a_running_smbd_on_this_machine_is_read_with_its_configuration(make_smbd: Callable[..., Smbd]) -> None:
    server = make_smbd({"log level": "2", "server signing": "mandatory"}, {"strict sync": "no"})
    found = server_facts(server.target("x"), None, str(server.conf))
    assert found.facts["smb.conf/global/log level"] == "2"
    assert found.facts["smb.conf/global/server signing"] == "required"
    assert found.facts["smb.conf/share/strict sync"] == "No"
    assert found.facts["smb.conf/share/path"] == str(server.folder)
    assert found.facts["samba.running_log_level"] == "2"
    assert found.facts["server.sessions"] == 0
    assert ("filesystem.type" in found.facts) == (mount_here(str(server.folder)) is not None)
    assert found.problems == ()


def test_a_real_session_is_counted(make_smbd: Callable[..., Smbd]) -> None:
    server = make_smbd()
    client = make_client(server.target("x"), "", server.secrets(), Settings())
    client.connect()
    try:
        facts = server_facts(server.target("x"), None, str(server.conf)).facts
    finally:
        client.close()
    assert facts["server.sessions"] == 1
    assert facts["server.sessions.other_machines"] == 0


def test_a_link_that_is_shaped_anew_has_another_rate(make_link: Callable[[str], Link]) -> None:
    slow, fast = make_link("100mbit"), make_link("1gbit")
    for link, rate in ((slow, 10**8), (fast, 10**9)):
        facts = collect(Target(protocol="ftp", host=link.host, port=21, path="/x")).path
        assert facts["link.rate_bits_per_second"] == rate
        assert facts["link.shaper"] == "tbf"
        assert facts["link.payload_ceiling_bits_per_second"] == round(PAYLOAD_SHARE * rate)


@pytest.mark.long
def test_without_its_path_the_configuration_is_the_one_that_the_smbd_with_this_port_was_started_with(
    make_smbd: Callable[..., Smbd],
) -> None:
    for server in (make_smbd(), make_smbd()):
        found = server_facts(server.target("x"))
        assert (found.facts["smb.conf.path"], found.problems) == (str(server.conf), ())


@pytest.mark.usefixtures("through")
@pytest.mark.parametrize("ssh", [None, "fileserver"])
def test_blanks_and_quotes_in_the_path_of_the_configuration_are_part_of_it(ssh: str | None) -> None:
    server = Smbd()
    server.conf = server.root / "Bob's  office -s x" / "smb server.conf"
    server.conf.parent.mkdir()
    try:
        server.start()
        found = server_facts(server.target("x"), ssh)
        assert (found.facts["smb.conf.path"], found.problems) == (str(server.conf), ())
        assert found.facts["server.sessions"] == 0, "smbstatus was asked of the file that it runs with"
    finally:
        server.stop()


def test_beside_a_file_that_no_smbd_runs_with_the_one_with_this_port_is_named(make_smbd: Callable[..., Smbd]) -> None:
    server, _another = make_smbd(), make_smbd()
    wrong = server.root / "wrong.conf"
    shutil.copy(server.conf, wrong)
    problems = server_facts(server.target("x"), None, str(wrong)).problems
    assert f"smbd runs with {server.conf}, but the facts are those of {wrong}; name that file" in problems


def test_an_smbd_that_is_only_asked_for_its_version_serves_nobody(make_smbd: Callable[..., Smbd]) -> None:
    """As another look at the same moment asks; it has no configuration of its own, so it seemed to be the default."""
    server = make_smbd()
    wrong, asked = server.root / "wrong.conf", server.root / "smbd-asked"
    shutil.copy(server.conf, wrong)
    asked.symlink_to("/bin/dash")
    with subprocess.Popen([asked, "-b", "-c", "read line"], stdin=subprocess.PIPE) as looking:
        problems = server_facts(server.target("x"), None, str(wrong)).problems
        looking.kill()
    assert f"smbd runs with {server.conf}, but the facts are those of {wrong}; name that file" in problems


@pytest.mark.long
def test_a_configuration_of_another_port_or_of_another_user_s_smbd_is_not_guessed(
    make_smbd: Callable[..., Smbd],
) -> None:
    server = make_smbd()
    elsewhere = replace(server.target("x"), port=server.port - 1)
    found = server_facts(elsewhere)
    assert not [name for name in found.facts if name.startswith("smb.conf")]
    assert any("is unknown; name the file" in line for line in found.problems)
    false, conf = server.root / "smbd", server.root / "other.conf"
    shutil.copy(program("sh"), false)
    conf.write_text(f"[global]\nsmb ports = {elsewhere.port}\n")
    for prefix, path in ((as_another_user(), None), ([], str(conf))):
        command = [*prefix, str(false), "-c", "read line", "smbd", f"--configfile={conf}"]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
            wait_for(lambda: Path(f"/proc/{process.pid}/comm").read_text() == "smbd\n")
            assert server_facts(elsewhere).facts.get("smb.conf.path") == path
            process.kill()


@pytest.mark.varied
@pytest.mark.parametrize(
    ("lines", "is_found"),
    [(["INCLUDE={more}"], True), (["smb ports=4", "include = {more}"], True), (["smb ports = 4"], False)],
)
def test_a_port_that_stands_in_an_included_file_is_found(
    make_smbd: Callable[..., Smbd], lines: list[str], is_found: bool
) -> None:
    server = make_smbd()
    elsewhere = replace(server.target("x"), port=server.port - 1)
    more = server.root / "more.conf"
    more.write_text(f"[global]\nsmb ports = {elsewhere.port}\n")
    server.conf.write_text("\n".join(["[global]", *lines, ""]).format(more=more))
    assert (server_facts(elsewhere).facts.get("smb.conf.path") == str(server.conf)) is is_found


@pytest.mark.long
def test_a_changed_file_shows_exactly_its_changes(make_smbd: Callable[..., Smbd]) -> None:
    server = make_smbd()
    before = server_facts(server.target("x"), None, str(server.conf)).facts
    for options, share_options, changed in (
        (
            {"debug level": "3", "server signing": "mandatory", "dead time": "15"}, {"strict sync": "no"},
            {"smb.conf/global/log level", "smb.conf/global/server signing", "smb.conf/global/deadtime",
             "smb.conf/share/strict sync"},
        ),
        ({"smb encrypt": "required"}, {}, {"smb.conf/global/server smb encrypt", "smb.conf/share/server smb encrypt"}),
        (
            {"socket options": "TCP_NODELAY SO_SNDBUF=65536", "vfs objects": "posixacl"}, {},
            {"smb.conf/global/socket options", "smb.conf/share/vfs objects"},
        ),
    ):  # fmt: skip
        server.rewrite_conf(options, share_options)
        after = server_facts(server.target("x"), None, str(server.conf)).facts
        names = {name for name in before.keys() | after.keys() if name.startswith("smb.conf/")}
        assert {name for name in names if before.get(name) != after.get(name)} == changed
        before = after


def test_facts_of_a_local_folder(tmp_path: Path) -> None:
    mount = mount_here(str(tmp_path))
    facts = server_facts(Target(protocol="file", path=str(tmp_path))).facts
    if mount is None:
        assert "filesystem.type" not in facts
    else:
        assert facts["filesystem.type"] == mount.kind
        assert int(facts["filesystem.size_bytes"]) > 0
    assert server_facts(Target(protocol="file", path=str(tmp_path / "nowhere"))).facts == {}
    (tmp_path / "big.iso").write_bytes(b"x")
    of_file = server_facts(Target(protocol="file", path=str(tmp_path / "big.iso"))).facts
    assert "filesystem.folder_missing" not in of_file


def test_rights_of_folders_are_facts_where_they_shut_somebody_out(tmp_path: Path) -> None:
    folder = tmp_path / "closed" / "data"
    folder.mkdir(parents=True)
    for mode_above, mode, rights, closed in (
        (0o711, 0o777, None, None),
        (0o700, 0o1777, None, "drwx------"),
        (0o755, 0o755, "drwxr-xr-x", None),
    ):
        folder.parent.chmod(mode_above)
        folder.chmod(mode)
        answer = ask_server({"folder": str(folder)}, None)
        # What lies above belongs to the tests.
        text = "\n".join(line for line in answer.sections["folder.rights"].splitlines() if str(folder.parent) in line)
        facts = rights_facts(Answer(sections={"folder.rights": text}))
        assert facts.get("filesystem.folder_rights") == rights
        assert facts.get("filesystem.folder_closed_above") == (closed and f"{closed} {folder.parent}")


def test_collecting_loads_no_screen_and_no_client_library() -> None:
    code = (
        "import sys; from app.server.facts import collect; from storage.records import Target;"
        "collect(Target(protocol='ftp', host='127.0.0.1', port=21, path='/'));"
        "print('textual' in sys.modules, 'impacket' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.long
def test_an_exit_code_of_thousands_of_digits_is_none():
    assert Answer(sections={"testparm.rc": "9" * 5_000}).code("testparm") is None
    assert Answer(sections={"testparm.rc": "1"}).code("testparm") == 1
