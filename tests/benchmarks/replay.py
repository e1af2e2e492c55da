"""``python -m tests.benchmarks.replay``: our SMB3 replay beside smbtorture's nbench, the same script, in turns.

nbench speaks SMB1 only, so a private smbd allows it; it asserts nothing. ``--clients``, ``--seconds`` and ``--pairs``.
"""

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from app.isolation.replay import Replay
from app.isolation.replay_child import ReplayPlan
from app.isolation.script import load_script
from storage.plan import Settings
from tests.servers.process import program, require
from tests.servers.smbd import Smbd

WARM_UP_PART = 20
"""nbench warms up for a twentieth of its time, in whole seconds."""


def replay(smbd: Smbd, clients: int, seconds: int) -> float:
    """MB/s of our replay."""
    plan = ReplayPlan(
        target=smbd.target(), secrets=smbd.secrets(), settings=Settings(), script_path=None, without=(),
        folder=".sharebench-isolate-bench", clients=clients, warm_up_seconds=seconds // WARM_UP_PART, seconds=seconds,
    )  # fmt: skip
    result = Replay(plan).wait()
    return result.moved_bytes / result.seconds / 1e6


def nbench(smbd: Smbd, clients: int, seconds: int, script: Path) -> float:
    """MB/s of nbench."""
    words = [
        program("smbtorture"), f"//{smbd.host}/{smbd.share}", "-U", f"{smbd.user}%{smbd.password}",
        "-p", str(smbd.port),
        "--option=client min protocol=NT1", "--option=client max protocol=NT1", f"--num-progs={clients}",
        f"--loadfile={script}", "-t", str(seconds), "bench.nbench",
    ]  # fmt: skip
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    for left in smbd.folder.iterdir():
        shutil.rmtree(left)
    found = re.search(r"Throughput ([\d.]+) MB/sec", done.stdout)
    assert found, done.stdout
    return float(found[1])


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
            script.write_text(load_script().text())
            for number in range(asked.pairs):
                both = [
                    lambda: replay(smbd, asked.clients, asked.seconds),
                    lambda: nbench(smbd, asked.clients, asked.seconds, script),
                ]
                order = (0, 1) if number % 2 else (1, 0)
                found = {which: both[which]() for which in order}
                ratios.append(found[0] / found[1])
                print(f"replay {found[0]:.1f} MB/s, nbench {found[1]:.1f} MB/s, ratio {ratios[-1]:.2f}", flush=True)
    finally:
        smbd.stop()
    print(f"median ratio {statistics.median(ratios):.2f} of {len(ratios)} pairs, {asked.clients} clients")
    return 0


if __name__ == "__main__":
    sys.exit(main())
