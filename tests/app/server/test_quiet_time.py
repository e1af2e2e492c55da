"""The quiet-time verdict: from simulated samples, from simulated counters, and with real loads beside a run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.recording.process import MeasuringProcess, Progressed, RunFinished, RunStarted, SeriesControl
from app.server import host_activity as activity
from app.server import processes, quiet_time, quiet_watch
from app.server.host_activity import (
    ProcessorTicks,
    Reading,
    Sample,
    Wire,
    parse_cpu,
    parse_disks,
    sample_between,
    samples_of_run,
    take_reading,
)
from app.server.link_facts import find_link
from app.server.own_traffic import OwnTraffic
from app.server.processes import Ours, Process, kernel_ticks, parse_stat, process_tree, servers_here
from app.server.quiet_time import QuietContext, ServerLoad, assess, server_load
from app.server.quiet_watch import QuietWatch
from storage.records import Command, JSONValue, QuietVerdict, Target
from tests.servers.netns import can_make_namespaces
from tests.servers.process import require, unavailable
from tests.servers.smbd import Smbd
from tests.specs import order_with
from tests.waiting import HANG_SECONDS

ROOT = Path(__file__).parents[3]

IDLE = Sample(
    seconds=1.0,
    cpu_percent=2.0,
    others_cpu_percent=1.0,
    stolen_percent=0.0,
    run_queue=0.1,
    others_link_bytes=1000.0,
    our_bytes=0.0,
    disk_percent=1.0,
    segments_sent=100,
    retransmitted=0,
)
GIGABIT = Wire(interface="eth0", bits_per_second=10**9)
HERE = QuietContext(cpus=2, wire=GIGABIT)
BURNING = replace(IDLE, cpu_percent=52.0, others_cpu_percent=50.0)


def test_an_idle_machine_is_quiet() -> None:
    quiet = assess([IDLE, IDLE], [IDLE] * 10, HERE)
    assert quiet.verdict is QuietVerdict.QUIET
    assert quiet.reasons == ()
    record = quiet.to_json()
    assert record["verdict"] == "quiet"
    assert record["cpu_percent_during"] == 2.0
    assert record["others_cpu_percent_before"] == 1.0
    assert record["others_link_bytes_per_second_during"] == 1000
    assert json.loads(json.dumps(record)) == record


@pytest.mark.parametrize(
    ("changed", "verdict", "reason"),
    [
        ({"others_cpu_percent": 50.0}, QuietVerdict.BUSY, "other programs took 50 % of this machine's CPUs"),
        ({"others_cpu_percent": 8.0}, QuietVerdict.TYPICAL, "other programs took 8 %"),
        ({"stolen_percent": 30.0}, QuietVerdict.BUSY, "hypervisor took 30 %"),
        ({"stolen_percent": 6.0}, QuietVerdict.TYPICAL, "hypervisor"),
        ({"others_link_bytes": 20e6}, QuietVerdict.BUSY, "others moved 20.0 MB/s over eth0"),
        ({"others_link_bytes": 1e6}, QuietVerdict.TYPICAL, "others moved 1.0 MB/s over eth0"),
        ({"disk_percent": 90.0}, QuietVerdict.BUSY, "a disk of this machine was at work 90 %"),
        ({"disk_percent": 30.0}, QuietVerdict.TYPICAL, "a disk"),
        ({"retransmitted": 50, "segments_sent": 1000}, QuietVerdict.TYPICAL, "retransmitted"),
        ({"retransmitted": 3, "segments_sent": 10}, QuietVerdict.QUIET, ""),
        ({"cpu_percent": 100.0}, QuietVerdict.QUIET, ""),
    ],
)
def test_each_figure_before_and_during(changed: dict[str, float], verdict: QuietVerdict, reason: str) -> None:
    sample = replace(IDLE, **changed)  # type: ignore[arg-type]
    for quiet, when in (
        (assess([sample] * 2, [], HERE), "before the series"),
        (assess([IDLE], [sample] * 5, HERE), "during the runs"),
    ):
        assert quiet.verdict is verdict
        assert reason in "; ".join(quiet.reasons)
        assert all(when in why for why in quiet.reasons)


def test_the_run_queue_counts_before_a_series_and_not_during_our_own_run() -> None:
    crowded = replace(IDLE, run_queue=5.0)
    assert assess([crowded], [], HERE).verdict is QuietVerdict.BUSY
    assert "the CPU load was 5.0 on 2 CPUs" in assess([crowded], [], HERE).reasons[0]
    assert assess([replace(IDLE, run_queue=2.5)], [], HERE).verdict is QuietVerdict.TYPICAL
    assert assess([IDLE], [crowded] * 3, HERE).verdict is QuietVerdict.QUIET


def test_our_own_disk_is_not_others_work() -> None:
    writing = replace(IDLE, disk_percent=100.0)
    here = replace(HERE, own_disk=True)
    assert assess([IDLE], [writing] * 3, here).verdict is QuietVerdict.QUIET
    assert assess([writing], [IDLE], here).verdict is QuietVerdict.BUSY


def test_a_load_for_some_seconds_of_a_long_run_is_noticed() -> None:
    quiet = assess([IDLE], [IDLE] * 16 + [BURNING] * 5, HERE)
    assert quiet.verdict is QuietVerdict.BUSY
    assert "for 5 of 21 seconds" in quiet.reasons[0]
    assert assess([IDLE], [IDLE] * 29 + [BURNING], HERE).verdict is QuietVerdict.QUIET


def test_the_worst_figure_decides_and_only_its_reasons_are_told() -> None:
    quiet = assess([replace(IDLE, disk_percent=30.0)], [BURNING] * 3, HERE)
    assert quiet.verdict is QuietVerdict.BUSY
    assert len(quiet.reasons) == 1
    assert any("other programs" in reason for reason in quiet.reasons)


def test_the_processors_of_the_runs_have_mean_median_and_deviation() -> None:
    runs = [replace(IDLE, cpu_percent=total, user_percent=user) for user, total in ((10, 30), (20, 50), (60, 70))]
    figures = assess([IDLE], [*runs, replace(runs[0], seconds=0.01)], HERE).figures
    assert figures["cpu_percent_median_during"] == 50.0
    assert figures["cpu_percent_deviation_during"] == 20.0
    assert (figures["cpu_user_percent_median_during"], figures["cpu_system_percent_median_during"]) == (20.0, 20.0)
    assert figures["cpu_user_percent_deviation_during"] == pytest.approx(26.46)
    mean, user, system = (figures[f"cpu_{kind}percent_during"] for kind in ("", "user_", "system_"))
    assert None not in {mean, user, system}
    assert mean == pytest.approx((user or 0) + (system or 0), abs=0.02)
    burst = [replace(IDLE, seconds=0.24, cpu_percent=10.0)] * 9
    found = assess([IDLE], [*burst, *[replace(IDLE, cpu_percent=80.0 + one) for one in range(3)]], HERE).figures
    assert found["cpu_percent_during"] == found["cpu_percent_median_during"] == 81.0, "all of the same samples"


def test_nothing_to_read_is_unknown_and_too_short_a_run_says_nothing() -> None:
    assert assess([], [], HERE).verdict is QuietVerdict.UNKNOWN
    assert assess([], []).to_json()["reasons"]
    blink = replace(BURNING, seconds=0.01)
    short = assess([IDLE], [blink] * 5, HERE)
    assert short.verdict is QuietVerdict.QUIET
    assert "cpu_percent_during" not in short.figures
    assert assess([IDLE], [blink] * 50, HERE).verdict is QuietVerdict.BUSY


def test_an_unknown_link_is_held_against_our_own_rate() -> None:
    around = replace(HERE, wire=Wire(interface="lo", loopback=True))
    some = replace(IDLE, our_bytes=2e9, others_link_bytes=8e6)
    assert assess([IDLE], [some], around).verdict is QuietVerdict.QUIET
    assert assess([IDLE], [replace(some, others_link_bytes=1e9)], around).verdict is QuietVerdict.BUSY
    assert assess([replace(IDLE, others_link_bytes=8e6)], [], around).verdict is QuietVerdict.BUSY


def test_the_servers_load() -> None:
    assert assess([IDLE], [], HERE, ServerLoad(cpu_percent=3, other_sessions=0)).verdict is QuietVerdict.QUIET
    busy = assess([IDLE], [], HERE, ServerLoad(cpu_percent=80))
    assert busy.verdict is QuietVerdict.BUSY
    assert "the server's CPUs were 80 % busy" in busy.reasons[0]
    shared = assess([IDLE], [], HERE, ServerLoad(other_sessions=3))
    assert shared.verdict is QuietVerdict.TYPICAL
    assert "3 sessions of other machines" in shared.reasons[0]
    assert assess([], [], HERE, ServerLoad(other_sessions=1)).reasons == ("the server had 1 session of other machines",)


@pytest.mark.parametrize("cpu_percent", [0, 20, 60])
def test_the_busiest_session_is_named_where_it_is_not_quiet(cpu_percent: int) -> None:
    found = assess([IDLE], [], HERE, ServerLoad(cpu_percent=cpu_percent, busiest="alice on ws7"))
    assert any("alice on ws7" in reason for reason in found.reasons) is (found.verdict is not QuietVerdict.QUIET)


@pytest.mark.parametrize(("percent", "is_busy"), [(19.9, False), (20.0, True)])
def test_from_where_on_a_server_is_busy(percent: float, is_busy: bool) -> None:
    assert quiet_time.is_server_busy({"cpu.busy_percent_before": percent}) is is_busy
    assert not quiet_time.is_server_busy({})


def test_the_load_in_a_servers_facts() -> None:
    assert server_load({"kernel": "6.1"}) is None
    known = server_load({"cpu.busy_percent_before": 7.5, "server.sessions.other_machines": 2})
    assert known == ServerLoad(cpu_percent=7.5, other_sessions=2)


def reading(at: float, **changed: float) -> Reading:
    """A reading of a machine with 2 CPUs that has run for ``at`` seconds; ``working``… are ticks."""
    counts = {name: int(value) for name, value in changed.items()}
    interrupts, stolen = counts.pop("interrupts", 0), counts.pop("stolen", 0)
    busy = counts.pop("working", 0) + interrupts
    cpu = ProcessorTicks(
        system=busy, interrupts=interrupts, stolen=stolen, idle=int(200 * at) - busy - stolen,
        runnable=counts.pop("runnable", 1),
    )  # fmt: skip
    disk = counts.pop("disk", 0)
    base = Reading(
        at_seconds=at,
        cpu=cpu,
        our_ticks=0,
        kernel_ticks=0,
        rx_bytes=0,
        tx_bytes=0,
        rx_packets=0,
        tx_packets=0,
        disk_milliseconds={"sda": disk, "sdb": 0},
        segments_sent=0,
        retransmitted=0,
    )
    return replace(base, **counts)  # type: ignore[arg-type]


def test_our_cpu_time_and_the_kernels_are_not_others() -> None:
    last = reading(1.0, working=150, interrupts=20, stolen=10, our_ticks=90, kernel_ticks=20, runnable=4, disk=250)
    sample = sample_between(reading(0.0), last, GIGABIT, receiving=True)
    assert sample.cpu_percent == pytest.approx(85)
    assert sample.others_cpu_percent == pytest.approx(20)
    assert sample.stolen_percent == pytest.approx(5)
    assert sample.run_queue == 3
    assert sample.disk_percent == pytest.approx(25)


def test_our_cpu_time_may_be_counted_late_but_never_makes_others_negative() -> None:
    sample = sample_between(reading(0.0), reading(1.0, working=50, our_ticks=60), GIGABIT, receiving=True)
    assert sample.others_cpu_percent == 0


def test_cpu_time_that_is_counted_late_is_nobody_elses_in_between() -> None:
    """The kernel samples the machine's time and keeps each process's by the clock: the one runs ahead of the other."""
    machine, ours = (0, 60, 100, 160, 200), (0, 40, 100, 140, 200)
    readings = [reading(float(at), working=w, our_ticks=o) for at, (w, o) in enumerate(zip(machine, ours, strict=True))]
    assert [one.others_cpu_percent for one in samples_of_run(readings, GIGABIT, receiving=True)] == [0, 0, 0, 0]
    beside = [replace(one, our_ticks=one.our_ticks // 2) for one in readings]
    found = samples_of_run(beside, GIGABIT, receiving=True)
    assert sum(one.others_cpu_percent for one in found) / len(found) == pytest.approx(
        sample_between(beside[0], beside[-1], GIGABIT).others_cpu_percent
    )


def test_our_own_bytes_with_their_headers_are_not_others() -> None:
    content, frames = 144_800_000, 100_000
    last = reading(
        1.0,
        rx_bytes=frames * 1514,
        rx_packets=frames,
        tx_bytes=frames // 2 * 66,
        tx_packets=frames // 2,
        moved_bytes=content,
    )
    assert sample_between(reading(0.0), last, GIGABIT, receiving=True).others_link_bytes == 0
    assert sample_between(reading(0.0), last, GIGABIT, receiving=False).others_link_bytes > 0.9 * content
    more = replace(last, rx_bytes=frames * 1514 + 1_514_000, rx_packets=frames + 1000)
    assert sample_between(reading(0.0), more, GIGABIT, receiving=True).others_link_bytes == pytest.approx(
        1.448e6, rel=0.11
    )


@pytest.mark.parametrize(
    ("wire", "frame", "packets"),
    [
        (GIGABIT, 1514, 1000),
        (replace(GIGABIT, ip_version=6), 1514, 1000),
        (replace(GIGABIT, timestamps=False), 1514, 1000),
        (GIGABIT, 1448 * 44 + 66, 23),
    ],
    ids=["IPv4", "IPv6", "no timestamps", "one packet counted for 44"],
)
def test_headers_are_those_of_the_packets_that_were_counted(wire: Wire, frame: int, packets: int) -> None:
    content = (frame - wire.header_bytes) * packets
    last = reading(1.0, tx_bytes=frame * packets, tx_packets=packets, moved_bytes=content)
    assert sample_between(reading(0.0), last, wire, receiving=False).others_link_bytes == 0
    little = replace(last, moved_bytes=content * 0.995)
    assert sample_between(reading(0.0), little, wire, receiving=False).others_link_bytes > 0.003 * content


def test_small_blocks_have_headers_of_their_own() -> None:
    small = replace(GIGABIT, block_bytes=4096)
    last = reading(1.0, tx_bytes=1000 * (4096 + 116 + 3 * 66), tx_packets=3000, moved_bytes=4_096_000)
    assert sample_between(reading(0.0), last, small, receiving=False).others_link_bytes == 0
    assert sample_between(reading(0.0), last, GIGABIT, receiving=False).others_link_bytes > 0


def test_segments_that_a_put_sends_again_are_its_own() -> None:
    last = reading(1.0, tx_bytes=1100 * 1514, tx_packets=1100, moved_bytes=1_448_000, retransmitted=100)
    assert sample_between(reading(0.0), last, GIGABIT, receiving=False).others_link_bytes == 0


def run_of(own: Sequence[float], link: Sequence[float]) -> list[float]:
    """Others' bytes in each second of a put, of which so much was ours by then, and so much on the link."""
    readings = [
        reading(float(at), tx_bytes=done, moved_bytes=moved)
        for at, (moved, done) in enumerate(zip(own, link, strict=True))
    ]
    return [one.others_link_bytes for one in samples_of_run(readings, GIGABIT, receiving=False)]


