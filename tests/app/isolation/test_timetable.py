"""Which runs an isolation makes, in which order, and what it leaves out where there is no time."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.errors import CancelledError, MeasurementError
from app.clients.base import Secrets
from app.isolation.bench import LayerBench
from app.isolation.disk_place import DiskPlace
from app.isolation.places import Places
from app.isolation.replay_messages import ReplayPlan, ReplayResult
from app.isolation.replay_process import Replay
from app.isolation.script import load_script
from app.isolation.spec import IsolationRequest
from app.isolation.timetable import PlannedRun, Timetable
from app.server.running_program import RunningProgram
from app.server.shell import ServerShell
from app.server.smbd import SmbdControl
from forms.isolation.summary import isolation_summary
from storage.isolation import Isolation, Layer, LayerRun, ProfileCounter
from storage.plan import Settings
from storage.records import ClientFacts, RunStatus, Target
from tests.waiting import has_ended, wait_for

SHARE = Target(protocol="smb", host="fileserver", share="public")
EVERYWHERE = Places(share_folder="x", disk=DiskPlace("/x", 1), network=True)
SERVER, WHOLE = Layer.SERVER, Layer.SERVER_WHOLE_SCRIPT


def timetable(seconds_a_run: float, places: Places = EVERYWHERE, **options: object) -> tuple[Timetable, "Clock"]:
    request = IsolationRequest(target=SHARE, secrets=Secrets(), whole_script=load_script(), **options)  # type: ignore[arg-type]
    clock = Clock(seconds_a_run)
    return Timetable(request, places, clock), clock


class Clock:
    """A clock that goes on by one run's length with each run."""

    def __init__(self, seconds_a_run: float) -> None:
        self.now = 0.0
        self.seconds_a_run = seconds_a_run

    def __call__(self) -> float:
        return self.now

    def run(self, table: Timetable, so_far: Callable[[list[PlannedRun]], Isolation]) -> list[PlannedRun]:
        done: list[PlannedRun] = []
        for step in table.runs(lambda: so_far(done)):
            done.append(step)
            self.now += self.seconds_a_run
        return done


def told(price: Callable[[int], float]) -> Callable[[list[PlannedRun]], Isolation]:
    """What runs tell whose price is so by round."""

    def isolation(done: list[PlannedRun]) -> Isolation:
        runs = tuple(
            LayerRun(round=turn, layer=layer, clients=clients, seconds=1, bytes_per_second=1,
                     passes=10 * (price(turn) if layer is SERVER else 1))
            for turn, layer, clients in done
        )  # fmt: skip
        return Isolation(
            id="a",
            created_at="2026-01-31T10:00:00.000Z",
            target=SHARE,
            script="office",
            clients=(4,),
            rounds=3,
            runs=runs,
        )

    return isolation


def test_each_round_has_every_layer_back_and_forth_and_every_other_one_the_layers_alone():
    table, clock = timetable(1, clients=(2, 4), rounds=3)
    done = clock.run(table, told(lambda _turn: 1))
    assert done == table.planned
    first, second, third = ([step[1:] for step in done if step[0] == turn] for turn in (1, 2, 3))
    assert first == third == [(layer, clients) for clients in (2, 4) for layer in
                              (SERVER, Layer.DISK, Layer.NETWORK, Layer.DISK_WITH_NETWORK)]  # fmt: skip
    assert second == [(layer, clients) for clients in (4, 2) for layer in (Layer.DISK_WITH_NETWORK, SERVER)]


def test_a_layer_that_is_the_only_one_to_compare_with_is_measured_each_round():
    table, _clock = timetable(1, Places(share_folder="x", disk=DiskPlace("/x", 1)), clients=(2,), rounds=2)
    assert [step[0] for step in table.planned if step[1] is Layer.DISK] == [1, 2]


@pytest.mark.parametrize(("seconds", "rounds"), [(1, 3), (14, 3), (16, 2), (23, 1), (1000, 1)])
def test_a_round_that_would_end_too_late_is_left_out(seconds: float, rounds: int):
    places = Places(share_folder="x", disk=DiskPlace("/x", 1))
    table, clock = timetable(seconds, places, clients=(1, 4), rounds=3, within_seconds=180.0)
    done = clock.run(table, told(lambda _turn: 1))
    assert table.rounds == rounds
    assert {turn for turn, _layer, _clients in done} == set(range(1, rounds + 1))


