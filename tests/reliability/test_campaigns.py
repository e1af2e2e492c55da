"""The short forms of the campaigns of the notebook and of security: all their kinds once, and nothing is lost."""

from pathlib import Path

import pytest

from app.server.changes import script
from tests.builders import book, one
from tests.reliability import (
    changes,
    crash,
    crash_rounds,
    held,
    hostile,
    intruder,
    litter,
    numbers,
    peers,
    random_requests,
    scale,
    secret_marker,
    server,
    steps,
    storage,
    who,
)
from tests.reliability.figures import Figures, Share
from tests.servers.process import require


@pytest.mark.long
def test_kills_lose_nothing_that_was_reported():
    figures = crash.campaign(5, kinds=("make", "import", "export xlsx", "migrate"))
    assert figures.losses == []
    assert figures.counts["kills"] + figures.counts["ended before"] >= 4


def test_a_reported_run_that_is_gone_and_a_file_that_nobody_names_are_losses(tmp_path):
    made = crash_rounds.Round("get", tmp_path, Figures(), reported=[("measured", 99, 1.0)])
    made.share.mkdir()
    (made.share / ".sharebench-0123456789ab").touch()
    book(made.book, one(1))
    made.check_left(made.check_runs())
    gone, unnamed = made.figures.losses
    assert gone == "get: run ('measured', 99, 1.0) is there 0 times"
    assert unnamed == "get: .sharebench-0123456789ab was left and is named nowhere"


@pytest.mark.long
def test_whatever_a_notebook_lies_on_is_told_in_one_line():
    figures = storage.campaign(4)
    assert figures.losses == []
    assert figures.counts["damaged files"] >= 60
    assert figures.counts["refused"]


@pytest.mark.long
@pytest.mark.usefixtures("smbd")
def test_a_locked_notebook_and_a_full_disk_lose_no_run_and_no_point():
    figures = held.campaign(6, kinds=("series", "load"))
    if figures.counts["without effect"]:  # a busy machine stored nothing while the notebook was held
        figures = held.campaign(6, kinds=("series", "load"))
    assert figures.losses == []
    assert figures.counts["series, locked"] == figures.counts["load, locked"] == 1
    assert figures.counts["without effect"] < 2, "one of the two was held while something was stored"


@pytest.mark.long
def test_a_password_is_nowhere():
    figures = secret_marker.campaign(4, seed=58)  # no `check` among the four: it would calibrate
    assert figures.losses == []
    assert figures.counts["commands"] >= 4
    assert figures.counts["half-typed URLs"] >= 9


@pytest.mark.long
def test_hostile_text_executes_garbles_and_loses_nothing():
    figures = hostile.campaign(5)
    assert figures.losses == []
    assert figures.counts["documents"]


@pytest.mark.long
def test_many_runs_are_answered_for():
    figures = scale.campaign(1)
    assert figures.losses == []
    assert figures.counts["runs"] == 6000


@pytest.mark.long
@pytest.mark.usefixtures("smbd")
def test_a_server_keeps_what_it_had():
    figures = server.campaign(1)
    assert figures.losses == []
    assert figures.counts["cleans"] == 2


@pytest.mark.long
@pytest.mark.usefixtures("smbd")
def test_a_killed_trial_leaves_nothing_changed_once_it_is_restored():
    figures = changes.campaign(0, kinds=("try",), seed=3)
    assert figures.losses == []
    assert figures.counts["as before"] == 1


@pytest.mark.long
@pytest.mark.parametrize("kinds", [("symlink",), ("hook",), ("sysctl",)])
def test_a_change_that_is_cut_off_leaves_nothing_behind(kinds: tuple[str, ...]):
    figures = steps.campaign(0, kinds=kinds)
    assert figures.losses == []
    assert (figures.counts["power losses"], figures.counts["kills"], figures.counts["kills of slow steps"]) == (1, 1, 1)


def test_what_a_disk_had_no_time_to_write_is_a_loss(monkeypatch: pytest.MonkeyPatch):
    """The campaign itself: a step that syncs nothing has to be found."""
    require("smbd")
    careless = script.library().replace('sync "$1" 2>/dev/null', ":")
    monkeypatch.setattr(script, "library", lambda: careless)
    case = steps.Case("loss", "hook", "undo", 1, "before", "script")
    monkeypatch.setattr(steps, "all_cases", lambda _kinds: [case])
    assert steps.campaign(0, kinds=("hook",), cuts=("loss",)).losses


