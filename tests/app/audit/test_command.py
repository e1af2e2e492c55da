"""``sharebench audit`` against a real smbd, and of files of every kind; nothing is written on the server."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from storage.looks import audit_of
from storage.notebook import Notebook
from storage.records import format_target
from tests.command_line import Inside
from tests.forms.audit.configurations import REDPAPER
from tests.servers.process import require
from tests.servers.samba_version import installed_samba, version_numbers
from tests.servers.smbd import Smbd, SupervisedSmbd
from tests.servers.sshd import Sshd

PINNED = "TCP_NODELAY SO_SNDBUF=14596 SO_RCVBUF=14596"


def state_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Each file's time of change and content."""
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in sorted(folder.rglob("*.conf"))}


def test_a_real_server_with_the_buffer_lines_is_harmful(inside: Inside, make_smbd):
    smbd: Smbd = make_smbd(global_options={"socket options": PINNED}, share_options={"strict sync": "no"})
    smbd.make_file("big.iso", b"x")
    before = state_of(smbd.root)
    done = inside("audit", format_target(smbd.target("big.iso")), "--smb-conf", str(smbd.conf), "--label", "first look")
    assert done.returncode == 1
    assert any(line.startswith("Answer: ✗ 3 harmful") for line in done.stdout.splitlines())
    assert "SO_SNDBUF=14596" in done.stdout
    assert "strict sync = no" in done.stdout
    assert state_of(smbd.root) == before
    with Notebook(inside.db) as notebook:
        stored = audit_of(notebook.recording("last", "audit"))
    assert stored.label == "first look"
    assert stored.facts["session.dialect"] == "3.1.1"
    assert stored.facts["samba.version"]
    line = next(i for i, text in enumerate(smbd.conf.read_text().splitlines(), 1) if "SO_SNDBUF" in text)
    assert (stored.findings[0].file, stored.findings[0].line) == (str(smbd.conf), line)


def test_a_plain_server_has_nothing_harmful(inside: Inside, smbd: Smbd):
    done = inside("audit", format_target(smbd.target()), "--smb-conf", str(smbd.conf), "--json")
    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout)
    assert found["schema"] == "sharebench/audit/1"
    assert [each["title"] for each in found["findings"] if each["severity"] in {"problem", "warning"}] == []


def test_a_share_that_does_not_exist_is_told_in_place_of_an_audit(inside: Inside, smbd: Smbd):
    said = inside.fails(4, "audit", format_target(replace(smbd.target(), share="wrong")))
    assert "the server has no such share" in said
    assert "check the share's name (it lists bench, open)" in said


def test_a_server_whose_settings_cannot_be_read_is_told_apart(inside: Inside, make_smbd: Callable[..., Smbd]):
    smbd = make_smbd()
    smbd.conf.write_text(smbd.conf.read_text().replace(f"smb ports = {smbd.port}", "smb ports = 445"))
    done = inside("audit", format_target(smbd.target()))
    assert done.returncode == 3
    assert "he server's settings were not read." in " ".join(done.stdout.split())
    assert "Only what a session reveals was seen." in done.stdout


def test_a_world_writable_configuration_comes_first(inside: Inside, make_smbd):
    smbd = make_smbd(global_options={"socket options": PINNED})
    smbd.conf.chmod(0o666)
    done = inside("audit", format_target(smbd.target()), "--smb-conf", str(smbd.conf), "--json")
    assert json.loads(done.stdout)["findings"][0]["key"] == "writable-configuration"


def test_veto_files_names_what_it_hides_in_the_share(inside: Inside, make_smbd):
    smbd = make_smbd(share_options={"veto files": "/*.iso/"})
    smbd.make_file("big.iso", b"x")
    done = inside("audit", format_target(smbd.target()), "--smb-conf", str(smbd.conf))
    assert "Hides big.iso: clients are told that there is no such file." in " ".join(done.stdout.split())


