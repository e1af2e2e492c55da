"""What stands in the way of more is named: a link of known speed, a server held back, this end itself."""

import json
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from storage.records import format_target
from tests.command_line import Sharebench
from tests.servers.netns import PAYLOAD_SHARE
from tests.servers.process import unavailable
from tests.servers.smbd import Smbd
from tests.waiting import HANG_SECONDS

pytestmark = pytest.mark.alone
TRIES = 2
GROUPS = Path("/sys/fs/cgroup/cpu")


def load(server: Smbd, folder: Path, *arguments: str) -> dict[str, Any]:
    sharebench = Sharebench(folder / "notebook.db", password=server.password)
    running = sharebench.start(
        "load", format_target(server.target()), *arguments, "--json", under=("nice", "-n", "-15")
    )
    out, err = running.communicate(timeout=HANG_SECONDS)
    assert running.returncode == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_a_link_of_known_speed_is_filled_and_named(make_smbd, make_link, tmp_path):
    server = make_smbd(link=make_link("100mbit", burst="512kb"))
    for _ in range(TRIES):
        found = load(
            server, tmp_path, "--scenario", "large", "--users", "1,4", "--sizes", "2M", "--files", "8", "--duration",
            "6", "--settle", "1", "--processes", "1", "--link", "100M",
        )  # fmt: skip
        _one, four = found["points"]
        share = 8 * four["read_bytes_per_second"] / 1e8
        assert share <= PAYLOAD_SHARE + 0.01
        if four["status"] == "valid":
            break
        assert four["limit"] in {"generator", "network"}, "a busy machine gives no verdict, and names no other limit"
    else:
        pytest.skip("this machine was too busy to fill the link, and said so each time")
    assert share == pytest.approx(PAYLOAD_SHARE, abs=0.02)
    assert found["capacity"]["not_carried"] == 4
    assert found["capacity"]["limit"] == "network"


@pytest.fixture
def held_back(make_smbd):
    """An smbd that gets a seventh of a processor: too little for the load however slow this machine is."""
    server = make_smbd()
    group = GROUPS / f"load-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        unavailable("no control group of the cpu controller can be made here")
    (group / "cpu.cfs_quota_us").write_text("15000")
    main = psutil.Process(server.pid)
    for each in (main, *main.children(recursive=True)):
        with suppress(ProcessLookupError):  # one of smbd's helpers, which has ended meanwhile
            (group / "cgroup.procs").write_text(str(each.pid))
    yield server
    server.stop()
    for _ in range(50):
        if not (group / "cgroup.procs").read_text():
            break
        time.sleep(0.1)
    group.rmdir()


def test_a_server_that_is_held_back_is_named(held_back, tmp_path):
    found = load(
        held_back, tmp_path, "--scenario", "small", "--users", "1,8", "--files", "50", "--duration", "3", "--settle",
        "1", "--processes", "1",
    )  # fmt: skip
    point = found["points"][-1]
    assert point["server"]["throttled_percent"] > 25
    assert point["limit"] == "server CPU" or point["status"] == "generator"


def test_a_generator_that_is_held_up_gives_no_verdict(smbd, tmp_path):
    ended = threading.Event()

    def hold_up() -> None:
        """Stop each worker process half of the time, once it has logged in."""
        while not ended.wait(0.05):
            stopped = []
            for child in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    if "worker" in child.cmdline() and any(
                        each.raddr and each.raddr.port == smbd.port for each in child.net_connections("tcp")
                    ):
                        child.suspend()
                        stopped.append(child)
            time.sleep(0.05)
            for child in stopped:
                with suppress(psutil.Error):
                    child.resume()

    holding = threading.Thread(target=hold_up)
    holding.start()
    try:
        found = load(
            smbd, tmp_path, "--scenario", "small", "--users", "20", "--think", "0.05", "--files", "50", "--duration",
            "4", "--settle", "1", "--processes", "1",
        )  # fmt: skip
    finally:
        ended.set()
        holding.join()
    (point,) = found["points"]
    assert point["status"] == "generator"
    assert point["reason"].startswith("cannot be judged: ")
    assert found["capacity"] is None
