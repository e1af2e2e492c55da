"""Review, compare and change: marking runs, undoing it, names, and the next round."""

import re
import sqlite3
from dataclasses import replace
from typing import Any

import pytest
from textual.widgets import Input, OptionList

from app.base.errors import UnreachableError
from app.guide.page_view import PageView
from app.guide.screen import GuideScreen
from app.guide.steps_view import StepsView
from app.method.choices import MEMORY_KEY, MethodStep, QuietChoice, with_made_file
from forms import wording
from storage.notebook import Notebook
from storage.records import Command, RunStatus, Series, Target
from tests.builders import series
from tests.specs import choices_with, varied
from tests.tui import SMB, app_on, footer_of, measured, painted, press, settled, text_of

MEASURED = series(
    [100e6, 101e6, 60e6, 100e6, 100.5e6],
    id="aaaaaaaaaaaa",
    target=Target(protocol="smb", host="127.0.0.1", port=4450, share="data", path="big.bin", user="bench"),
)
REVIEWING = choices_with(
    step=MethodStep.REVIEW,
    target=replace(SMB, share="data"),
    file="big.bin",
    file_bytes=1 << 30,
    quiet=QuietChoice.RECORD,
    counted=True,
    series_id=MEASURED.id,
)


@pytest.fixture
def reviewing(guide_app):
    with Notebook(guide_app.context.notebook_path) as notebook:
        notebook.add(MEASURED)
        notebook.remember(MEMORY_KEY, REVIEWING.to_memory())
    return guide_app


def status_of(app, number):
    with Notebook(app.context.notebook_path) as notebook:
        runs = notebook.series(MEASURED.id).runs
        found = [run for run in runs if run.phase.value == "measured" and run.number == number]
        return found[0].status, found[0].reason


async def test_an_unusual_run_is_flagged_with_why(reviewing):
    async with reviewing.run_test(size=(120, 40)) as pilot:
        await settled(reviewing, pilot)
        assert "not in the answer, unusual: 40.0 % slower" in painted(reviewing)


@pytest.mark.parametrize(("columns", "said"), [(80, "not in the a"), (120, "not in the answer, unusual: ")])
async def test_an_unusual_run_that_the_answer_leaves_out_says_so(reviewing, columns: int, said: str):
    async with reviewing.run_test(size=(columns, 24)) as pilot:
        await settled(reviewing, pilot)
        assert f"48.00 %  {said}" in painted(reviewing)


async def test_what_holds_now_is_cut_in_its_middle_where_it_is_too_long_and_whole_under_the_cursor(reviewing):
    conf = "/tmp/a-server-of-my-own/and-its/smb.conf"
    with Notebook(reviewing.context.notebook_path) as notebook:
        choices = varied(REVIEWING, step=MethodStep.RUN, smb_conf=conf, label="x" * 100, reviewed=True)
        notebook.remember(MEMORY_KEY, choices.to_memory())
    async with reviewing.run_test(size=(80, 24)) as pilot:
        await settled(reviewing, pilot)
        await press(reviewing, pilot, "5")
        assert "Read the server's settings…  from /tmp/a-server-…/smb.conf" in painted(reviewing)
        assert f"A label for the form…  {'x' * 30}" in painted(reviewing)
        titles = [option.title for option in reviewing.screen.query_one(PageView).page.options]
        await press(reviewing, pilot, *["down"] * titles.index("Read the server's settings…"))
        assert f"from {conf}" in painted(reviewing)


