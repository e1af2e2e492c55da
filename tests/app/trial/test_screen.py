"""The trial on the screen: nothing is written before y, what would be is shown, and the verdict in the end."""

import asyncio
import itertools
import os
import signal
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from app.base.errors import CancelledError, LoginError, UnreachableError
from app.guide.screen import GuideScreen
from app.method.choices import MEMORY_KEY, GuideChoices, MethodStep, choices_of
from app.recording.process import RunStarted, ScratchMade, SeriesControl
from app.recording.spec import SeriesRequest
from app.server.changes import find_setting
from app.server.changes.script import ChangeFailedError, ChangeRefusedError, ConsentNeededError
from app.server.changes.setting import ChangeableSetting, Ways
from app.trial import fitting, prepare
from app.trial import record as trial
from app.trial.fitting import FittedRequest
from app.trial.screen import TrialScreen
from app.trial.spec import Judged, SettingRestored, TrialOrder, ValueSet
from app.tui.frame.app import SharebenchApp
from app.tui.frame.dialogs import AskDialog, MessageDialog
from forms.stats.decision import Doubt, Verdict
from forms.trial.changes_report import judge_change
from forms.trial.summary import UNEQUAL_PERCENT, TrialSummary
from storage.changes import ChangeKind, TrialPlan
from storage.notebook import Notebook
from storage.plan import Settings
from storage.programs import PASSWORD_VARIABLE
from storage.records import Change, Command, Decision, Experiment, ExperimentKind, Phase
from tests.builders import series
from tests.specs import choices_with, plan_with
from tests.tui import SMB, app_on, here, measured, painted, press, settled, text_of
from tests.waiting import HANG_SECONDS

CHOICES = choices_with(
    step=MethodStep.CHANGE, target=replace(SMB, share="data", user=None), file="big.bin", file_bytes=1 << 30
)
SETTING = ChangeableSetting(
    kind=ChangeKind.SMB_CONF, name="use sendfile", section="[data]", previous="No", machine="nas 1", ssh=None,
    values=("yes",), managers=("tuned sets kernel settings",),
    writes=("use sendfile = yes, in [data] of /etc/samba/sharebench.conf",),
    undo_path="/etc/samba/sharebench-undo.sh", plan=lambda *_: pytest.fail("planned without consent"),
    effective=lambda _: None, same=lambda one, other: one == other,
)  # fmt: skip


def finished(order: TrialOrder, pairs: int = 8) -> TrialSummary:
    base = series([1e8 + n for n in range(pairs)], id="a00000000000", warmups=0)
    change = Change(name="use sendfile", value="yes", previous="No")
    other = series([1.2e8 + n for n in range(pairs)], id="b00000000000", warmups=0, change=change)
    found = judge_change(order.experiment, order.plan, [base, other], [])
    assert isinstance(found, TrialSummary)
    return found


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.remember(MEMORY_KEY, CHOICES.to_memory())
    monkeypatch.setattr(find_setting, "find_setting", lambda *_: SETTING)
    monkeypatch.setattr(prepare, "check_target", lambda _: None)
    monkeypatch.setattr(fitting, "fit_request", lambda request, **_: FittedRequest(request, 0, run_seconds=5.0))
    return app_on(tmp_path / "notebook.db", first="trial", setting="use sendfile = yes")


async def test_nothing_happens_before_it_was_consented_to(app, monkeypatch):
    begun: list[str] = []
    during: list[str] = []

    def run(order: TrialOrder, _path: Path, _control: object) -> Iterator[object]:
        begun.append(order.setting.name)
        yield ValueSet("yes", 1)
        during.append(here(app).draw_heard(100))
        yield SettingRestored("Restored: use sendfile is No again")
        yield Judged(finished(order))

    monkeypatch.setattr(trial, "run_trial", run)
    async with app.run_test(size=(100, 36)) as pilot:
        await settled(app, pilot)
        assert isinstance(here(app), TrialScreen)
        shown = painted(app)
        assert "use sendfile = yes, in [data] of /etc/samba/sharebench.conf" in shown
        assert "sh /etc/samba/sharebench-undo.sh" in shown
        assert "Beware: tuned sets kernel settings" in shown
        assert begun == []
        await pilot.press("y")
        await measured(app, pilot)
        await settled(app, pilot)
        assert begun == ["use sendfile"]
        assert "sh /etc/samba/sharebench-undo.sh" in during[0]
        assert "is No now" not in during[0], "it is another value now"
        assert "Restored: use sendfile is No again" in painted(app)
        assert "x Export" in painted(app)
        assert "▲ Faster by 20.0 % (" in painted(app)
        assert "Set `use sendfile = yes`." in painted(app)
        assert here(app).quit_question() is None