def test_a_price_that_is_known_needs_no_more_rounds():
    table, clock = timetable(1, clients=(4,), rounds=3, without=("find_first",))
    assert clock.run(table, told(lambda turn: 1.2 + 0.001 * turn)) == table.planned


def test_a_price_in_doubt_is_measured_in_more_pairs_there_and_back():
    table, clock = timetable(1, clients=(1, 4), rounds=3, without=("find_first",))
    done = clock.run(table, told(lambda turn: 1.3 if turn % 2 else 1.0))
    more = [step for step in done if step[0] > 3]
    assert more[:4] == [(4, WHOLE, 4), (4, SERVER, 4), (5, SERVER, 4), (5, WHOLE, 4)]
    assert len(more) == 2 * 9
    isolation = told(lambda turn: 1.3 if turn % 2 else 1.0)(done)
    (_one, four) = isolation_summary(isolation).points
    assert four.price is not None
    assert four.price.low is not None
    assert four.price.low > 1, "twelve pairs tell what three cannot"


def test_who_asks_for_one_round_gets_one():
    table, clock = timetable(1, clients=(4,), rounds=1, without=("find_first",))
    assert clock.run(table, told(lambda _turn: 1)) == table.planned


def test_more_pairs_end_with_the_time():
    table, clock = timetable(10, clients=(4,), rounds=3, without=("find_first",), within_seconds=200.0)
    done = clock.run(table, told(lambda turn: 1.3 if turn % 2 else 1.0))
    assert clock.now <= 200
    assert max(done)[0] > 3


DBENCH = """#!/bin/sh
[ -e {folder}/tried ] && echo "Throughput {second} MB/sec  1 clients  1 procs  max_latency=1.0 ms" && exit
touch {folder}/tried
echo "Throughput 0 MB/sec  1 clients  1 procs  max_latency=0.0 ms"
"""


def working_in(folder: Path) -> DiskPlace:
    (folder / "work").mkdir()
    return DiskPlace(str(folder), 1)


@pytest.mark.parametrize(("second", "status"), [("20.5", RunStatus.VALID), ("0", RunStatus.FAILED)])
def test_a_run_that_moved_nothing_is_tried_again(monkeypatch, tmp_path: Path, second: str, status: RunStatus):
    program = tmp_path / "dbench"
    program.write_text(DBENCH.format(folder=tmp_path, second=second))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    request = IsolationRequest(target=SHARE, secrets=Secrets(), whole_script=load_script())
    bench = LayerBench(request, Places(shell=ServerShell(), share_folder="x", disk=working_in(tmp_path)))
    (run,) = bench.run(Layer.DISK, 1, 1)
    bench.close()
    assert run.status is status
    assert (run.error or "").rpartition(" s, ")[2] in {"", "in 2 tries: measure longer"}, "a screen shows it too"


@pytest.mark.parametrize(
    ("times", "status"),
    [((2.5,), RunStatus.VALID), ((1e-6, 5.0), RunStatus.VALID), ((2.4, 2.4, 5.0), RunStatus.FAILED)],
)
def test_a_run_of_the_server_whose_clients_stood_still_is_tried_again(monkeypatch, times, status: RunStatus):
    """No bytes in a millionth of a second are no rate."""
    left = iter(times)
    monkeypatch.setattr(LayerBench, "_measure_server_once", lambda _, run: replace(run, seconds=next(left)))
    request = IsolationRequest(target=SHARE, secrets=Secrets(), whole_script=load_script(), seconds=5)
    bench = LayerBench(request, Places(share_folder="x"))
    (run,) = bench.run(Layer.SERVER, 2, 1)
    bench.close()
    assert run.status is status
    told = "the clients stood still for most of 5 s, in 2 tries: measure longer"
    assert run.error == (told if status is RunStatus.FAILED else None)