@pytest.mark.parametrize(("size", "drawn"), [((80, 24), False), ((120, 36), True), ((200, 50), True)])
async def test_the_runs_are_drawn_below_their_table_where_there_is_room(reviewing, size, drawn):
    async with reviewing.run_test(size=size) as pilot:
        await settled(reviewing, pilot)
        shown = painted(reviewing)
        assert "★ Compare" in shown
        assert ("3◆" in shown) is drawn
        assert ("z Zoom" in shown) is drawn
        assert ("What stands out is left out of the answer" in shown) is drawn, "run 3 is, by itself"
        assert "zoomed" not in shown, "an unusual run makes bars from 0 differ"
        await press(reviewing, pilot, "z")
        assert ("zoomed" in painted(reviewing)) is drawn


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_the_columns_stay_in_line_beyond_a_thousand(guide_app, size):
    with Notebook(guide_app.context.notebook_path) as notebook:
        notebook.add(replace(MEASURED, runs=series([990e6, 1005e6, 998e6, 999e6, 12001e6 / 12]).runs))
        notebook.remember(MEMORY_KEY, REVIEWING.to_memory())
    async with guide_app.run_test(size=size) as pilot:
        await settled(guide_app, pilot)
        lines = painted(guide_app).splitlines()
        ends = {line.index(" MB/s ") for line in lines if re.search(r" \d\.\d{4} ", line) and " MB/s " in line}
        assert any("1,005.0 MB/s" in line for line in lines)
        assert any("990.0 MB/s" in line for line in lines)
        assert len(ends) == 1, "the rates of all rows end in one column"


def review_that_says(
    sentences: int, guide_app, monkeypatch: pytest.MonkeyPatch, of: Series = MEASURED, step: MethodStep = REVIEWING.step
) -> None:
    said = tuple(f"! Sentence {number}: " + "long words " * 8 + "end." for number in range(1, sentences + 1))
    monkeypatch.setattr("app.guide.pages.review._facts", lambda *_: said)
    with Notebook(guide_app.context.notebook_path) as notebook:
        notebook.add(of)
        notebook.remember(MEMORY_KEY, replace(REVIEWING, step=step).to_memory())


@pytest.mark.varied
@pytest.mark.parametrize("step", [MethodStep.REVIEW, MethodStep.EXPECTED])
@pytest.mark.parametrize("size", [(80, 24), (120, 30), (120, 34), (120, 36), (200, 50)])
async def test_the_last_choice_is_above_the_keys_below_many_warnings_and_runs(guide_app, monkeypatch, size, step):
    many = series([60e6 + 1e6 * (number % 7) for number in range(14)])
    review_that_says(12, guide_app, monkeypatch, replace(MEASURED, runs=many.runs), step)
    async with guide_app.run_test(size=size) as pilot:
        await settled(guide_app, pilot)
        assert "★" in painted(guide_app)
        await press(guide_app, pilot, "end")
        page = guide_app.screen.query_one(PageView).page
        assert page is not None
        assert page.options[-1].title in painted(guide_app)


@pytest.mark.parametrize(("sentences", "is_cut"), [(6, False), (7, True)])
async def test_the_text_above_the_table_is_whole_or_says_that_there_is_more(guide_app, monkeypatch, sentences, is_cut):
    review_that_says(sentences, guide_app, monkeypatch)
    async with guide_app.run_test(size=(80, 24)) as pilot:
        await settled(guide_app, pilot)
        shown = painted(guide_app)
        assert ("… more text" in shown) is is_cut
        assert ("m More" in shown) is is_cut
        assert (shown.count("end.") == sentences) is not is_cut
        assert "★ Compare" in shown, "what is next stays in sight"
        await press(guide_app, pilot, *(["m"] if is_cut else []))
        assert f"Sentence {sentences}" in painted(guide_app)
        assert ("… the text begins above" in painted(guide_app)) is is_cut
        assert "… more text" not in painted(guide_app)


@pytest.mark.parametrize(("rows", "drawn"), [(36, False), (37, True)])
async def test_zoom_is_offered_where_warnings_leave_room_for_the_chart(guide_app, monkeypatch, rows, drawn):
    review_that_says(8, guide_app, monkeypatch)
    async with guide_app.run_test(size=(120, rows)) as pilot:
        await settled(guide_app, pilot)
        assert guide_app.screen.query_one("#page-chart").size.height == (2 if drawn else 1)
        assert ("z Zoom" in painted(guide_app)) is drawn


