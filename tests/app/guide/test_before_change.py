"""Before a change: what the base will show, the repeats that are measured of it by themselves, and the baseline."""

import queue
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from textual.widgets import OptionList

from app.guide.context import GuideContext
from app.guide.context_reading import read_context
from app.guide.page import Begin, Go, Option, Page
from app.guide.page_view import PageView
from app.guide.pages.steps import page_of
from app.guide.plain import PlainGuide
from app.guide.plain_terminal import PlainTerminal
from app.guide.run_screen import RunScreen
from app.guide.screen import GuideScreen
from app.method import base_repeats
from app.method.choices import MEMORY_KEY, GuideChoices, MethodStep, as_in_series, choices_for_change, with_file
from app.recording.process import RunFinished, RunStarted
from forms.comparison.bases import plan_title
from forms.stats.before_change import SPACING_SECONDS, RepeatPlan
from storage.notebook import Notebook
from storage.records import Change, Command, Phase, Series, Target, utc_now
from tests.builders import book, one, run_at
from tests.specs import choices_with, plan_with
from tests.tui import SMB, FakeBackend, app_on, footer_of, measured, painted, press, settled

PLACE = Target(protocol="smb", host="127.0.0.1", port=4450, share="data", path="big.bin", user="bench")
APART = RepeatPlan(series=2, spacing_seconds=SPACING_SECONDS, shows_percent=12.0)
OTHER_PLACE = replace(PLACE, host="nas", user="alice")


def base_series(number: int = 1, **fields) -> Series:
    return one(number, target=PLACE, **fields)


def comparing(series: Series, step: MethodStep = MethodStep.EXPECTED) -> GuideChoices:
    return replace(choices_for_change(series), step=step)


def context_of(path: Path, choices: GuideChoices, practice: tuple[Target, ...] = ()) -> GuideContext:
    with Notebook(path) as notebook:
        return read_context(notebook, choices, GuideContext(practice=practice))


def plan_options(choices: GuideChoices, context: GuideContext) -> list[Option]:
    return [option for option in page_of(choices, context).options if isinstance(option.act, Begin)]


# What the base will show, and what is offered


@pytest.mark.parametrize("step", [MethodStep.EXPECTED, MethodStep.CHANGE])
def test_a_single_series_says_what_it_will_show_and_offers_repeats(tmp_path: Path, step: MethodStep):
    path = book(tmp_path / "notebook.db", base_series())
    choices = comparing(base_series(), step)
    context = context_of(path, choices)
    assert context.as_base is not None
    assert context.as_base.power is not None
    assert context.as_base.power.series == 1

    options = plan_options(choices, context)
    assert len(options) == len(context.as_base.power.plans) > 0
    for option, plan in zip(options, context.as_base.power.plans, strict=True):
        assert isinstance(option.act, Begin)
        following = option.act.choices
        assert (following.planned_repeats, following.spacing_seconds) == (plan.series, plan.spacing_seconds)
        assert (following.repeat_number, following.step) == (1, MethodStep.RUN)
        assert following.spec.lineage.repeats
        assert following.spec.lineage.base_id == base_series().id
        assert not option.advised
    assert any("This base will show" in str(fact) for fact in page_of(choices, context).facts)


@pytest.mark.parametrize(("count", "offers"), [(2, True), (3, False)])
def test_a_base_of_three_is_not_asked_for_more(tmp_path: Path, count: int, offers: bool):
    repeats = [base_series(number, base_id=base_series().id) for number in range(2, count + 1)]
    path = book(tmp_path / "notebook.db", base_series(), *repeats)
    choices = comparing(base_series())
    context = context_of(path, choices)
    assert context.as_base is not None
    assert len(context.as_base.ids) == count
    assert bool(plan_options(choices, context)) is offers


def test_a_series_with_a_change_that_is_being_proven_is_no_base_yet(tmp_path: Path):
    change = Change(name="strict sync", value="no")
    changed = base_series(2, base_id=base_series().id, change=change, experiment="tuning")
    path = book(tmp_path / "notebook.db", base_series(), changed)
    assert context_of(path, comparing(changed)).as_base is None
    assert context_of(path, comparing(changed, MethodStep.CHANGE)).as_base is not None, (
        "the next change is made from it"
    )


