"""Isolations in the TUI: lines that are read or refused, and one that is measured against a real smbd."""

import re
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from app.audit.screen import AuditScreen
from app.base.errors import LoginError, UsageError
from app.diagnosis.screen import DiagnosisScreen
from app.isolation import spec as isolation_spec
from app.isolation.progress_lines import IsolationProgressLines
from app.isolation.rounds import IsolationClosed, IsolationEvent, IsolationOpened, LayerRunEnded, LayerRunStarted
from app.isolation.run_screen import IsolationRunScreen
from app.isolation.run_times import RunTimes
from app.isolation.screen import IsolationScreen
from app.isolation.script import load_script
from app.isolation.spec import IsolationRequest
from app.method.known_ways import keep_ways, read_ways
from app.tui.frame.app import SharebenchApp
from app.tui.frame.base import BaseScreen
from app.tui.frame.context import Context
from app.tui.frame.dialogs import AskDialog, ConfirmDialog, MessageDialog
from app.tui.widgets.views import AnsiView
from storage.isolation import Isolation, Layer, LayerRun
from storage.notebook import Notebook
from storage.records import RunStatus, SeriesStatus, Target
from tests.servers.smbd import Smbd
from tests.tui import measured, painted, press, settled, shows, text_of

OLDER = "2026-01-30T10:00:00.000Z"
TYPED = {"target": "smb://bench@127.0.0.1:4450/bench", "clients": "4, 1,4", "rounds": "2", "without": "", "expose": ""}


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SharebenchApp:
    monkeypatch.delenv("SHAREBENCH_PASSWORD", raising=False)
    monkeypatch.setattr("app.isolation.spec.DEFAULT_SECONDS", 2)
    context = Context(notebook_path=tmp_path / "notebook.db")
    return SharebenchApp(context, first="isolation")


@pytest.mark.parametrize(("passed", "left"), [(0.0, 18.0), (8.0, 10.0), (9.0, 9.0), (60.0, 9.0)])
def test_a_run_that_takes_longer_takes_no_time_from_those_to_come(app: SharebenchApp, monkeypatch, passed, left):
    """Of a mean of 9 s: one of 12 s that has ended, and a round of three as planned, 8 s each."""
    screen = IsolationRunScreen(IsolationScreen.parse(TYPED | {"seconds": "5"}))
    times = screen._times
    times.planned, times.begun, times.run_seconds, times.began_at = 7, 6, [12.0], 100.0
    times.first_began_at = 100.0
    monkeypatch.setattr("app.isolation.run_times.monotonic", lambda: 100.0 + passed)
    assert screen.now().endswith(f"about {left:.0f} s left")


def test_the_first_run_of_a_resumed_isolation_says_what_is_left(app: SharebenchApp, monkeypatch):
    screen = IsolationRunScreen(IsolationScreen.parse(TYPED | {"seconds": "5"}))
    screen._times.planned, screen._times.begun, screen._times.began_at = 1, 1, 100.0  # fewer than its rounds
    monkeypatch.setattr("app.isolation.run_times.monotonic", lambda: 100.0)
    assert screen.now().endswith("about 8 s left")
    screen._times.run_seconds = [12.0]
    assert screen.now().endswith("about 10 s left"), "one run as planned, one as it was"


@pytest.mark.parametrize(("took", "left"), [(12.0, 10.0), (12.1, 12.1), (4.0, 6.0), (3.9, 3.9)])
def test_a_first_run_that_takes_other_times_than_planned_by_half_decides(monkeypatch, took: float, left: float):
    """Seen: 29 s announced, 198 s taken, and nothing corrected it. A run of 5 s is planned with 8 s."""
    times = RunTimes(rounds=1, run_seconds=5.0, within_seconds=600.0)
    times.planned = 2
    monkeypatch.setattr("app.isolation.run_times.monotonic", lambda: 100.0)
    times.begin_run(1)
    assert times.seconds_left() == 16.0
    times.planned = 1
    monkeypatch.setattr("app.isolation.run_times.monotonic", lambda: 100.0 + took)
    times.begin_run(2)
    assert times.seconds_left() == pytest.approx(left)


