"""The load in the TUI: the lines, the live screen, a real smbd."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from threading import Event

import pytest
from textual.widgets import Input

from app.base.config import config
from app.base.errors import CancelledError, LoginError, NoSpaceError, UsageError
from app.base.targets import parse_target
from app.clients.base import Secrets
from app.load.beginning import request_to_resume
from app.load.events import FilesMade, LoadPhase, PhaseBegan, SecondPassed
from app.load.measurement import LoadChanged, LoadClosed, LoadStep
from app.load.progress_view import _AREAS_FROM, LoadProgressView
from app.load.run_screen import LoadRunScreen
from app.load.screen import LoadScreen
from app.load.spec import LoadRequest
from app.recording.kind import kind_of, parts_of
from app.recording.process import Failed, Warned
from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context
from app.tui.frame.dialogs import AskDialog, MessageDialog
from forms.load.wording import load_headline
from forms.wording import duration
from storage.load.records import Load, LoadChoices, PointStatus, SizeClass
from storage.notebook import Notebook
from storage.records import SeriesStatus, Target, format_target
from tests.app.charts.reading import plain
from tests.builders import book, one
from tests.loads import TIME, full_load, point, scenario
from tests.recordings import MAKERS
from tests.servers.smbd import Smbd
from tests.tui import app_on, here, measured, painted, press, settled, shows, text_of
from tests.waiting import HANG_SECONDS

SECOND = SecondPassed(
    point=1, users=20, connected=19, requests_per_second=180.0, read_bytes_per_second=7.5e6,
    write_bytes_per_second=1.2e6, errors=2, p95_seconds=0.0123, cpu_percent=12.0,
)  # fmt: skip


@pytest.fixture
def app(tmp_path: Path, monkeypatch) -> SharebenchApp:
    monkeypatch.delenv("SHAREBENCH_PASSWORD", raising=False)
    context = Context(notebook_path=tmp_path / "notebook.db")
    return SharebenchApp(context)


def test_the_lines_are_read_with_what_is_wrong_in_words():
    typed = {"target": "smb://alice@nas/data", "users": "capacity", "scenario": "office", "duration": "30"}
    request = LoadScreen.parse(typed)
    assert request.choices.find_capacity
    assert (request.scenario.name, request.scenario.duration_seconds) == ("office", 30)
    for changes, said in (
        ({"target": "smb://nas"}, "name the folder"),
        ({"users": "ten"}, "10,20,40"),
        ({"duration": "soon"}, "Steady"),
        ({"scenario": "nothing"}, "redpaper"),
    ):
        with pytest.raises(UsageError, match=said):
            LoadScreen.parse(typed | changes)
    practice = LoadScreen.first_values(
        None, [Target(protocol="smb", host="127.0.0.1", port=4450, share="practice", path="big")]
    )
    assert practice["target"] == "smb://127.0.0.1:4450/practice"
    assert LoadScreen.first_values({"users": "7", "other": "x"}, [])["users"] == "7"


def test_the_live_lines_show_the_phase_the_last_minute_and_the_points():
    load = full_load()
    state = LoadProgressView().after(PhaseBegan(phase=LoadPhase.FILES)).after(FilesMade(files=50, of_files=60))
    assert state.now(0.0) == "Making the scenario's files: 50 of 60"
    state = state.after(PhaseBegan(phase=LoadPhase.STEADY, point=1, users=20, seconds=60.0)).after(SECOND)
    assert state.now(50.0) == "Point 1, 20 users: steady: this counts, 10 s left"
    text = state.draw(80)
    for words in ("19 of 20", "180", "errors 2", "12.3 ms", "12 % CPU", "█"):
        assert words in text
    assert "Offered/s" not in text
    state = state.after(LoadChanged(load=load, point=load.points[0], done=True)).after(Warned(text="a [red]word"))
    assert "Offered/s" in state.draw(80)
    assert "Requests a second over users" in state.draw(80), "with its chart, but not with what it was made from"
    assert "one connection and one login each" not in state.draw(80)
    assert state.problem_text() == "a [red]word"
    closed = state.after(LoadClosed(load=load, failure=Failed(kind=NoSpaceError, text="the disk is full")))
    assert closed.problem_text() == "the disk is full"
    assert "connected" not in closed.draw(80)


def test_where_there_is_room_each_second_is_drawn_as_an_area_over_the_whole_width():
    state = LoadProgressView().after(PhaseBegan(phase=LoadPhase.STEADY, point=1, users=20, seconds=60.0))
    for users in (20, 40):
        for number in range(90):
            state = state.after(replace(SECOND, users=users, requests_per_second=9.0 * users + number % 3))
    for width, height in ((118, 31), (198, 45)):
        lines = state.draw(width, height).splitlines()
        assert len(lines) <= height
        assert max(len(plain(line)) for line in lines) >= width - 2
        text = "\n".join(lines)
        for words in ("requests/s from 0", "ms from 0", "20 users", "40 users", "179 s", "errors 2"):
            assert words in text, words
    few = state.draw(118, _AREAS_FROM - 1)
    assert "requests/s from 0" not in few
    assert "requests/s from 0" in state.draw(118, _AREAS_FROM)
    assert "█" in few
    assert all(len(line) for line in state.draw(78, 20).splitlines())


def test_a_second_of_too_few_requests_has_no_p95_and_none_is_drawn():
    state = LoadProgressView().after(PhaseBegan(phase=LoadPhase.STEADY, point=1, users=20, seconds=60.0))
    for number in range(6):
        state = state.after(replace(SECOND, p95_seconds=None if number % 2 else 0.01))
    _rates, p95 = state._area_charts(10)
    assert [bar.value for bar in p95.bars] == [10.0, None] * 3
    assert plain(state.draw(80, 10)).splitlines()[1].endswith("█ █ █ ")
    assert "ms from 0" in state.draw(118, 31)


def test_the_time_left_is_that_of_the_points_that_are_planned():
    of_files = scenario(files=4_000, sizes=(SizeClass(size_bytes=400_000, share=3.0),))  # created in 20 s, removed in 3
    load = full_load(points=(), choices=LoadChoices(users=(10, 20, 40), ramp_per_second=20.0), scenario=of_files)
    settling = PhaseBegan(phase=LoadPhase.SETTLE, point=1, users=10, seconds=5.0, at_seconds=100.0)
    files = PhaseBegan(phase=LoadPhase.FILES, at_seconds=90.0)
    state = LoadProgressView(load=load).after(files).after(settling)
    each = load.scenario.settle_seconds + load.scenario.duration_seconds
    left = 3.0 + load.scenario.duration_seconds + (each + 1.0) + (each + 2.0) + 3.0
    assert (
        state.now(102.0)
        == f"Point 1 of 3, 10 users: settle: nothing counts yet, 3 s left; about {left:.0f} s left in all"
    )
    reused = LoadProgressView(load=load).after(settling)
    assert reused.now(102.0).endswith(f"about {left - 3.0:.0f} s left in all"), "what is not made is not removed"
    ending = state.now(102.0, is_last=True)
    assert ending.endswith(f"about {3.0 + load.scenario.duration_seconds + 3.0:.0f} s left in all (the last point)")
    failed = replace(load, points=(point(1, 10), point(2, 20, status=PointStatus.FAILED)))
    last = PhaseBegan(phase=LoadPhase.STEADY, point=3, users=40, seconds=20.0, at_seconds=100.0)
    state = LoadProgressView(load=failed).after(files).after(last)
    assert state.now(102.0).endswith("18 s left; about 21 s left in all"), "no point is measured twice"
    making = LoadProgressView(load=load).after(files)
    points = 3 * each + 0.5 + 1.0 + 2.0 + 3.0
    assert making.now(98.0).endswith(f"files, 12 s left; about {duration(12.0 + points)} left in all"), "as expected"
    cleaning = making.after(PhaseBegan(phase=LoadPhase.CLEANING, at_seconds=90.0))
    assert cleaning.now(91.0) == "Removing the scenario's files, 2 s left"
    assert (
        making.after(FilesMade(files=1_000, of_files=5_000)).now(100.0)
        == f"Making the scenario's files: 1,000 of 5,000, 40 s left; about {duration(40.0 + points)} left in all"
    )
    searching = replace(load, choices=LoadChoices(find_capacity=True))
    assert LoadProgressView(load=searching).after(settling).now(102.0).endswith("3 s left"), "nobody knows how many"


def test_a_search_says_the_time_left_from_the_first_overload_on():
    searching = full_load(
        points=(point(1, 25, 250.0), point(2, 50, 250.0)),
        choices=LoadChoices(find_capacity=True, ramp_per_second=50.0),
    )
    each = searching.scenario.settle_seconds + searching.scenario.duration_seconds
    ramp = PhaseBegan(phase=LoadPhase.RAMP, point=3, users=37, seconds=1.0, at_seconds=100.0)
    state = LoadProgressView(load=searching).after(ramp)
    later_users = (43, 46, 48)
    left = 1.0 + each + sum(each + users / 50.0 for users in later_users)
    assert state.seconds_left(state.phase_seconds_left(100.0)) == pytest.approx(left)
    assert f"about {duration(left)} left in all" in state.now(100.0)


@pytest.mark.parametrize(("times", "pace"), [(1.49, 1.0), (1.51, 1.51), (0.51, 1.0), (0.49, 0.49)])
def test_points_that_take_other_times_by_half_change_the_estimate_of_the_rest(times: float, pace: float):
    load = full_load(points=(), choices=LoadChoices(users=(10, 20, 40), ramp_per_second=20.0))
    expected = load.scenario.settle_seconds + load.scenario.duration_seconds + 10 / 20.0
    first = PhaseBegan(phase=LoadPhase.RAMP, point=1, users=10, seconds=0.5, at_seconds=100.0)
    settling = PhaseBegan(phase=LoadPhase.SETTLE, point=1, users=10, seconds=5.0, at_seconds=101.0)
    second = PhaseBegan(phase=LoadPhase.RAMP, point=2, users=20, seconds=1.0, at_seconds=100.0 + times * expected)
    state = LoadProgressView(load=load).after(first).after(settling)
    assert state.pace == 1.0
    assert state.after(second).pace == pytest.approx(pace)


def test_users_whom_nobody_answers_are_called_so():
    steady = PhaseBegan(phase=LoadPhase.STEADY, point=1, users=20, seconds=60.0)
    state = LoadProgressView(load=full_load()).after(steady).after(SECOND)
    silent = replace(SECOND, requests_per_second=0.0)
    for _ in range(2):
        state = state.after(silent)
    assert "no request" not in state.now(1.0)
    state = state.after(silent)
    assert state.now(1.0) == "! Point 1 of 3, 20 users: no request was answered for 3 s"
    assert "no request" not in state.after(SECOND).now(1.0)
    idle = full_load(scenario=scenario(requests={}))
    assert "no request" not in replace(state, load=idle).now(1.0), "users that only hold a session ask for nothing"


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (full_load(), ["20 users carried, 40 not; the limit: errors", "3 points", "! 1 failed"]),
        (
            full_load(capacity=None, points=(point(1, 10, 95.0, status=PointStatus.GENERATOR),)),
            [
                "10 users: 95.0 requests/s, p95 5.0 ms; not judged",
                "1 point",
                "! 1 point not judged: the load generator could not keep up",
            ],
        ),
        (
            full_load(capacity=None, points=(), status=SeriesStatus.INTERRUPTED),
            ["nothing was measured", "0 points", "‖ interrupted"],
        ),
    ],
)
def test_a_load_in_one_line(load, words):
    assert [part.text for part in load_headline(load)] == words


@pytest.mark.long
async def test_from_the_lines_to_the_form(app: SharebenchApp, smbd: Smbd):
    folder = smbd.folder / "screen"
    folder.mkdir()
    folder.chmod(0o777)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await pilot.press("ctrl+n")
        for _ in range(100):
            await settled(app, pilot)
            if shows(app, LoadScreen):
                break
        screen = app.screen
        assert shows(app, LoadScreen)
        screen.query_one("#target", Input).value = "smb://nas"
        await pilot.press("f9")
        assert shows(app, MessageDialog)
        await pilot.press("escape")
        for key, value in {
            "target": f"{format_target(smbd.target())}/screen", "users": "2,3", "files": "20", "duration": "1",
            "settle": "0",
        }.items():  # fmt: skip
            screen.query_one(f"#{key}", Input).value = value
        await pilot.press("f9")
        assert shows(app, AskDialog)
        app.screen.query_one("#answer", Input).value = smbd.password
        await pilot.press("enter")
        running = app.screen
        assert isinstance(running, LoadRunScreen)
        await pilot.press("s")
        for _ in range(600):
            if running.is_over:
                break
            await pilot.pause(0.1)
        await settled(app, pilot)
        assert "Times are from when" in painted(app)
    assert list(folder.iterdir()) == []
    with Notebook(app.context.notebook_path) as notebook:
        (load,) = notebook.loads()
        assert len(load.points) == 1, "s ends after this point"
        assert (notebook.remembered("load") or {})["files"] == "20"


async def test_the_guide_leads_to_lines_that_name_the_server_already(app: SharebenchApp):
    with Notebook(app.context.notebook_path) as notebook:
        notebook.remember("load", {"target": "smb://other/share", "ssh": "root@other", "files": "20"})
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.visit("load", target="smb://bench@nas/data/in", ssh="")
        await settled(app, pilot)
        stands = {box.id: box.value for box in app.screen.query(Input)}
    assert (stands["target"], stands["ssh"], stands["files"]) == ("smb://bench@nas/data/in", "", "20")


@pytest.mark.parametrize(
    ("leave", "practice"), [("escape", ()), ("f2", (Target(protocol="smb", host="127.0.0.1", share="practice"),))]
)
async def test_lines_that_were_not_begun_with_stand_there_again(app: SharebenchApp, leave: str, practice):
    app.context.practice = practice
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await pilot.press("ctrl+n")
        await settled(app, pilot)
        app.screen.query_one("#users", Input).value = "7,9"
        await settled(app, pilot)
        await pilot.press(leave)
        await settled(app, pilot)
        assert not shows(app, LoadScreen)
        await pilot.press("ctrl+n")
        await settled(app, pilot)
        assert app.screen.query_one("#users", Input).value == "7,9"
    with Notebook(app.context.notebook_path) as notebook:
        assert (notebook.remembered("load") or {})["users"] == "7,9", "also for the next time that it is opened"


async def test_the_target_is_that_of_the_recording_pointed_at(app: SharebenchApp):
    """A get's file is left out, since a load needs a folder."""
    book(app.context.notebook_path, one(1, target=Target(protocol="smb", host="nas", share="data", path="in/big.iso")))
    book(app.context.notebook_path, one(2, target=Target(protocol="ftp", host="box", path="/pub/x")))
    book(app.context.notebook_path, one(3, target=Target(protocol="smb", host="new", share="data", path="big.iso")))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        for keys, expected in ((["f5"], "smb://new/data"), (["escape", "end", "f5"], "smb://nas/data/in")):
            for key in keys:
                await pilot.press(key)
                await settled(app, pilot)
            assert app.screen.query_one("#target", Input).value == expected


