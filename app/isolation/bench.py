"""Run each layer of a server, without Samba by dbench (files) and tbench (TCP); returns rates and resources used."""

import os
import re
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

from app.base.child_process import ChildProcess
from app.base.errors import CancelledError, MeasurementError
from app.isolation import places
from app.isolation.replay_child import ReplayPlan, ReplayResult
from app.isolation.script import Operation, Script
from app.recording.process import Failed
from app.server import samples as resources
from app.server.host_facts import servers_here
from app.server.shell import RunningProgram, Said, ServerShell
from app.server.smbd import LATENESS_SECONDS, OFF, ON, ProcessorQuota
from storage.isolation import CPUUse, Layer, LayerRun, ProfileCounter
from storage.records import ClientFacts, RunStatus, utc_now

_WARM_UP_PART = 5
_CONNECT_SECONDS = 15.0
_CLEANUP_WORDS = "failed to create barrier semaphore"
"""A harmless complaint of dbench 4 in every run."""
_HIGH = 100
"""Shells use the first ten descriptors for their own redirections."""
_THROUGHPUT = re.compile(r"Throughput ([\d.]+) MB/sec\s+(\d+) clients.*?max_latency=([\d.]+) ms")
_ROW = re.compile(r"\s*([A-Z]\w+)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s*$")
_OPERATIONS: Mapping[str, Operation] = {
    "Qpathinfo": Operation.QUERY_PATH_INFORMATION,
    "Qfileinfo": Operation.QUERY_FILE_INFORMATION,
    "Qfsinfo": Operation.QUERY_FS_INFORMATION,
    "Sfileinfo": Operation.SET_FILE_INFORMATION,
    "Find": Operation.FIND_FIRST,
}
"""dbench's short names; other names are those of the load file."""
_IN_A_NAMESPACE = """ip link set lo up || exit 1
tbench_srv >/dev/null 2>&1 & server=$!
sleep 0.3
tbench -t "$1" -c "$2" "$3" 127.0.0.1; code=$?
kill "$server"
exit "$code"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchResult:
    """Result of one run of dbench or tbench; a megabyte is 1,000,000 bytes."""

    bytes_per_second: float
    seconds: float
    longest_seconds: float
    operations: Mapping[str, int] = field(default_factory=dict)
    complaints: tuple[str, ...] = ()


def parse_bench(output: Said, program: str, seconds: float) -> BenchResult:
    """Parse the output of a run of ``seconds``. Raises MeasurementError without a result."""
    throughput = _THROUGHPUT.search(output.out)
    lines = f"{output.out}\n{output.error}".splitlines()
    complaints = tuple(
        line.strip() for line in lines if ("failed" in line or "ERROR" in line) and _CLEANUP_WORDS not in line
    )
    if throughput is None or output.code:
        cause = complaints[0] if complaints else output.last_words
        raise MeasurementError(f"{program} gave no result: {cause}; run it by hand to see why")

    rows = filter(None, map(_ROW.match, output.out.splitlines()))
    operations = {str(_OPERATIONS.get(row[1]) or row[1].lower()): int(row[2]) for row in rows}
    return BenchResult(
        bytes_per_second=float(throughput[1]) * 1e6,
        seconds=seconds,
        longest_seconds=float(throughput[3]) / 1000,
        operations=operations,
        complaints=complaints,
    )


class BenchScript:
    """A script readable by dbench: in memory on this machine, in our folder on another one."""

    def __init__(self, script: Script) -> None:
        import fcntl

        self.text = script.text()

        # Sealed, since every program that inherits it could write into it.
        number = os.memfd_create("sharebench-script", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(self.text)
            file.flush()
            fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
            self._number: int = fcntl.fcntl(file.fileno(), fcntl.F_DUPFD_CLOEXEC, _HIGH)

        self.here = f"/proc/self/fd/{self._number}"
        """Its path for a local program that inherits the descriptors."""
        self.descriptors = (self._number,)

    def close(self) -> None:
        os.close(self._number)


class StuckError(MeasurementError):
    """A program did not come to an end."""


def wait_for(program: RunningProgram, name: str, seconds: int) -> BenchResult:
    """Raises StuckError, MeasurementError."""
    output = program.wait(seconds + warm_up_seconds(seconds) + _SLACK_SECONDS)
    if output.problem:
        raise StuckError(f"{name} {output.problem}; run it by hand to see what it waits for")
    return parse_bench(output, name, seconds)


def warm_up_seconds(seconds: int) -> int:
    """Whole seconds of dbench's own warm-up, which add to the given time."""
    return seconds // _WARM_UP_PART


