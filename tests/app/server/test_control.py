"""smbd's profiling level on a real server: restored at the end, and after a kill."""

import itertools
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.base.errors import MeasurementError
from app.clients.registry import make_files
from app.server import smbd as smbd_module
from app.server.shell import ServerShell
from app.server.smbd import Profiler, SmbdControl
from storage.isolation import PROCESSOR, profile_rounds
from storage.plan import Settings
from tests.command_line import ROOT
from tests.servers.smbd import Smbd
from tests.waiting import wait_for

_PROFILED = """
import sys, time
from app.server.smbd import Profiler
with Profiler(None, sys.argv[1]):
    print("on", flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("level", ["off", "count"])
def test_the_profiling_level_is_restored_at_the_end_and_after_a_kill(smbd: Smbd, level: str):
    control = SmbdControl(ServerShell(None), str(smbd.conf))
    control.set_level(level)
    wait_for(lambda: control.level() == level)
    with Profiler(None, str(smbd.conf)):
        wait_for(lambda: control.level() == "on")
    wait_for(lambda: control.level() == level)
    words = [sys.executable, "-c", _PROFILED, str(smbd.conf)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "on\n"
        wait_for(lambda: control.level() == "on")
        process.kill()
    wait_for(lambda: control.level() == level)
    control.set_level("off")


@pytest.mark.parametrize(("looks", "is_switched"), [(["off", "off", "on"], True), (["off"] * 9, False)])
def test_an_smbd_that_reads_its_messages_late_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, looks: list[str], is_switched: bool
):
    """What is measured before would be told without its counters."""
    answers = iter(looks)
    sent: list[str] = []
    moments = itertools.count(100.0, smbd_module.SWITCH_SECONDS / 4)
    monkeypatch.setattr(SmbdControl, "set_level", lambda _, level: sent.append(level))
    monkeypatch.setattr(SmbdControl, "level", lambda _: next(answers))
    clock = SimpleNamespace(monotonic=lambda: next(moments), sleep=lambda _: None)
    monkeypatch.setattr(smbd_module, "time", clock)
    with nullcontext() if is_switched else pytest.raises(MeasurementError, match="less busy"):
        SmbdControl(ServerShell(None), None).switch_level("on")
    assert sent == ["on"]
    assert len(list(answers)) == (0 if is_switched else 5)


def test_a_server_without_counters_is_left_with_its_level(smbd: Smbd, monkeypatch: pytest.MonkeyPatch):
    control = SmbdControl(ServerShell(None), str(smbd.conf))
    control.set_level("off")
    wait_for(lambda: control.level() == "off")
    monkeypatch.setattr(SmbdControl, "profile", lambda _: (_ for _ in ()).throw(MeasurementError("none")))
    with pytest.raises(MeasurementError), Profiler(None, str(smbd.conf)):
        pass
    wait_for(lambda: control.level() == "off")


@pytest.mark.parametrize(("build", "is_without"), [("WITH_PROFILE", False), ("HAVE_GNUTLS", True)])
def test_an_smbd_that_was_built_without_profiling_is_named_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, build: str, is_without: bool
):
    for name, answer in {"smbcontrol": "echo No replies received; exit 1", "smbd": f"echo '   {build}'"}.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{answer}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(MeasurementError) as raised:
        SmbdControl(ServerShell(None), None).level()
    assert ("built without profiling" in str(raised.value)) is is_without
    assert ("No replies received" in str(raised.value)) is not is_without


def test_a_round_has_the_processor_time_of_who_serves(make_smbd):
    server: Smbd = make_smbd()
    files = make_files(server.target(), server.secrets(), Settings())
    with Profiler(None, str(server.conf)) as profiler:
        files.connect()
        for number in range(50):
            files.write_file(f"f{number}", memoryview(bytes(4096)))
        wait_for(lambda: PROCESSOR in (profile_rounds(profiler.round(1)) or [{}])[0])
    files.close()
