"""The once-a-second reader of a server's counters, on this machine and from lines as /proc prints them."""

import os
import time
from pathlib import Path

from app.server.processes import servers_here
from app.server.resources import parse_resources
from app.server.samples import ResourceSampler, SampledSides

UPTIME = ["1000.50 4000.00\n"]
CPU = ["cpu  100 20 30 400 50 6 7 8 0 0\n"]


def rollup_bytes(pid: int, *names: str) -> int:
    """What one process's smaps_rollup says, added up."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(1024 * int(line.split()[1]) for line in lines if line.partition(":")[0] in names)


def test_the_fields_of_proc():
    sample = parse_resources(
        {
            "uptime": UPTIME,
            "cpu": CPU,
            "processes": [
                "10 (smbd) S 1 10 10 0 -1 4194560 1 1 0 0 3 4 50 60 20 0 1 0 5 6 7\n",
                "11 (smbd[10.0.0.1]) S 10 10 10 0 -1 4194560 1 1 0 0 100 200 0 0 20 0 1 0 5 6 7\n",
                "99 (smbd) S 1 10 10 0 -1 4194560 1 1 0 0 9999 0 0 0 20 0 1 0 5 6 7\n",
            ],
            "kernel": ["170\n"],
            "interfaces": ["Inter-| Receive\n", "  eth0: 500 1 0 0 0 0 0 0 700 1 0 0 0 0 0 0\n"],
            "disks": [
                "259 0 nvme0n1 1 2 3 4 5 6 7 8 9 1500 11\n", "259 1 nvme0n1p1 1 2 3 4 5 6 7 8 9 900 11\n",
                "7 0 loop0 1 2 3 4 5 6 7 8 9 10 11\n",
            ],
            "memory": [
                "/proc/11/smaps_rollup:Pss:    300 kB\n", "/proc/11/smaps_rollup:Private_Clean:  20 kB\n",
                "/proc/11/smaps_rollup:Private_Dirty:  80 kB\n", "/proc/99/smaps_rollup:Pss: 5000 kB\n",
            ],
        },
        frozenset({10}), 5.0,
    )  # fmt: skip
    assert sample is not None
    assert (sample.uptime_seconds, sample.processors.user, sample.processors.system) == (1000.5, 120, 43)
    assert (sample.processors.idle, sample.processors.total) == (450, 621)
    assert (sample.processors.interrupts, sample.kernel_ticks) == (13, 170)
    assert (sample.server_ticks, sample.server_processes) == (3 + 4 + 50 + 60 + 300, 2)
    assert sample.interfaces == {"eth0": (500, 700)}
    assert sample.disk_busy_seconds == {"nvme0n1": 1.5}
    assert sample.memory is not None
    assert (sample.memory.uss_bytes, sample.memory.pss_bytes, sample.memory.processes) == (102400, 307200, 1)


def test_what_is_not_told_is_absent():
    assert parse_resources({"cpu": CPU}, frozenset(), 0.0) is None
    bare = parse_resources({"uptime": UPTIME, "cpu": CPU, "disks": ["x\n"], "memory": [":\n"]}, frozenset(), 0.0)
    assert bare is not None
    assert bare.kernel_ticks is None
    assert (bare.server_ticks, bare.memory, bare.interfaces, bare.disk_busy_seconds) == (None, None, {}, {})


def test_a_running_smbd_is_seen_with_its_memory(smbd):
    roots = servers_here(smbd.port)
    sampler = ResourceSampler(roots=roots, memory_interval_seconds=1)
    with SampledSides(sampler, None):
        for _ in range(60):  # a server that has just started still grows
            time.sleep(1)
            memory = sampler.samples()[-1].memory
            pids = (*roots, *children(next(iter(roots))))
            try:
                by_hand = sum(rollup_bytes(pid, "Private_Clean", "Private_Dirty") for pid in pids)
            except (FileNotFoundError, ProcessLookupError):  # one that has ended meanwhile
                continue
            if len(sampler.samples()) > 1 and memory and abs(memory.uss_bytes - by_hand) < 0.02 * by_hand:
                break
        samples = sampler.stop()
    assert sampler.problem is None
    assert len(samples) >= 2
    assert samples[1].uptime_seconds > samples[0].uptime_seconds
    assert samples[0].kernel_ticks is not None
    assert samples[1].own_ticks >= samples[0].own_ticks > 0, "this test's own time"
    assert memory is not None
    assert abs(memory.uss_bytes - by_hand) < 0.02 * by_hand
    assert memory.processes == len(pids)
    assert memory.pss_bytes >= memory.uss_bytes
    assert "lo" in samples[0].interfaces


def children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += [int(child), *children(int(child))]
    return found


def test_a_server_that_cannot_be_asked_is_a_problem_in_words(monkeypatch, tmp_path):
    ssh = tmp_path / "ssh"
    ssh.write_text("#!/bin/sh\nexit 255\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    sampler = ResourceSampler("nowhere")
    sampler.start(timeout_seconds=0.5)
    assert sampler.problem is not None
    assert "ssh nowhere true" in sampler.problem
    assert sampler.stop() == []