def test_no_more_time_is_left_than_the_isolation_may_take(monkeypatch):
    times = RunTimes(rounds=3, run_seconds=5.0, within_seconds=60.0)
    times.planned = 30
    monkeypatch.setattr("app.isolation.run_times.monotonic", lambda: 100.0)
    times.begin_run(1)
    assert (times.planned_seconds(), times.seconds_left()) == (60.0, 60.0)
    monkeypatch.setattr("app.isolation.run_times.monotonic", lambda: 150.0)
    assert times.seconds_left() == 10.0


def test_the_command_line_says_the_time_left_and_corrects_the_estimate_once(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("app.isolation.run_times.monotonic", lambda: now[0])
    said: list[str] = []
    drawn: list[str] = []
    lines = IsolationProgressLines(drawn.append, said.append, 600.0, tells_each_run=False)
    lines.show(IsolationOpened(isolation=replace(STORED, rounds=1, seconds=2), runs=9))
    assert "about 29 s" in said[0]
    for number in (1, 2, 3):
        lines.show(LayerRunStarted(layer=Layer.SERVER, clients=1, round=1, number=number))
        now[0] += 20.0
    assert "about 2.5 min left" in drawn[1]
    (correction,) = said[1:]
    assert "longer than estimated: about 2.5 min left" in correction


def test_the_lines_are_read():
    request = IsolationScreen.parse(TYPED)
    assert request.clients == (1, 4)
    assert request.rounds == 2
    assert request.without == ()
    assert not request.expose_tbench
    assert IsolationScreen.parse(TYPED | {"expose": "127.0.0.1"}).expose_tbench
    assert [IsolationScreen.parse(TYPED | {"seconds": typed}).seconds for typed in ("", "2", "9")] == [
        isolation_spec.DEFAULT_SECONDS, 2, 9
    ]  # fmt: skip
    with pytest.raises(UsageError, match="2 seconds or more"):
        IsolationScreen.parse(TYPED | {"seconds": "1"})


@pytest.mark.parametrize(
    ("typed_last", "stands"),
    [
        (None, "smb://practice@127.0.0.1:4450/practice"),
        ("smb://practice@127.0.0.1:4449/practice", "smb://practice@127.0.0.1:4450/practice"),
        ("smb://practice@127.0.0.1:4450/practice/in", "smb://practice@127.0.0.1:4450/practice/in"),
        ("smb://nas/data", "smb://nas/data"),
    ],
)
def test_the_practice_servers_share_stands_there_not_its_file_nor_its_port_of_another_day(typed_last, stands):
    file = Target(protocol="smb", host="127.0.0.1", port=4450, user="practice", share="practice", path="report.bin")
    assert IsolationScreen.first_values({"target": typed_last} if typed_last else None, [file])["target"] == stands


@pytest.mark.parametrize(
    ("clients", "rounds", "minutes"),
    [("1,4,8", "3", "2 min"), ("1,2,4,8", "5", "4.5 min"), ("1,2,4,8", "60", "9 min")],
)
def test_the_lines_say_how_long_it_takes(app: SharebenchApp, monkeypatch, clients: str, rounds: str, minutes: str):
    """With runs of 2 s here, and what lies between them."""
    said = IsolationScreen.plan_of(TYPED | {"clients": clients, "rounds": rounds})
    assert f"about {minutes}." in said
    assert "rarely give" not in said, "three rounds do"
    longer = IsolationScreen.plan_of(TYPED | {"clients": "1", "rounds": "3", "seconds": "30"})
    assert longer != IsolationScreen.plan_of(TYPED | {"clients": "1", "rounds": "3"})
    assert "Fewer than 3 rounds rarely give a verdict." in IsolationScreen.plan_of(TYPED | {"rounds": "2"})
    for usual, warned in (3, True), (2, False):
        monkeypatch.setattr("app.isolation.spec.DEFAULT_SECONDS", usual)
        told = IsolationScreen.plan_of(TYPED | {"seconds": "2"})
        assert told.endswith(" Runs under 3 s may fail.") is warned
    with pytest.raises(UsageError):
        IsolationScreen.plan_of(TYPED | {"rounds": "many"})


def test_the_server_alone_takes_less_time_than_with_its_disk_and_network():
    """Without ssh, neither of these can be measured of another machine."""
    elsewhere = TYPED | {"target": "smb://bench@192.0.2.7/bench", "clients": "1,4,8", "rounds": "3"}
    request = IsolationScreen.parse(elsewhere)
    assert isolation_spec.is_server_alone(request)
    alone = isolation_spec.expected_seconds((1, 4, 8), 3, 5, is_server_alone=True)
    assert isolation_spec.expected_seconds((1, 4, 8), 3, 5, is_server_alone=False) == 4 * alone
    assert "the server alone" in IsolationScreen.plan_of(elsewhere)
    assert "the server alone" not in IsolationScreen.plan_of(elsewhere | {"ssh": "root@nas"})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"target": ""}, "which share"),
        ({"target": "ftp://h/x"}, "needs a share"),
        ({"clients": "many"}, "no list of numbers"),
        ({"rounds": "0"}, "Rounds: expected a whole number"),
        ({"without": "close"}, "cannot be left out"),
        ({"expose": "elsewhere"}, "the server is 127.0.0.1"),
        ({"ssh": "root:hunter2@nas"}, "a password does not belong"),
        ({"ssh": "-oProxyCommand=x"}, r"for ssh write \[USER@\]HOST"),
    ],
)
def test_what_is_wrong_is_said(wrong: dict[str, str], said: str):
    typed = TYPED | wrong
    with pytest.raises(UsageError, match=said):
        IsolationScreen.parse(typed)