@pytest.mark.parametrize("is_named", [False, True])
def test_who_has_named_the_base_is_recommended_the_repeats_that_gain_most(tmp_path: Path, is_named: bool):
    path = book(tmp_path / "notebook.db", base_series(), baselines={"before": base_series().id} if is_named else {})
    choices = comparing(base_series())
    context = context_of(path, choices)
    (advised,) = [option for option in page_of(choices, context).options if option.advised]
    assert context.as_base is not None
    assert context.as_base.power is not None
    gains_most = plan_title(context.as_base.power, context.as_base.power.plans[-1], "it")
    assert advised.title == (gains_most if is_named else "Change one thing")


# The repeats


def test_the_rounds_of_a_plan_follow_one_another_and_end_where_they_are_compared():
    first = base_repeats.first_repeat(GuideChoices(), base_series(), APART)
    assert first.repeat_name == "Repeat 1 of 2"
    second = base_repeats.round_after_repeat(replace(first, series_id="2" * 12))
    assert second.repeat_name == "Repeat 2 of 2"
    assert (second.series_id, second.step) == (None, MethodStep.RUN)
    assert second.spec == first.spec, "a repeat of the same base"
    end = base_repeats.round_after_repeat(replace(second, series_id="3" * 12))
    assert (end.step, end.planned_repeats, end.series_id) == (MethodStep.EXPECTED, 0, "3" * 12)
    assert end.repeat_name == ""


def test_a_plan_survives_the_notebook():
    first = base_repeats.first_repeat(GuideChoices(), base_series(), APART)
    assert GuideChoices.from_memory(first.to_memory()) == first


def test_a_repeat_begins_a_while_after_the_newest_series_of_its_base(tmp_path: Path):
    repeat = base_series(2, base_id=base_series().id)
    choices = base_repeats.first_repeat(GuideChoices(), base_series(), APART)
    with Notebook(book(tmp_path / "notebook.db", base_series(), repeat)) as notebook:
        assert base_repeats.begin_of_repeat(notebook, choices) == repeat.moment + SPACING_SECONDS
        assert base_repeats.begin_of_repeat(notebook, comparing(base_series())) is None


@pytest.mark.parametrize(("planned", "is_whole"), [(5, True), (6, False)])
def test_a_series_that_the_user_ended_has_fewer_runs_than_planned(planned: int, is_whole: bool):
    assert base_repeats.was_measured_whole(base_series(plan=plan_with(runs=planned))) is is_whole


def test_a_series_without_a_planned_number_of_runs_is_whole():
    assert base_repeats.was_measured_whole(base_series(plan=plan_with(runs=9, until_percent=2.0)))
    assert base_repeats.was_measured_whole(base_series(plan=None))


@pytest.mark.parametrize(("size_bytes", "joins"), [(1 << 20, True), (1 << 19, False)])
def test_a_repeat_joins_the_baselines_of_its_base_unless_something_has_changed(
    tmp_path: Path, size_bytes: int, joins: bool
):
    base = base_series()
    repeat = base_series(2, base_id=base.id, client=replace(base.client, block_bytes=size_bytes))
    path = book(tmp_path / "notebook.db", base, repeat, base_series(3), baselines={"before": base.id})
    choices = base_repeats.first_repeat(GuideChoices(), base, APART)
    with Notebook(path) as notebook:
        notebook.set_baseline("another", f"{3:012x}")
        base_repeats.join_baselines(notebook, choices, repeat.id)
        assert notebook.baseline_ids("before") == ([base.id, repeat.id] if joins else [base.id])
        assert notebook.baseline_ids("another") == [f"{3:012x}"]


# The guide measures them


@pytest.fixture
def named(guide_app, backend):
    """The guide where a series that was measured long ago, and is a baseline, is compared."""
    backend.requests = [None]  # its next series is the second
    path = book(guide_app.context.notebook_path, base_series(), baselines={"before": base_series().id})
    with Notebook(path) as notebook:
        notebook.remember(MEMORY_KEY, comparing(base_series()).to_memory())
    return guide_app


def guide(app) -> GuideScreen:
    (screen,) = [screen for screen in app.screen_stack if isinstance(screen, GuideScreen)]
    return screen


def page_now(app) -> Page:
    page = guide(app).query_one(PageView).page
    assert page is not None
    return page


def point_to_advised(app) -> None:
    """Put the cursor on what is recommended."""
    places = [place for place, option in enumerate(page_now(app).options) if option.advised]
    app.screen.query_one(OptionList).highlighted = places[0]


def facts_of(app) -> str:
    return " ".join(map(str, page_now(app).facts))


