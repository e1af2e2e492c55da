"""Measures one layer of a server in one run: the share, or what is under it without Samba.

The share is measured by our replay of a script; the disk by dbench and the network by tbench, which read the same
script. Both at once are one run of two layers.
"""

import os
import time
from collections.abc import Callable
from dataclasses import replace

from app.base import errors
from app.isolation import bench_programs, disk_place, replay_messages, run_resources
from app.isolation import script as isolation_script
from app.isolation.places import Places
from app.isolation.replay_process import Replay
from app.isolation.spec import IsolationRequest
from app.server import running_program
from app.server import shell as server_shell
from app.server import smbd as server_smbd
from storage import isolation, records

_TBENCH_IN_A_NAMESPACE = """ip link set lo up || exit 1
tbench_srv >/dev/null 2>&1 & server=$!
sleep 0.3
tbench -t "$1" -c "$2" "$3" 127.0.0.1; code=$?
kill "$server"
exit "$code"
"""
"""A script of sh that starts tbench_srv on a loopback of its own; its arguments are seconds, script and clients."""
_CEILING_SECONDS = 2
"""Length of a replay against a server that costs nothing."""
_TRIES = 2
"""Of a run in which nothing moved."""
_UNCOUNTED = {isolation_script.Operation.DELTREE.value, isolation_script.Operation.MKDIR.value}
"""Operations that are no part of a pass: dbench makes some of these itself, outside the script."""
_PROGRAMS = {
    isolation.Layer.DISK: "dbench",
    isolation.Layer.DISK_WITH_NETWORK: "dbench",
    isolation.Layer.NETWORK: "tbench",
    isolation.Layer.NETWORK_WITH_DISK: "tbench",
}
"""By layer without Samba, the program that measures it."""