async def test_the_comparison_draws_what_the_runs_are_held_against(reviewing):
    with Notebook(reviewing.context.notebook_path) as notebook:
        notebook.add(replace(MEASURED, id="bbbbbbbbbbbb"))
        notebook.set_baseline("old switch", "bbbbbbbbbbbb")
        notebook.remember(MEMORY_KEY, replace(REVIEWING, reviewed=True, step=MethodStep.EXPECTED).to_memory())
    async with reviewing.run_test(size=(200, 50)) as pilot:
        await settled(reviewing, pilot)
        chart = painted(reviewing).partition("Keep it as a baseline")[2]
        assert re.search(r"baseline old switch █+▏?[^\n]* 92\.3", chart)


async def test_a_resumed_series_says_so_and_which_run_had_failed(reviewing):
    with Notebook(reviewing.context.notebook_path) as notebook:
        notebook.remove(MEASURED.id)
        failed = replace(MEASURED.runs[-1], status=RunStatus.FAILED, error="the connection ended")
        notebook.add(replace(MEASURED, resumed_at=("2026-01-31T11:22:00.000Z",), failed_attempts=(failed,)))
    async with reviewing.run_test(size=(120, 40)) as pilot:
        await settled(reviewing, pilot)
        assert "! Resumed: 2026-01-31 11:22 UTC; failed before: run 5 (the connection" in painted(reviewing)


async def test_a_run_is_marked_unusable_with_a_reason_and_taken_back(reviewing):
    async with reviewing.run_test(size=(120, 40)) as pilot:
        await settled(reviewing, pilot)
        await press(reviewing, pilot, "up", "up", "up", "enter")
        assert "Why is run 3 unusable?" in text_of(reviewing.screen, ".dialog-heading")
        await press(reviewing, pilot, "enter")
        assert "Why is run 3 unusable?" in text_of(reviewing.screen, ".dialog-heading"), "a reason is needed"
        reviewing.screen.query_one(Input).value = "[the] backup"
        await press(reviewing, pilot, "enter")
        assert status_of(reviewing, 3) == (RunStatus.REJECTED, "[the] backup")
        shown = painted(reviewing)
        assert "x 3" in shown
        assert "60.0 MB/s  48.00 %  left out: [the] backup" in shown
        assert "100.4 MB/s ± 0.8 %   80 % of 1 Gb/s   quiet time unknown   4 runs, 1 left out" in shown
        assert "With all" in shown, "both averages"
        assert "92.3 MB/s  73.84 %  the average if nothing were left out" in shown
        await press(reviewing, pilot, "u")
        assert status_of(reviewing, 3) == (RunStatus.VALID, None)
        assert "With all" not in painted(reviewing)
        await press(reviewing, pilot, "u")
        assert status_of(reviewing, 3) == (RunStatus.VALID, None), "there is nothing more to undo"


async def test_a_marked_run_is_taken_back_in_by_choosing_it_again(reviewing):
    with Notebook(reviewing.context.notebook_path) as notebook:
        notebook.judge_run(MEASURED.id, 3, RunStatus.REJECTED, "noise")
    async with reviewing.run_test() as pilot:
        await settled(reviewing, pilot)
        await press(reviewing, pilot, "up", "up", "up", "enter")
        assert status_of(reviewing, 3) == (RunStatus.VALID, None)
        await press(reviewing, pilot, "u")
        assert status_of(reviewing, 3) == (RunStatus.REJECTED, "noise")


async def test_what_could_not_be_undone_can_be_undone_later(reviewing, monkeypatch):
    def full(*_):
        raise sqlite3.OperationalError("database or disk is full")

    async with reviewing.run_test(size=(120, 40)) as pilot:
        await settled(reviewing, pilot)
        await press(reviewing, pilot, "up", "up", "up", "enter", *"backup", "enter")
        assert status_of(reviewing, 3) == (RunStatus.REJECTED, "backup")
        with monkeypatch.context() as patched:
            patched.setattr(Notebook, "judge_run", full)
            await press(reviewing, pilot, "u")
        assert "disk is full" in text_of(reviewing.screen, ".dialog-text")
        await press(reviewing, pilot, "escape")
        assert status_of(reviewing, 3) == (RunStatus.REJECTED, "backup")
        await press(reviewing, pilot, "u")
        assert status_of(reviewing, 3) == (RunStatus.VALID, None)


