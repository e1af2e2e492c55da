"""``sharebench diagnose`` against a real smbd: what it finds, what it stores, and that nothing stays on the share."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from app.base import own_names
from app.clients.smb.files import SMBFiles
from app.diagnosis.bench import BULK
from app.diagnosis.copy_patterns import copy_as
from app.diagnosis.plan import SIZES, Sizes
from app.recording.ceiling import ceiling_key_of
from app.recording.process import TimeLimit
from forms.diagnosis.summary import CopyPattern, patterns
from storage.looks import Effort, StageName, diagnosis_of, recording_of
from storage.notebook import Notebook
from storage.plan import Settings
from storage.records import Ceiling, Command, SeriesStatus, format_target
from tests.command_line import Inside
from tests.servers.smbd import Smbd
from tests.servers.sshd import Sshd
from tests.waiting import HANG_SECONDS, wait_for

TINY = Sizes(
    logins=2, echoes=10, files=8, streams=2, pattern_files=2, entries=(20, 200), asked=5, bulk_bytes=1 << 20, rounds=3,
    long_bytes=4 << 20, stage_seconds=120.0,
)  # fmt: skip


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    for effort in Effort:
        monkeypatch.setitem(SIZES, effort, TINY)


def diagnosed(inside: Inside, smbd: Smbd, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = inside.json("diagnose", format_target(smbd.target()), "--yes", "--json", *words)
    assert list(smbd.folder.glob(".sharebench-diagnose-*")) == [], "everything that was made is removed"
    return found


def refused(inside: Inside, code: int, *words: str) -> str:
    done = inside("diagnose", *words)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    return done.stderr


def test_a_link_that_was_told_is_that_of_the_diagnosis(inside: Inside, smbd: Smbd):
    told = diagnosed(inside, smbd, "--only", "connect", "--link", "2.5G")
    assert told["link_bits_per_second"] == 2.5e9


def test_a_whole_diagnosis_measures_every_stage_and_removes_what_it_made(inside: Inside, smbd: Smbd):
    found = diagnosed(inside, smbd, "--smb-conf", str(smbd.conf), "--label", "monday")
    assert (found["schema"], found["status"], found["label"]) == ("sharebench/diagnosis/1", "complete", "monday")
    assert {stage["name"] for stage in found["stages"]} == set(StageName)
    assert found["audit"]["scope"] == "server"
    figures = {one["key"]: one["value"] for one in found["figures"]}
    assert figures["entries_per_second"] > 0
    (cards,) = (stage["facts"] for stage in found["stages"] if stage["name"] == "cards")
    assert cards["interfaces"] == 1, "the loopback, of which the server names two addresses"
    assert {"first_connect_seconds", "round_trip_seconds", "put_file_seconds", "signed_percent"} <= set(figures)
    for pattern in patterns():
        assert figures[f"{pattern.key}_put_per_second"] > 0
        assert figures[f"{pattern.key}_get_per_second"] > 0
    form = " ".join(inside("show", "last").stdout.split())
    assert "estimated from the requests of the programs" in form
    assert "robocopy /MT:8" in form


def test_the_complaint_that_was_named_is_stored_and_answered_first(inside: Inside, smbd: Smbd):
    found = diagnosed(inside, smbd, "--only", "connect,small-files", "--complaint", "small-files")
    assert found["complaint"] == "small-files"
    assert found["answer"][0] in "✓?!✗"
    assert "mall file" in found["answer"]
    by_key = {figure["key"]: figure for figure in found["figures"]}
    assert by_key["put_file_seconds"]["reference"]["allowed"] > 0
    assert by_key["first_connect_seconds"]["judgement"] == "good"


def test_the_ceiling_of_this_machine_is_taken_from_the_notebook(inside: Inside, smbd: Smbd):
    assert diagnosed(inside, smbd, "--only", "distance")["ceiling_bytes_per_second"] is None
    with Notebook(inside.db) as notebook:
        client = diagnosis_of(notebook.recording("last")).client
        assert client is not None
        key = ceiling_key_of(client, "smb", Command.GET)
        notebook.set_ceiling(Ceiling(key=key, bytes_per_second=2e9, measured_at="2026-01-31T10:00:00.000Z"))
    assert diagnosed(inside, smbd, "--only", "distance")["ceiling_bytes_per_second"] == 2e9


@pytest.mark.long
@pytest.mark.varied(largest=1)
@pytest.mark.parametrize("largest", ["16384", "65536"])
def test_no_stage_asks_for_more_than_the_server_gives(inside: Inside, make_smbd, largest: str):
    options = {"smb2 max read": largest, "smb2 max write": largest, "smb2 max trans": largest}
    found = diagnosed(inside, make_smbd(options), "--only", "distance,small-files,window,folders,protection,cards")
    assert [stage["name"] for stage in found["stages"] if stage["status"] != "complete"] == []
    figures = {figure["key"] for figure in found["figures"]}
    assert {"put_file_seconds", "notify_seconds", "entries_per_second"} <= figures


@pytest.mark.long
def test_where_one_credit_is_granted_folders_are_not_watched(inside: Inside, make_smbd):
    found = diagnosed(inside, make_smbd({"smb2 max credits": "1"}), "--only", "distance,window,folders")
    assert [stage["name"] for stage in found["stages"] if stage["status"] != "complete"] == []
    figures = {figure["key"] for figure in found["figures"]}
    assert "free_space_seconds" in figures
    assert "notify_seconds" not in figures


@pytest.mark.varied
@pytest.mark.parametrize("pattern", patterns(), ids=lambda one: one.key)
def test_a_file_is_copied_whole_by_each_pattern(make_smbd, pattern: CopyPattern):
    smbd: Smbd = make_smbd()
    with closing(SMBFiles(smbd.target(), smbd.secrets(), Settings())) as files:
        files.connect()
        for requests in (pattern.put, pattern.get):
            copy_as(requests, ["one", "two", "three"], 2, memoryview(b"content"), 0, files)
    assert {path.name for path in smbd.folder.iterdir()} == {"one", "three"}, "the other stream has the second"
    found = smbd.folder / "three"
    assert found.read_bytes() == b"content"
    assert (datetime.fromtimestamp(found.stat().st_mtime, UTC).year == 2022) == ("times" in pattern.put)


@pytest.mark.long
def test_bytes_are_counted_for_each_card_of_both_sides(inside: Inside, smbd: Smbd, through: Sshd):
    found = diagnosed(inside, smbd, "--only", "cards", "--server-ssh", "fileserver", "--smb-conf", str(smbd.conf))
    figures = {one["key"]: one["value"] for one in found["figures"]}
    assert figures["card_lo_percent"] > 0, "other tests have links of their own"
    assert figures["server_card_lo_percent"] > 0
    assert "Bytes through the server's network card lo" in {one["name"] for one in found["figures"]}


def test_what_it_creates_is_said_before_and_nothing_is_written_without_consent(inside: Inside, smbd: Smbd):
    target = format_target(smbd.target())
    assert "pass --yes to confirm; nothing was written" in refused(inside, 2, target)
    with Notebook(inside.db) as notebook:
        assert notebook.recordings() == []


def test_what_only_looks_asks_nothing_and_writes_nothing(inside: Inside, smbd: Smbd):
    done = inside("diagnose", format_target(smbd.target()), "--only", "connect")
    assert done.returncode == 0, done.stderr
    assert "Creates" not in done.stderr


def test_an_existing_folder_is_only_read(inside: Inside, make_smbd):
    smbd: Smbd = make_smbd()
    (smbd.folder / "big").mkdir()
    for number in range(30):
        (smbd.folder / "big" / f"file {number}").touch()
    before = {path.name: path.stat().st_mtime_ns for path in (smbd.folder / "big").iterdir()}
    found = inside.json(
        "diagnose", format_target(smbd.target()), "--only", "folders", "--folder", "big", "--json"
    )  # fmt: skip
    (stage,) = found["stages"]
    assert len(stage["samples"]["list_30_seconds"]) == 3
    assert {path.name: path.stat().st_mtime_ns for path in (smbd.folder / "big").iterdir()} == before
    assert [path.name for path in smbd.folder.iterdir()] == ["big"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--only", "cards,conect"], "did you mean connect?"),
        (["--quick", "--thorough"], "contradict each other"),
        (["--only", "cards", "--folder", "big"], "--folder is for the stage folders"),
        (["--complaint", "small-file"], "did you mean small-files?"),
        (["--complaint", "cards", "--only", "connect"], "that --only leaves out"),
    ],
)
def test_what_cannot_be_meant_is_refused(inside: Inside, smbd: Smbd, words: list[str], said: str):
    assert said in refused(inside, 2, format_target(smbd.target()), "--yes", *words)


def test_a_folder_that_is_missing_ends_it_and_stores_nothing(inside: Inside, smbd: Smbd):
    target = format_target(smbd.target("no such folder"))
    assert "there is no such folder" in refused(inside, 4, target, "--yes")
    with Notebook(inside.db) as notebook:
        assert notebook.recordings() == []


def test_a_share_where_no_folder_can_be_made_is_told_so_of_each_stage(inside: Inside, make_smbd):
    smbd: Smbd = make_smbd(share_options={"read only": "yes"})
    stages = "distance,small-files,folders"
    done = inside("diagnose", format_target(smbd.target()), "--only", stages, "--yes", "--json")
    said = json.loads(done.stdout)["error"]
    assert done.returncode == 4
    assert said.startswith("distance, small-files, folders: ")
    assert said.count("denies access") == 1
    assert "no such folder" not in said


def test_an_interrupted_one_is_resumed_where_it_stopped(inside: Inside, smbd: Smbd):
    diagnosed(inside, smbd, "--only", "connect,distance")
    with Notebook(inside.db) as notebook:
        whole = diagnosis_of(notebook.recording("last"))
        half = replace(whole, stages=whole.stages[:1], status=SeriesStatus.INTERRUPTED)
        notebook.update_recording(recording_of(half))
    done = inside("diagnose", "--resume", "last", "--yes")
    assert done.returncode == 0, done.stderr
    with Notebook(inside.db) as notebook:
        again = diagnosis_of(notebook.recording("last"))
    assert again.status is SeriesStatus.COMPLETE
    assert again.stages[0] == whole.stages[0]
    assert [stage.name for stage in again.stages] == [StageName.CONNECT, StageName.DISTANCE]
    assert list(smbd.folder.glob(".sharebench-diagnose-*")) == []


def test_resuming_a_killed_one_removes_what_it_left(inside: Inside, smbd: Smbd):
    diagnosed(inside, smbd, "--only", "distance")
    left = smbd.folder / own_names.new_folder("diagnose")
    left.mkdir()
    left.chmod(0o777)  # as if the user of the share had made it
    (left / BULK).write_bytes(b"left")
    with Notebook(inside.db) as notebook:
        whole = diagnosis_of(notebook.recording("last"))
        killed = replace(whole, stages=(), status=SeriesStatus.INTERRUPTED, leftover=left.name)
        notebook.update_recording(recording_of(killed))
    done = inside("diagnose", "--resume", "last", "--yes")
    assert done.returncode == 0, done.stderr
    assert list(smbd.folder.glob(".sharebench-diagnose-*")) == []
    with Notebook(inside.db) as notebook:
        assert diagnosis_of(notebook.recording("last")).leftover is None


def test_within_a_time_no_further_stage_begins_and_the_rest_is_resumed(
    inside: Inside, smbd: Smbd, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(TimeLimit, "has_time_for_another", lambda limit: not limit._longest)
    words = ("diagnose", format_target(smbd.target()), "--yes", "--only", "connect,distance", "--within", "9")
    done = inside(*words)
    with Notebook(inside.db) as notebook:
        found = diagnosis_of(notebook.recording("last"))
    assert [stage.name for stage in found.stages] == [StageName.CONNECT]
    assert found.error == "time is over (--within 9)"
    last = f"sharebench: time is over (--within 9); `sharebench diagnose --resume {found.id}` completes it"
    assert (done.returncode, done.stderr.splitlines()[-1]) == (130, last)
    assert inside("diagnose", "--resume", "last", "--yes", "--within", "9").returncode == 0
    with Notebook(inside.db) as notebook:
        assert diagnosis_of(notebook.recording("last")).status is SeriesStatus.COMPLETE


@pytest.mark.long
def test_a_cancelled_one_removes_what_it_made_and_keeps_what_it_measured(sharebench, smbd: Smbd):
    """Small pieces of a folder of entries that takes long: the signal comes in the middle."""
    running = sharebench.start("diagnose", format_target(smbd.target()), "--yes", "--only", "connect,folders")
    wait_for(lambda: any(smbd.folder.glob(".sharebench-diagnose-*")))
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=HANG_SECONDS)
    assert running.returncode == 130, said
    assert list(smbd.folder.glob(".sharebench-diagnose-*")) == []
    with Notebook(sharebench.db) as notebook:
        found = diagnosis_of(notebook.recording("last"))
    assert (found.status, found.leftover) == (SeriesStatus.INTERRUPTED, None)
    assert found.stage(StageName.CONNECT)


def test_what_a_kill_leaves_is_named_and_cleaned(sharebench, smbd: Smbd):
    running = sharebench.start("diagnose", format_target(smbd.target()), "--yes", "--only", "folders")
    wait_for(lambda: any(smbd.folder.glob(".sharebench-diagnose-*/d9000/*")))
    with Notebook(sharebench.db) as notebook:
        left = notebook.recording("last", "diagnosis").leftovers
    assert left is not None
    (child,) = (int(line) for line in _children(running.pid))
    os.kill(running.pid, signal.SIGKILL)
    os.kill(child, signal.SIGKILL)
    running.communicate()
    target = format_target(smbd.target())
    assert f"sharebench clean {target}" in sharebench("show", "last").stderr
    assert sharebench("clean", target, "--yes").returncode == 0
    assert list(smbd.folder.glob(".sharebench-diagnose-*")) == []


@pytest.mark.long
def test_how_the_measuring_process_ended_is_told_once(sharebench, smbd: Smbd):
    running = sharebench.start("diagnose", format_target(smbd.target()), "--yes", "--only", "folders,protection")
    wait_for(lambda: any(smbd.folder.glob(".sharebench-diagnose-*/d9000/*")))
    (child,) = (int(line) for line in _children(running.pid))
    os.kill(child, signal.SIGKILL)
    running.communicate()
    assert running.returncode == 4

    with Notebook(sharebench.db) as notebook:
        found = diagnosis_of(notebook.recording("last"))
    first, *later = [stage.error for stage in found.stages if stage.error]
    assert "SIGKILL" in first
    assert later
    assert not [error for error in later if "SIGKILL" in error]
    assert sharebench("clean", format_target(smbd.target()), "--yes").returncode == 0


def _children(pid: int) -> list[str]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:  # noqa: PTH123
        return file.read().split()


def test_files_that_could_not_be_removed_are_named_once(inside: Inside, make_smbd: Callable[..., Smbd]):
    smbd = make_smbd(share_options={"vfs objects": "worm", "worm:grace_period": "0"})
    done = inside("diagnose", format_target(smbd.target()), "--yes", "--json", "--only", "small-files")
    assert list(smbd.folder.glob(".sharebench-diagnose-*"))
    assert done.stderr.count("sharebench clean") == 1, done.stderr
