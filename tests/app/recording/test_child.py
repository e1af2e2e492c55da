"""Ceilings: each client of ours is calibrated in both directions, and nothing else is."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.recording.calibration import FIRST_BYTES, calibrate_and_watch, ceiling_bytes_per_second
from app.recording.ceiling import BUSY_PERCENT, LIFE_DAYS, Calibration, _calibrate, ceiling_key, ceiling_of
from app.recording.process import CalibrationOrder
from app.server.host_activity import Reading, Sample, Wire, sample_between, take_reading
from app.server.processes import Ours
from storage.notebook import Notebook
from storage.records import Ceiling, ClientFacts, Command, Phase, Run, Series, Target
from tests.builders import random_series

pytestmark = pytest.mark.usefixtures("real_ceiling")

OURS = ClientFacts(name="sharebench", version="0", block_bytes=1 << 20, in_flight=4)


def test_the_best_of_the_long_enough_transfers_counts():
    asked = []

    def transfer(_facts: ClientFacts, _command: Command, size_bytes: int) -> float:
        asked.append(size_bytes)
        return size_bytes / FIRST_BYTES * (0.2 if len(asked) != 4 else 0.1)

    assert ceiling_bytes_per_second(transfer, OURS, Command.GET) == FIRST_BYTES / 0.1
    assert asked == [FIRST_BYTES, *[2 * FIRST_BYTES] * 4]


def test_transfers_double_from_32_mib_up_to_a_gib_while_they_take_less_than_a_quarter_of_a_second():
    for seconds, mebibytes in (
        (0.25, [32] * 4),
        (0.2499, [32, 64, 128, 256, 512, *[1024] * 4]),
    ):
        asked: list[int] = []
        transfer = lambda _facts, _command, size, asked=asked, seconds=seconds: asked.append(size) or seconds  # noqa: E731
        ceiling_bytes_per_second(transfer, OURS, Command.GET)
        assert asked == [size << 20 for size in mebibytes]


@pytest.mark.long
@pytest.mark.parametrize("command", list(Command))
@pytest.mark.parametrize(
    ("protocol", "dialect", "signing", "encryption"),
    [
        ("smb", "2.0.2", "none", "none"), ("smb", "2.1", "hmac-sha256", "none"), ("smb", "3.0.2", "aes-cmac", "none"),
        ("smb", "3.0", "none", "aes-128-ccm"), ("smb", "3.1.1", "aes-gmac", "none"),
        ("smb", "3.1.1", "none", "aes-128-gcm"), ("ftp", None, None, None), ("ftps", None, None, "TLSv1.3"),
        ("file", None, None, None),
    ],
)  # fmt: skip
def test_each_setting_has_a_transfer_to_calibrate(
    protocol: str, dialect: str | None, signing: str | None, encryption: str | None, command: Command
):
    code = (
        "import sys, json\n"
        "from importlib import import_module\n"
        "from app.clients.registry import MODULES\n"
        "from storage.records import ClientFacts, Command\n"
        "asked = json.load(sys.stdin)\n"
        "seconds = import_module(MODULES[asked['protocol']].ceiling).ceiling_seconds\n"
        "print(seconds(ClientFacts(**asked['client']), Command(asked['command']), 3_000_001))\n"
    )
    client = {
        "name": "sharebench", "dialect": dialect, "signing": signing, "encryption": encryption,
        "block_bytes": 65536, "in_flight": 3,
    }  # fmt: skip
    asked = json.dumps({"protocol": protocol, "client": client, "command": command.value})
    done = subprocess.run([sys.executable, "-c", code], input=asked, capture_output=True, text=True, check=True)
    assert float(done.stdout) > 0


def series(client: ClientFacts = OURS) -> Series:
    target = Target(protocol="file", path="/x")
    return Series(id="a" * 12, created_at="2026-01-31T10:00:00.000Z", client=client, target=target)


def test_a_ceiling_is_calibrated_once_and_anew_on_request(tmp_path, monkeypatch: pytest.MonkeyPatch):
    calibrated(monkeypatch, (100, 1), (200, 1))
    with Notebook(tmp_path / "notebook.db") as notebook:
        assert rate(notebook) == 100
        assert rate(notebook) == 100
        assert rate(notebook, renew=True) == 200
        assert rate(notebook) == 200


def test_a_busy_moment_is_tried_again_and_never_stored(tmp_path, monkeypatch: pytest.MonkeyPatch):
    calibrated(monkeypatch, (30, 95), (35, 60), (33, 80), (100, 5))
    with Notebook(tmp_path / "notebook.db") as notebook:
        busy = ceiling_of(series(), notebook)
        assert (busy.bytes_per_second, busy.busy, busy.others_cpu_percent) == (None, True, 60)
        assert notebook.ceiling(ceiling_key(series())) is None
        assert rate(notebook) == 100  # the fourth: the third was busy too
        assert rate(notebook) == 100


def test_the_best_of_several_is_kept_and_a_busy_one_changes_nothing(tmp_path, monkeypatch: pytest.MonkeyPatch):
    calibrated(monkeypatch, (100, 1), (90, 10), (20, 90), (20, 90))
    with Notebook(tmp_path / "notebook.db") as notebook:
        assert [rate(notebook), rate(notebook, renew=True), rate(notebook, renew=True)] == [100, 100, 100]


def test_an_old_ceiling_is_calibrated_anew(tmp_path, monkeypatch: pytest.MonkeyPatch):
    calibrated(monkeypatch, (90, 1))
    with Notebook(tmp_path / "notebook.db") as notebook:
        old = (datetime.now(UTC) - timedelta(days=LIFE_DAYS + 1)).isoformat()
        notebook.set_ceiling(Ceiling(key=ceiling_key(series()), bytes_per_second=100, measured_at=old))
        assert rate(notebook) == 90
        assert rate(notebook) == 90


def test_a_busy_moment_leaves_an_old_ceiling_but_not_one_that_was_beaten(tmp_path, monkeypatch: pytest.MonkeyPatch):
    calibrated(monkeypatch, *[(10, 90)] * 4)
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.set_ceiling(
            Ceiling(key=ceiling_key(series()), bytes_per_second=100, measured_at="2020-01-01T00:00:00.000Z")
        )
        assert rate(notebook) == 100
        assert ceiling_of(faster(), notebook).bytes_per_second is None


def calibrated(monkeypatch: pytest.MonkeyPatch, *outcomes: tuple[float, float]) -> None:
    """Let calibrations find these rates, while others take so much of the processors."""
    left = [Calibration(bytes_per_second=rate, others_cpu_percent=others) for rate, others in outcomes]
    monkeypatch.setattr("app.recording.ceiling._calibrate", lambda *_: left.pop(0))


def rate(notebook: Notebook, *, renew: bool = False) -> float | None:
    return ceiling_of(series(), notebook, renew=renew).bytes_per_second


def faster() -> Series:
    """A series that reached 200 bytes a second."""
    return replace(series(), runs=(Run(number=1, phase=Phase.MEASURED, size_bytes=1000, seconds=5.0),))


def test_a_program_that_is_not_ours_has_no_ceiling(tmp_path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        assert ceiling_of(series(client=ClientFacts(name="curl")), notebook).bytes_per_second is None


@pytest.mark.long
def test_a_local_path_has_one(tmp_path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        found = ceiling_of(series(), notebook)
    assert found.busy or (found.bytes_per_second or 0) > 0


@pytest.mark.long
def test_others_work_is_told_from_the_calibrations_own(monkeypatch: pytest.MonkeyPatch):
    """However small the calibration's share is beside all else: its own work is not counted as others'."""
    all_of_it: list[float] = []

    def looked_at(first: Reading, last: Reading, wire: Wire) -> Sample:
        all_of_it.append(sample_between(first, replace(last, our_ticks=first.our_ticks), wire).others_cpu_percent)
        return sample_between(first, last, wire)

    monkeypatch.setattr("app.recording.calibration.sample_between", looked_at)
    with contextlib.ExitStack() as stack:
        for _ in range(os.cpu_count() or 1):
            burner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(burner.wait)
            stack.callback(burner.kill)
        order = CalibrationOrder(protocol="file", command=Command.GET, client=OURS)
        beside = calibrate_and_watch(order)
    assert beside.others_cpu_percent > BUSY_PERCENT
    assert [beside.others_cpu_percent] < all_of_it


def others_percent() -> float:
    """How much of the processors others take for a second."""
    before = take_reading(Wire(), Ours())
    time.sleep(1)
    after = take_reading(Wire(), Ours())
    assert before
    assert after
    return sample_between(before, after, Wire()).others_cpu_percent


@pytest.mark.alone
def test_a_calibration_alone_is_not_busy():
    """A calibration that takes its own work for others' does so each time."""
    for _ in range(3):
        is_busy = others_percent() > 5
        others = _calibrate(series()).others_cpu_percent
        is_busy = is_busy or others_percent() > 5
        if others < 20:
            return
    if is_busy:
        pytest.skip("others keep this machine busy, so nothing can be said of our own work")
    assert others < 20


