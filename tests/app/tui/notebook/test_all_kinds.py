"""The notebook screen with a recording of each kind: listed, read, opened, labelled, named, exported and deleted."""

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.widgets import Input

from app.method.next_after_recording import after_recording
from app.method.next_steps import NextStep
from app.quick.screen import QuickScreen
from app.recording.kind import KINDS
from app.tui.frame.dialogs import ConfirmDialog, PickDialog
from app.tui.notebook import compared
from app.tui.notebook.dialogs import BaselineDialog, EditDialog
from app.tui.notebook.screen import NotebookScreen
from app.tui.notebook.stored import StoredScreen
from app.tui.widgets.following import file_state
from app.tui.widgets.reading import without_resuming
from app.tui.widgets.views import AnsiView, Draw
from forms.isolation.summary import isolation_summary
from forms.isolation.verdict import IsolationDoubt
from forms.layout import Tone
from forms.report import Report, answer_field
from storage import looks
from storage.isolation import Isolation, Layer, LayerRun
from storage.load.records import PointStatus
from storage.notebook import Notebook
from storage.plan import Imitated, Settings
from storage.records import Command, RunStatus, SeriesStatus, Target
from tests.builders import book, one, run_at
from tests.diagnoses import HEALTHY
from tests.loads import full_load, point
from tests.quick_tests import RND_Q1, quick_test
from tests.recordings import MAKERS, made_up_kind
from tests.tui import app_on, here, painted, press, settled
from tests.waiting import LIMIT_SECONDS


@pytest.mark.parametrize("kind", sorted(MAKERS))
@pytest.mark.long
async def test_the_screen_takes_a_recording_of_every_kind(kind: str, tmp_path: Path):
    path = tmp_path / "notebook.db"
    with made_up_kind():
        assert kind in KINDS
        with Notebook(path) as notebook:
            made = MAKERS[kind](notebook)
        app = app_on(path)
        async with app.run_test(size=(160, 60)) as pilot:
            await settled(app, pilot)
            assert type(here(app)) is NotebookScreen
            assert "1 recording" in painted(app).splitlines()[0]
            headings, line = painted(app).splitlines()[2:4]
            assert (kind if kind != "series" else "nas/data/big.bin") in line
            answer = line[headings.index("Answer") :][:20]
            assert answer.lstrip() == answer or not answer.strip()

            await pilot.press("e")
            await settled(app, pilot)
            assert type(here(app)) is EditDialog
            app.screen.query_one("#label", Input).value = "office day"
            await pilot.press("ctrl+s")
            await settled(app, pilot)
            assert "office day" in painted(app)

            await pilot.press("b")
            await settled(app, pilot)
            assert type(here(app)) is BaselineDialog
            await pilot.press(*"before", "enter")
            await settled(app, pilot)
            with Notebook(path) as notebook:
                assert notebook.recording("before").label == "office day"
            (told,) = [one.message for one in app._notifications]
            assert told.startswith("'before' now names this recording.")
            assert ("This base will show a change of" in told) is (kind == "series")

            await pilot.press("enter")
            await settled(app, pilot)
            assert type(here(app)) is not NotebookScreen
            await pilot.press("escape")
            await settled(app, pilot)
            assert type(here(app)) is NotebookScreen

            await press(app, pilot, "d")
            assert type(here(app)) is ConfirmDialog, "it is a baseline"
            await press(app, pilot, "left", "enter")
            with Notebook(path) as notebook:
                assert notebook.recordings(parts=True) == []
            await pilot.press("u")
            await settled(app, pilot)
            with Notebook(path) as notebook:
                assert notebook.recording("before").id == made


