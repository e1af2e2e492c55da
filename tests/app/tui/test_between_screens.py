"""Ways from one screen to another: several compared, exports of all forms, on to measuring."""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList, Static

from app.guide.screen import GuideScreen
from app.method.choices import MEMORY_KEY, GuideChoices, MethodStep, choices_of
from app.tui.export import ExportScreen
from app.tui.frame.commands import offered
from app.tui.notebook.compare_screen import CompareScreen
from app.tui.notebook.table_screen import TableScreen
from app.tui.widgets.report_screen import ReportScreen
from forms.series.report import blank_series_report
from storage.notebook import Notebook
from storage.plan import Settings
from storage.records import Change, Command, Evidence, Series, SeriesStatus, Target
from tests.builders import book, one
from tests.specs import plan_with
from tests.tui import FakeBackend, app_on, here, painted, press, settled


@pytest.fixture
def path(tmp_path: Path) -> Path:
    ftp = Target(protocol="ftp", host="nas", path="/data/big.bin")
    change = Change(name="log level", value="0", previous="3", evidence=Evidence.CONFIRMED)
    return book(
        tmp_path / "notebook.db",
        one(1, (100e6,) * 5, target=ftp, label="FTP"),
        one(2, (70e6,) * 5, label="untuned", experiment="files"),
        one(3, (80e6,) * 5, label="tuned", experiment="files", base_id=f"{2:012x}", change=change),
        one(
            4, (60e6,) * 5, label="stopped", status=SeriesStatus.INTERRUPTED, plan=plan_with(runs=7, size_bytes=1 << 30)
        ),
    )


@pytest.mark.long
async def test_more_than_two_stand_in_the_table_with_a_verdict_each(path):
    app = app_on(path)
    async with app.run_test(size=(80, 40)) as pilot:
        await settled(app, pilot)
        await pilot.press("end", "space", "up", "space", "up", "space", "c")
        await settled(app, pilot)
        assert isinstance(app.screen, TableScreen)
        assert any(line.split()[:1] == ["get"] for line in painted(app).splitlines())
        copied = here(app).text_to_copy()
        assert "70.0" in copied
        assert copied.count("Inconclusive") + copied.count("Slower") >= 2
        assert [line.split()[0] for line in copied.splitlines() if "█" in line] == ["FTP", "untuned", "tuned"]
        await pilot.press("y")
        await settled(app, pilot)
        assert path.with_name("copied.txt").read_text() == copied
        await pilot.press("enter")
        await settled(app, pilot)
        assert "Compare just these two: untuned against FTP" in painted(app)
        await pilot.press("down", "enter")
        await settled(app, pilot)
        assert isinstance(app.screen, CompareScreen)


@pytest.mark.varied
@pytest.mark.parametrize(
    ("screen", "arguments", "expected"),
    [
        ("compare", {"base": f"{2:012x}", "other": f"{3:012x}"}, "log level"),
        ("table", {"ids": [f"{1:012x}", f"{2:012x}", f"{3:012x}"]}, "FTP"),
        ("experiment", {"experiment": "files"}, "log level"),
    ],
)
async def test_comparisons_and_experiments_are_exported_as_well(path, screen, arguments, expected):
    app = app_on(path, first=screen, **arguments)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("x")
        await settled(app, pilot)
        assert isinstance(app.screen, ExportScreen)
        if app.screen.is_page:
            await press(app, pilot, "ctrl+o")
        app.screen.query_one(OptionList).highlighted = 0
        await settled(app, pilot)
        app.screen.query_one("#path", Input).value = str(path.with_name("out.txt"))
        await pilot.press("enter", "enter")
        await settled(app, pilot)
        assert expected in path.with_name("out.txt").read_text()


