"""Parameters of a real smbd's smb.conf, changed, proven and put back; and everything that must not be written."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.server.changes import script as server
from app.server.changes.samba_place import DROP_IN, UNDO, ConfLine, find_place
from app.server.changes.samba_plans import drop_in_content, plan_registry, with_include
from app.server.changes.samba_setting import samba_setting
from app.server.changes.samba_values import check_value, parameter_of, socket_option
from app.server.changes.script import (
    ChangeFailedError,
    ChangeRefusedError,
    ConflictError,
    ConsentNeededError,
    ServerChange,
    here_document,
    library,
    new_change_id,
    set_arm,
    undo_command,
)
from app.server.changes.setting import ChangeableSetting, Ways
from app.server.probe import server_facts
from app.trial.change_journal import begin_change, restore_entry
from app.trial.restored_change import restore_change, restored_text
from forms.tuning.smb_conf import spelling
from forms.tuning.trial_rules import SambaKnows
from storage.changes import ChangeKind, ChangeState, JournalEntry
from storage.notebook import Notebook
from storage.records import Target
from tests.reliability.disks import small_disk
from tests.reliability.layouts import SMB_CONF, ChangedServer, servers
from tests.servers.broken_values import BROKEN
from tests.servers.process import program, require_root
from tests.servers.smbd import Smbd
from tests.servers.sshd import Sshd

pytestmark = pytest.mark.xdist_group("sshd")
LONG = pytest.mark.long

TARGET = Target(protocol="smb", host="127.0.0.1", port=445, share="bench", path="x")


@pytest.fixture(scope="module")
def samba() -> Iterator[Smbd]:
    found = Smbd()
    found.conf = found.root / "Bob's server" / "smb.conf"
    found.conf.parent.mkdir()
    try:
        found.start()
        yield found
    finally:
        found.stop()


def state(samba: Smbd) -> dict[str, tuple[str, int, int, int, int]]:
    """Every file beside smb.conf: content, mode, owner and time."""
    found = {}
    for path in samba.conf.parent.iterdir():
        if path.is_file() and path.name != "output.txt":
            about = path.stat()
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            found[path.name] = (content, about.st_mode, about.st_uid, about.st_gid, about.st_mtime_ns)
    return found


def setting(
    samba: Smbd, name: str, *values: str, ssh: str | None = None, accepted: tuple[str, ...] = ()
) -> ChangeableSetting:
    return samba_setting(name, values, samba.target("x"), Ways(ssh=ssh, smb_conf=str(samba.conf), accepted=accepted))


def printed_by_testparm(conf: Path) -> str:
    words = [program("testparm"), "-s", "--parameter-name=aio read size", "--section-name=bench", str(conf)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def effective(samba: Smbd, name: str, share: str | None = None) -> str:
    words = [program("testparm"), "-s", f"--parameter-name={name}", *([f"--section-name={share}"] if share else [])]
    return subprocess.run([*words, str(samba.conf)], capture_output=True, text=True, check=True).stdout.strip()


@dataclass
class Begun:
    """A change that stands."""

    change: ServerChange
    entry: JournalEntry
    setting: ChangeableSetting


def begun(found: ChangeableSetting, notebook: Notebook) -> Begun:
    change = found.plan(new_change_id(), found.values)
    return Begun(change, begin_change(change, found, "trial of it", notebook), found)


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Notebook]:
    with Notebook(tmp_path / "notebook.db") as found:
        yield found


def through_all(samba: Smbd, notebook: Notebook, ssh: str | None) -> None:
    """Both arms set and proven, and everything put back."""
    before = state(samba)
    found = begun(setting(samba, "strict sync", "no", ssh=ssh, accepted=("strict sync",)), notebook)
    assert found.setting.section == "[bench]"
    assert found.setting.previous == "Yes"
    assert (samba.conf.parent / UNDO).stat().st_mode & 0o777 == 0o600
    for arm, value in ((1, "No"), (0, "Yes"), (1, "No")):
        answer = set_arm(found.change, arm, ssh)
        assert found.setting.effective(answer) == value
        assert "reloaded" in answer.sections
        assert effective(samba, "strict sync", "bench") == value
    assert "strict sync = no" in (samba.conf.parent / DROP_IN).read_text()
    assert (samba.conf.parent / DROP_IN).stat().st_mode & 0o777 == 0o644
    done = restore_change(found.entry, notebook)
    assert (done.effective, done.reloaded, done.same_configuration) == ("Yes", True, True)
    assert state(samba) == before
    assert notebook.abandoned_changes() == notebook.journal() == [] or notebook.journal()[0].ended_at


def test_a_change_here_is_proven_and_put_back_byte_for_byte(samba: Smbd, notebook: Notebook):
    through_all(samba, notebook, None)


@pytest.mark.long
@pytest.mark.usefixtures("through")
def test_a_change_through_ssh_is_as_one_here(samba: Smbd, notebook: Notebook):
    through_all(samba, notebook, "fileserver")


@pytest.mark.varied
@pytest.mark.parametrize(("folder", "is_included"), [("a blank", True), ("a\ttab", True), ("two  blanks", False)])
def test_a_path_that_samba_does_not_include_is_refused(samba: Smbd, folder: str, is_included: bool):
    conf = samba.root / folder / "smb.conf"
    conf.parent.mkdir()
    conf.write_bytes(samba.conf.read_bytes())
    with nullcontext() if is_included else pytest.raises(ChangeRefusedError, match="several blanks in a row"):
        find_place("aio read size", samba.share, None, str(conf))
    assert [one.name for one in conf.parent.iterdir()] == ["smb.conf"]
    drop_in = conf.with_name(DROP_IN)
    drop_in.write_text("[bench]\n    aio read size = 4711\n")
    conf.write_text(f"{samba.conf.read_text()}\n[global]\n    include = {drop_in}\n")
    assert (printed_by_testparm(conf) == "4711") is is_included


def test_the_journal_is_closed_once_everything_is_back(samba: Smbd, notebook: Notebook):
    found = begun(setting(samba, "server signing", "mandatory"), notebook)
    (entry,) = notebook.journal()
    assert entry == found.entry
    assert entry.at_work
    assert "server signing = mandatory" in entry.undo_script
    restore_entry(entry, notebook)
    assert [one.state.value for one in notebook.journal()] == ["undone"]


@pytest.mark.long
def test_broken_values_are_refused_before_anything_is_written(samba: Smbd):
    """Of each that our rules let pass, testparm on a copy would have to say no: here they all are refused by one."""
    before, log = state(samba), (samba.private / "log.smbd").read_bytes()
    place = find_place("strict sync", samba.share, None, str(samba.conf))
    for name, value, section in BROKEN:
        with pytest.raises(ChangeRefusedError, match="nothing was written"):
            check_value(replace(place, name=spelling(name).name, section=section), value)
    for name, value in (("strict synk", "no"), ("strict sync", "maybe"), ("vfs objects", "nosuchmodule")):
        with pytest.raises(ChangeRefusedError):
            setting(samba, name, value, accepted=(name,))
    assert state(samba) == before
    assert (samba.private / "log.smbd").read_bytes() == log


@pytest.mark.varied
@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("strict sync", "maybe", "testparm says"),
        ("strict synk", "no", "Unknown parameter"),
        ("aio read size", "banana", "testparm says"),
        ("server signing", "mandatory", ""),
    ],
)
def test_testparm_is_asked_on_a_copy(samba: Smbd, name: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch):
    """What only testparm refuses, with our own rules out of its way."""
    before = state(samba)
    monkeypatch.setattr("forms.tuning.trial_rules.refusals", lambda *_: iter(()))
    place = replace(find_place("log level", samba.share, None, str(samba.conf)), name=name)
    if said:
        with pytest.raises(ChangeRefusedError, match=said):
            check_value(place, value)
    else:
        check_value(place, value)
    assert state(samba) == before


@pytest.mark.long
def test_a_risk_is_named_and_must_be_accepted(samba: Smbd):
    with pytest.raises(ConsentNeededError, match="accept it, or leave it") as refused:
        setting(samba, "strict sync", "no")
    assert (refused.value.risk_of, refused.value.options) == ("strict sync", "--accept-risk 'strict sync'")
    assert setting(samba, "strict sync", "no", accepted=("Strict Sync",)).risks
    assert setting(samba, "strict sync", "yes").risks == (), "it is that already"


@pytest.mark.parametrize("name", ["SO_SNDBUF", "socket options: SO_SNDBUF"])
def test_a_socket_option_by_itself_or_as_the_catalogue_names_it_keeps_the_others(samba: Smbd, name: str):
    found = setting(samba, name, "64K", "1M")
    assert found.values == ("TCP_NODELAY SO_SNDBUF=65536", "TCP_NODELAY SO_SNDBUF=1048576")


def test_a_name_alone_tries_the_other_values_of_the_catalogue(samba: Smbd):
    assert setting(samba, "server multi channel support").values == ("no",)


def test_what_somebody_else_wrote_meanwhile_is_shown_and_left(samba: Smbd, notebook: Notebook):
    before = samba.conf.read_bytes(), samba.conf.stat()
    found = begun(setting(samba, "server signing", "mandatory"), notebook)
    changed = samba.conf.read_bytes() + b"# mine\n"
    samba.conf.write_bytes(changed)
    try:
        with pytest.raises(ConflictError) as told:
            restore_entry(found.entry, notebook)
        assert list(told.value.now) == [str(samba.conf)]
        assert "# mine" in told.value.now[str(samba.conf)]
        assert samba.conf.read_bytes() == changed
        assert (samba.conf.parent / DROP_IN).read_bytes() == b"", (
            "smb.conf still includes it: it stays, and sets nothing"
        )
        assert effective(samba, "server signing") == "default"
        assert [one.id for one in notebook.abandoned_changes()] == [found.entry.id], (
            "for `restore`, while this process goes on"
        )
        by_hand = subprocess.run(["sh", str(samba.conf.parent / UNDO)], capture_output=True, text=True, check=False)
        assert by_hand.returncode == 3
        assert "somebody else changed" in by_hand.stdout
    finally:
        samba.conf.write_bytes(changed.removesuffix(b"# mine\n"))
    restore_entry(found.entry, notebook)
    assert samba.conf.read_bytes() == before[0]
    assert samba.conf.stat().st_mtime_ns == before[1].st_mtime_ns


@pytest.mark.long
def test_the_undo_script_works_by_hand_and_again(samba: Smbd, notebook: Notebook):
    before = state(samba)
    found = begun(setting(samba, "server signing", "mandatory"), notebook)
    set_arm(found.change, 1, None)
    assert effective(samba, "server signing") == "required"
    subprocess.run(undo_command(str(samba.conf.parent / UNDO)), shell=True, check=True, capture_output=True)
    assert state(samba) == before
    done = restore_change(found.entry, notebook)
    assert restored_text(done) == "server signing on this machine is default again, as before", (
        "smbd took it in by hand"
    )
    assert state(samba) == before
    with pytest.raises(ChangeFailedError, match="restored meanwhile"):
        set_arm(found.change, 1, None)
    assert state(samba) == before


@pytest.fixture(scope="module")
def layouts() -> Iterator[dict[str, ChangedServer]]:
    with servers(SMB_CONF) as found:
        yield found


@pytest.mark.varied
@pytest.mark.parametrize("kind", [*SMB_CONF[:4], *(pytest.param(kind, marks=LONG) for kind in SMB_CONF[4:])])
def test_a_file_keeps_all_that_it_has(kind: str, layouts: dict[str, ChangedServer], notebook: Notebook):
    """Owner, mode, ACL, attributes and time of the real file, at every moment, also behind a link."""
    server = layouts[kind]
    before, real = server.state(), (server.conf or Path()).resolve()
    made = begun(samba_setting(server.name, ["0"], TARGET, Ways(smb_conf=str(server.conf))), notebook)
    for arm, value in ((1, "0"), (0, "1")):
        assert made.setting.effective(set_arm(made.change, arm, None)) == value
        now, then = server.state()[str(real)], before[str(real)]
        assert isinstance(now, tuple)
        assert isinstance(then, tuple)
        assert now[1:] == then[1:]
    restore_entry(made.entry, notebook)
    assert server.state() == before


def test_the_copy_that_replaces_a_file_is_as_private_as_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    require_root("give a file to another user")
    seen = tmp_path / "seen"
    (tmp_path / "base64").write_text(
        f'#!/bin/sh\nstat -c "%a %u" "$FILE.sharebench-new" >{seen}\nexec /usr/bin/base64 "$@"\n'
    )
    (tmp_path / "base64").chmod(0o755)
    file = tmp_path / "smb.conf"
    file.write_text("secret")
    file.chmod(0o600)
    os.chown(file, 1, 1)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    text = f"{library()}\nwrite_file {file} {here_document(b'other')}\n"
    subprocess.run(["sh", "-c", text], check=True, env=os.environ | {"FILE": str(file)})
    assert (seen.read_text(), file.read_text()) == ("600 1\n", "other")


@pytest.mark.varied(what=2)
@pytest.mark.parametrize(
    ("what", "mode"),
    [("smb.conf", 0o666), ("smb.conf", 0o602), ("link", 0o646), ("folder", 0o757), ("drop-in", 0o666)],
)
def test_a_configuration_that_every_user_may_write_to_is_refused(what: str, mode: int, tmp_path: Path, samba: Smbd):
    """It is named whatever is open: the file, where a link leads, a folder above it, or our drop-in."""
    conf = tmp_path / "etc" / "smb.conf"
    conf.parent.mkdir()
    open_one = {"folder": conf.parent, "link": tmp_path / "real", "drop-in": conf.with_name(DROP_IN)}.get(what, conf)
    if what == "link":
        open_one.write_bytes(samba.conf.read_bytes())
        conf.symlink_to(open_one)
    else:
        conf.write_bytes(samba.conf.read_bytes())
    if what == "drop-in":
        open_one.touch()
        conf.write_text(f"{conf.read_text()}[global]\n    include = {open_one}\n")
    before = open_one.stat().st_mode
    open_one.chmod(mode & ~0o002)
    assert samba_setting("aio read size", ["0"], TARGET, Ways(smb_conf=str(conf))).values == ("0",)
    open_one.chmod(mode)
    named = conf if what == "link" else open_one
    with pytest.raises(
        ChangeRefusedError, match=f"every user of the server may write to {named}, .*nothing was written"
    ):
        samba_setting("aio read size", ["0"], TARGET, Ways(smb_conf=str(conf)))
    facts = server_facts(TARGET, smb_conf=str(conf)).facts
    assert str(named) in str(facts["smb.conf.writable_by_all"]).splitlines()
    open_one.chmod(before)


def test_what_everybody_may_write_to_by_now_is_restored_and_told(samba: Smbd, notebook: Notebook):
    found = begun(setting(samba, "server signing", "mandatory"), notebook)
    mode = samba.conf.stat().st_mode
    samba.conf.chmod(0o666)
    try:
        by_hand = subprocess.run(["sh", str(samba.conf.parent / UNDO)], capture_output=True, text=True, check=True)
        assert f"every user of this machine may write to {samba.conf}" in by_hand.stdout
        done = restore_change(found.entry, notebook)
        assert done.writable == (str(samba.conf),)
        assert f"every user of the server may write to {samba.conf}" in restored_text(done)
    finally:
        samba.conf.chmod(mode)


def test_an_edit_by_others_that_has_our_line_no_more_is_left(samba: Smbd, notebook: Notebook):
    before = samba.conf.read_bytes()
    found = begun(setting(samba, "server signing", "mandatory"), notebook)
    edited = before + b"# mine\n"
    samba.conf.write_bytes(edited)
    try:
        restore_entry(found.entry, notebook)
        assert samba.conf.read_bytes() == edited
        assert not list(samba.conf.parent.glob("*sharebench*"))
    finally:
        samba.conf.write_bytes(before)


@pytest.mark.varied
@pytest.mark.parametrize("kib", [8, *(pytest.param(kib, marks=LONG) for kib in (16, 24, 32)), 48])
def test_a_full_disk_leaves_nothing_behind(kib: int, samba: Smbd, notebook: Notebook):
    with small_disk(kib) as disk:
        if disk is None:
            pytest.skip("nobody may mount a disk here")
        conf = disk / "smb.conf"
        try:
            conf.write_bytes(samba.conf.read_bytes())
        except OSError:
            return
        before = conf.read_bytes()
        found = samba_setting("aio read size", ["0"], TARGET, Ways(smb_conf=str(conf)))
        with suppress(ChangeFailedError):
            made = begun(found, notebook)
            set_arm(made.change, 1, None)
            with suppress(OSError), (disk / "filler").open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(512))
            with suppress(ChangeFailedError):
                restore_entry(made.entry, notebook)
            assert found.same(printed_by_testparm(conf), found.previous or ""), "out of effect at least"
            (disk / "filler").unlink()
        for entry in notebook.journal(ChangeState.OPEN):
            restore_entry(entry, notebook)
        assert (sorted(path.name for path in disk.iterdir()), conf.read_bytes()) == (["smb.conf"], before)


def test_no_copy_of_smb_conf_outlives_a_check_that_is_killed(
    samba: Smbd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The check's testparm kills the shell that called it: what would have cleaned up is gone."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    place = find_place("server signing", samba.share, None, str(samba.conf))
    (tmp_path / "testparm").write_text("#!/bin/sh\nkill -9 0\n")
    (tmp_path / "testparm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(ChangeRefusedError):
        check_value(place, "mandatory")
    assert not list((tmp_path / "tmp").iterdir())
    assert not list(Path("/tmp").glob("sharebench-check-*"))


@pytest.mark.long
def test_a_second_trial_is_refused_while_one_stands(samba: Smbd, notebook: Notebook):
    found = begun(setting(samba, "server signing", "mandatory"), notebook)
    with pytest.raises(ChangeRefusedError, match="wait until it has ended"):
        setting(samba, "server multi channel support", "no")
    other = found.setting.plan(new_change_id(), found.setting.values)
    with pytest.raises(ChangeRefusedError):
        server.begin(other, None)
    restore_entry(found.entry, notebook)


def test_a_drop_in_that_is_there_and_included_last_is_kept(samba: Smbd, notebook: Notebook):
    conf = samba.conf.read_bytes()
    drop_in = samba.conf.parent / DROP_IN
    drop_in.write_text("# of the admin\n[global]\n    deadtime = 77")
    samba.conf.write_bytes(conf + f"[global]\n include = {drop_in}\n".encode())
    before = state(samba)
    try:
        found = begun(setting(samba, "server signing", "mandatory"), notebook)
        assert len(found.setting.writes) == 1
        set_arm(found.change, 1, None)
        assert effective(samba, "deadtime") == "77"
        assert effective(samba, "server signing") == "required"
        restore_entry(found.entry, notebook)
        assert state(samba) == before
    finally:
        samba.conf.write_bytes(conf)
        drop_in.unlink()


@pytest.mark.varied
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_script_that_was_cut_off_on_its_way_does_nothing(samba: Smbd, share: float):
    found = setting(samba, "server signing", "mandatory")
    before = state(samba)
    whole = server.steps().begin(found.plan(new_change_id(), found.values))
    subprocess.run(["sh", "-s"], input=whole[: int(share * len(whole))], text=True, check=False, capture_output=True)
    assert state(samba) == before


def test_without_root_it_is_refused_with_what_is_missing(samba: Smbd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "id").write_text("#!/bin/sh\necho 1000\n")
    (tmp_path / "id").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    before = state(samba)
    with pytest.raises(ChangeRefusedError, match="only root"):
        setting(samba, "server signing", "mandatory")
    assert state(samba) == before


@pytest.mark.long
def test_a_share_that_the_registry_holds_is_changed_by_net_conf(make_smbd: Callable[..., Smbd], notebook: Notebook):
    samba = make_smbd()
    head, _, share = samba.conf.read_text().partition("[bench]")
    (samba.conf.parent / "registry.conf").write_text(f"[bench]{share}")
    net = [program("net"), "-s", str(samba.conf), "conf"]
    subprocess.run([*net, "import", str(samba.conf.parent / "registry.conf")], check=True, capture_output=True)
    samba.conf.write_text(f"{head}    include = registry\n")

    def listed() -> str:
        return subprocess.run([*net, "list"], check=True, capture_output=True, text=True).stdout

    before, files = listed(), state(samba)
    found = begun(setting(samba, "strict sync", "no", accepted=("strict sync",)), notebook)
    assert found.setting.kind is ChangeKind.REGISTRY
    assert found.setting.effective(set_arm(found.change, 1, None)) == "No"
    assert "strict sync = no" in listed()
    assert found.setting.effective(set_arm(found.change, 0, None)) == "Yes"
    set_arm(found.change, 1, None)
    restore_entry(found.entry, notebook)
    assert listed() == before
    found = begun(setting(samba, "aio read size", "0"), notebook)
    set_arm(found.change, 1, None)
    subprocess.run([*net, "setparm", "bench", "aio read size", "4096"], check=True, capture_output=True)
    with pytest.raises(ConflictError):
        restore_entry(found.entry, notebook)
    subprocess.run([*net, "setparm", "bench", "aio read size", "0"], check=True, capture_output=True)
    restore_entry(found.entry, notebook)
    assert (listed(), state(samba)) == (before, files)


def test_lines_are_written_with_the_names_that_the_samba_of_the_server_has(samba: Smbd):
    place = find_place("server smb encrypt", "bench", None, str(samba.conf))
    older = replace(place, knows=SambaKnows(for_share=frozenset({"smb encrypt"})))
    lines = [ConfLine(section="bench", name=name, value="x") for name in ("server smb encrypt", "strict sync")]
    written = drop_in_content(older, "0123456789ab", lines).decode()
    assert "    smb encrypt = x\n" in written
    assert "    strict sync = x\n" in written
    assert older.own_name == "smb encrypt"


@pytest.mark.varied
@pytest.mark.parametrize("end", ["comment = its own \\\n", "comment = its own \\", "comment = its own"])
def test_the_last_line_of_smb_conf_is_not_gone_on_with(make_smbd: Callable[..., Smbd], end: str):
    samba = make_smbd()
    samba.conf.write_text(samba.conf.read_text() + end)
    place = find_place("max log size", "bench", None, str(samba.conf))
    samba.conf.write_bytes(with_include(place))
    (samba.conf.parent / DROP_IN).write_bytes(drop_in_content(place, "0123456789ab", []))
    said = subprocess.run([program("testparm"), "-s", str(samba.conf)], check=True, capture_output=True, text=True)
    assert "comment = its own\n" in said.stdout
    assert DROP_IN not in said.stdout.partition("[bench]")[2]


@pytest.mark.long
def test_a_section_that_the_registry_got_by_a_trial_stays_with_what_others_put_there(
    make_smbd: Callable[..., Smbd], notebook: Notebook
):
    samba = make_smbd()
    conf = samba.conf
    plan = replace(find_place("aio read size", "bench", None, str(conf)), section="global", name="max log size")
    net = [program("net"), "-s", str(conf), "conf"]
    for theirs in ("", "deadtime"):
        script = plan_registry("0123456789ab", plan, ["100"]).restore
        subprocess.run([*net, "setparm", "global", "max log size", "100"], check=True, capture_output=True)
        if theirs:
            subprocess.run([*net, "setparm", "global", theirs, "7"], check=True, capture_output=True)
        subprocess.run(["sh", "-c", script], check=True)
        left = subprocess.run([*net, "list"], check=True, capture_output=True, text=True).stdout
        assert left.split() == (["[global]", theirs, "=", "7"] if theirs else [])


def test_another_machine_is_never_restored(samba: Smbd, notebook: Notebook):
    found = begun(setting(samba, "server signing", "mandatory"), notebook)
    with pytest.raises(ChangeFailedError, match="the way there by ssh"):
        restore_change(replace(found.entry, machine="other 1234"), notebook)
    restore_change(found.entry, notebook)


@pytest.mark.long
def test_a_server_that_cannot_be_reached_leaves_the_journal_open(samba: Smbd, notebook: Notebook, through: Sshd):
    before = state(samba)
    found = begun(setting(samba, "server signing", "mandatory", ssh="fileserver"), notebook)
    allowed = through.root / "authorized_keys"
    kept = allowed.read_text()
    allowed.write_text("")
    try:
        with pytest.raises(ChangeFailedError, match=re.escape(undo_command(f"{samba.conf.parent}/{UNDO}"))):
            restore_change(found.entry, notebook)
        with pytest.raises(ChangeFailedError):
            restore_entry(found.entry, notebook)
        assert notebook.journal()[0].state.value == "open"
    finally:
        allowed.write_text(kept)
    restore_change(found.entry, notebook)
    assert state(samba) == before


def test_a_name_that_says_the_opposite_stands_for_the_opposite_value(samba: Smbd) -> None:
    with pytest.raises(ChangeRefusedError, match=r"^read only = yes is refused"):
        setting(samba, "writeable", "no")


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("SO_SNDBUF", "SO_SNDBUF"),
        ("socket options: SO_SNDBUF", "SO_SNDBUF"),
        ("Socket Options : so_rcvbuf", "SO_RCVBUF"),
        ("vfs objects: SO_SNDBUF", None),
        ("socket options: streams", None),
    ],
)
def test_a_socket_option_is_found_by_its_name_or_that_of_its_entry(name: str, option: str | None):
    assert socket_option(name) == option


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        ("vfs objects: recycle", "vfs objects"),
        ("VFS objects: recycle", "VFS objects"),
        ("vfs objects: nothing of the catalogue", "vfs objects: nothing of the catalogue"),
        ("fruit:metadata", "fruit:metadata"),
        ("strict sync", "strict sync"),
        ("so_sndbuf", "socket options"),
    ],
)
def test_a_name_of_the_catalogue_means_its_parameter(name: str, parameter: str):
    assert parameter_of(name) == parameter
