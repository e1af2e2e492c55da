"""The timer that puts a network card's setting back when nobody is heard of any more, on a real systemd."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.server.changes import script
from app.server.changes.find_setting import find_setting
from app.server.changes.script import ServerChange, give_word, new_change_id, set_arm
from app.server.changes.setting import Ways
from app.trial.change_journal import begin_change, restore_entry
from storage.changes import JournalEntry
from storage.notebook import Notebook
from storage.records import Target
from tests.servers.systemd import Systemd
from tests.waiting import wait_for

pytestmark = pytest.mark.xdist_group("sshd")

HERE = Target(protocol="smb", host="127.0.0.1", port=445, share="bench", path="x")


@pytest.fixture(scope="module")
def systemd() -> Iterator[Systemd]:
    found = Systemd()
    found.start()
    yield found
    found.stop()


@pytest.fixture
def notebook(systemd: Systemd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Notebook]:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{systemd.shell_in(tmp_path / 'bin')}:{os.environ['PATH']}")
    with Notebook(tmp_path / "notebook.db") as found:
        yield found


def begun(notebook: Notebook, seconds: int) -> tuple[ServerChange, JournalEntry]:
    found = find_setting("mtu@card0", ["9000"], HERE, Ways())
    change = replace(found.plan(new_change_id(), found.values), dead_man_seconds=seconds, settle=":")
    return change, begin_change(change, found, "trial of it", notebook)


def timers(systemd: Systemd) -> list[str]:
    said = systemd.run("systemctl", "list-units", "--plain", "--no-legend", "sharebench-undo-*.timer")
    return [line.split()[0] for line in said.splitlines()]


def mtu(systemd: Systemd) -> str:
    return systemd.run("ip", "-o", "link", "show", "card0").partition(" mtu ")[2].split()[0]


def test_each_step_winds_one_timer_up_anew_and_the_last_stops_it(systemd: Systemd, notebook: Notebook):
    change, entry = begun(notebook, 300)
    (first,) = timers(systemd)
    set_arm(change, 1, None)
    assert mtu(systemd) == "9000"
    (second,) = timers(systemd)
    give_word(change, None)
    (third,) = timers(systemd)
    assert len({first, second, third}) == 3
    restore_entry(entry, notebook)
    assert (mtu(systemd), timers(systemd)) == ("1500", [])


@pytest.mark.long
def test_without_a_word_it_puts_everything_back_by_itself(systemd: Systemd, notebook: Notebook, undo: Path):
    change, entry = begun(notebook, 5)
    set_arm(change, 1, None)
    wait_for(lambda: not undo.exists())
    assert mtu(systemd) == "1500"
    restore_entry(entry, notebook)
    assert notebook.abandoned_changes() == []


@pytest.mark.long
def test_while_a_step_runs_it_waits_and_tries_again(
    systemd: Systemd, notebook: Notebook, undo: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(script, "LOCK_SECONDS", 1)
    change, entry = begun(notebook, 8)
    set_arm(change, 1, None)
    lock = f"/run/sharebench/{script.lock_name(str(undo))}"
    (service,) = (name.replace(".timer", ".service") for name in timers(systemd))
    runs = undo.with_name("runs")
    runs.touch()
    step = subprocess.Popen(
        [*systemd.inside, "flock", lock, "/bin/sh", "-c", f"while [ -e {runs} ]; do sleep 0.1; done"]
    )
    try:
        wait_for(lambda: "75" in systemd.run("systemctl", "show", "--property=ExecMainStatus", service))
        assert mtu(systemd) == "9000"
        assert undo.exists()
    finally:
        runs.unlink()
        step.wait()
    wait_for(lambda: not undo.exists())
    assert mtu(systemd) == "1500"
    restore_entry(entry, notebook)
