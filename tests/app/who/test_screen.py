"""Who uses a server, on the screen: looked at again and again, until it is paused or left."""

from __future__ import annotations

import queue
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from app.base.errors import MeasurementError, SharebenchError, UsageError
from app.tui.frame.dialogs import MessageDialog
from app.who import engine, spec
from app.who.form_screen import WhoScreen
from app.who.screen import WhoLookScreen
from app.who.spec import WhoRequest
from storage.notebook import Notebook
from storage.records import Target, format_target
from storage.who import Who
from tests.recordings import WHO
from tests.servers.smbd import Smbd
from tests.tui import app_on, footer_of, painted, press, settled, shows, text_of
from tests.waiting import wait_for

BUSIER = replace(WHO, id="ff66ff66ff67", sessions=WHO.sessions[::-1], seconds=5.0, look_cpu_seconds=0.03)


class FakeLooks:
    """Looks that the test hands out, one by one."""

    def __init__(self) -> None:
        self.results: queue.Queue[Who | SharebenchError] = queue.Queue()
        self.requests: list[WhoRequest] = []
        self.stops: list[threading.Event] = []

    def look(self, request: WhoRequest, stop: threading.Event) -> Who:
        self.requests.append(request)
        self.stops.append(stop)
        while not stop.is_set():
            try:
                result = self.results.get(timeout=0.05)
            except queue.Empty:
                continue
            if isinstance(result, SharebenchError):
                raise result
            return result
        return WHO


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> FakeLooks:
    fake = FakeLooks()
    monkeypatch.setattr(engine, "look", fake.look)
    return fake


LINES = {"target": "127.0.0.1", "seconds": "10", "ssh": "", "conf": ""}


@pytest.mark.parametrize(
    ("line", "text"),
    [("target", ""), ("target", "ftp://127.0.0.1"), ("target", "fileserver.invalid"), ("seconds", "0"), ("ssh", "-x")],
)
def test_what_is_wrong_with_a_line_is_refused(line: str, text: str):
    with pytest.raises(UsageError):
        WhoScreen.parse({**LINES, line: text})


def test_the_lines_make_a_request():
    assert WhoScreen.parse(LINES) == WhoRequest(target=Target(protocol="smb", host="127.0.0.1", port=445))
    far = WhoScreen.parse({**LINES, "target": "smb://nas:4450", "ssh": "root@nas", "conf": "/etc/smb.conf"})
    assert (far.server_ssh, far.smb_conf, far.target.port) == ("root@nas", "/etc/smb.conf", 4450)


async def test_it_is_drawn_anew_after_each_look_paused_and_kept(tmp_path: Path, looks: FakeLooks):
    path = tmp_path / "notebook.db"
    app = app_on(path, first="who")
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        app.screen.query_one("#target", Input).value = "127.0.0.1"
        await press(app, pilot, "f9")
        assert shows(app, WhoLookScreen)
        assert "Keep" not in footer_of(app)

        looks.results.put(WHO)
        await _looked(app, pilot, looks, 2)
        assert "80 %" in text_of(app.screen, "#headline")
        assert "80 %" in painted(app)
        assert "ws-alice" in painted(app)
        assert [request.seconds for request in looks.requests] == [3.0, 10.0], "the first look is shorter"

        looks.results.put(BUSIER)
        await _looked(app, pilot, looks, 3)
        await press(app, pilot, "k")
        assert "Keep" not in footer_of(app), "it is kept"

        # A pause lets the look under way end, and a second press does not begin another beside it.
        assert "Pause" in footer_of(app)
        await press(app, pilot, "p", "p", "p")
        assert "Paused" in text_of(app.screen, "#headline")
        assert "Go on" in footer_of(app)
        looks.results.put(WHO)
        wait_for(looks.results.empty)
        await settled(app, pilot)
        assert len(looks.requests) == 3
        await press(app, pilot, "p")
        await _looked(app, pilot, looks, 4)
        assert "Paused" not in text_of(app.screen, "#headline")

        await press(app, pilot, "escape")
        assert shows(app, WhoScreen)
        assert looks.stops[-1].is_set()
    with Notebook(path) as notebook:
        assert [head.id for head in notebook.recordings()] == [BUSIER.id]