async def test_a_value_that_is_set_already_is_not_tried_but_looked_at_again(app, monkeypatch):
    monkeypatch.setattr(trial, "run_trial", lambda *_: pytest.fail("it would measure equal values"))
    found = [replace(SETTING, previous="yes"), SETTING]
    monkeypatch.setattr(find_setting, "find_setting", lambda *_: found.pop(0))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        assert "y looks again" in painted(app)
        assert "use sendfile is yes already: A and B would be equal. Restore it first" in painted(app)
        assert "y Look again" in painted(app)
        assert "y Yes, start" not in painted(app)
        await press(app, pilot, "y")
        assert "would be equal" not in painted(app)
        assert "y Yes, start" in painted(app)


@pytest.mark.varied
@pytest.mark.parametrize(
    ("decision", "step", "block"),
    [
        (None, MethodStep.EXPECTED, None),
        (None, MethodStep.REVIEW, None),
        (Decision.REVERTED, MethodStep.EXPECTED, None),
        (Decision.KEPT, MethodStep.EXPECTED, 65536),
        (None, MethodStep.CHANGE, 65536),
    ],
)
async def test_a_trial_measures_without_a_change_of_the_program_that_was_not_taken(
    app, decision: Decision | None, step: MethodStep, block: int | None
):
    base = series([1e8] * 5, id=f"{1:012x}")
    plan = plan_with(settings=Settings(block_bytes=65536))
    change = Change(name="block", value="64K")
    with Notebook(app.context.notebook_path) as notebook:
        notebook.add(base)
        slow = series([5e7] * 5, id=f"{2:012x}", plan=plan, change=change, base_id=base.id, decision=decision)
        notebook.add(slow)
        choices = replace(choices_of(notebook.series(f"{2:012x}")), series_id=f"{2:012x}", step=step)
        notebook.remember(MEMORY_KEY, choices.to_memory())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        assert here(app).order.request.spec.settings.block_bytes == block
        assert here(app)._choices.spec.settings.block_bytes == 65536, "what the guide remembers stays"


async def carried_out(app: Any, pilot: Any) -> None:
    with Notebook(app.context.notebook_path) as notebook:
        notebook.add_experiment(here(app).order.experiment)
    await pilot.press("y")
    await measured(app, pilot)


@pytest.mark.varied
@pytest.mark.parametrize(
    ("verdict", "doubt", "varied", "leads"),
    [
        (Verdict.UNKNOWN, Doubt.VARYING, 1.0, True),
        (Verdict.FASTER, None, UNEQUAL_PERCENT + 0.1, True),
        (Verdict.FASTER, None, UNEQUAL_PERCENT, False),
    ],
)
async def test_pairs_that_vary_lead_to_a_larger_file(app, monkeypatch, verdict, doubt, varied: float, leads: bool):
    def run(order: TrialOrder, _path: Path, _control: object) -> Iterator[object]:
        found = finished(order, 20)
        effect = replace(found.effect, deviation_percent=varied) if found.effect else None
        found = replace(found, verdict=verdict, doubt=doubt, looked_at=20, effect=effect)
        yield SettingRestored("Restored: use sendfile is No again")
        yield Judged(found)

    monkeypatch.setattr(trial, "run_trial", run)
    async with app.run_test(size=(100, 36)) as pilot:
        await settled(app, pilot)
        await carried_out(app, pilot)
        await press(app, pilot, "enter")
        assert ("★ Measure again with a larger file" in painted(app)) is leads