async def test_what_is_wrong_stands_below_the_lines_and_is_typed_over(app: SharebenchApp):
    async with app.run_test(size=(100, 36)) as pilot:
        await settled(app, pilot)
        app.visit("isolation", target="smb://nas/data")
        await settled(app, pilot)
        seconds = app.screen.query_one("#seconds", Input)
        seconds.focus()
        await press(app, pilot, "1")
        assert "! Seconds: a run of dbench takes 2 seconds or more" in painted(app)
        await press(app, pilot, "f9")
        assert isinstance(app.screen, MessageDialog)
        await press(app, pilot, "enter", "3")
        assert seconds.value == "3"
        assert "a run of dbench takes" not in painted(app)


@pytest.mark.varied(field=1)
@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("without", "Leave out: what these operations cost, measured with and without them."),
        ("expose", "Network alone: measures the network without Samba."),
        ("rounds", "Rounds: "),
    ],
)
@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_what_a_line_is_for_stands_below_while_it_has_the_focus(app: SharebenchApp, field, said, size):
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        assert said not in painted(app)
        app.screen.query_one(f"#{field}").focus()
        await settled(app, pilot)
        assert said in painted(app)
        hints = [line.hint for line in IsolationScreen.LINES]
        assert max(map(len, hints)) <= size[0] - 18, "no hint of an empty line is cut"


STORED = Isolation(
    id="aa11", created_at="2026-01-31T10:00:00.000Z", status=SeriesStatus.INTERRUPTED, script="office", clients=(4,),
    target=Target(protocol="smb", host="nas", share="data", user="alice"), rounds=2, seconds=5,
    runs=(LayerRun(round=1, layer=Layer.SERVER, clients=4, seconds=5.0, bytes_per_second=25e6),),
)  # fmt: skip


@pytest.mark.long
async def test_a_refused_password_is_not_sent_again_but_asked_for(app: SharebenchApp, monkeypatch):
    sent: list[str | None] = []

    def refused(request: IsolationRequest, *_: object) -> Iterator[IsolationEvent]:
        sent.append(request.secrets.password)
        raise LoginError("the server refused the login")

    monkeypatch.setenv("SHAREBENCH_PASSWORD", "of the environment")
    monkeypatch.setattr("app.isolation.run_screen.record_isolation", refused)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.screen.query_one("#target", Input).value = "alice@nas/data"
        await press(app, pilot, "f9")
        assert shows(app, ConfirmDialog), "it takes minutes, and asks before it begins"
        await press(app, pilot, "y")
        await measured(app, pilot)
        assert shows(app, AskDialog)
        assert "the server refused the login. Type the password again" in text_of(app.screen, ".dialog-text")
        app.screen.query_one("#answer", Input).value = "typed"
        await press(app, pilot, "enter")
        await measured(app, pilot)
        await press(app, pilot, "escape")
        assert "Nothing was measured." in painted(app)
        assert "s Stop" not in painted(app)
        await press(app, pilot, "escape", "f9", "y")
        assert shows(app, AskDialog)
    assert sent == ["of the environment", "typed"]