async def test_with_every_run_unusable_there_is_no_going_on(reviewing):
    with Notebook(reviewing.context.notebook_path) as notebook:
        for number in range(1, 6):
            notebook.judge_run(MEASURED.id, number, RunStatus.REJECTED, "noise")
    async with reviewing.run_test(notifications=True) as pilot:
        await settled(reviewing, pilot)
        screen = reviewing.screen
        assert isinstance(screen, GuideScreen)
        assert screen.query_one(OptionList).get_option_at_index(0).disabled
        await press(reviewing, pilot, "7")
        assert screen.session.choices.step is MethodStep.REVIEW
        assert "needs a valid run" in painted(reviewing)


async def test_the_comparison_uses_ftp_and_baselines(reviewing):
    ftp = series([110e6] * 5, id="bbbbbbbbbbbb", target=Target(protocol="ftp", host="127.0.0.1", path="/big.bin"))
    named = series([50e6, 51e6, 50e6, 51e6, 50e6], id="cccccccccccc")
    with Notebook(reviewing.context.notebook_path) as notebook:
        notebook.add(ftp)
        notebook.add(named)
        notebook.set_baseline("before [x]", named.id)
    async with reviewing.run_test(size=(120, 40)) as pilot:
        await settled(reviewing, pilot)
        await press(reviewing, pilot, "enter")
        shown = painted(reviewing)
        assert shown.count("baseline before [x]") == 1, "in the title"
        assert any(f" {sign} " in shown for sign in "▲▼=?")
        assert any(f"Against FTP: {sign} " in shown for sign in "▲▼=?")
        assert "★ Side by side" in shown
        await press(reviewing, pilot, "enter")
        assert type(reviewing.screen).__name__ == "CompareScreen"
        await press(reviewing, pilot, "escape")
        assert isinstance(reviewing.screen, GuideScreen)


async def test_where_ftp_was_typed_stands_there_again_when_it_did_not_answer(reviewing, backend):
    backend.errors = [UnreachableError("nothing listens on that port")]
    async with reviewing.run_test() as pilot:
        await settled(reviewing, pilot)
        await press(reviewing, pilot, "enter", "down", "enter")
        reviewing.screen.query_one(Input).value = "ftp://127.0.0.1:2121/pub"
        await press(reviewing, pilot, "enter")
        assert "nothing listens" in text_of(reviewing.screen, ".dialog-text")
        await press(reviewing, pilot, "enter", "enter")
        assert reviewing.screen.query_one(Input).value == "ftp://127.0.0.1:2121/pub"


async def test_a_series_is_kept_as_a_baseline(reviewing):
    async with reviewing.run_test(size=(120, 40)) as pilot:
        await settled(reviewing, pilot)
        await press(reviewing, pilot, "enter", "up")
        assert "Keep it as a baseline…  a name to compare with" in painted(reviewing)
        await press(reviewing, pilot, "enter")
        await press(reviewing, pilot, "enter")
        assert "a baseline cannot be called" in text_of(reviewing.screen, ".dialog-problem")
        reviewing.screen.query_one(Input).value = "before the switch"
        await press(reviewing, pilot, "enter")
        assert 'Keep it as a baseline…  is baseline "before the switch"' in painted(reviewing)
    with Notebook(reviewing.context.notebook_path) as notebook:
        assert [(b.name, b.recording_id) for b in notebook.baselines()] == [("before the switch", MEASURED.id)]


