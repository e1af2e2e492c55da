"""The run step: what is shown while a series is measured, its keys, and everything that can end it early."""

import asyncio
import os
import queue
import re
from dataclasses import replace
from functools import partial
from math import inf

import pytest

from app.base.errors import ConnectionLostError, LoginError, NotebookError
from app.clients.base import Secrets
from app.guide import run_screen
from app.guide.page_view import PageView
from app.guide.run_screen import RunScreen
from app.guide.screen import GuideScreen
from app.method.choices import MEMORY_KEY, MethodStep
from app.recording.process import Failed, Finished, Paused, Progressed, RunFinished, RunStarted, Started, Warned
from app.series.events import QuietWait, SeriesOpened
from app.server.machine_meter import MachineNow
from app.tui.frame.dialogs import ConfirmDialog
from app.tui.notebook.screen import NotebookScreen
from app.tui.widgets import recording
from app.tui.widgets.recording import machine_line, machine_words
from storage.notebook import Notebook
from storage.records import Phase, SeriesStatus
from tests.builders import CLIENT, last_series, run_at, series
from tests.specs import choices_with, plan_with
from tests.tui import SMB, app_on, footer_of, measured, painted, press, settled, text_of

READY = choices_with(step=MethodStep.RUN, target=replace(SMB, share="data"), file="big.bin", file_bytes=1 << 30)
STARTED = Started(client=CLIENT, size_bytes=1 << 30)


@pytest.fixture
def ready(guide_app, backend):
    """The guide at the run step, with a series that does what the test hands out."""
    backend.script = queue.Queue()
    with Notebook(guide_app.context.notebook_path) as notebook:
        notebook.remember(MEMORY_KEY, READY.to_memory())
    return guide_app


async def hand_out(app, pilot, backend, *events):
    """The series does these things, and the screen has heard of them."""
    for event in events:
        backend.script.put(event)
    await asyncio.to_thread(backend.script.join)
    await settled(app, pilot)


async def drawn(app, pilot):
    """The clock has come round, and all of the screen is up to date."""
    app.screen.tick()
    await settled(app, pilot)
    app.screen.draw()
    await pilot.pause()


async def start(app, pilot, backend, *events):
    await settled(app, pilot)
    await press(app, pilot, "enter")
    await hand_out(app, pilot, backend, *events)
    assert isinstance(app.screen, RunScreen)
    return app.screen


async def test_the_form_and_the_chart_fill_in_as_runs_end(ready, backend):
    async with ready.run_test(size=(120, 36)) as pilot:
        await start(ready, pilot, backend, STARTED, RunStarted(number=1, phase=Phase.MEASURED, of=3))
        await hand_out(ready, pilot, backend, Progressed(seconds=2.0, moved_bytes=1 << 28, size_bytes=1 << 30))
        await drawn(ready, pilot)
        assert "Run 1 of 3" in painted(ready)
        assert " 25 %   134 MB/s  6 s left" in painted(ready)
        await hand_out(ready, pilot, backend, RunFinished(run=run_at(1, 100e6)))
        await drawn(ready, pilot)
        assert "100,000,000" in painted(ready)
        assert re.search(r"Average █+", painted(ready)), "the bars of the runs"
        assert "throughput over time" in painted(ready)
        assert re.search(r"100┤.*CPU, this machine", painted(ready), re.DOTALL)
        assert "Deviation:" not in painted(ready), "one run has none"
        await hand_out(ready, pilot, backend, RunFinished(run=run_at(2, 110e6)), Finished(), None)
        await measured(ready, pilot)
        assert "Deviation:" in painted(ready)
        assert "Complete: 2 runs, " in painted(ready)


@pytest.mark.varied
@pytest.mark.parametrize("warned", [(), tuple(Warned(text=f"warning {n}") for n in range(3))], ids=("quiet", "warned"))
@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=str)
async def test_of_many_runs_the_newest_are_seen_and_what_they_come_to(ready, backend, size, warned):
    async with ready.run_test(size=size) as pilot:
        await start(ready, pilot, backend, STARTED, *warned)
        await hand_out(ready, pilot, backend, *(RunFinished(run=run_at(n, 100e6 + n)) for n in range(1, 41)))
        await hand_out(ready, pilot, backend, Finished(), None)
        await measured(ready, pilot)
        for seen in ("100,000,040", "Average:", "Deviation:", "Rate of each run", *(one.text for one in warned)):
            assert seen in painted(ready)
        assert "100,000,001" not in painted(ready)


async def test_without_a_curve_it_is_said_whether_any_run_has_ended(ready, backend):
    async with ready.run_test(size=(120, 36)) as pilot:
        await start(ready, pilot, backend, STARTED, RunStarted(number=1, phase=Phase.MEASURED, of=3))
        await drawn(ready, pilot)
        assert "no run has ended yet" in painted(ready)
        assert "too short" not in painted(ready)
        await hand_out(ready, pilot, backend, RunFinished(run=replace(run_at(1, 100e6), progress=())))
        await drawn(ready, pilot)
        assert "the run is too short for a curve" in painted(ready)
        assert "no run has ended yet" not in painted(ready)