def test_the_proposed_edits_apply_and_the_file_is_healthy_then(inside: Inside, tmp_path: Path):
    require("git", root=False)
    conf = tmp_path / "smb.conf"
    conf.write_text(REDPAPER.text)
    done = inside("audit", "--smb-conf", str(conf), "--fix")
    assert done.returncode == 1
    assert conf.read_text() == REDPAPER.text, "nothing is written unasked"
    patched = subprocess.run(
        ["git", "apply", "-p1", "--unsafe-paths", "--directory=/", "-"],
        input=done.stdout, text=True, cwd=tmp_path, capture_output=True, check=False,
    )  # fmt: skip
    assert patched.returncode == 0, patched.stderr
    again = inside("audit", "--smb-conf", str(conf))
    assert again.returncode == 0
    assert "Answer: ✓ No problems found." in again.stdout.splitlines()


@pytest.mark.parametrize(
    ("line", "is_edited", "is_left"),
    [
        ("workgroup = OFFICE", False, False),
        ("server signing = mandatory", False, True),
        ("getwd cache = yes", True, False),
        ("getwd cache = yes\nforce user = root", True, True),
    ],
)
def test_what_has_no_edit_is_told_beside_the_diff(
    inside: Inside, tmp_path: Path, line: str, is_edited: bool, is_left: bool
):
    conf = tmp_path / "smb.conf"
    conf.write_text(f"[global]\n{line}\n[a]\npath = /a\n")
    done = inside("audit", "--smb-conf", str(conf), "--fix")
    assert bool(done.stdout) is is_edited
    assert ("no edit is proposed" in done.stderr) is not is_edited
    assert ("1 finding has no edit" in done.stderr) is is_left


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\0\1\2\3" * 1000, "it is no text file; name an smb.conf"),
        (b"[global]\n" + b"#" * (17 << 20), "it is larger than 16 MiB"),
    ],
    ids=["binary", "huge"],
)
def test_what_is_no_configuration_is_refused(inside: Inside, tmp_path: Path, content: bytes, said: str):
    conf = tmp_path / "smb.conf"
    conf.write_bytes(content)
    done = inside("audit", "--smb-conf", str(conf))
    assert done.returncode == 2
    assert done.stderr == f"sharebench: cannot read {conf}: {said}\n"


def test_missing_and_odd_files_are_named(inside: Inside, tmp_path: Path):
    assert "is not on this machine" in inside("audit", "--smb-conf", str(tmp_path / "none")).stderr
    assert "is a folder" in inside("audit", "--smb-conf", str(tmp_path)).stderr
    assert "name a TARGET, or a file with --smb-conf FILE" in inside("audit").stderr


@pytest.mark.parametrize("name", ["smb.conf", "a copy.txt"])
@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_configuration_file_in_place_of_a_target_is_told_by_its_option(
    inside: Inside, tmp_path: Path, name: str, scheme: str
):
    conf = tmp_path / name
    conf.write_text("# ours\n[Global]\n")
    said = inside.fails(2, "audit", f"{scheme}{conf}")
    assert said == f"{conf} is a configuration file, not a target: --smb-conf {shlex.quote(str(conf))} audits it"
    assert "is a configuration file" in inside.fails(2, "audit", "./smb.conf")


def test_a_configuration_file_on_a_share_is_a_target_like_any_other(inside: Inside):
    done = inside("audit", "smb://127.0.0.1:1/share/smb.conf")
    assert (done.returncode, done.stderr) == (3, "")


def test_includes_are_followed_and_loops_end(inside: Inside, tmp_path: Path):
    conf, part = tmp_path / "smb.conf", tmp_path / "part.conf"
    conf.write_text(f"[global]\ninclude = {tmp_path}/absent\ninclude = {part}\n")
    part.write_text(f"socket options = SO_SNDBUF=8192\ninclude = {conf}\ninclude = {part}\n")
    done = inside("audit", "--smb-conf", str(conf), "--json")
    found = {each["key"]: each for each in json.loads(done.stdout)["findings"]}
    assert (found["pinned-send-buffer"]["file"], found["pinned-send-buffer"]["line"]) == (str(part), 1)
    assert (found["stops-reading"]["file"], found["stops-reading"]["line"]) == (str(part), 2)
    assert "missing-include" not in found
    assert f"include = {tmp_path}/absent" in json.loads(done.stdout)["unread"][0]


