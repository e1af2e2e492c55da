"""``load --from A --from B``: each machine makes a load of its own, in turn, and the slow leg is named."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest

from app.base import errors
from app.base.own_names import PREFIX
from app.load import events
from app.load.measurement import LoadChanged, LoadClosed
from app.load.places.lines import PlacesLines
from app.load.places.record import _ends_turn, _refuses_login
from app.recording.process import Failed
from tests.command_line import Inside
from tests.loads import full_load, point
from tests.place_runs import url_of
from tests.servers.machines import Machine, installed, ssh_to
from tests.servers.smbd import Smbd
from tests.servers.sshd import Sshd
from tests.waiting import HANG_SECONDS

SHORT = ("--duration", "2", "--settle", "0", "--files", "5", "--sizes", "4K:1")
TWO = ("--from", "fileserver", "--from", "root@fileserver")
"""One machine by two names."""


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--find-capacity",), "--users"),
        (("--textfile", "load.prom"), "--textfile"),
        (("--scenario", "idle"), "idle"),
        (("--workers-on", "c"), "--workers-on"),
        (("--by-size", "--find-capacity"), "--users"),
        (("--resume", "last"), "--from"),
    ],
)
def test_what_several_machines_cannot_do_is_refused_in_a_line(tmp_path: Path, options: Sequence[str], named: str):
    inside = Inside(tmp_path / "notebook.db", "x")
    target = () if "--resume" in options else ("smb://u@nas/share",)
    assert named in inside.fails(2, "load", *target, "--from", "a", "--from", "b", *options)


def test_a_turn_ends_with_a_point_that_is_over_and_a_refused_login_is_told():
    load = full_load()
    assert not _ends_turn(LoadChanged(load=load))
    assert not _ends_turn(LoadChanged(load=load, point=point())), "its jobs still print"
    assert _ends_turn(LoadChanged(load=load, point=point(), done=True))

    refused = LoadClosed(load=load, failure=Failed(kind=errors.LoginError, text="refused"))
    assert _refuses_login(refused)
    assert not _refuses_login(replace(refused, failure=Failed(kind=errors.MeasurementError, text="x")))
    assert not _refuses_login(replace(refused, failure=None))


def test_the_time_of_all_machines_is_told_once_and_a_dead_one_takes_none():
    load = full_load(points=())
    lines_told: list[str] = []
    lines = PlacesLines(("dead", "head", "branch"), lambda _text: None, lines_told.append)
    for host in ("head", "branch"):
        lines.show(host, LoadChanged(load=load))
        lines.show(host, events.PhaseBegan(phase=events.LoadPhase.FILES))
        if host == "head":
            left_of_two = lines.seconds_left
    assert [line for line in lines_told if "3 machines" in line] == lines_told
    assert len(lines_told) == 1
    assert left_of_two is not None
    assert lines.seconds_left == pytest.approx(left_of_two, rel=0.1), "the dead one is not waited for"

    lines.show("head", LoadChanged(load=replace(load, points=(point(),)), point=point(), done=True))
    assert lines_told[-1].startswith("sharebench: head: 10 users")


@pytest.mark.long
def test_a_dead_machine_is_named_and_the_other_makes_its_load(tmp_path: Path, smbd: Smbd, place: Sshd):
    inside = Inside(tmp_path / "notebook.db", smbd.password)
    done = inside("load", url_of(smbd), "--users", "2", *SHORT, "--from", "nohost.invalid", *TWO[:2], "--json")
    assert done.returncode == 4
    assert "nohost.invalid" in done.stderr.splitlines()[-1]

    document = json.loads(done.stdout)
    assert document["schema"] == "sharebench/load-places/1"
    dead, alive = document["places"]
    assert (dead["from"], dead["load_id"], dead["points"]) == ("nohost.invalid", None, [])
    assert dead["error"]
    assert (alive["from"], alive["error"]) == ("fileserver", None)
    assert alive["points"][0]["requests_per_second"] > 0
    assert document["slow_leg"] is None
    stored = inside.json("show", alive["load_id"], "--json")
    assert (stored["status"], stored["label"]) == ("complete", "fileserver")
    # The machine is the server: the loopback tells a round trip.
    assert alive["round_trip_seconds"] > 0


@pytest.mark.long
def test_a_refused_login_is_tried_from_one_machine_alone(tmp_path: Path, smbd: Smbd, place: Sshd):
    inside = Inside(tmp_path / "notebook.db", "wrong")
    done = inside("load", url_of(smbd), "--users", "2", *SHORT, *TWO, "--json")
    assert done.returncode == 4
    first, second = json.loads(done.stdout)["places"]
    assert (first["load_id"], second["load_id"]) == (None, None)
    assert "refused" in first["error"]
    assert second["error"] == "not measured: the login was refused before"
    assert "fileserver, root@fileserver" in done.stderr.splitlines()[-1]


@pytest.mark.long
def test_points_are_measured_in_turn_and_nothing_is_left(tmp_path: Path, smbd: Smbd, place: Sshd):
    script = place.path / "sharebench"
    script.write_text(installed())
    script.chmod(0o755)
    inside = Inside(tmp_path / "notebook.db", smbd.password)
    document = inside.json("load", url_of(smbd), "--users", "1,3", *SHORT, *TWO, "--label", "branch", "--json")
    assert [measured["from"] for measured in document["places"]] == ["fileserver", "root@fileserver"]
    assert not [path for path in smbd.folder.iterdir() if path.name.startswith(PREFIX)]

    times = []
    for place_document in document["places"]:
        assert [measured["users"] for measured in place_document["points"]] == [1, 3]
        load = inside.json("show", place_document["load_id"], "--json")
        assert load["label"] == f"branch {place_document['from']}"
        for measured in load["points"]:
            began = datetime.fromisoformat(measured["started_at"]).timestamp()
            ended = datetime.fromisoformat(measured["window_started_at"]).timestamp() + measured["seconds"]
            times.append((began, ended, place_document["from"]))
    times.sort()
    assert [host for _began, _ended, host in times] == [*document_hosts(document), *reversed(document_hosts(document))]
    for (_began, ended, _host), (next_began, _end, _next_host) in pairwise(times):
        assert ended <= next_began, "no two load the server at the same time"


def document_hosts(document: dict[str, list[dict[str, str]]]) -> list[str]:
    return [measured["from"] for measured in document["places"]]


@pytest.mark.long
def test_ctrl_c_ends_all_and_removes_the_files_of_each(tmp_path: Path, smbd: Smbd, place: Sshd):
    script = place.path / "sharebench"
    script.write_text(installed())
    script.chmod(0o755)
    inside = Inside(tmp_path / "notebook.db", smbd.password)
    load = inside.start("load", url_of(smbd), "--users", "1,2", *SHORT, *TWO, "--json")
    assert load.stderr is not None
    for line in load.stderr:
        if line.startswith("sharebench: root@fileserver: 1 user"):
            break
    os.kill(load.pid, signal.SIGINT)
    out, err = load.communicate(timeout=HANG_SECONDS)
    assert load.returncode == 130, err
    assert not [path for path in smbd.folder.iterdir() if path.name.startswith(PREFIX)]

    for measured in json.loads(out)["places"]:
        assert f"load --resume {measured['load_id']}" in measured["error"]
        stored = inside.json("show", measured["load_id"], "--json")
        assert stored["status"] == "interrupted"
        assert [one["users"] for one in stored["points"]] == [1]


@pytest.mark.alone
def test_the_slow_leg_is_named(
    tmp_path: Path,
    common_address: str,
    machines: list[Machine],
    make_smbd,
    monkeypatch: pytest.MonkeyPatch,
):
    server = make_smbd()
    (tmp_path / "bin").mkdir()
    folder = ssh_to(machines, tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    inside = Inside(tmp_path / "notebook.db", server.password)
    url = f"smb://{server.user}@{common_address}:{server.port}/{server.share}"
    work = ("--users", "4", "--duration", "6", "--settle", "1", "--files", "8", "--sizes", "128K:1", "--read", "100")
    hosts = ("--from", "fast", "--from", "slow")
    document = inside.json("load", url, *work, "--pace", "0.1", *hosts, "--json")
    assert document["slow_leg"] == "slow"
    assert document["fastest"] == "fast"
    fast, slow = document["places"]
    assert slow["limit"] == "link"
    assert slow["round_trip_seconds"] >= machines[2].least_round_trip_seconds > fast["round_trip_seconds"]
    assert (fast["verdict"], slow["verdict"]) == (None, "slower")