async def test_a_run_without_a_sample_is_drawn_as_its_average_beside_those_that_have_some(ready, backend):
    async with ready.run_test(size=(120, 36)) as pilot:
        await start(ready, pilot, backend, STARTED)
        for number, progress in ((1, ((5.0, 500_000_000), (10.0, 1_000_000_000))), (2, ())):
            ended = RunFinished(run=replace(run_at(number, 100e6), progress=progress))
            await hand_out(ready, pilot, backend, RunStarted(number=number, phase=Phase.MEASURED, of=2), ended)
        await drawn(ready, pilot)
        curves = dict(ready.screen.running.all_curves)
        seconds, moved = curves["2"][-1]
        assert moved / seconds == pytest.approx(100e6)


async def test_events_do_not_draw_only_the_clock_does(ready, backend, monkeypatch):
    monkeypatch.setattr(recording, "REDRAW_SECONDS", 3600.0)
    drawn: list[None] = []
    original = RunScreen.draw
    async with ready.run_test() as pilot:
        await start(ready, pilot, backend, STARTED, RunStarted(number=1, phase=Phase.MEASURED, of=3))
        monkeypatch.setattr(RunScreen, "draw", lambda self: drawn.append(original(self)))
        flood = [Progressed(seconds=i / 10, moved_bytes=i << 20, size_bytes=1 << 30) for i in range(1, 500)]
        await hand_out(ready, pilot, backend, *flood)
        ready.screen.catch_up()
        assert ready.screen.running.now.moved_bytes == 499 << 20
        assert drawn == []
        await hand_out(ready, pilot, backend, None)
        await measured(ready, pilot)
    assert drawn, "the end is drawn at once"


async def test_under_a_dialog_nothing_is_drawn_and_nothing_is_lost(ready, backend, monkeypatch):
    monkeypatch.setattr(recording, "REDRAW_SECONDS", 3600.0)
    async with ready.run_test(size=(120, 36)) as pilot:
        screen = await start(ready, pilot, backend, STARTED, RunStarted(number=1, phase=Phase.MEASURED, of=3))
        await drawn(ready, pilot)
        now = text_of(screen, "#now")
        await press(ready, pilot, "s")
        await hand_out(ready, pilot, backend, Progressed(seconds=2.0, moved_bytes=1 << 28, size_bytes=1 << 30))
        screen.tick()
        assert text_of(screen, "#now") == now
        await press(ready, pilot, "escape")
        screen.tick()
        assert " 25 %   134 MB/s" in text_of(screen, "#now")
        await hand_out(ready, pilot, backend, None)
        await measured(ready, pilot)


async def test_the_clock_draws_one_slow_part_at_a_time(ready, backend, monkeypatch):
    monkeypatch.setattr(recording, "REDRAW_SECONDS", 3600.0)
    monkeypatch.setattr(recording, "PART_SECONDS", 0.0)
    parts: list[str] = []
    original = RunScreen._draw_part
    async with ready.run_test(size=(120, 36)) as pilot:
        screen = await start(ready, pilot, backend, STARTED, RunStarted(number=1, phase=Phase.MEASURED, of=3))
        await hand_out(ready, pilot, backend, RunFinished(run=run_at(1, 1e8)))
        screen.tick()
        await settled(ready, pilot)

        def draw_part(self, part):
            parts.append(part)
            original(self, part)

        monkeypatch.setattr(RunScreen, "_draw_part", draw_part)
        screen._drawn = dict.fromkeys(screen._drawn, (-inf, None))
        counts = []
        for _ in range(3):
            screen.tick()
            counts.append(len(parts))
        assert counts in ([1, 2, 2], [1, 2, 3]), "one at a time"
        assert "form" in parts
        await hand_out(ready, pilot, backend, None)
        await measured(ready, pilot)


async def test_a_chart_that_was_drawn_between_two_runs_is_stale_between_two_later_ones(ready, backend, monkeypatch):
    """On a busy machine a short run may begin and end without a drawing of it."""
    monkeypatch.setattr(recording, "REDRAW_SECONDS", 3600.0)
    async with ready.run_test(size=(140, 45)) as pilot:
        screen = await start(ready, pilot, backend, STARTED, RunStarted(number=1, phase=Phase.MEASURED, of=3))
        await hand_out(ready, pilot, backend, RunFinished(run=run_at(1, 1e8)))
        await hand_out(ready, pilot, backend, RunStarted(number=2, phase=Phase.MEASURED, of=3))
        screen.catch_up()
        screen._draw_part("within")
        assert "within" not in [part for _, part in screen._stale()]

        await hand_out(ready, pilot, backend, RunFinished(run=run_at(2, 1e8)))
        await hand_out(ready, pilot, backend, RunStarted(number=3, phase=Phase.MEASURED, of=3))
        screen.catch_up()
        assert "within" in [part for _, part in screen._stale()]
        await hand_out(ready, pilot, backend, None)
        await measured(ready, pilot)