async def test_the_target_of_a_trial_is_the_folder_of_its_file(app: SharebenchApp):
    with Notebook(app.context.notebook_path) as notebook:
        made = MAKERS["trial"](notebook)
        measured = notebook.series(parts_of(notebook, notebook.recording(made))[0].id).target
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "f5")
        folder = format_target(replace(measured, path=measured.path.rpartition("/")[0]))
        assert measured.path
        assert app.screen.query_one("#target", Input).value == folder


@pytest.mark.varied
@pytest.mark.parametrize(
    ("line", "text"),
    [("target", "smb://bench:hunter2@nas/data"), ("target", "smb://bench:hunter2"), ("ssh", "root:hunter2@nas")],
)
async def test_a_line_that_may_hold_a_password_never_comes_into_the_notebook(app: SharebenchApp, line: str, text: str):
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await pilot.press("ctrl+n")
        await settled(app, pilot)
        app.screen.query_one("#users", Input).value = "7,9"
        app.screen.query_one(f"#{line}", Input).value = text
        await settled(app, pilot)
        await pilot.press("escape")
        await settled(app, pilot)
    with Notebook(app.context.notebook_path) as notebook:
        assert (notebook.remembered("load") or {})["users"] == "7,9"
    files = app.context.notebook_path.parent.glob(f"{app.context.notebook_path.name}*")
    assert not any(b"hunter2" in file.read_bytes() for file in files)


