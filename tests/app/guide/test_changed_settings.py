"""What was changed in how the client measures stands on the page of the run, and is reset there with one choice."""

from dataclasses import fields

import pytest

from app.guide.context import GuideContext
from app.guide.page import Go, Option, Page
from app.guide.pages.steps import page_of
from app.guide.screen import GuideScreen
from app.method.choices import MEMORY_KEY, GuideChoices, MethodStep
from storage.notebook import Notebook
from storage.plan import CeilingPolicy, Imitated, Settings
from storage.records import Command, Target
from tests.specs import choices_with, varied
from tests.tui import SMB, app_on, painted, press, settled

CHANGED = {
    "client": "smbclient",
    "in_flight": 8,
    "block_bytes": 65536,
    "timeout_seconds": 60.0,
    "ceiling": CeilingPolicy.SKIP,
    "sign": True,
    "encrypt": True,
    "flush": True,
    "drop_cache": True,
    "single_requests": True,
    "like": Imitated.WINDOWS_10,
    "verify": True,
    "profile": True,
}
"""A value of each setting that is not the usual one."""

READY = choices_with(
    step=MethodStep.RUN,
    target=Target(protocol="smb", host="nas", share="data", user="me"),
    file="big.bin",
    file_bytes=1 << 30,
    counted=True,
)


def run_page(choices: GuideChoices) -> Page:
    return page_of(choices, GuideContext())


def changed_facts(page: Page) -> list[str]:
    return [str(fact) for fact in page.facts if str(fact).endswith("(changed by you).")]


def reset_options(page: Page) -> list[Option]:
    return [option for option in page.options if option.title.startswith("Reset to")]


def test_no_setting_of_a_client_is_left_out():
    assert {field.name for field in fields(Settings)} <= CHANGED.keys()


@pytest.mark.parametrize("name", CHANGED)
def test_a_setting_that_was_changed_is_told_and_reset(name: str):
    page = run_page(varied(READY, **{name: CHANGED[name]}))
    assert len(changed_facts(page)) == 1
    (reset,) = reset_options(page)
    assert isinstance(reset.act, Go)
    assert reset.act.choices == READY


def test_usual_settings_are_neither_told_nor_reset():
    for client in ("", "sharebench"):
        page = run_page(varied(READY, client=client))
        assert changed_facts(page) == []
        assert reset_options(page) == []


def test_all_are_reset_at_once_and_the_file_stays():
    choices = varied(READY, command=Command.PUT, size_bytes=1 << 28, series_id="a" * 12, sign=True, in_flight=8)
    page = run_page(choices)
    assert len(changed_facts(page)) == 2
    (reset,) = reset_options(page)
    assert isinstance(reset.act, Go)
    following = reset.act.choices
    assert following.spec.settings == Settings()
    assert (following.spec.command, following.run_bytes, following.target) == (Command.PUT, 1 << 28, READY.target)
    assert following.series_id is None, "what was measured with them stays as it is"


@pytest.mark.parametrize(
    ("more", "facts"),
    [
        ({"base_id": "b" * 12, "change_name": "in-flight", "change_value": "8"}, 1),
        ({"base_id": "b" * 12, "change_name": "strict sync", "change_value": "no"}, 2),
        ({"base_id": "b" * 12, "proven_id": "c" * 12}, 2),
        ({"base_id": "b" * 12, "planned_repeats": 2, "repeat_number": 1}, 2),
    ],
    ids=["changes it", "changes another", "proves a change", "repeats"],
)
def test_a_series_that_is_held_to_its_base_tells_them_and_resets_none(more: dict[str, object], facts: int):
    page = run_page(varied(READY, in_flight=8, block_bytes=65536, **more))
    assert len(changed_facts(page)) == facts
    assert reset_options(page) == []


@pytest.mark.parametrize("restarted", [False, True])
async def test_they_are_reset_with_one_choice_after_a_restart_too(guide_app, backend, restarted: bool):
    choices = varied(READY, target=SMB, in_flight=8)
    with Notebook(guide_app.context.notebook_path) as notebook:
        notebook.remember(MEMORY_KEY, choices.to_memory())
    app = app_on(guide_app.context.notebook_path, first="guide", backend=backend) if restarted else guide_app
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert "In flight: 8 (changed by you)." in painted(app)
        await press(app, pilot, "down", "enter")
        assert "changed by you" not in painted(app)
        assert isinstance(app.screen, GuideScreen)
        assert app.screen.session.choices.spec.settings == Settings()
    with Notebook(app.context.notebook_path) as notebook:
        assert GuideChoices.from_memory(notebook.remembered(MEMORY_KEY)).spec.settings == Settings()