async def test_a_chart_of_hundreds_of_samples_that_is_up_to_date_is_not_drawn_again(ready, backend, monkeypatch):
    monkeypatch.setattr(recording, "REDRAW_SECONDS", 3600.0)
    async with ready.run_test(size=(120, 36)) as pilot:
        screen = await start(ready, pilot, backend, STARTED, RunStarted(number=1, phase=Phase.MEASURED, of=3))
        screen._cpu = {float(second): 50.0 for second in range(300)}
        assert "cpu" in [part for _, part in screen._stale()]
        screen.draw()
        assert screen._stale() == []
        await hand_out(ready, pilot, backend, None)
        await measured(ready, pilot)


@pytest.mark.varied
@pytest.mark.parametrize(
    ("idle", "taken", "waited", "draws"),
    [
        (1.0, 1.0, 0.0, True),  # a processor is idle
        (0.99, 0.0099, 2.0, True),  # half a percent of the time since then
        (0.99, 0.0101, 2.0, False),
        (0.99, 9.0, 4.99, False),
        (0.99, 9.0, 5.0, True),  # it is never older than that
    ],
)
async def test_where_no_processor_is_idle_drawing_takes_half_a_percent(
    ready, backend, monkeypatch, idle: float, taken: float, waited: float, draws: bool
):
    monkeypatch.setattr(recording, "REDRAW_SECONDS", 3600.0)
    async with ready.run_test(size=(80, 24)) as pilot:
        screen = await start(ready, pilot, backend, STARTED, RunStarted(number=2, phase=Phase.MEASURED, of=5))
        await drawn(ready, pilot)
        with monkeypatch.context() as now:
            now.setattr(os, "cpu_count", lambda: 4)
            now.setattr(run_screen, "monotonic", lambda: 100.0 + waited)
            now.setattr(run_screen, "thread_time", lambda: 50.0 + taken)
            screen._machine = replace(screen._machine, cpu_percent=100 - 100 * idle / 4)
            screen._drawn_at, screen._processor_seconds = 100.0, 50.0
            assert screen._may_draw() is draws
            assert (screen._drawn_at, screen._processor_seconds) == (
                (100.0 + waited, 50.0 + taken) if draws else (100.0, 50.0)
            )
        await hand_out(ready, pilot, backend, None)
        await measured(ready, pilot)


async def test_the_table_has_a_run_the_moment_it_ends(ready, backend, monkeypatch):
    monkeypatch.setattr(recording, "REDRAW_SECONDS", 3600.0)
    async with ready.run_test(size=(80, 24)) as pilot:
        screen = await start(ready, pilot, backend, STARTED, RunStarted(number=1, phase=Phase.MEASURED, of=3))
        for number in (1, 2):
            screen._read_at = -inf
            await hand_out(ready, pilot, backend, RunFinished(run=run_at(number, number * 100e6)))
            screen.tick()
            await settled(ready, pilot)
            assert f"{number}00,000,000" in painted(ready)
            assert re.search(rf"\n{number} +█+", painted(ready)), "and so has the chart"
            assert screen._drawn_line[0] == screen.running.line(76, screen.form.average_rate), (
                "and no run goes on there"
            )
        await hand_out(ready, pilot, backend, None)
        await measured(ready, pilot)


@pytest.mark.parametrize(("seconds", "at_once"), [(1.0, True), (0.99, False)])
async def test_the_bars_are_those_of_the_table_however_short_the_runs(ready, backend, monkeypatch, seconds, at_once):
    monkeypatch.setattr(recording, "REDRAW_SECONDS", 3600.0)
    async with ready.run_test(size=(120, 36)) as pilot:
        screen = await start(ready, pilot, backend, STARTED, RunStarted(number=1, phase=Phase.MEASURED, of=3))
        for number in (1, 2, 3):
            screen._read_at = -inf
            run = replace(run_at(number, number * 100e6), seconds=seconds)
            await hand_out(ready, pilot, backend, RunFinished(run=run))
            screen.tick()
            await settled(ready, pilot)
            in_table = {int(one) for one in re.findall(r"\n  (\d) +\S+,\S+ ", painted(ready))}
            assert {int(one) for one in re.findall(r"\n(\d) +█+", painted(ready))} == in_table
            assert (number in in_table) is at_once or number == 1
        await hand_out(ready, pilot, backend, None)
        await measured(ready, pilot)


