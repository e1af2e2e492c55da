"""What limits the lines of a quick test, where that is known: link, round trip, disks, client."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from storage.records import format_target
from tests.command_line import Inside, Sharebench
from tests.servers.distance import FarLink
from tests.servers.netns import Link
from tests.servers.process import program, unavailable
from tests.servers.smbd import Smbd

pytestmark = pytest.mark.alone  # on a busy machine the client is the limit, as is said then

SHORT = ("--size", "64M", "--seconds", "1", "--json")
_BLKIO = Path("/sys/fs/cgroup/blkio")
_OPERATIONS_PER_SECOND = 500
_NOTHING_HANGS_SECONDS = 600
"""A busy machine takes many times as long as an idle one."""


def limits_of(tmp_path: Path, smbd: Smbd, *options: str) -> dict[str, Any]:
    """The figures of each line by its name."""
    inside = Inside(tmp_path / "notebook.db", smbd.password)
    quick = inside.json("quick", format_target(smbd.target()), *SHORT, *options)
    return {figures["name"]: figures for figures in quick["figures"]}


@contextlib.contextmanager
def behind(link: Link | FarLink) -> Iterator[Smbd]:
    with contextlib.ExitStack() as stack:
        stack.callback(link.close)
        server = Smbd(link=link)
        stack.callback(server.stop)
        server.start()
        yield server


def test_a_slow_link_limits_all_but_single_small_requests(tmp_path: Path):
    with behind(Link("100mbit")) as server:
        figures = limits_of(tmp_path, server)
    for name in ("SEQ1M Q8", "SEQ1M Q1"):
        for direction in ("read", "write"):
            line = figures[f"{name} {direction}"]
            assert (line["limit"], line["allowed"]["limit"]) == ("link", "link"), name
    assert figures["RND4K Q32 read"]["limit"] == "link"
    # Carrying 4 KiB takes 0.35 ms, which is more than the server or the empty request takes.
    assert figures["RND4K Q1 read"]["limit"] in {"link", "path"}


def test_a_far_server_is_limited_by_the_round_trip(tmp_path: Path):
    with behind(FarLink(0.010)) as server:
        figures = limits_of(tmp_path, server)
    for direction in ("read", "write"):
        line = figures[f"RND4K Q1 {direction}"]
        assert (line["limit"], line["allowed"]["limit"]) == ("round trip", "round trip")
        assert line["bytes_per_second"] <= 1.01 * line["allowed"]["bytes_per_second"]


def test_a_server_that_waits_for_its_disk_is_the_limit(tmp_path: Path):
    server = Smbd(share_options={"strict sync": "yes", "sync always": "yes"})
    with limited_disk(server.root) as group:
        try:
            server.start()
            (group / "cgroup.procs").write_text(str(server.pid))
            figures = limits_of(tmp_path, server)
        finally:
            server.stop()
    for name in ("SEQ1M Q8", "SEQ1M Q1", "RND4K Q32", "RND4K Q1"):
        assert figures[f"{name} write"]["limit"] == "server", name


def test_a_client_whose_processor_others_have_is_the_limit(tmp_path: Path, smbd: Smbd):
    processor = str(min(os.sched_getaffinity(0)))
    pinned = (program("taskset"), "-c", processor)
    burners = [subprocess.Popen([*pinned, sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    try:
        inside = Sharebench(tmp_path / "notebook.db", smbd.password)
        words = ("quick", format_target(smbd.target()), *SHORT)
        with inside.start(*words, under=pinned) as running:
            out, error = running.communicate(timeout=_NOTHING_HANGS_SECONDS)
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    assert running.returncode == 0, error
    figures = {line["name"]: line for line in json.loads(out)["figures"]}
    line = figures["SEQ1M Q8 read"]
    assert (line["limit"], line["allowed"]["limit"]) == ("client", "client")


def test_a_local_disk_is_the_limit(tmp_path: Path):
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
    with limited_disk(folder) as group, contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder)
        into_group = ("sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh")
        words = ("quick", f"file://{folder}", *SHORT)
        with Sharebench(tmp_path / "notebook.db").start(*words, under=into_group) as running:
            out, error = running.communicate(timeout=_NOTHING_HANGS_SECONDS)
        assert running.returncode == 0, error
    quick = json.loads(out)
    assert quick["past_page_cache"] is True
    assert {figures["limit"] for figures in quick["figures"]} == {"server"}
    assert "the disk limits" in quick["answer"].lower()
    for figures in quick["figures"]:
        if figures["name"].startswith("RND"):
            assert figures["operations_per_second"] == pytest.approx(_OPERATIONS_PER_SECOND, rel=0.15)


@contextlib.contextmanager
def limited_disk(folder: Path) -> Iterator[Path]:
    """A group whose processes get few operations of the folder's disk; they have ended before it does."""
    device = folder.stat().st_dev
    group = _BLKIO / f"sharebench-limits-{os.getpid()}"
    try:
        group.mkdir()
        for kind in ("read", "write"):
            numbers = f"{os.major(device)}:{os.minor(device)}"
            (group / f"blkio.throttle.{kind}_iops_device").write_text(f"{numbers} {_OPERATIONS_PER_SECOND}")
    except OSError:
        unavailable("no disk can be limited by blkio")
    try:
        yield group
    finally:
        with contextlib.suppress(OSError):
            group.rmdir()