def wait_for_server(host: str) -> None:
    """Wait until ``tbench_srv`` listens. Raises MeasurementError."""
    gives_up_at = time.monotonic() + _CONNECT_SECONDS
    while True:
        try:
            socket.create_connection((host, places.TBENCH_PORT), 1.0).close()
        except OSError as error:
            if time.monotonic() > gives_up_at:
                raise MeasurementError(
                    f"tbench_srv on {host} cannot be reached on port {places.TBENCH_PORT} ({error}); open it for"
                    " this machine"
                ) from error
        else:
            return

        time.sleep(0.1)


class ResourceWatch(resources.SampledSides):
    """Samples the server, where it can be reached, and this machine, as long as a layer is measured."""

    def into(self, run: LayerRun, began: float, ended: float) -> LayerRun:
        if self.own:
            run = replace(run, client_cpu=cpu_use(self.own.samples(began, ended)))
        return with_resources(run, self.server.samples(began, ended)) if self.server else run


def with_resources(run: LayerRun, samples: Sequence[resources.ResourceSample]) -> LayerRun:
    if len(samples) < 2:
        return run

    first = samples[0]
    last = samples[-1]
    shares = {
        "server": resources.percents([(first, last)], lambda sample: sample.server_ticks),
        "kernel": resources.percents([(first, last)], lambda sample: sample.kernel_part),
    }
    card_rates = resources.card_rates(first, last).values()
    in_rate, out_rate = max(card_rates, key=sum, default=(None, None))
    return replace(
        run,
        server_cpu=cpu_use(samples),
        processes={name: max(0.0, *percents) for name, percents in shares.items() if percents},
        disk_busy_percent=max(resources.disk_percents(first, last).values(), default=None),
        in_bytes_per_second=in_rate,
        out_bytes_per_second=out_rate,
    )


def cpu_use(samples: Sequence[resources.ResourceSample]) -> CPUUse | None:
    pairs = list(pairwise(samples))
    user_percents = resources.percents(pairs, lambda sample: sample.processors.user)
    if not user_percents:
        return None

    system_percents = resources.percents(pairs, lambda sample: sample.processors.system)
    totals = [user + system for user, system in zip(user_percents, system_percents, strict=True)]
    return CPUUse(
        user=resources.spread_of(user_percents),
        system=resources.spread_of(system_percents),
        total=resources.spread_of(totals),
        samples=len(user_percents),
    )


_SLACK_SECONDS = 120.0
"""For logins, the last request, and cleaning up."""
_NEVER_SECONDS = 86_400
_SAMPLES = 5
"""Samples in a short run; time before the first and after the last is not seen."""
_CEILING_SECONDS = 2
_TRIES = 2
_UNCOUNTED = {Operation.DELTREE.value, Operation.MKDIR.value}
"""dbench makes some of these itself, outside the script."""


class Replay:
    """The process whose clients replay the script against the share."""

    def __init__(self, plan: ReplayPlan) -> None:
        grace_seconds = plan.warm_up_seconds + plan.seconds + _SLACK_SECONDS
        self._process = ChildProcess("app.isolation.replay_child", grace_seconds=grace_seconds)
        self._process.say(plan)

    def wait(self) -> ReplayResult:
        try:
            answer: ReplayResult | Failed | None = next(self._process.events([ReplayResult, Failed]), None)
            if answer is None:
                self._process.cancel()
                raise MeasurementError(f"the replay {self._process.how_it_ended()}; measure again")
        finally:
            self._process.close()
        if isinstance(answer, Failed):
            raise MeasurementError(answer.text)
        return answer

    def hang_up(self) -> None:
        """Stop the clients without waiting for their cleanup; for a signal handler."""
        self._process.cancel()