async def test_lines_that_nobody_touched_are_not_kept(app: SharebenchApp):
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.visit("load", target="smb://bench@nas/data/in", ssh="")
        await settled(app, pilot)
        await pilot.press("escape")
        await settled(app, pilot)
    with Notebook(app.context.notebook_path) as notebook:
        assert notebook.remembered("load") is None


@pytest.mark.varied
@pytest.mark.parametrize("error", [None, UsageError("wrong password")])
async def test_a_load_that_ended_without_points_leads_back_to_what_was_typed_and_says_why(
    app: SharebenchApp, monkeypatch, error
):
    may_end = Event()

    def refused(*_: object) -> Iterator[LoadStep]:
        may_end.wait(HANG_SECONDS)
        if error is not None:
            raise error
        load = replace(full_load(), points=(), status=SeriesStatus.FAILED)
        yield LoadClosed(load=load, failure=Failed(kind=LoginError, text="wrong password"), stored=False)

    monkeypatch.setattr(app.context.backend, "load", refused)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.visit("load", target="smb://nas/data", ssh="")
        await settled(app, pilot)
        await press(app, pilot, "f9")
        assert "End after point" in painted(app)
        may_end.set()
        await measured(app, pilot)
        await settled(app, pilot)
        assert "wrong password" in text_of(app.screen, ".dialog-text")
        await press(app, pilot, "enter")
        assert shows(app, LoadScreen)
        assert app.screen.query_one("#target", Input).value == "smb://nas/data"