@pytest.mark.varied
@pytest.mark.parametrize(
    ("kind", "box", "change", "shown"),
    [
        ("series", "#series-form-box", lambda book, made: book.add_run(made, run_at(77, 123.4e6)), "123,4"),
        ("load", "#report-box", lambda book, made: book.put_point(made, point(4, 777, 95.0)), "777"),
    ],
)
async def test_an_opened_page_follows_what_is_written_elsewhere_and_is_drawn_only_for_that(
    kind: str, box: str, change, shown: str, tmp_path: Path, monkeypatch
):
    path, drawn, show = tmp_path / "notebook.db", [], AnsiView.show
    with Notebook(path) as notebook:
        made = MAKERS[kind](notebook)

    def noted(view: AnsiView, draw: Draw | None) -> None:
        drawn.append(view)
        show(view, draw)

    monkeypatch.setattr(AnsiView, "show", noted)
    app = app_on(path)
    async with app.run_test(size=(80, 10)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "enter", "down", "down")
        page, at = here(app), here(app).query_one(box).scroll_y
        assert at == 2
        assert shown not in page.query(AnsiView).first().drawn_text
        drawn.clear()
        book(path, one(9))
        page._look_again()
        await settled(app, pilot)
        assert page._seen_state == file_state(path), "it has looked"
        assert not drawn, "another recording is none of its business"
        with Notebook(path) as notebook:
            change(notebook, made)
        async with asyncio.timeout(LIMIT_SECONDS):
            while not drawn:
                await pilot.pause(0.05)  # the page looks by itself
        await settled(app, pilot)
        assert shown in page.query(AnsiView).first().drawn_text
        assert page.query_one(box).scroll_y == at, "who reads on is not taken back to the top"
        with Notebook(path) as notebook:
            notebook.remove(made)
        page._look_again()
        await settled(app, pilot)
        assert here(app) is page, "what was deleted elsewhere stays to be read"


@pytest.mark.varied
@pytest.mark.parametrize(
    ("kind", "detail"),
    [
        ("trial", "p-value:"),
        ("isolation", "Costliest in smbd"),
        ("load", "Kinds of request"),
        ("compare", "Side by side"),
    ],
)
async def test_the_statistics_of_a_result_are_shown_only_when_asked(kind: str, detail: str, tmp_path: Path):
    path = tmp_path / "notebook.db"
    if kind == "compare":
        both = [one(number, (1e8, 1.01e8, 0.99e8)) for number in (1, 2)]
        app = app_on(book(path, *both), first="compare", base=both[0].id, other=both[1].id)
    else:
        with Notebook(path) as notebook:
            made = MAKERS[kind](notebook)
        app = app_on(path, first="stored", recording_id=made)
    async with app.run_test(size=(160, 60)) as pilot:
        await settled(app, pilot)
        assert "Verdict:" not in painted(app), "it stands above"
        for _ in range(2):
            assert detail not in painted(app)
            await press(app, pilot, "m")
            assert detail in painted(app)
            await press(app, pilot, "m")


@pytest.mark.parametrize(("status", "sought"), [(PointStatus.VALID, True), (PointStatus.FAILED, False)])
async def test_a_load_whose_limit_was_not_reached_leads_to_the_search_for_it(tmp_path: Path, status, sought):
    load = full_load(points=(point(1, 10), point(2, 20, status=status)))
    steps = {step.name: step for step in after_recording("load", load)}
    step = steps.get("Find its limit: as many users as it carries")
    assert (step is not None) is sought
    if step:
        app = app_on(tmp_path / "notebook.db", first=step.screen, users=str(step.arguments["users"]))
        async with app.run_test(size=(80, 24)) as pilot:
            await settled(app, pilot)
            assert here(app).typed_texts()["users"] == "capacity"


@pytest.mark.varied
@pytest.mark.parametrize(
    ("kind", "first"),
    [
        ("load", "Load it again, for longer or with other users"),
        ("isolation", "Resume it"),
        ("trial", "Read about strict sync"),
        ("audit", "Measure a file"),
        ("diagnosis", "Resume it"),
        ("survey", "Choose a setting to try: the catalogue"),
    ],
)
async def test_enter_on_a_result_offers_what_can_follow_it(kind: str, first: str, tmp_path: Path):
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        made = MAKERS[kind](notebook)
    app = app_on(path, first="stored", recording_id=made)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "enter")
        assert type(here(app)) is PickDialog
        assert f"★ {first}" in painted(app)
        await press(app, pilot, "enter")
        assert type(here(app)) not in {PickDialog, StoredScreen}