async def test_how_long_it_takes_is_said_before_it_starts_and_can_be_limited(app, monkeypatch):
    limits: list[float] = []

    def run(order: TrialOrder, _path: Path, _control: object) -> Iterator[object]:
        limits.append(order.within_seconds)
        yield Judged(finished(order))

    monkeypatch.setattr(trial, "run_trial", run)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert "8 pairs take about 3 min, 20 about 8 min." in " ".join(painted(app).split())
        for typed, says in (("0", "not a number of minutes"), ("10001", "1 to 10000")):
            await press(app, pilot, "t")
            app.screen.query_one("#answer", Input).value = typed
            await press(app, pilot, "enter")
            assert says in " ".join(painted(app).split())
            await press(app, pilot, "enter")
        await press(app, pilot, "t")
        app.screen.query_one("#answer", Input).value = "7"
        await press(app, pilot, "enter")
        assert "It stops after 7 min at the latest" in " ".join(painted(app).split())
        await press(app, pilot, "t")
        app.screen.query_one("#answer", Input).value = ""
        await press(app, pilot, "enter")
        assert "at the latest" not in painted(app)
        await press(app, pilot, "t")
        app.screen.query_one("#answer", Input).value = "6"
        await press(app, pilot, "enter")
        await pilot.press("y")
        await measured(app, pilot)
        assert here(app).check_action("within", ()) is False
    assert limits == [360.0]


async def test_what_a_setting_acts_on_can_be_measured_in_place_of_what_was_chosen(app, monkeypatch):
    sized: list[bool] = []
    monkeypatch.setattr(find_setting, "find_setting", lambda *_: replace(SETTING, name="strict allocate"))

    def fits(request: SeriesRequest, *, keeps_size: bool) -> FittedRequest:
        sized.append(keeps_size)
        return FittedRequest(request, 0, run_seconds=5.0)

    monkeypatch.setattr(fitting, "fit_request", fits)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert "known to affect only a put" in " ".join(painted(app).split())
        assert "p Put" in painted(app)
        await press(app, pilot, "p")
        shown = " ".join(painted(app).split())
        assert "It measures a put to" in shown
        assert "known to affect" not in shown
        request = here(app).order.request
        counts = request.spec.counts
        assert (request.spec.command, request.target.path) == (Command.PUT, "")
        assert (counts.size_bytes, counts.make_file) == (1 << 30, False)
        await press(app, pilot, "p")
        request = here(app).order.request
        assert (request.spec.command, request.target.path) == (Command.GET, "big.bin")
        monkeypatch.setattr(trial, "run_trial", lambda order, *_: iter([Judged(finished(order))]))
        await pilot.press("y")
        await measured(app, pilot)
        assert here(app).check_action("measure", ("put",)) is False
    assert sized == [False, False, False]


@pytest.mark.long
async def test_where_the_other_transfer_cannot_be_there_is_nothing_to_agree_to(app, monkeypatch):
    """The get that was agreed to before is not started in its place; one can go back to it."""
    looks, is_looking, goes_on = itertools.count(1), threading.Event(), threading.Event()

    def fits(request: SeriesRequest, **_: bool) -> FittedRequest:
        if next(looks) == 2:
            is_looking.set()
            goes_on.wait(HANG_SECONDS)
            raise UnreachableError("no put there")
        return FittedRequest(request, 0, run_seconds=5.0)

    monkeypatch.setattr(fitting, "fit_request", fits)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.simulate_key("p")
        assert await asyncio.to_thread(is_looking.wait, HANG_SECONDS)
        assert here(app).check_action("consent", ()) is False, "while it looks at the server"
        goes_on.set()
        await settled(app, pilot)
        assert "no put there" in painted(app)
        assert here(app).check_action("consent", ()) is False
        assert here(app).check_action("within", ()) is False
        assert "p Get" in painted(app)
        await press(app, pilot, "p")
        assert here(app).order.request.spec.command is Command.GET


