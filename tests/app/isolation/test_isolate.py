"""Isolations of a real smbd: exact operations, nothing left behind, also after a kill."""

import os
import platform
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from app.base.child_process import own_environment
from app.isolation.bench import LayerBench
from app.isolation.places import Places
from app.isolation.record import record_isolation, restored_isolations
from app.isolation.replay_messages import ReplayPlan
from app.isolation.replay_process import Replay
from app.isolation.rounds import IsolationClosed, IsolationOpened, LayerRunEnded
from app.isolation.script import load_script
from app.isolation.spec import IsolationRequest, request_to_resume
from app.recording.process import SeriesControl, Warned
from app.server.shell import ServerShell
from app.server.smbd import SmbdControl, profile_since
from forms.isolation.document import isolation_document
from forms.isolation.summary import isolation_summary
from storage.isolation import Isolation, Layer, LayerRun
from storage.notebook import Notebook
from storage.plan import Settings
from storage.records import SeriesStatus
from tests.servers.smbd import Smbd
from tests.waiting import HANG_SECONDS, LIMIT_SECONDS, wait_for


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However late a busy smbd writes its counters, they are waited for."""
    monkeypatch.setattr("app.server.smbd.LATE_SECONDS", LIMIT_SECONDS)


def control(smbd: Smbd) -> SmbdControl:
    return SmbdControl(ServerShell(), str(smbd.conf))


def plan(smbd: Smbd, **changes: Any) -> ReplayPlan:
    usual: dict[str, Any] = {
        "target": smbd.target(), "secrets": smbd.secrets(), "settings": Settings(), "script_path": None, "without": (),
        "folder": ".sharebench-isolate-test", "clients": 2, "warm_up_seconds": 0.0, "seconds": 60.0, "passes": 1,
    }  # fmt: skip
    return ReplayPlan(**usual | changes)


@pytest.mark.varied(settings=1)
@pytest.mark.parametrize("settings", [Settings(), Settings(encrypt=True)])
def test_the_server_counts_exactly_what_the_script_asks_for(smbd: Smbd, settings: Settings):
    script, looked_at = load_script(), control(smbd)
    looked_at.set_level("on")
    before = looked_at.profile()
    result = Replay(plan(smbd, settings=settings)).wait()
    assert result.operations == {name: 2 * count for name, count in script.counts.items()}
    assert result.unexpected == 0
    assert result.moved_bytes == 2 * script.pass_bytes

    def grown() -> Mapping[str, int]:
        found = profile_since(before, looked_at.profile()) or {}
        return {name.removeprefix("smb2_"): one.calls for name, one in found.items() if name.startswith("smb2_")}

    wait_for(lambda: sum(grown().get(name, 0) for name in result.requests) >= sum(result.requests.values()))
    counted = grown()  # smbd writes its counters down a second late, and later on a busy machine
    assert {name: counted.get(name) for name in result.requests} == result.requests
    assert counted["read"] == 2 * script.counts["readx"]
    assert counted["write"] == 2 * script.counts["writex"]
    assert counted["lock"] == 2 * (script.counts["lockx"] + script.counts["unlockx"])
    assert list(smbd.folder.iterdir()) == []


@pytest.mark.long
def test_where_the_server_takes_no_large_requests_they_are_split(make_smbd):
    server: Smbd = make_smbd({"smb2 max read": "4096", "smb2 max write": "4096", "smb2 max trans": "4096"})
    script = load_script()
    result = Replay(plan(server)).wait()
    assert result.unexpected == 0
    assert result.moved_bytes == 2 * script.pass_bytes
    assert result.requests["read"] > 2 * script.counts["readx"]
    assert list(server.folder.iterdir()) == []


def test_replays_that_are_given_up_remove_what_they_made(smbd: Smbd):
    replay = Replay(plan(smbd, passes=0))
    wait_for(lambda: list(smbd.folder.glob(".sharebench-isolate-test/clients/client*/Letters")))
    replay.hang_up()
    replay.wait()
    assert list(smbd.folder.iterdir()) == []


def command(smbd: Smbd, db: Path, *words: str) -> list[str]:
    target = f"smb://{smbd.user}@127.0.0.1:{smbd.port}/{smbd.share}"
    return [sys.executable, "-m", "app", "--db", str(db), "isolate", target, "--smb-conf", str(smbd.conf), *words]


def environment(smbd: Smbd) -> dict[str, str]:
    return own_environment() | {"SHAREBENCH_PASSWORD": smbd.password}


@pytest.mark.long
def test_what_a_kill_leaves_is_put_back_by_the_next_start(smbd: Smbd, tmp_path: Path):
    db = tmp_path / "n.db"
    control(smbd).set_level("off")
    words = command(smbd, db, "--clients", "1", "--rounds", "3", "--seconds", "30")
    with subprocess.Popen(
        words, env=environment(smbd), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        wait_for(lambda: list(smbd.folder.iterdir()) and list(smbd.root.glob("*-disk/work")))
        os.kill(process.pid, signal.SIGKILL)
    assert control(smbd).level() == "on"
    assert list(smbd.root.glob("*-disk"))
    with Notebook(db) as notebook:
        said = list(restored_isolations(notebook))
        (left,) = notebook.isolations()
        assert not list(restored_isolations(notebook)), said
    assert "its folders are removed and smbd is as it was" in said[0]
    assert left.status is SeriesStatus.INTERRUPTED
    assert left.left_behind.nothing
    assert control(smbd).level() == "off"
    wait_for(lambda: not list(smbd.folder.iterdir()))
    assert not list(smbd.root.glob("*-disk"))


@pytest.mark.long
def test_ctrl_c_puts_everything_back(smbd: Smbd, tmp_path: Path):
    control(smbd).set_level("count")
    words = command(smbd, tmp_path / "n.db", "--clients", "2", "--rounds", "1", "--seconds", "30")
    with subprocess.Popen(words, env=environment(smbd), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_for(lambda: list(smbd.folder.glob(".sharebench-isolate-*/clients/client2")))
        process.send_signal(signal.SIGINT)
        _out, error = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 130
    assert b"--resume" in error
    assert list(smbd.folder.iterdir()) == []
    assert control(smbd).level() == "count"


@pytest.mark.long
def test_what_was_cancelled_is_completed_later_and_measured_but_once(smbd: Smbd, tmp_path: Path):
    db, cancelled = tmp_path / "n.db", SeriesControl()
    control(smbd).set_level("off")
    request = IsolationRequest(
        target=smbd.target(), secrets=smbd.secrets(), whole_script=load_script(), clients=(2,), rounds=1, seconds=2,
        smb_conf=str(smbd.conf),
    )  # fmt: skip
    for event in record_isolation(request, db, cancelled):
        if isinstance(event, LayerRunEnded):
            with Notebook(db) as notebook:
                notebook.describe(notebook.resolve("last"), note="switch rebooted", label="first")
            cancelled.cancel()
    before = runs_so_far(db)
    assert len(before) == 1
    with Notebook(db) as notebook:
        stopped = notebook.isolation("last")
    assert stopped is not None
    assert stopped.status is SeriesStatus.INTERRUPTED
    again = request_to_resume(stopped, smbd.secrets())
    for event in record_isolation(again, db, SeriesControl(), stopped.id):
        if isinstance(event, IsolationOpened):
            with Notebook(db) as notebook:
                notebook.describe(stopped.id, label="second")
        closed = event
    assert isinstance(closed, IsolationClosed)
    assert (closed.isolation.note, closed.isolation.label) == ("switch rebooted", "second")
    assert closed.isolation.status is SeriesStatus.COMPLETE, closed.isolation.error
    assert closed.isolation.environment["client"]["host.name"] == platform.node()
    assert set(before.items()) <= set(runs_so_far(db).items()), "what was measured is not measured again"
    check_all_layers(isolation_document(isolation_summary(closed.isolation)))
    assert control(smbd).level() == "off"
    assert list(smbd.folder.iterdir()) == []


class NoBench(LayerBench):
    """Measures nothing."""

    def prepare(self) -> None: ...

    def run(self, layer: Layer, clients: int, turn: int) -> list[LayerRun]:
        return [LayerRun(round=turn, layer=layer, clients=clients, bytes_per_second=1, seconds=1)]

    def ceiling(self, clients: int) -> float:
        return 1.0


@pytest.mark.parametrize("is_left", [False, True])
def test_a_folder_that_a_script_left_on_the_share_is_told(
    smbd: Smbd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_left: bool
):
    folder = smbd.folder / ".sharebench-isolate-0123abcd"
    monkeypatch.setattr("app.isolation.rounds.LayerBench", NoBench)
    monkeypatch.setattr("app.isolation.rounds.isolation_places.find_places", lambda _: Places(share_folder=folder.name))
    request = IsolationRequest(
        target=smbd.target(), secrets=smbd.secrets(), whole_script=load_script(), clients=(1,), rounds=1
    )
    if is_left:
        folder.mkdir()
    events = list(record_isolation(request, tmp_path / "n.db", SeriesControl()))
    told = [event.text for event in events if isinstance(event, Warned)]
    assert ["may still be on the share smb://" in text for text in told] == [True] * is_left
    if is_left:
        folder.rmdir()


def test_a_profile_that_was_on_is_on_again(smbd: Smbd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    class Uncounted(NoBench):
        """Leaves smbd as its last run, which is not counted, has it."""

        def run(self, layer: Layer, clients: int, turn: int) -> list[LayerRun]:
            control(smbd).set_level("off" if layer is Layer.SERVER_UNPROFILED else "on")
            return super().run(layer, clients, turn)

    control(smbd).set_level("on")
    places = Places(
        share_folder=".sharebench-isolate-0123abcd", shell=ServerShell(), smbd=control(smbd),
        smb_conf=str(smbd.conf), profiling="on",
    )  # fmt: skip
    monkeypatch.setattr("app.isolation.rounds.LayerBench", Uncounted)
    monkeypatch.setattr("app.isolation.rounds.isolation_places.find_places", lambda _: places)
    request = IsolationRequest(
        target=smbd.target(), secrets=smbd.secrets(), whole_script=load_script(), clients=(1,), rounds=1
    )
    list(record_isolation(request, tmp_path / "n.db", SeriesControl()))
    assert control(smbd).level() == "on"
    control(smbd).set_level("off")


def check_all_layers(document: dict[str, Any]) -> None:
    layers = Counter(run["layer"] for run in document["runs"])
    assert layers == {layer.value: 1 for layer in Layer if layer is not Layer.SERVER_WHOLE_SCRIPT}
    (server,) = [run for run in document["runs"] if run["layer"] == "server"]
    # On a busy machine the time may be over before the first file is read.
    counted = {name: server["profile"].get(f"smb2_{name}", {}).get("calls") for name in server["requests"]}
    assert counted == server["requests"] != {}
    assert any(run["server_cpu"] and run["server_cpu"]["total"]["mean"] > 0 for run in document["runs"])
    assert document["ceilings"]["2"] > 0
    assert document["verdict"]["cause"]


def runs_so_far(db: Path) -> dict[tuple[int, Layer, int], str]:
    with Notebook(db) as notebook:
        found: Isolation | None = notebook.isolation("last")
        return {run.key: run.started_at for run in found.runs} if found else {}