def test_what_is_counted_in_steps_is_not_others_in_between() -> None:
    steady = [0, 12e6, 24e6, 36e6, 48e6]
    assert run_of([0, 0, 0, 32e6, 48e6], steady) == [0, 0, 0, 0]
    assert run_of([0, 32e6, 32e6, 48e6, 48e6], steady) == [0, 0, 0, 0]


def test_what_is_never_taken_back_is_others_in_the_second_in_which_it_came() -> None:
    own = [0, 10e6, 20e6, 30e6, 40e6]
    told = run_of(own, [0, 10e6, 25e6, 35e6, 45e6])
    assert told == pytest.approx([0, 5e6, 0, 0], abs=0.1e6)
    lagging = run_of([0, 2e6, 20e6, 22e6, 40e6], [0, 10e6, 25e6, 35e6, 45e6])
    assert sum(lagging) == pytest.approx(5e6, abs=0.1e6)


def test_the_loopback_is_counted_once() -> None:
    lo = Wire(interface="lo", loopback=True, mtu_bytes=65536)
    last = reading(1.0, rx_bytes=1_001_000_000, rx_packets=15_200, tx_bytes=1_001_000_000, moved_bytes=1_000_000_000)
    for receiving in (True, False):
        assert sample_between(reading(0.0), last, lo, receiving=receiving).others_link_bytes == 0
    two = replace(last, rx_bytes=2_002_000_000, rx_packets=30_400, tx_bytes=2_002_000_000)
    assert sample_between(reading(0.0), two, lo, receiving=True).others_link_bytes == pytest.approx(1e9, rel=0.05)