async def test_a_page_that_one_comes_back_to_is_pointed_at_again(tmp_path: Path):
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        below, above = MAKERS["load"](notebook), MAKERS["diagnosis"](notebook)
    app = app_on(path, first="stored", recording_id=below)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        app.visit("stored", recording_id=above)
        await settled(app, pilot)
        assert app.context.pointed == above
        await press(app, pilot, "escape")
        assert app.context.pointed == below


@pytest.mark.varied
@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_more_comes_into_sight_and_escape_closes_it_first(size: tuple[int, int], tmp_path: Path):
    """What a long page shows more of lies far below its top."""
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        notebook.add_recording(looks.recording_of(replace(HEALTHY, status=SeriesStatus.COMPLETE)))
    app = app_on(path, first="stored", recording_id=HEALTHY.id)
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        page = painted(app)
        # The first of the rows that more of is shown; on a small screen it fills that.
        headings = ("Requests after", "Largest TCP segment")
        assert not any(heading in page for heading in headings)
        await press(app, pilot, "m")
        assert any(heading in " ".join(painted(app).split()) for heading in headings)

        await press(app, pilot, "escape")
        assert painted(app) == page, "it is as before"
        assert type(here(app)) is StoredScreen
        await press(app, pilot, "escape")
        assert type(here(app)) is not StoredScreen


async def test_before_a_result_is_read_it_has_no_next_step(tmp_path: Path):
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        made = MAKERS["load"](notebook)
    app = app_on(path, first="stored", recording_id=made)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        assert here(app).check_action("next", ()) is True
        here(app).recorded = ()
        assert here(app).check_action("next", ()) is False


async def test_an_isolation_whose_rounds_vary_is_repeated_with_twice_as_much(tmp_path: Path):
    rates = ((10.0, 100.0), (90.0, 100.0), (20.0, 100.0))
    runs = tuple(
        LayerRun(round=turn, layer=layer, clients=4, seconds=3, bytes_per_second=1e6 * rate)
        for turn, pair in enumerate(rates, 1)
        for layer, rate in zip(
            (Layer.SERVER, Layer.DISK_WITH_NETWORK, Layer.NETWORK_WITH_DISK), (*pair, 100.0), strict=True
        )
    )
    found = Isolation(
        id="a", created_at="2026-01-31T10:00:00.000Z", script="office", clients=(4,), rounds=3, seconds=3, runs=runs,
        target=Target(protocol="smb", host="nas", share="data"), status=SeriesStatus.COMPLETE,
    )  # fmt: skip
    assert isolation_summary(found).verdict.doubts[:1] == (IsolationDoubt.VARYING,)
    step = next(after_recording("isolation", found))
    assert (step.name, step.screen) == ("Isolate again, 6 rounds of runs of 6 s", "isolation")
    assert step.arguments == {"target": "smb://nas/data", "rounds": "6", "seconds": "6"}
    app = app_on(tmp_path / "notebook.db", first="isolation", target="smb://nas/data", rounds="6", seconds="6")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        typed = here(app).typed_texts()
        assert {name: typed[name] for name in ("target", "rounds", "seconds", "clients")} == {
            "target": "smb://nas/data", "rounds": "6", "seconds": "6", "clients": "1,4,8",
        }  # fmt: skip
    stopped = next(after_recording("isolation", replace(found, status=SeriesStatus.INTERRUPTED)))
    assert (stopped.screen, stopped.arguments) == ("stored", {"recording_id": "a"})
    short = replace(found, seconds=2)
    assert next(after_recording("isolation", short)).arguments["seconds"] == "5", "as long as usual, at least"
    few = replace(found, runs=runs[:2])
    diagnose = "Find out what users wait for: diagnose"
    for layer, told in ((Layer.SERVER, "Isolate again, 6 rounds of runs of 6 s"), (Layer.DISK, diagnose)):
        broken = LayerRun(round=2, layer=layer, clients=4, seconds=3, status=RunStatus.FAILED, error="no")
        some = replace(few, runs=(*few.runs, broken))
        assert next(after_recording("isolation", some)).name == told, "what never worked lacks more than time"
    assert next(after_recording("isolation", few)).name == diagnose, "it lacks what more rounds do not bring"
    clear = [replace(run, bytes_per_second=2e7 if run.layer is Layer.SERVER else 1e8) for run in runs]
    partly = replace(found, runs=(*clear, replace(broken, layer=Layer.SERVER)))
    names = [step.name for step in after_recording("isolation", partly)]
    assert names[0] == "Read about case sensitive", "first what the answer advises"
    assert "Isolate again, 6 rounds of runs of 6 s" in names[1:], "as a part of the runs failed"
    assert len(set(names)) == len(names), "each once"