async def test_a_load_that_was_stopped_before_it_measured_anything_is_told_no_fault(app: SharebenchApp, monkeypatch):
    def stopped(_request, _path, control, _resumed) -> Iterator[LoadStep]:
        yield PhaseBegan(phase=LoadPhase.FILES)
        assert control.cancelled.wait(HANG_SECONDS)
        raise CancelledError("cancelled")

    monkeypatch.setattr(app.context.backend, "load", stopped)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(app, pilot)
        app.visit("load", target="smb://nas/data", ssh="")
        await settled(app, pilot)
        await press(app, pilot, "f9", "escape", "y")
        await measured(app, pilot)
        await settled(app, pilot)
        assert shows(app, LoadScreen)
        assert "Nothing was measured." in painted(app)


async def test_a_load_that_ended_below_another_screen_says_why_there_and_stays(app: SharebenchApp, monkeypatch):
    may_end = Event()

    def refused(*_: object) -> Iterator[LoadStep]:
        may_end.wait(HANG_SECONDS)
        raise UsageError("no such folder")

    monkeypatch.setattr(app.context.backend, "load", refused)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.visit("load", target="smb://nas/data", ssh="")
        await settled(app, pilot)
        await press(app, pilot, "f9", "f1")
        may_end.set()
        await measured(app, pilot)
        await settled(app, pilot)
        assert "no such folder" in text_of(app.screen, ".dialog-text")
        await press(app, pilot, "enter", "escape")
        assert shows(app, LoadRunScreen)
        assert "The load has ended." in painted(app)


