"""A change is proven by hand in the guide: base, change, base put back, and what is decided then."""

from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from app.guide.context import GuideContext
from app.guide.page_view import PageView
from app.guide.pages.proof_facts import turn_text
from app.guide.screen import GuideScreen
from app.method.choices import MEMORY_KEY, MethodStep, choices_for_change, choices_of, same_again
from app.method.rounds import measure_again as measure_the_same
from app.tui.experiment import ExperimentScreen
from app.tui.frame.app import SharebenchApp
from app.tui.widgets.views import AnsiView
from forms.comparison.judged_sides import Sides
from forms.comparison.settling import SettlingStep
from forms.comparison.verdict import compare_sides
from forms.layout import Tone, Toned
from forms.stats.settle import Way
from storage.changes import ChangeKind, TrialPlan
from storage.notebook import Notebook
from storage.records import Change, Decision, Evidence, Experiment, ExperimentKind, Series
from tests.builders import one
from tests.specs import choices_with, varied
from tests.tui import FakeBackend, app_on, measured, painted, press, settled

STEADY = (100e6, 101e6, 99e6, 100e6, 100.5e6)


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend()


@pytest.fixture
def app(tmp_path, backend) -> SharebenchApp:
    return changed_app(tmp_path, backend, 1.12)


def changed_app(
    tmp_path: Path,
    backend: Any,
    factor: float,
    change: Change = Change(name="strict sync", value="no", previous="yes"),  # noqa: B008  frozen
) -> SharebenchApp:
    """The guide after a base and a change of what only the server can tell, both measured and reviewed."""
    path = tmp_path / "notebook.db"
    base, changed = one(1, STEADY), one(2, [factor * rate for rate in STEADY])
    backend.requests = [None, None]  # its next series is the third
    with Notebook(path) as notebook:
        notebook.add(replace(base, experiment="tuning", label=""))
        notebook.add(
            replace(
                changed,
                experiment="tuning",
                label="strict sync = no",
                base_id=base.id,
                change=change,
            )
        )
        choices = replace(choices_of(notebook.series(changed.id)), step=MethodStep.EXPECTED, series_id=changed.id)
        notebook.remember(MEMORY_KEY, varied(choices, base_id=base.id, reviewed=True).to_memory())
    return app_on(path, first="guide", backend=backend)


@pytest.mark.varied
@pytest.mark.parametrize(
    ("factor", "advised", "base", "decision"),
    [
        (3.0, "Keep the change, and go on from there", 2, Decision.KEPT),
        (0.2, "Leave the change out, and change something else", 1, Decision.REVERTED),
        (1.12, "Restore the base, measure again", None, None),
    ],
)
async def test_a_verdict_decides_what_the_next_change_is_made_from(
    tmp_path, backend, factor: float, advised: str, base: int | None, decision: Decision | None
):
    app = changed_app(tmp_path, backend, factor)
    async with app.run_test(size=(120, 50)) as pilot:
        await settled(app, pilot)
        assert f"★ {advised}" in words(app)
        assert words(app).count("★") == 1
        await press(app, pilot, "enter")
        if base is not None:
            assert guide(app).session.choices.step is MethodStep.CHANGE
            assert guide(app).session.choices.series_id == f"{base:012x}"
    with Notebook(app.context.notebook_path) as notebook:
        assert notebook.series(f"{2:012x}").decision is decision


def store_trial(path: Path, day: int, value: str, factor: float, pairs: int, looks: tuple[int, ...]) -> None:
    """A trial of strict sync, of a day in January; with the factor 1 its pairs vary."""
    rates = [rate for rate, _ in zip(cycle(STEADY if factor != 1.0 else (60e6, 150e6)), range(pairs), strict=False)]
    others = [factor * rate for rate in (rates if factor != 1.0 else reversed(rates))]
    plan = TrialPlan(kind=ChangeKind.SMB_CONF, name="strict sync", previous="yes", values=(value,), looks=looks)
    with Notebook(path) as notebook:
        at = f"2026-01-{day:02}T10:00:00.000Z"
        notebook.add_experiment(Experiment(name=TRIED, created_at=at, kind=ExperimentKind.TRIAL))
        notebook.set_trial(TRIED, plan)
        base = one(10, rates, experiment=TRIED)
        notebook.add(base)
        change = Change(name="strict sync", value=value)
        notebook.add(one(11, others, experiment=TRIED, base_id=base.id, change=change))


TRIED = "Trial of strict sync"
MORE = "no", 0.5, 8, (8,)