async def test_a_guest_that_is_refused_is_told(app: SharebenchApp, monkeypatch):
    def refused(*_: object) -> Iterator[IsolationEvent]:
        raise LoginError("the server lets no guest in")

    monkeypatch.setattr("app.isolation.run_screen.record_isolation", refused)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.screen.query_one("#target", Input).value = "nas/data"
        await press(app, pilot, "f9", "y")
        await measured(app, pilot)
        assert shows(app, MessageDialog)
        assert "the server lets no guest in" in painted(app)


def test_the_table_of_the_form_fills_in_while_it_is_measured():
    screen = IsolationRunScreen(IsolationScreen.parse(TYPED))
    screen.take_event(0, IsolationOpened(isolation=replace(STORED, runs=()), runs=3))
    assert screen.draw_heard(80) == ""
    screen.take_event(0, LayerRunStarted(layer=Layer.SERVER, clients=4, round=1, number=1))
    assert screen.now().startswith("Run 1 of 3: server, 4 clients, about ")
    screen.take_event(0, LayerRunEnded(run=STORED.runs[0]))
    screen.take_event(0, LayerRunEnded(run=replace(STORED.runs[0], status=RunStatus.FAILED, error="it [red]died")))
    shown = screen.draw_heard(80)
    assert "25.0000" in shown, "megabytes a second"
    assert "What each carries, 4 clients" in shown
    assert "! server, 4 clients, round 1: it [red]died" in shown
    assert shown.count("round 1: 25 MB/s") == 1


@pytest.mark.long
async def test_an_isolation_that_stopped_is_read_labelled_and_completed(app: SharebenchApp, monkeypatch):
    asked: list[str | None] = []

    def completed(
        _request: object, _path: object, _control: object, resumed_id: str | None
    ) -> Iterator[IsolationEvent]:
        asked.append(resumed_id)
        yield IsolationClosed(isolation=replace(STORED, status=SeriesStatus.COMPLETE))

    monkeypatch.setattr("app.isolation.run_screen.record_isolation", completed)
    digest = load_script().without(()).digest
    with Notebook(app.context.notebook_path) as notebook:
        notebook.add_isolation(replace(STORED, script_sha256=digest))
        notebook.add_isolation(replace(STORED, id="bb22", status=SeriesStatus.COMPLETE, created_at=OLDER, label="old"))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "ctrl+l")
        assert "1‖  " in painted(app)
        await press(app, pilot, "down", "enter")
        assert "g Resume" not in painted(app), "it is complete"
        await press(app, pilot, "escape", "ctrl+l", "enter")
        assert "‖ interrupted. " in text_of(app.screen, "#headline")
        await press(app, pilot, "e")
        app.screen.query_one("#answer", Input).value = "before"
        await press(app, pilot, "enter", "g")
        app.screen.query_one("#answer", Input).value = "secret"
        await press(app, pilot, "enter")
        await measured(app, pilot)
        assert "x Export" in painted(app)
    assert asked == ["aa11"]
    with Notebook(app.context.notebook_path) as notebook:
        found = notebook.isolation("aa11")
    assert found is not None
    assert found.label == "before"
    assert found.runs == STORED.runs