@pytest.mark.varied
@pytest.mark.parametrize("size", [(80, 24), (100, 24), (120, 24), (120, 36)], ids=str)
async def test_the_bars_that_have_no_room_are_named_in_sight(ready, backend, size):
    async with ready.run_test(size=size) as pilot:
        await start(ready, pilot, backend, STARTED)
        await hand_out(ready, pilot, backend, *(RunFinished(run=run_at(n, 100e6 + n)) for n in range(1, 9)))
        await hand_out(ready, pilot, backend, Finished(), None)
        await measured(ready, pilot)
        bars = re.findall(r"\n(\d|Average) +█", painted(ready))
        all_bars = [*"12345678", "Average"]
        assert bars == all_bars[-len(bars) :]
        hidden = re.search(r"1(?: (and|to) (\d))? not shown", painted(ready))
        assert bool(hidden) is (len(bars) < len(all_bars))
        if hidden:
            assert int(hidden[2] or 1) == len(all_bars) - len(bars)


async def test_at_80_by_24_only_the_warm_ups_give_way_to_the_runs_and_their_average(ready, backend):
    runs = [run_at(number, 100e6 + number, phase=Phase.WARM_UP) for number in (1, 2)]
    runs += [run_at(number, 100e6 + number) for number in range(1, 6)]
    async with ready.run_test(size=(80, 24)) as pilot:
        await start(ready, pilot, backend, STARTED)
        await hand_out(ready, pilot, backend, *(RunFinished(run=run) for run in runs))
        await hand_out(ready, pilot, backend, Finished(), None)
        await measured(ready, pilot)
        bars = re.findall(r"\n(W?\d|Average) +█", painted(ready))
        assert bars[-6:] == [*"12345", "Average"]


async def test_a_stall_is_called_one_and_the_machine_is_shown_beside_the_run(ready, backend, monkeypatch):
    monkeypatch.setattr(recording, "REDRAW_SECONDS", 3600.0)
    async with ready.run_test(size=(80, 24)) as pilot:
        screen = await start(ready, pilot, backend, STARTED, RunStarted(number=2, phase=Phase.MEASURED, of=5))
        await hand_out(ready, pilot, backend, Progressed(seconds=2.0, moved_bytes=1 << 28, size_bytes=1 << 30))
        screen.tick()
        assert "134 MB/s  6 s left" in text_of(screen, "#now")
        assert (
            text_of(screen, "#machine") == "this machine: CPU 50 %  eth0 in 118 MB/s, out 1.2 MB/s  3 retransmissions"
        )
        screen._moved_at -= 12
        screen.tick()
        assert text_of(screen, "#now") == "! Run 2 of 5 stalled 12 s, gives up at 30 s"
        await hand_out(ready, pilot, backend, Progressed(seconds=15.0, moved_bytes=1 << 29, size_bytes=1 << 30))
        screen.tick()
        assert "stalled" not in text_of(screen, "#now")
        await hand_out(ready, pilot, backend, None)
        await measured(ready, pilot)
        assert text_of(screen, "#machine") == "", "what it did last is not what it does now"


async def test_a_question_that_the_end_answered_waits_for_its_key(ready, backend):
    async with ready.run_test() as pilot:
        screen = await start(ready, pilot, backend, STARTED, RunStarted(number=1, phase=Phase.MEASURED, of=1))
        await press(ready, pilot, "s")
        await hand_out(ready, pilot, backend, RunFinished(run=run_at(1, 100e6)), Finished(), None)
        await measured(ready, pilot)
        assert "It has ended by itself meanwhile" in text_of(ready.screen, ".dialog-text")
        await press(ready, pilot, "enter")
        assert ready.screen is screen, "the key was for the question, not for the review"


async def test_a_series_ends_with_the_program(ready, backend):
    async with ready.run_test() as pilot:
        await start(ready, pilot, backend, STARTED)
        ready.exit(1)
        await pilot.pause()
    assert backend.control.cancelled.is_set()


async def test_pause_go_on_and_end_reach_the_series(ready, backend):
    async with ready.run_test() as pilot:
        await start(ready, pilot, backend, STARTED, RunStarted(number=1, phase=Phase.MEASURED, of=3))
        said = []
        backend.control.attach(lambda word: said.append(word.value), lambda: said.append("end of input"))
        await press(ready, pilot, "p")
        assert "(pausing after it)" in painted(ready)
        await hand_out(ready, pilot, backend, RunFinished(run=run_at(1, 1e8)), Paused())
        await drawn(ready, pilot)
        assert "Paused. g resumes" in painted(ready)
        await press(ready, pilot, "p")
        await press(ready, pilot, "g", "e")
        assert said == ["pause", "resume", "finish"], "a paused series is not paused again"
        await hand_out(ready, pilot, backend, Finished(), None)
        await measured(ready, pilot)
        await press(ready, pilot, "e", "s")
        assert said == ["pause", "resume", "finish"], "what is over cannot be ended"


