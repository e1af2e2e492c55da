"""Kernel settings, network cards and commands: checked, changed, put back, and never over somebody else's work."""

import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.base.errors import UsageError
from app.server.changes.find_setting import find_setting
from app.server.changes.script import (
    ChangeFailedError,
    ChangeRefusedError,
    ConflictError,
    ServerChange,
    new_change_id,
    set_arm,
)
from app.server.changes.setting import ChangeableSetting, Ways
from app.trial.change_journal import begin_change, restore_entry
from storage.changes import JournalEntry
from storage.notebook import Notebook
from storage.records import Target
from tests.servers.process import program, require, require_root
from tests.servers.sshd import Sshd

pytestmark = pytest.mark.xdist_group("sshd")

HERE = Target(protocol="smb", host="127.0.0.1", port=445, share="bench", path="x")


@pytest.fixture(scope="module")
def machine() -> Iterator[list[str]]:
    """A network namespace with a pair of cards, so that nothing of this machine's is changed."""
    require("unshare", "nsenter", "ip")
    holder = subprocess.Popen(
        [
            program("unshare"),
            "--net",
            "sh",
            "-c",
            "ip link add card0 type veth peer name card1; echo ready; exec sleep 600",
        ],
        stdout=subprocess.PIPE,
    )
    assert holder.stdout
    assert holder.stdout.readline() == b"ready\n"
    try:
        yield [program("nsenter"), f"--net=/proc/{holder.pid}/ns/net", "--"]
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


@pytest.fixture
def inside(machine: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs that come first, of which ``sh`` runs inside the namespace."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "sh").write_text(f'#!/bin/sh\nexec {" ".join(machine)} /bin/sh "$@"\n')
    (folder / "sh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/sbin:/usr/bin:/sbin:/bin")
    return folder


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Notebook]:
    with Notebook(tmp_path / "notebook.db") as found:
        yield found


def read(machine: list[str], path: str) -> str:
    return subprocess.run([*machine, "cat", path], capture_output=True, text=True, check=True).stdout.strip()


def mtu(machine: list[str]) -> str:
    said = subprocess.run([*machine, "ip", "-o", "link", "show", "card0"], capture_output=True, text=True, check=True)
    return said.stdout.partition(" mtu ")[2].split()[0]


def begun(found: ChangeableSetting, notebook: Notebook) -> tuple[ServerChange, JournalEntry]:
    change = found.plan(new_change_id(), found.values)
    return change, begin_change(change, found, "trial of it", notebook)


@pytest.mark.usefixtures("inside")
def test_a_kernel_setting_is_changed_proven_and_put_back(machine: list[str], notebook: Notebook, undo: Path):
    path = "/proc/sys/net/ipv4/tcp_rmem"
    before = read(machine, path)
    found = find_setting("net.ipv4.tcp_rmem", ["4096 65536 1048576"], HERE, Ways())
    change, entry = begun(found, notebook)
    assert found.effective(set_arm(change, 1, None)) == "4096 65536 1048576"
    assert read(machine, path).split() == ["4096", "65536", "1048576"]
    assert found.effective(set_arm(change, 0, None)) == found.previous
    set_arm(change, 1, None)
    assert found.effective(restore_entry(entry, notebook)) == found.previous
    assert read(machine, path) == before
    assert not undo.exists()


@pytest.mark.usefixtures("inside")
def test_a_kernel_setting_that_somebody_else_set_is_left(machine: list[str], notebook: Notebook):
    path = "/proc/sys/net/ipv4/tcp_slow_start_after_idle"
    before = read(machine, path)
    found = find_setting("net.ipv4.tcp_slow_start_after_idle", [], HERE, Ways())
    assert found.values == ("0",)
    change, entry = begun(found, notebook)
    set_arm(change, 1, None)
    subprocess.run([*machine, "sh", "-c", f"echo 2 >{path}"], check=False, capture_output=True)
    if read(machine, path) == "2":
        with pytest.raises(ConflictError):
            restore_entry(entry, notebook)
        assert read(machine, path) == "2"
    subprocess.run([*machine, "sh", "-c", f"echo 0 >{path}"], check=True)
    restore_entry(entry, notebook)
    assert read(machine, path) == before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("net.ipv4.tcp_congestion_control", "nosuch"),
        ("net.ipv4.tcp_rmem", "4096 65536"),
        ("net.ipv4.tcp_rmem", "65536 4096 100"),
        ("net.ipv4.tcp_sack", "yes"),
        ("net.ipv4.tcp_sack", "1; reboot"),
        ("vm.dirty_ratio", "200"),
        ("vm.dirty_bytes", "1"),
        ("net.ipv4.no_such_thing", "1"),
        ("kernel.panic", "1"),
    ],
)
@pytest.mark.usefixtures("inside")
def test_a_kernel_setting_is_refused_before_it_is_written(name: str, value: str, undo: Path):
    with pytest.raises(ChangeRefusedError):
        find_setting(name, [value], HERE, Ways())
    assert not undo.exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("server signign", "did you mean server signing"),
        ("server signing", "--server-ssh|another machine"),
        ("SO_SNDBUF", "another machine"),
        ("net.ipv4.tcp_sackk", "another machine"),
        ("fruit:posix_rename", "another machine"),
    ],
)
def test_a_misspelt_setting_is_named_before_a_way_to_the_server_is_asked_for(name: str, said: str):
    far = Target(protocol="smb", host="192.0.2.1", port=445, share="bench", path="x")
    with pytest.raises(UsageError, match=said):
        find_setting(name, ["1"], far, Ways())