def test_own_bytes_are_placed_by_the_report_that_came_soonest() -> None:
    own = OwnTraffic()
    assert own.at(100.0) == 0
    own.add(100.5, 0.1, 100)  # 0.4 s late
    own.add(100.35, 0.3, 300)  # 0.05 s late
    own.add(102.0, 1.0, 1000)
    assert own.at(100.05) == 0
    assert own.at(100.05 + 0.2) == pytest.approx(200)
    assert own.at(100.05 + 0.65) == pytest.approx(650)
    assert own.at(200.0) == 1000


def test_own_bytes_ignore_a_report_out_of_order() -> None:
    own = OwnTraffic()
    own.add(1.0, 1.0, 1000)
    own.add(1.0, 0.5, 700)
    assert own.at(0.5) == pytest.approx(500)


def test_a_run_whose_program_times_it_shorter_than_we_watched_it_is_counted_whole() -> None:
    own = OwnTraffic()
    own.add(1.0, 1.0, 1000)
    own.add(1.2, 0.9, 1500)
    assert own.at(0.5) == pytest.approx(500)
    assert own.at(1.1) == 1500


STAT = "7 (a (b) c) S 3 7 7 0 -1 4194560 100 0 0 0 11 22 5 6 20 0 1 0 100 1000 10"