async def test_g_ends_the_wait_for_a_quiet_time(ready, backend):
    async with ready.run_test() as pilot:
        await start(ready, pilot, backend, SeriesOpened(series_id="0" * 12))
        assert "Measure now" not in footer_of(ready)
        programs = ("make (48 %)", "tar (31 %)")
        wait = QuietWait(left_seconds=500, reason="a backup runs", programs=programs, waited_seconds=100)
        await hand_out(ready, pilot, backend, wait)
        await drawn(ready, pilot)
        assert "g Measure now" in footer_of(ready)
        assert "make (48 %) and tar (31 %)" in painted(ready)
        await press(ready, pilot, "g")
        assert backend.control.waited_enough.is_set()
        assert not backend.control.cancelled.is_set()
        assert "Measure now" not in footer_of(ready)
        assert "measuring without waiting" in painted(ready)
        assert "tar (31 %)" not in painted(ready)
        offered = partial(ready.screen.check_action, "now", ())
        await hand_out(ready, pilot, backend, QuietWait(left_seconds=500))
        await drawn(ready, pilot)
        assert offered() is True
        await press(ready, pilot, "p")
        assert offered() is False, "g ends the pause that was asked for"
        await press(ready, pilot, "g")
        assert offered() is True
        await hand_out(ready, pilot, backend, STARTED)
        await drawn(ready, pilot)
        assert offered() is False, "connected: nothing is waited for"
        await hand_out(ready, pilot, backend, QuietWait(left_seconds=500), None)
        await measured(ready, pilot)
        assert offered() is False, "it is over"


async def test_enter_does_nothing_while_it_measures_and_a_question_leaves_the_run_in_sight(ready, backend):
    async with ready.run_test() as pilot:
        screen = await start(ready, pilot, backend, STARTED, RunStarted(number=1, phase=Phase.MEASURED, of=3))
        await drawn(ready, pilot)
        await press(ready, pilot, "enter")
        assert ready.screen is screen
        assert "s Stop" in painted(ready).splitlines()[-1]
        await press(ready, pilot, "ctrl+c")
        assert isinstance(ready.screen, ConfirmDialog)
        assert "Stop measuring?" in painted(ready)
        assert "Run 1 of 3" in painted(ready)
        await press(ready, pilot, "escape", "q")
        assert "Leave sharebench?" in painted(ready)
        await press(ready, pilot, "escape", "ctrl+z")
        assert any("would stand still" in note.message for note in ready._notifications)
        await hand_out(ready, pilot, backend, None)
        await measured(ready, pilot)


async def test_ending_asks_as_long_as_no_run_is_valid(ready, backend):
    async with ready.run_test() as pilot:
        warm_up = run_at(1, 1e8, phase=Phase.WARM_UP)
        screen = await start(ready, pilot, backend, STARTED, RunFinished(run=warm_up))
        await press(ready, pilot, "e")
        assert isinstance(ready.screen, ConfirmDialog)
        await press(ready, pilot, "enter")
        assert not screen.running.ending, "Enter alone goes on measuring"
        await press(ready, pilot, "e", "left", "enter")
        assert screen.running.ending
        await hand_out(ready, pilot, backend, None)
        await measured(ready, pilot)


async def test_stopping_asks_and_keeps_what_is_done(ready, backend):
    async with ready.run_test() as pilot:
        await start(ready, pilot, backend, STARTED, RunFinished(run=run_at(1, 1e8)))
        await press(ready, pilot, "s", "enter")
        assert isinstance(ready.screen, RunScreen), "Enter alone goes on measuring"
        assert not backend.control.cancelled.is_set()
        await press(ready, pilot, "s", "left", "enter")
        await measured(ready, pilot)
        assert "Interrupted after 1 run; what was measured is kept." in painted(ready)
        await press(ready, pilot, "enter")
        assert "The series was interrupted after 1 valid run" in painted(ready)
        await press(ready, pilot, "up", "enter")
        assert backend.resumed == [], "the cursor was on another choice"
    assert last_series(ready.context.notebook_path).status is SeriesStatus.INTERRUPTED
    assert len(last_series(ready.context.notebook_path).runs) == 1


@pytest.mark.parametrize("runs", [0, 1])
async def test_a_series_that_ended_without_a_run_offers_no_review(ready, backend, runs: int):
    async with ready.run_test() as pilot:
        await start(ready, pilot, backend, STARTED, *[RunFinished(run=run_at(1, 1e8))] * runs)
        await press(ready, pilot, "s", "left", "enter")
        await measured(ready, pilot)
        assert ("⏎ Review" in footer_of(ready)) is (runs == 1)
        await press(ready, pilot, "escape")
        assert not isinstance(ready.screen, RunScreen)


