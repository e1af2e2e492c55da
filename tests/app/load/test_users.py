"""The users of a load and the processes that they live in, without a server."""

import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import gevent
import pytest

from app.base.errors import ConnectionLostError, LoginError
from app.base.messages import line_of
from app.load import worker_processes
from app.load.events import LoadPlan, PointMeasured
from app.load.judgement import load_point
from app.load.scenario import find_scenario
from app.load.scenario_files import Preparation
from app.load.users import LoadUser, LoadUsers
from app.load.worker_figures import SteadyWindow
from app.load.worker_processes import WorkerOrder
from storage.load.records import Histogram, PointStatus, RequestKind, SizeClass, Think
from storage.records import Target
from tests.waiting import HANG_SECONDS


@pytest.mark.parametrize(("processes", "users", "targets"), [(4, 4, 2), (2, 4, 4), (3, 9, 3), (2, 3, 1)])
def test_users_take_the_targets_in_turns_over_all_processes(
    monkeypatch: pytest.MonkeyPatch, processes: int, users: int, targets: int
):
    found = tuple(Target(protocol="smb", host=f"10.0.0.{n}", share="x") for n in range(targets))
    asked: list[Target] = []
    monkeypatch.setattr("app.load.users.registry.make_files", lambda target, *_: asked.append(target))
    plan = LoadPlan(targets=found, scenario=find_scenario("small"))
    of_processes = [LoadUsers(plan, index + 1, processes) for index in range(processes)]
    for number in range(users):
        LoadUser(of_processes[number % processes])
    counts = Counter(asked)
    assert max(counts.values()) - min(counts[target] for target in found) <= users % targets


def test_a_refused_login_is_sent_three_times_and_never_again(monkeypatch: pytest.MonkeyPatch):
    class AsleepError(Exception):
        """The user waits for the end of the load."""

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        if seconds >= 3600:
            raise AsleepError

    waited: list[float] = []
    files = MagicMock()
    files.connect.side_effect = LoginError("refused")
    monkeypatch.setattr("app.load.users.registry.make_files", lambda *_: files)
    monkeypatch.setattr("app.load.users.gevent", SimpleNamespace(sleep=sleep))
    target = Target(protocol="smb", host="nas", share="x")
    users = LoadUsers(LoadPlan(targets=(target,), scenario=find_scenario("small")), 1)
    user = LoadUser(users)
    with pytest.raises(AsleepError):
        user.live()
    assert files.connect.call_count == 3, "more would lock the account"
    assert waited == [1, 2, 3600]
    assert (user.given_up, user.connected, users.given_up) == (True, False, 1)
    for _ in range(2):  # a later point hears nothing of the tries, and why it lacks the user all the same
        users.begin_window()
        figures = users.end_window(cpu_percent=1.0, held_percent=1.0)
        assert (figures.users, figures.connected, figures.absent) == (1, 0, "refused")


def test_a_login_that_is_not_answered_is_why_a_user_is_absent(monkeypatch: pytest.MonkeyPatch):
    now = [100.0]
    monkeypatch.setattr("app.load.users.clock", lambda: now[0])
    files = MagicMock()
    monkeypatch.setattr("app.load.users.registry.make_files", lambda *_: files)
    target = Target(protocol="smb", host="nas", share="x")
    users = LoadUsers(LoadPlan(targets=(target,), scenario=find_scenario("small")), 1)
    user = LoadUser(users)
    users.begin_window()
    now[0] = 136.0
    assert users.end_window(cpu_percent=1.0, held_percent=1.0).absent == "its login has not been answered for 36 s"
    user._connect()
    users.begin_window()
    now[0] = 140.0
    assert users.end_window(cpu_percent=1.0, held_percent=1.0).absent == ""


def test_the_workers_of_another_machine_end_with_the_first_worker_that_dies(monkeypatch: pytest.MonkeyPatch, tmp_path):
    def command(_module: str, *_role: str) -> list[str]:
        return ["sh", "-c", "read -r order; case $order in *'\"index\": 7'*) exec sleep 600 ;; esac"]

    monkeypatch.setattr("app.base.child_process.own_command", command)
    plan = LoadPlan(targets=(Target(protocol="smb", host="h", share="x"),), scenario=find_scenario("small"))
    order = line_of(WorkerOrder(plan=plan, index=7, processes=2, port=1, key=""))
    near = subprocess.Popen(
        ["sh", "-c", f"echo '{order}'; exec sleep 600"],
        stdout=subprocess.PIPE,
        text=True,
    )
    monkeypatch.setattr(worker_processes, "_END_SECONDS", 0.1)
    monkeypatch.setattr(sys, "stdin", near.stdout)
    serving = threading.Thread(target=worker_processes.serve_workers, daemon=True)
    serving.start()
    serving.join(HANG_SECONDS)
    ended = not serving.is_alive()
    near.kill()
    near.communicate()
    serving.join()
    assert ended


def test_files_that_were_kept_are_used_again_without_what_the_last_users_made(tmp_path: Path):
    target = Target(protocol="file", path=str(tmp_path))
    plan = LoadPlan(targets=(target,), scenario=replace(find_scenario("small"), files=1), folder="kept", keep=True)
    Preparation(plan, lambda _event: None).make()
    (tmp_path / "kept/u1001").mkdir()
    (tmp_path / "kept/u1001/document").write_text("x")
    Preparation(replace(plan, reuse=True), lambda _event: None).make()
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["d0000"]


