"""An smbd whose whole configuration is in Samba's registry: changed by ``net conf``, put back also after kill -9."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.server.changes.samba_setting import samba_setting
from app.server.changes.script import ConflictError, new_change_id, set_arm
from app.server.changes.setting import Ways
from app.trial.change_journal import begin_change, restore_entry
from storage.changes import ChangeKind
from storage.notebook import Notebook
from tests.command_line import Inside
from tests.servers.smbd_registry import RegistrySmbd
from tests.waiting import wait_for


@pytest.fixture(scope="module")
def samba() -> Iterator[RegistrySmbd]:
    found = RegistrySmbd()
    try:
        found.start()
        found.make_file("file", b"x" * 300_000)
        yield found
    finally:
        found.stop()


@pytest.fixture
def path(samba: RegistrySmbd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "bin").mkdir()
    found = f"{samba.shell_in(tmp_path / 'bin')}:{os.environ['PATH']}"
    monkeypatch.setenv("PATH", found)
    return found


@pytest.mark.long
@pytest.mark.usefixtures("path")
@pytest.mark.parametrize(
    ("name", "value", "theirs", "section", "was", "is_now"),
    [
        ("aio read size", "0", "4096", "bench", "1", "0"),
        ("server signing", "mandatory", "auto", "global", "default", "required"),
    ],
)
def test_what_the_registry_holds_is_changed_there(
    samba: RegistrySmbd, tmp_path: Path, name: str, value: str, theirs: str, section: str, was: str, is_now: str
):
    before, conf = samba.net("list"), samba.conf.read_bytes()
    found = samba_setting(name, [value], samba.target("x"), Ways(smb_conf=str(samba.conf), accepted=(name,)))
    assert (found.kind, found.section, found.previous) == (ChangeKind.REGISTRY, f"[{section}]", was)
    change = found.plan(new_change_id(), found.values)
    with Notebook(tmp_path / "notebook.db") as notebook:
        entry = begin_change(change, found, "trial of it", notebook)
        for arm, effective in ((1, is_now), (0, was), (1, is_now)):
            answer = set_arm(change, arm, None)
            assert found.effective(answer) == effective
            assert "reloaded" in answer.sections
        assert samba.net("getparm", section, name).strip() == value
        samba.net("setparm", section, name, theirs)
        with pytest.raises(ConflictError):
            restore_entry(entry, notebook)
        samba.net("setparm", section, name, value)
        restore_entry(entry, notebook)
    assert (samba.net("list"), samba.conf.read_bytes()) == (before, conf)


@pytest.mark.long
@pytest.mark.usefixtures("path")
def test_a_parameter_that_is_there_gets_its_value_again(samba: RegistrySmbd, tmp_path: Path):
    for name, value in (("comment", "a = b"), ("aio read size", "1"), ("volume", "v = 1")):
        samba.net("setparm", samba.share, name, value)
    before = samba.net("list")
    found = samba_setting("aio read size", ["0"], samba.target("x"), Ways(smb_conf=str(samba.conf)))
    change = found.plan(new_change_id(), found.values)
    with Notebook(tmp_path / "notebook.db") as notebook:
        entry = begin_change(change, found, "trial of it", notebook)
        set_arm(change, 1, None)
        assert samba.net("getparm", samba.share, "aio read size").strip() == "0"
        restore_entry(entry, notebook)
    assert sorted(samba.net("list").splitlines()) == sorted(before.splitlines())


@pytest.mark.long
def test_it_is_put_back_after_kill_9(samba: RegistrySmbd, tmp_path: Path, path: str):
    before = samba.net("list")
    sharebench = Inside(tmp_path / "notebook.db", samba.password, {"PATH": path})
    url = f"smb://{samba.user}@{samba.host}:{samba.port}/{samba.share}/file"
    words = ("--smb-conf", str(samba.conf), "--ceiling", "skip", "--yes")
    process = sharebench.start("try", "server signing=mandatory", url, *words)
    wait_for(lambda: "server signing" in samba.net("list") or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert "server signing = mandatory" in samba.net("list")
    done = sharebench("restore")
    assert "server signing on this machine is default again" in done.stdout, done.stderr
    assert samba.net("list") == before
    assert not list(samba.root.glob("sharebench*"))