@pytest.mark.parametrize(
    ("heard", "passed", "said"),
    [
        ([(None, 1)], 0.0, "up to about 8 min left"),
        ([(None, 1)], 230.0, "up to about 4 min left"),
        ([(None, 1), ("yes", 1)], 6.0, "up to about 4 min left"),
        ([(None, 1), ("yes", 1), ("yes", 2)], 24.0, "up to about 8 min left"),
        ([(None, 1)], 10000.0, "as it is"),
    ],
)
async def test_the_time_left_is_said_from_the_first_pair_on(app, monkeypatch, heard, passed, said):
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        screen = here(app)
        screen._begun = True
        monkeypatch.setattr("app.trial.screen.monotonic", lambda: 100.0)
        for value, block in heard:
            screen.take_event(0, ValueSet(value, block))
        monkeypatch.setattr("app.trial.screen.monotonic", lambda: 100.0 + passed)
        assert screen.now().endswith(said)


@pytest.mark.parametrize(("passed", "is_told"), [(60.0, False), (60.1, True)])
async def test_past_its_time_limit_a_trial_says_that_this_pair_is_the_last(app, monkeypatch, passed, is_told):
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        screen = here(app)
        screen._begun, screen.order = True, replace(screen.order, within_seconds=60.0)
        monkeypatch.setattr("app.trial.screen.monotonic", lambda: 100.0)
        screen.take_event(0, ValueSet(None, 1))
        screen.take_event(0, ScratchMade(path="x"))
        assert ", making the file" in screen.now()
        screen.take_event(0, RunStarted(number=1, phase=Phase.WARM_UP, of=1))
        assert "making the file" not in screen.now()
        monkeypatch.setattr("app.trial.screen.monotonic", lambda: 100.0 + passed)
        assert ("; the time is over, this pair is the last" in screen.now()) is is_told


@pytest.mark.parametrize(("pairs", "is_told"), [(7, False), (8, True)])
async def test_fewer_pairs_than_the_first_look_has_tell_no_figure(app, pairs: int, is_told: bool):
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        screen = here(app)
        screen._begun = True
        screen.take_event(0, ValueSet(None, 1))
        screen.take_event(0, Judged(finished(screen.order, pairs)))
        assert ("so far" in screen.now()) is is_told


async def test_once_all_is_restored_it_says_so_while_the_result_is_worked_out(app):
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        screen = here(app)
        screen._begun = True
        screen.take_event(0, ValueSet(None, 1))
        screen.take_event(0, SettingRestored("Restored: use sendfile is No again"))
        assert screen.now() == "Restored: use sendfile is No again. Working out the result …"
        screen._recording = False
        assert screen.now() == "Restored: use sendfile is No again"


async def test_a_refusal_is_told_and_nothing_can_be_consented_to(app, monkeypatch):
    def refuse(*_: object) -> ChangeableSetting:
        raise ChangeRefusedError("only root can change the server's settings")

    monkeypatch.setattr(find_setting, "find_setting", refuse)
    async with app.run_test(size=(100, 36)) as pilot:
        await settled(app, pilot)
        assert "Nothing was written." in painted(app)
        assert "only root can change" in painted(app)
        assert "Yes, start" not in painted(app)
        assert here(app).order is None
        assert here(app).check_action("consent", ()) is False


async def test_a_risk_is_accepted_on_the_screen(app, monkeypatch):
    asked: list[tuple[tuple[str, ...], bool]] = []

    def find(_name: str, _values: list[str], _target: object, ways: Ways) -> ChangeableSetting:
        asked.append((ways.accepted, ways.restart))
        if not ways.accepted:
            raise ConsentNeededError("it loses data", risk_of="use sendfile", options="--accept-risk 'use sendfile'")
        if not ways.restart:
            raise ConsentNeededError("it restarts smbd", risk_of=None, options="--allow-restart")
        return SETTING

    monkeypatch.setattr(find_setting, "find_setting", find)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert "it loses data" in painted(app)
        assert "--accept-risk" not in painted(app)
        assert "y Accept" in painted(app)
        assert "Yes, start" not in painted(app)
        await press(app, pilot, "y")
        assert "it restarts smbd" in painted(app)
        assert here(app).order is None
        await press(app, pilot, "y")
        assert "sh /etc/samba/sharebench-undo.sh" in painted(app)
        assert "y Yes, start" in painted(app)
        assert "y Accept" not in painted(app)
        plan = here(app).order.plan
    assert (plan.accepted_risks, plan.allow_restart) == (("use sendfile",), True), "for whoever goes on with it"
    assert asked == [((), False), (("use sendfile",), False), (("use sendfile",), True)]