@pytest.mark.parametrize(("spread", "is_first"), [(0.101, True), (0.099, False)])
def test_measuring_again_is_first_where_a_quick_test_asks_for_it(spread: float, is_first: bool):
    quick = quick_test({(RND_Q1, Command.GET): [14e6 * (1 - spread), 14e6, 14e6 * (1 + spread)]})
    screens = [step.screen for step in after_recording("quick", quick)]
    assert screens.index("quick") == (0 if is_first else 2)


@pytest.mark.parametrize(("command", "is_first"), [(Command.GET, False), (Command.PUT, True)])
def test_measuring_again_is_last_after_a_repeat_that_was_no_quieter(command: Command, is_first: bool):
    rates = [10e6, 14e6, 18e6]
    quick = quick_test({(RND_Q1, Command.GET): rates})
    before = quick_test({(RND_Q1, command): rates}, id="aa00aa00aa00")
    screens = [step.screen for step in after_recording("quick", quick, before, before.id)]
    assert screens.index("quick") == (0 if is_first else len(screens) - 1)


def test_a_quick_test_is_measured_again_as_it_was():
    quick = quick_test(link_bits_per_second=2_500_000_000, settings=Settings(like=Imitated.WINDOWS_10))
    arguments = next(step.arguments for step in after_recording("quick", quick) if step.screen == "quick")
    assert arguments == {
        "target": "smb://alice@nas/data/tests", "size": "1G", "link": "2.5G", "like": Imitated.WINDOWS_10,
    }  # fmt: skip
    typed = {"label": "", **{key: str(value) for key, value in arguments.items()}}
    assert QuickScreen.parse(typed).link_bits_per_second == 2_500_000_000
    unknown = replace(quick, target=None, program="CrystalDiskMark")
    assert all(not step.arguments for step in after_recording("quick", unknown) if step.screen == "quick")


@pytest.mark.parametrize(
    ("kind", "first"),
    [("isolation", "Isolate again"), ("trial", "Choose a")],
)
def test_without_advice_of_its_own_a_result_leads_on_by_its_kind(kind: str, first: str):
    assert next(step.name for step in after_recording(kind, None)).startswith(first)


@pytest.mark.parametrize(
    ("more", "offered"), [({}, True), ({"imported_at": "2026-02-01T10:00:00.000Z"}, False), ({"running": True}, False)]
)
def test_what_was_interrupted_leads_to_where_it_is_resumed_unless_it_runs_or_was_imported(more, offered: bool):
    step, other = NextStep(name="Open it, to resume it", screen="stored"), NextStep(name="x", screen="audit")
    head: Any = SimpleNamespace(**({"running": False, "imported_at": None} | more))
    assert [one.name for one in without_resuming([step, other], head)] == ([step.name] * offered) + ["x"]


@pytest.mark.parametrize(("tone", "is_first"), [(Tone.GOOD, True), (Tone.CAUTION, False)])
async def test_after_a_comparison_in_which_all_is_well_the_way_back_comes_first(
    tone: Tone, is_first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    page = Report(form="comparison", title="Compared", name="Comparison", fields=(answer_field("So it is.", tone),))
    monkeypatch.setattr(compared, "comparison_report", lambda _notebook, ids: page)
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        notebook.add_recording(looks.recording_of(replace(HEALTHY, status=SeriesStatus.COMPLETE)))
    app = app_on(path, first="compared", ids=(HEALTHY.id, HEALTHY.id))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "enter")
        dialog = here(app)
        assert isinstance(dialog, PickDialog)
        names = [name for _, name in dialog.rows]
        assert ("Finish" in names[0]) is is_first
        assert ("Finish" in names[-1]) is not is_first