def test_a_part_of_a_campaign_is_resumed_where_it_was_left(tmp_path):
    cases = [f"case {number}" for number in range(10)]
    share = Share(2, 3, tmp_path / "results.jsonl")
    assert share.of_mine(cases) == ["case 1", "case 4", "case 7"]
    found = Figures(losses=["lost"])
    found.counts["kills"] += 2
    share.note("case 1", found)
    again = Share(2, 3, tmp_path / "results.jsonl")
    assert (again.has("case 1"), again.has("case 4")) == (True, False)
    assert (again.figures.counts["kills"], again.figures.losses) == (2, ["lost"])


@pytest.mark.long
@pytest.mark.usefixtures("smbd")
def test_another_local_user_changes_no_load_and_has_no_file_deleted():
    figures = intruder.campaign(0)
    assert figures.losses == []
    assert figures.counts["messages"] >= intruder.MESSAGES
    assert (figures.counts["isolations"], figures.counts["isolations through ssh"]) == (1, 1)
    assert figures.counts["exchanges tried"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "share", "end"),
    [("load print", "files", "well"), ("load office", "small disk", "all"), ("diagnose", "printer", "well")],
)
def test_a_share_lists_what_it_listed_or_what_is_left_is_named_and_removed(command: str, share: str, end: str):
    figures = litter.campaign(0, chosen=[litter.Case(0, command, share, end, 8.0)])
    assert figures.losses == []
    assert figures.counts["commands"] == 1


def test_what_an_intruder_reaches_is_a_loss():
    point = {
        "generator": {"cpu_percent": [1.0, 1.0]}, "read_bytes_per_second": 1e6, "connected": 4, "errors": {},
        "status": "valid", "little_percent": 0.1,
    }  # fmt: skip
    intruded, nothing = {"sent": intruder.MESSAGES, "told": 0}, {"sent": intruder.MESSAGES - 1, "told": 0}
    assert intruder.falsified({"points": [point]}, 0, intruded) == ""
    assert intruder.falsified({"points": [point]}, 0, nothing)
    assert intruder.falsified({"points": [point]}, 0, intruded | {"told": 1})
    assert intruder.falsified({"points": [point]}, 4, intruded)
    for wrong in ({"connected": 3}, {"generator": {"cpu_percent": [1.0] * 3}}, {"little_percent": 1.1}):
        assert intruder.falsified({"points": [point | wrong]}, 0, intruded)


@pytest.mark.long
@pytest.mark.usefixtures("smbd")
@pytest.mark.parametrize(
    ("command", "hosts"),
    [
        ("workers", ("endless line", "endless zeros", "greeting 4097", "silent, with a child that holds the pipe")),
        ("check", ("endless lines",)),
        ("load", ("endless samples",)),
        ("isolate", ("lies 1",)),
        ("try", ("escapes",)),
        ("pull", ("silent, with a child elsewhere", "endless zeros")),
        ("push", ("silent",)),
    ],
)
def test_a_hostile_ssh_host_takes_neither_time_nor_memory(command: str, hosts: tuple[str, ...]):
    figures = peers.campaign(0, peers=hosts, commands=(command,))
    assert figures.losses == []
    assert figures.counts["conversations"] == len(hosts)


def test_a_check_of_numbers_that_could_not_be_carried_out_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    tries: list[str] = []

    def find() -> numbers.Result:
        tries.append("")
        if len(tries) == 1:
            raise RuntimeError("the machine is overloaded")
        return numbers.Result(truth="1", product="2", holds=False)

    monkeypatch.setattr(numbers, "CHECKS", {"one": numbers.Check(claim="it counts", find=find)})
    for losses, tried in ((1, 1), (1, 2), (0, 2)):
        found = numbers.run_checks(["one"], tmp_path / "results.jsonl")
        assert (len(found.losses), len(tries)) == (losses, tried)


@pytest.mark.long
@pytest.mark.usefixtures("smbd")
def test_three_users_are_ranked_and_their_shares_told():
    figures = who.campaign(0, look_seconds=3)
    assert figures.losses == []
    assert figures.counts["looks"] == 1
    assert figures.counts["ranked right"] == 1


@pytest.mark.long
@pytest.mark.usefixtures("smbd")
def test_each_random_request_is_one_that_smbd_counts():
    mixes = [case for case in random_requests.SERVER_CASES if "--mix" in case.options]
    figures = random_requests.campaign(0, cases=mixes)
    assert figures.losses == []
    assert figures.counts["requests"] > 0