@pytest.mark.parametrize(
    ("cost", "seconds", "wait"), [(0.08, 10.0, 0.0), (0.09, 10.0, 1.25), (0.08, 1.0, 9.0), (0.0, 1.0, 0.0)]
)
def test_looks_that_cost_much_for_their_length_begin_less_often(cost: float, seconds: float, wait: float):
    assert spec.seconds_until_next_look(cost, seconds) == pytest.approx(wait)


async def test_a_short_look_waits_for_its_turn_but_not_behind_the_first_nor_after_a_pause(
    tmp_path: Path, looks: FakeLooks
):
    costly = replace(WHO, seconds=1.0, look_cpu_seconds=10.0)
    app = app_on(tmp_path / "notebook.db", first="who")
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        app.screen.query_one("#target", Input).value = "127.0.0.1"
        await press(app, pilot, "f9")
        looks.results.put(costly)
        await _looked(app, pilot, looks, 2)
        looks.results.put(costly)
        wait_for(looks.results.empty)
        await settled(app, pilot)
        await pilot.pause(0.2)
        assert len(looks.requests) == 2

        await press(app, pilot, "p", "p")
        await _looked(app, pilot, looks, 3)


async def test_a_look_that_fails_is_told_and_what_was_seen_stays(tmp_path: Path, looks: FakeLooks):
    app = app_on(tmp_path / "notebook.db", first="who")
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        app.screen.query_one("#target", Input).value = "127.0.0.1"
        await press(app, pilot, "f9")
        looks.results.put(WHO)
        await _looked(app, pilot, looks, 2)
        looks.results.put(MeasurementError("no smbd listens there"))
        await _told(app, pilot)
        assert "no smbd listens there" in painted(app)
        await press(app, pilot, "escape")
        assert "ws-alice" in painted(app)
        assert "Paused: no smbd listens there" in text_of(app.screen, "#headline")
        assert len(looks.requests) == 2

        await press(app, pilot, "p")
        assert "no smbd" not in text_of(app.screen, "#headline")
        looks.results.put(BUSIER)
        await _looked(app, pilot, looks, 4)
        assert "Paused" not in text_of(app.screen, "#headline")


async def test_where_the_first_look_fails_the_reason_stays_on_the_screen(tmp_path: Path, looks: FakeLooks):
    app = app_on(tmp_path / "notebook.db", first="who")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.screen.query_one("#target", Input).value = "127.0.0.1"
        await press(app, pilot, "f9")
        looks.results.put(MeasurementError("no smbd listens there"))
        await _told(app, pilot)
        await press(app, pilot, "escape")
        assert "no smbd listens there" in painted(app)
        assert "Go on" in footer_of(app)


async def _told(app, pilot) -> None:
    """The look that was handed out failed, and a dialog says why."""
    for _ in range(3000):
        if shows(app, MessageDialog):
            break
        await pilot.pause(0.01)
    assert shows(app, MessageDialog)
    await settled(app, pilot)


async def _looked(app, pilot, looks: FakeLooks, count: int) -> None:
    """The look that was handed out is shown, and the next one has begun."""
    await settled(app, pilot)
    for _ in range(1000):
        if len(looks.requests) >= count:
            break
        await pilot.pause(0.01)
        await settled(app, pilot)
    assert len(looks.requests) == count
    await settled(app, pilot)


async def test_a_real_server_is_looked_at(tmp_path: Path, smbd: Smbd):
    app = app_on(tmp_path / "notebook.db", first="who")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.screen.query_one("#target", Input).value = format_target(
            Target(protocol="smb", host=smbd.host, port=smbd.port)
        )
        app.screen.query_one("#seconds", Input).value = "1"
        await press(app, pilot, "f9")
        screen = app.screen
        assert isinstance(screen, WhoLookScreen)
        for _ in range(3000):
            if screen.who is not None:
                break
            await pilot.pause(0.01)
        await settled(app, pilot)
        assert screen.who is not None
        await press(app, pilot, "p")
