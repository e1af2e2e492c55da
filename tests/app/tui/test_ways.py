"""How a server is reached is told once, in any form, in the guide or in a trial, and known to all of them."""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from app.base.errors import UsageError
from app.method.choices import MEMORY_KEY, MethodStep
from app.method.known_ways import keep_ways, read_ways, with_known_ways
from app.trial.screen import TrialScreen
from storage.notebook import Notebook
from storage.records import Target
from tests.command_line import Inside
from tests.specs import choices_with
from tests.tui import FakeBackend, app_on, here, press, send_at_once, settled

FORMS = ("load", "isolation", "audit", "diagnosis")
NAS = Target(protocol="smb", host="nas", share="public")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notebook.db"


class TrialBackend(FakeBackend):
    """Notes how a trial would reach the server, and refuses it then."""

    def __init__(self) -> None:
        super().__init__()
        self.ways: list[tuple[str | None, str | None]] = []

    def order_trial(self, request, setting, **choices):
        monitor = request.spec.monitor
        self.ways.append((monitor.server_ssh, monitor.smb_conf))
        raise UsageError("not in this test")


@pytest.mark.varied
@pytest.mark.parametrize("name", FORMS)
async def test_every_form_begins_with_the_ways_that_are_known(path, name):
    with Notebook(path) as notebook:
        notebook.remember(name, {"target": "nas/public"})
        keep_ways(notebook, "NAS", ssh="root@nas", conf="/srv/smb.conf")
    app = app_on(path, first=name, backend=FakeBackend())
    async with app.run_test() as pilot:
        await settled(app, pilot)
        texts = here(app).typed_texts()
        assert texts["ssh"] == "root@nas"
        assert texts.get("conf", "/srv/smb.conf") == "/srv/smb.conf"


@pytest.mark.varied
@pytest.mark.parametrize("name", FORMS)
async def test_the_ways_follow_the_server_that_is_typed(path, name):
    with Notebook(path) as notebook:
        notebook.remember(name, {"target": "nas/public"})
        keep_ways(notebook, "nas", ssh="root@nas")
        keep_ways(notebook, "filer", ssh="root@filer")
    app = app_on(path, first=name, backend=FakeBackend())
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await send_at_once(app, *"filer/data", "tab")
        await settled(app, pilot)
        assert here(app).typed_texts()["ssh"] == "root@filer"

        here(app).query_one("#target", Input).focus()
        await send_at_once(app, *"other/data", "tab")
        await settled(app, pilot)
        assert here(app).typed_texts()["ssh"] == "", "nothing is known of that one"


async def test_a_way_that_was_typed_stays_when_the_server_changes(path):
    with Notebook(path) as notebook:
        notebook.remember("audit", {"target": "nas/public"})
        keep_ways(notebook, "nas", ssh="root@nas")
        keep_ways(notebook, "filer", ssh="root@filer")
    app = app_on(path, first="audit", backend=FakeBackend())
    async with app.run_test() as pilot:
        await settled(app, pilot)
        here(app).query_one("#ssh", Input).value = "admin@jump"
        await send_at_once(app, *"filer/data", "tab")
        await settled(app, pilot)
        assert here(app).typed_texts()["ssh"] == "admin@jump"


async def test_a_trial_knows_the_ways_and_tells_the_forms_of_others(path):
    backend = TrialBackend()
    with Notebook(path) as notebook:
        choices = choices_with(step=MethodStep.RUN, target=NAS, file="big.iso", file_bytes=1 << 30)
        notebook.remember(MEMORY_KEY, choices.to_memory())
        keep_ways(notebook, "nas", ssh="root@nas", conf="/srv/smb.conf")
    app = app_on(path, backend=backend)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        app.push_screen(TrialScreen("log level = 0"))
        await settled(app, pilot)
        assert backend.ways == [("root@nas", "/srv/smb.conf")]

        await press(app, pilot, "w")
        here(app).query_one(Input).value = "admin@nas"
        await press(app, pilot, "enter")
        assert backend.ways[1:] == [("admin@nas", None)]
    with Notebook(path) as notebook:
        known = read_ways(notebook, "nas")
        assert (known.ssh, known.conf) == ("admin@nas", "")


async def test_what_the_guide_is_told_is_known_to_the_forms(guide_app, backend):
    choices = choices_with(step=MethodStep.RUN, target=replace(NAS, user=None), file="big.iso", file_bytes=1 << 30)
    guide_app.context.practice = ()
    with Notebook(guide_app.context.notebook_path) as notebook:
        notebook.remember(MEMORY_KEY, choices.to_memory())
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        view = guide_app.screen.query_one("#page-options")
        titles = [option.title for option in guide_app.screen.query_one("PageView").page.options]
        view.highlighted = titles.index("Read the server's settings…")
        await press(guide_app, pilot, "enter")
        here(guide_app).query_one(Input).value = "root@nas"
        await press(guide_app, pilot, "enter")
    with Notebook(guide_app.context.notebook_path) as notebook:
        assert read_ways(notebook, "nas").ssh == "root@nas"


@pytest.mark.parametrize(
    ("typed", "known"),
    [((), ("", "")), (("--server-ssh", "root@nas"), ("root@nas", "")), (("--smb-conf", "/x"), ("", "/x"))],
)
def test_a_command_tells_the_way_as_a_form_does(inside: Inside, typed: tuple[str, ...], known: tuple[str, str]):
    with Notebook(inside.db):
        pass
    inside("audit", "smb://nas.invalid/public", *typed)
    with Notebook(inside.db) as notebook:
        ways = read_ways(notebook, "nas.invalid")
    assert (ways.ssh, ways.conf) == known


@pytest.mark.parametrize(("ssh", "conf"), [("root@other", None), (None, "/etc/other.conf"), (None, None)])
def test_a_trial_takes_each_way_that_was_told_where_the_round_names_none(path, ssh: str | None, conf: str | None):
    choices = choices_with(target=NAS, server_ssh=ssh, smb_conf=conf, size_bytes=1 << 20)
    with Notebook(path) as notebook:
        keep_ways(notebook, "nas", ssh="root@nas", conf="/srv/smb.conf")
        ways = with_known_ways(notebook, choices).spec.monitor
    assert (ways.server_ssh, ways.smb_conf) == (ssh or "root@nas", conf or "/srv/smb.conf")