@pytest.mark.varied
@pytest.mark.parametrize(
    ("tried", "told", "star"),
    [
        ((3, *MORE), True, "Leave the change out, and change something else"),
        ((3, "no", 2.0, 8, (8,)), True, "Keep the change, and go on from there"),
        ((3, "no", 1.0, 8, (8,)), True, "Measure again with a larger file"),
        ((2, *MORE), False, "Restore the base, measure again"),
        ((3, "yes", 0.5, 8, (8,)), False, "Restore the base, measure again"),
        ((3, "no", 0.5, 7, (8,)), False, "Restore the base, measure again"),
    ],
    ids=["slower", "faster", "unknown", "older", "another value", "not finished"],
)
async def test_a_trial_of_the_change_answers_in_place_of_the_comparison(
    tmp_path, backend, tried: tuple[int, str, float, int, tuple[int, ...]], told: bool, star: str
):
    app = changed_app(tmp_path, backend, 1.12)
    store_trial(app.context.notebook_path, *tried)
    async with app.run_test(size=(120, 50)) as pilot:
        await settled(app, pilot)
        shown = words(app)
        assert ("sharebench tried it: " in shown) is told
        assert f"★ {star}" in shown
        assert shown.count("★") == 1
        assert ("nine times in ten" in shown) is not told, "nothing is left to settle"
        assert ("restore it on the server first" in shown) is not told, "the trial has restored it"
        assert ("; first without the change, then make it again" in shown) is (
            star == "Measure again with a larger file"
        )


@pytest.mark.parametrize(("day", "is_told"), [(1, False), (2, True)])
async def test_what_was_tried_since_the_series_is_told_where_the_next_change_is_chosen(
    tmp_path, backend, day: int, is_told: bool
):
    app = changed_app(tmp_path, backend, 1.12)
    store_trial(app.context.notebook_path, day, *MORE)
    with Notebook(app.context.notebook_path) as notebook:
        notebook.remember(MEMORY_KEY, choices_for_change(notebook.series(f"{1:012x}")).to_memory())
    async with app.run_test(size=(120, 50)) as pilot:
        await settled(app, pilot)
        assert ("Tried since: strict sync: ▼ Slower by 50.0 %" in words(app)) is is_told


@pytest.mark.parametrize(("day", "there"), [(1, True), (2, True), (3, False)])
def test_a_trial_that_came_after_the_change_has_restored_it(day: int, there: bool):
    made = Change(name="strict sync", value="no", previous="yes")
    base, changed = one(1, STEADY), one(2, STEADY, change=made, base_id=f"{1:012x}")
    tried = Mock(experiment=Experiment(name=TRIED, created_at=f"2026-01-{day:02}T10:00:00.000Z"))
    known = GuideContext(proof=Sides(base=(base,), other=(changed,), tried=tried))
    said = turn_text(choices_with(interleaved=3, base_id=changed.id), known)
    assert ("It is set already: start." in said) is there
    assert ("Make it on the server now, then start." in said) is not there


@pytest.mark.parametrize(("day", "is_told"), [(3, True), (1, False)])
async def test_a_comparison_from_the_notebook_tells_of_the_trial_too(tmp_path, backend, day: int, is_told: bool):
    app = changed_app(tmp_path, backend, 1.12)
    store_trial(app.context.notebook_path, day, *MORE)
    async with app.run_test(size=(120, 50)) as pilot:
        await settled(app, pilot)
        app.visit("compare", base=f"{1:012x}", other=f"{2:012x}")
        await settled(app, pilot)
        assert ("sharebench tried it: ▼ Slower by 50.0 %" in words(app)) is is_told
        assert ("nine times in ten" in words(app)) is not is_told
        await press(app, pilot, "enter")
        assert ("★ Make another change, starting from get" in words(app)) is is_told, "the base"
        assert "Back to the guide" in words(app)
        await press(app, pilot, "end", "enter")
        assert isinstance(app.screen, GuideScreen)


