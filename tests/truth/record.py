"""Thirty equal series of a real server, recorded for the replay: ``python -m tests.truth.record loopback|link FILE``.

``loopback``: a get over the loopback while processes that burn a processor come and go; ``link``: a get over a link of
100 Mbit/s. Nothing is changed between the series, so every difference is variation.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from storage.target_url import format_target
from tests.servers.netns import Link
from tests.servers.smbd import Smbd

SERIES = 30
RUNS = 5
SIZES = {"loopback": 512 << 20, "link": 24_000_000}


def measure(server: Smbd, notebook: Path) -> list[float]:
    """The throughputs of one series, bytes per second, as ``sharebench run`` measures them."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "app", "--db", str(notebook), "run", format_target(server.target("big.bin"))),
            *("--runs", str(RUNS), "--warmup", "1", "--ceiling", "skip", "--quiet-time", "skip", "--json"),
        ],
        env={**os.environ, "SHAREBENCH_PASSWORD": server.password},
        stdout=subprocess.PIPE,
        check=True,
    )
    runs = json.loads(done.stdout)["runs"]
    return [run["bytes_per_second"] for run in runs if run["phase"] == "measured"]


def come_and_go(over: threading.Event) -> None:
    """Burn a processor for some seconds, rest for some, until it is over."""
    chance = random.Random(12)
    while not over.wait(chance.uniform(2, 15)):
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as burner:
            over.wait(chance.uniform(2, 15))
            burner.kill()


def main() -> None:
    """Record and write the file."""
    kind, path = sys.argv[1], Path(sys.argv[2])
    link = Link("100mbit") if kind == "link" else None
    over = threading.Event()
    series: list[list[float]] = []
    with tempfile.TemporaryDirectory(prefix="truth-", dir="/dev/shm") as folder:
        Path(folder).chmod(0o777)
        (Path(folder) / "big.bin").write_bytes(os.urandom(1 << 20) * (SIZES[kind] >> 20))
        server = Smbd(share_options={"path": folder}, link=link)
        server.start()
        burner = threading.Thread(target=come_and_go, args=[over])
        if kind == "loopback":
            burner.start()
        try:
            for _ in range(SERIES):
                series.append([round(rate) for rate in measure(server, Path(folder) / "notebook.db")])
                print(series[-1], file=sys.stderr, flush=True)
        finally:
            over.set()
            server.stop()
            if link:
                link.close()
    path.write_text(json.dumps({"kind": kind, "bytes_per_second": series}, indent=1) + "\n")


if __name__ == "__main__":
    main()