def test_what_testparm_prints_can_be_audited(inside: Inside, tmp_path: Path, make_smbd):
    require("testparm")
    smbd = make_smbd(share_options={"strict sync": "no"})
    printed = subprocess.run(["testparm", "-s", str(smbd.conf)], capture_output=True, text=True, check=True).stdout
    (tmp_path / "printed.txt").write_text(printed)
    done = inside("audit", "--smb-conf", str(tmp_path / "printed.txt"))
    assert done.returncode == 1
    assert "strict sync = No" in done.stdout


@pytest.mark.parametrize(
    ("version", "keys"),
    [
        ([], {"default"}),
        (["--samba", "4.22"], {"default"}),
        (["--samba", "Version 4.22.11-Debian"], {"default"}),
        (["--samba", "4.21"], {"too-new"}),
    ],
)
def test_a_file_is_judged_for_the_version_that_is_told(inside: Inside, tmp_path: Path, version: list[str], keys):
    conf = tmp_path / "smb.conf"
    conf.write_text("[global]\nsmb3 directory leases = auto\n")
    done = inside("audit", "--smb-conf", str(conf), "--json", *version)
    assert done.returncode == 0
    audit = json.loads(done.stdout)
    assert {finding["key"] for finding in audit["findings"]} == keys
    told = version[-1].removeprefix("Version ") if version else None
    assert audit["facts"].get("samba.version") == told


@pytest.mark.parametrize("version", ["banana", "4", "smbd 4.22"])
def test_what_is_no_version_is_refused(inside: Inside, tmp_path: Path, version: str):
    (tmp_path / "smb.conf").write_text("[global]\n")
    said = inside.fails(2, "audit", "--smb-conf", str(tmp_path / "smb.conf"), "--samba", version)
    assert repr(version) in said


def test_a_server_that_tells_its_version_is_not_told_another(inside: Inside, smbd: Smbd):
    major, minor = installed_samba()
    place = [format_target(smbd.target()), "--smb-conf", str(smbd.conf), "--samba"]
    assert inside("audit", *place, f"{major}.{minor}").returncode == 0
    assert f"not {major}.{minor + 1}" in inside.fails(2, "audit", *place, f"{major}.{minor + 1}")


def test_a_dump_of_the_installed_samba_is_healthy(inside: Inside, tmp_path: Path):
    require("testparm")
    (tmp_path / "empty.conf").write_text("")
    words = ["testparm", "-sv", str(tmp_path / "empty.conf")]
    dump = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    (tmp_path / "dump.txt").write_text(dump)
    done = inside("audit", "--smb-conf", str(tmp_path / "dump.txt"), "--json")
    audit = json.loads(done.stdout)
    assert audit["findings"] == []
    # testparm prints a log level that is not the server's.
    assert done.returncode == 3
    assert [text.partition(":")[0] for text in audit["unread"]] == ["log level"]
    assert version_numbers(audit["facts"]["samba.version"]) == installed_samba()


def test_accounts_and_their_files_that_are_not_there_are_looked_for(inside: Inside, make_smbd, tmp_path: Path):
    smbd: Smbd = make_smbd()
    text = smbd.conf.read_text()
    (tmp_path / "users.map").touch()
    for name, value in {
        "guest account": "no-such-account",
        "passdb backend": f"tdbsam:{tmp_path}/no-folder/users.tdb",
        "username map": f"{tmp_path}/users.map",
    }.items():
        text = re.sub(rf"^    {name} = .*", f"    {name} = {value}", text, flags=re.MULTILINE)
    smbd.conf.write_text(f"{text}\n[of-a-group]\npath = {tmp_path}\nforce group = +no-such-group\nforce user = root\n")
    done = inside("audit", format_target(smbd.target()), "--smb-conf", str(smbd.conf), "--json")
    found = {each["setting"]: each["key"] for each in json.loads(done.stdout)["findings"]}
    assert found["guest account"] == "no-accounts"
    assert found["passdb backend"] == "no-accounts"
    assert found["force group"] == "missing-account"
    assert "username map" not in found
    assert found.get("force user") != "missing-account"