async def test_a_server_setting_is_the_one_change_of_the_next_round(reviewing):
    async with reviewing.run_test(size=(120, 40)) as pilot:
        await settled(reviewing, pilot)
        await press(reviewing, pilot, "8")
        assert f"Base: {wording.name_of(MEASURED)}, " in painted(reviewing)
        assert "This base will show a change of " in painted(reviewing)
        assert "8 interleaved pairs show a change of " in painted(reviewing)
        assert "aio read size (smb.conf)…" in painted(reviewing)
        await press(reviewing, pilot, "down", "down", "enter")
        reviewing.screen.query_one(Input).value = "strict sync"
        await press(reviewing, pilot, "enter")
        assert "not a change: 'strict sync'" in text_of(reviewing.screen, ".dialog-problem")
        for typed, told in (
            ("", "nothing was typed"),
            ("smb://nas/data", "n starts a new measurement of another target"),
        ):
            reviewing.screen.query_one(Input).value = typed
            await press(reviewing, pilot, "enter")
            assert told in text_of(reviewing.screen, ".dialog-problem")
        reviewing.screen.query_one(Input).value = "strict sync = no"
        await press(reviewing, pilot, "enter")
        assert "Change: strict sync = no (make it on the server now" in painted(reviewing)
        screen = reviewing.screen
        assert isinstance(screen, GuideScreen)
        assert (screen.session.choices.spec.lineage.base_id, screen.session.choices.series_id) == (MEASURED.id, None)
    with Notebook(reviewing.context.notebook_path) as notebook:
        assert notebook.series(MEASURED.id).experiment is None, "until it is measured, nothing was changed"


@pytest.mark.long
async def test_a_text_that_was_not_understood_is_mended_and_another_one_is_typed_over(reviewing):
    async with reviewing.run_test(size=(120, 40)) as pilot:
        await settled(reviewing, pilot)
        await press(reviewing, pilot, "5", "end", "enter", *"once", "enter", "end", "enter", *"twice")
        assert reviewing.screen.query_one(Input).value == "twice", "typed over what stood there"
        await press(
            reviewing, pilot, "escape", "8", "down", "down", "enter", *"strict sync", "enter", "enter", *" = no"
        )
        assert reviewing.screen.query_one(Input).value == "strict sync = no"


async def test_measuring_the_same_again_is_two_keys_away(reviewing, backend):
    async with reviewing.run_test() as pilot:
        await settled(reviewing, pilot)
        await press(reviewing, pilot, "5", "down", "enter")
        screen = reviewing.screen
        assert isinstance(screen, GuideScreen)
        assert screen.session.choices.series_id is None
        await press(reviewing, pilot, "enter")
        await measured(reviewing, pilot)
    assert len(backend.requests) == 1


async def test_a_step_back_from_where_a_new_round_begins_leads_to_the_round_that_was_left(reviewing):
    async with reviewing.run_test() as pilot:
        await settled(reviewing, pilot)
        await press(reviewing, pilot, "6")
        session = reviewing.screen.session
        await press(reviewing, pilot, "end", "enter")
        assert (session.choices.step, session.choices.series_id) == (MethodStep.RUN, None)
        await press(reviewing, pilot, "escape")
        assert (session.choices.step, session.choices.series_id) == (MethodStep.REVIEW, MEASURED.id)
        await press(reviewing, pilot, "end", "enter", "2", "escape")
        assert (session.choices.step, session.choices.series_id) == (MethodStep.RUN, None), "where it was jumped from"


async def test_a_step_back_keeps_what_was_chosen_for_another_measurement(reviewing):
    async with reviewing.run_test() as pilot:
        await settled(reviewing, pilot)
        session = reviewing.screen.session
        await press(reviewing, pilot, "2")
        reviewing.screen.take(with_made_file(replace(session.choices, step=MethodStep.WARM_UP), Command.PUT, 1 << 30))
        await press(reviewing, pilot, "escape")
        assert (session.choices.spec.command, session.choices.series_id) == (Command.PUT, None)
        assert session.choices.step is MethodStep.QUIET


async def test_escape_leaves_the_guide_where_a_round_was_begun_from_outside(reviewing):
    async with reviewing.run_test() as pilot:
        await settled(reviewing, pilot)
        screen = reviewing.screen
        screen.begins_anew = True
        screen._show_again()
        await settled(reviewing, pilot)
        assert screen.session.choices.series_id is None
        assert not screen.session.has_just_begun