async def choose_plan(app, pilot):
    """Enter takes what is recommended; the first repeat begins at once, since the base is old."""
    await settled(app, pilot)
    point_to_advised(app)
    await press(app, pilot, "enter")
    await until_waiting(app, pilot)


async def until_waiting(app, pilot):
    """The first repeat has ended, and the second one waits."""
    for _ in range(600):
        await pilot.pause(0.02)
        if isinstance(app.screen, RunScreen) and app.screen.running.waiting:
            app.screen.tick()
            await settled(app, pilot)
            return
    raise AssertionError(f"nothing waits: {painted(app)}")


async def test_a_plan_measures_all_repeats_without_a_further_key(named, backend):
    async with named.run_test(size=(80, 24)) as pilot:
        await choose_plan(named, pilot)
        shown = painted(named)
        assert "Repeat 2 of 2: waits until " in shown
        assert "g Measure now" in footer_of(named)
        assert guide(named).session.choices.repeat_number == 2
        await press(named, pilot, "g")
        await measured(named, pilot)
        assert "Complete: 5 runs" in painted(named)
        await press(named, pilot, "enter")
        assert guide(named).session.choices.step is MethodStep.EXPECTED
        assert "This base of 3 series will show" in painted(named)
    lineages = [request.spec.lineage for request in backend.requests[1:]]
    assert [(lineage.base_id, lineage.repeats) for lineage in lineages] == [(base_series().id, True)] * 2
    ids = [f"{number:012x}" for number in (1, 2, 3)]
    with Notebook(named.context.notebook_path) as notebook:
        assert notebook.baseline_ids("before") == ids
        assert [sorted(group) for group in notebook.repeated_ids()] == [ids]


@pytest.mark.long
async def test_a_plan_that_is_stopped_says_what_is_missing_and_is_resumed_after_a_restart(named, backend):
    async with named.run_test(size=(120, 40)) as pilot:
        await choose_plan(named, pilot)
        await press(named, pilot, "s", "left", "enter")
        await measured(named, pilot)
        await press(named, pilot, "enter" if "⏎ Review" in footer_of(named) else "escape")
        assert guide(named).session.choices.step is MethodStep.RUN
        assert "Still to be measured: 1 of 2 repeats" in facts_of(named)
    assert len(backend.requests) == 2, "nothing was measured after the stop"

    again = app_on(named.context.notebook_path, first="guide", backend=backend)
    async with again.run_test(size=(120, 40)) as pilot:
        await settled(again, pilot)
        assert "Still to be measured: 1 of 2 repeats" in facts_of(again)


async def test_the_missing_repeats_can_be_left_out(named):
    with Notebook(named.context.notebook_path) as notebook:
        choices = base_repeats.first_repeat(GuideChoices(), base_series(), APART)
        notebook.remember(MEMORY_KEY, choices.to_memory())
    async with named.run_test(size=(80, 24)) as pilot:
        await settled(named, pilot)
        await press(named, pilot, "down", "enter")
        following = guide(named).session.choices
        assert (following.step, following.series_id) == (MethodStep.EXPECTED, base_series().id)
        assert following.planned_repeats == 0


async def test_who_ends_a_repeat_early_is_not_led_into_the_next_wait(named, backend):
    backend.script = queue.Queue()
    async with named.run_test(size=(80, 24)) as pilot:
        await settled(named, pilot)
        point_to_advised(named)
        await press(named, pilot, "enter")
        assert isinstance(named.screen, RunScreen)
        for event in (RunStarted(number=1, phase=Phase.MEASURED, of=5), RunFinished(run=run_at(1, 1e8))):
            backend.script.put(event)
        while named.screen.running.valid_runs == 0:
            await pilot.pause(0.02)
            named.screen.tick()
        await press(named, pilot, "e")
        backend.script.put(None)
        await measured(named, pilot)
        assert isinstance(named.screen, RunScreen)
        assert "Complete: 1 run" in painted(named)
        await press(named, pilot, "enter")
        assert isinstance(named.screen, GuideScreen)
        assert "Repeat 2 of 2" in painted(named)
    assert len(backend.requests) == 2


async def test_help_over_the_end_of_a_repeat_is_read_in_peace(named, backend):
    backend.script = queue.Queue()
    async with named.run_test(size=(80, 24)) as pilot:
        await settled(named, pilot)
        point_to_advised(named)
        await press(named, pilot, "enter", "f1")
        help_screen = named.screen
        for number in range(1, 6):
            backend.script.put(RunFinished(run=run_at(number, 1e8)))
        backend.script.put(None)
        await measured(named, pilot)
        assert named.screen is help_screen
        await press(named, pilot, "escape")
        await until_waiting(named, pilot)
        assert "Repeat 2 of 2: waits until " in painted(named)
        named.screen.control.cancel()


