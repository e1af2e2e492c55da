"""Two series measured again, run by run: the verdict comes first, and what cannot be measured says why."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.pilot import Pilot

from app.clients.base import OWN
from app.comparison import run_screen
from app.comparison.interleaved_progress import InterleavedProgress
from app.comparison.screen import InterleavedScreen
from app.recording.process import Paused, RunFinished, RunStarted, ScratchMade
from app.series.pace import RunPace
from app.tui.frame.app import SharebenchApp
from app.tui.frame.dialogs import MessageDialog
from app.tui.notebook.compare_screen import CompareScreen
from app.tui.widgets import recording
from app.tui.widgets.recording import PART_SECONDS, EventsHeard, MeasurementEnded
from storage.notebook import Notebook
from storage.plan import CeilingPolicy, QuietTime, Settings
from storage.records import ClientFacts, Phase, Target
from tests.builders import all_series, book, one, run_at
from tests.specs import order_with, plan_with, request_with
from tests.tui import app_on, here, measured, painted, settled

RUNS = 3
ORDER = order_with(target=Target(protocol="file", path="/x"))


def written(tmp_path: Path, **fields: Any) -> Path:
    file = tmp_path / "big.bin"
    file.write_bytes(bytes(1 << 20))
    plan = plan_with(runs=RUNS, warmups=1, quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP)
    small = replace(plan, settings=Settings(block_bytes=4096))
    target, client = Target(protocol="file", path=str(file)), ClientFacts(name=OWN, version="1")
    return book(
        tmp_path / "notebook.db",
        one(1, target=target, client=client, plan=plan, label="large blocks"),
        one(2, target=target, client=client, plan=small, label="small blocks", **fields),
    )


async def begun(app: SharebenchApp, pilot: Pilot[Any]) -> None:
    await settled(app, pilot)
    app.visit("interleaved", base=f"{1:012x}", other=f"{2:012x}", runs=RUNS)
    await settled(app, pilot)


async def test_both_are_measured_with_their_own_settings_and_judged(tmp_path: Path):
    path = written(tmp_path)
    app = app_on(path)
    async with app.run_test(size=(100, 72)) as pilot:
        await begun(app, pilot)
        assert isinstance(here(app), InterleavedScreen)
        await measured(app, pilot)
        await settled(app, pilot)
        assert isinstance(here(app), CompareScreen), "with its chart, its next step, and its export"
        shown = painted(app)
    assert (
        "The runs alternated, so that what slowed both sides down cancels out, and no earlier change shows."
        in " ".join(shown.split())
    )
    assert shown.index("so that what slowed") < shown.index("Averages"), "the answer first"
    new = all_series(path)[:2]
    assert {one.label: one.plan.settings.block_bytes for one in new if one.plan} == {
        "large blocks, interleaved": None, "small blocks, interleaved": 4096,
    }  # fmt: skip
    assert [len(one.measured()) for one in new] == [RUNS, RUNS]


async def test_an_imported_series_sends_nobody_to_its_server(tmp_path: Path):
    path = written(tmp_path, imported_at="2026-02-01T10:00:00.000Z")
    app = app_on(path)
    async with app.run_test(size=(100, 36)) as pilot:
        await begun(app, pilot)
        assert isinstance(app.screen, MessageDialog)
        assert f"series {2:012x} was imported" in " ".join(painted(app).split())
    with Notebook(path) as notebook:
        assert len(notebook.heads()) == 2


async def test_until_the_first_run_has_ended_it_says_what_it_does_and_then_how_long_it_takes(
    tmp_path: Path, monkeypatch
):
    monkeypatch.setattr(InterleavedScreen, "begin", lambda _: None)
    screen = InterleavedScreen(f"{1:012x}", f"{2:012x}", 4)
    now = [1000.0]
    app = app_on(written(tmp_path))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.push_screen(screen)
        await settled(app, pilot)
        screen.labels = ("large", "small")
        screen.todo = [request_with(order=ORDER, label=name) for name in screen.labels]
        screen.progress.pace = RunPace([5, 5], clock=lambda: now[0])
        assert screen.now() == "Pair 1 of 4: connecting"
        screen.take_event(1, ScratchMade(path="x"))
        assert screen.now() == "Pair 1 of 4: other, making the file"
        screen.take_event(0, RunStarted(number=1, phase=Phase.WARM_UP, of=1))
        screen.take_event(1, Paused())
        assert screen.now() == "Pair 1 of 4: base, warm-up 1 of 1"
        now[0] += 2
        screen.take_event(0, RunFinished(run=run_at(1, 1e8, phase=Phase.WARM_UP)))
        assert screen.now() == "Pair 1 of 4: base, warm-up 1 of 1; about 18 s left"
        for index in range(2):
            screen.take_event(index, RunFinished(run=run_at(1, 1e8)))
        assert screen.now().startswith("Pair 2 of 4; about ")


@pytest.mark.varied
@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_the_runs_of_both_fill_the_screen_and_are_drawn_between_two_runs_or_every_few_seconds(
    tmp_path: Path, monkeypatch, size
):
    now, drawn = [1000.0], []
    monkeypatch.setattr(run_screen, "monotonic", lambda: now[0])
    monkeypatch.setattr(InterleavedScreen, "begin", lambda _: None)
    screen = InterleavedScreen(f"{1:012x}", f"{2:012x}", 40)
    app = app_on(written(tmp_path))
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        app.push_screen(screen)
        await settled(app, pilot)
        screen.labels = ("large blocks", "small blocks")
        screen.todo = [request_with(order=ORDER, label=name) for name in screen.labels]
        for number in range(1, 31):
            for index in range(2):
                screen.take_event(index, RunFinished(run=run_at(number, 1e8 * (1 + index))))
        screen.tick()
        await settled(app, pilot)
        text = painted(app)
        assert "base (large blocks): 30 runs, 100.0 MB/s" in text
        assert "base 30" in text
        assert "other 30" in text
        assert "base 1 to " in text
        assert " not shown" in text
        assert "By 30 pairs so far: other is faster than base by 100.0 %" in text
        assert len([line for line in text.splitlines() if "█" in line]) >= size[1] - 14
        assert screen.query_one("#run-box").max_scroll_y == 0, "nothing is cut"

        draw = screen.draw

        def noted() -> None:
            drawn.append(now[0])
            draw()

        monkeypatch.setattr(screen, "draw", noted)
        screen.take_event(0, RunStarted(number=31, phase=Phase.MEASURED, of=None))
        now[0] += PART_SECONDS - 0.1
        screen.tick()
        assert not drawn, "it would be missing from the transfer"
        now[0] += 0.1
        screen.tick()
        assert len(drawn) == 1
        screen.tick()
        assert len(drawn) == 1
        screen.take_event(0, RunFinished(run=run_at(31, 1e8)))
        screen.tick()
        assert len(drawn) == 2, "no run is timed"
        screen.take_event(1, RunStarted(number=31, phase=Phase.MEASURED, of=None))
        screen.tick()
        assert len(drawn) == 2
        screen.control.cancelled.set()
        screen.tick()
        assert len(drawn) == 3, "that it stops is told at once"


Rates = Sequence[tuple[float, ...]]


def take_runs(progress: InterleavedProgress, rates_of_rounds: Rates, first: int = 1) -> None:
    for number, rates in enumerate(rates_of_rounds, first):
        for index, rate in enumerate(rates):
            progress.take_event(index, RunFinished(run=run_at(number, 1e8 * rate)))


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        ([(2.0, 1.0), (1.0, 1.0), (3.0, 1.0)], "Inconclusive by 3 pairs so far: "),
        ([(1.0, 1.02), (1.1, 1.0), (0.9, 1.0), (1.0, 1.05)], "Inconclusive by 4 pairs so far: other is 2 % faster"),
        ([(1.0, 1.5), (1.01, 1.5), (1.0, 1.51)], "By 3 pairs so far: other is faster than base by 50 % ("),
        ([(1.0, 0.5), (1.01, 0.5), (1.0, 0.51)], "By 3 pairs so far: other is slower than base by 50 % ("),
        ([(1.0, 1.0), (1.001, 1.0), (1.0, 1.0)], "By 3 pairs so far: other is as fast as base ("),
    ],
)
def test_what_the_pairs_say_so_far_has_its_interval_or_is_called_inconclusive(pairs: Rates, told: str):
    progress = InterleavedProgress(5)
    take_runs(progress, pairs)
    text = progress.text(("", ""), 100, 30)
    assert told in text

    all_of_them = InterleavedProgress(len(pairs))
    take_runs(all_of_them, pairs)
    assert told.replace(" so far", "") in all_of_them.text(("", ""), 100, 30)

    two = InterleavedProgress(5)
    take_runs(two, pairs[:2])
    assert "pairs" not in two.text(("", ""), 100, 30).lower()


def test_the_pairs_of_before_count_where_a_comparison_is_resumed():
    """The break lay between the runs of the fourth pair, which counts for the progress, and not for the answer."""
    before = [dict.fromkeys((1, 2, 3, 4), 100000000.0), dict.fromkeys((1, 2, 3), 200000000.0)]
    progress = InterleavedProgress(5, rates_before=before)
    assert progress.sentence(is_over=True).startswith("3 pairs of runs")
    assert "Pair 4 of 5" in progress.sentence(is_over=False)
    assert "connecting" in progress.sentence(is_over=False)
    assert "By 3 pairs so far" in progress.text(("", ""), 100, 30)

    progress.take_event(1, RunFinished(run=run_at(4, 2e8)))
    assert progress.sentence(is_over=True).startswith("4 pairs of runs")
    assert "By 3 pairs so far" in progress.text(("", ""), 100, 30)
    take_runs(progress, [(1.0, 2.0)], first=5)
    assert "By 4 pairs so far" in progress.text(("", ""), 100, 30)


def test_the_end_of_a_run_is_told_at_once_but_no_more_often_than_every_two_seconds(monkeypatch):
    ends = [RunFinished(run=run_at(number, 1e8)) for number in range(3)]
    seconds, told = iter([100.0, 100.0, 101.9, 102.0, 102.0]), []
    screen = InterleavedScreen("a", "b", 3)
    monkeypatch.setattr(recording, "monotonic", lambda: next(seconds))
    monkeypatch.setattr(recording, "get_current_worker", lambda: SimpleNamespace(is_cancelled=False))
    monkeypatch.setattr(screen, "run_worker", lambda record, **_: record())
    monkeypatch.setattr(screen, "set_interval", lambda *_: None)
    monkeypatch.setattr(screen, "post_message", lambda message: told.append(type(message)))
    screen.listen(lambda: enumerate(ends), every_seconds=1.0)
    assert told == [EventsHeard, EventsHeard, MeasurementEnded]