@pytest.mark.varied
@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_what_was_true_in_one_phase_is_not_shown_in_the_next_nor_after_the_end(app, monkeypatch, size):
    steps: SimpleQueue[LoadStep | Exception] = SimpleQueue()

    def load(*_: object) -> Iterator[LoadStep]:
        while not isinstance(step := steps.get(timeout=HANG_SECONDS), Exception):
            yield step
        raise step

    monkeypatch.setattr(app.context.backend, "load", load)
    ramp, steady = (
        PhaseBegan(phase=phase, point=1, users=20, seconds=60.0) for phase in (LoadPhase.RAMP, LoadPhase.STEADY)
    )
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        app.visit("load", target="smb://nas/data", ssh="")
        await settled(app, pilot)
        await press(app, pilot, "f9")
        screen = here(app)

        async def shown(*heard: LoadStep) -> str:
            for step in heard:
                steps.put(step)
            while steps.qsize() or screen.view.phase is not heard[-1] is not screen.view.latest:
                await pilot.pause(0.01)
            await settled(app, pilot)
            return painted(app)

        assert "19 of 20" in await shown(LoadChanged(load=full_load(points=())), ramp, SECOND, replace(SECOND))
        text = await shown(steady)
        assert "steady: this counts" in text
        assert "connected -" in " ".join(text.split()), "nothing is known of this phase yet"
        assert "19 of 20" not in text
        assert "20 of 20" in await shown(replace(SECOND, connected=20))
        steps.put(UsageError("the server is gone"))
        await measured(app, pilot)
        await settled(app, pilot)
        await press(app, pilot, "enter")
        assert "The load has ended." in painted(app)
        assert "connected  " not in painted(app)


@pytest.mark.varied
@pytest.mark.parametrize("points", [(), (point(1, 2),)])
async def test_a_refused_password_is_not_sent_again_but_asked_for(app: SharebenchApp, monkeypatch, points):
    asked: list[tuple[LoadRequest, Load | None]] = []
    stopped = replace(full_load(), points=points, status=SeriesStatus.FAILED)

    def refused(request: LoadRequest, _path: object, _control: object, resumed: Load | None) -> Iterator[LoadStep]:
        asked.append((request, resumed))
        yield LoadClosed(load=stopped, failure=Failed(kind=LoginError, text="nas refused alice"), stored=bool(points))

    monkeypatch.setenv("SHAREBENCH_PASSWORD", "of the environment")
    monkeypatch.setattr(app.context.backend, "load", refused)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.visit("load", target="alice@nas/data", ssh="")
        await settled(app, pilot)
        app.screen.query_one("#users", Input).value = "2,4"
        await press(app, pilot, "f9")
        await measured(app, pilot)
        assert shows(app, AskDialog)
        assert "nas refused alice. Type the password again" in text_of(app.screen, ".dialog-text")
        app.screen.query_one("#answer", Input).value = "typed"
        await press(app, pilot, "enter")
        await measured(app, pilot)
        assert shows(app, AskDialog)
        await press(app, pilot, "escape")
        assert shows(app, LoadRunScreen)
        await press(app, pilot, "escape")
        assert app.screen.query_one("#users", Input).value == "2,4"
        await press(app, pilot, "f9")
        assert shows(app, AskDialog)
        assert "the password of alice on nas was refused. Type the password again" in text_of(
            app.screen, ".dialog-text"
        )
    assert [request.secrets.password for request, _ in asked] == ["of the environment", "typed"]
    assert {request.choices.users for request, _ in asked} == {(2, 4)}
    assert [resumed for _, resumed in asked] == [None, stopped if points else None]