async def test_quitting_during_a_run_asks_then_keeps_what_is_done(ready, backend):
    async with ready.run_test() as pilot:
        await start(ready, pilot, backend, STARTED, RunFinished(run=run_at(1, 1e8)))
        await press(ready, pilot, "ctrl+q")
        assert isinstance(ready.screen, ConfirmDialog)
        assert "runs that ended are kept" in text_of(ready.screen, ".dialog-text")
        await press(ready, pilot, "escape")
        assert not backend.control.cancelled.is_set()
        await pilot.press("ctrl+q", "left", "enter")
        await measured(ready, pilot)
    assert ready.return_code == 0
    assert last_series(ready.context.notebook_path).status is SeriesStatus.INTERRUPTED
    assert len(last_series(ready.context.notebook_path).runs) == 1


async def test_a_server_that_goes_away_is_told_and_the_runs_stay(ready, backend):
    async with ready.run_test() as pilot:
        await start(ready, pilot, backend, STARTED, RunFinished(run=run_at(1, 1e8)))
        lost = Failed(kind=ConnectionLostError, text="127.0.0.1/[data]: the connection ended; is the server up?")
        await hand_out(ready, pilot, backend, lost, None)
        await measured(ready, pilot)
        assert "127.0.0.1/[data]: the connection ended" in text_of(ready.screen, ".dialog-text")
        await press(ready, pilot, "enter", "enter")
        assert isinstance(ready.screen, GuideScreen)
        assert ready.screen.session.choices.step is MethodStep.RUN
        assert "The series failed after 1 valid run" in painted(ready)
    assert len(last_series(ready.context.notebook_path).measured()) == 1


async def test_what_ended_a_series_early_stands_whole_on_its_screen(ready, backend):
    async with ready.run_test(size=(80, 24)) as pilot:
        await start(ready, pilot, backend, STARTED, RunFinished(run=run_at(1, 1e8)))
        text = "127.0.0.1/data: the connection ended in the middle of a run; is the server up?"
        await hand_out(ready, pilot, backend, Failed(kind=ConnectionLostError, text=text), None)
        await measured(ready, pilot)
        await press(ready, pilot, "enter")
        assert isinstance(ready.screen, RunScreen)
        assert text in " ".join(painted(ready).split())


@pytest.mark.parametrize("kerberos", [False, True])
async def test_a_run_whose_login_is_refused_drops_the_password_that_was_sent(ready, backend, kerberos):
    with Notebook(ready.context.notebook_path) as notebook:
        notebook.remember(MEMORY_KEY, replace(READY, kerberos=kerberos).to_memory())
    async with ready.run_test() as pilot:
        refusal = Failed(kind=LoginError, text="127.0.0.1 refused bench")
        await start(ready, pilot, backend, STARTED)
        await hand_out(ready, pilot, backend, refusal, None)
        await measured(ready, pilot)
        assert "127.0.0.1 refused bench" in text_of(ready.screen, ".dialog-text")
    assert ready.context.logins.is_refused(READY.target) is not kerberos, "a ticket that ended says nothing of it"


async def test_a_refused_password_is_asked_for_again_and_each_is_sent_once(ready, backend):
    async with ready.run_test(size=(80, 24)) as pilot:
        await start(ready, pilot, backend)
        for typed in ("first", "second"):
            await hand_out(ready, pilot, backend, Failed(kind=LoginError, text="127.0.0.1 refused bench"), None)
            await measured(ready, pilot)
            told = text_of(ready.screen, ".dialog-text")
            assert "127.0.0.1 refused bench. Type the password again" in told
            await press(ready, pilot, *typed, "enter")
            assert isinstance(ready.screen, RunScreen)
        sent = [request.secrets.password for request in backend.requests]
        assert sent == ["practice", "first", "second"]
        await hand_out(ready, pilot, backend, STARTED, RunFinished(run=run_at(1, 1e8)), None)
        await measured(ready, pilot)
        await press(ready, pilot, "enter")
        assert isinstance(ready.screen, GuideScreen)
        assert ready.screen.session.choices.series_id == last_series(ready.context.notebook_path).id
    assert not ready.context.logins.is_refused(READY.target)


async def test_who_types_no_other_password_reads_why_the_series_ended(ready, backend):
    async with ready.run_test(size=(80, 24)) as pilot:
        await start(ready, pilot, backend)
        await hand_out(ready, pilot, backend, Failed(kind=LoginError, text="127.0.0.1 refused bench"), None)
        await measured(ready, pilot)
        await press(ready, pilot, "escape")
        assert isinstance(ready.screen, RunScreen)
        assert "127.0.0.1 refused bench" in painted(ready)
        assert len(backend.requests) == 1


async def test_a_recorder_that_cannot_record_is_told(ready, backend):
    async with ready.run_test() as pilot:
        await settled(ready, pilot)
        await press(ready, pilot, "enter")
        backend.script.put(NotebookError("the disk is full"))
        await measured(ready, pilot)
        assert "the disk is full" in text_of(ready.screen, ".dialog-text")
        await press(ready, pilot, "enter")
        assert isinstance(ready.screen, GuideScreen)


