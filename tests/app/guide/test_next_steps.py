"""What one can go on with after a series or a comparison, and what the guide is then about to measure."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.comparison.named import Counted
from app.comparison.sides import sides_to_compare
from app.guide.context import GuideContext
from app.guide.context_reading import read_context
from app.guide.page import Visit
from app.guide.pages.steps import page_of
from app.guide.round_notebook import recall
from app.method.choices import GuideChoices, MethodStep, QuietChoice, with_file
from app.method.known_ways import keep_ways
from app.method.measured_place import measured_place
from app.method.next_after_comparison import after_comparison
from app.method.next_after_recording import after_recording
from app.method.next_steps import TO_COME, NextStep, after_series, after_survey
from app.method.rounds import branch_from, measure_again, repeat_of
from app.trial.resume import StoredTrial
from forms.comparison.remarks import comparison_remarks, weaknesses
from forms.comparison.settling import SettlingStep
from forms.comparison.summary import comparisons
from forms.comparison.verdict import compare, compare_sides
from forms.comparison.wording import (
    comparison_headline,
    comparison_sentences,
    comparison_title,
    settling_sentence,
)
from forms.experiments.summary import experiment_summary
from forms.stats.decision import Doubt, Limits, Verdict
from forms.stats.settle import Way
from forms.tuning.catalogue import find
from storage.changes import ChangeKind, TrialPlan
from storage.notebook import Notebook
from storage.records import (
    Change,
    Decision,
    Evidence,
    Experiment,
    ExperimentKind,
    Quiet,
    QuietVerdict,
    Series,
    SeriesStatus,
)
from tests.builders import CLIENT, book, interleaved, one
from tests.specs import plan_with, varied

STEADY = (100e6, 101e6, 99e6, 100e6, 100e6)
VARYING = (100e6, 160e6, 90e6, 170e6, 120e6)
BUSY = Quiet(verdict=QuietVerdict.BUSY, reasons=("others are at work",))


def names(steps) -> list[str]:
    return [step.name for step in steps]


def taken(notebook: Notebook, steps, name: str):
    (step,) = (step for step in steps if step.name == name)
    assert isinstance(step, NextStep)
    assert step.choices is not None
    return step.choices(notebook)


def test_what_weakens_a_series_is_a_choice_that_mends_it(tmp_path: Path):
    path = book(tmp_path / "notebook.db", one(1, VARYING, quiet=BUSY, plan=plan_with(runs=5, warmups=2)))
    with Notebook(path) as notebook:
        series = notebook.series("last")
        steps = list(after_series(series))
        assert names(steps)[-2:] == ["Measure the same again", "Look at everything first: survey the server"]
        more = taken(notebook, steps, "Measure again with more runs")
        assert (more.step, more.spec.counts.runs, more.series_id) == (MethodStep.RUN, 10, None)
        quiet = taken(notebook, steps, "Measure again, and wait for a quiet time first")
        assert (quiet.quiet, quiet.spec.counts.runs) == ("wait", 5)
        again = taken(notebook, steps, "Measure the same again")
        assert (again.quiet, again.spec.counts.runs) != ("wait", 10)
        lineage = again.spec.lineage
        assert (lineage.base_id, again.spec.texts.label) == (series.id, ""), "not a second one of the same name"
        changed_next = taken(notebook, steps, "Change one thing")
        assert (changed_next.step, changed_next.series_id) == (MethodStep.CHANGE, series.id)


def test_a_baseline_is_measured_against_first_since_its_change_may_be_made_already(tmp_path: Path):
    with Notebook(book(tmp_path / "notebook.db", one(1, (1e8,) * 5))) as notebook:
        series = notebook.series("last")
        steps = list(after_series(series, ["before-switch"]))
        assert "before-switch" in steps[0].name
        assert "Measure the same again" not in names(steps), "it would be the same line twice"
        assert names(steps).count(TO_COME) == 1

        assert steps[0].choices is not None
        measured_next = steps[0].choices(notebook)
        assert (measured_next.step, measured_next.spec.lineage.base_id) == (MethodStep.RUN, series.id)


@pytest.mark.parametrize(
    ("runs", "status", "is_offered"),
    [(3, SeriesStatus.COMPLETE, True), (2, SeriesStatus.COMPLETE, False), (5, SeriesStatus.FAILED, False)],
)
def test_a_change_is_offered_after_a_series_that_can_be_judged(tmp_path: Path, runs: int, status, is_offered: bool):
    with Notebook(book(tmp_path / "notebook.db", one(1, (1e8,) * runs, status=status))) as notebook:
        assert ("Change one thing" in names(after_series(notebook.series("last")))) is is_offered


def test_an_interrupted_series_goes_on_first(tmp_path: Path):
    path = book(tmp_path / "notebook.db", one(1, (100e6,), status=SeriesStatus.INTERRUPTED, plan=plan_with(runs=5)))
    with Notebook(path) as notebook:
        steps = list(after_series(notebook.series("last")))
        assert names(steps)[0] == "Resume where it stopped"
        assert taken(notebook, steps, "Resume where it stopped").series_id == notebook.series("last").id
        assert taken(notebook, steps, "Measure the same again").series_id is None


@pytest.mark.parametrize(
    ("other", "first"),
    [((120e6,) * 5, "Measure again: series 1"), (VARYING[:2], "Measure again with more runs: series 1")],
)
def test_what_would_tell_comes_first_after_a_comparison(tmp_path: Path, other: tuple[float, ...], first: str):
    path = book(tmp_path / "notebook.db", one(1, (100e6, 101e6, 99e6, 100e6, 100e6)), one(2, other))
    with Notebook(path) as notebook:
        (form,) = comparisons(sides_to_compare(notebook, (f"{1:012x}", f"{2:012x}")))
        steps = list(after_comparison(form.comparison))
        assert names(steps)[0] == first
        assert "sharebench" not in comparison_sentences(form.comparison)
        assert "--" not in comparison_sentences(form.comparison)
        begun = taken(notebook, steps, first)
        assert begun.spec.texts.label == notebook.series(f"{1:012x}").label


def surveyed(**fields: Any) -> Any:
    return SimpleNamespace(**{"complete": True, "first": None} | fields)


def test_a_survey_leads_to_its_rest_to_one_change_and_to_the_catalogue(tmp_path: Path):
    path = book(tmp_path / "notebook.db", one(1, (100e6,) * 5))
    with Notebook(path) as notebook:
        series = notebook.series("last")
        found = surveyed(first=SimpleNamespace(series_ids=(series.id,)))
        change = taken(notebook, list(after_survey(found)), "Change ONE thing there, and measure again")
        assert (change.step, change.series_id) == (MethodStep.CHANGE, series.id)
    assert [(step.name, step.screen) for step in after_survey(surveyed(complete=False))] == [
        ("Resume the survey", "survey"), ("See what can be changed: the catalogue", "catalogue"),
    ]  # fmt: skip
    assert names(after_survey(surveyed()))[-1] == "Survey the server again"


@pytest.mark.parametrize(("name", "label"), [("block", "block = 64K"), ("strict sync", "")])
def test_a_series_measured_again_is_called_after_what_is_still_changed(tmp_path: Path, name: str, label: str):
    changed = one(1, VARYING, change=Change(name=name, value="64K", previous=""), label=f"{name} = 64K")
    with Notebook(book(tmp_path / "notebook.db", changed)) as notebook:
        assert measure_again(notebook, f"{1:012x}").spec.texts.label == label
    with Notebook(book(tmp_path / "plain.db", one(1, VARYING, label="before"))) as notebook:
        assert measure_again(notebook, f"{1:012x}").spec.texts.label == ""
        assert measure_again(notebook, f"{1:012x}", "before").spec.texts.label == "after"


def test_a_change_made_by_hand_is_settled_by_the_next_turn_of_interleaved_series(tmp_path: Path):
    change = Change(name="a thing", value="no", previous="yes")
    series = (one(1, VARYING), one(2, tuple(1.1 * rate for rate in VARYING), change=change, base_id=f"{1:012x}"))
    with Notebook(book(tmp_path / "notebook.db", *series)) as notebook:
        (form,) = comparisons(sides_to_compare(notebook, (f"{1:012x}", f"{2:012x}")))
        found = form.comparison
        each = 5
        step = SettlingStep(
            way=Way.ALTERNATING, count=8, shows_percent=20, seconds=60, commands=("a", "b"), series_a_side=each
        )
        first = next(iter(after_comparison(replace(found, settle=step, change=change))))
        assert first.name == settling_sentence(step)
        assert first.choices is not None
        turn = first.choices(notebook)
        assert (turn.step, turn.interleaved, turn.spec.lineage.base_id) == (MethodStep.RUN, each, f"{2:012x}"), (
            "A B, then B"
        )
        for first_id in (found.base_id, found.other_id):
            alone = replace(step, series_a_side=None, first_id=first_id)
            by_hand = next(iter(after_comparison(replace(found, settle=alone, change=None))))
            assert by_hand.name == settling_sentence(step)
            assert by_hand.choices is not None
            assert by_hand.choices(notebook).spec.texts.label == notebook.series(first_id).label


def test_a_change_of_the_client_is_settled_by_the_screen_that_interleaves(tmp_path: Path):
    series = (one(1, VARYING), one(2, VARYING, client=replace(CLIENT, in_flight=1)))
    with Notebook(book(tmp_path / "notebook.db", *series)) as notebook:
        (form,) = comparisons(sides_to_compare(notebook, (f"{1:012x}", f"{2:012x}")))
    step = SettlingStep(way=Way.INTERLEAVED, count=8, shows_percent=20, seconds=60, commands=("a",))
    first = next(iter(after_comparison(replace(form.comparison, settle=step))))
    assert (first.screen, first.arguments) == ("interleaved", {"base": f"{1:012x}", "other": f"{2:012x}", "runs": 8})


@pytest.mark.parametrize(("factor", "better"), [(1.5, 2), (0.5, 1), (1.0, 1)])
def test_after_a_verdict_on_interleaved_runs_the_better_side_is_gone_on_with(
    tmp_path: Path, factor: float, better: int
):
    base, other = one(1, (100e6,) * 8), one(2, (factor * 100e6,) * 8, client=replace(CLIENT, in_flight=1))
    with Notebook(book(tmp_path / "notebook.db", *interleaved(base, other))) as notebook:
        (form,) = comparisons(sides_to_compare(notebook, (base.id, other.id)))
        steps = list(after_comparison(form.comparison))
        assert names(steps)[1:] == ["Measure both again, interleaved", "Look at everything first: survey the server"]
        assert steps[1].arguments == {"base": base.id, "other": other.id, "runs": 8}
        gone_on = taken(
            notebook,
            steps,
            f"Make another change, starting from series {better}",
        )
        assert (gone_on.step, gone_on.series_id) == (MethodStep.CHANGE, f"{better:012x}")


FEW = replace(CLIENT, in_flight=1)
DONE_HERE = Change(name="in-flight", value="1", previous="4", evidence=Evidence.CONFIRMED)


def changed(rates: tuple[float, ...]) -> Series:
    return one(2, rates, client=FEW, change=DONE_HERE, base_id=f"{1:012x}", experiment="tuning")


def test_the_guide_goes_on_after_the_change_was_settled_by_interleaved_series(tmp_path: Path):
    before, after = one(1, VARYING), changed(VARYING)
    pair = interleaved(one(3, (100e6,) * 8, base_id=before.id), one(4, (150e6,) * 8, client=FEW, base_id=after.id))
    with Notebook(book(tmp_path / "notebook.db", before, after, *pair)) as notebook:
        choices = repeat_of(notebook, after.id)
        assert choices.step is MethodStep.RUN
        _, known = recall(notebook, ())
        assert page_of(choices, known).title
        measured = varied(choices, step=MethodStep.EXPECTED, series_id=after.id, base_id=before.id)
        page = page_of(measured, read_context(notebook, measured, known))
    said = " ".join(str(getattr(fact, "text", fact)) for fact in page.facts)
    assert "Against the base (series 1), by their interleaved series: ▲ Faster by 50" in said
    assert "Inconclusive" not in said
    assert not any(option.title == "Measure both again, interleaved" for option in page.options)


WILD = (40e6, 160e6, 300e6, 20e6, 90e6)


def test_where_no_repeat_would_tell_a_larger_file_comes_first(tmp_path: Path):
    before, after = one(1, WILD), changed(WILD)
    with Notebook(book(tmp_path / "notebook.db", before, after)) as notebook:
        (form,) = comparisons(sides_to_compare(notebook, (before.id, after.id)))
        found = replace(form.comparison, settle=None)
        assert "measure longer runs of a larger file" in str(comparison_sentences(found))
        steps = list(after_comparison(found))
        larger = taken(notebook, steps[:1], "Measure again with a larger file: the base first")
        assert (larger.step, larger.again_name, larger.again_value) == (MethodStep.FILE, "in-flight", "1")
        few = replace(found, doubt=Doubt.FEW_RUNS)
        assert not [name for name in names(after_comparison(few)) if "larger file" in name]


@pytest.mark.parametrize("turns", [0, 2])
@pytest.mark.parametrize(("rates", "is_offered"), [(WILD, True), ((100e6, 104e6, 96e6, 100e6, 100e6), False)])
def test_the_guide_offers_a_larger_file_where_no_repeat_would_tell(tmp_path: Path, rates, is_offered: bool, turns: int):
    after = changed(rates)
    with Notebook(book(tmp_path / "notebook.db", one(1, rates), after)) as notebook:
        choices = replace(repeat_of(notebook, after.id), step=MethodStep.EXPECTED, series_id=after.id)
        choices = varied(choices, base_id=after.base_id, interleaved=turns)
        page = page_of(choices, read_context(notebook, choices, GuideContext()))
    said = " ".join(str(getattr(fact, "text", fact)) for fact in page.facts)
    (star,) = (option.title for option in page.options if option.advised)
    assert ("measure longer runs of a larger file" in said) is is_offered
    assert (star == "Measure again with a larger file") is is_offered


def test_the_smb_conf_that_a_series_was_seen_with_is_where_a_change_is_written(tmp_path: Path):
    seen = {"server": {"smb.conf.path": "/srv/smb.conf"}}
    with Notebook(book(tmp_path / "notebook.db", one(1), one(2, environment=seen))) as notebook:
        branch_from(notebook, f"{1:012x}")
        assert measured_place(notebook, ()).conf == "/etc/samba/smb.conf"
        target = branch_from(notebook, f"{2:012x}").target
        assert target is not None
        place = measured_place(notebook, ())
        assert (place.share, place.conf) == (target.share, "/srv/smb.conf")
        keep_ways(notebook, target.host, conf="/opt/smb.conf")
        assert measured_place(notebook, ()).conf == "/opt/smb.conf", "what was typed counts first"


def facts_of_comparing(path: Path, series: Series) -> str:
    with Notebook(path) as notebook:
        choices = repeat_of(notebook, series.id)
        choices = varied(choices, step=MethodStep.EXPECTED, series_id=series.id, base_id=series.base_id)
        page = page_of(choices, read_context(notebook, choices, GuideContext()))
    return " ".join(str(getattr(fact, "text", fact)) for fact in page.facts)


@pytest.mark.parametrize(
    ("decision", "changes", "warns"),
    [(None, True, True), (Decision.KEPT, True, False), (None, False, False)],
)
def test_the_guide_says_that_an_undecided_change_counts_as_kept(
    tmp_path: Path, decision: Decision | None, changes: bool, warns: bool
):
    series = replace(changed((60e6,) * 5), decision=decision) if changes else one(2)
    with Notebook(book(tmp_path / "notebook.db", one(1), series)) as notebook:
        choices = replace(repeat_of(notebook, series.id), step=MethodStep.CHANGE, series_id=series.id)
        page = page_of(choices, read_context(notebook, choices, GuideContext()))
    said = " ".join(str(getattr(fact, "text", fact)) for fact in page.facts)
    assert ("in-flight = 1 is kept" in said) is warns


@pytest.mark.parametrize("repeats", [0, 1])
def test_the_guide_says_what_repeats_it_has_compared(tmp_path: Path, repeats: int):
    again = [replace(one(3, (140e6,) * 5, base_id=f"{1:012x}"), experiment="tuning")] * repeats
    said = facts_of_comparing(book(tmp_path / "notebook.db", one(1), changed((60e6,) * 5), *again), changed(()))
    assert "Against the base" in said
    assert ("2 series of the one side and 1 of the other" in said) is (repeats == 1)


@pytest.mark.parametrize("changes", [1, 2])
def test_beside_its_own_verdict_a_change_has_that_of_its_experiment(tmp_path: Path, changes: int):
    """The screen of the experiment judges all changes together, with wider intervals: both figures are told."""
    steps = [replace(one(1, STEADY), experiment="tuning")]
    for number in range(2, 2 + changes):
        change = Change(name=f"parameter {number}", value="yes", previous="no")
        rates = [rate * 1.15 ** (number - 1) for rate in STEADY]
        step = one(number, rates, base_id=steps[-1].id, change=change)
        steps.append(replace(step, experiment="tuning"))
    said = facts_of_comparing(book(tmp_path / "notebook.db", *steps), steps[-1])
    judged = experiment_summary("tuning", steps).steps[-1].comparison
    assert judged is not None
    together = f"judged at once with wider intervals: {judged.sign} {comparison_headline(judged)}"
    assert (together in said) is (changes == 2)
    assert ("judged at once" in said) is (changes == 2)


def test_a_baseline_of_several_series_is_one_yardstick_of_all_of_them(tmp_path: Path):
    before = (one(1, STEADY), one(2, STEADY))
    after = changed((60e6,) * 5)
    after = replace(after, id=f"{3:012x}", base_id=None, change=None)
    with Notebook(book(tmp_path / "notebook.db", *before, after)) as notebook:
        notebook.set_baseline("spring", before[0].id, before[1].id)
        choices = varied(repeat_of(notebook, after.id), series_id=after.id, base_id=None)
        (yardstick,) = read_context(notebook, choices, GuideContext()).yardsticks
        assert yardstick.name == "baseline spring"
        assert yardstick.sides is not None
        assert {series.id for series in yardstick.sides.base} == {series.id for series in before}

        # A baseline that the series is in itself is held against it by its other series.
        notebook.set_baseline("spring", before[0].id, after.id)
        (other,) = read_context(notebook, choices, GuideContext()).yardsticks
        assert other.series.id == before[0].id


@pytest.mark.parametrize(("size_bytes", "alike"), [(10**8, True), (10**8 + 1, False)])
def test_the_guide_compares_with_baselines_of_the_same_size_alone(tmp_path: Path, size_bytes: int, alike: bool):
    runs = tuple(replace(run, size_bytes=10**8) for run in one(1).runs)
    before = replace(one(5), runs=tuple(replace(run, size_bytes=size_bytes) for run in runs))
    after = replace(changed((60e6,) * 5), runs=runs)
    path = book(tmp_path / "notebook.db", one(1), before, after, baselines={"spring": before.id})
    assert ("Against baseline spring" in facts_of_comparing(path, after)) is alike


@pytest.mark.parametrize("name", ["a first one", "z last one"])
def test_a_series_of_the_same_file_is_the_new_side_of_its_baseline_however_it_was_begun(tmp_path: Path, name: str):
    """Its base is the baseline of its own path, whatever other baselines of that size are called."""
    before = one(1)
    elsewhere = one(2, target=replace(before.target, host="elsewhere"))
    after = one(3, tuple(1.5 * rate for rate in STEADY), link_bits_per_second=2_500_000_000)
    baselines = {"middle": before.id, name: elsewhere.id}
    with Notebook(book(tmp_path / "notebook.db", before, elsewhere, after, baselines=baselines)) as notebook:
        by_hand = with_file(GuideChoices(target=replace(after.target, path="")), "", after.target.path, 1 << 30)
        choices = replace(by_hand, step=MethodStep.REVIEW, series_id=after.id)
        page = page_of(choices, read_context(notebook, choices, GuideContext()))
    assert [option.title for option in page.options if option.advised] == ["Compare with baseline middle"]


def test_a_pair_that_stands_for_the_baseline_has_not_its_name(tmp_path: Path):
    before, after = one(1, VARYING), changed(VARYING)
    pair = interleaved(one(3, (100e6,) * 8, base_id=before.id), one(4, (150e6,) * 8, client=FEW, base_id=after.id))
    with Notebook(book(tmp_path / "notebook.db", before, after, *pair, baselines={"spring": before.id})) as notebook:
        ids = (before.id, after.id)
        (narrowed,) = sides_to_compare(notebook, ids, counted=Counted.REPEATS, by_interleaved=True)
        (whole,) = sides_to_compare(notebook, ids, counted=Counted.REPEATS, by_interleaved=False)
    assert [each.id for each in narrowed.base] == [f"{3:012x}"]
    assert compare_sides(narrowed, Limits()).base_baseline == ""
    assert compare_sides(whole, Limits()).base_baseline == "spring"


def test_the_guide_tells_one_figure_of_a_change_not_that_of_the_last_series_alone_as_well(tmp_path: Path):
    again = replace(one(3, (140e6,) * 5, base_id=f"{1:012x}"), experiment="tuning")
    said = facts_of_comparing(book(tmp_path / "notebook.db", one(1), changed((40e6,) * 5), again), changed(()))
    assert "▼ Slower by" in said
    assert "% slower with" not in said


def test_an_open_change_of_the_client_is_settled_from_the_guide_run_by_run(tmp_path: Path):
    rates = (100e6, 104e6, 96e6, 101e6, 99e6)
    after = changed(tuple(1.05 * rate for rate in rates))
    with Notebook(book(tmp_path / "notebook.db", one(1, rates), after)) as notebook:
        choices = repeat_of(notebook, after.id)
        choices = varied(choices, step=MethodStep.EXPECTED, series_id=after.id, base_id=f"{1:012x}")
        page = page_of(choices, read_context(notebook, choices, GuideContext()))
    (advised,) = (option for option in page.options if option.advised)
    assert advised.title == "Measure both again, interleaved"
    assert isinstance(advised.act, Visit)
    assert (advised.act.name, advised.act.arguments["other"]) == ("interleaved", after.id)


def test_series_are_compared_alone_where_that_is_asked(tmp_path: Path):
    series = (one(1), one(2, base_id=f"{1:012x}"), one(3, (120e6,) * 5))
    ids = (f"{1:012x}", f"{3:012x}")
    with Notebook(book(tmp_path / "notebook.db", *series)) as notebook:
        (with_repeats,) = sides_to_compare(notebook, ids, counted=Counted.REPEATS)
        (alone,) = sides_to_compare(notebook, ids, counted=Counted.ALONE)
    assert [each.id for each in with_repeats.base] == [f"{1:012x}", f"{2:012x}"]
    assert [each.id for each in alone.base] == [f"{1:012x}"]


def test_the_name_of_a_baseline_is_that_of_the_base(tmp_path: Path):
    path = book(tmp_path / "notebook.db", one(1), one(2), baselines={"spring": f"{1:012x}"})
    with Notebook(path) as notebook:
        (form,) = comparisons(sides_to_compare(notebook, ("spring", f"{2:012x}")))
        (back,) = comparisons(sides_to_compare(notebook, (f"{2:012x}", "spring")))
    assert (comparison_title(form.comparison), back.comparison.base_name) == (
        "series 2 against spring",
        "series 2",
    )


@pytest.mark.parametrize(("kind", "again"), [(ExperimentKind.TRIAL, True), (ExperimentKind.SWEEP, False)])
def test_a_trial_can_be_tried_again_but_no_sweep_as_one(kind: ExperimentKind, again: bool):
    plan = TrialPlan(
        kind=ChangeKind.SMB_CONF,
        name="log level",
        section="[global]",
        previous="0",
        values=("3",),
        looks=(8,),
        proofs=(),
    )
    found = StoredTrial(experiment=Experiment(name="it", kind=kind), plan=plan, base=one(1), blocks_done=0)
    names = [step.name for step in after_recording(kind, found)]
    assert ("Try log level = 3 again" in names) is again


@pytest.mark.parametrize(
    ("base", "other", "waits"),
    [(None, None, 0), (BUSY, None, 1), (BUSY, BUSY, 2), (Quiet(verdict=QuietVerdict.QUIET), None, 0)],
)
def test_what_was_measured_at_a_busy_time_is_measured_again_at_a_quiet_one(tmp_path: Path, base, other, waits: int):
    with Notebook(book(tmp_path / "notebook.db", one(1, quiet=base), one(2, VARYING, quiet=other))) as notebook:
        (form,) = comparisons(sides_to_compare(notebook, (f"{1:012x}", f"{2:012x}")))
        found = names(after_comparison(form.comparison))
        assert sum(name.startswith("Measure again, and wait for a quiet time first: ") for name in found) == waits
        assert sum(name.startswith("Measure again: ") for name in found) == 2 - waits
        if waits:
            name = "Measure again, and wait for a quiet time first: series 1"
            assert taken(notebook, after_comparison(form.comparison), name).quiet is QuietChoice.WAIT


@pytest.mark.parametrize(
    ("base", "other", "is_settled"), [(None, None, True), (None, BUSY, True), (BUSY, None, False), (BUSY, BUSY, True)]
)
def test_an_answer_that_a_busy_time_may_be_the_reason_for_is_measured_again_first(
    tmp_path: Path, base: Quiet | None, other: Quiet | None, is_settled: bool
):
    """Other work slows a side down: of the faster one it is not the reason, and of both not of which is faster."""
    after = replace(changed(tuple(1.6 * rate for rate in STEADY)), quiet=other)
    with Notebook(book(tmp_path / "notebook.db", one(1, STEADY, quiet=base), after)) as notebook:
        (form,) = comparisons(sides_to_compare(notebook, (f"{1:012x}", after.id)))
    assert form.comparison.verdict is Verdict.FASTER
    found = names(after_comparison(form.comparison))
    assert any("Make another change, starting from" in name for name in found)
    assert found[0].startswith(
        "Make another change" if is_settled else "Measure again, and wait for a quiet time first"
    )

    told = [sentence for sentence in weaknesses(form) if "busy time" in sentence]
    assert len(told) == (1 if BUSY in (base, other) else 0)
    assert all(("measure again" in sentence) is not is_settled for sentence in told)


@pytest.mark.parametrize(("facts", "is_offered"), [({"smb.conf/global/oplocks": "Yes"}, True), ({}, False)])
def test_the_settings_of_a_server_are_offered_where_they_were_read(facts: dict[str, str], is_offered: bool):
    found = [step for step in after_series(one(1, environment={"server": facts})) if step.screen == "catalogue"]
    assert bool(found) is is_offered
    assert all(step.arguments == {"series_id": f"{1:012x}"} for step in found)


def test_the_server_of_a_series_is_told_though_the_guide_measures_another(tmp_path: Path):
    seen = [{"server": {"smb.conf/global/strict sync": value, "smb.conf.path": f"/{value}.conf"}} for value in "ab"]
    target = replace(one(1).target, share="other")
    first, second = one(1, environment=seen[0], target=target), one(2, environment=seen[1])
    with Notebook(book(tmp_path / "notebook.db", first, second)) as notebook:
        entry = find("strict sync")
        for series_id, value, share in ((first.id, "a", "other"), ("", "b", "data"), (second.id, "b", "data")):
            place = measured_place(notebook, (), series_id)
            assert (place.share, place.conf) == (share, f"/{value}.conf")
            assert place.value_in_words(entry).startswith(f"{value} (not the default), when series ")
        assert not place.value_in_words(find("block"))


def test_a_series_that_is_measured_again_is_compared_with_the_one_before(tmp_path: Path):
    path = book(tmp_path / "notebook.db", one(1, STEADY), one(2, STEADY, base_id=f"{1:012x}"))
    with Notebook(path) as notebook:
        choices = varied(repeat_of(notebook, f"{2:012x}"), series_id=f"{2:012x}", base_id=f"{1:012x}")
        assert [stick.name for stick in read_context(notebook, choices, GuideContext()).yardsticks] == [
            "the series that it repeats"
        ]
        choices = replace(choices, proven_id=f"{2:012x}")
        assert [stick.name for stick in read_context(notebook, choices, GuideContext()).yardsticks] == ["the base"]


@pytest.mark.parametrize(
    ("base", "names"), [(1, ["baseline nov"]), (3, ["the series that it repeats", "baseline nov"])]
)
def test_a_repeat_of_a_baseline_is_compared_with_that_by_its_name(tmp_path: Path, base: int, names: list[str]):
    repeat = one(4, STEADY, base_id=f"{base:012x}")
    path = book(tmp_path / "notebook.db", one(1, STEADY), one(3, STEADY), repeat, baselines={"nov": f"{1:012x}"})
    with Notebook(path) as notebook:
        choices = varied(repeat_of(notebook, repeat.id), series_id=repeat.id, base_id=f"{base:012x}")
        assert [stick.name for stick in read_context(notebook, choices, GuideContext()).yardsticks] == names


def test_series_of_the_same_settings_are_offered_once_to_be_measured_again(tmp_path: Path):
    with Notebook(book(tmp_path / "notebook.db", one(1, STEADY), one(2, STEADY, base_id=f"{1:012x}"))) as notebook:
        (form,) = comparisons(sides_to_compare(notebook, (f"{1:012x}", f"{2:012x}")))
        assert form.comparison.doubt is Doubt.SAME_SETTINGS
        assert sum(name.startswith("Measure again") for name in names(after_comparison(form.comparison))) == 1
        change = next(one for one in after_comparison(form.comparison) if one.name == "Change one thing")
        assert change.choices
        assert change.choices(notebook).series_id == f"{2:012x}", "from the newer one"


@pytest.mark.parametrize(("seen", "differs"), [(True, False), (False, False), (True, True)])
def test_series_in_which_nothing_differs_are_not_measured_again_to_find_out_why(tmp_path: Path, *, seen, differs):
    """Both would be the same; where the server was not read, or something differs, it can be alternated."""
    facts = {"server": {"smb.conf/global/strict sync": "Yes"}} if seen else {}
    client = replace(CLIENT, in_flight=1) if differs else CLIENT
    pair = one(1, STEADY, environment=facts), one(2, [1.03 * rate for rate in STEADY], environment=facts, client=client)
    with Notebook(book(tmp_path / "notebook.db", *pair)) as notebook:
        (form,) = comparisons(sides_to_compare(notebook, (f"{1:012x}", f"{2:012x}")))
    found, alike = form.comparison, seen and not differs
    assert not found.known
    assert found.is_alike is alike
    assert (found.settle is None) is alike
    assert comparison_sentences(found).endswith(": measured again, both show only how series vary.") is alike
    assert any("larger file" in name for name in names(after_comparison(found))) is False
    assert ("The server's settings are the same." in comparison_remarks(form)) is (seen and differs)


def test_a_change_that_nobody_claimed_is_kept_for_after_the_larger_file(tmp_path: Path):
    wild = [100e6, 140e6, 95e6, 120e6, 85e6]
    pair = one(1, wild), one(2, wild[::-1], client=replace(CLIENT, in_flight=1))
    with Notebook(book(tmp_path / "notebook.db", *pair)) as notebook:
        (form,) = comparisons(sides_to_compare(notebook, (f"{1:012x}", f"{2:012x}")))
        larger = next(one for one in after_comparison(form.comparison) if "larger file" in one.name)
        assert larger.choices
        choices = larger.choices(notebook)
        assert (choices.again_name, choices.again_value) == ("in-flight", "1")
        facts = page_of(replace(choices, step=MethodStep.RUN), GuideContext()).facts
        assert "This is the base. in-flight = 1 is offered after it, to be compared." in facts
    two = replace(pair[1], client=replace(CLIENT, in_flight=1, block_bytes=65536))
    assert compare(pair[0], two).the_change is None, "of two it is not known which"


@pytest.mark.parametrize(("factor", "settles"), [(1.03, True), (1.02, True), (1.5, False)])
def test_the_interleaved_runs_that_would_settle_it_are_the_first_entry(tmp_path: Path, factor: float, settles: bool):
    rates = (100e6, 104e6, 97e6, 101e6, 99e6, 103e6, 98e6, 100e6)
    base, other = one(1, rates), one(2, [factor * rate for rate in rates[::-1]], client=replace(CLIENT, in_flight=1))
    with Notebook(book(tmp_path / "notebook.db", *interleaved(base, other))) as notebook:
        (form,) = comparisons(sides_to_compare(notebook, (base.id, other.id)))
    first = next(after_comparison(form.comparison))
    assert (first.screen == "interleaved") is settles
    if settles:
        needed = form.comparison.needed_runs
        assert f"About {needed} interleaved runs a side would settle it" in comparison_sentences(form.comparison)
        assert first.name.startswith(f"Measure both again, interleaved: {needed} runs each, about ")
        assert first.arguments["runs"] == needed


def test_the_newest_three_that_were_tried_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.guide.context_reading.trials_since", lambda *_: iter("abcd"))
    with Notebook(book(tmp_path / "notebook.db", one(1))) as notebook:
        known = read_context(notebook, branch_from(notebook, f"{1:012x}"), GuideContext())
    assert "".join(map(str, known.trials)) == "abc"


@pytest.mark.parametrize(
    ("size", "host", "busy", "more", "offered"),
    [
        (1 << 20, "nas", False, {}, "Measure again with a larger file"),
        (1 << 20, "nas", True, {}, "Measure again with a larger file, at a quiet time"),
        (1 << 30, "nas", False, {}, ""),
        (1 << 20, "127.0.0.1", False, {}, ""),
        (1 << 20, "nas", False, {"verdict": Verdict.FASTER}, ""),
    ],
)
def test_equal_series_of_short_runs_lead_to_a_larger_file_as_their_reviews_do(
    tmp_path: Path, size, host, busy, more, offered
):
    place = replace(one(1).target, host=host, share="practice" if host[0] == "1" else "data", user="practice")
    quiet = BUSY if busy else None
    first, second = (one(number, STEADY, size_bytes=size, target=place, quiet=quiet) for number in (1, 2))
    with Notebook(book(tmp_path / "notebook.db", first, replace(second, base_id=first.id))) as notebook:
        (form,) = comparisons(sides_to_compare(notebook, (first.id, second.id)))
        steps = names(after_comparison(replace(form.comparison, **more)))
        assert [name for name in steps if "larger file" in name] == [offered] * bool(offered)
        reviewed = names(after_series(first))
        assert more or [name for name in reviewed if "larger file" in name] == [offered] * bool(offered)


@pytest.mark.parametrize("base_is_shown", [True, False])
def test_the_guide_knows_what_was_measured_from_a_base(tmp_path: Path, base_is_shown: bool):
    change = Change(name="block", value="64K", previous="1M", evidence=Evidence.CONFIRMED)
    base, changed = one(1, STEADY), one(2, STEADY, base_id=f"{1:012x}", change=change)
    of_server = one(3, STEADY, base_id=f"{1:012x}", change=replace(change, name="strict sync", value="no"))
    another = one(4, STEADY, client=replace(CLIENT, in_flight=1), label="another base")
    from_it = one(5, STEADY, client=another.client, base_id=another.id, change=replace(change, value="256K"))
    elsewhere = replace(another.target, share="other")
    of_other = one(6, STEADY, base_id=f"{1:012x}", change=replace(change, value="4K"), target=elsewhere)
    known = base, changed, of_server, another, from_it, of_other
    with Notebook(book(tmp_path / "notebook.db", *known)) as notebook:
        step = MethodStep.CHANGE if base_is_shown else MethodStep.EXPECTED
        choices = replace(branch_from(notebook, base.id), step=step)
        made = read_context(notebook, choices, GuideContext()).measured_changes
        assert [(told.value, sides.other[0].id) for told, sides in made] == [("64K", changed.id)] * base_is_shown


def test_a_base_whose_link_was_replaced_is_not_offered_to_be_measured_again():
    gigabit = 1_000_000_000
    base = one(1, STEADY, link_bits_per_second=gigabit)
    after = one(2, [rate * 1.03 for rate in STEADY], link_bits_per_second=2 * gigabit)
    same_link = replace(after, link_bits_per_second=gigabit)

    def offered(other: Series) -> list[str]:
        names = [step.name for step in after_comparison(compare(base, other))]
        return [name for name in names if name.startswith("Measure again: ")]

    assert len(offered(same_link)) == 2
    assert offered(after) == [], "more of the other side would hardly tell more"
    beyond_the_old_link = one(2, [1.3 * rate for rate in STEADY], link_bits_per_second=2 * gigabit)
    assert compare(base, beyond_the_old_link).is_base_gone


def test_nothing_begins_with_a_base_whose_link_was_replaced():
    """A series of few and varying runs asks for more of both sides, or for a larger file: of a base that is there."""
    gigabit = 1_000_000_000
    varying = [60e6, 100e6, 140e6, 80e6, 120e6]
    base = one(1, varying, link_bits_per_second=gigabit)
    after = one(2, [rate * 1.2 for rate in varying], link_bits_per_second=2 * gigabit)
    same_link = replace(after, link_bits_per_second=gigabit)

    def of_the_base(other: Series) -> list[str]:
        names = [step.name for step in after_comparison(compare(base, other))]
        return [name for name in names if "base" in name or "series 1" in name]

    assert of_the_base(same_link)
    assert of_the_base(after) == []