@pytest.mark.long
async def test_from_the_lines_to_the_verdict(app: SharebenchApp, smbd: Smbd):
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert shows(app, IsolationScreen)
        await pilot.press("f9")
        assert shows(app, MessageDialog)
        await pilot.press("escape")
        for key, value in {"target": smbd_url(smbd), "clients": "1", "rounds": "1"}.items():
            app.screen.query_one(f"#{key}", Input).value = value
        await press(app, pilot, "f9", "y")
        assert shows(app, AskDialog)
        app.screen.query_one("#answer", Input).value = smbd.password
        await pilot.press("enter")
        await settled(app, pilot)
        assert shows(app, IsolationRunScreen)
        assert quit_question(app)
        await measured(app, pilot)
        await settled(app, pilot)
        assert "Verdict:" not in app.screen.query_one("#run-text", AnsiView).drawn_text  # it stands above, in #now
        assert re.search(
            r"Next, look in|Measure (again|more)|Isolate again|Run it as root", text_of(app.screen, "#now")
        ), "what to do"
        assert quit_question(app) is None
    with Notebook(app.context.notebook_path) as notebook:
        (head,) = notebook.isolations()
        kept = notebook.remembered("isolation")
    assert head.status is SeriesStatus.COMPLETE
    assert kept is not None
    assert smbd.password not in str(kept)


def quit_question(app: SharebenchApp) -> str | None:
    screen = app.screen
    assert isinstance(screen, BaseScreen)
    return screen.quit_question()


def smbd_url(smbd: Smbd) -> str:
    return f"smb://{smbd.user}@127.0.0.1:{smbd.port}/{smbd.share}"


@pytest.mark.varied
@pytest.mark.parametrize(("target", "known"), [("smb://NAS/other", True), ("smb://nas2/data", False)])
async def test_how_a_server_is_reached_is_typed_in_one_form_for_all(app: SharebenchApp, target: str, known: bool):
    with Notebook(app.context.notebook_path) as notebook:
        notebook.remember("diagnosis", {"target": target})
    async with app.run_test(size=(100, 36)) as pilot:
        await settled(app, pilot)
        app.visit("audit")
        await settled(app, pilot)
        for key, text in (("target", "smb://nas/data"), ("ssh", "root@nas"), ("conf", "/srv/smb.conf")):
            app.screen.query_one(f"#{key}", Input).value = text
        assert isinstance(app.screen, AuditScreen)
        app.screen.remember()
        await settled(app, pilot)
        app.visit("diagnosis")
        await settled(app, pilot)
        found = [app.screen.query_one(f"#{key}", Input).value for key in ("target", "ssh", "conf")]
        assert found == ([target, "root@nas", "/srv/smb.conf"] if known else [target, "", ""])


@pytest.mark.varied
@pytest.mark.parametrize(
    ("first", "keys", "left"),
    [
        ("smb://nas/data", ("f9",), ""),
        ("smb://nas2/data", ("f9",), "/srv/smb.conf"),
        ("smb://nas2/data", ("f1", "escape", "f9"), "/srv/smb.conf"),
    ],
)
async def test_a_way_that_is_emptied_where_it_was_offered_is_forgotten(
    app: SharebenchApp, first: str, keys: tuple[str, ...], left: str
):
    with Notebook(app.context.notebook_path) as notebook:
        notebook.remember("diagnosis", {"target": first})
        keep_ways(notebook, "nas", ssh="root@nas", conf="/srv/smb.conf")
    async with app.run_test(size=(100, 36)) as pilot:
        await settled(app, pilot)
        app.visit("diagnosis")
        await settled(app, pilot)
        screen = app.screen
        assert isinstance(screen, DiagnosisScreen)
        screen.query_one("#target", Input).value = "smb://alice@nas/data"
        screen.query_one("#conf", Input).value = ""
        await press(app, pilot, *keys)
        assert not shows(app, DiagnosisScreen), "it was understood, and asks whether to begin"
    with Notebook(app.context.notebook_path) as notebook:
        assert read_ways(notebook, "nas").conf == left


@pytest.mark.parametrize(
    ("more", "is_looked_for"), [({}, True), ({"ssh": "root@nas"}, False), ({"target": "smb://192.0.2.7/data"}, False)]
)
def test_a_configuration_of_this_machine_is_looked_for_at_once(
    tmp_path: Path, more: dict[str, str], is_looked_for: bool
):
    typed = TYPED | {"conf": str(tmp_path / "none.conf")} | more
    with pytest.raises(UsageError, match="is not on this machine") if is_looked_for else nullcontext():
        IsolationScreen.parse(typed)