def test_the_plain_guide_measures_the_repeats_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Without a key to end it, it waits for its time."""
    path = book(tmp_path / "notebook.db", one(1, target=OTHER_PLACE), baselines={"before": f"{1:012x}"})
    choices = comparing(one(1, target=OTHER_PLACE))
    with Notebook(path) as notebook:
        notebook.remember(MEMORY_KEY, choices.to_memory())
    monkeypatch.setattr("app.guide.needs.wait_to_begin", Mock(return_value=iter(())))
    backend = FakeBackend()
    backend.requests = [None]  # type: ignore[list-item]  # its next series is the second
    lines: list[str] = []
    reads = iter(["\n", "q\n"])
    terminal = PlainTerminal(read=lambda: next(reads, ""), say=lines.append, ask_password=lambda _: "practice")
    guide = PlainGuide(path, backend, terminal=terminal)
    guide.run()
    text = "\n".join(lines)
    assert "Repeat 1 of 2; Ctrl+C stops" in text
    assert "Repeat 2 of 2; Ctrl+C stops" in text
    assert guide.session.choices.step is MethodStep.EXPECTED
    assert "This base of 3 series will show" in text


# Naming a baseline


async def test_the_repeats_of_a_series_are_kept_as_one_baseline_and_it_says_what_that_shows(guide_app):
    repeats = [base_series(number, base_id=base_series().id) for number in (2, 3)]
    path = book(guide_app.context.notebook_path, base_series(), *repeats)
    with Notebook(path) as notebook:
        notebook.remember(MEMORY_KEY, comparing(repeats[-1]).to_memory())
    async with guide_app.run_test(size=(120, 40)) as pilot:
        await settled(guide_app, pilot)
        await press(guide_app, pilot, "up", "enter", *"before", "enter")
        (message,) = [note.message for note in guide_app._notifications]
        assert "This base of 3 series will show a change of " in message
    with Notebook(path) as notebook:
        assert notebook.baseline_ids("before") == [series.id for series in (base_series(), *repeats)]


# After a baseline was named, a round begins with it


def fresh(step: MethodStep = MethodStep.TARGET, **choices) -> GuideChoices:
    return choices_with(step=step, **choices)


@pytest.mark.parametrize("step", [MethodStep.TARGET, MethodStep.FILE])
def test_what_the_baseline_measured_is_recommended_first_and_nothing_else(tmp_path: Path, step: MethodStep):
    plan = plan_with(runs=5, warmups=1, in_flight=8, server_ssh="root@nas")
    base = one(1, target=OTHER_PLACE, link_bits_per_second=2_500_000_000, plan=plan)
    path = book(tmp_path / "notebook.db", base, baselines={"before": base.id})
    choices = fresh(step, target=replace(OTHER_PLACE, path="") if step is MethodStep.FILE else None)
    page = page_of(choices, context_of(path, choices))
    assert [option.title for option in page.options if option.advised] == [page.options[0].title]
    assert page.options[0].title.startswith("Measure against before:")

    act = page.options[0].act
    assert isinstance(act, Go)
    following = act.choices
    assert (following.file, following.file_bytes, following.target) == (
        "big.bin",
        1 << 30,
        replace(OTHER_PLACE, path=""),
    )
    spec = following.spec
    assert (spec.link_bits_per_second, spec.settings.in_flight, spec.monitor.server_ssh) == (
        2_500_000_000,
        8,
        "root@nas",
    )
    assert (spec.counts.warmups, spec.texts.label) == (1, "after")
    assert spec.lineage.base_id is None, "a repeat would be averaged with the baseline"
    assert following.step is MethodStep.RUN


@pytest.mark.parametrize(
    ("baseline", "label"),
    [
        ("before-switch", "after-switch"),
        ("Before the new switch", "After the new switch"),
        ("beforehand", "after beforehand"),
        ("march", "after march"),
    ],
)
def test_what_is_measured_against_a_baseline_is_called_after_it_unless_a_label_was_typed(baseline: str, label: str):
    base = one(1, target=OTHER_PLACE, label=baseline)
    proposed = as_in_series(fresh(), base, baseline)
    assert proposed.spec.texts.label == label
    assert as_in_series(proposed, base, "april").spec.texts.label == "after april", "nobody typed that label"
    assert with_file(proposed, "", "other.bin", 1 << 20).spec.texts.label == "", "it is not compared any more"

    typed = as_in_series(fresh(label="port 3"), base, baseline)
    assert typed.spec.texts.label == "port 3"
    assert with_file(typed, "", "other.bin", 1 << 20).spec.texts.label == "port 3"
    measured_before = as_in_series(fresh(label="port 3", series_id=base.id), base, baseline)
    assert measured_before.spec.texts.label == label, "that of the series before"


def test_a_put_is_measured_again_as_it_was(tmp_path: Path):
    base = one(1, target=replace(OTHER_PLACE, path=""), command=Command.PUT, plan=plan_with(size_bytes=1 << 28))
    path = book(tmp_path / "notebook.db", base, baselines={"before": base.id})
    act = page_of(fresh(), context_of(path, fresh())).options[0].act
    assert isinstance(act, Go)
    assert (act.choices.spec.command, act.choices.run_bytes, act.choices.makes_file) == (Command.PUT, 1 << 28, True)


def test_another_file_that_was_picked_is_not_overruled(tmp_path: Path):
    base = one(1, target=OTHER_PLACE)
    path = book(tmp_path / "notebook.db", base, baselines={"before": base.id})
    for file, is_first in (("big.bin", True), ("other.bin", False)):
        choices = fresh(MethodStep.FILE, target=replace(OTHER_PLACE, path=""), file=file, file_bytes=1 << 32)
        page = page_of(choices, context_of(path, choices))
        assert page.options[0].title.startswith("Measure against before:") is is_first


def test_the_baseline_that_was_named_last_is_offered(tmp_path: Path):
    path = book(tmp_path / "notebook.db", one(1, target=OTHER_PLACE), one(2, target=OTHER_PLACE))
    with Notebook(path) as notebook:
        for name, number in (("new", 1), ("old", 2), ("new", 1)):
            notebook.set_baseline(name, f"{number:012x}")
            time.sleep(0.002)  # the moment is stored in milliseconds
    baseline = context_of(path, fresh()).newest_baseline
    assert baseline is not None
    assert (baseline.baseline, baseline.series.id) == ("new", f"{1:012x}")


@pytest.mark.parametrize(
    "choices",
    [
        fresh(series_id=f"{1:012x}"),
        fresh(base_id=f"{1:012x}"),
        fresh(again_name="strict sync"),
        fresh(MethodStep.RUN, target=OTHER_PLACE),
    ],
    ids=["measured", "changed", "change to come", "later step"],
)
def test_no_baseline_interrupts_what_is_under_way(tmp_path: Path, choices: GuideChoices):
    path = book(tmp_path / "notebook.db", one(1, target=OTHER_PLACE), baselines={"before": f"{1:012x}"})
    assert context_of(path, choices).newest_baseline is None


@pytest.mark.parametrize(("age_seconds", "offers"), [(3500, True), (3700, False)])
def test_repeats_of_a_baseline_are_offered_until_the_change_was_likely_made(
    tmp_path: Path, age_seconds: float, offers: bool
):
    base = one(1, target=OTHER_PLACE, created_at=utc_now(age_seconds))
    path = book(tmp_path / "notebook.db", base, baselines={"before": base.id})
    assert bool(plan_options(fresh(), context_of(path, fresh()))) is offers


GONE = replace(PLACE, user="practice", port=1)


@pytest.mark.parametrize(
    ("target", "imported", "practice", "is_offered"),
    [
        (OTHER_PLACE, None, (), True),
        (OTHER_PLACE, utc_now(), (), False),
        (OTHER_PLACE, None, (SMB,), False),
        (GONE, None, (), False),
        (GONE, None, (replace(GONE, port=2),), False),
        (GONE, None, (replace(GONE, path=""),), True),
    ],
    ids=["real", "imported", "beside practice", "practice is over", "practice elsewhere", "practice"],
)
def test_a_baseline_is_offered_where_it_can_be_measured(
    tmp_path: Path, target: Target, imported: str | None, practice: tuple[Target, ...], is_offered: bool
):
    base = one(1, target=target, imported_at=imported)
    path = book(tmp_path / "notebook.db", base, baselines={"before": base.id})
    assert (context_of(path, fresh(), practice).newest_baseline is not None) is is_offered
