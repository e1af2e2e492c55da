"""What the commands say of running, imported, empty and unfinished series, and what they take out for good."""

from __future__ import annotations

import json
import socket
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.recording.several import losses_text
from forms.series.document import series_document
from storage.notebook import Notebook
from storage.records import Phase, Run, RunStatus, SeriesStatus, Target
from tests.builders import export, full_series, series
from tests.command_line import Inside
from tests.loads import full_load
from tests.specs import plan_with


@pytest.fixture
def sharebench(tmp_path: Path) -> Inside:
    return Inside(tmp_path / "notebook.db")


def unfinished(number: int = 1, **fields: Any):
    usual = {
        "id": f"{number:012x}",
        "status": SeriesStatus.INTERRUPTED,
        "plan": plan_with(runs=5),
        "label": f"no {number}",
    }
    return series((100e6, 101e6), **{**usual, **fields})


class Listener:
    """A server that takes down whatever a client says first, and lets nobody in."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            with peer:
                peer.sendall(b"220 welcome\r\n")
                peer.settimeout(5)
                try:
                    while said := peer.recv(1000):
                        self.heard.append(said)
                        peer.sendall(b"331 go on\r\n")
                except OSError:
                    pass

    def close(self) -> None:
        self._socket.close()


def test_an_imported_document_sends_no_password_elsewhere(
    sharebench: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SHAREBENCH_PASSWORD", "MARKERpw")
    evil = Listener()
    shown = Target(protocol="ftp", host="127.0.0.1", port=1, path="/big.iso", user="alice")
    document = series_document(unfinished(target=shown))
    document["plan"] |= {
        "target": {"protocol": "ftp", "host": "127.0.0.1", "port": evil.port, "path": "/big.iso", "user": "alice"},
        "secrets": {"password": "x"}, "scratch_path": "/precious.doc", "server_ssh": "evil", "smb_conf": "/etc/shadow",
    }  # fmt: skip
    file = tmp_path / "evil.json"
    file.write_text(json.dumps(document))
    assert sharebench("import", str(file)).returncode == 0
    with Notebook(sharebench.db) as notebook:
        assert notebook.series("last").plan == plan_with(runs=5)
    said = sharebench.fails(2, "run", "--resume", "last")
    assert "--confirm-target" in said
    assert "ftp://alice@127.0.0.1:1/big.iso" in said
    assert "nothing listens" in sharebench.fails(4, "run", "--resume", "last", "--confirm-target", "--json")
    evil.close()
    assert evil.heard == []


WRONG_PLANS: list[dict[str, object]] = [
    {"runs": "5"}, {"runs": -1}, {"runs": 2.5}, {"runs": True}, {"runs": 10**9}, {"runs": [5]}, {"warmups": "no"},
    {"until_percent": "2"}, {"until_percent": 0}, {"until_percent": 101}, {"max_runs": -1}, {"size_bytes": -1},
    {"size_bytes": "1G"}, {"make_file": 1}, {"verify": "no"}, {"client": 5}, {"quiet_time": "never"}, {"ceiling": {}},
    {"settings": 5}, {"settings": {"in_flight": "4"}}, {"settings": {"in_flight": 0}}, {"settings": {"in_flight": 999}},
    {"settings": {"timeout_seconds": -1}}, {"settings": {"block_bytes": 1.5}}, {"settings": {"sign": "yes"}},
]  # fmt: skip


@pytest.mark.parametrize("plan", WRONG_PLANS)
def test_a_plan_of_wrong_types_is_refused_at_import(sharebench: Inside, tmp_path: Path, plan: dict[str, object]):
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps({**series_document(full_series()), "plan": plan}))
    assert f"plan.{next(iter(plan))}" in sharebench.fails(2, "import", str(file))


def test_times_with_an_offset_are_kept_in_utc(sharebench: Inside, tmp_path: Path):
    file = tmp_path / "offset.json"
    file.write_text(json.dumps({**series_document(full_series()), "created_at": "2026-01-01T01:00:00+05:00"}))
    assert sharebench("import", str(file)).returncode == 0
    assert sharebench.json("show", "last", "--json")["created_at"] == "2025-12-31T20:00:00.000Z"
    file.write_text(json.dumps({**series_document(full_series()), "created_at": "0001-01-01T01:00:00+05:00"}))
    assert "expected a time" in sharebench.fails(2, "import", str(file), "--as-new")


def test_a_running_series_is_told_as_running_and_neither_resumed_nor_deleted(sharebench: Inside):
    with Notebook(sharebench.db) as notebook:
        notebook.add(unfinished())
        notebook.take(unfinished().id)
        listed = sharebench("list").stdout
        shown = sharebench("show", "last").stdout
        assert "2/5●" in listed
        assert "interrupted, running (process" in shown
        assert "--resume" not in shown
        assert sharebench.json("show", "last", "--json")["running"]["process"]
        assert "is being measured by process" in sharebench.fails(2, "run", "--resume", "last")
        assert "is not deleted" in sharebench.fails(2, "delete", "last", "--yes")
        notebook.release(unfinished().id)
    assert "2/5‖" in sharebench("list").stdout
    assert sharebench.json("show", "last", "--json")["running"] is None
    assert sharebench("delete", "last", "--yes").stdout.split() == [unfinished().id]


def test_what_a_kill_left_behind_is_named_everywhere(sharebench: Inside):
    left = "folder/.sharebench-0123456789ab"
    with Notebook(sharebench.db) as notebook:
        notebook.add(unfinished(scratch_path=left))
    assert "2/5‖+" in sharebench("list").stdout
    for command in (["show", "last"], ["export", "last"], ["export", "last", "--format", "csv"]):
        said = " ".join(sharebench(*command).stdout.split())
        assert left in said
        assert "may still be on the target: delete it there" in said
        assert "sharebench clean" not in said, "it is printed on paper too"
    assert "sharebench clean smb://nas/data/big.bin" in sharebench("show", "last").stderr
    assert sharebench.json("show", "last", "--json")["left_behind"] == left
    said = sharebench("delete", "last", "--yes").stderr
    assert left in said
    assert "sharebench clean smb://nas/data/big.bin" in said


def test_what_was_tried_again_is_on_the_form_and_in_the_document_and_comes_back(sharebench: Inside, tmp_path: Path):
    lost = Run(number=3, phase=Phase.MEASURED, status=RunStatus.FAILED, size_bytes=10, error="the server went away")
    again = replace(full_series(), failed_attempts=(lost,), resumed_at=("2026-02-01T10:00:00.000Z",))
    file = tmp_path / "again.json"
    file.write_bytes(export([again], "json"))
    assert sharebench("import", str(file)).returncode == 0
    shown = sharebench("show", "last").stdout
    assert "Resumed:    2026-02-01 10:00 UTC; failed before: run 3 (the server went away)" in " ".join(
        shown.split("\n")
    )
    with Notebook(sharebench.db) as notebook:
        found = notebook.series("last")
    assert (found.failed_attempts, found.resumed_at) == (again.failed_attempts, again.resumed_at)


def test_a_series_that_measured_nothing_is_no_baseline(sharebench: Inside):
    with Notebook(sharebench.db) as notebook:
        notebook.add(unfinished(runs=()))
    said = sharebench.fails(2, "baseline", "set", "before", unfinished().id[:12])
    assert "no valid measured run" in said
    assert said.rstrip().endswith(f"(run --resume {unfinished().id})"), "only the command line names its options"


@pytest.mark.long
def test_the_newest_fifty_are_listed_unless_asked_otherwise(sharebench: Inside):
    with Notebook(sharebench.db) as notebook:
        for number in range(1, 61):
            notebook.add(unfinished(number, created_at=f"2026-01-01T10:00:{number % 60:02d}.000Z", experiment="e"))
    listed = sharebench("list")
    assert len(listed.stdout.splitlines()) == 51
    assert "newest 50 of 60" in listed.stderr
    assert len(sharebench("list", "--all").stdout.splitlines()) == 61
    assert sharebench("list", "--all").stderr == ""
    assert len(sharebench("list", "--limit", "3").stdout.splitlines()) == 4
    assert len(sharebench("list", "--experiment", "e").stdout.splitlines()) == 51
    documents = sharebench.json("list", "--json")
    assert len(documents) == 60
    assert documents == [sharebench.json("show", document["id"], "--json") for document in documents]
    assert len(sharebench.json("list", "--json", "--limit", "2")) == 2


def test_prune_takes_out_what_holds_no_measurement(sharebench: Inside):
    empty = {"status": SeriesStatus.FAILED, "runs": ()}
    with Notebook(sharebench.db) as notebook:
        notebook.add(unfinished(1, **empty))
        notebook.add(unfinished(2, status=SeriesStatus.FAILED))
        notebook.add(unfinished(3, **empty, scratch_path=".sharebench-0123456789ab"))
        notebook.add(unfinished(4))
        failed = Run(number=1, phase=Phase.MEASURED, status=RunStatus.FAILED, size_bytes=10)
        notebook.add(unfinished(5, status=SeriesStatus.FAILED, runs=(failed,)))
    assert set(sharebench("prune", "--failed", "--yes").stdout.split()) == {f"{number:012x}" for number in (1, 5)}
    with Notebook(sharebench.db) as notebook:
        assert {head.id for head in notebook.heads()} == {f"{number:012x}" for number in (2, 3, 4)}


def test_a_load_that_is_being_measured_is_listed_as_such_and_not_deleted(sharebench: Inside):
    load = full_load(status=SeriesStatus.INTERRUPTED)
    with Notebook(sharebench.db) as notebook:
        notebook.add_load(load)
        notebook.take(load.id)
    assert "●" in sharebench("list").stdout
    assert "is not deleted" in sharebench.fails(2, "delete", load.id, "--yes")
    with Notebook(sharebench.db) as notebook:
        notebook.release(load.id)
    assert sharebench("delete", load.id, "--yes").stdout.split() == [load.id]


def test_nothing_is_deleted_without_being_asked(sharebench: Inside):
    with Notebook(sharebench.db) as notebook:
        notebook.add(unfinished())
    done = sharebench("delete", "last")
    assert done.returncode == 2
    assert "--yes" in done.stderr
    with Notebook(sharebench.db) as notebook:
        assert len(notebook.heads()) == 1


def test_what_a_baseline_or_an_experiment_loses_is_said_before_anything_is_deleted(sharebench: Inside):
    with Notebook(sharebench.db) as notebook:
        notebook.add(replace(unfinished(), experiment="tuning"))
        notebook.set_baseline("before", unfinished().id)
    said = sharebench("delete", "last").stderr
    assert 'The baseline "before" is deleted too. The experiment "tuning" loses 1 step.' in said
    with Notebook(sharebench.db) as notebook:
        assert len(notebook.heads()) == 1
        notebook.add(replace(unfinished(), id="bbbbbbbbbbbb", experiment="tuning"))
        notebook.set_baseline("before", unfinished().id, "bbbbbbbbbbbb")
        both, part = (losses_text(notebook, ids) for ids in ([unfinished().id, "bbbbbbbbbbbb"], ["bbbbbbbbbbbb"]))
    assert both == 'The baseline "before" is deleted too. The experiment "tuning" loses 2 steps.'
    assert part == 'The baseline "before" loses 1 recording. The experiment "tuning" loses 1 step.'
