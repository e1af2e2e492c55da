"""Loads and series while the server, or this machine, stands still, and beside programs that burn a processor."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil

from app.load.events import LoadPhase, PhaseBegan, PointMeasured
from app.load.measurement import LoadClosed
from app.load.record import run_load
from app.load.scenario import change_scenario, find_scenario
from app.load.spec import LoadRequest
from app.recording.process import SeriesControl
from forms.findings.series_warnings import advice
from forms.load.lateness import standstill_seconds
from forms.load.summary import stall_of
from forms.load.wording import load_answer
from storage.load.records import Load, LoadChoices, LoadPoint, PointStatus
from tests.builders import all_series, last_series
from tests.command_line import Sharebench
from tests.reliability.counters import CreateCounter
from tests.servers.netns import Link
from tests.servers.process import die_with_parent
from tests.servers.smbd import Smbd
from tests.waiting import HANG_SECONDS

STOP_SECONDS, WORK_SECONDS = 3.0, 4.0
RATE_PERCENT = 3.0
"""smbd writes its counters once a second: over twelve seconds a rate by them is known to 2 %."""
LINK_BYTES = 48 << 20
"""About four seconds over 100 Mbit/s."""
GROUPS = Path("/sys/fs/cgroup/cpu")


@contextmanager
def burners(count: int) -> Iterator[None]:
    """Programs that use a processor each."""
    with ExitStack() as stack:
        for _ in range(count):
            burner = subprocess.Popen(
                [sys.executable, "-c", "while True: pass"],
                preexec_fn=die_with_parent,  # noqa: PLW1509  no threads matter before exec
            )
            stack.callback(burner.wait)
            stack.callback(burner.kill)
        yield


def stop_for(processes: Sequence[psutil.Process], seconds: float) -> tuple[float, float]:
    """Stop all of them, and have them go on: from when to when."""
    times = []
    for change in (signal.SIGSTOP, signal.SIGCONT):
        for process in processes:
            with suppress(psutil.Error):
                process.send_signal(change)
        times.append(time.monotonic())
        if change is signal.SIGSTOP:
            time.sleep(seconds)
    return times[0], times[1]


def processes_of(server: Smbd) -> list[psutil.Process]:
    assert server.pid is not None
    parent = psutil.Process(server.pid)
    return [parent, *parent.children(recursive=True)]


def load_workers() -> list[psutil.Process]:
    """The processes that make a load here."""
    found = []
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "worker" in child.cmdline():
                found.append(child)
    return found


def stopped_load(
    who: str, *, think: str | None = None, pace: float | None = None, seconds: float = 12.0
) -> tuple[Load, float]:
    """A load of four users in whose window the ``server`` or the ``client`` is stopped, and for how long it was."""
    scenario = change_scenario(
        find_scenario("redpaper"), files=60, settle_seconds=1.0, duration_seconds=seconds, think=think,
        pace_seconds=pace,
    )  # fmt: skip
    server, stops = Smbd(), list[float]()
    load: Load | None = None
    window: PointMeasured | None = None

    def stop_once() -> None:
        time.sleep(WORK_SECONDS)
        stops.extend(stop_for(processes_of(server) if who == "server" else load_workers(), STOP_SECONDS))

    with tempfile.TemporaryDirectory(prefix="sharebench-hiccups-") as folder:
        try:
            server.start()
            request = LoadRequest(
                targets=(server.target(),), secrets=server.secrets(), scenario=scenario,
                choices=LoadChoices(users=(4,), processes=2),
            )  # fmt: skip
            stopping = threading.Thread(target=stop_once)
            for step in run_load(request, Path(folder) / "n.db", SeriesControl()):
                if isinstance(step, PhaseBegan) and step.phase is LoadPhase.STEADY:
                    stopping.start()
                elif isinstance(step, PointMeasured):
                    window = step
                elif isinstance(step, LoadClosed):
                    load = step.load
            if stopping.ident is not None:
                stopping.join()
        finally:
            server.stop()
    assert load is not None
    if window is None or len(stops) < 2 or not window.began_seconds < stops[0] < stops[1] < window.ended_seconds:
        raise RuntimeError("nothing was stopped inside the steady window; is this machine overloaded?")
    return load, stops[1] - stops[0]


def told_of(load: Load, point: LoadPoint) -> str:
    return (
        f"{load_answer(load)}; {point.status}: {point.reason}; silent {point.silent_seconds:.2f} s, this machine"
        f" {standstill_seconds(point):.2f} s, offered {point.offered_per_second}"
    )


def stopped_server(*, think: str | None = None, pace: float | None = None) -> tuple[str, str, bool]:
    """(truth, product, whether it holds)"""
    load, seconds = stopped_load("server", think=think, pace=pace)
    point, answer = load.points[0], load_answer(load)
    stall = stall_of(point)
    is_told = stall is not None and abs((stall.silent_seconds or 0.0) - seconds) < 0.5
    holds = point.status is PointStatus.VALID and is_told and "answered nothing" in answer
    return f"the server was stopped for {seconds:.2f} s", told_of(load, point), holds


def stopped_client(*, think: str | None = None, pace: float | None = None) -> tuple[str, str, bool]:
    """(truth, product, whether it holds)"""
    load, seconds = stopped_load("client", think=think, pace=pace)
    point = load.points[0]
    is_named = abs(standstill_seconds(point) - seconds) < 0.5 and "stood still" in (point.reason or "")
    holds = point.status is PointStatus.GENERATOR and is_named and "answered nothing" not in load_answer(load)
    return f"the client was stopped for {seconds:.2f} s", told_of(load, point), holds


def beside_burners(count: int) -> tuple[str, str, bool]:
    """Loads of 5, 10 and 20 users beside burners: judged, and right by smbd's own counter."""
    with burners(count):
        server = Smbd({"smbd profiling level": "count"})
        try:
            server.start()
            scenario = change_scenario(
                find_scenario("redpaper"), files=200, settle_seconds=3.0, duration_seconds=15.0, think="0.1"
            )
            request = LoadRequest(
                targets=(server.target(),), secrets=server.secrets(), scenario=scenario,
                choices=LoadChoices(users=(5, 10, 20), processes=2),
            )  # fmt: skip
            windows: dict[int, PointMeasured] = {}
            load: Load | None = None
            with (
                CreateCounter(server.conf) as counter,
                tempfile.TemporaryDirectory(prefix="sharebench-hiccups-") as folder,
            ):
                for step in run_load(request, Path(folder) / "n.db", SeriesControl()):
                    if isinstance(step, PointMeasured):
                        windows[step.users] = step
                    elif isinstance(step, LoadClosed):
                        load = step.load
        finally:
            server.stop()
    assert load is not None
    told, holds = [], True
    for point in load.points:
        began = windows[point.users].began_seconds
        counted = counter.rate(began, began + point.seconds)
        off = 100 * ((point.requests_per_second or 0.0) / counted - 1)
        holds = holds and point.status is PointStatus.VALID and abs(off) <= RATE_PERCENT
        told.append(f"{point.users} users {point.status} {point.reason or ''} {off:+.1f} % off smbd's count")
    return f"each rate within {RATE_PERCENT:g} % of smbd's own count", "; ".join(told), holds


