"""From what workers counted to a point: added up, and valid only where nothing speaks against it."""

from typing import Any

import pytest

from app.base.messages import line_of, message_of
from app.load.events import LOAD_EVENTS, PointMeasured
from app.load.judgement import load_point
from app.load.looks.server_view import server_view
from app.load.next_point import NextPoint, next_point
from app.load.worker_figures import SteadyWindow, WorkerFigures
from app.server.host_activity import ProcessorTicks
from app.server.resources import ProcessMemory, ResourceSample
from forms.load.summary import stall_of, tells_of_server
from storage.load.records import MOST_USERS, Limit, LoadChoices, PointStatus, RequestKind
from tests.loads import histogram, point, scenario


def worker(users: int = 5, **changes: Any) -> WorkerFigures:
    """Ten seconds of users who think 0.1 s and wait 0.025 s."""
    cycles = users * 80
    usual: dict[str, Any] = {
        "index": 1, "seconds": 10.0, "users": users, "connected": users,
        "requests": cycles, "reads": cycles * 4 // 5, "writes": cycles // 5,
        "read_bytes": 1000, "write_bytes": 500, "late_starts": 2, "answers": cycles, "pauses": cycles,
        "failures": 0, "failed_seconds": 0.0, "think_seconds": 0.1 * cycles, "edge_seconds": 0.0,
        "slices": (cycles // 5,) * 5, "silent_seconds": 0.3, "errors": {}, "first_error": "", "absent": "",
        "response": histogram(*[0.025] * cycles), "service": histogram(*[0.025] * cycles),
        "operations": {RequestKind.READ: histogram(0.025)}, "lateness": histogram(0.0005),
        "logins": histogram(0.03), "cpu_percent": 20.0, "held_percent": 25.0,
    }  # fmt: skip
    return WorkerFigures(**usual | changes)


def measured(*workers: WorkerFigures, users: int = 10, **changes: Any) -> PointMeasured:
    usual: dict[str, Any] = {
        "point": 1,
        "users": users,
        "began_seconds": 0.0,
        "ended_seconds": 10.0,
        "ramp_seconds": 1.0,
    }
    return PointMeasured(**usual | {"workers": workers} | changes)


def test_two_workers_are_one_load():
    event = message_of(line_of(measured(worker(), worker())), LOAD_EVENTS)
    assert isinstance(event, PointMeasured)
    found = load_point(event)
    assert found.status is PointStatus.VALID, found.reason
    assert (found.connected, found.requests, found.reads, found.late_starts) == (10, 800, 640, 4)
    assert found.requests_per_second == 80.0
    assert found.slices == (160,) * 5
    assert found.slice_rates == (80.0,) * 5
    assert found.response.count == 800
    assert found.operations["read"].count == 2
    assert found.think_seconds == pytest.approx(0.1)
    assert found.little_percent == pytest.approx(0.0, abs=0.001)


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"cpu_percent": 71.0}, PointStatus.GENERATOR, "71 % of a processor"),
        ({"cpu_percent": 70.0}, PointStatus.VALID, ""),
        ({"held_percent": 99.0}, PointStatus.VALID, ""),
        ({"lateness": histogram(*[0.006] * 100)}, PointStatus.GENERATOR, "adds about 6.0 ms to p95"),
        (
            {"lateness": histogram(*[0.006] * 100), "held_percent": 65.0},
            PointStatus.GENERATOR,
            "waiting for a processor 45 % of the time",
        ),
        ({"lateness": histogram(*[0.0049] * 100)}, PointStatus.VALID, ""),
        ({"silent_seconds": 5.1, "cpu_percent": 80.0}, PointStatus.FAILED, "for 5 of 10 s users waited and nothing"),
        ({"edge_seconds": 1.1}, PointStatus.REJECTED, "1.1 % off the users"),
        ({"edge_seconds": -1.1}, PointStatus.REJECTED, "−1.1 % off the users"),
        ({"pauses": 389}, PointStatus.REJECTED, "did not pause once an answer"),
        ({"answers": 401, "failures": 0}, PointStatus.REJECTED, "801 answers are not 800 requests and 0 errors"),
        ({"answers": 401, "failures": 1, "failed_seconds": 0.025}, PointStatus.VALID, ""),
        ({"response": histogram(*[0.025] * 399)}, PointStatus.REJECTED, "contradict"),
        (
            {"service": histogram(*[0.0085] * 400), "response": histogram(*[0.0085] * 400)},
            PointStatus.REJECTED,
            "6.6 % off the users",
        ),
        (
            {"connected": 3, "first_error": "refused"},
            PointStatus.FAILED,
            "8 of 10 users had a session at the end: refused; look how many connections",
        ),
        ({"connected": 3, "absent": "late"}, PointStatus.FAILED, "8 of 10 users had a session at the end: late; look"),
        ({"connected": 3}, PointStatus.FAILED, "8 of 10 users had a session at the end: its worker processes do not"),
    ],
)
def test_what_speaks_against_a_point(changes, status, said):
    found = load_point(measured(worker(), worker(**changes)))
    assert found.status is status
    assert said in (found.reason or "")
    assert "--" not in (found.reason or ""), "it stands on the form"


