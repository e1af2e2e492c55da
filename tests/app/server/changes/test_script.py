"""The scripts of a change: one lock for all its steps, nothing after it was undone, nothing of theirs left behind."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.server.changes import script
from app.server.changes.find_setting import find_setting
from app.server.changes.script import (
    ChangeFailedError,
    ChangeRefusedError,
    ServerChange,
    StepRunningError,
    _changed_by_another,
    begin,
    give_word,
    lock_name,
    new_change_id,
    set_arm,
    undo_script,
)
from app.server.changes.setting import ChangeableSetting, Ways
from app.trial.change_journal import begin_change, restore_entry
from storage.changes import ChangeState, JournalEntry
from storage.notebook import Notebook
from storage.records import Target
from tests.command_line import Inside
from tests.servers.process import require_root
from tests.servers.sshd import Sshd
from tests.waiting import wait_for

pytestmark = pytest.mark.xdist_group("sshd")

HERE = Target(protocol="smb", host="127.0.0.1", port=445, share="bench", path="x")


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Notebook]:
    with Notebook(tmp_path / "notebook.db") as found:
        yield found


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """The setting: a file that is there while the change stands."""
    return tmp_path / "on"


def setting(mark: Path, *, first: str = ":", ssh: str | None = None) -> ChangeableSetting:
    """A setting that a command applies after the command ``first``."""
    require_root("change a server's settings")
    apply = f"{first}\ntouch {shlex.quote(str(mark))}"
    return find_setting("stripe", [], HERE, Ways(apply=apply, revert=f"rm -f {shlex.quote(str(mark))}", ssh=ssh))


def begun(found: ChangeableSetting, notebook: Notebook) -> tuple[ServerChange, JournalEntry]:
    change = found.plan(new_change_id(), found.values)
    return change, begin_change(change, found, "trial of it", notebook)


def waits(path: Path) -> str:
    """A command that says it has started, and ends when the file is removed."""
    return f"touch {path}; while [ -e {path} ]; do sleep 0.05; done"


@pytest.fixture
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "LOCK_SECONDS", 1)


def step(text: str) -> subprocess.Popen[str]:
    """A step that runs without anybody who waits for it, as after kill -9 of the program."""
    process = subprocess.Popen(["sh", "-s"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert process.stdin
    process.stdin.write(f"mark=x\n{text}")
    process.stdin.close()
    return process


def restored(entry: JournalEntry, notebook: Notebook) -> bool:
    """Whether its step had ended, so that it could be restored."""
    try:
        restore_entry(entry, notebook)
    except StepRunningError:
        return False
    return True


@pytest.mark.usefixtures("short_wait")
def test_nothing_is_undone_while_a_step_runs(notebook: Notebook, mark: Path, tmp_path: Path, undo: Path):
    slow = tmp_path / "slow"
    change, entry = begun(setting(mark, first=waits(slow)), notebook)
    process = step(script.steps().arm(change, 1))
    wait_for(slow.exists)
    by_hand = subprocess.run(["sh", undo], capture_output=True, text=True, check=False)
    assert by_hand.returncode == 75
    assert f"(pid {process.pid})" in by_hand.stdout
    said = rf"a step is still running on this machine since \d\d:\d\d \(pid {process.pid}\), so stripe was not restored"
    with pytest.raises(StepRunningError, match=said):
        restore_entry(entry, notebook)
    assert re.search(said, Inside(notebook.path).fails(4, "restore"))
    assert undo.exists()
    assert [one.id for one in notebook.abandoned_changes()] == [entry.id]
    slow.unlink()
    process.wait()
    assert mark.exists()
    restore_entry(entry, notebook)
    assert not mark.exists()
    assert not undo.exists()
    assert not notebook.journal(ChangeState.OPEN)


@pytest.mark.usefixtures("short_wait")
def test_a_command_keeps_the_lock_although_its_step_was_killed(notebook: Notebook, mark: Path, tmp_path: Path):
    slow = tmp_path / "slow"
    change, entry = begun(setting(mark, first=waits(slow)), notebook)
    process = step(script.steps().arm(change, 1))
    wait_for(slow.exists)
    process.kill()
    process.wait()
    with pytest.raises(StepRunningError) as told:
        restore_entry(entry, notebook)
    assert told.value.process_id not in {str(process.pid), "unknown"}
    assert Path(f"/proc/{told.value.process_id}").exists()
    slow.unlink()
    wait_for(lambda: restored(entry, notebook))
    assert not mark.exists()


def test_a_service_that_a_command_started_keeps_nobody_out(notebook: Notebook, mark: Path):
    change, entry = begun(setting(mark, first="sleep 30 >/dev/null 2>&1 &"), notebook)
    set_arm(change, 1, None)
    set_arm(change, 0, None)
    restore_entry(entry, notebook)
    assert not mark.exists()


def test_a_step_that_comes_after_the_undo_does_nothing(notebook: Notebook, mark: Path, undo: Path):
    found = setting(mark)
    change, entry = begun(found, notebook)
    restore_entry(entry, notebook)
    with pytest.raises(ChangeFailedError, match="restored meanwhile"):
        set_arm(change, 1, None)
    with pytest.raises(ChangeFailedError, match="restored meanwhile"):
        give_word(change, None)
    with pytest.raises(ChangeFailedError, match="restored before it began"):
        begin(change, None)
    assert not mark.exists()
    assert not undo.exists()


def test_a_begin_that_was_given_up_before_it_arrived_does_nothing(notebook: Notebook, mark: Path, undo: Path):
    change = setting(mark).plan(new_change_id(), ("applied",))
    subprocess.run(["sh", "-s"], input=undo_script(change), text=True, check=True, capture_output=True)
    subprocess.run(["sh", "-s"], input=script.steps().begin(change), text=True, check=False, capture_output=True)
    assert not undo.exists()


def test_an_undo_leaves_the_next_change_alone(notebook: Notebook, mark: Path, undo: Path):
    """The first was undone by hand, which its notebook does not know; the second makes the same change."""
    _, entry = begun(setting(mark), notebook)
    subprocess.run(["sh", undo], check=True, capture_output=True)
    change, other = begun(setting(mark), notebook)
    set_arm(change, 1, None)
    Path("/run/sharebench", lock_name(str(undo))).write_text("")  # as after a restart of the server
    restore_entry(entry, notebook)
    assert mark.exists()
    assert undo.exists()
    restore_entry(other, notebook)
    assert not mark.exists()


def test_who_is_at_work_is_not_to_be_restored_and_who_was_cut_off_is(notebook: Notebook, mark: Path, undo: Path):
    change, entry = begun(setting(mark), notebook)
    with pytest.raises(ChangeRefusedError, match="wait until it has ended"):
        setting(mark)
    other = replace(change, id=new_change_id())
    with pytest.raises(ChangeRefusedError, match="wait until it has ended"):
        begin(other, None)
    assert "wait until it has ended" in str(_changed_by_another("undo", "nas", "599"))
    assert "interrupted trial" in str(_changed_by_another("undo", "nas", "600"))
    subprocess.run(["touch", "-d", "-600 seconds", undo], check=True)
    with pytest.raises(ChangeRefusedError, match="interrupted trial"):
        setting(mark)
    give_word(change, None)
    with pytest.raises(ChangeRefusedError, match="wait until it has ended"):
        begin(other, None)
    restore_entry(entry, notebook)


def test_the_undo_script_is_written_through_no_link(notebook: Notebook, mark: Path, undo: Path, tmp_path: Path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    undo.parent.mkdir()
    undo.with_name(f"{undo.name}.new").symlink_to(precious)
    _, entry = begun(setting(mark), notebook)
    assert precious.read_text() == "mine"
    assert undo.read_text().startswith("#!/bin/sh")
    restore_entry(entry, notebook)


@pytest.mark.usefixtures("short_wait")
def test_a_connection_that_breaks_while_a_command_runs(notebook: Notebook, mark: Path, tmp_path: Path, through: Sshd):
    """Its ssh is killed: the trial must not say that everything is restored while the command goes on there."""
    slow = tmp_path / "slow"
    change, entry = begun(setting(mark, first=waits(slow), ssh="fileserver"), notebook)
    process = subprocess.Popen(
        ["ssh", "fileserver", "exec sh -s"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    assert process.stdin
    process.stdin.write(f"mark=x\n{script.steps().arm(change, 1)}")
    process.stdin.close()
    wait_for(slow.exists)
    process.kill()
    process.wait()
    with pytest.raises(StepRunningError, match="still running on fileserver since"):
        restore_entry(entry, notebook)
    slow.unlink()
    wait_for(lambda: restored(entry, notebook))
    assert not mark.exists()
