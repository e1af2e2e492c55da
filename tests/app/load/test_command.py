"""``sharebench load`` against a real smbd: the points, and each way in which it can go wrong."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.base.errors import UsageError
from app.load.engine_process import EngineProcess
from app.load.events import LoadEnded, LoadPlan, PhaseBegan, WorkersReady
from app.load.scenario import find_scenario
from app.load.spec import check_limits
from app.recording.process import TimeLimit
from storage.load.records import LoadChoices, LoadPoint, PointStatus
from storage.notebook import Notebook
from storage.records import format_target
from tests.command_line import ROOT, Inside
from tests.servers.smbd import Smbd
from tests.servers.sshd import Sshd
from tests.waiting import HANG_SECONDS, wait_for

SHORT = ("--files", "60", "--settle", "0.2", "--ramp", "100", "--processes", "1")


@pytest.fixture
def sharebench(tmp_path: Path, smbd: Smbd) -> Inside:
    return Inside(tmp_path / "notebook.db", password=smbd.password)


def folder_of(smbd: Smbd, name: str) -> Path:
    """A folder on the share that the user may write."""
    folder = smbd.folder / name
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)
    return folder


def url_of(smbd: Smbd, name: str) -> str:
    folder_of(smbd, name)
    return f"{format_target(smbd.target())}/{name}"


def is_sound(point: dict[str, Any]) -> None:
    """A busy machine may make the generator late; its numbers fit together all the same."""
    assert point["status"] in {"valid", "generator"}, point["reason"]
    assert point["connected"] == point["users"]
    assert point["errors"] == {}
    assert abs(point["little_percent"]) < 1
    times = [each for each in point["response_seconds"].values() if each is not None]
    assert times == sorted(times), "p50, p95, p99, the longest"


@pytest.mark.long
def test_points_with_the_servers_side_in_the_notebook_and_nothing_left(smbd: Smbd, sharebench: Inside):
    url = url_of(smbd, "points")
    load = sharebench.json(
        "load",
        url,
        "--users",
        "2,8",
        "--duration",
        "3",
        *SHORT,
        "--processes",
        "2",
        "--sizes",
        "4K:2,96K:1",
        "--label",
        "first",
        "--json",
    )
    assert load["schema"] == "sharebench/load/1"
    assert load["status"] == "complete"
    assert [point["users"] for point in load["points"]] == [2, 8]
    for point in load["points"]:
        is_sound(point)
        assert abs(point["reads"] - 0.8 * point["requests"]) <= point["users"], (
            "each user's share holds over any stretch"
        )
    servers = [point["server"] for point in load["points"] if point["server"]]
    if servers:  # too few samples where it is busy
        assert max(server["smbd_uss_bytes"] or 0 for server in servers) > 1_000_000
        assert max(server["cpu_percent"]["smbd"]["mean"] for server in servers) > 0
    assert all(point["requests"] >= point["users"] for point in load["points"])
    assert list((smbd.folder / "points").iterdir()) == []

    inside = Inside(sharebench.db)
    assert "first" in inside("list").stdout
    assert "Load redpaper" in inside("show", "last-load").stdout
    assert inside.json("show", load["id"], "--json") == load
    exported = sharebench.db.parent / "load.json"
    assert inside("export", load["id"], "-o", str(exported)).returncode == 0
    other = Inside(sharebench.db.parent / "other.db")
    assert other("import", str(exported)).stdout.strip() == load["id"]
    assert other.json("import", str(exported), "--json") == {"imported": [], "already_there": [load["id"]]}
    assert other("baseline", "set", "before", load["id"]).returncode == 0
    assert other("compare", "before", load["id"]).returncode == 3
    assert other("note", load["id"], "a word").returncode == 0
    assert "a word" in other("show", "before").stdout
    assert other("delete", load["id"], "--yes").returncode == 0
    assert "the notebook is empty" in other("list").stderr


@pytest.mark.long
@pytest.mark.parametrize("scenario", ["office", "idle"])
def test_other_scenarios(smbd: Smbd, sharebench: Inside, scenario: str):
    url = url_of(smbd, scenario)
    more = () if scenario == "idle" else ("--think", "0.02", "--sizes", "16K")
    load = sharebench.json(
        "load", url, "--scenario", scenario, "--users", "6", "--duration", "1", *SHORT, *more, "--json"
    )
    (point,) = load["points"]
    assert point["connected"] == 6
    assert point["errors"] == {}
    if scenario == "office":
        is_sound(point)
        assert point["operations"].keys() == {"list", "query", "read-parts", "save", "copy-in", "copy-out"}
    assert list((smbd.folder / scenario).iterdir()) == []


def test_what_is_wrong_is_said_before_anything_begins(smbd: Smbd, sharebench: Inside, tmp_path: Path):
    inside = Inside(sharebench.db)
    smbd.make_file("a-file.bin", b"x")
    mine = tmp_path / "mine.toml"
    mine.write_text('name = "mine"\nfiles = "many"\n')
    url = format_target(smbd.target())
    for arguments, said in (
        ((), "name a TARGET"),
        ((url, "--scenario", "nothing"), "take redpaper"),
        ((url, "--scenario", str(mine)), "line 2"),
        ((url, "--users", "5000000"), "--users"),
        ((url, "--scenario", str(tmp_path / "gone.toml")), "cannot be read: No such file"),
        ((url, "--scenario", "/dev/null"), "line 1: name"),
        ((url, "--reuse-files", "../others"), "that --keep-files left"),
        ((f"smb://{smbd.host}:{smbd.port}",), "name the folder"),
        (("iperf3://nas",), "name the folder"),
        ((url, "--by-size", "--find-capacity"), "--by-size"),
        ((url, "--resume", "abc"), "leave targets out"),
    ):
        assert said in inside.fails(2, "load", *arguments)
    of_file = sharebench("load", f"{url}/a-file.bin", *SHORT)
    assert of_file.returncode == 4
    assert re.fullmatch("sharebench: .*a-file.bin is a file; name the folder to work in\n", of_file.stderr)
    assert "gone: there is no such folder" in sharebench.fails(4, "load", f"{url}/gone", *SHORT)
    wrong = Inside(sharebench.db, password="wrong")
    assert "refused the login" in wrong.fails(4, "load", url_of(smbd, "refused"), *SHORT)
    assert "the notebook is empty" in inside("list").stderr


@pytest.mark.long
def test_a_share_without_room_is_told_with_the_number(make_smbd, small_disk: Path, tmp_path: Path):
    server = make_smbd(share_options={"path": str(small_disk)})
    small_disk.chmod(0o777)
    sharebench = Inside(tmp_path / "notebook.db", password=server.password)
    said = sharebench.fails(4, "load", format_target(server.target()), *SHORT, "--sizes", "1M")
    assert "66 MB" in said
    assert "are free" in said
    assert list(small_disk.iterdir()) == []


def worker_of(load: Any) -> psutil.Process:
    """A worker process of a running load, once it is there."""

    def found() -> psutil.Process | None:
        for child in psutil.Process(load.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):  # it may end while it is looked at
                if "worker" in child.cmdline():
                    return child
        return None

    worker = wait_for(found)
    assert worker
    return worker


def wait_for_user(worker: psutil.Process, smbd: Smbd) -> None:
    """Until the worker has a user at the server."""
    wait_for(lambda: any(each.raddr and each.raddr.port == smbd.port for each in worker.net_connections("tcp")))


@pytest.mark.long
def test_a_killed_worker_fails_that_point_only_and_resume_goes_on(smbd: Smbd, sharebench: Inside):
    load = sharebench.start(
        "load", url_of(smbd, "killed"), "--users", "2,3", "--duration", "1", *SHORT, "--sizes", "4K", "--json"
    )
    worker = worker_of(load)
    wait_for_user(worker, smbd)
    worker.kill()
    out, err = load.communicate(timeout=HANG_SECONDS)
    assert load.returncode == 0, err
    document = json.loads(out)
    # On a busy machine the first may be over when the worker has ended.
    (failed,) = (point for point in document["points"] if point["status"] == "failed")
    assert "signal 9" in failed["reason"]
    (other,) = (point for point in document["points"] if point["status"] != "failed")
    is_sound(other)
    assert list((smbd.folder / "killed").iterdir()) == []


def a_later_point_and_a_failed_one(db: Path, load_id: str) -> LoadPoint:
    """Have 3 users have failed, and 4 been measured after them: the point of 4."""
    with Notebook(db) as notebook:
        load = notebook.load(load_id)
        assert load is not None
        notebook.update_load(replace(load, choices=replace(load.choices, users=(2, 3, 4))))
        later = replace(load.points[0], number=3, users=4)
        notebook.put_point(load_id, replace(load.points[0], number=2, users=3, status=PointStatus.FAILED, reason="x"))
        notebook.put_point(load_id, later)
    return later


@pytest.mark.long
def test_ctrl_c_keeps_finished_points_leaves_nothing_and_resume_does_the_rest(smbd: Smbd, sharebench: Inside):
    load = sharebench.start(
        "load", url_of(smbd, "cancelled"), "--users", "2,3", "--duration", "3", *SHORT, "--sizes", "4K"
    )
    assert load.stderr is not None
    expected, line = load.stderr.readline(), load.stderr.readline()
    files = "Creates 60 files (about 1 s with their removal)"
    assert expected == f"sharebench: {files}, then measures 2 load points of 3 s each: about 7 s in all.\n"
    assert line.startswith("sharebench: 2 users:"), line
    os.kill(load.pid, signal.SIGINT)
    _out, err = load.communicate(timeout=HANG_SECONDS)
    assert load.returncode == 130, err
    assert list((smbd.folder / "cancelled").iterdir()) == []
    document = Inside(sharebench.db).json("show", "last-load", "--json")
    assert document["status"] == "interrupted"
    assert [point["users"] for point in document["points"]] == [2]
    later = a_later_point_and_a_failed_one(sharebench.db, document["id"])
    resumed = sharebench.json("load", "--resume", document["id"], "--json")
    assert resumed["status"] == "complete"
    assert [(point["number"], point["users"]) for point in resumed["points"]] == [(1, 2), (2, 3), (3, 4)]
    is_sound(resumed["points"][1])
    assert resumed["points"][2]["requests"] == later.requests
    assert Inside(sharebench.db).json("show", "last-load", "--json")["points"] == resumed["points"]
    assert "is complete" in sharebench.fails(2, "load", "--resume", document["id"])


@pytest.mark.long
def test_within_a_time_a_load_is_complete_with_the_points_that_fit(
    smbd: Smbd, sharebench: Inside, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(TimeLimit, "has_time_for_another", lambda limit: not limit._longest)
    words = ("--users", "2,3,4", "--duration", "1", *SHORT, "--sizes", "4K", "--within", "30", "--json")
    done = sharebench("load", url_of(smbd, "within"), *words)
    assert done.returncode == 0, done.stderr
    assert "no further point would end in time (--within 30)" in done.stderr
    document = json.loads(done.stdout)
    assert (document["status"], [point["users"] for point in document["points"]]) == ("complete", [2])
    assert list((smbd.folder / "within").iterdir()) == []


def put_on_path(sshd: Sshd, version: str = "") -> None:
    """Have the far machine find a sharebench: this one, or one that says it is of another version."""
    script = sshd.path / "sharebench"
    told = json.dumps({"version": version, "processes": 1})
    does = f"echo '{told}'; read order" if version else f'exec taskset -c 0 "{sys.executable}" -m app "$@"'
    script.write_text(f"#!/bin/sh\ncd '{ROOT}'\n{does}\n")
    script.chmod(0o755)


@pytest.mark.long
def test_workers_on_another_machine_through_ssh(smbd: Smbd, sharebench: Inside, through: Sshd):
    put_on_path(through)
    url = url_of(smbd, "elsewhere")
    load = sharebench.json(
        "load", url, "--users", "6", "--duration", "1", *SHORT, "--sizes", "4K", "--workers-on",
        "fileserver", "--json",
    )  # fmt: skip
    (point,) = load["points"]
    is_sound(point)
    here, there = load["workers"]
    assert (here["processes"], there["host"]) == (1, "fileserver")
    assert len(point["generator"]["cpu_percent"]) == 1 + there["processes"]
    assert list((smbd.folder / "elsewhere").iterdir()) == []


@pytest.mark.long
def test_a_worker_of_another_version_is_refused_by_name(smbd: Smbd, sharebench: Inside, through: Sshd):
    url = url_of(smbd, "refused")
    (through.path / "sharebench").unlink(missing_ok=True)
    assert "no workers on fileserver" in sharebench.fails(
        4, "load", url, *SHORT, "--duration", "1", "--workers-on", "fileserver"
    )
    put_on_path(through, version="0.0.9")
    said = sharebench.fails(4, "load", url, *SHORT, "--duration", "1", "--workers-on", "fileserver")
    assert "fileserver: it has sharebench '0.0.9'" in said
    assert list((smbd.folder / "refused").iterdir()) == []


def test_the_search_for_capacity_ends_where_this_machine_does(
    smbd: Smbd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    asked: list[tuple[int, ...]] = []

    def check(choices: LoadChoices, _targets: object) -> None:
        asked.append(choices.users)
        if len(asked) > 1:
            raise UsageError("this machine has one port")

    monkeypatch.setattr("app.load.record.spec.check_limits", check)
    done = Inside(tmp_path / "notebook.db", password=smbd.password)(
        "load", url_of(smbd, "search"), "--find-capacity", "--duration", "1", *SHORT, "--sizes", "4K"
    )
    assert "the search for capacity ends here: this machine has one port" in done.stderr
    assert asked == [(), (25,)]


def test_cleaning_up_is_not_cancelled_and_users_are_no_fewer_than_files_that_may_be_open(smbd: Smbd):
    folder_of(smbd, "cleaned")
    plan = LoadPlan(
        targets=(replace(smbd.target(), path="cleaned"),), secrets=smbd.secrets(),
        scenario=replace(find_scenario("small"), files=600), folder=".sharebench-load-0123456789ab",
    )  # fmt: skip
    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    ours = max(int(file.name) for file in Path("/proc/self/fd").iterdir())  # earlier tests may have left files open
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(usual[1], max(256, ours + 64)), usual[1]))
    try:
        engine = EngineProcess(plan)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, usual)
    with engine:
        assert isinstance(list(engine.ready())[-1], WorkersReady)
        assert resource.prlimit(engine._process.pid, resource.RLIMIT_NOFILE) == (usual[1], usual[1])
        for event in engine.finish():
            if isinstance(event, PhaseBegan):
                engine.cancel()
    assert engine.ended == LoadEnded()
    assert list((smbd.folder / "cleaned").iterdir()) == []


@pytest.mark.long
def test_a_server_that_dies_fails_its_point_and_the_load_goes_on_when_it_is_back(make_smbd, tmp_path: Path):
    server = make_smbd()
    sharebench = Inside(tmp_path / "notebook.db", password=server.password)
    load = sharebench.start(
        "load", format_target(server.target()), "--users", "2,3,4", "--duration", "1", *SHORT, "--sizes", "4K"
    )
    assert load.stderr is not None
    expected, line = load.stderr.readline(), load.stderr.readline()
    assert expected.startswith(
        "sharebench: Creates 60 files (about 1 s with their removal), then measures 3 load points"
    )
    assert line.startswith("sharebench: 2 users:"), line
    server.kill()
    _out, err = load.communicate(timeout=HANG_SECONDS)
    failed = re.search(r"([34]) users: [0-3] of \1 users had a session", err)
    assert failed, "it may die when the three are at work already"
    assert "users:" not in err[failed.end() :], "no point is tried after that"
    assert load.returncode == 4, err
    assert re.search(r"[12] points? (is|are) kept: `sharebench load --resume", err)
    inside = Inside(sharebench.db)
    shown = " ".join(inside("show", "last-load").stdout.split())
    assert "may still be there: delete it" in shown
    assert "Status: failed" in shown
    first = inside.json("show", "last-load", "--json")["points"][0]
    server.start()
    resumed = sharebench.json("load", "--resume", "last", "--json")
    assert resumed["points"][0] == first
    for point in resumed["points"][1:]:
        is_sound(point)
    assert [point["users"] for point in resumed["points"]] == [2, 3, 4]
    assert list(server.folder.iterdir()) == []


@pytest.mark.long
def test_a_folder_that_could_not_be_removed_is_named_and_is_no_success(smbd: Smbd, tmp_path: Path):
    inside = Inside(tmp_path / "notebook.db", password=smbd.password)
    place = folder_of(smbd, "kept")

    def put_a_file_there() -> None:
        wait_for(lambda: bool(list(place.glob(".sharebench-load-*"))))
        (next(place.glob(".sharebench-load-*")) / "precious.doc").touch()

    somebody = threading.Thread(target=put_a_file_there)
    somebody.start()
    done = inside("load", url_of(smbd, "kept"), "--users", "1", "--duration", "1", *SHORT, "--sizes", "4K")
    somebody.join()
    folder = next(place.glob(".sharebench-load-*"))
    assert done.returncode == 4
    assert f"{folder.name} could not be removed" in done.stderr.splitlines()[-1]
    assert "sharebench clean" in done.stderr.splitlines()[-1]
    assert "+" in inside("list").stdout.splitlines()[-1].split()[4]
    assert folder.name in inside("delete", "last-load").stderr
    shutil.rmtree(folder)


@pytest.mark.parametrize(("allowed", "said"), [(64, "raise the limit"), (65, "take at most 1 users")])
def test_a_limit_of_open_files_names_what_it_leaves(monkeypatch: pytest.MonkeyPatch, allowed: int, said: str):
    monkeypatch.setattr("resource.getrlimit", lambda _what: (allowed, allowed))
    with pytest.raises(UsageError, match=said) as raised:
        check_limits(LoadChoices(users=(2,)), ())
    assert "at most 0" not in str(raised.value)