@pytest.mark.varied
@pytest.mark.parametrize("evidence", Evidence)
async def test_a_change_that_was_not_made_is_not_kept_but_made(tmp_path, backend, evidence: Evidence):
    made = Change(name="strict sync", value="no", previous="yes", evidence=evidence, remark="It still is yes.")
    app = changed_app(tmp_path, backend, 1.12, made)
    contradicted = evidence is Evidence.CONTRADICTED
    async with app.run_test(size=(120, 50)) as pilot:
        await settled(app, pilot)
        shown = words(app)
        assert ("! It still is yes." in shown) is contradicted
        assert ("★ Make the change now, measure again" in shown) is contradicted
        assert ("Keep the change, and go on from there" in shown) is not contradicted
        await press(app, pilot, "8")
        assert ("strict sync = no is kept" in words(app)) is not contradicted
        if contradicted:
            await press(app, pilot, "7", "home", "enter")
            choices = guide(app).session.choices
            assert (choices.step, choices.series_id, choices.spec.lineage.base_id) == (
                MethodStep.RUN,
                None,
                f"{1:012x}",
            )
            assert (choices.spec.lineage.change_name, choices.spec.lineage.change_value, choices.proven_id) == (
                "strict sync",
                "no",
                None,
            )
            assert "Change: strict sync = no (make it on the server now" in words(app)
            await press(app, pilot, "left")
            assert guide(app).session.choices.series_id == f"{2:012x}", "back at what was left"


async def test_what_pairs_would_show_is_offered_where_it_is_said(tmp_path, backend):
    made = Change(name="log level", value="0", previous="3", evidence=Evidence.CONFIRMED)
    app = changed_app(tmp_path, backend, 1.05, made)
    async with app.run_test(size=(120, 50)) as pilot:
        await settled(app, pilot)
        assert "Restore the base," in words(app)
        assert "★ Let sharebench try it restore it on the server first" in words(app)
        assert words(app).count("★") == 1


@pytest.mark.varied
@pytest.mark.parametrize(
    ("way", "interleaved", "star"),
    [
        (Way.TRY, 0, "Let sharebench try it"),
        (Way.INTERLEAVED, 0, "Measure both again, interleaved"),
        (Way.ALTERNATING, 0, "Measure both again, alternating"),
        (Way.BASE_AGAIN, 0, "Restore the base, measure again"),
        (Way.TRY, 2, "One more series of each, interleaved"),
    ],
)
async def test_each_way_that_would_settle_it_is_the_entry_with_the_star(
    tmp_path, backend, monkeypatch, way: Way, interleaved: int, star: str
):
    step = SettlingStep(
        way=way, count=4, seconds=60.0, shows_percent=2.0, commands=("sharebench run",), setting="strict sync=no",
        series_a_side=2 if way is Way.ALTERNATING else None, first_id="1",
    )  # fmt: skip
    monkeypatch.setattr(
        "app.guide.pages.proof.verdict.compare_sides", lambda *sides: replace(compare_sides(*sides), settle=step)
    )
    app = changed_app(tmp_path, backend, 1.12)
    async with app.run_test(size=(120, 50)) as pilot:
        await settled(app, pilot)
        guide(app).take(replace(guide(app).session.choices, interleaved=interleaved))
        await settled(app, pilot)
        page = guide(app).query_one(PageView).page
        assert page is not None
        assert [option.title for option in page.options if option.advised] == [star]


async def test_a_setting_of_the_program_that_had_no_effect_is_left_out(tmp_path, backend):
    made = Change(name="block", value="16M", previous="8M", evidence=Evidence.CONTRADICTED, remark="It still is 8M.")
    app = changed_app(tmp_path, backend, 1.12, made)
    async with app.run_test(size=(120, 50)) as pilot:
        await settled(app, pilot)
        assert "★ Leave the change out, and change something else" in words(app)
        assert "Make the change now" not in words(app)


def guide(app: SharebenchApp) -> GuideScreen:
    assert isinstance(app.screen, GuideScreen)
    return app.screen


def words(app: SharebenchApp) -> str:
    return " ".join(painted(app).replace("│", " ").split())


def third(app: SharebenchApp) -> Series:
    with Notebook(app.context.notebook_path) as notebook:
        return notebook.series(f"{3:012x}")


async def measure_again(app, backend, pilot, rates):
    """Enter on what is advised, then through run and review to the comparison."""
    backend.rates = list(rates)
    await press(app, pilot, "enter")
    assert guide(app).session.choices.step is MethodStep.RUN
    await press(app, pilot, "enter")
    await measured(app, pilot)
    await press(app, pilot, "enter", "enter")
    assert guide(app).session.choices.step is MethodStep.EXPECTED


