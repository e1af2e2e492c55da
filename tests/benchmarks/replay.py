"""``python -m tests.benchmarks.replay``: our SMB3 replay beside smbtorture's nbench, the same script, in turns.

nbench speaks SMB1 only, so a private smbd allows it; it asserts nothing. Beside each rate stands what one operation
took of the processors, of the clients and of smbd. ``--clients``, ``--seconds`` and ``--pairs``.
"""

import argparse
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from app.isolation.replay_messages import ReplayPlan
from app.isolation.replay_process import Replay
from app.isolation.script import load_script
from storage.plan import Settings
from tests.servers.process import program, require
from tests.servers.smbd import Smbd

WARM_UP_PART = 20
"""nbench warms up for a twentieth of its time, in whole seconds."""


_SETTLE_SECONDS = 0.3
"""Until smbd has counted the children that ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one of the two reached."""

    name: str
    bytes_per_second: float
    client_microseconds: float
    """Of processor time, an operation."""
    server_microseconds: float

    def __str__(self) -> str:
        return (
            f"{self.name} {self.bytes_per_second / 1e6:.1f} MB/s (an operation takes "
            f"{self.client_microseconds:.0f} µs of a processor here, {self.server_microseconds:.0f} of smbd's)"
        )


def replay(smbd: Smbd, clients: int, seconds: int) -> Side:
    """Our replay; processor time of the part that counts, of smbd with logins and warm-up."""
    plan = ReplayPlan(
        target=smbd.target(), secrets=smbd.secrets(), settings=Settings(), script_path=None, without=(),
        folder=".sharebench-isolate-bench", clients=clients, warm_up_seconds=seconds // WARM_UP_PART, seconds=seconds,
    )  # fmt: skip
    before = server_seconds(smbd)
    result = Replay(plan).wait()
    used = server_seconds(smbd) - before
    operations = max(1, sum(result.operations.values()))
    all_operations = operations * (1 + plan.warm_up_seconds / seconds)
    return Side(
        name="replay",
        bytes_per_second=result.moved_bytes / result.seconds,
        client_microseconds=1e6 * result.cpu_seconds / operations,
        server_microseconds=1e6 * used / all_operations,
    )


def nbench(smbd: Smbd, clients: int, seconds: int, script: Path) -> Side:
    """nbench; its operations are told by the bytes that it moved, as each pass moves the same."""
    words = [
        program("smbtorture"), f"//{smbd.host}/{smbd.share}", "-U", f"{smbd.user}%{smbd.password}",
        "-p", str(smbd.port),
        "--option=client min protocol=NT1", "--option=client max protocol=NT1", f"--num-progs={clients}",
        f"--loadfile={script}", "-t", str(seconds), "bench.nbench",
    ]  # fmt: skip
    before, ours = server_seconds(smbd), children_seconds()
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    spent = children_seconds() - ours
    used = server_seconds(smbd) - before
    for left in smbd.folder.iterdir():
        shutil.rmtree(left)
    found = re.search(r"Throughput ([\d.]+) MB/sec", done.stdout)
    assert found, done.stdout
    rate = 1e6 * float(found[1])
    whole = load_script(str(script))
    operations = rate * (seconds + seconds // WARM_UP_PART) / whole.pass_bytes * len(whole.lines)
    return Side(
        name="nbench",
        bytes_per_second=rate,
        client_microseconds=1e6 * spent / operations,
        server_microseconds=1e6 * used / operations,
    )


def server_seconds(smbd: Smbd) -> float:
    """Processor time of smbd with its children, those that ended included."""
    time.sleep(_SETTLE_SECONDS)
    main = psutil.Process(smbd.pid)
    return sum(sum(one.cpu_times()[:4]) for one in (main, *main.children(recursive=True)))


def children_seconds() -> float:
    """Processor time of this process's children that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Measure pairs, and print their ratios."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.replay", description=__doc__)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=5)
    asked = parser.parse_args()
    require("smbd", "smbtorture")
    smbd = Smbd({"server min protocol": "NT1"})
    smbd.start()
    ratios = []
    try:
        with tempfile.TemporaryDirectory(prefix="sharebench-bench-") as folder:
            script = Path(folder) / "office.txt"
            script.write_text(load_script().load_file_text())
            for number in range(asked.pairs):
                both = [
                    lambda: replay(smbd, asked.clients, asked.seconds),
                    lambda: nbench(smbd, asked.clients, asked.seconds, script),
                ]
                order = (0, 1) if number % 2 else (1, 0)
                found = {which: both[which]() for which in order}
                ratios.append(found[0].bytes_per_second / found[1].bytes_per_second)
                print(f"{found[0]}, {found[1]}, ratio {ratios[-1]:.2f}", flush=True)
    finally:
        smbd.stop()
    print(f"median ratio {statistics.median(ratios):.2f} of {len(ratios)} pairs, {asked.clients} clients")
    return 0


if __name__ == "__main__":
    sys.exit(main())