def test_what_a_killed_attempt_left_is_made_anew_on_each_of_several_servers(tmp_path: Path):
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder in folders:
        folder.mkdir()
    targets = tuple(Target(protocol="file", path=str(folder)) for folder in folders)
    plan = LoadPlan(targets=targets, scenario=replace(find_scenario("small"), files=3), folder="left")
    Preparation(plan, lambda _event: None).make()
    files = sorted(path.relative_to(folders[0]) for path in folders[0].rglob("*") if path.is_file())
    for folder in folders:
        (folder / files[0]).unlink()

    resumed = Preparation(replace(plan, leftover=True), lambda _event: None)
    resumed.make()
    for folder in folders:
        assert sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file()) == files
    resumed.remove()
    assert [list(folder.iterdir()) for folder in folders] == [[], []]


class ForgetfulWindow(SteadyWindow):
    """A mutant: it drops every second request and tells a third of the time that the others took."""

    dropped = False

    def count_request(self, kind: RequestKind, due: float, began: float, ended: float) -> None:
        self.dropped = not self.dropped
        if not self.dropped:
            super().count_request(kind, due, began, began + (ended - began) / 3)


@pytest.mark.varied
@pytest.mark.parametrize(
    ("window", "counted_alike", "said"),
    [
        (SteadyWindow, False, None),
        (ForgetfulWindow, False, "answers are not"),
        (ForgetfulWindow, True, "% off the users"),
    ],
)
def test_requests_that_vanish_contradict_the_users(
    monkeypatch: pytest.MonkeyPatch, window: type[SteadyWindow], counted_alike: bool, said: str | None
):
    """Ten users who wait as long as they think, in this process; ``counted_alike``: the answers are forgotten, too."""
    monkeypatch.setattr("app.load.users.registry.make_files", lambda *_: MagicMock())
    monkeypatch.setattr("app.load.users.file_requests.FileRequests.do", lambda *_: gevent.sleep(0.02))
    monkeypatch.setattr("app.load.worker_figures.SteadyWindow", window)
    scenario = replace(find_scenario("redpaper"), think=Think(seconds=0.02))
    users = LoadUsers(LoadPlan(targets=(Target(protocol="smb", host="h", share="x"),), scenario=scenario), 1)
    working = [gevent.spawn(LoadUser(users).live) for _ in range(10)]
    gevent.sleep(0.2)
    users.begin_window()
    began_seconds = time.monotonic()
    gevent.sleep(1.5)
    figures = replace(users.end_window(cpu_percent=1.0, held_percent=1.0), lateness=Histogram(), logins=Histogram())
    ended_seconds = time.monotonic()
    gevent.killall(working)
    if counted_alike:
        figures = replace(figures, answers=figures.requests, pauses=figures.requests)
    measured = PointMeasured(
        point=1, users=10, began_seconds=began_seconds, ended_seconds=ended_seconds, ramp_seconds=0.0,
        workers=(figures,),
    )  # fmt: skip
    # How late a busy machine starts requests, as its lateness above, is not the subject: a schedule makes them all.
    point = load_point(measured, is_paced=True)
    assert (point.status is PointStatus.VALID) == (said is None), point.reason
    assert (said or "") in (point.reason or "")


def test_bytes_end_a_silence_only_for_a_request_that_waited(monkeypatch: pytest.MonkeyPatch):
    """A server that stood still sends bytes first and the rest of the answer after them."""
    now = [100.0]
    monkeypatch.setattr("app.load.users.clock", lambda: now[0])
    monkeypatch.setattr("app.load.users.registry.make_files", lambda *_: MagicMock())
    users = LoadUsers(
        LoadPlan(targets=(Target(protocol="smb", host="h", share="x"),), scenario=find_scenario("small")), 1
    )
    waiting, pausing = LoadUser(users), LoadUser(users)
    users.begin_window()
    assert users.window is not None
    waiting.asked_at, now[0] = 100.5, 102.5
    users.count_moved(4096, 0)
    assert users.window.silent_seconds == 2.0
    waiting.asked_at, pausing.asked_at, now[0] = None, 107.4, 107.5
    users.count_moved(4096, 0)
    assert users.window.silent_seconds == 2.0, "nobody waited while all paused"


SMALL = (SizeClass(size_bytes=4096, share=1),)


class ClosesItsFile:
    """A request that is killed closes its file before it goes, which a connection that was cut refuses."""

    has_handles = False

    def __init__(self, target: Target) -> None:
        self.target = target
        self.cut = False
        self.begun = 0
        self.connected = 0

    def connect(self) -> None:
        self.connected += 1

    def abort(self) -> None:
        self.cut = True

    def close(self) -> None: ...

    def read_file(self, _path: str, _size_bytes: int) -> int:
        self.begun += 1
        try:
            gevent.sleep(HANG_SECONDS)
        finally:
            if self.cut:
                raise ConnectionLostError("cut")
        return 0


def test_a_user_that_is_killed_amid_a_request_leaves_and_does_not_log_in_again(monkeypatch: pytest.MonkeyPatch):
    target = Target(protocol="smb", host="h", share="x", path="")
    files = ClosesItsFile(target)
    monkeypatch.setattr("app.load.users.registry.make_files", lambda *_: files)
    scenario = replace(
        find_scenario("small"), think=Think(seconds=0.0), requests={RequestKind.READ: 1.0}, files=1, sizes=SMALL
    )
    users = LoadUsers(LoadPlan(targets=(target,), scenario=scenario), 1)
    user = LoadUser(users)
    working = gevent.spawn(user.live)
    while not files.begun and not working.dead:
        gevent.sleep(0.01)

    user.hang_up()
    working.kill(timeout=HANG_SECONDS)
    assert working.dead
    assert (files.begun, files.connected) == (1, 1)
    assert users.second.errors == {}