async def test_the_base_that_came_back_proves_the_change_which_is_kept(app, backend):
    async with app.run_test(size=(120, 50)) as pilot:
        await settled(app, pilot)
        assert "? Probably faster: " in words(app)
        assert "Restore the base, measure again" in words(app)
        await press(app, pilot, "enter")
        assert "the change restored: strict sync = yes. Do it on the server now" in words(app)
        await press(app, pilot, "4")
        assert guide(app).session.choices.proven_id == f"{2:012x}"
        await press(app, pilot, "5")
        backend.rates = list(STEADY)
        await press(app, pilot, "enter")
        await measured(app, pilot)
        await press(app, pilot, "enter", "enter")
        assert "strict sync = no, 2 against 1 series: ▲ Faster by " in words(app)
        assert "= No setting is known to differ" in words(app), "both base series beside each other"
        again = third(app)
        assert (again.base_id, again.change, again.experiment) == (f"{1:012x}", None, "tuning")
        await press(app, pilot, "enter")
        assert guide(app).session.choices.step is MethodStep.CHANGE
        assert guide(app).session.choices.series_id == f"{2:012x}", "the next change is made from the kept one"
    with Notebook(app.context.notebook_path) as notebook:
        assert notebook.series(f"{2:012x}").decision is Decision.KEPT


@pytest.mark.long
async def test_a_base_that_did_not_come_back_takes_the_verdict_and_another_turn_is_advised(app, backend):
    async with app.run_test(size=(120, 50)) as pilot:
        await settled(app, pilot)
        await measure_again(app, backend, pilot, [1.09 * rate for rate in STEADY])
        assert "strict sync = no, 2 against 1 series: ? Inconclusive: 7 % faster (" in words(app)
        assert "★ Let sharebench try it interleaved pairs, then restored" in words(app)
        await press(app, pilot, "down", "enter")
        assert "the change made again: strict sync = no" in words(app)
        backend.rates = [1.12 * rate for rate in STEADY]
        await press(app, pilot, "enter")
        await measured(app, pilot)
        await press(app, pilot, "enter", "enter")
        assert "strict sync = no, 2 against 2 series" in words(app)
        assert guide(app).session.choices.proven_id == f"{2:012x}"


@pytest.mark.long
async def test_a_base_that_shows_other_settings_is_not_counted(app, backend):
    async with app.run_test(size=(120, 50)) as pilot:
        await settled(app, pilot)
        await measure_again(app, backend, pilot, STEADY)
        with Notebook(app.context.notebook_path) as notebook:
            for number, value in ((1, "Yes"), (3, "No")):
                notebook.set_facts(f"{number:012x}", "server", {"smb.conf/share/strict sync": value})
        await press(app, pilot, "left", "right")
        guide(app).take(guide(app).session.choices)
        await settled(app, pilot)
        assert "shows other settings than what it was to repeat" in words(app)
        assert "strict sync = no, 1 against 1 series: ? Probably faster" in words(app)
        page = guide(app).query_one(PageView).page
        assert page is not None
        toned = {fact.tone for fact in page.facts if isinstance(fact, Toned) and "1 against 1" in fact.text}
        assert toned == {Tone.CAUTION}, "coloured like every other verdict"


async def test_the_same_again_repeats_what_was_measured_last_and_not_what_is_in_force(app, backend):
    async with app.run_test(size=(120, 50)) as pilot:
        await settled(app, pilot)
        await measure_again(app, backend, pilot, STEADY)
        screen = guide(app)
        screen.take(same_again(screen.session.choices))
        await settled(app, pilot)
        assert (screen.session.choices.spec.lineage.base_id, screen.session.choices.proven_id) == (
            f"{3:012x}",
            f"{2:012x}",
        )


def test_a_series_of_the_notebook_is_measured_again_as_its_repeat(tmp_path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add_experiment(Experiment(name="survey", kind=ExperimentKind.SURVEY))
        notebook.add(one(1, STEADY, experiment="survey"))
        again = measure_the_same(notebook, f"{1:012x}")
    assert (again.spec.lineage.base_id, again.spec.lineage.experiment, again.spec.texts.label) == (
        f"{1:012x}",
        None,
        "",
    )


async def test_the_experiment_measures_its_base_again(app, backend):
    async with app.run_test(size=(120, 50)) as pilot:
        await settled(app, pilot)
        app.visit("experiment")
        await settled(app, pilot)
        assert isinstance(app.screen, ExperimentScreen)
        await press(app, pilot, "up", "a")
        assert guide(app).session.choices.spec.lineage.base_id == f"{1:012x}"
        backend.rates = list(STEADY)
        await press(app, pilot, "enter")
        await measured(app, pilot)
        app.visit("experiment")
        await settled(app, pilot)
        beside = " ".join(app.screen.query_one("#step", AnsiView).drawn_text.split())
        assert "0 → 1, by strict sync = no (unproven): ▲ Faster by " in beside