async def test_what_was_accepted_for_one_server_is_asked_again_for_another(app, monkeypatch):
    asked: list[tuple[str | None, tuple[str, ...], bool]] = []

    def find(_name: str, _values: list[str], _target: object, ways: Ways) -> ChangeableSetting:
        asked.append((ways.ssh, ways.accepted, ways.restart))
        raise ConsentNeededError("it restarts smbd", risk_of=None, options="--allow-restart")

    monkeypatch.setattr(find_setting, "find_setting", find)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "y", "w")
        app.screen.query_one("#answer", Input).value = "root@nas2"
        await press(app, pilot, "enter")
    assert asked == [(None, (), False), (None, (), True), ("root@nas2", (), False)]


@pytest.mark.parametrize(("user", "asks"), [("alice", True), ("", False)])
async def test_a_login_that_the_server_refuses_is_not_repeated_by_itself(app, monkeypatch, user: str, asks: bool):
    logins: list[str | None] = []

    def refuse(request: SeriesRequest) -> None:
        logins.append(request.secrets.password)
        if len(logins) < (2 if asks else 5):
            raise LoginError("the server refused it")

    monkeypatch.setenv(PASSWORD_VARIABLE, "of the environment")
    monkeypatch.setattr(prepare, "check_target", refuse)
    with Notebook(app.context.notebook_path) as notebook:
        target = replace(SMB, share="data", user=user or None)
        notebook.remember(MEMORY_KEY, replace(CHOICES, target=target).to_memory())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        if asks:
            app.screen.query_one("#answer", Input).value = "typed"
            await press(app, pilot, "enter")
            assert here(app).order is not None
        else:
            assert "the server refused it" in painted(app)
    assert logins == (["of the environment", "typed"] if asks else [None])


async def test_where_the_servers_settings_are_is_said_on_the_screen(app, monkeypatch):
    asked: list[tuple[str | None, str | None]] = []

    def find(_name: str, _values: list[str], _target: object, ways: Ways) -> ChangeableSetting:
        asked.append((ways.ssh, ways.smb_conf))
        if ways.smb_conf is None:
            raise ChangeRefusedError("no smb.conf that can be read was found on the server")
        return SETTING

    monkeypatch.setattr(find_setting, "find_setting", find)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert "no smb.conf that can be read" in painted(app)
        await press(app, pilot, "w")
        app.screen.query_one("#answer", Input).value = "root@nas /srv/smb.conf"
        await press(app, pilot, "enter")
        assert here(app).order is not None
    assert asked == [(None, None), ("root@nas", "/srv/smb.conf")]
    with Notebook(app.context.notebook_path) as notebook:
        kept = GuideChoices.from_memory(notebook.remembered(MEMORY_KEY))
    assert (kept.spec.monitor.server_ssh, kept.spec.monitor.smb_conf, kept.step) == (
        "root@nas",
        "/srv/smb.conf",
        MethodStep.CHANGE,
    )


STORED = "trial use sendfile nas 2026-01-31 10:00:00"


def with_stored_trial(path: Path, plan: TrialPlan, *, pairs: int, lone: int = 0) -> SharebenchApp:
    """The list of experiments of a notebook that has this trial, found faster in so many pairs."""
    change = Change(name="use sendfile", value="yes", previous="No")
    with Notebook(path) as notebook:
        notebook.add_experiment(Experiment(name=STORED, kind=ExperimentKind.TRIAL))
        notebook.add(series([1e8 + n for n in range(pairs + lone)], id="a00000000000", experiment=STORED))
        notebook.add(
            series([1.2e8 + n * 1e5 for n in range(pairs)], id="b00000000000", experiment=STORED, change=change)
        )
        notebook.set_trial(STORED, plan)
    return app_on(path, first="experiment")


