"""What a comparison says of its contenders, and what it counts of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import pytest

from tests.benchmarks.contenders import Contender, Cost, Groups, OwnContender, ProgramContender, smbclient
from tests.benchmarks.contests import ContestResult, ContestRow, Unit, contest_lines, score_of
from tests.benchmarks.own_worker import LOGINS
from tests.benchmarks.processor_time import ProcessorGroup
from tests.servers.process import require, require_root

BUSY = "import time\nwhile time.process_time() < 0.3: pass"


@pytest.fixture
def groups():
    require_root("make control groups")
    with ProcessorGroup("client") as client, ProcessorGroup("server") as server:
        yield Groups(client, server)


def test_a_group_counts_what_its_processes_used_that_have_ended(groups):
    subprocess.run([*groups.client.prefix, sys.executable, "-c", BUSY], check=True)
    assert 0.3 <= groups.client.seconds() < 0.9
    assert groups.server.seconds() == 0.0


def test_a_group_that_was_abandoned_is_removed_with_the_next(groups):
    abandoned = groups.client.folder.parent / "sharebench-bench-999999999-1-client"
    abandoned.mkdir()
    with ProcessorGroup("next"):
        assert not abandoned.exists()
        assert groups.client.folder.exists()


def test_what_a_program_takes_without_work_is_subtracted(groups):
    entrant = ProgramContender(
        "busy", 1, [sys.executable, "-c", BUSY], groups, idle=[sys.executable, "-c", "import time"]
    )
    cost = entrant.work()
    assert 0.2 <= cost.client_seconds < 0.6
    assert cost.server_seconds == 0.0


def test_a_program_that_fails_is_told(groups):
    with pytest.raises(RuntimeError, match="exit 7"):
        ProgramContender("failing", 1, ["sh", "-c", "echo exit 7 >&2; exit 7"], groups).work()


@pytest.mark.varied(work=1)
@pytest.mark.parametrize("work", ["get", "put", "list", "login"])
def test_our_worker_and_smbclient_are_counted_on_both_sides(smbd, groups, work):
    require("smbclient")
    smbd.make_file("big", bytes(8 << 20))
    groups.server.join(smbd.pid)
    ours = OwnContender(smbd, "big" if work == "get" else "", work, LOGINS, groups, 8 << 20)
    theirs = smbclient(smbd, "get big /dev/null", 8 << 20, groups, is_login=True)
    try:
        for entrant in (ours, theirs):
            cost = entrant.work()
            assert cost.seconds > 0
            assert cost.client_seconds > 0
            assert cost.server_seconds > 0
        ours.clean()
    finally:
        ours.close()
    assert [path.name for path in smbd.folder.iterdir() if path.name.startswith(".sharebench")] == []


def test_costs_are_medians_for_the_unit_of_the_work():
    costs = [Cost(0.5, 0.25, 1.0), Cost(1.0, 0.75, 3.0), Cost(0.25, 0.5, 2.0)]
    score = score_of(2e9, costs)
    assert score.rates == (4e9, 2e9, 8e9)
    assert score.client_seconds * Unit.BYTES.cost_scale == pytest.approx(0.25)
    assert score.server_seconds * Unit.BYTES.cost_scale == pytest.approx(1.0)


@pytest.mark.parametrize(("least", "is_below"), [(2.1, True), (1.9, False), (None, False)])
def test_a_row_for_each_other_with_both_costs(least, is_below):
    ours = score_of(1e9, [Cost(0.5, 0.2, 0.4)] * 3)
    theirs = score_of(1e9, [Cost(1.0, 0.5, 0.8)] * 3)
    at_least = {} if least is None else {"smbclient": least}
    scores = {"sharebench": ours, "smbclient": theirs, "curl": ours}
    result = ContestResult(name="SMB get", unit=Unit.BYTES, scores=scores, at_least=at_least)

    first, second = contest_lines(result).splitlines()
    cells = [cell.strip() for cell in first.strip("|").split("|")]
    assert cells[:3] == ["SMB get", "smbclient", "2,000, 1,000 MB/s"]
    assert cells[3].startswith("2.00")
    assert ("**below" in cells[3]) is is_below
    assert cells[4:] == ["0.20 + 0.40 for GB", "0.50 + 0.80"]
    assert second.startswith("| SMB get | curl |")
    document = result.as_document()["scores"][1]
    assert (document["ratio"], document["at_least"]) == (pytest.approx(2.0), least)


def no_contenders(_groups: Groups) -> AbstractContextManager[Sequence[Contender]]:
    return nullcontext([])


def test_every_contender_works_once_a_round_and_cleans_up_after_itself(groups):
    worked = []

    class Counted:
        amount = 1.0

        def __init__(self, name):
            self.name = name

        def work(self):
            worked.append(self.name)
            return Cost(1.0, 1.0, 1.0)

        def clean(self):
            worked.append(f"{self.name} is clean")

        def close(self):
            """Nothing of it is running."""

    row = ContestRow(name="row", unit=Unit.LOGINS, rounds=4, needs=(), set_up=no_contenders, at_least={})
    costs = row._measure_rounds([Counted("a"), Counted("b")])
    assert {name: len(of_name) for name, of_name in costs.items()} == {"a": 4, "b": 4}
    for number in range(5):
        of_round = worked[4 * number : 4 * number + 4]
        assert sorted(of_round) == ["a", "a is clean", "b", "b is clean"]
