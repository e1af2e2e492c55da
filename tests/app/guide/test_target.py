"""The target and file steps: logging in, looking around, and everything that can be wrong with it."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from textual import events
from textual.strip import Strip
from textual.widgets import Input, OptionList

from app.base.errors import LoginError, NoSuchShareError, UnreachableError
from app.clients.base import DirectoryEntry, Secrets
from app.clients.browsing import MAKE_HERE, BrowsedFolder, Item, ItemKind
from app.guide.browse_screen import BrowseScreen, NameList
from app.guide.context import GuideContext
from app.guide.page import Option, Page, Simple, Visit
from app.guide.page_view import PageView
from app.guide.pages.target import target_page
from app.guide.screen import GuideScreen
from app.method.choices import MEMORY_KEY, GuideChoices, MethodStep, new_measurement
from app.recording.several import used_targets
from app.series.earlier_rate import measured_rate
from app.tui.frame.dialogs import AskDialog
from app.tui.frame.help import HelpDialog
from storage.notebook import Notebook
from storage.records import Change, Command, Decision, Target, format_target
from tests.builders import one, series
from tests.recordings import MAKERS
from tests.specs import choices_with
from tests.tui import SMB, folder_of, painted, press, settled, text_of
from tests.waiting import HANG_SECONDS

NASTY = "[red]a[b] \x1b[31mb\x1b[0m \u202ec.bin"
SHOWN = "[red]a[b] ␛[31mb␛[0m �c.bin"


def choices_of(app) -> GuideChoices:
    screen = next(screen for screen in app.screen_stack if isinstance(screen, GuideScreen))
    return screen.session.choices


async def test_a_wrong_password_is_asked_for_again(guide_app, backend):
    backend.errors = [LoginError("127.0.0.1 refused bench: wrong password")]
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "enter")
        assert "127.0.0.1 refused bench: wrong password. Type the password again" in text_of(
            guide_app.screen, ".dialog-text"
        )
        assert guide_app.screen.query_one(Input).password
        await press(guide_app, pilot, "s", "3", "enter")
        assert isinstance(guide_app.screen, BrowseScreen)
        assert guide_app.check_action("visit", ("guide",)) is False, "it is a part of the guide"
        assert guide_app.check_action("visit", ("notebook",))
    assert [secrets.password for secrets in backend.logins] == ["practice", "s3"]
    assert b"s3cret" not in guide_app.context.notebook_path.read_bytes()


async def test_enter_twice_asks_for_a_target_once(guide_app, backend, monkeypatch):
    monkeypatch.setenv("SHAREBENCH_PASSWORD", "s3cret")
    goes_on, look = threading.Event(), backend.look

    def slow_look(*place):
        goes_on.wait(HANG_SECONDS)
        return look(*place)

    monkeypatch.setattr(backend, "look", slow_look)
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "down", "enter")
        guide_app.screen.query_one(Input).value = format_target(SMB)
        guide_app.simulate_key("enter")
        await asyncio.sleep(0.2)
        guide_app.simulate_key("enter")
        await asyncio.sleep(0.2)
        assert not isinstance(guide_app.screen, AskDialog), "Enter reached the choice below"
        goes_on.set()
        await settled(guide_app, pilot)
        screens = [type(screen) for screen in guide_app.screen_stack]
        await press(guide_app, pilot, "escape")
    assert screens[-2:] == [GuideScreen, BrowseScreen]


TWO_FOLDERS = BrowsedFolder(
    target=Target(protocol="smb", host="nas", share="public"),
    items=tuple(Item(ItemKind.FOLDER, name) for name in ("a", "b")),
)


async def test_the_picker_says_that_a_put_needs_a_folder(guide_app):
    folder = BrowsedFolder(target=Target(protocol="smb", host="nas", share="public"), items=())
    async with guide_app.run_test(size=(80, 24)) as pilot:
        await guide_app.push_screen(BrowseScreen(folder, lambda _: None))
        await settled(guide_app, pilot)
        assert "Pick a file to get, or a folder to put into" in painted(guide_app)
        assert "create a test file in this folder, to get or to put" in painted(guide_app)
        await press(guide_app, pilot, "f1")
        assert "A put needs a folder" in " ".join(painted(guide_app).split())


async def test_a_picker_that_is_resized_while_a_folder_is_looked_into_takes_nothing_else(guide_app):
    entered: list[str] = []
    async with guide_app.run_test(size=(80, 24)) as pilot:
        await guide_app.push_screen(screen := BrowseScreen(TWO_FOLDERS, lambda item: entered.append(item.name)))
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "enter")
        await pilot.resize_terminal(100, 30)
        await settled(guide_app, pilot)
        assert text_of(screen, "#note") == "looking …"
        await press(guide_app, pilot, "enter")
        assert len(entered) == 1


@pytest.mark.varied
@pytest.mark.parametrize("comes", ["the folder above", "the same again, since that failed", "nothing yet"])
async def test_escape_in_the_picker_goes_up_as_far_as_it_was_gone_down_and_then_leaves(guide_app, comes: str):
    target = Target(protocol="smb", host="nas", share="public", path="long name")
    entered: list[str] = []

    def at(path: str) -> BrowsedFolder:
        return BrowsedFolder(target=replace(target, path=path), items=(Item(ItemKind.UP, "..", "up"),))

    async with guide_app.run_test() as pilot:
        await guide_app.push_screen(screen := BrowseScreen(at("long name"), lambda item: entered.append(item.path)))
        await settled(guide_app, pilot)
        screen.show(below := at("a/b"))
        await press(guide_app, pilot, "escape")
        assert (entered, guide_app.screen) == (["up"], screen)
        if comes != "nothing yet":
            screen.show(at("a") if comes == "the folder above" else below)
        await press(guide_app, pilot, "escape")
        assert (entered, guide_app.screen is screen) == (["up"], False)


async def test_while_a_folder_is_looked_at_no_other_is_entered(guide_app):
    entered: list[str] = []
    async with guide_app.run_test() as pilot:
        await guide_app.push_screen(screen := BrowseScreen(TWO_FOLDERS, lambda item: entered.append(item.name)))
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "enter", "enter")
        assert len(entered) == 1
        screen.show(TWO_FOLDERS)
        await press(guide_app, pilot, "enter")
        assert len(entered) == 2


async def test_what_was_chosen_in_a_folder_that_is_shown_no_more_is_not_taken(guide_app):
    entered: list[str] = []
    async with guide_app.run_test() as pilot:
        await guide_app.push_screen(screen := BrowseScreen(TWO_FOLDERS, lambda item: entered.append(item.name)))
        await settled(guide_app, pilot)
        names = screen.query_one(NameList)
        stale = NameList.OptionSelected(names, names.options[1], 1)
        names.post_message(NameList.OptionSelected(names, names.options[2], 2))
        await settled(guide_app, pilot)
        screen.show(replace(TWO_FOLDERS, items=(Item(ItemKind.FOLDER, "c"),)))
        names.post_message(stale)
        await settled(guide_app, pilot)
    assert entered == ["b"]


async def test_a_hint_for_which_there_is_no_room_stands_below_its_choice_while_that_is_highlighted(guide_app):
    async with guide_app.run_test(size=(80, 24)) as pilot:
        await settled(guide_app, pilot)
        for place in range(4):
            lines = painted(guide_app).splitlines()
            page = guide_app.screen.query_one(PageView)
            assert page.pointed is not None
            said = " ".join(" ".join(line[18:].split()) for line in lines)
            assert page.pointed.title in said
            assert page.pointed.hint in said, place
            await press(guide_app, pilot, "down")


async def test_escape_gives_up_the_login(guide_app, backend):
    backend.errors = [LoginError("refused")]
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "enter", "escape")
        assert isinstance(guide_app.screen, GuideScreen)
        assert choices_of(guide_app).target is None


async def test_a_guest_that_is_refused_is_told_and_asked_who_it_is(guide_app, backend):
    guide_app.context.practice = (replace(SMB, user=None),)
    backend.errors = [LoginError("the server takes no guests; name a user: smb://USER@HOST/SHARE")]
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "enter")
        assert "the server takes no guests" in text_of(guide_app.screen, ".dialog-text")
        await press(guide_app, pilot, *"bench", "enter")
        assert isinstance(guide_app.screen, BrowseScreen), "its password was known"


async def test_a_guest_before_a_share_of_users_is_asked_who_it_is(guide_app, backend):
    guide_app.context.practice = (replace(SMB, user=None),)
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "enter")
        backend.errors = [LoginError("smb://nas/data: guests have no access there")]
        await press(guide_app, pilot, "enter")
        assert "guests have no access there: USER or DOMAIN;USER" in text_of(guide_app.screen, ".dialog-text")
        await press(guide_app, pilot, *"bench", "enter")
        assert guide_app.screen.place.target == replace(SMB, share="data"), "one stands where one was refused"


async def test_what_was_typed_stands_there_again_until_it_has_led_somewhere(guide_app, backend, monkeypatch):
    monkeypatch.setenv("SHAREBENCH_PASSWORD", "from the environment")
    backend.errors = [UnreachableError("no way to nas")]
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "down", "enter", *"me@nas", "enter")
        assert "no way to nas" in text_of(guide_app.screen, ".dialog-text")
        await press(guide_app, pilot, "enter", "enter")
        assert guide_app.screen.query_one(Input).value == "me@nas"
        await press(guide_app, pilot, "enter")
        assert "data/" in painted(guide_app), "a server alone has its shares listed"


async def test_a_target_can_be_typed_at_once_and_its_digits_go_to_no_step(guide_app, backend, monkeypatch):
    monkeypatch.setenv("SHAREBENCH_PASSWORD", "from the environment")
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        for character in "smb://me@nas:4450":  # faster than the dialog opens
            guide_app.simulate_key(character)
        await settled(guide_app, pilot)
        assert guide_app.screen.query_one(Input).value == "smb://me@nas:4450"
        await press(guide_app, pilot, "enter")
        assert guide_app.screen.place.target == Target(protocol="smb", host="nas", port=4450, user="me")


@pytest.mark.varied(typed=4)
@pytest.mark.parametrize(
    "typed",
    [
        "192.168.1.5",
        "203.0.113.5",
        "8.8.8.8",
        "nas/data",
        "qnap",
        "music",
        "usb@nas",
        "zfs/pool",
        "Engine",
        "Cad",
        "f/e b",
    ],
)
async def test_whatever_a_target_begins_with_begins_it(guide_app, typed):
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        for character in typed:
            guide_app.simulate_key(character)
        await settled(guide_app, pilot)
        assert guide_app.screen.query_one(Input).value == typed
        assert guide_app.is_running


async def test_digits_lead_from_the_target_to_another_step_and_escape_leads_back(guide_app):
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "4")
        assert choices_of(guide_app).step is MethodStep.TARGET, (
            "nothing was chosen, so that no other step can be opened"
        )
        assert not isinstance(guide_app.screen, AskDialog)

        await press(guide_app, pilot, "enter", "enter", "enter")
        await press(guide_app, pilot, "1")
        for step, number in ((MethodStep.FILE, "2"), (MethodStep.WARM_UP, "4")):
            await press(guide_app, pilot, number)
            assert choices_of(guide_app).step is step
            await press(guide_app, pilot, "escape")
            assert choices_of(guide_app).step is MethodStep.TARGET
        await press(guide_app, pilot, "escape")
        assert choices_of(guide_app).step is MethodStep.FILE, "from where the target was looked at again"


async def test_a_target_can_be_pasted_at_once_and_its_letters_are_no_keys_of_the_step(guide_app):
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "enter", "enter", "enter")
        assert " n New" in painted(guide_app)
        await press(guide_app, pilot, "1")
        assert choices_of(guide_app).step is MethodStep.TARGET
        footer = painted(guide_app).splitlines()[-1]
        assert "^r New" in footer, "another target was chosen, which can be left"
        assert " n " not in footer
        await press(guide_app, pilot, "ctrl+r")
        assert choices_of(guide_app) == new_measurement(choices_of(guide_app))
        assert "New" not in painted(guide_app).splitlines()[-1], "there is nothing to leave"
        await press(guide_app, pilot, "?")
        assert isinstance(guide_app.screen, HelpDialog)
        await press(guide_app, pilot, "escape")
        guide_app.post_message(events.Paste("ftp://nas/big file.iso"))
        await settled(guide_app, pilot)
        assert guide_app.screen.query_one(Input).value == "ftp://nas/big file.iso"


@pytest.mark.parametrize(("size", "offered"), [((80, 24), False), ((40, 12), True)])
async def test_more_is_offered_where_the_text_does_not_fit(guide_app, size, offered):
    async with guide_app.run_test(size=size) as pilot:
        await settled(guide_app, pilot)
        text = guide_app.screen.query_one("#page-text")
        assert ("ctrl+o" in guide_app.screen.active_bindings) is offered
        await press(guide_app, pilot, "ctrl+o")
        assert (text.scroll_offset.y > 0) is offered


async def test_on_another_step_nothing_typed_is_taken_for_a_target(guide_app):
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "enter", "enter", "enter")
        assert choices_of(guide_app).step is MethodStep.FILE
        await press(guide_app, pilot, "s")
        assert isinstance(guide_app.screen, GuideScreen)


async def test_the_steps_keys_are_one_row_of_the_help_where_they_are_keys(guide_app):
    async with guide_app.run_test(size=(120, 60)) as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "f1")
        assert "Step: " not in painted(guide_app)
        await press(guide_app, pilot, "escape", "enter", "enter", "enter", "f1")
        (steps,) = [line for line in painted(guide_app).splitlines() if "Step: " in line or "Step 1" in line]
        assert "1-8" in steps


@pytest.mark.parametrize("error", [UnreachableError("no way to 127.0.0.1"), NoSuchShareError("no share [b]x[/b]")])
async def test_what_the_server_says_is_told_and_one_stays(guide_app, backend, error):
    backend.errors = [error]
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "enter")
        assert str(error) in text_of(guide_app.screen, ".dialog-text")
        await press(guide_app, pilot, "enter")
        assert isinstance(guide_app.screen, GuideScreen)
        assert "connecting" not in painted(guide_app)


async def test_a_typed_target_is_asked_for_until_it_is_one(guide_app, backend, monkeypatch):
    monkeypatch.setenv("SHAREBENCH_PASSWORD", "from the environment")
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "down", "enter", *"smb:x", "enter")
        assert "not a target" in text_of(guide_app.screen, ".dialog-problem")
        box = guide_app.screen.query_one(Input)
        assert box.value == "smb:x", "nothing that was typed is lost"
        box.value = "smb://me@nas/data"
        await press(guide_app, pilot, "enter")
        assert isinstance(guide_app.screen, BrowseScreen)
    assert backend.logins == [Secrets(password="from the environment")]


async def test_a_password_in_a_url_is_refused_and_not_repeated(guide_app):
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "down", "enter")
        guide_app.screen.query_one(Input).value = "smb://me:hush@nas/data"
        await press(guide_app, pilot, "enter")
        told = text_of(guide_app.screen, ".dialog-problem")
        assert "does not belong in a URL" in told
        assert "hush" not in told


async def test_without_a_password_anywhere_it_is_asked_for(guide_app, backend, monkeypatch):
    monkeypatch.delenv("SHAREBENCH_PASSWORD", raising=False)
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "down", "enter")
        guide_app.screen.query_one(Input).value = "smb://me@nas/data"
        await press(guide_app, pilot, "enter")
        assert "SMB password for me on nas" in text_of(guide_app.screen, ".dialog-text")
        await press(guide_app, pilot, *"Xq7w")
        pictures = [guide_app.export_screenshot(simplify=True)]
        await press(guide_app, pilot, "enter")
        pictures.append(guide_app.export_screenshot(simplify=True))
    assert backend.logins == [Secrets(password="Xq7w")]
    assert not any("Xq7w" in picture for picture in pictures), "no picture shows it"


async def test_a_credentials_file_names_user_and_password(guide_app, backend, tmp_path):
    path = tmp_path / "cred"
    path.write_text("username = anna\npassword = a b\ndomain = WORK\n")
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "down", "down", "down", "enter")
        guide_app.screen.query_one(Input).value = str(tmp_path / "crad")
        await press(guide_app, pilot, "enter")
        assert "crad'; name the one that holds user and password" in text_of(guide_app.screen, ".dialog-problem")
        assert guide_app.screen.query_one(Input).value == str(tmp_path / "crad"), "nothing that was typed is lost"
        guide_app.screen.query_one(Input).value = str(path)
        await press(guide_app, pilot, "enter")
        guide_app.screen.query_one(Input).value = "nas/data"
        await press(guide_app, pilot, "enter")
        assert isinstance(guide_app.screen, BrowseScreen)
        assert (guide_app.screen.place.target.user, guide_app.screen.place.target.domain) == ("anna", "WORK")
    assert backend.logins == [Secrets(password="a b")]


async def test_kerberos_asks_for_no_password(guide_app, backend):
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "down", "down", "enter")
        guide_app.screen.query_one(Input).value = "smb://me@nas/data"
        await press(guide_app, pilot, "enter", "enter")
        assert choices_of(guide_app).kerberos
    assert backend.logins == [Secrets(kerberos=True)]


async def test_an_empty_share_offers_a_file_that_is_made(guide_app, backend):
    backend.folders = {"": []}
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "enter", "enter")
        assert "The folder is empty: create a test file here." in painted(guide_app)
        await press(guide_app, pilot, "enter")
        assert choices_of(guide_app).step is MethodStep.FILE
        await press(guide_app, pilot, "enter")
        choices = choices_of(guide_app)
        assert (choices.spec.command, choices.file, choices.spec.counts.size_bytes) == (Command.GET, None, 2 * 1024**3)


async def test_a_server_without_shares_says_so(guide_app, backend):
    backend.shares = []
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "enter")
        assert "The server shows no shares to this user." in painted(guide_app)
        await press(guide_app, pilot, "enter", "escape")
        assert isinstance(guide_app.screen, GuideScreen)


async def test_names_from_outside_are_text(guide_app, backend):
    backend.shares = [NASTY]
    backend.folders = {"": folder_of({NASTY: 5 << 30, "[x": 3})}
    async with guide_app.run_test(size=(120, 30)) as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "enter")
        assert f"{SHOWN}/" in painted(guide_app)
        await press(guide_app, pilot, "enter")
        assert SHOWN in painted(guide_app)
        await press(guide_app, pilot, "enter")
        assert choices_of(guide_app).file == NASTY, "the server's own spelling is what is asked for"
        assert SHOWN in painted(guide_app)
        assert "\x1b" not in painted(guide_app)
        await press(guide_app, pilot, "f1", "escape", "1", "enter")
        assert "[red]a[b]" in painted(guide_app)


async def test_ten_thousand_files_are_listed_without_delay(guide_app, backend, monkeypatch):
    backend.folders = {"": folder_of({f"file {number:05d}.bin": number for number in range(10_000)})}
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "enter", "enter")
        assert "10,000 items." in painted(guide_app)
        lines = guide_app.screen.query_one(NameList)
        await press(guide_app, pilot, "end")
        assert "file 09999.bin" in painted(guide_app)
        drawn: list[int] = []
        original: Callable[[int], Strip] = lines.render_line

        def counted(y: int) -> Strip:
            drawn.append(y)
            return original(y)

        monkeypatch.setattr(lines, "render_line", counted)
        await press(guide_app, pilot, "up")
        assert 0 < len(drawn) <= 2 * lines.size.height, "what is not in view is not drawn"


async def test_another_server_is_not_judged_by_the_rate_of_the_one_before(guide_app, backend, monkeypatch):
    monkeypatch.setattr(backend, "link", lambda _target: (None, "the loopback has no rate"))
    fast = replace(SMB, host="fast")
    with Notebook(guide_app.context.notebook_path) as notebook:
        notebook.add(series([5e9] * 5, target=fast))
        notebook.remember(MEMORY_KEY, choices_with(target=fast).to_memory())
    guide_app.context.practice = ()
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "down", "enter", *"smb://slow/data", "enter")
        assert "? unknown" not in painted(guide_app)
        await press(guide_app, pilot, "enter")
        rows = guide_app.screen.query_one(OptionList)
        assert rows.highlighted == 0
        assert "Get big.bin" in str(rows.get_option_at_index(0).prompt), "Enter takes the file that was picked"


@pytest.mark.parametrize(("moves", "there"), [((), 0), (("down",), 2)])
async def test_the_cursor_goes_to_what_is_advised_now_unless_it_was_moved(guide_app, moves, there):
    def page(cursor: int) -> Page:
        return Page(title="a", why="", facts=(), options=tuple(Option(x, Simple.START) for x in "abc"), cursor=cursor)

    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        view = guide_app.screen.query_one(PageView)
        view.show(page(1))
        await press(guide_app, pilot, *moves)
        view.show(page(0))
        assert view.query_one(OptionList).highlighted == there


async def test_what_is_unknown_of_a_file_is_said(guide_app, backend, monkeypatch):
    monkeypatch.setattr(backend, "link", lambda _target: (None, "the loopback has no rate"))
    backend.folders = {"": folder_of({"big.bin": 1 << 30})}
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "enter", "enter")
        assert "1 item. Link speed unknown" in painted(guide_app)


async def test_folders_lead_down_and_up_and_typing_finds_a_name(guide_app, backend):
    backend.folders = {
        "": [
            DirectoryEntry(name="logs", is_folder=True, size_bytes=0),
            DirectoryEntry(name="a.bin", is_folder=False, size_bytes=9),
        ],
        "logs": folder_of({"x.log": 4, "y.log": 5}),
    }
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "enter", "enter", "l", "enter")
        assert "/data/logs" in painted(guide_app)
        await press(guide_app, pilot, "y")
        lines = guide_app.screen.query_one(NameList)
        assert lines.names[lines.highlighted] == "y.log"
        await press(guide_app, pilot, "left")
        assert lines.names[0] == MAKE_HERE.name
        assert "logs/" in painted(guide_app)
        await press(guide_app, pilot, "left")
        assert "IPC$/" in painted(guide_app), "above the share there are the shares"


async def test_a_click_chooses_and_the_wheel_is_not_needed(guide_app):
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "enter")
        await pilot.click(NameList, offset=(3, 0))
        await settled(guide_app, pilot)
        assert "big.bin" in painted(guide_app)


async def test_another_size_is_asked_for_until_it_is_one(guide_app, backend):
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "enter", "enter", "enter", *["down"] * 5, "enter")
        guide_app.screen.query_one(Input).value = "lots"
        await press(guide_app, pilot, "enter")
        assert "not a size: 'lots'" in text_of(guide_app.screen, ".dialog-problem")
        guide_app.screen.query_one(Input).value = "3G"
        await press(guide_app, pilot, "enter")
        choices = choices_of(guide_app)
        assert (choices.spec.command, choices.spec.counts.size_bytes, choices.step) == (
            Command.PUT,
            3 * 1024**3,
            MethodStep.QUIET,
        )


async def test_a_look_at_who_else_is_at_work(guide_app):
    async with guide_app.run_test(size=(120, 36)) as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "enter", "enter", "enter", "enter")
        assert choices_of(guide_app).step is MethodStep.QUIET
        await press(guide_app, pilot, "up", "enter")
        assert "Just now: busy." in painted(guide_app)
        assert "- others moved 40 MB/s over [eth0]" in painted(guide_app)
        await press(guide_app, pilot, "up", "up", "enter")
        choices = choices_of(guide_app)
        assert (choices.quiet, choices.step) == ("wait", MethodStep.WARM_UP)


@pytest.mark.varied
@pytest.mark.parametrize("kind", ["series", "load", "isolation", "survey", "trial", "diagnosis"])
async def test_the_target_of_any_earlier_recording_is_offered_first_and_stands_where_one_is_typed(
    guide_app, backend, kind
):
    with Notebook(guide_app.context.notebook_path) as notebook:
        made = MAKERS[kind](notebook)
        named = format_target(used_targets(notebook, made)[0])
        notebook.add(one(30, target=Target(protocol="ftp", host="newer", port=21, path="/pub/a.iso")))
    guide_app.context.practice, guide_app.context.pointed = (), made
    async with guide_app.run_test(size=(120, 36)) as pilot:
        await settled(guide_app, pilot)
        options = guide_app.screen.query_one(OptionList)
        assert options.highlighted == 0
        assert named in str(options.get_option_at_index(0).prompt)
        assert "ftp://newer/pub" in painted(guide_app)
        typed = next(at for at, row in enumerate(options.options) if "Type a target" in str(row.prompt))
        await press(guide_app, pilot, *["down"] * typed, "enter")
        assert guide_app.screen.query_one(Input).value == named


async def test_recent_targets_are_offered(guide_app, backend):
    with Notebook(guide_app.context.notebook_path) as notebook:
        notebook.add(series([1e6], target=Target(protocol="ftp", host="old", port=21, path="/pub/a.iso")))
        notebook.add(series([1e6], id="bbbbbbbbbbbb", target=replace(SMB, host="nas", path="a.iso")))
        notebook.remember(MEMORY_KEY, choices_with(target=replace(SMB, host="nas")).to_memory())
    guide_app.context.practice = ()
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        assert "ftp://old/pub" in painted(guide_app)
        assert painted(guide_app).count("smb://bench@nas") == 1, "the one that is chosen now stands there once"
        screen = guide_app.screen
        assert isinstance(screen, GuideScreen)
        assert isinstance(screen.session.known, GuideContext)


@pytest.mark.parametrize(("decision", "rate"), [(None, 5e6), (Decision.REVERTED, 5e6), (Decision.KEPT, 9e6)])
def test_what_was_reached_with_a_change_that_was_not_kept_tells_nothing_of_the_server(tmp_path, decision, rate):
    change = Change(name="strict sync", value="no")
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add(series([5e6] * 5, id="a" * 12))
        notebook.add(
            series([9e6] * 5, id="b" * 12, created_at="2027-01-01T10:00:00.000Z", change=change, decision=decision)
        )
        found = measured_rate(notebook, notebook.series("a" * 12).target, Command.GET)
    assert found == rate


def test_a_quick_test_is_the_first_choice_of_whoever_begins_and_enter_takes_the_method():
    page = target_page(GuideChoices(), GuideContext())
    assert page.options[0].act == Visit("quick")
    assert page.options[page.cursor].advised
    later = target_page(GuideChoices(), GuideContext(recent=(SMB,)))
    assert Visit("quick") in [option.act for option in later.options[1:]]
    assert later.cursor == 0
