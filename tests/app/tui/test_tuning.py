"""The catalogue, its entries, and the steps of an experiment."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from app.guide.screen import GuideScreen
from app.method.choices import MEMORY_KEY
from app.method.measured_place import MeasuredPlace, measured_place
from app.method.next_steps import NextStep
from app.method.rounds import branch_from, take_change
from app.trial.screen import TrialScreen
from app.tui.catalogue import CatalogueScreen
from app.tui.entry import EntryScreen
from app.tui.experiment import ExperimentScreen
from app.tui.export import ExportScreen
from app.tui.frame.app import SharebenchApp
from app.tui.frame.dialogs import PickDialog
from app.tui.notebook.compare_screen import CompareScreen
from app.tui.notebook.series_screen import SeriesScreen
from app.tui.notebook.stored import StoredScreen
from app.tui.value_dialog import ValueDialog
from app.tui.widgets.report_screen import ReportScreen
from forms.tuning.catalogue import entries, find
from forms.tuning.differences import GLOBAL
from storage.notebook import Notebook
from storage.recordings import UnknownReferenceError
from storage.records import Change, Decision, Evidence, Experiment, ExperimentKind
from tests.builders import NASTY, book, one
from tests.recordings import MAKERS
from tests.specs import choices_with, varied
from tests.tui import app_on, footer_of, here, painted, press, settled, text_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    base = one(1, (80e6, 81e6, 80e6, 79e6, 80e6), experiment="files")
    proven = Change(name="log level", value="0", previous="3", evidence=Evidence.CONFIRMED)
    faster = one(2, (90e6, 91e6, 90e6, 89e6, 90e6), experiment="files", base_id=base.id, change=proven)
    doubtful = Change(name="strict sync", value="no", evidence=Evidence.CONTRADICTED, remark="It still says Yes.")
    slower = one(3, (70e6,) * 5, experiment="files", base_id=faster.id, change=doubtful)
    return book(tmp_path / "notebook.db", base, faster, slower, one(4, experiment=NASTY))


async def test_all_entries_are_listed_in_order_of_impact_and_searched_as_one_types(path):
    app = app_on(path, first="catalogue")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert isinstance(app.screen, CatalogueScreen)
        assert painted(app).splitlines()[2].split()[:4] == ["1", "server", "signing", "Mandatory"]
        await pilot.press("f", *"strict sync")
        await settled(app, pilot)
        assert "strict sync" in painted(app).splitlines()[2]
        assert f" of {len(entries())}" in painted(app)
        await pilot.press("down", "enter")
        await settled(app, pilot)
        assert isinstance(here(app), EntryScreen)
        assert here(app).entry.name == "strict sync"


@pytest.mark.parametrize("is_sent_for", [True, False])
async def test_an_entry_that_an_audit_opened_leads_on_to_what_it_was_opened_for(path, is_sent_for):
    again = NextStep(name="Diagnose photos again", screen="diagnosis", arguments={"complaint": "small-files"})
    app = app_on(path, first="catalogue")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.visit("entry", entry="sync always", afterwards=again if is_sent_for else None)
        await settled(app, pilot)
        entry = here(app)
        assert isinstance(entry, EntryScreen)
        steps = list(entry.next_steps())
        assert (steps[0] == again) is is_sent_for
        assert next(step.screen for step in steps if step != again) == "trial"


@pytest.mark.varied
@pytest.mark.parametrize(
    ("columns", "expects"), [(80, True), (117, True), (118, False), (120, False), (147, False), (148, True)]
)
async def test_no_name_of_the_catalogue_is_cut(path, columns, expects):
    app = app_on(path, first="catalogue")
    async with app.run_test(size=(columns, 130)) as pilot:
        await settled(app, pilot)
        list_columns = app.screen.query_one("#entries-pane").region.width
        drawn = " ".join(line[:list_columns].strip(" ▁▂▃▄▅▆▇█") for line in painted(app).splitlines())
        listed = " ".join(drawn.split())
        for entry in entries()[:60]:
            assert f" {entry.rank} {entry.name}" in listed
        assert ("Mandatory is" in listed) is expects


@pytest.mark.parametrize("event", [OptionList.OptionHighlighted, OptionList.OptionSelected])
async def test_what_an_earlier_search_found_is_not_pointed_at(path, event):
    app = app_on(path, first="catalogue")
    async with app.run_test(size=(130, 36)) as pilot:
        await settled(app, pilot)
        listed = app.screen.query_one("#entries", OptionList)
        stale = event(listed, listed.options[3], 3)
        await pilot.press("slash", *"zebra")
        listed.post_message(stale)
        await settled(app, pilot)
        assert f"0 of {len(entries())}" in painted(app)
        assert entries()[3].does[:20] not in painted(app)
        assert isinstance(app.screen, CatalogueScreen)


def with_settings(path: Path, settings: Mapping[str, str]) -> str:
    """Gives the notebook a newest series, whose server has these settings; its id."""
    facts = {f"{GLOBAL}{name}": value for name, value in settings.items()}
    measured = one(9, environment={"server": facts}, created_at="2031-01-01T10:00:00.000Z")
    book(path, measured)
    return measured.id


async def test_the_cursor_stays_on_its_entry_when_the_settings_of_the_server_come_first(path):
    series_id = with_settings(path, {"strict sync": "no", "log level": "3"})
    app = app_on(path, first="catalogue", series_id=series_id)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        screen = here(app)
        as_read = screen.place
        first_as_read = screen.shown[0]
        screen.place = MeasuredPlace()
        screen._list_again()
        assert screen.shown[0] != first_as_read, "before the server was read, the list is in the usual order"
        await pilot.press("end")
        await settled(app, pilot)
        last = screen.pointed

        screen._take_place(as_read)
        await settled(app, pilot)
        assert screen.shown[0] == first_as_read
        assert screen.pointed == last
        assert screen.shown[screen.query_one("#entries", OptionList).highlighted] == last


async def test_what_a_search_finds_beside_the_catalogue_counts_in_the_total(path):
    with_settings(path, {"zebra stripes": "yes"})
    app = app_on(path, first="catalogue")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        assert f"{len(entries())} of {len(entries())}" in text_of(app.screen, "#found")
        await pilot.press("f", *"zebra")
        await settled(app, pilot)
        assert f"1 of {len(entries()) + 1}" in text_of(app.screen, "#found")


async def test_a_search_that_finds_nothing_shows_nothing(path):
    app = app_on(path, first="catalogue")
    async with app.run_test(size=(130, 36)) as pilot:
        await settled(app, pilot)
        assert entries()[0].does[:20] in painted(app)
        await pilot.press("slash", *"zebra", "enter", "enter")
        await settled(app, pilot)
        assert f"0 of {len(entries())}" in painted(app)
        assert entries()[0].does[:20] not in painted(app)
        assert isinstance(app.screen, CatalogueScreen)


async def test_the_commands_name_the_smb_conf_of_the_server_that_is_measured(path):
    with Notebook(path) as notebook:
        notebook.remember(MEMORY_KEY, choices_with(smb_conf="/srv/samba/smb.conf").to_memory())
    app = app_on(path, first="entry", entry="strict sync")
    async with app.run_test(size=(80, 40)) as pilot:
        await settled(app, pilot)
        assert "testparm -s /srv/samba/smb.conf" in here(app).text_to_copy()


async def test_a_value_is_chosen_or_typed_and_the_lines_follow(path):
    app = app_on(path, first="entry", entry="strict sync")
    async with app.run_test(size=(80, 40)) as pilot:
        await settled(app, pilot)
        assert "testparm -s /etc/samba/smb.conf" in here(app).text_to_copy()
        await pilot.press("v")
        assert isinstance(app.screen, ValueDialog)
        last = app.screen.query_one(OptionList).option_count - 1
        app.screen.query_one(OptionList).highlighted = last
        await pilot.press("enter")
        assert "strict sync = yes" in text_of(app.screen, "#chosen")
        await pilot.press("v", "tab", *"nonsense", "enter")
        assert "strict sync = nonsense" in text_of(app.screen, "#chosen")
        assert "! testparm refuses this value" in text_of(app.screen, "#chosen")
        await pilot.press("v", "escape")
        assert "strict sync = nonsense" in text_of(app.screen, "#chosen")


def test_the_value_of_nothing_said_is_called_the_default_once():
    named = {
        name: ValueDialog(find(name), "")._describe_value for name in ("smb encrypt", "aio read size", "strict sync")
    }
    assert named["smb encrypt"]("default") == "default"
    assert named["aio read size"]("1") == "1  (the default)"
    assert named["strict sync"]("yes") == "yes  (the default)", "which testparm writes as Yes"
    assert named["aio read size"]("0") == "0"


def test_the_default_is_the_last_value_that_a_trial_offers():
    assert ValueDialog(find("log level"), "").values[-1] == "0"
    assert ValueDialog(find("log level"), "").values[:2] == ["1", "2"], "the others in their order"


@pytest.mark.long
async def test_what_is_pointed_at_in_the_catalogue_can_be_tried_at_once(path):
    app = app_on(path, first="catalogue")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "f", *"wide links", "enter")
        assert "t Try" not in footer_of(app), "sharebench cannot change it"
        await press(app, pilot, "f", "ctrl+u", *"strict sync", "enter")
        assert "t Try" in footer_of(app)
        await press(app, pilot, "t")
        assert isinstance(app.screen, ValueDialog), "which value is asked"
        await press(app, pilot, "enter")
        trial = next(one for one in app.screen_stack if isinstance(one, TrialScreen))
        assert trial.setting == "strict sync = no"


async def test_what_a_narrow_list_cuts_stands_below_it(path):
    app = app_on(path, first="catalogue")
    async with app.run_test(size=(80, 24)) as pilot:
        await press(app, pilot, "down")
        assert " ".join(entries()[1].expect.split()) in " ".join(painted(app).split())


async def test_the_arrows_lead_from_the_last_value_to_the_line_and_back(path):
    app = app_on(path, first="entry", entry="strict sync")
    async with app.run_test(size=(80, 40)) as pilot:
        await settled(app, pilot)
        await pilot.press("v")
        values, line = app.screen.query_one(OptionList), app.screen.query_one("#answer")
        values.highlighted = values.option_count - 2
        await pilot.press("down")
        assert (app.screen.focused, values.highlighted) == (values, values.option_count - 1)
        await pilot.press("down")
        assert (app.screen.focused, values.highlighted) == (line, values.option_count - 1)
        await pilot.press("up")
        assert (app.screen.focused, values.highlighted) == (values, values.option_count - 1), "the one above the line"
        values.highlighted = 0
        await pilot.press("up")
        assert (app.screen.focused, values.highlighted) == (line, 0)
        await pilot.press("v", "q", "backspace", "up", "up", "enter")
        assert "strict sync = no" in text_of(app.screen, "#chosen"), "back in the list"
        await pilot.press("v", *"q?4n", "enter")
        assert "strict sync = q?4n" in text_of(app.screen, "#chosen"), "what is typed over the list is the value"


async def test_what_is_removed_can_be_read_but_not_taken(path):
    app = app_on(path, first="entry", entry="read size")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        assert "Removed" in text_of(app.screen, "#chosen")
        await pilot.press("v", "t", "n", "enter")
        assert isinstance(app.screen, EntryScreen)


@pytest.mark.varied(entry=4)
@pytest.mark.parametrize(
    ("entry", "is_tried"),
    [
        ("strict sync", True),
        ("vm.dirty_ratio", True),
        ("smb3 directory leases", True),
        ("mount.cifs rsize", False),
        ("I/O scheduler", False),
        ("MTU", False),
        ("interfaces", False),
        ("write cache size", False),
    ],
)
async def test_try_is_offered_where_sharebench_can_change_it_and_by_hand_elsewhere(path, entry, is_tried):
    app = app_on(path, first="entry", entry=entry)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        footer = painted(app).splitlines()[-1]
        assert ("t Try" in footer) is is_tried
        is_removed = here(app).entry.name == "write cache size"
        assert ("⏎ Next…" in footer) is not is_removed
        assert ("n By hand" in footer) is not is_removed
        await press(app, pilot, "t")
        assert isinstance(here(app), EntryScreen) is not is_tried


@pytest.mark.parametrize("from_list", [True, False])
async def test_trying_a_setting_of_this_client_measures_with_it(path, from_list):
    in_list, alone = (
        app_on(path, first="catalogue", words="in-flight"),
        app_on(path, first="entry", entry="in-flight"),
    )
    app = in_list if from_list else alone
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        footer = painted(app).splitlines()[-1]
        assert "t Try" in footer
        assert "n By hand" not in footer
        if not from_list:
            assert [one.name for one in here(app).next_steps()] == ["Measure with it: it is applied automatically"]
            await press(app, pilot, "v")
        else:
            await press(app, pilot, "t")
        await press(app, pilot, *"7", "enter")
        if not from_list:
            await press(app, pilot, "t")
        await settled(app, pilot)
        guide = app.screen
        assert isinstance(guide, GuideScreen)
        chosen = guide.session.choices
        assert (chosen.spec.lineage.change_name, chosen.spec.lineage.change_value) == ("in-flight", "7")


@pytest.mark.parametrize("entry", ["in-flight", "strict sync"])
async def test_a_change_chosen_while_something_is_measured_leaves_the_guide_as_it_is(path, entry, monkeypatch):
    app, measured = app_on(path, first="notebook"), CatalogueScreen()
    monkeypatch.setattr(measured, "quit_question", lambda: "It is measured. Stop it?")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await app.push_screen(measured)
        with Notebook(path) as notebook:
            series = notebook.heads(1)[0].id
        app.visit("entry", entry=entry, series_id=series)
        await settled(app, pilot)
        assert isinstance(here(app), EntryScreen)
        with Notebook(path) as notebook:
            before = notebook.remembered(MEMORY_KEY)
        await press(app, pilot, "t")
        assert app.screen_stack[-1] is measured
        with Notebook(path) as notebook:
            assert notebook.remembered(MEMORY_KEY) == before


async def test_enter_on_an_entry_lists_what_can_be_done_with_it(path, monkeypatch):
    visited = []
    monkeypatch.setattr(SharebenchApp, "visit", lambda _, name, **how: visited.append((name, how)))
    app = app_on(path, first="entry", entry="strict sync")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, PickDialog)
        assert [line for _, line in app.screen.rows] == [
            "★ Let sharebench change, measure and restore it",
            "  Change it by hand, then measure",
        ]
        await press(app, pilot, "enter")
        assert visited == [("trial", {"setting": "strict sync = no"})]


def test_by_hand_starts_from_the_newest_series_where_the_guide_has_none(path):
    with Notebook(path) as notebook:
        notebook.remember(MEMORY_KEY, None)
        chosen = take_change(notebook, (), "in-flight", "1")
        newest = notebook.heads(1)[0]
    assert (chosen.spec.lineage.change_name, chosen.spec.lineage.change_value) == ("in-flight", "1")
    assert (chosen.spec.lineage.base_id, chosen.spec.settings.in_flight) == (newest.id, 1)


@pytest.mark.parametrize(("named", "kept"), [("", True), ("the guide's", True), ("the other", False)])
def test_a_change_keeps_what_was_chosen_for_the_series_that_the_guide_is_at(tmp_path, named, kept):
    with Notebook(book(tmp_path / "two.db", one(1), one(2))) as notebook:
        choices = branch_from(notebook, f"{1:012x}")
        notebook.remember(MEMORY_KEY, varied(choices, smb_conf="/srv/smb.conf").to_memory())
        at = {"": "", "the guide's": f"{1:012x}", "the other": f"{2:012x}"}[named]
        chosen = take_change(notebook, (), "in-flight", "1", at)
    assert (chosen.spec.lineage.base_id, chosen.spec.monitor.smb_conf) == (
        at or f"{1:012x}",
        "/srv/smb.conf" if kept else None,
    )


def test_a_change_of_a_series_that_is_gone_is_refused(tmp_path):
    with Notebook(book(tmp_path / "one.db", one(1))) as notebook, pytest.raises(UnknownReferenceError):
        take_change(notebook, (), "in-flight", "1", f"{2:012x}")


async def test_copying_goes_to_the_clipboard_and_to_a_file_whose_path_is_shown(path):
    app = app_on(path, first="entry", entry="log level")
    async with app.run_test(notifications=True) as pilot:
        await settled(app, pilot)
        await pilot.press("y")
        await settled(app, pilot)
        copied = path.with_name("copied.txt")
        assert app.clipboard == copied.read_text()
        assert "log level = 1" in app.clipboard
        assert any(str(copied) in note.message for note in app._notifications)


async def test_the_experiment_shows_each_change_with_what_came_of_it(path):
    app = app_on(path, first="experiment", experiment="files")
    async with app.run_test(size=(80, 36)) as pilot:
        await settled(app, pilot)
        lines = painted(app).splitlines()
        assert "files" in lines[0]
        heading = next(place for place, line in enumerate(lines) if "Verdict" in line)
        assert "? Inconclusive: 12 % faster (" in lines[1]
        assert lines[heading + 2].split()[:2] == ["0", "base"]
        assert lines[heading + 3].split()[:4] == ["1", "log", "level", "="]
        assert "+12.5 % ? Inconclusive" in " ".join(lines[heading + 3].split())
        assert "It still says Yes." in painted(app)
        await pilot.press("v")
        await settled(app, pilot)
        assert "95 % interval" in painted(app)


async def test_an_experiment_is_renamed_on_the_screen_also_for_a_guide_that_is_open(path):
    with Notebook(path) as notebook:
        notebook.remember(MEMORY_KEY, choices_with(experiment="files").to_memory())
        notebook.add(one(5, experiment="taken"))
    app = app_on(path, first="guide")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        guide = here(app)
        app.visit("experiment", experiment="files")
        await settled(app, pilot)
        await press(app, pilot, "l")
        app.screen.query_one("#answer", Input).value = "new switch"
        await press(app, pilot, "enter")
        assert "sharebench · Experiment · new switch" in painted(app)
        assert guide.session.choices.spec.lineage.experiment == "new switch"
        await press(app, pilot, "l")
        app.screen.query_one("#answer", Input).value = "taken"
        await press(app, pilot, "enter")
        assert "choose a name that is free" in " ".join(painted(app).split())
        await press(app, pilot, "escape")
        assert here(app).experiment == "new switch"
    with Notebook(path) as notebook:
        assert len(notebook.experiment("new switch")) == 3
        assert notebook.experiment("files") == []


async def test_a_wider_screen_gives_the_steps_its_room_also_when_it_is_made_wider(tmp_path):
    change = Change(name="socket options", value="SO_SNDBUF=131072 SO_RCVBUF=131072", previous="TCP_NODELAY")
    base = one(1, (80e6, 81e6, 80e6, 79e6, 80e6), experiment="files")
    step = one(2, (90e6,) * 5, experiment="files", base_id=base.id, change=change)
    app = app_on(book(tmp_path / "notebook.db", base, step), first="experiment", experiment="files")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        claim = "socket options = SO_SNDBUF=131072 SO_RCVBUF=131072"
        assert claim not in steps_of(app)
        await pilot.resize_terminal(120, 36)
        await settled(app, pilot)
        assert claim in steps_of(app)
        assert here(app).query_one("#steps", OptionList).highlighted == 1


def steps_of(app: SharebenchApp) -> str:
    """The list of steps as it is painted, down to the pane below it."""
    return "\n".join(painted(app).splitlines()[: 1 + here(app).query_one("#steps-pane").size.height])


@pytest.mark.long
async def test_the_catalogues_list_says_what_to_expect_where_there_is_room(path):
    app = app_on(path, first="catalogue")
    async with app.run_test(size=(80, 24)) as pilot:
        for size, room in (((80, 24), True), ((120, 36), False), ((210, 36), True)):
            await pilot.resize_terminal(*size)
            await settled(app, pilot)
            await pilot.press("down")
            line = next(line for line in painted(app).splitlines() if "durable handles" in line)
            assert ("No speed." in line) is room
            assert "…" not in line[:34]
        assert here(app).query_one("#entries", OptionList).highlighted == 3, "the cursor outlives the terminal's size"
        await pilot.press("f", *"read raw")
        await settled(app, pilot)
        assert "history: SMB1 only" in painted(app).splitlines()[2]


async def test_a_change_is_kept_or_put_back_or_open_again(path):
    app = app_on(path, first="experiment", experiment="files")

    def decision() -> Decision | None:
        with Notebook(path) as notebook:
            return notebook.series(f"{3:012x}").decision

    async with app.run_test() as pilot:
        await settled(app, pilot)
        for key, expected in (("r", Decision.REVERTED), ("k", Decision.KEPT), ("k", None)):
            await pilot.press(key)
            await settled(app, pilot)
            assert decision() is expected
            assert here(app).step.number == 2
        await pilot.press("r")
        await settled(app, pilot)
        assert "x 2 strict sync = no" in " ".join(painted(app).replace("─", " ").split())
        await pilot.press("up", "up", "k")
        await settled(app, pilot)
        assert here(app).step.decision is None


async def test_from_a_step_to_its_series_and_its_comparison(path):
    app = app_on(path, first="experiment", experiment="files")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("up", "enter")
        await settled(app, pilot)
        assert isinstance(app.screen, SeriesScreen)
        await pilot.press("escape", "c")
        await settled(app, pilot)
        assert isinstance(here(app), CompareScreen)
        assert (here(app).base_reference, here(app).other_reference) == (f"{1:012x}", f"{2:012x}")
        await pilot.press("escape", "up", "c")
        await settled(app, pilot)
        assert isinstance(here(app), ExperimentScreen)


async def test_the_newest_experiment_is_shown_and_another_can_be_chosen(path):
    app = app_on(path, first="experiment")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        assert "[bold]x[/]" in painted(app).splitlines()[0]
        await pilot.press("e")
        await settled(app, pilot)
        assert "3 series  experiment  files" in painted(app)
        await pilot.press("down", "enter")
        await settled(app, pilot)
        assert here(app).summary.name == "files"


async def test_surveys_and_self_tests_are_opened_from_the_list_and_exported(path):
    survey, half = (
        Experiment(name=f"{kind} nas", kind=kind) for kind in (ExperimentKind.SURVEY, ExperimentKind.SELFTEST)
    )
    with Notebook(path) as notebook:
        for number, experiment in enumerate((half, survey), 5):
            notebook.add_experiment(experiment)
            notebook.add(one(number, experiment=experiment.name, created_at=f"2031-01-0{number}T10:00:00.000Z"))
    app = app_on(path, first="experiment", experiment="files")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("e")
        await settled(app, pilot)
        assert re.search(r" survey +survey nas", painted(app))
        await pilot.press("enter")
        await settled(app, pilot)
        assert isinstance(here(app), ReportScreen)
        assert "Answer:" in here(app).text_to_copy()
        await pilot.press("x")
        await settled(app, pilot)
        assert isinstance(app.screen, ExportScreen)
        assert "1 to export: survey nas" in painted(app), "several surveys are not all to be Survey.html"
        await pilot.press("escape", "escape", "e")
        await settled(app, pilot)
        await pilot.press("down", "enter")
        await settled(app, pilot)
        assert "was not completed" in text_of(app.screen, ".dialog-text")


async def test_without_an_experiment_it_says_how_to_begin_one(tmp_path):
    app = app_on(book(tmp_path / "notebook.db", one(1)), first="experiment")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        assert "There is no experiment yet." in painted(app)
        assert "self-tests of the notebook are opened by e" in " ".join(painted(app).replace("│", " ").split())
        assert "e Experiments" in painted(app), "not behind keys that need an experiment"
        assert "k Keep" not in painted(app)
        await pilot.press("k", "r", "c", "v", "e", "y", "enter")
        await settled(app, pilot)
        assert isinstance(here(app), ExperimentScreen)
        assert "There is no experiment yet." in painted(app), "not an empty chart"


async def test_an_experiment_whose_series_are_gone_says_so(path):
    app = app_on(path, first="experiment", experiment="files")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        with Notebook(path) as notebook:
            for number in (1, 2, 3):
                notebook.annotate(replace(notebook.series(f"{number:012x}"), experiment=None))
        await pilot.press("k")
        await settled(app, pilot)
        assert "No experiment is called files." in painted(app)
        assert here(app).query_one("#steps", OptionList).option_count == 0
        assert here(app).text_to_copy() == ""
        assert "k Keep" not in painted(app)
        await pilot.press("k", "r", "c", "v", "y", "enter")
        await settled(app, pilot)
        assert "No experiment is called files." in painted(app), "nothing is done to what is gone"


@pytest.mark.long
async def test_a_new_step_has_the_cursor_when_one_comes_back_to_the_experiment(path):
    app = app_on(path, first="experiment", experiment="files")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("up", "f2", "E")
        await settled(app, pilot)
        assert here(app).step.series.id == f"{2:012x}", "nothing is new"
        book(path, one(5, experiment="files", base_id=f"{3:012x}"))
        await pilot.press("f2", "E")
        await settled(app, pilot)
        assert here(app).step.series.id == f"{5:012x}"


@pytest.mark.varied
@pytest.mark.parametrize("kind", ["trial", "sweep", "survey", "selftest", "repeats"])
async def test_what_is_made_of_series_is_opened_from_the_experiments_as_it_is_stored(kind, tmp_path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        MAKERS[kind](notebook)
    app = app_on(tmp_path / "notebook.db", first="experiment")
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "e", "enter")
        assert isinstance(here(app), StoredScreen)
        assert here(app).head.kind == kind
        assert f"{kind.capitalize()} · " in painted(app)


async def test_escape_leaves_a_search_before_it_leaves_the_catalogue(path):
    app = app_on(path, first="catalogue")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "f", *"strictsync")
        assert "strict sync" in painted(app).splitlines()[2], "written together"
        await press(app, pilot, "escape")
        assert isinstance(app.screen, CatalogueScreen)
        assert f"{len(entries())} of {len(entries())}" in painted(app)
        await press(app, pilot, "escape")
        assert not isinstance(app.screen, CatalogueScreen)


async def test_what_the_server_had_that_is_not_the_default_comes_first(tmp_path):
    names = {"server signing": "default", "strict sync": "no", "workgroup": "HOME"}
    facts = {f"smb.conf/global/{name}": value for name, value in names.items()}
    path = book(tmp_path / "notebook.db", one(1, environment={"server": facts}))
    app = app_on(path, first="catalogue", series_id=f"{1:012x}")
    async with app.run_test(size=(160, 36)) as pilot:
        await settled(app, pilot)
        lines = [line.split("│")[0] for line in painted(app).splitlines()]
        at = {name: next((n for n, line in enumerate(lines) if name in line), None) for name in names}
        assert at["strict sync"] is not None
        assert at["server signing"] is not None
        assert at["strict sync"] < at["server signing"]
        assert "strict sync" in lines[at["strict sync"]]
        assert "= no (not the default)" in painted(app)
        assert "= default" in painted(app)
        assert "(the default)" not in lines[at["server signing"]]
        await press(app, pilot, "end")
        assert "workgroup = HOME, when series 1 was measured" in painted(app)
    app = app_on(path, first="catalogue")
    async with app.run_test(size=(160, 36)) as pilot:
        await settled(app, pilot)
        assert f"{len(entries())} of {len(entries())}" in painted(app), "the catalogue alone, in its own order"
        assert "= no" not in painted(app)


@pytest.mark.parametrize("known", [True, False])
async def test_what_smb_conf_sets_is_marked_whether_or_not_the_catalogue_has_it(tmp_path, known):
    names = {"server signing": "default", "max open files": "16424", "smb ports": "4450"}
    facts = {f"smb.conf/global/{name}": value for name, value in names.items()}
    facts |= {"smb.conf.set": "server signing; smb ports"} if known else {}
    path = book(tmp_path / "notebook.db", one(1, environment={"server": facts}))
    with Notebook(path) as notebook:
        place = measured_place(notebook, (), f"{1:012x}")
    marks = {name: place.mark(name, "16384") for name in names}
    if known:
        assert marks == {"server signing": "set in smb.conf", "smb ports": "set in smb.conf", "max open files": ""}
        assert place.value_in_words(find("max open files")).startswith("16424 (not set in smb.conf), when")
    else:
        assert set(marks.values()) == {"not the default"}
        assert place.value_and_mark(find("max open files")) == ("16424", ""), "the catalogue does not know its default"
        assert place.value_in_words(find("max open files")).startswith("16424, when")
        assert place.mark("smb ports") == "", "whose default nobody knows"
    app = app_on(path, first="catalogue", series_id=f"{1:012x}")
    async with app.run_test(size=(160, 36)) as pilot:
        await settled(app, pilot)
        first = [one if isinstance(one, str) else one.name for one in here(app).shown[:2]]
        assert first == (["server signing", "smb ports"] if known else ["server signing", "server smb encrypt"])
        assert ("2 set in smb.conf, " in painted(app)) is known


@pytest.mark.parametrize(("kind", "value"), [(ExperimentKind.TRIAL, "0"), (ExperimentKind.STEPS, "3")])
def test_a_value_that_was_tried_and_restored_is_not_what_the_server_has(
    tmp_path: Path, kind: ExperimentKind, value: str
):
    as_it_is, tried = ({"server": {"smb.conf/global/log level": level}} for level in ("0", "3"))
    change = Change(name="log level", value="3", previous="0")
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add_experiment(Experiment(name="log level", kind=kind))
        notebook.add(one(1, environment=as_it_is, experiment="log level"))
        notebook.add(one(2, environment=tried, experiment="log level", change=change))
        assert measured_place(notebook, ()).value("log level") == value


@pytest.mark.parametrize(("tried_count", "value"), [(49, "0"), (50, "")])
def test_what_the_server_has_is_looked_for_in_the_newest_fifty_series(tmp_path: Path, tried_count: int, value: str):
    change = Change(name="log level", value="3", previous="0")
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add_experiment(Experiment(name="log level", kind=ExperimentKind.TRIAL))
        notebook.add(one(1, environment={"server": {"smb.conf/global/log level": "0"}}))
        for number in range(2, 2 + tried_count):
            moment = f"2026-02-01T10:00:{number:02d}.000Z"
            notebook.add(one(number, created_at=moment, experiment="log level", change=change))
        assert measured_place(notebook, ()).value("log level") == value


@pytest.mark.long
async def test_what_the_catalogue_lacks_is_told_of_the_server_that_a_form_is_of(tmp_path):
    facts = [{"smb.conf/global/workgroup": value, "smb.conf/global/strict sync": value} for value in ("OLD", "NEW")]
    path = book(tmp_path / "notebook.db", *(one(n, environment={"server": facts[n - 1]}) for n in (1, 2)))
    app = app_on(path)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "down", "enter")
        await settled(app, pilot)
        assert here(app).shown_series == f"{1:012x}"
        await press(app, pilot, "C", "f", *"WorkGroup")
        await settled(app, pilot)
        shown = painted(app)
        assert "What the server had · series 1" in shown
        assert f"1 of {len(entries()) + 1}" in shown
        assert "workgroup = OLD, when series 1 was measured" in shown
        assert "strict sync" not in shown
        assert "t Try" not in footer_of(app)
        await press(app, pilot, "enter", "enter")
        assert here(app).query_one("#search", Input).value == "WorkGroup", "there is no entry to open"
        await press(app, pilot, "f", *"xyz")
        await settled(app, pilot)
        assert "Neither the catalogue nor what was read of the server has it." in painted(app)


@pytest.mark.parametrize(("share", "value", "word"), [("Yes", "Yes", "the default"), (None, "No", "not the default")])
@pytest.mark.long
async def test_an_entry_says_what_the_server_had_and_names_the_share_of_the_newest_series(tmp_path, share, value, word):
    facts = {"smb.conf/global/strict sync": "No"} | ({"smb.conf/share/strict sync": share} if share else {})
    app = app_on(book(tmp_path / "notebook.db", one(1, environment={"server": facts})), first="catalogue")
    async with app.run_test(size=(150, 40)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "f", *"strict sync")
        assert re.search(rf"server had +{value} \({word}\), when series 1 was measured", painted(app))
        assert "⏎ List" in footer_of(app)
        await press(app, pilot, "escape")
        assert here(app).query_one("#search", Input).value == ""
        await press(app, pilot, "f", *"strict sync", "enter", "enter")
        assert "To try: [data] strict sync = no" in painted(app)