@pytest.mark.parametrize(("late_seconds", "status"), [(0.0099, PointStatus.VALID), (0.0101, PointStatus.GENERATOR)])
def test_late_timers_are_held_against_the_response(late_seconds: float, status: PointStatus):
    """A response of 100 ms at p95 is not told wrong by timers that fire 9.9 ms late."""
    slow = {name: histogram(*[0.1] * 250) for name in ("response", "service")}
    usual: dict[str, Any] = {"requests": 250, "answers": 250, "pauses": 250, "think_seconds": 25.0} | slow
    late = worker(lateness=histogram(*[late_seconds] * 100), **usual)
    found = load_point(measured(late, users=5))
    assert found.status is status, found.reason


def seen_on_two_processors(users: int, seconds: float = 12.0, **changes: Any) -> WorkerFigures:
    """What smbd's own counter found right to 1.4 % while p99 of the timers was 9 to 10 ms late."""
    requests = round(9.4 * users * seconds)
    answered = histogram(*[0.004] * (requests - requests // 10), *[0.016] * (requests // 10))
    late = histogram(*[0.0008] * 880, *[0.004] * 100, *[0.0095] * 20)
    usual: dict[str, Any] = {
        "seconds": seconds, "requests": requests, "answers": requests, "pauses": requests,
        "reads": requests, "writes": 0, "slices": (requests // 5,) * 5,
        "think_seconds": users * seconds - answered.total_microseconds / 1e6,
        "response": answered, "service": answered, "lateness": late,
    }  # fmt: skip
    return worker(users, **usual | changes)


@pytest.mark.parametrize("users", [5, 10, 20])
def test_a_rate_that_is_right_is_judged_although_some_timers_are_late(users: int):
    assert load_point(measured(seen_on_two_processors(users), users=users)).status is PointStatus.VALID


@pytest.mark.parametrize(("late_share", "status"), [(0.03, PointStatus.VALID), (0.06, PointStatus.GENERATOR)])
def test_requests_that_go_out_late_take_from_the_rate(late_share: float, status: PointStatus):
    """Users who pause wait for this machine as they would for the server, so a twentieth of their time is the most."""
    late_seconds = late_share * 5 * 10.0 / 400
    response = histogram(*[0.025 + late_seconds] * 400)
    point = load_point(measured(worker(response=response), users=5))
    assert point.status is status, point.reason
    paced = load_point(measured(worker(response=response), users=5), is_paced=True)
    assert paced.status is PointStatus.VALID, "a schedule makes each request all the same"


@pytest.mark.parametrize(
    ("standstill", "status"),
    [(0.2, PointStatus.VALID), (3.0, PointStatus.GENERATOR), (6.0, PointStatus.GENERATOR)],
)
def test_a_machine_that_stood_still_is_named_and_the_server_is_not_accused(standstill: float, status: PointStatus):
    stopped = worker(silent_seconds=standstill, lateness=histogram(*[0.0005] * 400, standstill))
    point = load_point(measured(stopped, users=5))
    assert point.status is status
    assert (point.reason == f"cannot be judged: the load generator stood still for {standstill:.1f} s") is (
        status is PointStatus.GENERATOR
    )
    assert stall_of(point) is None


def test_a_server_that_stood_still_is_told_whatever_this_machine_did():
    """Seen: stopped for 3 of 12 s while four users paused 0.1 s, "this machine was the limit: 6.4 ms late"."""
    answered = histogram(*[0.0045] * 340, *[0.009] * 8, *[2.957] * 4)
    lateness = histogram(*[0.001] * 580, *[0.0064] * 8)
    stopped = seen_on_two_processors(
        4, requests=352, answers=352, pauses=352, reads=352, response=answered, service=answered,
        think_seconds=48.0 - answered.total_microseconds / 1e6, silent_seconds=2.99, lateness=lateness,
    )  # fmt: skip
    point = load_point(measured(stopped, users=4))
    assert point.status is PointStatus.VALID, point.reason
    stall = stall_of(point)
    assert stall is not None
    assert stall.silent_seconds == pytest.approx(2.98, abs=0.02)


def test_users_who_only_hold_a_session_are_measured_however_late_the_timers_fire():
    none = histogram()
    still = worker(
        requests=0, answers=0, pauses=0, think_seconds=0.0, response=none, service=none, cpu_percent=99.0,
        held_percent=99.0, lateness=histogram(*[0.2] * 100),
    )  # fmt: skip
    assert load_point(measured(still, users=5), idle=True).status is PointStatus.VALID


def test_a_died_worker_fails_the_point_and_no_request_is_no_measurement():
    found = load_point(measured(failure="a worker process was ended by signal 9", errors={"connection lost": 3}))
    assert (found.status, found.errors) == (PointStatus.FAILED, {"connection lost": 3})
    assert (found.limit, tells_of_server(found)) == (Limit.GENERATOR, False)
    none = histogram()
    still = worker(requests=0, answers=0, pauses=0, think_seconds=0.0, response=none, service=none)
    assert load_point(measured(still, users=5)).status is PointStatus.FAILED
    assert load_point(measured(still, users=5), idle=True).status is PointStatus.VALID


def test_logins_that_were_refused_in_the_ramp_are_counted_where_users_are_missing():
    found = load_point(measured(worker(), worker(connected=3), errors={"login refused": 6}, first_error="refused"))
    assert found.errors == {"login refused": 6}
    assert load_point(measured(worker(), worker(), errors={"login refused": 1})).errors == {}


def sample(second: int, busy: int, **changes: Any) -> ResourceSample:
    usual: dict[str, Any] = {
        "at_seconds": float(second), "uptime_seconds": 100.0 + second,
        "processors": ProcessorTicks(user=busy, system=busy, idle=200 * second - 2 * busy),
        "server_ticks": busy, "server_processes": 7, "interfaces": {"eth0": (1000 * second, 3000 * second)},
        "disk_busy_seconds": {"vda": 0.5 * second}, "periods": (10 * second, 4 * second),
    }  # fmt: skip
    return ResourceSample(**usual | changes)


def test_the_server_from_samples_without_the_first_and_the_last():
    memory = ProcessMemory(uss_bytes=5, pss_bytes=6, processes=7)
    busy = [0, 90, 140, 190, 240, 330]
    samples = [sample(second, ticks) for second, ticks in enumerate(busy)]
    samples[2] = sample(2, 140, memory=memory)
    found = server_view(samples)
    assert found is not None
    assert (found.samples, found.processors, found.processes) == (3, 2, 7)
    assert (found.user_percent.mean, found.total_percent.mean, found.total_percent.deviation) == (25.0, 50.0, 0.0)
    assert found.smbd_percent is not None
    assert found.smbd_percent.mean == 25.0
    assert found.interfaces == {"eth0": (1000.0, 3000.0)}
    assert found.disk_busy_percent == {"vda": 50.0}
    assert found.throttled_percent == 40.0
    assert (found.smbd_uss_bytes, found.smbd_pss_bytes) == (5, 6)
    assert found.kernel_percent is None
    assert found.others_percent is None
    assert server_view(samples[:1]) is None


def test_the_server_s_processors_are_smbd_s_the_kernel_s_the_generator_s_and_others():
    """Of 200 ticks a second: 100 busy, of which 50 smbd's, 10 the kernel's threads', 6 interrupts', 20 our own."""
    parts = [
        sample(
            second, 50 * second, server_ticks=50 * second, kernel_ticks=10 * second, own_ticks=20 * second,
            processors=ProcessorTicks(
                user=50 * second, system=50 * second, idle=100 * second, interrupts=6 * second
            ),
        )
        for second in range(6)
    ]  # fmt: skip
    found = server_view(parts)
    assert found is not None
    assert found.kernel_percent is not None
    assert found.others_percent is not None
    assert (found.kernel_percent.mean, found.others_percent.mean) == (8.0, 7.0)


def test_a_window_counts_its_fifths_apart_and_a_late_end_with_the_last():
    window = SteadyWindow(100.0, 10.0)
    for ended in (100.0, 101.99, 102.0, 104.0, 107.9, 108.0, 109.99, 113.0):
        window.count_request(RequestKind.READ, 100.0, 100.0, ended)
    assert window.slices == [2, 1, 1, 1, 3]
    assert window.requests == sum(window.slices)
    idle = SteadyWindow(100.0)
    idle.count_request(RequestKind.READ, 100.0, 100.0, 101.0)
    assert idle.slices == [0] * 5


def test_silence_is_what_a_request_waited_while_nothing_moved_for_anybody():
    window = SteadyWindow(100.0)
    window.count_answer(1.0, 101.0)
    window.count_moved(4096, 0, 103.0)
    window.count_answer(9.0, 104.0)
    assert window.silent_seconds == 1.0, "others' bytes moved meanwhile"
    window.count_answer(0.5, 110.0)
    assert window.silent_seconds == 1.0, "users who pause wait for nothing"
    window.count_wait(7.0, 117.0)
    assert window.silent_seconds == 7.0


SEARCH = LoadChoices(find_capacity=True)


def after(carried: int, not_carried: int | None) -> NextPoint | None:
    points = [point(1, carried, 10.0 * carried)]
    if not_carried is not None:
        points.append(point(2, not_carried, 5.0 * not_carried))
    return next_point(points, SEARCH, scenario())


@pytest.mark.parametrize(
    ("carried", "not_carried", "following"),
    [(640, 680, None), (640, 681, 660), (40, 42, None), (40, 43, 41), (8, 9, None), (8, 10, 9)],
)
def test_the_search_ends_when_the_bracket_is_within_a_sixteenth_or_a_user(carried, not_carried, following):
    assert after(carried, not_carried) == (None if following is None else NextPoint(following))


def test_the_users_are_doubled_up_to_the_most_that_may_be():
    assert after(MOST_USERS // 2, None) == NextPoint(2 * (MOST_USERS // 2))
    assert after(MOST_USERS // 2 + 1, None) is None