async def test_warnings_are_shown_as_text(ready, backend):
    async with ready.run_test() as pilot:
        await start(ready, pilot, backend, Warned(text="the time is [bold]busy[/]: wait"))
        await drawn(ready, pilot)
        assert "! the time is [bold]busy[/]: wait" in painted(ready)
        await hand_out(ready, pilot, backend, None)
        await measured(ready, pilot)


@pytest.mark.long
async def test_any_size_of_terminal_during_a_run(ready, backend):
    async with ready.run_test() as pilot:
        await start(ready, pilot, backend, STARTED, RunFinished(run=run_at(1, 1e8)))
        for number, size in enumerate([(1, 1), (12, 4), (20, 5), (300, 90), (80, 24)], 2):
            await pilot.resize_terminal(*size)
            await hand_out(ready, pilot, backend, RunFinished(run=run_at(number, (100 + number) * 1e6)))
            await drawn(ready, pilot)
            await pilot.resize_terminal(80, 24)
            await drawn(ready, pilot)
            assert f"{100 + number},000,000" in painted(ready), size
        await hand_out(ready, pilot, backend, None)
        await measured(ready, pilot)
        assert "Complete: 6 runs" in painted(ready)


async def test_the_narrow_layout_has_one_chart_and_a_key_for_the_other(ready, backend):
    async with ready.run_test(size=(80, 24)) as pilot:
        await start(ready, pilot, backend, STARTED, RunFinished(run=run_at(1, 1e8)), None)
        await measured(ready, pilot)
        assert re.search(r"Average █+", painted(ready))
        assert "throughput over time" not in painted(ready)
        await press(ready, pilot, "c")
        assert "throughput over time" in painted(ready)
        assert not re.search(r"Average █+", painted(ready))


async def test_the_narrow_layout_draws_the_run_under_way_until_one_has_ended(ready, backend):
    async with ready.run_test(size=(80, 24)) as pilot:
        await start(ready, pilot, backend, STARTED, RunStarted(number=1, phase=Phase.WARM_UP, of=2))
        for second in (1, 2, 3):
            await hand_out(
                ready, pilot, backend, Progressed(seconds=second, moved_bytes=second << 27, size_bytes=1 << 30)
            )
        await drawn(ready, pilot)
        assert "throughput over time" in painted(ready)
        await hand_out(ready, pilot, backend, RunFinished(run=run_at(1, 1e8)))
        await drawn(ready, pilot)
        assert re.search(r"Average █+|1 +█+", painted(ready))
        assert "throughput over time" not in painted(ready)
        await hand_out(ready, pilot, backend, None)
        await measured(ready, pilot)


async def test_a_window_that_shrinks_is_offered_the_other_chart(ready, backend):
    async with ready.run_test(size=(120, 36)) as pilot:
        await start(ready, pilot, backend, STARTED, RunFinished(run=run_at(1, 1e8)))
        assert "c Chart" not in painted(ready)
        await pilot.resize_terminal(80, 24)
        await settled(ready, pilot)
        assert "c Chart" in painted(ready)
        await pilot.resize_terminal(120, 36)
        await settled(ready, pilot)
        assert "c Chart" not in painted(ready)
        await hand_out(ready, pilot, backend, None)
        await measured(ready, pilot)


async def test_after_a_series_the_first_page_is_that_of_its_result(ready, backend, monkeypatch):
    runs = [RunFinished(run=run_at(number, 100e6)) for number in range(1, 6)]
    async with ready.run_test(size=(80, 24)) as pilot:
        await start(ready, pilot, backend, STARTED, *runs, Finished(), None)
        await measured(ready, pilot)
        view = ready.screen_stack[-2].query_one(PageView)
        assert view.page is not None
        assert view.page.options == (), "what lies below offers nothing that the result makes false"

        pages = []
        show = PageView.show

        def show_and_note(page_view, page):
            pages.append(page)
            show(page_view, page)

        monkeypatch.setattr(PageView, "show", show_and_note)
        await press(ready, pilot, "enter")
        assert [len(page.options) > 5 for page in pages] == [True], "the review alone, with its runs"
        assert ready.screen.session.choices.step is MethodStep.REVIEW


async def test_after_a_series_that_was_left_its_page_is_shown_too(ready, backend):
    async with ready.run_test(size=(80, 24)) as pilot:
        await start(ready, pilot, backend, STARTED)
        await press(ready, pilot, "escape", "y")
        await measured(ready, pilot)
        await press(ready, pilot, "escape", "escape")
        assert isinstance(ready.screen, GuideScreen)
        page = ready.screen.query_one(PageView).page
        assert page is not None
        assert page.options


async def test_escape_is_said_to_cancel_while_it_measures_and_to_lead_back_then(ready, backend):
    async with ready.run_test(size=(80, 24)) as pilot:
        await start(ready, pilot, backend, STARTED, RunFinished(run=run_at(1, 1e8)))
        footer = painted(ready).splitlines()[-1]
        assert "esc Stop?" in footer
        assert "Back" not in footer
        await hand_out(ready, pilot, backend, None)
        await measured(ready, pilot)
        footer = painted(ready).splitlines()[-1]
        assert "esc Back" in footer
        assert "Cancel" not in footer