def test_a_process_whose_name_has_parentheses() -> None:
    assert parse_stat(STAT) == Process(parent=3, name="a (b) c", ticks=33, ended_children_ticks=11, started_ticks=100)
    assert parse_stat("") is None
    assert parse_stat("7 (x) S 1") is None


def test_whose_time_it_is() -> None:
    table = {
        1: Process(parent=0, name="init", ticks=5, ended_children_ticks=1000),
        2: Process(parent=0, name="kthreadd", ticks=1, ended_children_ticks=0),
        3: Process(parent=2, name="kworker", ticks=40, ended_children_ticks=0),
        10: Process(parent=1, name="sharebench", ticks=7, ended_children_ticks=500),
        11: Process(parent=10, name="child", ticks=100, ended_children_ticks=30),
        12: Process(parent=11, name="iperf3", ticks=200, ended_children_ticks=0),
        13: Process(parent=10, name="burner", ticks=9999, ended_children_ticks=0),
    }
    assert process_tree(table, (11, 99)) == {11, 12}
    assert Ours(trees=frozenset({11}), single=frozenset({10, 11})).ticks(table) == 337
    assert kernel_ticks(table) == 41
    assert kernel_ticks({2: Process(parent=1, name="sh", ticks=5, ended_children_ticks=0)}) == 0