def test_a_series_above_its_ceiling_raises_it(tmp_path, monkeypatch: pytest.MonkeyPatch):
    calibrated(monkeypatch, (100, 1), (150, 1))
    with Notebook(tmp_path / "notebook.db") as notebook:
        assert rate(notebook) == 100
        assert ceiling_of(faster(), notebook).bytes_per_second == 200
        assert rate(notebook) == 200


def test_ftps_far_end_sends_in_both_ways_that_servers_have():
    code = (
        "import app.clients.ftp.ceiling as ceiling\n"
        "from storage.records import ClientFacts, Command\n"
        "facts = ClientFacts(name='sharebench', block_bytes=65536)\n"
        "for way in (ceiling._send_content, ceiling._send_file):\n"
        "    print(ceiling._transfer_seconds(facts, Command.GET, 20_000_003, way))\n"
        "ceiling._transfer_seconds = lambda *words: 1.0 if words[-1] is ceiling._send_file else 2.0\n"
        "print(ceiling.ceiling_seconds(facts, Command.GET, 1))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    copied, by_file, best = map(float, done.stdout.split())
    assert min(copied, by_file) > 0
    assert best == 1.0


@pytest.mark.parametrize("dialect", ["3.1.1", None], ids=["SMB", "a local path"])
@pytest.mark.varied(read_percent=1)
@pytest.mark.parametrize("read_percent", [None, 70])
def test_random_requests_have_a_ceiling_of_their_own(dialect: str | None, read_percent: int | None):
    client = ClientFacts(name="sharebench", dialect=dialect, block_bytes=4096, in_flight=8)
    target = Target(protocol="smb" if dialect else "file", path="/x")
    at_random = random_series([1000], read_percent=read_percent, client=client, target=target)
    ceiling = _calibrate(at_random).bytes_per_second
    assert ceiling is not None
    assert 100 < ceiling / 4096 < 5_000_000


def test_the_ceiling_of_random_requests_is_not_that_of_whole_files():
    at_random = random_series([1000])
    assert at_random.plan is not None
    counts = replace(at_random.plan.counts, random=False)
    in_order = replace(at_random, plan=replace(at_random.plan, counts=counts))
    keys = {ceiling_key(at_random), ceiling_key(in_order), ceiling_key(random_series([1000], read_percent=70))}
    assert len(keys) == 3