async def test_a_series_is_measured_again_with_the_same_choices(path):
    app = app_on(path, backend=FakeBackend())
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("down", "a")
        await settled(app, pilot)
        screen = app.screen
        assert isinstance(screen, GuideScreen)
        assert (screen.session.choices.step, screen.session.choices.series_id) == (MethodStep.RUN, None)
        assert (screen.session.choices.file, screen.session.choices.file_bytes) == ("big.bin", 1 << 30)


@pytest.mark.parametrize(
    ("number", "key", "step"),
    [
        (3, "n", MethodStep.TARGET),
        (3, "f3", MethodStep.REVIEW),
        (4, "n", MethodStep.REVIEW),
    ],
)
@pytest.mark.long
async def test_a_new_measurement_begins_with_its_target_once_the_last_one_is_complete(path, number, key, step):
    with Notebook(path) as notebook:
        choices = choices_of(notebook.series(f"{number:012x}"))
        left = replace(choices, step=MethodStep.REVIEW, series_id=f"{number:012x}")
        notebook.remember(MEMORY_KEY, left.to_memory())
    app = app_on(path, backend=FakeBackend())
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await press(app, pilot, key)
        assert here(app).session.choices.step is step
        await press(app, pilot, "f2", key)
        assert here(app).session.choices.step is step


async def test_an_interrupted_series_is_gone_on_with(path):
    app = app_on(path, backend=FakeBackend())
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("a")
        await settled(app, pilot)
        screen = app.screen
        assert isinstance(screen, GuideScreen)
        assert (screen.session.choices.step, screen.session.choices.series_id) == (MethodStep.RUN, f"{4:012x}")
        assert screen.session.choices.spec.counts.runs == 7
        await pilot.press("f1")


async def test_from_any_rung_a_new_branch(path):
    app = app_on(path, backend=FakeBackend(), first="experiment", experiment="files")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("up", "n")
        await settled(app, pilot)
        screen = app.screen
        assert isinstance(screen, GuideScreen)
        assert (screen.session.choices.step, screen.session.choices.series_id) == (MethodStep.CHANGE, f"{2:012x}")
        assert screen.session.choices.spec.lineage.experiment == "files"
    with Notebook(path) as notebook:
        assert GuideChoices.from_memory(notebook.remembered(MEMORY_KEY)).series_id == f"{2:012x}"


def test_the_choices_of_a_series_that_made_its_file_make_it_again():
    put = one(1, command=Command.PUT, target=Target(protocol="smb", host="nas", share="data", path="scratch"),
              plan=plan_with(size_bytes=1 << 20, make_file=False, settings=Settings(in_flight=2)))  # fmt: skip
    choices = choices_of(put)
    assert (choices.spec.command, choices.spec.counts.size_bytes, choices.makes_file) == (Command.PUT, 1 << 20, True)
    assert choices.target == put.target
    assert choices.spec.settings.in_flight == 2
    nested = one(2, target=Target(protocol="ftp", host="nas", path="/pub/deep/big.bin"))
    assert choices_of(nested).target == Target(protocol="ftp", host="nas", path="/pub/deep")
    assert choices_of(nested).file == "/pub/deep/big.bin"


@pytest.mark.parametrize(("words", "lines"), [(5, 1), (120, 6)])
async def test_an_answer_is_never_cut_while_there_is_room_below(path, words, lines):
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(ReportScreen("An answer", lambda _: blank_series_report()))
        await settled(app, pilot)
        headline = app.screen.query_one("#headline", Static)
        headline.update(" ".join(["say"] * words))
        headline.display = True
        await settled(app, pilot)
        assert headline.region.height == lines
        assert painted(app).count("say") >= words


async def test_what_would_settle_a_pair_of_several_is_one_key_away(tmp_path):
    wild = [100e6, 140e6, 95e6, 120e6, 85e6]
    ids = [f"{number:012x}" for number in (1, 2, 3)]
    series = [
        one(number, wild[number:] + wild[:number], label=name) for number, name in zip((1, 2, 3), "abc", strict=True)
    ]
    later = [replace(each, client=replace(each.client, in_flight=n + 1)) for n, each in enumerate(series)]
    app = app_on(book(tmp_path / "notebook.db", *later), first="table", ids=ids)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        steps = [step.name for step in here(app).next_steps()]
        assert steps[0] == "b against a: Measure again with a larger file: the base first"
        assert steps[1] == "Compare just these two: b against a"