def test_what_runs_beside_a_program_that_fails_ends_with_it(monkeypatch, tmp_path: Path):
    (tmp_path / "dbench").write_text("#!/bin/sh\nexit 1\n")
    says = f"echo $$ >{tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; exec sleep 600"
    (tmp_path / "unshare").write_text(f"#!/bin/sh\n{says}\n")
    for program in ("dbench", "unshare"):
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    request = IsolationRequest(target=SHARE, secrets=Secrets(), whole_script=load_script())
    places = Places(shell=ServerShell(), share_folder="x", disk=working_in(tmp_path), network=True, same_machine=True)
    bench = LayerBench(request, places)
    started = bench._start

    def start(layer: Layer, clients: int) -> RunningProgram:
        program = started(layer, clients)
        if layer is Layer.NETWORK_WITH_DISK:
            wait_for((tmp_path / "pid").exists)
        return program

    monkeypatch.setattr(bench, "_start", start)
    assert [run.status for run in bench.run(Layer.DISK_WITH_NETWORK, 1, 1)] == [RunStatus.FAILED] * 2
    bench.close()
    beside = int((tmp_path / "pid").read_text())
    wait_for(lambda: has_ended(beside))


def test_a_bench_that_was_stopped_between_two_runs_begins_no_other(monkeypatch, tmp_path: Path):
    (tmp_path / "dbench").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (tmp_path / "dbench").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    request = IsolationRequest(target=SHARE, secrets=Secrets(), whole_script=load_script())
    bench = LayerBench(request, Places(shell=ServerShell(), share_folder="x", disk=working_in(tmp_path)))
    bench.stop()
    with pytest.raises(CancelledError):
        bench.run(Layer.DISK, 1, 1)
    bench.close()
    assert not (tmp_path / "ran").exists()


class Counted(SmbdControl):
    """An smbd whose level of profiling is remembered."""

    level_now = "off"

    def set_level(self, level: str) -> None:
        self.level_now = level

    def level(self) -> str:
        return self.level_now

    def profile(self) -> dict[str, ProfileCounter]:
        return {}


def test_a_run_that_fails_while_smbd_does_not_count_leaves_the_next_one_counted(monkeypatch):
    smbd = Counted(ServerShell(), None)
    seen: list[str] = []

    class Fails:
        def __init__(self, _plan: ReplayPlan, *_role: str) -> None:
            seen.append(smbd.level_now)

        def hang_up(self) -> None: ...

        def wait(self) -> ReplayResult:
            raise MeasurementError("the server is gone")

    monkeypatch.setattr("app.isolation.bench.Replay", Fails)
    bench = LayerBench(
        IsolationRequest(target=SHARE, secrets=Secrets(), whole_script=load_script()),
        Places(share_folder="x", smbd=smbd),
    )
    for layer in (SERVER, Layer.SERVER_UNPROFILED, SERVER):
        bench.run(layer, 1, 1)
    bench.close()
    assert seen == ["on", "off", "on"]


def test_what_a_client_fails_by_is_told_by_its_name():
    plan = ReplayPlan(
        target=SHARE, secrets=Secrets(), settings=Settings(), script_path=None, without=(), folder="x", clients=1,
        warm_up_seconds=0, seconds=1, client=ClientFacts(name="x", dialect="9.9.9", signing="none", encryption="none"),
        null=True,
    )  # fmt: skip
    with pytest.raises(MeasurementError, match="a client of the replay failed: RuntimeError"):
        Replay(plan).wait()


def test_the_price_is_what_the_whole_script_takes_more(monkeypatch):
    asked: list[ReplayPlan] = []

    class Answered:
        def __init__(self, plan: ReplayPlan) -> None:
            asked.append(plan)

        def hang_up(self) -> None: ...

        def wait(self) -> ReplayResult:
            return ReplayResult(
                seconds=5, operations={"readx": 3420}, requests={}, window_requests=0, moved_bytes=1, wait_seconds=1,
                longest_seconds=1, unexpected=0, cpu_seconds=1, held_seconds=1, began_at=0,
                client=ClientFacts(name="x"),
            )  # fmt: skip

    monkeypatch.setattr("app.isolation.bench.Replay", Answered)
    request = IsolationRequest(
        target=SHARE, secrets=Secrets(), whole_script=load_script(), without=("find_first", "query_path_information")
    )
    bench = LayerBench(request, Places(share_folder="x"))
    ((without,), (whole,)) = (bench.run(layer, 4, 1) for layer in (SERVER, WHOLE))
    bench.close()
    assert [plan.without for plan in asked] == [request.without, ()]
    assert without.passes > whole.passes == 1