@contextmanager
def held_to(server: Smbd, processors: float) -> Iterator[None]:
    """The server's processes may use that much of one processor, by a control group."""
    group = GROUPS / f"sharebench-hiccups-{os.getpid()}"
    group.mkdir()
    try:
        (group / "cpu.cfs_quota_us").write_text(str(int(100_000 * processors)))
        for process in processes_of(server):
            (group / "cgroup.procs").write_text(str(process.pid))
        yield
    finally:
        for pid in (group / "cgroup.procs").read_text().split():
            with suppress(OSError):
                (group.parent / "cgroup.procs").write_text(pid)
        group.rmdir()


def capacity(burning: int, processors: float = 0.2) -> tuple[str, str, bool]:
    """The search for the capacity of an smbd with a fifth of a processor, beside burners."""
    server = Smbd()
    with burners(burning), ExitStack() as stack:
        stack.callback(server.stop)
        server.start()
        stack.enter_context(held_to(server, processors))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sharebench-hiccups-")))
        scenario = change_scenario(
            find_scenario("redpaper"), files=100, settle_seconds=2.0, duration_seconds=8.0, think="0.1"
        )
        request = LoadRequest(
            targets=(server.target(),), secrets=server.secrets(), scenario=scenario,
            choices=LoadChoices(users=(5,), find_capacity=True, processes=2),
        )  # fmt: skip
        steps = run_load(request, folder / "n.db", SeriesControl())
        load = next(step.load for step in steps if isinstance(step, LoadClosed))
    found = load.capacity
    is_bracket = found is not None and found.carried is not None and found.not_carried is not None
    points = "; ".join(f"{point.users} users {point.status} {point.reason or ''}" for point in load.points)
    return "a bracket, or why there is none", f"{load_answer(load)} ({points})", is_bracket


def stopped_series() -> tuple[str, str, bool]:
    """A series over a link of 100 Mbit/s in one of whose runs the whole of sharebench is stopped for three seconds."""
    with ExitStack() as stack:
        link = Link("100mbit")
        stack.callback(link.close)
        server = Smbd(link=link)
        stack.callback(server.stop)
        server.start()
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sharebench-hiccups-")))
        server.make_file("large.bin", bytes(LINK_BYTES))
        url = f"smb://{server.user}@{server.host}:{server.port}/{server.share}/large.bin"
        quick = ("--runs", "3", "--warmup", "0", "--quiet-time", "skip", "--ceiling", "skip", "--json")
        running = Sharebench(folder / "n.db", server.password).start("run", url, *quick)
        _wait_until(lambda: _is_second_run(folder / "n.db"))
        time.sleep(1.0)
        tree = [psutil.Process(running.pid), *psutil.Process(running.pid).children(recursive=True)]
        began, ended = stop_for(tree, STOP_SECONDS)
        running.communicate(timeout=HANG_SECONDS)
        series = last_series(folder / "n.db")
    keys = {finding.key: finding.text for finding in advice(series)}
    facts = {name: value for name, value in series.environment["path"].items() if name.startswith("standstill.")}
    holds = any(abs(float(value) - STOP_SECONDS) < 0.5 for value in facts.values()) and len(facts) == 1
    holds = holds and "standstill" in keys and "unusual" not in keys and "warm-up" not in keys
    return f"sharebench was stopped for {ended - began:.2f} s", f"{facts}; {keys.get('standstill')}", holds


def _wait_until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            raise RuntimeError("no run ended in time")
        time.sleep(0.1)


def _is_second_run(notebook_path: Path) -> bool:
    """Whether one run is stored, so that the second goes on."""
    return notebook_path.exists() and any(len(series.runs) == 1 for series in all_series(notebook_path))