@pytest.mark.parametrize(
    ("interfaces", "is_bound", "key"),
    [
        ("no-card9", True, "no-interface-to-listen"),
        ("no-card9 lo", True, "missing-interface"),
        ("no-card9", False, None),
        ("lo", True, None),
    ],
)
def test_a_card_that_is_not_there_is_looked_for_where_smbd_is_bound_to_it(
    inside: Inside, tmp_path: Path, interfaces: str, is_bound: bool, key: str | None
):
    conf = tmp_path / "smb.conf"
    bound = "yes" if is_bound else "no"
    conf.write_text(f"[global]\ninterfaces = {interfaces}\nbind interfaces only = {bound}\n")
    audit = json.loads(inside("audit", "smb://127.0.0.1/data", "--smb-conf", str(conf), "--json").stdout)
    found = {finding["key"] for finding in audit["findings"] if finding["setting"] == "interfaces"}
    assert found == ({key} if key else set())


@pytest.mark.long
def test_the_costliest_finding_is_tested_and_restored_also_in_the_registry_and_over_ssh(inside: Inside, through: Sshd):
    require("net")
    server = SupervisedSmbd({"include": "registry"})
    server.configure()
    net = ["net", "-s", str(server.conf), "conf"]
    subprocess.run([*net, "setparm", "global", "socket options", PINNED], check=True)
    try:
        server.start()
        server.make_file("big.iso", b"x" * 600_000)
        before = server.conf.read_bytes()
        done = inside(
            "audit", format_target(server.target("big.iso")), "--server-ssh", "fileserver", "--smb-conf",
            str(server.conf), "--try", "--yes", "--allow-restart",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "harmful registry:2" in done.stdout
        assert "testing socket options=TCP_NODELAY in place of" in done.stderr
        assert "faster" in done.stdout.lower()
        assert server.conf.read_bytes() == before
        assert PINNED in subprocess.run([*net, "list"], capture_output=True, text=True, check=True).stdout
    finally:
        server.stop()


@pytest.mark.long
def test_five_megabytes_of_settings_are_read_and_judged(inside: Inside, tmp_path: Path):
    shares = "".join(f"[share{number}]\npath = /srv/{number}\ncomment = {'x' * 400}\n" for number in range(11_500))
    (tmp_path / "smb.conf").write_text(f"[global]\nsocket options = {PINNED}\n{shares}")
    assert (tmp_path / "smb.conf").stat().st_size > 5_000_000
    done = inside("audit", "--smb-conf", str(tmp_path / "smb.conf"))
    assert done.returncode == 1, done.stderr
    assert "SO_SNDBUF=14596" in done.stdout


def test_the_folders_of_all_shares_are_looked_for(inside: Inside, make_smbd, tmp_path: Path):
    smbd: Smbd = make_smbd()
    (tmp_path / "there").mkdir()
    shares = f"[there]\npath = {tmp_path}/there\n[gone]\npath = {tmp_path}/gone\n[each]\npath = /home/%S\n"
    smbd.conf.write_text(f"{smbd.conf.read_text()}\n{shares}")
    done = inside("audit", format_target(smbd.target()), "--smb-conf", str(smbd.conf), "--json")
    found = [each for each in json.loads(done.stdout)["findings"] if each["key"] == "missing-folder"]
    assert [each["value"] for each in found] == [f"{tmp_path}/gone"]


def test_the_folders_that_smbd_cannot_make_are_looked_for(inside: Inside, make_smbd, tmp_path: Path):
    smbd: Smbd = make_smbd()
    text = smbd.conf.read_text()
    for name, path in {
        "lock directory": tmp_path / "gone" / "lock",
        "state directory": tmp_path / "made-by-smbd",
        "private dir": tmp_path / "no-private",
        "log file": tmp_path / "no-log" / "log.%m",
    }.items():
        text = re.sub(rf"^    {name} = .*", f"    {name} = {path}", text, flags=re.MULTILINE)
    smbd.conf.write_text(text)
    done = inside("audit", format_target(smbd.target()), "--smb-conf", str(smbd.conf), "--json")
    found = {each["setting"]: each["key"] for each in json.loads(done.stdout)["findings"]}
    assert found["lock directory"] == "no-folder-of-smbd"
    assert found["private dir"] == "no-folder-of-smbd"
    assert found["log file"] == "no-log-folder"
    assert "state directory" not in found


@pytest.mark.long
def test_an_smbd_that_reads_another_file_in_place_is_judged_by_that_one(inside: Inside, make_smbd, tmp_path: Path):
    smbd: Smbd = make_smbd()
    plain = smbd.conf.read_text()
    other = tmp_path / "other.conf"
    other.write_text(plain.replace("[global]", "[global]\nsocket options = SO_RCVBUF=4096", 1))
    smbd.conf.write_text(plain.replace("[global]", f"[global]\nconfig file = {other}", 1))
    done = inside("audit", format_target(smbd.target()), "--smb-conf", str(smbd.conf), "--json")
    assert done.returncode == 1
    found = {each["key"]: each for each in json.loads(done.stdout)["findings"]}
    assert found["pinned-receive-buffer"]["file"] == str(other)
    assert found["config-file"]["file"] == str(smbd.conf)
    said = inside("check", format_target(smbd.target()), "--smb-conf", str(smbd.conf)).stdout
    assert "SO_RCVBUF=4096" in said
    assert "nothing harmful" not in said


@pytest.mark.parametrize("is_server", [False, True])
def test_the_files_of_single_clients_are_named_with_their_clients(
    is_server: bool, inside: Inside, make_smbd, tmp_path: Path
):
    folder = tmp_path / "of clients"
    folder.mkdir()
    for name in ("smb.pc1.conf", "smb.pc2.conf", "10.0.0.7"):
        (folder / name).write_text("[more]\npath = /srv\n")
    server = make_smbd({"include": f"{folder}/smb.%m.conf"})
    server.conf.write_text(server.conf.read_text().replace("[bench]", f"include = {folder}/%I\n[bench]", 1))
    target = [format_target(server.target())] if is_server else []
    done = Inside(inside.db, server.password)("audit", *target, "--smb-conf", str(server.conf), "--json")

    assert done.returncode == 3, done.stderr
    said = {text.partition(":")[0]: text for text in json.loads(done.stdout)["unread"]}
    by_name = said[f"include = {folder}/smb.%m.conf"]
    assert f"{folder}/smb.pc1.conf for pc1" in by_name
    assert f"{folder}/smb.pc2.conf for pc2" in by_name
    by_address = said[f"include = {folder}/%I"]
    assert f"{folder}/10.0.0.7 for 10.0.0.7" in by_address
    assert "pc1" not in by_address


@pytest.mark.long
@pytest.mark.varied(line=1)
@pytest.mark.parametrize("line", ["include = /etc/samba/%m.conf", "config file = /etc/samba/%U.conf"])
def test_settings_that_differ_from_client_to_client_are_no_all_clear(inside: Inside, make_smbd, line: str):
    smbd: Smbd = make_smbd()
    smbd.conf.write_text(smbd.conf.read_text().replace("[global]", f"[global]\n{line}", 1))
    done = inside("audit", format_target(smbd.target()), "--smb-conf", str(smbd.conf))
    assert done.returncode == 3
    answer, first = done.stdout.splitlines()[1:3]
    assert answer.startswith("Answer:")
    assert "? Not all settings were read." in answer
    assert first.startswith("Not read:")
    said = inside("check", format_target(smbd.target()), "--smb-conf", str(smbd.conf)).stdout
    assert "nothing harmful" not in said


@pytest.mark.parametrize("name", ["include", "config file"])
def test_a_copy_whose_other_files_are_not_here_is_no_all_clear(inside: Inside, tmp_path: Path, name: str):
    conf = tmp_path / "smb.conf"
    conf.write_text(f"[global]\n{name} = {tmp_path}/more.conf\n[pub]\npath = /srv\n")
    done = inside("audit", "--smb-conf", str(conf), "--json")
    assert done.returncode == 3
    assert len(json.loads(done.stdout)["unread"]) == 1
    (tmp_path / "more.conf").write_text("[global]\nworkgroup = OFFICE\n")
    done = inside("audit", "--smb-conf", str(conf), "--json")
    assert (done.returncode, json.loads(done.stdout)["unread"]) == (0, [])