@pytest.mark.parametrize(("pairs", "lone", "runs"), [(3, 0, 34), (2, 1, 36)])
async def test_a_trial_that_was_stopped_goes_on(app, monkeypatch, pairs: int, lone: int, runs: int):
    """A single run of the pair that was interrupted is not kept."""
    begun: list[TrialOrder] = []

    def run(order: TrialOrder, _path: Path, _control: object) -> Iterator[object]:
        begun.append(order)
        yield SettingRestored("Restored: use sendfile is No again")
        yield Judged(finished(order))

    monkeypatch.setattr(trial, "run_trial", run)
    plan = TrialPlan(
        kind=ChangeKind.SMB_CONF, name="use sendfile", values=("yes",), previous="No", looks=(8, 14, 20),
        accepted_risks=("use sendfile",),
    )  # fmt: skip
    opened = with_stored_trial(app.context.notebook_path, plan, pairs=pairs, lone=lone)
    async with opened.run_test(size=(80, 24)) as pilot:
        await settled(opened, pilot)
        await press(opened, pilot, "e", "enter")
        assert "Not finished" in painted(opened)
        await press(opened, pilot, "g")
        if isinstance(here(opened), AskDialog):
            opened.screen.query_one("#answer", Input).value = "secret"
            await press(opened, pilot, "enter")
        assert "sh /etc/samba/sharebench-undo.sh" in painted(opened)
        assert "Server's settings" not in painted(opened), "they are the trial's own"
        assert f"Kept from before: {pairs} pairs." in painted(opened)
        assert f"at most {runs} runs" in " ".join(painted(opened).split())
        await pilot.press("y")
        await measured(opened, pilot)
        assert "Restored: use sendfile is No again" in painted(opened)
    (order,) = begun
    assert (order.experiment.name, order.plan) == (STORED, plan)


@pytest.mark.parametrize("at_end", [True, False])
async def test_the_newest_pair_comes_into_view_for_who_reads_at_the_end(app, at_end: bool):
    async with app.run_test(size=(80, 14)) as pilot:
        await settled(app, pilot)
        screen = here(app)
        screen._begun = True
        screen.take_event(0, Judged(finished(screen.order)))
        screen.draw()
        await settled(app, pilot)
        box = screen.query_one("#run-box")
        assert box.max_scroll_y > 0
        box.scroll_to(y=box.max_scroll_y if at_end else 0, animate=False, force=True)
        await settled(app, pilot)
        screen.take_event(0, Judged(finished(screen.order, 14)))
        screen.draw()
        await settled(app, pilot)
        assert box.scroll_y == (box.max_scroll_y if at_end else 0)


@pytest.mark.parametrize("pairs", [3, 8])
async def test_a_trial_that_was_stopped_offers_first_to_resume_it(app, monkeypatch, pairs: int):
    def run(order: TrialOrder, _path: Path, _control: object) -> Iterator[object]:
        yield Judged(finished(order, pairs))
        yield SettingRestored("Restored: use sendfile is No again")

    monkeypatch.setattr(trial, "run_trial", run)
    async with app.run_test(size=(100, 36)) as pilot:
        await settled(app, pilot)
        await carried_out(app, pilot)
        assert ("Not finished" in painted(app)) is (pairs == 3)
        await press(app, pilot, "enter")
        assert ("★ Resume it" in painted(app)) is (pairs == 3)


@pytest.mark.parametrize(
    ("error", "said"), [(None, "Not finished: "), ("the server is gone", "‖ interrupted: the server is gone. Not f")]
)
async def test_that_a_trial_was_interrupted_is_said_once(app, error: str | None, said: str):
    plan = TrialPlan(kind=ChangeKind.SMB_CONF, name="use sendfile", values=("yes",), previous="No", looks=(8,))
    opened = with_stored_trial(app.context.notebook_path, plan, pairs=3)
    with sqlite3.connect(app.context.notebook_path) as notebook:
        notebook.execute("UPDATE recordings SET status = 'interrupted', error = ? WHERE kind = 'trial'", (error,))
    async with opened.run_test(size=(80, 24)) as pilot:
        await settled(opened, pilot)
        await press(opened, pilot, "e", "enter")
        assert text_of(opened.screen, "#headline").startswith(said)


