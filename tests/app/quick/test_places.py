"""``quick --from A --from B``: several machines test one folder line by line, and one that fails stops no other."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.app.quick.leftovers import left_on
from tests.command_line import Inside
from tests.place_runs import assert_login_is_tried_once, begun_until, cut_off_amid, from_both, url_of
from tests.servers.machines import Machine, ssh_to
from tests.servers.smbd import Smbd

DEAD = "nohost.invalid"
SHORT = ("--size", "64M", "--seconds", "0.05")


def line_order(stderr: str) -> list[tuple[str, str]]:
    """The machine and the name of each line in the order in which they were measured."""
    told = [text.partition(": ") for text in stderr.splitlines() if " IOPS " in text]
    return [(host, " ".join(line.split()[:3])) for host, _, line in told]


@pytest.mark.long
def test_lines_are_interleaved_and_a_dead_machine_is_named(tmp_path: Path, smbd: Smbd, two_hosts: tuple[str, str]):
    inside = Inside(tmp_path / "notebook.db", smbd.password)
    first, second = two_hosts
    names = ("--from", DEAD, "--from", first, "--from", second, "--label", "test")
    done = inside("quick", url_of(smbd), *names, *SHORT, "--json")
    assert done.returncode == 4
    assert DEAD in done.stderr.splitlines()[-1]
    assert left_on(smbd) == []

    order = line_order(done.stderr)
    assert len(order) == 16
    for earlier, later in zip(order[::2], order[1::2], strict=True):
        assert {earlier[0], later[0]} == set(two_hosts)
        assert earlier[1] == later[1]

    document = json.loads(done.stdout)
    assert document["schema"] == "sharebench/quick-places/1"
    dead, *alive = document["places"]
    assert (dead["from"], dead["id"], dead["lines"]) == (DEAD, None, [])
    assert dead["error"]
    for host, measured in zip(two_hosts, alive, strict=True):
        assert (measured["from"], measured["status"], measured["error"]) == (host, "complete", None)
        assert len(measured["lines"]) == 8
        stored = inside.json("show", measured["id"], "--json")
        assert stored["status"] == "complete"
        assert stored["label"] == f"test {host}"


@pytest.mark.long
def test_a_machine_that_is_cut_off_ends_alone(tmp_path: Path, smbd: Smbd, two_hosts: tuple[str, str]):
    _first, second = two_hosts
    words = ("quick", url_of(smbd), *from_both(two_hosts), *SHORT, "--json")
    notebook = tmp_path / "notebook.db"
    alive, cut_off = cut_off_amid(notebook, smbd, words, f"{second}: SEQ1M", second, "app.quick.child")
    assert len(alive["lines"]) == 8
    assert 1 <= len(cut_off["lines"]) < 8
    assert left_on(smbd) == []


@pytest.mark.long
def test_a_cancel_ends_all_which_remove_their_files(tmp_path: Path, smbd: Smbd, two_hosts: tuple[str, str]):
    _first, second = two_hosts
    words = ("quick", url_of(smbd), *from_both(two_hosts), *SHORT, "--json")
    process = begun_until(tmp_path / "notebook.db", smbd, words, f"{second}: SEQ1M")
    process.send_signal(signal.SIGINT)
    out, _err = process.communicate()
    assert process.returncode == 130
    assert [place["status"] for place in json.loads(out)["places"]] == ["interrupted", "interrupted"]
    assert left_on(smbd) == []


def test_a_refused_login_is_tried_from_one_machine_only(tmp_path: Path, smbd: Smbd, two_hosts: tuple[str, str]):
    words = ("quick", url_of(smbd), *from_both(two_hosts), *SHORT, "--json")
    assert_login_is_tried_once(tmp_path / "notebook.db", smbd, words)
    assert Inside(tmp_path / "notebook.db", "").json("list", "--json") == []


@pytest.mark.long
def test_the_slow_machine_and_what_limits_it_are_told(
    tmp_path: Path, common_address: str, machines: list[Machine], make_smbd: Any, monkeypatch: pytest.MonkeyPatch
):
    server = make_smbd()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{ssh_to(machines, tmp_path / 'bin')}:{os.environ['PATH']}")
    inside = Inside(tmp_path / "notebook.db", server.password)
    url = f"smb://{server.user}@{common_address}:{server.port}/{server.share}"
    fast, middle, _slow = machines
    long_enough = ("--size", "64M", "--seconds", "0.3")
    document = inside.json("quick", url, "--from", middle.name, "--from", fast.name, *long_enough, "--json")
    assert (document["slow_leg"], document["fastest"]) == (middle.name, fast.name)
    slow_place, fast_place = document["places"]
    assert slow_place["link_bits_per_second"] == middle.bits_per_second
    assert slow_place["round_trip_seconds"] >= middle.least_round_trip_seconds
    assert fast_place["link_bits_per_second"] == fast.bits_per_second
    assert "slower" in {line["verdict"] for line in slow_place["lines"]}
    assert {line["verdict"] for line in fast_place["lines"]} == {None}
