"""Worker processes of this machine: started, told what to do, ended; for its own engine or for another machine's."""

import json
import os
import select
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, replace

from app import __version__
from app.child_process import own_command, own_environment
from app.load.events import LoadPlan
from app.messages import line_of, message_of

_END_SECONDS = 5.0
_LOOK_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOrder:
    """What a worker process, or all of a machine, are to do."""

    plan: LoadPlan
    index: int
    """Of the process in the whole load, or of the machine's first one."""
    processes: int
    """Of its machine."""
    port: int
    """The engine's, on the loopback."""
    key: str
    """What lets it talk to the engine."""


def end_process(process: "subprocess.Popen[str]") -> None:
    """Wait a while for a process whose stdin has ended, then kill it."""
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def start_worker(order: WorkerOrder) -> "subprocess.Popen[str]":
    """A worker process on this machine, told what to do."""
    process = subprocess.Popen(
        own_command("app.load.process", "worker"),
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, encoding="utf-8", env=own_environment(),
    )  # fmt: skip
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.write(line_of(order) + "\n")
        process.stdin.flush()
    return process


def serve_workers() -> int:
    """Say who we are, start the workers that the other machine orders, end with stdin or with the first that dies."""
    sys.stdout.write(json.dumps({"version": __version__, "processes": len(os.sched_getaffinity(0))}) + "\n")
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        return 0
    order: WorkerOrder = message_of(line, [WorkerOrder])
    workers = [start_worker(replace(order, index=order.index + number)) for number in range(order.processes)]
    while all(worker.poll() is None for worker in workers) and not select.select([sys.stdin], [], [], _LOOK_SECONDS)[0]:
        continue
    for worker in workers:
        with suppress(OSError):
            assert worker.stdin is not None
            worker.stdin.close()
    for worker in workers:
        end_process(worker)
    return 0