async def test_the_points_of_the_pairs_take_the_rows_that_are_left(app):
    plan = TrialPlan(kind=ChangeKind.SMB_CONF, name="use sendfile", values=("yes",), previous="No", looks=(8,))
    opened = with_stored_trial(app.context.notebook_path, plan, pairs=8)
    async with opened.run_test(size=(200, 50)) as pilot:
        await settled(opened, pilot)
        await press(opened, pilot, "e", "enter")
        sizes = ((200, 50, True), (80, 24, False), (120, 35, True), (120, 34, False), (200, 50, True))
        for width, height, has_chart in sizes:
            await pilot.resize_terminal(width, height)
            await settled(opened, pilot)
            shown = painted(opened)
            assert ("zoomed   " in shown) is ("z Zoom" in shown) is has_chart, (width, height)
            assert not has_chart or "zoomed" in "".join(shown.splitlines()[-12:]), "near the keys"
        assert "no change" not in painted(opened), "from 0 they would all lie in one row"
        await press(opened, pilot, "z")
        assert "no change" in painted(opened)
        await press(opened, pilot, "z")
        assert "no change" not in painted(opened)


async def test_a_trial_that_is_decided_has_no_way_to_go_on(app):
    plan = TrialPlan(kind=ChangeKind.SMB_CONF, name="use sendfile", values=("yes",), previous="No", looks=(8,))
    opened = with_stored_trial(app.context.notebook_path, plan, pairs=8)
    async with opened.run_test(size=(80, 24)) as pilot:
        await settled(opened, pilot)
        await press(opened, pilot, "e", "enter")
        assert "x Export" in painted(opened)
        assert "g Resume" not in painted(opened)


async def test_a_terminal_that_is_closed_ends_the_program_once_all_is_put_back(app, monkeypatch):
    done: list[str] = []

    def run(_order: TrialOrder, _path: Path, control: SeriesControl) -> Iterator[object]:
        yield ValueSet("yes", 1)
        assert control.cancelled.wait(HANG_SECONDS)
        done.append("put back")
        yield SettingRestored("Restored: use sendfile is No again")

    monkeypatch.setattr(trial, "run_trial", run)
    monkeypatch.setattr(os, "_exit", lambda code: done.append(f"ended with {code}"))
    before = signal.getsignal(signal.SIGHUP)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "y")
        assert signal.getsignal(signal.SIGHUP) != before, "else the next line would end the tests"
        os.kill(os.getpid(), signal.SIGHUP)
        await measured(app, pilot)
        assert done == ["put back", "ended with 129"]
        assert signal.getsignal(signal.SIGHUP) is before


async def test_a_trial_that_is_stopped_is_told_without_a_dialog(app, monkeypatch):
    def run(*_: object) -> Iterator[object]:
        yield ValueSet(None, 1)
        yield SettingRestored("Restored: use sendfile is No again")
        raise CancelledError("cancelled")

    monkeypatch.setattr(trial, "run_trial", run)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await pilot.press("y")
        await measured(app, pilot)
        assert isinstance(here(app), TrialScreen)
        assert "Restored: use sendfile is No again" in painted(app)
        assert "s Stop" not in painted(app)
        assert "x Export" not in painted(app)


async def test_what_could_not_be_put_back_is_told(app, monkeypatch):
    def run(*_: object) -> Iterator[object]:
        yield ValueSet(None, 1)
        raise ChangeFailedError("it could not be put back: run `sharebench restore`")

    monkeypatch.setattr(trial, "run_trial", run)
    async with app.run_test(size=(100, 36)) as pilot:
        await settled(app, pilot)
        await pilot.press("y")
        await measured(app, pilot)
        await settled(app, pilot)
        assert isinstance(app.screen, MessageDialog)
        assert "run `sharebench restore`" in painted(app)
        await press(app, pilot, "enter")
        assert isinstance(here(app), TrialScreen)
        assert "run `sharebench restore`" in painted(app), "it stays on the screen"


async def test_who_quits_is_told_what_could_not_be_put_back(app, monkeypatch):
    def run(_order: TrialOrder, _path: Path, control: SeriesControl) -> Iterator[object]:
        yield ValueSet("yes", 1)
        assert control.cancelled.wait(HANG_SECONDS)
        raise ChangeFailedError("it could not be put back: run `sharebench restore`")

    monkeypatch.setattr(trial, "run_trial", run)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "y", "ctrl+q")
        assert "restores every" in painted(app)
        await press(app, pilot, "left", "enter")
        await measured(app, pilot)
        await settled(app, pilot)
        assert app.is_running, "nobody would read it else"
        assert "run `sharebench restore`" in painted(app)
        await press(app, pilot, "enter", "ctrl+q")
        assert not app.is_running


