"""Worker processes of this machine: started, told what to do, ended; alone or as the far end of another machine."""

import json
import os
import select
import subprocess
import sys
from contextlib import suppress
from typing import Any

from app import __version__
from app.children import own_command, own_environment

_END_SECONDS = 5.0
_LOOK_SECONDS = 0.5


def end_process(process: "subprocess.Popen[str]") -> None:
    """Wait a while for a process whose stdin has ended, then kill it."""
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def start_worker(order: dict[str, Any]) -> "subprocess.Popen[str]":
    """A worker process on this machine, told what to do."""
    process = subprocess.Popen(
        own_command("app.load.process", "worker"),
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, encoding="utf-8", env=own_environment(),
    )  # fmt: skip
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()
    return process


def serve_workers() -> int:
    """The far end: say who we are, start the workers that are ordered, end with stdin or with the first that dies."""
    sys.stdout.write(json.dumps({"version": __version__, "processes": len(os.sched_getaffinity(0))}) + "\n")
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        return 0
    workers = [start_worker(order) for order in json.loads(line)]
    while all(worker.poll() is None for worker in workers) and not select.select([sys.stdin], [], [], _LOOK_SECONDS)[0]:
        continue
    for worker in workers:
        with suppress(OSError):
            assert worker.stdin is not None
            worker.stdin.close()
    for worker in workers:
        end_process(worker)
    return 0
