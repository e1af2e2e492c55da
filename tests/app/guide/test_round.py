"""One whole round of the method and the next, by Enter and the arrow keys alone, on an outside that is made up."""

import pytest

from app.guide.screen import GuideScreen
from app.method.choices import MEMORY_KEY, GuideChoices, MethodStep
from app.tui.frame.app import SharebenchApp
from storage.notebook import Notebook
from storage.records import SeriesStatus
from tests.specs import choices_with
from tests.tui import SMB, measured, painted, press, settled


@pytest.fixture
def app(guide_app):
    return guide_app


def step_of(app: SharebenchApp) -> MethodStep:
    screen = app.screen
    assert isinstance(screen, GuideScreen)
    return screen.session.choices.step


def name_of(app: SharebenchApp) -> str:
    return type(app.screen).__name__


@pytest.mark.varied(size=1)
@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 60)])
async def test_from_the_first_screen_to_a_filled_form_and_a_second_series(app, backend, size):
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        assert step_of(app) is MethodStep.TARGET
        await press(app, pilot, "enter")
        assert name_of(app) == "BrowseScreen"
        await press(app, pilot, "enter", "enter")
        assert step_of(app) is MethodStep.FILE
        await press(app, pilot, "enter", "enter", "enter")
        assert step_of(app) is MethodStep.RUN
        await press(app, pilot, "enter")
        assert name_of(app) == "RunScreen"
        await measured(app, pilot)
        assert "Complete: 5 runs" in painted(app)
        assert "Average:" in painted(app)
        await press(app, pilot, "enter")
        assert step_of(app) is MethodStep.REVIEW
        await press(app, pilot, "enter")
        assert step_of(app) is MethodStep.EXPECTED
        assert "80 % of 1 Gb/s" in painted(app)
        await press(app, pilot, "enter")
        assert step_of(app) is MethodStep.CHANGE
        backend.rates = [150e6, 151e6, 149e6, 150e6, 150.5e6]
        await press(app, pilot, *["down"] * 3, "enter", "enter")
        await measured(app, pilot)
        await press(app, pilot, "enter", "enter")
        assert step_of(app) is MethodStep.EXPECTED
        assert "the base" in painted(app)
        assert "▲ Faster by 50 % (" in painted(app), "the verdict in words"
    first, second = backend.requests
    assert first.secrets.password == "practice"
    assert (first.experiment, first.spec.lineage.change_name) == (None, None)
    lineage = second.spec.lineage
    assert (lineage.base_id, lineage.change_name, lineage.change_value) == ("000000000001", "in-flight", "1")
    assert second.spec.settings.in_flight == 1
    with Notebook(app.context.notebook_path) as notebook:
        assert second.experiment is not None
        assert [series.id for series in notebook.experiment(second.experiment.name)] == ["000000000001", "000000000002"]
        assert {series.status for series in notebook.heads()} == {SeriesStatus.COMPLETE}


async def test_leaving_and_coming_back_resumes_where_one_was(app, tmp_path, backend):
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await press(app, pilot, "enter", "enter", "enter", "enter", "down", "enter")
        assert step_of(app) is MethodStep.WARM_UP
    again = SharebenchApp(app.context, first="guide")
    async with again.run_test() as pilot:
        await settled(again, pilot)
        assert step_of(again) is MethodStep.WARM_UP
        screen = again.screen
        assert isinstance(screen, GuideScreen)
        assert (screen.session.choices.file, screen.session.choices.quiet) == ("big.bin", "require")


async def test_going_back_loses_nothing(app):
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await press(app, pilot, "enter", "enter", "enter", "enter", "enter", "enter")
        screen = app.screen
        assert isinstance(screen, GuideScreen)
        before = screen.session.choices
        await press(app, pilot, "left", "left", "escape", "left")
        assert step_of(app) is MethodStep.TARGET
        await press(app, pilot, "right", "right", "right", "right")
        assert screen.session.choices == before


async def test_a_step_that_is_blocked_says_why(app):
    async with app.run_test(notifications=True) as pilot:
        await settled(app, pilot)
        assert "needs a target" in painted(app)
        await press(app, pilot, "right")
        assert step_of(app) is MethodStep.TARGET
        assert "file: needs a target" in [n.message for n in app._notifications]
        await press(app, pilot, "enter", "enter", "enter", "6")
        assert step_of(app) is MethodStep.FILE
        assert "review: needs a run" in [n.message for n in app._notifications]


async def test_what_was_kept_in_an_unknown_shape_is_a_fresh_start(app):
    with Notebook(app.context.notebook_path) as notebook:
        notebook.remember(MEMORY_KEY, {"step": "no such step", "target": {"what": 1}})
    async with app.run_test() as pilot:
        await settled(app, pilot)
        assert step_of(app) is MethodStep.TARGET


def test_choices_survive_the_notebook():
    choices = choices_with(step=MethodStep.RUN, target=SMB, file="a/b", file_bytes=5, until_percent=2.0, label="[x]")
    assert GuideChoices.from_memory(choices.to_memory()) == choices