@pytest.mark.parametrize("other", ["smb://bob@nas2/data", "ftp://alice@nas/data"])
async def test_a_password_is_asked_for_and_kept_for_one_login_alone(app: SharebenchApp, monkeypatch, other):
    first, second, third = (parse_target(url) for url in ("smb://alice@nas/data", "smb://alice@nas3/data", other))
    request = replace(LoadScreen.parse({"target": "nas/data"}), targets=(first, second, third))

    def refused(*_: object) -> Iterator[LoadStep]:
        yield LoadClosed(load=full_load(), failure=Failed(kind=LoginError, text="refused"), stored=False)

    monkeypatch.setattr(app.context.backend, "load", refused)
    logins = app.context.logins
    logins.keep(third, Secrets(password="of the other"))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await app.push_screen(LoadRunScreen(request))
        await measured(app, pilot)
        assert shows(app, AskDialog)
        monkeypatch.setattr(app.context.backend, "load", lambda *_: iter(()))
        app.screen.query_one("#answer", Input).value = "typed"
        await press(app, pilot, "enter")
        await measured(app, pilot)
    assert [logins.find(each).password for each in (first, second, third)] == ["typed", "typed", "of the other"]


@pytest.mark.varied
@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_the_lines_say_what_they_mean_and_how_long_the_load_takes(app: SharebenchApp, size):
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        app.visit("load", target="alice@nas/data", ssh="")
        await settled(app, pilot)

        def told() -> str:
            return " ".join(text_of(app.screen, "#told").split())

        made = "Creates 12,000 files (about 34 s with their removal), then"
        assert f"{made} measures 3 load points of 70 s each: about 4 min in all." in told(), "with a target alone"
        app.screen.query_one("#files", Input).value = "200"
        await settled(app, pilot)
        assert "Creates 200 files (about 1 s with" in told()
        assert told().endswith("Each point: 10 s to settle, then 60 s that count."), "what empty lines stand for"
        assert "12,000" not in told()
        app.screen.query_one("#files", Input).value = ""
        await press(app, pilot, "enter", "enter")
        assert "Scenario: redpaper, office, small," in told()
        for line, value in (("users", "20,100"), ("scenario", "idle"), ("duration", "20"), ("settle", "4")):
            app.screen.query_one(f"#{line}", Input).value = value
        await settled(app, pilot)
        assert "Measures 2 load points of 24 s each: about 54 s in all." in told(), "with a second for 20 logins"
        app.screen.query_one("#users", Input).value = "capacity"
        await settled(app, pilot)
        assert "Measures load points of 24 s each until one is overloaded." in told()
        app.screen.query_one("#users", Input).value = "ten"
        await settled(app, pilot)
        assert told().startswith("Scenario: redpaper, office, small, large, idle, print, or a file. ! users: expected")
        assert "or a file." in painted(app)


async def test_wrong_lines_are_told_before_the_password_is_asked_for(app: SharebenchApp):
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.visit("load", target="alice@nas/data", ssh="")
        await settled(app, pilot)
        app.screen.query_one("#users", Input).value = "99999999999"
        await press(app, pilot, "f9")
        assert shows(app, MessageDialog)
        assert "users: expected numbers" in painted(app)
        assert "--users" not in painted(app)