@pytest.mark.long
async def test_escape_leads_back_to_the_screen_that_a_round_was_begun_on(reviewing):
    app: Any = app_on(reviewing.context.notebook_path)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        app.visit("series", series_id=MEASURED.id)
        await settled(app, pilot)
        form = app.screen
        change = next(step for step in form.next_steps() if step.name == "Change one thing")
        for leaves in (("escape",), ("4", "8", "escape")):
            form.take_step(change)
            await settled(app, pilot)
            assert app.screen.session.choices.step == "change"
            await press(app, pilot, *leaves)
            assert app.screen is form
        form.take_step(change)
        await settled(app, pilot)
        await press(app, pilot, "4", "escape")
        guide = app.screen
        assert guide.session.choices.step == "change", "where it was jumped from"
        guide.came_with = None
        app.visit("series", series_id=MEASURED.id)
        await settled(app, pilot)
        app.visit = lambda *_, **__: None  # as where another screen measures
        app.screen.measure_with(guide.session.choices)
        assert guide.came_with is None, "one that was open leads back through its own steps"


async def test_escape_from_a_new_round_leads_to_the_series_that_was_left_last(reviewing):
    async with reviewing.run_test() as pilot:
        await settled(reviewing, pilot)
        session = reviewing.screen.session
        first = session.choices
        await press(reviewing, pilot, "n")
        reviewing.screen.take(varied(first, step=MethodStep.TARGET, label="second"))
        await settled(reviewing, pilot)
        await press(reviewing, pilot, "ctrl+r")
        assert session.choices.series_id is None
        await press(reviewing, pilot, "escape")
        assert session.choices.spec.texts.label == "second"


@pytest.mark.varied
@pytest.mark.parametrize("step", [MethodStep.TARGET, MethodStep.FILE, MethodStep.RUN])
async def test_escape_leads_back_to_the_review_that_a_new_round_was_begun_from(reviewing, step):
    async with reviewing.run_test() as pilot:
        await settled(reviewing, pilot)
        session = reviewing.screen.session
        before = session.choices
        if step is MethodStep.TARGET:
            await press(reviewing, pilot, "n")
        else:
            reviewing.screen.take(replace(before, step=step, series_id=None))
        await settled(reviewing, pilot)
        assert (session.choices.step, session.choices.series_id) == (step, None)
        if step is MethodStep.FILE:
            await press(reviewing, pilot, "n")
            assert session.choices.step == "target"
            await press(reviewing, pilot, "escape")
            assert (session.choices.step, session.choices.series_id) == (step, None)
        await press(reviewing, pilot, "escape")
        assert session.choices == before


@pytest.mark.long
async def test_a_label_typed_after_a_series_is_that_of_the_next_one_alone(reviewing, backend):
    async with reviewing.run_test() as pilot:
        await settled(reviewing, pilot)
        await press(reviewing, pilot, "5", "end", "up", "enter", *"port3", "enter")
        assert "A label for the form…  port3" in painted(reviewing)
        for _ in range(2):
            await press(reviewing, pilot, "5", "home", "down", "enter", "enter")
            await measured(reviewing, pilot)
            await press(reviewing, pilot, "enter")
    assert [request.spec.texts.label for request in backend.requests] == ["port3", ""]


@pytest.mark.parametrize(("same", "is_new"), [(True, True), (False, False)])
async def test_a_label_typed_after_an_interruption_is_still_the_next_series_once_this_one_is_resumed(
    reviewing, same: bool, is_new: bool
):
    async with reviewing.run_test() as pilot:
        await settled(reviewing, pilot)
        session = reviewing.screen.session
        session.choices = varied(session.choices, label="port3", has_new_label=True)
        next(session.remember_series(str(session.choices.series_id) if same else "f" * 12), None)
        assert session.choices.has_new_label is is_new