SETTLED = (100e6, 101e6, 99e6, 100.5e6, 99.5e6)


def settled_months() -> list[Series]:
    """The second and the third are twice as fast as the first, and as fast as each other."""
    return [
        one(number, [rate * factor for rate in SETTLED], label=label, link_bits_per_second=10_000_000_000)
        for number, factor, label in ((1, 1, "before"), (2, 3, "march"), (3, 3.01, "april"))
    ]


@pytest.mark.long
async def test_what_comes_next_after_a_settled_comparison_of_several_is_the_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    months = settled_months()
    path = book(tmp_path / "notebook.db", *months)
    app = app_on(path, first="table", ids=[series.id for series in months])
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(app, pilot)
        names = [step.name for step in here(app).next_steps()]
        assert names[0].startswith("Report of these 3 ")
        assert len([name for name in names if name.startswith("Compare just these two")]) == 3, "each pair once"

        await press(app, pilot, "enter", "enter")
        assert isinstance(app.screen, ExportScreen)
        assert app.screen.is_page
        await press(app, pilot, "up", "space", "down", "space", "enter")
        await press(app, pilot, *"Bonn", "enter", *"Anna", "enter", "enter")
        notes = " ".join(note.message for note in app._notifications)
        assert str(tmp_path) in notes

    page = next(tmp_path.glob("*.html")).read_text()
    assert next(tmp_path.glob("*.pdf")).read_bytes().startswith(b"%PDF")
    heading = page.index("Prepared for")  # the title before it says for whom, too
    assert heading < page.index("Bonn", heading) < page.index("Anna", heading) < page.index("Answer", heading)
    assert page.index("before → march") < page.index("march → april") < page.index("april against before")

    again = app_on(path, first="table", ids=[series.id for series in months])
    async with again.run_test(size=(120, 40)) as pilot:
        await settled(again, pilot)
        await press(again, pilot, "x")
        assert here(again).is_page, "the export of several offers the report first"
        assert again.screen.query_one("#customer", Input).value == "Bonn"
        assert again.screen.query_one("#author", Input).value == "Anna"
        assert here(again).marked == ["html", "pdf"]
        await press(again, pilot, "ctrl+o")
        assert not here(again).is_page
        assert again.screen.query_one("#formats", OptionList).option_count > 2


async def test_a_report_of_the_marked_series_is_found_in_the_palette_and_has_their_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    months = settled_months()
    app = app_on(book(tmp_path / "notebook.db", *months))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "space", "down", "down", "space")
        helps = [offer.command.help for offer in offered(app.screen) if offer.command.name == "Report"]
        assert len(helps) == 1
        assert "hand over" in helps[0].casefold()
        assert "report of these" in helps[0].casefold()

        await press(app, pilot, "r")
        assert here(app).is_page
        assert "2 to export: before, april" in painted(app)
        await press(app, pilot, "enter", "enter", "enter", "enter")
    (file,) = tmp_path.glob("*.pdf")
    assert file.name == "before-and-april.pdf"


async def test_the_report_comes_after_what_settles_an_open_comparison(tmp_path):
    wild = [100e6, 140e6, 95e6, 120e6, 85e6]
    ids = [f"{number:012x}" for number in (1, 2, 3)]
    series = [one(number, wild[number:] + wild[:number]) for number in (1, 2, 3)]
    later = [replace(each, client=replace(each.client, in_flight=n + 1)) for n, each in enumerate(series)]
    app = app_on(book(tmp_path / "notebook.db", *later), first="table", ids=ids)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        steps = [step.name for step in here(app).next_steps()]
        assert steps[-1].startswith("Report of these 3 ")