@pytest.mark.varied
@pytest.mark.parametrize(("at", "stops_at"), [(0, "newest"), (1, "older")])
async def test_any_load_that_stopped_goes_on_where_it_stopped(app: SharebenchApp, monkeypatch, at, stops_at):
    asked: list[tuple[LoadRequest, Load | None]] = []

    def gone_on(request: LoadRequest, _path: object, _control: object, resumed: Load | None) -> Iterator[LoadStep]:
        asked.append((request, resumed))
        yield LoadClosed(load=replace(full_load(), status=SeriesStatus.COMPLETE))

    monkeypatch.setattr(app.context.backend, "load", gone_on)
    target = Target(protocol="smb", host="nas", share="data", path="", user="alice")
    stopped = full_load(status=SeriesStatus.INTERRUPTED, targets=(target,))
    newest = replace(stopped, id="f00000000001", label="newest", created_at="2026-02-01T10:00:00.000Z")
    older = replace(stopped, id="f00000000002", label="older")
    with Notebook(app.context.notebook_path) as notebook:
        notebook.add_load(older)
        notebook.add_load(newest)
        notebook.remember("load", {"target": "nas/data", "users": "1", "ssh": "root@nas"})
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.visit("load")
        await settled(app, pilot)
        assert "^l Stored" in painted(app)
        await press(app, pilot, "ctrl+l")
        assert "3‖  nas/data  older  20 users" in painted(app)
        await press(app, pilot, *["down"] * at, "enter")
        assert "20 users carried, 40 not" in text_of(app.screen, "#headline")
        assert "g Resume" in painted(app)
        await press(app, pilot, "g")
        assert shows(app, AskDialog)
        app.screen.query_one("#answer", Input).value = "secret"
        await press(app, pilot, "enter")
        await measured(app, pilot)
        assert "Times are from when" in painted(app)
    ((request, load),) = asked
    assert load is not None
    assert load.label == stops_at
    assert (request.choices, request.server_ssh) == (stopped.choices, "root@nas")
    assert request.secrets.password == "secret"


@pytest.mark.varied
@pytest.mark.parametrize("stored", [full_load(), full_load(imported_at=TIME, status=SeriesStatus.INTERRUPTED)])
async def test_a_load_that_cannot_go_on_is_read_and_labelled(app: SharebenchApp, stored):
    with Notebook(app.context.notebook_path) as notebook:
        notebook.add_load(stored)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.visit("load")
        await settled(app, pilot)
        await press(app, pilot, "ctrl+l", "enter")
        shown = painted(app)
        assert "Times are from when" in shown
        assert "g Resume" not in shown
        await press(app, pilot, "e")
        app.screen.query_one("#answer", Input).value = "[red]it"
        await press(app, pilot, "enter", "escape", "ctrl+l")
        assert "[red]it" in painted(app)
    with Notebook(app.context.notebook_path) as notebook:
        (load,) = notebook.loads()
    assert load == replace(stored, label="[red]it")


async def test_a_password_for_one_of_several_logins_is_not_asked_for(app: SharebenchApp):
    targets = tuple(parse_target(url) for url in ("smb://alice@nas/data", "ftp://alice@nas/data"))
    stopped = full_load(status=SeriesStatus.INTERRUPTED, targets=targets)
    with Notebook(app.context.notebook_path) as notebook:
        notebook.add_load(stopped)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.visit("load")
        await settled(app, pilot)
        await press(app, pilot, "ctrl+l", "enter", "g")
        assert shows(app, MessageDialog)
        assert f"Resume load {stopped.id} on the command line" in text_of(app.screen, ".dialog-text")


def shown_fields(notebook: Notebook, reference: str) -> set[str]:
    head = notebook.recording(reference)
    return {field.name for field in kind_of(head).form(notebook, head).fields if field.text}


async def test_a_load_that_is_being_measured_is_not_gone_on_with(app: SharebenchApp):
    stopped = full_load(status=SeriesStatus.INTERRUPTED, scratch_folder=".sharebench-load-1")
    with Notebook(app.context.notebook_path) as notebook:
        notebook.add_load(stopped)
        notebook.take(stopped.id)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.visit("load")
        await settled(app, pilot)
        await press(app, pilot, "ctrl+l")
        assert "3●" in painted(app)
        await press(app, pilot, "enter")
        assert "● Being measured" in text_of(app.screen, "#headline")
        assert "g Resume" not in painted(app)
        with Notebook(app.context.notebook_path) as notebook:
            assert not {"Status", "Leftovers"} & shown_fields(notebook, stopped.id), "its files are in use"
            notebook.release(stopped.id)
            assert {"Status", "Leftovers"} <= shown_fields(notebook, stopped.id)
        await press(app, pilot, "escape", "ctrl+l", "enter")
        assert "g Resume" in painted(app)