async def test_a_long_target_is_whole_below_its_step_at_80_by_24_and_a_click_on_it_goes_there(reviewing):
    async with reviewing.run_test(size=(80, 24)) as pilot:
        await settled(reviewing, pilot)
        screen = reviewing.screen
        assert isinstance(screen, GuideScreen)
        steps = screen.query_one(StepsView)
        target = "smb://files.example.com:4450/projects"
        steps.show([replace(steps.steps[0], detail=target), *steps.steps[1:]])
        await settled(reviewing, pilot)
        column = [line[2 : steps.size.width].strip() for line in painted(reviewing).splitlines()[1:]]
        after = next(place for place, line in enumerate(column) if "2 File" in line)
        assert "".join(column[1:after]) == target
        await pilot.click(StepsView, offset=(4, after))
        await settled(reviewing, pilot)
        assert screen.session.choices.step is MethodStep.TARGET


async def test_the_mouse_goes_to_steps_and_takes_choices(reviewing):
    async with reviewing.run_test(size=(120, 40)) as pilot:
        await settled(reviewing, pilot)
        screen = reviewing.screen
        assert isinstance(screen, GuideScreen)
        await pilot.click(StepsView, offset=(4, 3 * 6 + 1))
        await settled(reviewing, pilot)
        assert screen.session.choices.step is MethodStep.EXPECTED
        await pilot.click(OptionList, offset=(6, 0))
        await settled(reviewing, pilot)
        assert screen.session.choices.compared


async def test_a_new_measurement_keeps_how_one_measures(reviewing):
    async with reviewing.run_test() as pilot:
        await settled(reviewing, pilot)
        await press(reviewing, pilot, "n")
        screen = reviewing.screen
        assert isinstance(screen, GuideScreen)
        assert screen.session.choices == choices_with(quiet=QuietChoice.RECORD, counted=True)


async def test_all_that_decides_is_on_one_screen_of_80_by_24(reviewing):
    async with reviewing.run_test(size=(80, 24)) as pilot:
        await settled(reviewing, pilot)
        shown = painted(reviewing)
        for part in (
            "100.4 MB/s ± 0.8 % without run 3",
            "! Run 3 is unusual",
            "W2",
            "* 3",
            "Average",
            "Deviation",
            "★ Compare",
        ):
            assert part in shown, part


async def test_space_leaves_a_run_out_and_is_always_offered(reviewing):
    async with reviewing.run_test(size=(80, 24)) as pilot:
        await settled(reviewing, pilot)
        assert "space Leave out" in footer_of(reviewing), "the cursor is on the choices"
        await press(reviewing, pilot, "up")
        assert "space Leave out" in footer_of(reviewing)
        await press(reviewing, pilot, "space")
        assert "Why is run 5 unusable?" in text_of(reviewing.screen, ".dialog-heading")
        await press(reviewing, pilot, "escape", "2")
        assert "Leave out" not in footer_of(reviewing), "a page without runs"


async def test_space_asks_for_the_run_where_the_cursor_is_on_none(reviewing):
    async with reviewing.run_test(size=(80, 24)) as pilot:
        await settled(reviewing, pilot)
        await press(reviewing, pilot, "space")
        assert len(reviewing.screen.query_one(OptionList).options) == 5, "the measured runs"
        await press(reviewing, pilot, "down", "down", "enter")
        assert "Why is run 3 unusable?" in text_of(reviewing.screen, ".dialog-heading")
        await press(reviewing, pilot, *"backup", "enter")
        assert status_of(reviewing, 3) == (RunStatus.REJECTED, "backup")


async def test_the_cursor_stays_at_both_ends_of_the_review(reviewing):
    async with reviewing.run_test(size=(80, 24)) as pilot:
        await settled(reviewing, pilot)
        rows = reviewing.screen.query_one("#page-options", OptionList)
        await press(reviewing, pilot, *["up"] * 7, "enter")
        assert "Why is run 1 unusable?" in text_of(reviewing.screen, ".dialog-heading")

        await press(reviewing, pilot, "escape", "end", "down")
        assert rows.highlighted == len(rows.options) - 1


async def test_why_the_step_matters_is_in_the_help(reviewing):
    async with reviewing.run_test(size=(80, 24)) as pilot:
        await settled(reviewing, pilot)
        assert "a reason that you could tell" not in painted(reviewing)
        await press(reviewing, pilot, "f1")
        assert "a reason that you could tell" in text_of(reviewing.screen, ".dialog-box Static").replace("\n", " ")