def test_cpu_times_and_disks_of_proc() -> None:
    cpu = parse_cpu("cpu  10 1 20 900 50 3 4 12 0 0\ncpu0 1 1\nprocs_running 3\n")
    assert cpu == ProcessorTicks(user=11, system=27, idle=950, interrupts=7, stolen=12, runnable=3)
    assert (cpu.total, cpu.busy) == (1000, 38)
    assert parse_cpu("intr 5\n") is None
    assert parse_cpu(None) is None
    lines = (
        "8 0 sda 1 0 0 0 1 0 0 0 0 777 9\n7 0 loop0 1 0 0 0 1 0 0 0 0 5 9\n253 0 dm-0 1 0 0 0 1 0 0 0 0 6 9\nshort\n"
    )
    assert parse_disks(lines) == {"sda": 777}


def test_a_system_that_says_nothing_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activity, "read_text", lambda _: None)
    with QuietWatch(Target(protocol="file", path="/tmp"), Command.GET) as watching:
        assert watching.look(0.1).verdict is QuietVerdict.UNKNOWN
        watching.run_started()
        watching.moved(0.1, 10)
        watching.run_finished(0.2, 20)
        assert watching.verdict().verdict is QuietVerdict.UNKNOWN


def scripted(monkeypatch: pytest.MonkeyPatch, readings: Iterator[Reading]) -> None:
    """Let every look at the machine take the next of the given readings, ten milliseconds apart."""
    monkeypatch.setattr(activity, "take_reading", lambda *_: next(readings))
    monkeypatch.setattr(quiet_watch, "INTERVAL_SECONDS", 0.01)
    monkeypatch.setattr(quiet_watch, "COST_SHARE", 1.0)


