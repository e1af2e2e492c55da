"""What changed since the diagnosis before, and how much of that the control shows to be the client or the path."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forms.diagnosis.answer import diagnosis_answer
from forms.diagnosis.answer_since import answer_since
from forms.diagnosis.blamed_step import blamed_step
from forms.diagnosis.change_sentences import is_settled, surer_text, would_another_tell
from forms.diagnosis.change_since import (
    SAME_WITHIN,
    FigureChange,
    certainty_text,
    change_since,
    control_text,
    figures_text,
    is_same,
    range_text,
    since_text,
)
from forms.diagnosis.changed_settings import changed_settings_text
from forms.diagnosis.comparison_report import diagnosis_comparison
from forms.diagnosis.figures import Figure, Unit
from forms.layout import Tone
from storage.looks import AuditScope, Diagnosis, Stage, StageName
from tests import diagnoses
from tests.diagnoses import HEALTHY, healthy_but

EARLIER = "2026-01-08T09:06:00.000Z"
NO_EFFECT = "no effect of a setting"
NOT_CLIENT = "It is not the client or the network"
PARTLY = "a part of it is the client or the path"


def saved_in(put_seconds: float, get_seconds: float, load: float = 0.2) -> Stage:
    stage = diagnoses.small_files_stage(put_seconds, get_seconds=get_seconds)
    return replace(stage, facts={**stage.facts, "machine.load_per_processor": load})


def diagnosis_of(stage: Stage, created_at: str = HEALTHY.created_at) -> Diagnosis:
    return healthy_but(stage, complaint=StageName.SMALL_FILES, created_at=created_at)


@pytest.mark.parametrize(
    ("times", "same"), [(1.0, True), (1.24, True), (SAME_WITHIN, False), (0.81, True), (1 / SAME_WITHIN, False)]
)
def test_what_differs_by_less_than_two_diagnoses_of_one_server_do_is_as_before(times: float, same: bool):
    assert is_same(times) is same


@pytest.mark.parametrize(
    ("before", "after", "times", "control_times", "told"),
    [
        # Saving and reading, in milliseconds, before and after.
        ((24.0, 3.0), (1.0, 3.0), 24.0, 1.0, NOT_CLIENT),
        ((24.0, 3.0), (1.0, 2.45), 24.0, 1.22, NOT_CLIENT),
        ((24.0, 3.0), (1.0, 2.4), 24.0, 1.25, PARTLY),
        ((24.0, 6.0), (3.0, 0.9), 8.0, 6.67, NO_EFFECT),
        ((24.0, 6.0), (3.0, 0.96), 8.0, 6.25, PARTLY),
        ((24.0, 6.0), (12.0, 1.0), 2.0, 6.0, "Without that, saving small files is 3.0 times as slow"),
        ((24.0, 3.0), (6.0, 6.0), 4.0, 0.5, "Without that, saving small files is 8.0 times as fast"),
        ((3.0, 3.0), (24.0, 3.0), 0.125, 1.0, NOT_CLIENT),
        ((3.0, 3.0), (24.0, 6.0), 0.125, 0.5, PARTLY),
        ((3.0, 3.0), (3.0, 3.0), 1.0, 1.0, "So is reading a small file"),
    ],
)
def test_the_change_is_told_beside_that_of_what_the_setting_leaves_alone(
    before: tuple[float, float], after: tuple[float, float], times: float, control_times: float, told: str
):
    base = diagnosis_of(saved_in(*(value / 1000 for value in before)), EARLIER)
    other = diagnosis_of(saved_in(*(value / 1000 for value in after)))
    change = change_since(base, other)
    assert change is not None
    assert change.control is not None
    assert change.figure.times == pytest.approx(times)
    assert change.control.times == pytest.approx(control_times, rel=0.01)
    assert told in control_text(change)
    assert control_text(change) in diagnosis_comparison(base, other).fields[0].text


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (1.5, 1.5, "busy both times"),
        (1.5, 1.49, "busy the first time"),
        (1.49, 1.5, "busy the second time"),
        (1.49, 1.49, ""),
    ],
)
def test_a_busy_client_is_named_where_the_control_changed(before: float, after: float, told: str):
    base = diagnosis_of(saved_in(0.024, 0.006, before), EARLIER)
    change = change_since(base, diagnosis_of(saved_in(0.001, 0.003, after)))
    assert change is not None
    text = control_text(change)
    assert ("busy" in text) is bool(told)
    assert told in text


def test_the_answer_begins_with_what_changed_and_keeps_its_sign():
    base = diagnosis_of(saved_in(0.024, 0.0024), EARLIER)
    other = diagnosis_of(saved_in(0.001, 0.0024))
    alone = diagnosis_answer(other)
    since = answer_since(other, base)
    assert since.text.startswith("✓ Saving small files is 24 times as fast as at ")
    assert "42/s → 1,000/s" in since.text
    assert since.text.endswith(alone.text.removeprefix("✓ "))
    assert since.tone is alone.tone is Tone.GOOD
    assert answer_since(other, None) == alone


def test_the_day_is_told_where_it_is_another():
    base = diagnosis_of(saved_in(0.024, 0.0024), "2026-01-05T09:06:00.000Z")
    change = change_since(base, diagnosis_of(saved_in(0.001, 0.0024)))
    assert change is not None
    assert " as on 2026-01-05 at " in since_text(change)


def test_of_several_figures_it_is_the_one_that_was_found_wrong():
    """Reading changed more, but saving was found to be slow."""
    slow = saved_in(0.003, 0.02)
    slow = replace(slow, samples={**slow.samples, "put_data_seconds": (0.1,) * 40})
    change = change_since(diagnosis_of(slow, EARLIER), diagnosis_of(saved_in(0.0024, 0.0001)))
    assert change is not None
    assert change.figure.before.key == "put_file"


def test_without_a_chosen_complaint_or_its_stage_nothing_is_told():
    base = diagnosis_of(saved_in(0.024, 0.0024), EARLIER)
    assert change_since(base, HEALTHY) is None
    without = replace(base, stages=tuple(stage for stage in base.stages if stage.name is not StageName.SMALL_FILES))
    assert change_since(without, diagnosis_of(saved_in(0.001, 0.0024))) is None
    assert diagnosis_comparison(without, HEALTHY).document()["complaint"] is None


@pytest.mark.parametrize("name", [name for name in StageName if name is not StageName.SETTINGS])
def test_every_complaint_has_a_change(name: StageName):
    base = replace(HEALTHY, created_at=EARLIER)
    change = change_since(base, replace(HEALTHY, complaint=name))
    assert change is not None
    assert change.figure.is_same
    assert "as before" in figures_text(change)


def test_a_comparison_answers_in_figures_first():
    base = diagnosis_of(saved_in(0.024, 0.0024), EARLIER)
    report = diagnosis_comparison(base, diagnosis_of(saved_in(0.001, 0.0024)))
    assert report.fields[0].text.startswith("✓ Saving a small file: 24 ms → 1 ms, 24 times as fast.")
    assert report.document()["complaint"] == {
        "stage": "small-files",
        "figure": "put_file",
        "times_as_good": pytest.approx(24),
        "control": "get_file",
        "control_times_as_good": pytest.approx(1),
    }


def figure(value: float, least: float, most: float, unit: Unit = Unit.SECONDS) -> Figure:
    return Figure(StageName.SMALL_FILES, "put_file", "Saving a small file", unit, value, (least, most))


@pytest.mark.parametrize(
    ("before", "after", "least_and_most", "is_certain"),
    [
        (figure(0.007, 0.006, 0.008), figure(0.001, 0.0008, 0.0012), (5, 10), True),
        (figure(2.0, 1.25, 3.0), figure(1.0, 1.0, 1.0), (1.25, 3), True),
        (figure(2.0, 1.24, 3.0), figure(1.0, 1.0, 1.0), (1.24, 3), False),
        (figure(1.0, 1.0, 1.0), figure(2.0, 1.25, 3.0), (1 / 3, 0.8), True),
        (figure(1.0, 1.0, 1.0), figure(2.0, 1.24, 3.0), (1 / 3, 1 / 1.24), False),
        (figure(1e6, 1e6, 1e6, Unit.RATE), figure(4e6, 2e6, 5e6, Unit.RATE), (2, 5), True),
        (figure(1.0, 0.5, 2.0), figure(1.0, 0.5, 2.0), (0.25, 4), False),
    ],
)
def test_a_change_is_certain_where_it_is_one_in_the_whole_range(
    before: Figure, after: Figure, least_and_most: tuple[float, float], is_certain: bool
):
    change = FigureChange(before=before, after=after)
    assert change.range_of_times == pytest.approx(least_and_most)
    assert change.is_certain is is_certain
    assert ("is certain" in certainty_text(change)) is is_certain
    is_one_way = not least_and_most[0] <= 1 <= least_and_most[1]
    assert ("not quite certain" in certainty_text(change)) is (is_one_way and not is_certain)


def test_a_figure_without_a_range_is_called_neither_certain_nor_not():
    change = FigureChange(before=figure(4, 3, 5), after=replace(figure(1, 1, 1), interval=None))
    assert change.range_of_times is None
    assert certainty_text(change) == ""


def in_rounds(put_ms: tuple[float, float], created_at: str, write_ms: float = 0.8) -> Diagnosis:
    """Small files saved in two rounds of twenty, each file in so many milliseconds."""
    stage = diagnoses.small_files_stage(0.0024, get_seconds=0.0024)
    samples = dict(stage.samples)
    rounds = [milliseconds / 1000 for milliseconds in put_ms for _file in range(20)]
    samples["put_data_seconds"] = (write_ms / 1000,) * 40
    samples["put_open_seconds"] = tuple(seconds - write_ms / 1000 - 0.0001 for seconds in rounds)
    samples["put_close_seconds"] = (0.0001,) * 40
    samples["put_files_of_round"] = (20, 20)
    return diagnosis_of(replace(stage, samples=samples), created_at)


@pytest.mark.parametrize(
    ("after_ms", "is_certain"),
    [
        ((2.4, 2.6), True),
        ((2.4, 15.0), False),
    ],
)
def test_what_is_certain_stands_first_and_what_is_not_says_what_would_tell(
    after_ms: tuple[float, float], is_certain: bool
):
    base = in_rounds((14.0, 16.0), EARLIER, write_ms=12)
    change = change_since(base, in_rounds(after_ms, HEALTHY.created_at))
    assert change is not None
    assert change.figure.is_certain is is_certain
    assert bool(surer_text(change)) is not is_certain

    text = answer_since(change.other, base).text.lower()
    assert (text.index("the server's write step") < text.index("times as fast")) is not is_certain
    assert ("diagnose again, and compare that with the diagnosis at 09:06" in text) is not is_certain


@pytest.mark.parametrize(
    ("before_ms", "can_become_certain"),
    [
        ((3.2, 16.0), True),  # at least 1.28 times as fast, if 2.5 ms were exact
        ((3.0, 16.0), False),
    ],
)
def test_diagnosing_again_is_advised_where_that_could_make_a_change_certain(
    before_ms: tuple[float, float], can_become_certain: bool
):
    base = in_rounds(before_ms, EARLIER)
    change = change_since(base, in_rounds((2.4, 2.6), HEALTHY.created_at))
    assert change is not None
    assert change.figure.is_certain is False
    assert change.figure.least_factor == pytest.approx(before_ms[0] / 2.6)
    assert not is_settled(change)
    assert would_another_tell(change) is can_become_certain
    assert ("would not make it surer" in surer_text(change)) is not can_become_certain


def with_reading(diagnosis: Diagnosis, get_ms: tuple[float, float], load: float = 0.2) -> Diagnosis:
    """Small files read in two rounds of twenty."""
    stage = diagnosis.stage(StageName.SMALL_FILES)
    assert stage is not None
    times = tuple(milliseconds / 3000 for milliseconds in get_ms for _file in range(20))
    parts = {f"get_{part}_seconds": times for part in ("open", "data", "close")}
    samples = {**stage.samples, **parts, "get_files_of_round": (20, 20)}
    facts = {**stage.facts, "machine.load_per_processor": load}
    return diagnosis.with_stage(replace(stage, samples=samples, facts=facts))


@pytest.mark.parametrize(
    ("read_after_ms", "rest_range", "is_settled_now"),
    [
        ((24.0, 24.0), (5.6, 5.6), True),  # reading as before: the whole of the change is certain
        ((8.0, 8.0), (1.87, 1.87), True),
        ((5.36, 5.36), (1.25, 1.25), True),
        ((5.2, 6.0), (1.21, 1.4), False),
    ],
)
def test_a_change_is_settled_where_it_is_certain_beside_its_control_too(
    read_after_ms: tuple[float, float], rest_range: tuple[float, float], is_settled_now: bool
):
    """Saving is 5.6 times as fast. No step is to blame before, as reading was slow, too."""
    before = with_reading(in_rounds((14.0, 14.0), EARLIER, write_ms=5), (24.0, 24.0))
    after = with_reading(in_rounds((2.5, 2.5), HEALTHY.created_at), read_after_ms)
    change = change_since(before, after)
    assert change is not None
    assert blamed_step(change) is None
    assert change.figure.is_certain
    assert change.rest_range == pytest.approx(rest_range, rel=0.01)
    assert is_settled(change) is is_settled_now
    assert bool(surer_text(change)) is not is_settled_now
    assert ("how much is left is not certain" in control_text(change)) is not is_settled_now


@pytest.mark.parametrize(("load", "is_quieter_asked_for"), [(1.49, False), (1.5, True)])
def test_a_busy_client_is_asked_to_be_quieter_and_nothing_else_is_advised(load: float, is_quieter_asked_for: bool):
    """What varied is not to be measured again "at another time", too."""
    before = in_rounds((14.0, 16.0), EARLIER, write_ms=12)
    after = with_reading(in_rounds((2.4, 15.0), HEALTHY.created_at), (2.4, 2.4), load)
    text = answer_since(after, before).text
    assert ("diagnose again when this client is quieter" in text) is is_quieter_asked_for
    assert text.count("again") == 1
    assert "measure again" in diagnosis_answer(after).text


def test_what_changed_what_else_it_can_be_and_how_it_is_now_are_paragraphs():
    base = diagnosis_of(saved_in(0.024, 0.0024), EARLIER)
    changed, others, now = answer_since(diagnosis_of(saved_in(0.001, 0.0024)), base).text.splitlines()
    assert changed.startswith("✓ Saving small files is 24 times as fast")
    assert others.startswith(NOT_CLIENT)
    assert now.startswith("Small files are as fast as is usual")


def test_where_all_is_well_but_the_change_is_not_certain_the_tick_is_with_what_is_well():
    before = in_rounds((2.0, 6.0), EARLIER)
    after = in_rounds((1.9, 2.2), HEALTHY.created_at)
    assert diagnosis_answer(after).text.startswith("✓")
    first, *_, last = answer_since(after, before).text.splitlines()
    assert first.startswith("? Saving small files is")
    assert last.startswith("✓ Small files are as fast")


@pytest.mark.parametrize(("round_trip", "is_control"), [(0.00007, False), (0.00009, True)])
def test_a_round_trip_explains_only_what_waits_for_it(round_trip: float, is_control: bool):
    """Half of six round trips of the second diagnosis are a fifth of 2.4 ms and more, or less."""
    stages = [diagnoses.small_files_stage(0.0024), diagnoses.distance_stage(round_trip)]
    base = healthy_but(*stages, complaint=StageName.SMALL_FILES, created_at=EARLIER)
    read_slowly = diagnoses.small_files_stage(0.0024, get_seconds=0.005)
    change = change_since(base, healthy_but(read_slowly, stages[1], complaint=StageName.SMALL_FILES))
    assert change is not None
    assert change.figure.before.key == "get_file"
    assert (change.control is not None) is is_control


def with_settings(text: str, scope: AuditScope = AuditScope.SERVER, unread: tuple[str, ...] = ()) -> Diagnosis:
    stage = saved_in(0.024, 0.0024)
    audit = replace(diagnoses.audit_of_file(text), scope=scope, unread=unread)
    target = replace(HEALTHY.target, share="photos")
    return healthy_but(stage, complaint=StageName.SMALL_FILES, audit=audit, target=target)


WITHOUT_SYNC = "[global]\nworkgroup = OFFICE\n[photos]\npath = /p\n[public]\npath = /other\n"


def test_the_setting_that_changed_is_named_where_both_could_read_the_settings():
    before = with_settings(diagnoses.SYNC_ALWAYS_IN_PHOTOS)
    after = with_settings(WITHOUT_SYNC)
    assert changed_settings_text(before, after) == "Changed meanwhile: [photos] sync always: Yes → not set."
    assert "[photos] sync always: Yes → not set" in answer_since(after, before).text
    assert "are the same" in changed_settings_text(before, before)


@pytest.mark.parametrize(
    "unread",
    [
        with_settings(WITHOUT_SYNC, AuditScope.SESSION),
        with_settings(WITHOUT_SYNC, unread=("another file",)),
        replace(with_settings(WITHOUT_SYNC), audit=None),
    ],
)
def test_of_settings_that_one_could_not_read_nothing_is_said(unread: Diagnosis):
    before = with_settings(diagnoses.SYNC_ALWAYS_IN_PHOTOS)
    assert changed_settings_text(before, unread) == ""
    assert changed_settings_text(unread, before) == ""


@pytest.mark.parametrize(("count", "more"), [(3, False), (4, True)])
def test_of_many_settings_that_changed_three_are_named(count: int, more: bool):
    lines = ["sync always = yes", "strict allocate = yes", "strict locking = yes", "ea support = yes"][:count]
    after = with_settings("\n".join([*WITHOUT_SYNC.splitlines()[:4], *lines]) + "\n")
    assert ("and 1 more" in changed_settings_text(with_settings(WITHOUT_SYNC), after)) is more


@pytest.mark.parametrize(
    ("most", "text"), [(10.0, " (0.04 to 10 times)"), (9.94, " (0.04 to 9.9 times)"), (0.1, " (0.04 to 0.1 times)")]
)
def test_a_range_has_the_digits_that_tell_its_ends_apart(most: float, text: str):
    assert range_text(1.0, (0.04, most)) == text