async def test_the_notebook_can_be_looked_at_while_a_series_runs(ready, backend):
    async with ready.run_test() as pilot:
        screen = await start(ready, pilot, backend, STARTED, RunFinished(run=run_at(1, 1e8)))
        await press(ready, pilot, "f2")
        assert isinstance(ready.screen, NotebookScreen)
        await hand_out(ready, pilot, backend, RunFinished(run=run_at(2, 1e8)))
        await press(ready, pilot, "f3")
        assert ready.screen is screen, "the way back to the guide is the way back to the series"
        await hand_out(ready, pilot, backend, None)
        await measured(ready, pilot)
        assert "Complete: 2 runs" in painted(ready)
        await press(ready, pilot, "enter")
        assert isinstance(ready.screen, GuideScreen)


async def test_a_series_that_was_left_is_reviewed_when_the_guide_is_opened_again(tmp_path, backend):
    path = tmp_path / "notebook.db"
    backend.script = queue.Queue()
    with Notebook(path) as notebook:
        notebook.remember(MEMORY_KEY, READY.to_memory())
    app = app_on(path, backend=backend)
    app.context.logins.keep(SMB, Secrets(password="practice"))
    async with app.run_test(size=(100, 32)) as pilot:
        await press(app, pilot, "f3")
        await start(
            app, pilot, backend, STARTED, RunFinished(run=run_at(1, 1e8)), RunFinished(run=run_at(2, 1e8)), None
        )
        await measured(app, pilot)
        await press(app, pilot, "f2", "f3")
        assert isinstance(app.screen, GuideScreen)
        assert app.screen.session.choices.step is MethodStep.REVIEW
        assert app.screen.session.choices.series_id == last_series(path).id
        await press(app, pilot, "f2", "f3")
        assert app.screen.session.choices.step is MethodStep.REVIEW


async def test_a_series_that_a_crash_left_is_completed(guide_app, backend):
    left = series([1e8, 1.01e8], status=SeriesStatus.INTERRUPTED, plan=plan_with(runs=5, warmups=2))
    with Notebook(guide_app.context.notebook_path) as notebook:
        notebook.add(left)
        notebook.remember(MEMORY_KEY, replace(READY, series_id=left.id).to_memory())
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        assert "Resume where it stopped" in painted(guide_app)
        await press(guide_app, pilot, "enter")
        await measured(guide_app, pilot)
        assert backend.resumed == [left.id]
        await press(guide_app, pilot, "enter")
        screen = guide_app.screen
        assert isinstance(screen, GuideScreen)
        assert screen.session.choices.step is MethodStep.REVIEW
    with Notebook(guide_app.context.notebook_path) as notebook:
        assert len(notebook.series(left.id).measured()) == 5


async def test_a_series_that_was_deleted_meanwhile_is_measured_anew(guide_app, backend):
    with Notebook(guide_app.context.notebook_path) as notebook:
        notebook.remember(MEMORY_KEY, replace(READY, step=MethodStep.REVIEW, series_id="feedfeedfeed").to_memory())
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        screen = guide_app.screen
        assert isinstance(screen, GuideScreen)
        assert screen.session.choices.step is MethodStep.RUN
        assert "★ Start" in painted(guide_app)


async def test_once_the_last_run_has_ended_all_charts_are_drawn(ready, backend, monkeypatch):
    monkeypatch.setattr(recording, "REDRAW_SECONDS", 3600.0)
    monkeypatch.setattr(recording, "PART_SECONDS", 3600.0)
    async with ready.run_test(size=(120, 40)) as pilot:
        screen = await start(ready, pilot, backend, STARTED, RunStarted(number=1, phase=Phase.MEASURED, of=2))
        for number in (1, 2):
            await hand_out(ready, pilot, backend, RunFinished(run=replace(run_at(number, number * 1e9), progress=())))
            screen.tick()
        assert not re.search(r"\n2 +█+", painted(ready))
        await hand_out(ready, pilot, backend, Finished())
        await settled(ready, pilot)
        assert re.search(r"\n2 +█+", painted(ready))
        assert "tidying up" in painted(ready)
        await hand_out(ready, pilot, backend, None)
        await measured(ready, pilot)


@pytest.mark.parametrize(("spare", "named"), [(0, True), (-1, False)])
def test_this_machine_is_named_where_there_is_room(spare: int, named: bool):
    machine = MachineNow(
        cpu_percent=34, interface="eth0", received_bytes_per_second=1e8, sent_bytes_per_second=1e6, retransmitted=0
    )
    whole = f"this machine: {machine_words(machine)}"
    line = machine_line(machine, len(whole) + spare)
    assert line == (whole if named else machine_words(machine))