def busy_then_idle(busy_until: float) -> Iterator[Reading]:
    at, working = time.monotonic(), 0
    start = at
    while True:
        at += 1.0
        working += 190 if at - start < busy_until else 2
        yield replace(reading(at - start, working=working), at_seconds=at)


def test_waiting_ends_with_the_first_look_that_is_not_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, busy_then_idle(7.5))
    with QuietWatch(Target(protocol="file", path="/tmp"), Command.GET) as watching:
        waits = list(watching.until_quiet(watching.look(2), 60, seconds=2))
        assert watching.verdict().verdict is QuietVerdict.QUIET
        assert len(waits) > 1
        assert all(reason.startswith("other programs took ") for _, reason in waits)
        assert [left for left, _ in waits] == sorted((left for left, _ in waits), reverse=True)


def test_waiting_gives_up_at_its_limit_or_when_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, busy_then_idle(1e9))
    stopped = threading.Event()
    stopped.set()
    with QuietWatch(Target(protocol="file", path="/tmp"), Command.GET) as watching:
        busy = watching.look(2)
        assert busy.verdict is QuietVerdict.BUSY
        assert len(list(watching.until_quiet(busy, 0, seconds=2))) == 1
        assert not list(watching.until_quiet(busy, 1e9, seconds=2, stop=stopped))


def test_runs_add_up_and_what_lies_between_them_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, busy_then_idle(0.0))
    with QuietWatch(Target(protocol="file", path="/tmp"), Command.GET) as watching:
        for _ in range(2):
            watching.run_started()
            watching.run_finished(0.5, 1000)
        seconds = watching.verdict().figures["seconds_during"]
        assert isinstance(seconds, float)
        assert seconds >= 2
        watching.run_started()
    assert watching._thread is None