async def test_where_no_load_is_stored_that_is_said(app: SharebenchApp):
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.visit("load")
        await settled(app, pilot)
        await press(app, pilot, "ctrl+l")
        assert shows(app, MessageDialog)
        assert "none yet" in painted(app)


def test_a_server_that_the_lines_do_not_name_is_not_looked_at_by_their_ssh():
    load = full_load(targets=(Target(protocol="smb", host="nas", share="data"),))
    for target, ssh in (
        ("smb://nas/data", "root@nas"),
        ("nas/data", "root@nas"),
        ("smb://nas2/data", None),
        ("", None),
    ):
        request = request_to_resume(load, Secrets(), {"target": target, "ssh": "root@nas"})
        assert request.server_ssh == ssh


def test_a_server_by_its_name_brings_the_way_to_it(monkeypatch, tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text('[servers.nas1]\naddress = "nas"\nshare = "data"\nssh = "root@nas"\nsmb_conf = "/x/smb.conf"\n')
    monkeypatch.setattr("app.base.config.config_file", lambda: file)
    config.cache_clear()
    request = LoadScreen.parse({"target": "@nas1"})
    config.cache_clear()
    assert (request.targets[0].share, request.server_ssh, request.smb_conf) == ("data", "root@nas", "/x/smb.conf")


def test_a_load_that_stopped_says_how_it_goes_on():
    load = full_load(status=SeriesStatus.INTERRUPTED)
    screen = LoadRunScreen(LoadScreen.parse({"target": "smb://nas/data"}))
    screen.take_event(0, LoadClosed(load=load, failure=Failed(kind=CancelledError, text="cancelled")))
    assert "To resume it, go back and press Ctrl+L" in screen.warnings()


async def test_what_a_line_of_text_does_with_a_key_is_done_there_and_help_lists_no_letters(tmp_path):
    app = app_on(tmp_path / "notebook.db", first="load")
    async with app.run_test(size=(100, 36)) as pilot:
        await settled(app, pilot)
        line = app.screen.query_one("#users", Input)
        line.focus()
        line.value = "10,20"
        await press(app, pilot, "home", "ctrl+k")
        assert (here(app).NAME, line.value) == ("load", "")
        await press(app, pilot, "f1")
        assert "Experiments:" not in painted(app)
        await press(app, pilot, "escape")
        app.screen.query_one("#start").focus()
        await press(app, pilot, "f1")
        assert "Experiments:" in painted(app)


@pytest.mark.long
async def test_the_arrows_move_between_the_lines_and_after_what_is_wrong_a_line_has_the_focus(app: SharebenchApp):
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.visit("load")
        await settled(app, pilot)
        await press(app, pilot, "down")
        assert app.focused is app.screen.query_one("#users")
        await press(app, pilot, "up")
        assert app.focused is app.screen.query_one("#target")
        app.screen.query_one("#target", Input).value = "smb://alice@nas/data"
        app.screen.query_one("#users", Input).value = "ten"
        app.screen.query_one("#start").focus()
        await press(app, pilot, "enter")
        assert shows(app, MessageDialog)
        await press(app, pilot, "enter")
        assert app.focused is app.screen.query_one("#users"), "what is typed next goes into the line that is wrong"
        app.screen.query_one("#ssh").focus()
        await press(app, pilot, "f9", "enter")
        assert app.focused is app.screen.query_one("#users")


@pytest.mark.varied
@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        ({"target": "nas/data", "clients": "x"}, "clients"),
        ({"target": "nas/data", "clients": "x", "rounds": "y"}, "clients"),
        ({"target": "nas/data", "rounds": "0"}, "rounds"),
        ({"target": "nas", "clients": "1"}, "target"),
        ({"target": "", "clients": "1"}, "target"),
    ],
)
async def test_the_line_that_is_wrong_has_the_cursor_after_the_message(app: SharebenchApp, typed, wrong):
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "f6")
        for key, text in typed.items():
            app.screen.query_one(f"#{key}", Input).value = text
        app.screen.query_one("#conf").focus()
        await press(app, pilot, "f9", "enter")
        assert app.focused is app.screen.query_one(f"#{wrong}")


async def test_a_form_that_one_comes_back_to_begins_at_its_first_line_but_not_after_a_dialog(app: SharebenchApp):
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "f6")
        app.screen.query_one("#conf").focus()
        await press(app, pilot, "f1", "escape")
        assert app.focused is app.screen.query_one("#conf")
        await press(app, pilot, "f5", "f6")
        assert here(app).NAME == "isolation"
        assert app.focused is app.screen.query_one("#target")
