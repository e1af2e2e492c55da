"""Each complaint, provoked on a real smbd and named."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.diagnosis.plan import SIZES, Sizes
from storage.looks import Effort
from storage.records import format_target
from tests.command_line import Inside
from tests.servers.distance import FarLink
from tests.servers.late import NAME, LateOpeningSmbd, late_resolver
from tests.servers.smbd import Smbd
from tests.waiting import HANG_SECONDS, wait_for

MIB = 1 << 20
TINY = Sizes(
    logins=2, echoes=4, files=6, streams=3, pattern_files=0, asked=7, bulk_bytes=2 * MIB, rounds=3, long_bytes=64 * MIB,
    stage_seconds=120.0,
)  # fmt: skip
ROUND_TRIP_SECONDS = 0.06
"""Long beside what a busy machine adds."""


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES, Effort.USUAL, TINY)


@pytest.fixture
def far_link() -> Iterator[FarLink]:
    link = FarLink(ROUND_TRIP_SECONDS)
    yield link
    link.close()


def findings(inside: Inside, smbd: Smbd, only: str, *words: str) -> dict[str, dict[str, Any]]:
    """What is found, by key."""
    document = inside.json("diagnose", format_target(smbd.target()), "--yes", "--json", "--only", only, *words)
    assert list(smbd.folder.glob(".sharebench-*")) == []
    for stage in document["stages"]:
        assert stage["status"] == "complete", stage["error"]
    return {one["key"]: one for one in document["findings"]}


@pytest.mark.long
def test_distance_is_told_from_a_limit_on_credits(inside: Inside, far_link: FarLink, make_smbd):
    smbd: Smbd = make_smbd(link=far_link)
    found = findings(inside, smbd, "distance,small-files")
    assert "credits" not in found
    assert "One request of 64 KiB at a time carries" in found["distance"]["evidence"]
    assert "distance, not the disk" in found["small-files"]["title"]


@pytest.mark.long
def test_a_limit_on_credits_is_named_with_the_setting(inside: Inside, far_link: FarLink, make_smbd):
    smbd: Smbd = make_smbd({"smb2 max credits": "8"}, link=far_link)
    found = findings(inside, smbd, "distance")
    assert list(found) == ["credits"]
    assert "the server grants 512 KiB" in found["credits"]["title"]
    assert found["credits"]["setting"] == "smb2 max credits=8192"


@pytest.mark.long
def test_the_leg_of_the_first_connect_that_takes_the_time_is_named(inside: Inside, make_smbd):
    smbd: Smbd = make_smbd(share_options={"root preexec": "sleep 2"})
    found = findings(inside, smbd, "connect")
    assert "for connecting the share" in found["slow-connect"]["title"]
    assert "Each later login waits again" in found["slow-connect"]["evidence"]
    assert "preexec" in found["slow-connect"]["what_to_do"]


@pytest.mark.long
def test_a_resolver_that_answers_late_is_named(sharebench, smbd: Smbd, tmp_path: Path):
    target = format_target(smbd.target()).replace("127.0.0.1", NAME)
    with late_resolver(1.2, tmp_path) as under:
        running = sharebench.start("diagnose", target, "--quick", "--only", "connect", under=under)
        out, said = running.communicate(timeout=HANG_SECONDS)
    assert running.returncode == 0, said
    assert "for the name lookup" in " ".join(out.split())


def test_mandatory_signing_is_said_with_its_price_and_never_to_be_switched_off(inside: Inside, make_smbd):
    smbd: Smbd = make_smbd({"server signing": "mandatory"})
    found = findings(inside, smbd, "protection")["signing"]
    assert "Every request is signed" in found["title"]
    assert "This machine alone spends at least" in found["evidence"]
    assert found["severity"] == "note"
    assert found["what_to_do"].startswith("Keep it")


@pytest.mark.long
def test_an_audit_module_that_logs_everything_is_named_with_its_price(inside: Inside, make_smbd):
    smbd: Smbd = make_smbd(share_options={"vfs objects": "catia full_audit", "full_audit:success": "all"})
    found = findings(inside, smbd, "settings", "--smb-conf", str(smbd.conf))["settings"]
    assert found["severity"] == "problem"
    assert "full_audit: Logs every operation" in found["evidence"]
    assert "441 % longer" in found["evidence"]
    assert found["setting"] is None, "an audit is never taken away by itself"


@pytest.mark.long
def test_a_missing_name_in_a_large_folder_is_named_with_its_risk(inside: Inside, make_smbd):
    smbd: Smbd = make_smbd()
    (smbd.folder / "big").mkdir(mode=0o777)
    for number in range(40_000):
        os.close(os.open(smbd.folder / "big" / f"name {number}", os.O_CREAT))
    found = findings(inside, smbd, "folders", "--folder", "big")["missing-name"]
    assert "a scan of 40,000 entries" in found["title"]
    assert "case sensitive = yes" in found["what_to_do"]
    assert "Risk" in found["what_to_do"]


def test_an_open_that_takes_the_server_long_is_told_from_distance(inside: Inside):
    smbd = LateOpeningSmbd()
    smbd.start()
    try:
        found = findings(inside, smbd, "small-files")
    finally:
        smbd.stop()
    assert "slow-open" in found
    assert found.keys().isdisjoint({"distance", "small-files"})
    assert "Opening and closing a file takes the server" in found["slow-open"]["title"]
    assert found["slow-open"]["cost"] > 0.5


@pytest.mark.alone
@pytest.mark.long
def test_a_run_that_becomes_slow_is_named(inside: Inside, make_smbd, make_link: Callable[..., Any]):
    # So slow that a busy machine reaches the rate, and that a late change still leaves seconds of the run.
    link = make_link("120mbit", "1mb")
    smbd: Smbd = make_smbd(link=link)

    def slow_down() -> None:
        wait_for(lambda: any(one.stat().st_size > 40 * MIB for one in smbd.folder.glob(".sharebench-*/f0000001")))
        link.change_rate("30mbit")

    changing = threading.Thread(target=slow_down)
    changing.start()
    found = findings(inside, smbd, "long-run")
    changing.join()
    assert found["fast-then-slow"]["title"].startswith("Fast, then slow: after")
    assert found["fast-then-slow"]["cost"] > 0.4
    (stage,) = inside.json("show", "last", "--json")["stages"]
    assert len({len(stage["samples"][name]) for name in ("at_seconds", "busy_ticks", "all_ticks")}) == 1


QUESTIONS = ("free_space_seconds", "quota_seconds", "streams_seconds", "notify_seconds")


def slow_free_space(folder: Path, seconds: float) -> str:
    """A ``dfree command`` that takes its time."""
    script = folder / "dfree.sh"
    script.write_text(f"#!/bin/sh\nsleep {seconds}\necho 1000000 500000\n")
    script.chmod(0o755)
    return str(script)


def test_a_window_that_waits_for_the_free_space_is_named_with_its_remedy(inside: Inside, make_smbd):
    smbd: Smbd = make_smbd()
    smbd.rewrite_conf(share_options={"dfree command": slow_free_space(smbd.root, 0.4)})
    found = findings(inside, smbd, "window")["slow-window"]
    assert found["severity"] == "warning"
    assert "for the free space" in found["title"]
    assert "dfree cache time = 60" in found["what_to_do"]
    assert not found["setting"], "no transfer would show it"
    answer = inside.json("show", "last", "--json")["answer"]
    assert answer.startswith("!")


def test_a_window_that_is_answered_at_once_is_no_complaint(inside: Inside, smbd: Smbd):
    assert findings(inside, smbd, "window") == {}
    document = inside.json("show", "last", "--json")
    (stage,) = document["stages"]
    assert sorted(stage["samples"]) == sorted((*QUESTIONS, "echo_seconds"))
    assert all(len(stage["samples"][name]) == TINY.asked for name in QUESTIONS)
    assert document["answer"].startswith("✓")
    assert list(smbd.folder.glob(".sharebench-*")) == []