BURN = [sys.executable, "-c", "while True: pass"]


@pytest.fixture
def burners() -> Iterator[list[int]]:
    """Programs that never rest, one for each CPU."""
    running = [subprocess.Popen(BURN) for _ in range(os.cpu_count() or 1)]
    try:
        yield [one.pid for one in running]
    finally:
        for one in running:
            one.kill()
            one.wait()


@pytest.mark.long
@pytest.mark.usefixtures("burners")
def test_a_real_load_beside_a_run_makes_the_time_busy() -> None:
    with QuietWatch(Target(protocol="file", path="/tmp"), Command.GET) as watching:
        watching.run_started()
        threading.Event().wait(1.5)
        watching.run_finished(1.5, 1000)
        quiet = watching.verdict()
    assert quiet.verdict is QuietVerdict.BUSY
    assert "other programs" in quiet.reasons[0]
    assert quiet.to_json()["cpu_percent_during"]


@pytest.mark.usefixtures("burners")
def test_a_real_load_before_a_series_makes_the_time_busy() -> None:
    with QuietWatch(Target(protocol="file", path="/tmp"), Command.GET) as watching:
        assert watching.look(1.0).verdict is QuietVerdict.BUSY


def test_the_measuring_processes_own_work_is_counted_as_ours(burners: list[int]) -> None:
    ours, nobody = Ours(trees=frozenset(burners)), Ours()
    first = take_reading(Wire(), ours)
    assert first is not None
    deadline = time.monotonic() + HANG_SECONDS
    while (now := take_reading(Wire(), ours)) is not None and time.monotonic() < deadline:
        if now.our_ticks - first.our_ticks >= 20:
            break
    assert now is not None
    assert now.our_ticks - first.our_ticks >= 20
    sample = sample_between(first, now, Wire(), receiving=True)
    unclaimed = sample_between(replace(first, our_ticks=0), replace(now, our_ticks=0), Wire(), receiving=True)
    assert sample.others_cpu_percent < unclaimed.others_cpu_percent
    idle = take_reading(Wire(), nobody)
    assert idle is not None
    assert idle.our_ticks == 0


def test_the_server_on_this_machine_is_found_by_its_port() -> None:
    serve = "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", serve], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        port = int(server.stdout.readline())
        assert servers_here(port) == {server.pid}
        server.communicate("\n")


def test_a_server_whose_port_cannot_be_seen_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {
        1: Process(parent=0, name="init", ticks=0, ended_children_ticks=0),
        5: Process(parent=1, name="smbd", ticks=0, ended_children_ticks=0),
        6: Process(parent=5, name="smbd[127.0.0.1]", ticks=0, ended_children_ticks=0),
    }
    monkeypatch.setattr(processes, "all_processes", lambda: table)
    assert servers_here(None) == {5}


def measured(server: Smbd, command: Command) -> tuple[dict[str, JSONValue], float]:
    """The quiet record of a real series on the loopback, and the bytes per second of its slowest run."""
    plan = order_with(
        command=command,
        target=server.target(),
        secrets=server.secrets(),
        warmups=1,
        runs=2,
        size_bytes=1 << 29,
        make_file=command is Command.GET,
    )
    rates: list[float] = []
    link = find_link(server.host, server.port)
    with QuietWatch(plan.target, command, link) as watching, MeasuringProcess(plan, SeriesControl()) as child:
        watching.count_as_ours(child.pid)
        for event in child.events():
            if isinstance(event, RunStarted):
                watching.run_started()
            elif isinstance(event, Progressed):
                watching.moved(event.seconds, event.moved_bytes)
            elif isinstance(event, RunFinished):
                watching.run_finished(event.run.seconds, event.run.size_bytes)
                rates.append(event.run.bytes_per_second or 0.0)
        return watching.verdict().to_json(), min(rates)


