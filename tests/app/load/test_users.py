"""The users of a load and the processes that they live in, without a server."""

import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.load.plan import LoadPlan
from app.load.prepare import Preparation
from app.load.scenario import find_scenario
from app.load.users import LoadUser, LoadUsers
from app.load.workers import start
from storage.records import Target


@pytest.mark.parametrize(("processes", "users", "targets"), [(4, 4, 2), (2, 4, 4), (3, 9, 3), (2, 3, 1)])
def test_users_take_the_targets_in_turns_over_all_processes(
    monkeypatch: pytest.MonkeyPatch, processes: int, users: int, targets: int
):
    found = tuple(Target(protocol="smb", host=f"10.0.0.{n}", share="x") for n in range(targets))
    asked: list[Target] = []
    monkeypatch.setattr("app.load.users.make_files", lambda target, *_: asked.append(target))
    plan = LoadPlan(targets=found, scenario=find_scenario("small"))
    of_processes = [LoadUsers(plan, index + 1, processes) for index in range(processes)]
    for number in range(users):
        LoadUser(of_processes[number % processes])
    counts = Counter(asked)
    assert max(counts.values()) - min(counts[target] for target in found) <= users % targets


def test_the_far_end_of_another_machine_ends_with_the_first_worker_that_dies(monkeypatch: pytest.MonkeyPatch, tmp_path):
    def start_worker(order: dict[str, Any]) -> "subprocess.Popen[str]":
        return subprocess.Popen(order["words"], stdin=subprocess.PIPE, text=True)

    monkeypatch.setattr(start, "start_worker", start_worker)
    near = subprocess.Popen(
        ["sh", "-c", """echo '[{"words": ["sleep", "600"]}, {"words": ["true"]}]'; exec sleep 600"""],
        stdout=subprocess.PIPE,
        text=True,
    )
    monkeypatch.setattr(start, "_END_SECONDS", 0.1)
    monkeypatch.setattr(sys, "stdin", near.stdout)
    serving = threading.Thread(target=start.serve_workers, daemon=True)
    serving.start()
    serving.join(60)
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
