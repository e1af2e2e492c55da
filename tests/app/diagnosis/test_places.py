"""``diagnose --from A --from B``: several machines diagnose one share, and one that fails stops no other."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from app.base.own_names import PREFIX
from tests.command_line import Inside
from tests.place_runs import assert_login_is_tried_once, begun_until, cut_off_amid, from_both, url_of
from tests.servers.machines import Machine, ssh_to
from tests.servers.smbd import Smbd

DEAD = "nohost.invalid"
SHORT = ("--only", "connect,distance,small-files", "--quick", "--yes")


def left_on(smbd: Smbd) -> list[Path]:
    return [path for path in smbd.folder.iterdir() if path.name.startswith(PREFIX)]


@pytest.mark.long
def test_stages_are_interleaved_and_a_dead_machine_is_named(tmp_path: Path, smbd: Smbd, two_hosts: tuple[str, str]):
    inside = Inside(tmp_path / "notebook.db", smbd.password)
    first, second = two_hosts
    names = ("--from", DEAD, "--from", first, "--from", second, "--label", "test")
    done = inside("diagnose", url_of(smbd), *names, *SHORT, "--json")
    assert done.returncode == 4
    assert DEAD in done.stderr.splitlines()[-1]
    assert left_on(smbd) == []

    begun = [line.strip().partition(": ") for line in done.stderr.splitlines() if " of 3: " in line]
    order = [(host, int(text.split()[0])) for host, _, text in begun]
    assert order == [(first, 1), (second, 1), (second, 2), (first, 2), (first, 3), (second, 3)]

    document = json.loads(done.stdout)
    assert document["schema"] == "sharebench/diagnosis-places/1"
    dead, *alive = document["places"]
    assert (dead["from"], dead["id"], dead["findings"]) == (DEAD, None, [])
    assert dead["error"]
    for host, measured in zip(two_hosts, alive, strict=True):
        assert (measured["from"], measured["status"], measured["error"]) == (host, "complete", None)
        assert measured["round_trip_seconds"] > 0
        assert measured["saved_files_per_second"] > 0
        stored = inside.json("show", measured["id"], "--json")
        assert (stored["from_host"], stored["label"]) == (host, f"test {host}")


@pytest.mark.long
def test_a_machine_that_is_cut_off_ends_alone(tmp_path: Path, smbd: Smbd, two_hosts: tuple[str, str]):
    _first, second = two_hosts
    words = ("diagnose", url_of(smbd), *from_both(two_hosts), *SHORT, "--json")
    notebook = tmp_path / "notebook.db"
    cut_off_amid(notebook, smbd, words, f"{second}: 2 of 3", second, "app.diagnosis.child")
    assert left_on(smbd) == []


@pytest.mark.long
def test_a_cancel_ends_all_and_each_can_be_resumed(tmp_path: Path, smbd: Smbd, two_hosts: tuple[str, str]):
    first, second = two_hosts
    words = ("diagnose", url_of(smbd), *from_both(two_hosts), *SHORT, "--json")
    process = begun_until(tmp_path / "notebook.db", smbd, words, f"{first}: 2 of 3")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130
    ids = [place["id"] for place in json.loads(out)["places"]]
    for diagnosis_id in ids:
        assert f"diagnose --resume {diagnosis_id}" in err.splitlines()[-1]
    assert left_on(smbd) == []

    inside = Inside(tmp_path / "notebook.db", smbd.password)
    resumed = inside.json("diagnose", "--resume", ids[1], "--yes", "--json")
    assert (resumed["status"], resumed["from_host"]) == ("complete", second)


def test_a_refused_login_is_tried_from_one_machine_only(tmp_path: Path, smbd: Smbd, two_hosts: tuple[str, str]):
    words = ("diagnose", url_of(smbd), *from_both(two_hosts), *SHORT, "--json")
    assert_login_is_tried_once(tmp_path / "notebook.db", smbd, words)


def test_several_are_resumed_one_by_one(tmp_path: Path):
    inside = Inside(tmp_path / "notebook.db", "x")
    told = inside.fails(2, "diagnose", "--resume", "last", "--from", "a", "--from", "b")
    assert "resume one after the other" in told


@pytest.mark.long
def test_the_far_machine_and_what_limits_it_are_told(
    tmp_path: Path, common_address: str, machines: list[Machine], make_smbd: Any, monkeypatch: pytest.MonkeyPatch
):
    server = make_smbd()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{ssh_to(machines, tmp_path / 'bin')}:{os.environ['PATH']}")
    inside = Inside(tmp_path / "notebook.db", server.password)
    url = f"smb://{server.user}@{common_address}:{server.port}/{server.share}"
    fast, middle, _slow = machines
    document = inside.json("diagnose", url, "--from", middle.name, "--from", fast.name, *SHORT, "--json")
    assert (document["slow_leg"], document["fastest"]) == (middle.name, fast.name)
    far_place, near_place = document["places"]
    assert far_place["link_bits_per_second"] == middle.bits_per_second
    assert far_place["round_trip_seconds"] >= middle.least_round_trip_seconds > near_place["round_trip_seconds"]
    limits = {slower["key"]: slower["limit"] for slower in far_place["slower"]}
    assert limits["put_file_seconds"] == "distance"