@pytest.mark.alone
@pytest.mark.parametrize("command", list(Command))
def test_a_series_of_our_own_is_not_called_a_busy_time(smbd: Smbd, command: Command) -> None:
    """A watch that takes our own load for others' does so each time; on a busy machine nothing can be said."""
    for _ in range(3):
        with QuietWatch(smbd.target(), command) as around:
            busy = around.look(1).verdict is QuietVerdict.BUSY
            record, rate = measured(smbd, command)
            busy = busy or around.look(1).verdict is QuietVerdict.BUSY
        stolen = record.get("stolen_percent_during", 0.0)  # a host that others share takes it from those who work
        busy = busy or (isinstance(stolen, float) and stolen > quiet_time.STOLEN_PERCENT.typical)
        others = record["others_link_bytes_per_second_during"]
        if not busy and isinstance(others, int) and others < 0.03 * rate:
            break
    if busy:
        pytest.skip("others keep this machine busy, so nothing can be said of our own load")
    assert record["verdict"] != "busy", record
    assert isinstance(record["cpu_percent_during"], float)
    assert record["cpu_percent_during"] > 30
    for kind in ("cpu_percent", "cpu_user_percent", "cpu_system_percent"):  # a fast machine has too few looks for one
        assert isinstance(record.get(f"{kind}_median_during", 0.0), float)
    assert isinstance(others, int)
    assert others < 0.03 * rate


@pytest.mark.alone
@pytest.mark.usefixtures("burners")
def test_a_series_beside_another_load_is_called_a_busy_time(smbd: Smbd) -> None:
    assert measured(smbd, Command.GET)[0]["verdict"] == "busy"


TRANSFER = """
import json, socket, sys, threading, time
from app.server.link_facts import find_link
from app.server.quiet_watch import QuietWatch
from storage.records import Command, Target

def serve(listener):
    while True:
        conn = listener.accept()[0]
        threading.Thread(target=feed, args=(conn,), daemon=True).start()

def feed(conn):
    block = bytes(1 << 18)
    try:
        while True:
            conn.sendall(block)
            time.sleep(0.002)
    except OSError:
        pass

listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(listener,), daemon=True).start()

def drain(stop):
    with socket.create_connection(listener.getsockname()) as other:
        while not stop.is_set():
            other.recv(1 << 18)

stop = threading.Event()
if sys.argv[1] == "two":
    threading.Thread(target=drain, args=(stop,), daemon=True).start()
target = Target(protocol="smb", host="127.0.0.1", port=listener.getsockname()[1], share="x", path="y")
with QuietWatch(target, Command.GET, find_link("127.0.0.1")) as watch, socket.create_connection(
    listener.getsockname()
) as ours:
    watch.run_started()
    began, moved = time.perf_counter(), 0
    due = 0.1
    while (seconds := time.perf_counter() - began) < 2:
        moved += len(ours.recv(1 << 18))
        if seconds > due:
            watch.moved(seconds, moved)
            due += 0.1
    watch.run_finished(time.perf_counter() - began, moved)
    record = watch.verdict().to_json()
stop.set()
print(json.dumps({**record, "own": moved / seconds}))
"""


@pytest.mark.alone
@pytest.mark.parametrize("streams", ["one", "two"])
def test_a_second_stream_on_the_link_is_told_from_our_own(streams: str) -> None:
    require("ip")
    if not can_make_namespaces():
        unavailable("a loopback of its own needs root")
    words = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, "-c", TRANSFER]
    done = subprocess.run([*words, streams], capture_output=True, text=True, check=True, cwd=ROOT)
    record = json.loads(done.stdout)
    told = any("others moved" in why for why in record["reasons"])
    if streams == "two":
        assert record["others_link_bytes_per_second_during"] > 0.3 * record["own"]
        assert record["verdict"] == "busy"
        assert told
    else:
        assert record["others_link_bytes_per_second_during"] < 0.03 * record["own"]
        assert not (record["verdict"] == "busy" and told)
