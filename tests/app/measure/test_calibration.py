"""Ceilings: each client of ours is calibrated in both directions, and nothing else is."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from app.measure.calibration import FIRST_BYTES, ceiling_bytes_per_second
from app.recorder.ceilings import ceiling_of
from storage.notebook import Notebook
from storage.records import ClientFacts, Command, Phase, Run, Series, Target

OURS = ClientFacts(name="sharebench", version="0", block_bytes=1 << 20, in_flight=4)


def test_the_best_of_the_long_enough_transfers_counts():
    asked = []

    def transfer(_facts: ClientFacts, _command: Command, size_bytes: int) -> float:
        asked.append(size_bytes)
        return size_bytes / FIRST_BYTES * (0.2 if len(asked) != 4 else 0.1)

    assert ceiling_bytes_per_second(transfer, OURS, Command.GET) == FIRST_BYTES / 0.1
    assert asked == [FIRST_BYTES, *[2 * FIRST_BYTES] * 4]


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
        "from app.measure.calibration import _CEILINGS\n"
        "from storage.records import ClientFacts, Command\n"
        "asked = json.load(sys.stdin)\n"
        "seconds = import_module(_CEILINGS[asked['protocol']]).ceiling_seconds\n"
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
    found = iter([100.0, 200.0])
    monkeypatch.setattr("app.recorder.ceilings._calibrate", lambda _series: next(found))
    with Notebook(tmp_path / "notebook.db") as notebook:
        assert ceiling_of(series(), notebook) == 100.0
        assert ceiling_of(series(), notebook) == 100.0
        assert ceiling_of(series(), notebook, anew=True) == 200.0
        assert ceiling_of(series(), notebook) == 200.0


def test_a_program_that_is_not_ours_has_no_ceiling(tmp_path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        assert ceiling_of(series(client=ClientFacts(name="curl")), notebook) is None


def test_a_local_path_has_one(tmp_path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        found = ceiling_of(series(), notebook)
    assert found is not None
    assert found > 0


def test_a_series_above_its_ceiling_raises_it(tmp_path, monkeypatch: pytest.MonkeyPatch):
    found = iter([100.0, 150.0])
    monkeypatch.setattr("app.recorder.ceilings._calibrate", lambda _series: next(found))
    faster = replace(series(), runs=(Run(number=1, phase=Phase.MEASURED, size_bytes=1000, seconds=5.0),))
    with Notebook(tmp_path / "notebook.db") as notebook:
        assert ceiling_of(series(), notebook) == 100.0
        assert ceiling_of(faster, notebook) == 200.0
        assert ceiling_of(series(), notebook) == 200.0