class LayerBench:
    """Measures one layer at a time.

    First :meth:`prepare`, then :meth:`run` for each run, :meth:`ceiling` for each number of clients, at last
    :meth:`close`. :meth:`stop` may be called from another thread, or a signal handler: it ends the run.
    """

    def __init__(self, request: IsolationRequest, places: Places) -> None:
        self._request = request
        self._places = places
        self.script = request.whole_script.without([isolation_script.Operation(name) for name in request.without])
        self._bench_script = bench_programs.BenchScript(self.script)
        self._ends: list[Callable[[], None]] = []
        """What ends each process of the run."""
        self._programs: list[running_program.RunningProgram] = []
        """Programs of the run, which are ended with it."""
        self._stopped = False
        self._stuck: set[isolation.Layer] = set()
        """Layers whose program had to be ended: each further run would take as long."""
        self.client: records.ClientFacts | None = None
        """What the last replay negotiated with the server; None before the first."""

    def close(self) -> None:
        self._bench_script.close()

    def stop(self) -> None:
        self._stopped = True
        for end in list(self._ends):
            end()

    def prepare(self) -> None:
        """Make dbench's folder on the server. Raises MeasurementError."""
        shell = self._places.shell
        disk = self._places.disk
        if shell is not None and disk is not None:
            disk_place.make_disk_folder(shell, disk, self._bench_script.text)

    def ceiling(self, clients: int) -> float:
        """Operations a second of these clients here, together, against a server that costs nothing."""
        result = self._replay(replace(self._replay_plan(clients, _CEILING_SECONDS), null=True))
        self._raise_if_stopped()
        return sum(result.operations.values()) / max(result.seconds, 1e-6)

    def run(self, layer: isolation.Layer, clients: int, turn: int) -> list[isolation.LayerRun]:
        """One result for each layer measured in the round ``turn``; a failed one has its reason.

        Raises CancelledError after :meth:`stop`, whatever came of the run.
        """
        layers = [layer]
        if layer is isolation.Layer.DISK_WITH_NETWORK:
            # Both programs work at the same time: the same run is one of the network with the disk.
            layers.append(isolation.Layer.NETWORK_WITH_DISK)
        planned_runs = [
            isolation.LayerRun(round=turn, layer=run_layer, clients=clients, started_at=records.utc_now())
            for run_layer in layers
        ]
        if layer in self._stuck:
            return _failed_runs(planned_runs, "not measured again: it did not come to an end before")

        try:
            self._raise_if_stopped()
            if layer in {
                isolation.Layer.SERVER,
                isolation.Layer.SERVER_WHOLE_SCRIPT,
                isolation.Layer.SERVER_UNPROFILED,
            }:
                return [self._measure_server(planned_runs[0])]
            return self._measure_without_samba(planned_runs)
        except errors.MeasurementError as error:
            self._raise_if_stopped()
            return _failed_runs(planned_runs, str(error))
        finally:
            self._end_programs()
            self._raise_if_stopped()

    def _end_with_run(self, program: running_program.RunningProgram) -> running_program.RunningProgram:
        """Have the program ended with the run, and told to end at once by :meth:`stop`."""
        self._programs.append(program)
        self._end_on_stop(program.hang_up)
        return program

    def _end_on_stop(self, end: Callable[[], None]) -> None:
        """Have :meth:`stop` call ``end``, which must not wait; at once where that was called already."""
        self._ends.append(end)
        if self._stopped:
            end()

    def _end_programs(self) -> None:
        self._ends.clear()
        while self._programs:
            self._programs.pop().end()

    def _raise_if_stopped(self) -> None:
        if self._stopped:
            raise errors.CancelledError("cancelled")

    def _measure_without_samba(self, planned_runs: list[isolation.LayerRun]) -> list[isolation.LayerRun]:
        """Retry if dbench or tbench moved nothing: on a busy machine its clock may run out first."""
        for _ in range(_TRIES):
            runs = self._run_programs(planned_runs)
            if all(run.bytes_per_second for run in runs):
                return runs
            self._end_programs()

        idle = next(run for run in runs if not run.bytes_per_second)
        problem = f"{_PROGRAMS[idle.layer]} moved nothing in {self._request.seconds} s, in {_TRIES} tries"
        raise errors.MeasurementError(f"{problem}: measure longer", options="--seconds")

    def _run_programs(self, planned_runs: list[isolation.LayerRun]) -> list[isolation.LayerRun]:
        """The runs of one layer, or of two at once, with what their programs printed."""
        seconds = self._request.seconds
        results: list[bench_programs.BenchResult] = []
        with run_resources.watch_of_run(self._places, self._request, "dbench", "tbench") as watch:
            started_at = time.monotonic()
            programs = [self._start(run.layer, run.clients) for run in planned_runs]
            try:
                for run, program in zip(planned_runs, programs, strict=True):
                    results.append(bench_programs.wait_for(program, _PROGRAMS[run.layer], seconds))
            except bench_programs.StuckError:
                self._stuck.add(planned_runs[0].layer)
                raise

        began = started_at + bench_programs.warm_up_seconds(seconds)
        return [
            self._with_result(watch.run_with_use(run, began, began + seconds), result)
            for run, result in zip(planned_runs, results, strict=True)
        ]

    def _with_result(self, run: isolation.LayerRun, result: bench_programs.BenchResult) -> isolation.LayerRun:
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

    def _start(self, layer: isolation.Layer, clients: int) -> running_program.RunningProgram:
        if layer in {isolation.Layer.DISK, isolation.Layer.DISK_WITH_NETWORK}:
            return self._start_dbench(clients)
        return self._start_tbench(clients)

    def _start_dbench(self, clients: int) -> running_program.RunningProgram:
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
        return self._end_with_run(disk_place.start_in(shell, disk, *words, files=descriptors))

    def _start_tbench(self, clients: int) -> running_program.RunningProgram:
        seconds = str(self._request.seconds)
        script = self._bench_script
        words: tuple[str, ...]

        if self._places.same_machine:
            # Client and server share a network namespace of their own.
            unshare = ("unshare", "-n") if os.geteuid() == 0 else ("unshare", "-r", "-n")
            words = (*unshare, "sh", "-c", _TBENCH_IN_A_NAMESPACE, "sh", seconds, script.here, str(clients))
        else:
            assert self._places.shell is not None
            host = self._request.target.host
            self._end_with_run(disk_place.start_as_nobody(self._places.shell, "tbench_srv"))
            bench_programs.wait_for_server(host)
            words = ("tbench", "-t", seconds, "-c", script.here, str(clients), host)

        return self._end_with_run(server_shell.ServerShell().start(*words, files=script.descriptors))

    def _measure_server(self, planned_run: isolation.LayerRun) -> isolation.LayerRun:
        """Retry if the clients stood still: on a busy machine their time may run out within one operation."""
        for _ in range(_TRIES):
            run = self._measure_server_once(planned_run)
            if self._stopped or (run.seconds or 0.0) >= self._request.seconds / 2:
                return run

        problem = f"the clients stood still for most of {self._request.seconds} s, in {_TRIES} tries"
        raise errors.MeasurementError(f"{problem}: measure longer", options="--seconds")

    def _measure_server_once(self, run: isolation.LayerRun) -> isolation.LayerRun:
        smbd = self._places.smbd
        has_whole_script = run.layer is isolation.Layer.SERVER_WHOLE_SCRIPT
        is_profiled = run.layer is not isolation.Layer.SERVER_UNPROFILED
        if smbd:
            smbd.switch_level(server_smbd.ON if is_profiled else server_smbd.OFF)
        profile_before = smbd.profile() if smbd and is_profiled else {}
        quota_before = smbd.quota() if smbd else server_smbd.ProcessorQuota()

        with run_resources.watch_of_run(self._places, self._request, "smbd") as watch:
            result = self._replay(
                self._replay_plan(run.clients, self._request.seconds, has_whole_script=has_whole_script)
            )
            replayed_at = time.monotonic()
        self.client = result.client

        profile: dict[str, isolation.ProfileCounter] = {}
        if smbd and is_profiled:
            # smbd writes its counters with a delay: they are complete once they tell as many requests as were sent.
            time.sleep(max(0.0, replayed_at + server_smbd.LATENESS_SECONDS - time.monotonic()))
            profile = smbd.grown_since(profile_before, sum(result.requests.values()))

        script = self._request.whole_script if has_whole_script else self.script
        run = watch.run_with_use(run, result.began_at, result.began_at + result.seconds)
        return replace(
            self._with_replay(run, result, script),
            profile=profile,
            throttled_percent=smbd.quota().throttled_percent_since(quota_before) if smbd else None,
        )

    def _replay_plan(self, clients: int, seconds: int, *, has_whole_script: bool = False) -> replay_messages.ReplayPlan:
        request = self._request
        return replay_messages.ReplayPlan(
            target=request.target,
            secrets=request.secrets,
            settings=request.settings,
            script_path=request.script_path,
            without=() if has_whole_script else request.without,
            clients=clients,
            seconds=seconds,
            folder=self._places.share_folder,
            warm_up_seconds=bench_programs.warm_up_seconds(seconds),
            client=self.client,
        )

    def _replay(self, plan: replay_messages.ReplayPlan) -> replay_messages.ReplayResult:
        replay = Replay(plan)
        self._end_on_stop(replay.hang_up)
        return replay.wait()

    def _with_replay(
        self, run: isolation.LayerRun, result: replay_messages.ReplayResult, script: isolation_script.Script
    ) -> isolation.LayerRun:
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


def _failed_runs(runs: list[isolation.LayerRun], error: str) -> list[isolation.LayerRun]:
    return [replace(run, status=records.RunStatus.FAILED, error=error) for run in runs]