async def test_an_entry_of_the_catalogue_leads_there(app, tmp_path: Path):
    opened = app_on(tmp_path / "notebook.db", first="entry", entry="use sendfile")
    async with opened.run_test(size=(100, 36)) as pilot:
        await settled(opened, pilot)
        await pilot.press("t")
        await settled(opened, pilot)
        assert isinstance(here(opened), TrialScreen)
        assert here(opened).setting.startswith("use sendfile = ")


@pytest.mark.parametrize("is_set", [False, True])
async def test_a_login_refused_after_the_yes_drops_the_password_unless_the_setting_may_refuse_it(
    app, monkeypatch, is_set: bool
):
    def run(*_: object) -> Iterator[object]:
        if is_set:
            yield ValueSet("yes", 1)
            yield SettingRestored("Restored: use sendfile is No again")
        raise LoginError("the server refused it")

    target = replace(SMB, share="data")
    monkeypatch.setenv(PASSWORD_VARIABLE, "of the environment")
    monkeypatch.setattr(trial, "run_trial", run)
    with Notebook(app.context.notebook_path) as notebook:
        notebook.remember(MEMORY_KEY, replace(CHOICES, target=target).to_memory())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await pilot.press("y")
        await measured(app, pilot)
        assert "the server refused it" in painted(app)
    assert app.context.logins.is_refused(target) is not is_set


@pytest.mark.parametrize(
    ("error", "stays"), [(UnreachableError("no way to nas"), False), (ChangeFailedError("look at the server"), True)]
)
async def test_who_quits_is_held_only_where_something_may_have_been_written(
    app, monkeypatch, error: Exception, stays: bool
):
    def run(_order: TrialOrder, _path: Path, control: SeriesControl) -> Iterator[object]:
        assert control.cancelled.wait(HANG_SECONDS)
        yield from ()
        raise error

    monkeypatch.setattr(trial, "run_trial", run)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "y", "ctrl+q", "left", "enter")
        await measured(app, pilot)
        assert app.is_running is stays


@pytest.mark.parametrize("begun", [False, True])
async def test_a_notebook_that_is_busy_is_told_as_such(app, monkeypatch, begun: bool):
    def busy(*_: object) -> Iterator[object]:
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise error

    monkeypatch.setattr(*((trial, "run_trial") if begun else (find_setting, "find_setting")), busy)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        if begun:
            await pilot.press("y")
            await measured(app, pilot)
            await press(app, pilot, "enter")
        assert isinstance(here(app), TrialScreen)
        assert "the notebook is held by another program" in painted(app)
        assert "database is locked" not in painted(app)


async def test_without_a_target_it_is_chosen_first_and_the_trial_goes_on(app):
    with Notebook(app.context.notebook_path) as notebook:
        notebook.remember(MEMORY_KEY, GuideChoices().to_memory())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        guide = app.screen
        assert isinstance(guide, GuideScreen)
        assert "Choose what the trial of use sendfile = yes is to measure." in " ".join(painted(app).split())
        for step, is_over in ((MethodStep.FILE, False), (MethodStep.QUIET, True)):
            guide.take(replace(CHOICES, step=step))
            await settled(app, pilot)
            assert isinstance(here(app), TrialScreen) is is_over
        assert "use sendfile = yes, in [data] of /etc/samba/sharebench.conf" in painted(app)


async def test_whoever_leaves_the_choice_of_the_target_is_told_how_to_choose_it(app):
    with Notebook(app.context.notebook_path) as notebook:
        notebook.remember(MEMORY_KEY, replace(CHOICES, file=None, file_bytes=None).to_memory())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.screen.action_step(1)
        await settled(app, pilot)
        # Back to the step that it was jumped from, and then out.
        await press(app, pilot, "escape")
        await press(app, pilot, "escape")
        assert isinstance(here(app), TrialScreen)
        assert "No target and file are chosen: F3 chooses them." in painted(app)