@pytest.mark.parametrize("name", ["in-flight", "block", "rsize", "I/O scheduler"])
def test_what_sharebench_does_not_change_is_changed_by_hand(name: str):
    """smbd was said to have no such parameter, beside a catalogue that says whose it is."""
    with pytest.raises(UsageError, match=f"does not change {name} on a server: the catalogue says how"):
        find_setting(name, ["1"], HERE, Ways())


@pytest.mark.parametrize("name", ["in-flight", "I/O scheduler"])
def test_commands_may_change_what_sharebench_does_not(name: str):
    require_root("change a server's settings")
    assert find_setting(name, [], HERE, Ways(apply="true", revert="true")).name == name


def test_a_parameter_of_samba_is_one_although_a_setting_of_the_client_is_called_so_too():
    far = Target(protocol="smb", host="192.0.2.1", port=445, share="bench", path="x")
    with pytest.raises(UsageError, match="another machine"):
        find_setting("block size", ["4096"], far, Ways())


def test_of_a_pair_the_one_that_was_in_force_is_put_back():
    """``vm.dirty_bytes = 0`` cannot be written: what was 0 since the other one held is put back by the other."""
    from app.server.changes.sysctl_setting import _plan_sysctl

    back = _plan_sysctl("0123456789ab", "vm.dirty_bytes", "0", ["1048576"], ("vm.dirty_ratio", "20")).restore
    assert "printf '%s\\n' 20 >/proc/sys/vm/dirty_ratio" in back
    back = _plan_sysctl("0123456789ab", "vm.dirty_ratio", "20", ["5"], ("vm.dirty_bytes", "0")).restore
    assert "printf '%s\\n' 20 >/proc/sys/vm/dirty_ratio" in back


@pytest.mark.parametrize(("now", "theirs", "written"), [("0", "30", "30"), ("1048576", "0", "20")])
def test_a_pairs_other_one_is_left_where_ours_is_as_it_was(tmp_path: Path, now: str, theirs: str, written: str):
    from app.server.changes.sysctl_setting import _plan_sysctl

    ours, other = tmp_path / "vm/dirty_bytes", tmp_path / "vm/dirty_ratio"
    ours.parent.mkdir()
    ours.write_text(f"{now}\n")
    other.write_text(f"{theirs}\n")
    back = _plan_sysctl("0123456789ab", "vm.dirty_bytes", "0", ["1048576"], ("vm.dirty_ratio", "20")).restore
    subprocess.run(["sh", "-c", back.replace("/proc/sys", str(tmp_path))], check=True)
    assert (ours.read_text(), other.read_text()) == (f"{now}\n", f"{written}\n")


def test_commands_are_run_in_turns_and_taken_back(tmp_path: Path, notebook: Notebook, undo: Path):
    require_root("change a server's settings")
    log, mark = tmp_path / "log", tmp_path / "it's on"
    quoted = shlex.quote(str(mark))
    ways = Ways(apply=f"touch {quoted}; echo apply >>{log}", revert=f"rm {quoted}; echo revert >>{log}")
    found = find_setting("stripe", [], HERE, ways)
    change, entry = begun(found, notebook)
    for arm in (0, 1, 1, 0, 1):
        answer = set_arm(change, arm, None)
        assert found.effective(answer) == ("applied" if arm else "as it was")
        assert mark.exists() == bool(arm)
    restore_entry(entry, notebook)
    assert not mark.exists()
    assert log.read_text().split() == ["apply", "revert", "apply", "revert"]
    assert not undo.exists()


def test_a_command_that_fails_is_taken_back(tmp_path: Path, notebook: Notebook):
    require_root("change a server's settings")
    log = tmp_path / "log"
    found = find_setting("stripe", [], HERE, Ways(apply="exit 1", revert=f"echo revert >>{log}"))
    change, entry = begun(found, notebook)
    with pytest.raises(ChangeFailedError):
        set_arm(change, 1, None)
    restore_entry(entry, notebook)
    assert log.read_text() == "revert\n"


@pytest.mark.parametrize("ways", [Ways(apply="true"), Ways(revert="true")])
def test_nothing_is_changed_without_a_way_back(ways: Ways):
    with pytest.raises(UsageError, match="go together"):
        find_setting("stripe", [], HERE, ways)


def test_another_machine_needs_a_way_there():
    with pytest.raises(UsageError, match="name the way there by ssh"):
        find_setting("strict sync", ["no"], Target(protocol="smb", host="192.0.2.1", share="x"), Ways())


@pytest.mark.usefixtures("inside")
def test_without_systemd_no_card_is_touched(machine: list[str]):
    with pytest.raises(ChangeRefusedError, match="systemd"):
        find_setting("mtu@card0", ["9000"], HERE, Ways())
    assert mtu(machine) == "1500"


@pytest.mark.parametrize(("name", "value"), [("mtu@card0", "99999"), ("mtu@card0", "68"), ("tso@card0", "maybe")])
def test_a_cards_value_is_checked_first(inside: Path, name: str, value: str):
    for tool, said in (("systemctl", "Version=252"), ("ethtool", "tcp-segmentation-offload: on")):
        (inside / tool).write_text(f"#!/bin/sh\necho '{said}'\n")
        (inside / tool).chmod(0o755)
    with pytest.raises(ChangeRefusedError, match="is refused"):
        find_setting(name, [value], HERE, Ways())


def test_a_kernel_setting_through_ssh(through: Sshd, notebook: Notebook, tmp_path: Path):
    assert through
    ways = Ways(ssh="fileserver", apply=f"touch {tmp_path}/on", revert=f"rm {tmp_path}/on")
    found = find_setting("stripe", [], HERE, ways)
    change, entry = begun(found, notebook)
    assert found.effective(set_arm(change, 1, "fileserver")) == "applied"
    assert (tmp_path / "on").exists()
    restore_entry(entry, notebook)
    assert not (tmp_path / "on").exists()