class LayerBench:
    """Runs one layer at a time; :meth:`stop` ends a run and is thread-safe."""

    def __init__(self, request: places.IsolationRequest, places: places.Places) -> None:
        self._request = request
        self._places = places
        self.script = request.whole_script.without([Operation(name) for name in request.without])
        self._bench_script = BenchScript(self.script)
        self._ends: list[Callable[[], None]] = []
        self._programs: list[RunningProgram] = []
        self._stopped = False
        self._stuck: set[Layer] = set()
        """Layers whose program had to be ended: each further run would take as long."""
        self.client: ClientFacts | None = None

    def close(self) -> None:
        self._bench_script.close()

    def stop(self) -> None:
        self._stopped = True
        for end in list(self._ends):
            end()

    def prepare(self) -> None:
        shell = self._places.shell
        disk = self._places.disk
        if shell is not None and disk is not None:
            places.make_disk_folder(shell, disk, self._bench_script.text)

    def ceiling(self, clients: int) -> float:
        result = self._replay(replace(self._replay_plan(clients, _CEILING_SECONDS), null=True))
        self._raise_if_stopped()
        return sum(result.operations.values()) / max(result.seconds, 1e-6)

    def run(self, layer: Layer, clients: int, turn: int) -> list[LayerRun]:
        """One result for each layer measured; a failed one has its reason. Raises CancelledError."""
        layers = (layer, Layer.NETWORK_WITH_DISK) if layer is Layer.DISK_WITH_NETWORK else (layer,)
        planned_runs = [
            LayerRun(round=turn, layer=run_layer, clients=clients, started_at=utc_now()) for run_layer in layers
        ]
        if layer in self._stuck:
            return _failed_runs(planned_runs, "not measured again: it did not come to an end before")

        try:
            self._raise_if_stopped()
            if layer in {Layer.SERVER, Layer.SERVER_WHOLE_SCRIPT, Layer.SERVER_UNPROFILED}:
                return [self._measure_server(planned_runs[0])]
            return self._measure_without_samba(planned_runs)
        except MeasurementError as error:
            self._raise_if_stopped()
            return _failed_runs(planned_runs, str(error))
        finally:
            self._end_programs()
            self._raise_if_stopped()

    def _end_with_run(self, program: RunningProgram) -> RunningProgram:
        self._programs.append(program)
        self._end_on_stop(program.hang_up)
        return program

    def _end_on_stop(self, end: Callable[[], None]) -> None:
        self._ends.append(end)
        if self._stopped:
            end()

    def _end_programs(self) -> None:
        self._ends.clear()
        while self._programs:
            self._programs.pop().end()

    def _raise_if_stopped(self) -> None:
        if self._stopped:
            raise CancelledError("cancelled")

    def _measure_without_samba(self, planned_runs: list[LayerRun]) -> list[LayerRun]:
        """Retry if dbench or tbench moved nothing: on a busy machine its clock may run out first."""
        for _ in range(_TRIES):
            runs = self._run_programs(planned_runs)
            if all(run.bytes_per_second for run in runs):
                return runs
            self._end_programs()

        idle = next(run for run in runs if not run.bytes_per_second)
        problem = f"{_PROGRAMS[idle.layer]} moved nothing in {self._request.seconds} s, in {_TRIES} tries"
        raise MeasurementError(f"{problem}: measure longer", options="--seconds")

    def _run_programs(self, planned_runs: list[LayerRun]) -> list[LayerRun]:
        """The runs of one layer, or of two at once, with what their programs printed."""
        seconds = self._request.seconds
        results: list[BenchResult] = []
        with self._watch("dbench", "tbench") as watch:
            started_at = time.monotonic()
            programs = [self._start(run.layer, run.clients) for run in planned_runs]
            try:
                for run, program in zip(planned_runs, programs, strict=True):
                    results.append(wait_for(program, _PROGRAMS[run.layer], seconds))
            except StuckError:
                self._stuck.add(planned_runs[0].layer)
                raise

        began = started_at + warm_up_seconds(seconds)
        return [
            self._with_result(watch.into(run, began, began + seconds), result)
            for run, result in zip(planned_runs, results, strict=True)
        ]

    def _with_result(self, run: LayerRun, result: BenchResult) -> LayerRun:
        operations_a_pass = sum(count for name, count in self.script.counts.items() if name not in _UNCOUNTED)
        operations = sum(count for name, count in result.operations.items() if name not in _UNCOUNTED)
        return replace(
            run,
            bytes_per_second=result.bytes_per_second,
            seconds=result.seconds,
            longest_seconds=result.longest_seconds,
            operations=result.operations,
            passes=operations / max(1, operations_a_pass),
            unexpected=len(result.complaints),
        )

    def _start(self, layer: Layer, clients: int) -> RunningProgram:
        if layer in {Layer.DISK, Layer.DISK_WITH_NETWORK}:
            return self._start_dbench(clients)
        return self._start_tbench(clients)

    def _start_dbench(self, clients: int) -> RunningProgram:
        shell = self._places.shell
        disk = self._places.disk
        assert shell is not None
        assert disk is not None

        script_path = "../script"
        descriptors: tuple[int, ...] = ()
        if shell.ssh is None:
            script_path = self._bench_script.here
            descriptors = self._bench_script.descriptors
        words = ("dbench", "-D", ".", "-t", str(self._request.seconds), "-c", script_path, str(clients))
        return self._end_with_run(places.start_in(shell, disk, *words, files=descriptors))

    def _start_tbench(self, clients: int) -> RunningProgram:
        seconds = str(self._request.seconds)
        script = self._bench_script
        words: tuple[str, ...]
        if self._places.same_machine:
            # Client and server share a network namespace of their own.
            unshare = ("unshare", "-n") if os.geteuid() == 0 else ("unshare", "-r", "-n")
            words = (*unshare, "sh", "-c", _IN_A_NAMESPACE, "sh", seconds, script.here, str(clients))
        else:
            assert self._places.shell is not None
            host = self._request.target.host
            self._end_with_run(places.start_as_nobody(self._places.shell, "tbench_srv"))
            wait_for_server(host)
            words = ("tbench", "-t", seconds, "-c", script.here, str(clients), host)
        return self._end_with_run(ServerShell().start(*words, files=script.descriptors))

    def _measure_server(self, planned_run: LayerRun) -> LayerRun:
        """Retry if the clients stood still: on a busy machine their time may run out within one operation."""
        for _ in range(_TRIES):
            run = self._measure_server_once(planned_run)
            if self._stopped or (run.seconds or 0.0) >= self._request.seconds / 2:
                return run

        problem = f"the clients stood still for most of {self._request.seconds} s, in {_TRIES} tries"
        raise MeasurementError(f"{problem}: measure longer", options="--seconds")

    def _measure_server_once(self, run: LayerRun) -> LayerRun:
        smbd = self._places.smbd
        has_whole_script = run.layer is Layer.SERVER_WHOLE_SCRIPT
        is_profiled = run.layer is not Layer.SERVER_UNPROFILED
        if smbd:
            smbd.set_level(ON if is_profiled else OFF)
        profile_before = smbd.profile() if smbd and is_profiled else {}
        quota_before = smbd.quota() if smbd else ProcessorQuota()

        with self._watch("smbd") as watch:
            result = self._replay(
                self._replay_plan(run.clients, self._request.seconds, has_whole_script=has_whole_script)
            )
            replayed_at = time.monotonic()
        self.client = result.client

        profile: dict[str, ProfileCounter] = {}
        if smbd and is_profiled:
            # smbd writes its counters with a delay.
            time.sleep(max(0.0, replayed_at + LATENESS_SECONDS - time.monotonic()))
            profile = smbd.grown_since(profile_before, sum(result.requests.values()))

        script = self._request.whole_script if has_whole_script else self.script
        run = watch.into(run, result.began_at, result.began_at + result.seconds)
        return replace(
            self._with_replay(run, result, script),
            profile=profile,
            throttled_percent=smbd.quota().throttled_percent_since(quota_before) if smbd else None,
        )

    def _replay_plan(self, clients: int, seconds: int, *, has_whole_script: bool = False) -> ReplayPlan:
        request = self._request
        return ReplayPlan(
            target=request.target,
            secrets=request.secrets,
            settings=request.settings,
            script_path=request.script_path,
            without=() if has_whole_script else request.without,
            clients=clients,
            seconds=seconds,
            folder=self._places.share_folder,
            warm_up_seconds=warm_up_seconds(seconds),
            client=self.client,
        )

    def _replay(self, plan: ReplayPlan) -> ReplayResult:
        replay = Replay(plan)
        self._end_on_stop(replay.hang_up)
        return replay.wait()

    def _with_replay(self, run: LayerRun, result: ReplayResult, script: Script) -> LayerRun:
        seconds = max(result.seconds, 1e-6)
        processes = dict(run.processes)
        if self._places.same_machine and self._places.processors:
            processes["clients"] = 100 * result.cpu_seconds / (seconds * self._places.processors)
        return replace(
            run,
            seconds=seconds,
            operations=result.operations,
            requests=result.requests,
            window_requests=result.window_requests,
            unexpected=result.unexpected,
            wait_seconds=result.wait_seconds,
            longest_seconds=result.longest_seconds,
            bytes_per_second=result.moved_bytes / seconds,
            passes=sum(result.operations.values()) / len(script.lines),
            client_cpu_seconds=result.cpu_seconds,
            client_held_seconds=result.held_seconds,
            processes=processes,
        )

    def _watch(self, *names: str) -> ResourceWatch:
        shell = self._places.shell
        sampler_of = partial(
            resources.ResourceSampler,
            memory_interval_seconds=_NEVER_SECONDS,
            interval_seconds=min(1.0, self._request.seconds / _SAMPLES),
        )

        server = None
        if shell:
            is_local_smbd = names == ("smbd",) and not shell.ssh
            roots = servers_here(self._request.target.port_number) if is_local_smbd else ()
            server = sampler_of(shell.ssh, names=names, roots=roots)
        own = None if self._places.same_machine else sampler_of(None, names=("tbench",))
        return ResourceWatch(server, own)


def _failed_runs(runs: list[LayerRun], error: str) -> list[LayerRun]:
    return [replace(run, status=RunStatus.FAILED, error=error) for run in runs]


_PROGRAMS = {
    Layer.DISK: "dbench",
    Layer.DISK_WITH_NETWORK: "dbench",
    Layer.NETWORK: "tbench",
    Layer.NETWORK_WITH_DISK: "tbench",
}
