"""``load --from``: another machine makes the load, which a real sshd leads to; its clock is not ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.base.own_names import PREFIX
from app.load.engine_process import _ClockElsewhere
from app.load.events import LoadPhase, PhaseBegan, PointMeasured, UsersGone
from app.load.looks.server_view import LoadSamplers
from storage.load.records import LoadChoices
from storage.records import Target
from tests.command_line import Inside
from tests.loads import full_load
from tests.servers.smbd import Smbd
from tests.servers.sshd import Sshd
from tests.waiting import wait_for


def test_times_of_another_clock_are_translated_by_the_event_that_arrived_fastest():
    clock = _ClockElsewhere()
    # That clock is 1000 s behind; the first event takes 0.5 s to arrive, the second 0.1 s.
    slow = clock.translated(PhaseBegan(phase=LoadPhase.FILES, at_seconds=10.0), 1010.5)
    assert isinstance(slow, PhaseBegan)
    assert slow.at_seconds == pytest.approx(1010.5)
    fast = clock.translated(PhaseBegan(phase=LoadPhase.STEADY, at_seconds=20.0), 1020.1)
    assert isinstance(fast, PhaseBegan)
    assert fast.at_seconds == pytest.approx(1020.1)

    measured = clock.translated(
        PointMeasured(point=1, users=1, began_seconds=20, ended_seconds=30, ramp_seconds=1), 1031
    )
    assert isinstance(measured, PointMeasured)
    assert (measured.began_seconds, measured.ended_seconds) == pytest.approx((1020.1, 1030.1))
    gone = clock.translated(UsersGone(at_seconds=40.0), 1040.05)
    assert isinstance(gone, UsersGone)
    assert gone.at_seconds == pytest.approx(1040.05)


FOLDER = (Target(protocol="file", path="/data"),)
SHARE_ELSEWHERE = (Target(protocol="smb", host="203.0.113.7", share="data", path=""),)
SHARE_HERE = (Target(protocol="smb", host="127.0.0.1", share="data", path=""),)


@pytest.mark.parametrize(
    ("targets", "ssh", "from_host", "server", "own"),
    [
        (FOLDER, None, None, (None,), (None,)),
        # The path is one of that machine.
        (FOLDER, None, "branch", ("branch",), ("branch",)),
        (SHARE_ELSEWHERE, None, None, (), (None,)),
        (SHARE_ELSEWHERE, "root@nas", "branch", ("root@nas",), ("branch",)),
        (SHARE_HERE, None, None, (None,), (None,)),
        (SHARE_HERE, None, "branch", (None,), ("branch",)),
    ],
)
def test_each_machine_of_a_load_is_sampled_by_its_own_way(targets, ssh, from_host, server, own):
    load = full_load(targets=targets, choices=LoadChoices(users=(1,), from_host=from_host))
    samplers = LoadSamplers(load, ssh)
    assert tuple(sampler._ssh for sampler in (samplers.server,) if sampler) == server
    assert tuple(sampler._ssh for sampler in (samplers.own,) if sampler) == own
    assert (samplers.own is samplers.server) == (server == own)


@pytest.mark.long
def test_the_load_is_made_there_and_stored_here(tmp_path: Path, smbd: Smbd, place: Sshd):
    inside = Inside(tmp_path / "notebook.db", smbd.password)
    url = f"smb://{smbd.user}@{smbd.host}:{smbd.port}/{smbd.share}"
    words = ("--users", "2", "--duration", "3", "--settle", "0", "--files", "5", "--from", "fileserver")
    document = inside.json("load", url, *words, "--json")
    assert document["choices"]["from_host"] == "fileserver"
    assert document["choices"]["processes"] >= 1
    assert document["environment"]["client"]["measured.from"] == "fileserver"
    (point,) = document["points"]
    assert point["status"] in {"valid", "generator"}, "a busy machine may make the generator late"
    assert point["connected"] == 2
    # The server runs on the machine that makes the load, and is sampled in the measured window by our clock.
    assert point["server"]["samples"] >= 1
    assert not [path for path in smbd.folder.iterdir() if path.name.startswith(PREFIX)]
    # The script that samples the server there ends with its next line.
    wait_for(lambda: not place.processes())

    assert "--workers-on" in inside.fails(2, "load", url, *words, "--workers-on", "other")
