"""The step that a diagnosis blamed, before and after, and whether its setting was the reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forms.diagnosis.answer import diagnosis_answer, stage_sign
from forms.diagnosis.answer_since import answer_since, stage_sign_since
from forms.diagnosis.blamed_step import blamed_step, reason_text
from forms.diagnosis.change_since import change_since
from forms.diagnosis.chosen_complaint import complaint_answer
from forms.diagnosis.explained_complaint import explained_complaint
from forms.diagnosis.next_act import advised_act
from forms.findings.finding import NextAct
from forms.layout import Sign, Tone
from storage.looks import Audit, AuditScope, Diagnosis, Stage, StageName
from tests import diagnoses
from tests.diagnoses import SYNC_ALWAYS_IN_PHOTOS, audit_of_file, healthy_but

UNREAD = diagnoses.audit(AuditScope.SESSION)
READ = replace(audit_of_file(SYNC_ALWAYS_IN_PHOTOS), scope=AuditScope.SERVER)
READ_AFTERWARDS = replace(audit_of_file("[global]\nworkgroup = OFFICE\n[photos]\npath = /p\n"), scope=AuditScope.SERVER)
READ_WITH_ANOTHER_CHANGE = replace(
    audit_of_file(f"{SYNC_ALWAYS_IN_PHOTOS}[photos]\nstrict allocate = yes\n"), scope=AuditScope.SERVER
)
SMALL = StageName.SMALL_FILES
PROVEN = "So it was `sync always = Yes` in [photos], if nothing else was changed"
NOT_PROVEN = "was the reason is not certain"


def saved(write_milliseconds: float, *, get_seconds: float = 0.0024, read_step: float | None = None) -> Stage:
    """Small files whose write step takes that long when they are saved."""
    stage = diagnoses.small_files_stage(get_seconds=get_seconds)
    samples = {**stage.samples, "put_data_seconds": (write_milliseconds / 1000,) * 40}
    if read_step is not None:
        samples["get_data_seconds"] = (read_step / 1000,) * 40
    return replace(stage, samples=samples)


def photos(stage: Stage, audit: Audit = UNREAD) -> Diagnosis:
    healthy = diagnoses.HEALTHY
    return healthy_but(stage, complaint=SMALL, audit=audit, target=replace(healthy.target, share="photos"))


def reason(before: Diagnosis, after: Diagnosis, *, is_explained: bool = False) -> str:
    change = change_since(before, after)
    assert change is not None
    explained = explained_complaint(audit_of_file(SYNC_ALWAYS_IN_PHOTOS), before) if is_explained else None
    return reason_text(change, explained)


def test_the_step_is_told_before_and_after_with_the_setting_that_an_audit_named():
    text = reason(photos(saved(12)), photos(saved(0.8)), is_explained=True)
    assert text.startswith("The server's write step: 12 ms of 13.6 ms → 0.8 ms of 2.4 ms.")
    assert PROVEN in text


def test_where_the_whole_file_varied_the_step_is_said_to_be_certain():
    change = change_since(photos(saved(12)), photos(saved(0.8)))
    assert change is not None
    assert "certain" not in reason_text(change)
    varied = replace(change.figure, before=replace(change.figure.before, rounds=(0.001, 0.02)))
    text = reason_text(replace(change, figure=varied))
    assert text.startswith("That the server's write step is faster is certain: 12 ms of 13.6 ms →")


def test_without_a_setting_that_was_named_or_read_none_is_the_reason():
    text = reason(photos(saved(12)), photos(saved(0.8)))
    assert "sync always" not in text
    assert "that step was the reason" in text


@pytest.mark.parametrize(
    ("after", "told"),
    [
        (READ_AFTERWARDS, "So it was `sync always`, if nothing else was changed"),
        (READ_WITH_ANOTHER_CHANGE, "So it was that change, if nothing else was changed"),
        (READ, "none of the settings that could be read"),
    ],
)
def test_where_both_read_the_settings_it_is_what_changed_there(after: Audit, told: str):
    assert told in reason(photos(saved(12), READ), photos(saved(0.8), after), is_explained=True)


def test_a_step_that_is_as_slow_is_not_explained_by_what_was_changed():
    slow = photos(saved(12))
    assert "still in effect" in reason(slow, photos(saved(12)), is_explained=True)
    assert "the reason is still there" in reason(slow, photos(saved(12)))
    assert "still in effect" in reason(photos(saved(12), READ), photos(saved(12), READ_AFTERWARDS))
    assert "the reason is still there" in reason(photos(saved(12), READ), photos(saved(12), READ))


def test_a_step_that_is_faster_and_still_slow_is_both():
    assert "still what takes the time" in reason(photos(saved(24)), photos(saved(12)), is_explained=True)


@pytest.mark.parametrize(("read_step", "is_proven"), [(0.8, True), (0.068, True), (0.065, False)])
def test_a_step_must_gain_more_than_the_same_step_of_reading(read_step: float, is_proven: bool):
    """15 times as fast; the same step of reading 11.8 or 12.3 times: 1.25 times as much is needed."""
    before = photos(saved(12, read_step=0.8))
    after = photos(saved(0.8, read_step=read_step))
    change = change_since(before, after)
    assert change is not None
    blamed = blamed_step(change)
    assert blamed is not None
    assert blamed.is_faster is is_proven


def test_nobody_is_asked_once_the_step_is_gone_though_the_whole_is_not_certain():
    after = photos(unsteady(saved(0.8)))
    stage = after.stage(SMALL)
    assert stage is not None
    creates = (0.0008,) * 26 + (0.03,) * 14
    after = after.with_stage(replace(stage, samples={**stage.samples, "put_open_seconds": creates}))
    before = photos(saved(12))
    change = change_since(before, after)
    assert change is not None
    assert not change.figure.is_certain
    assert advised_act(after, before) is None


def test_a_step_that_varied_as_much_proves_nothing():
    stage = saved(12)
    varying = {**stage.samples, "put_data_seconds": (0.0008,) * 16 + (0.012,) * 24}
    before = photos(replace(stage, samples=varying))
    change = change_since(photos(stage), photos(saved(0.8)))
    assert change is not None
    blamed = blamed_step(change)
    assert blamed is not None
    step = replace(blamed.step, before=replace(blamed.step.before, rounds=(0.0009, 0.012)))
    assert replace(blamed, step=step).is_faster is False
    assert reason(before, photos(saved(0.8))) == ""


def test_where_all_gained_as_much_the_setting_is_not_called_the_reason():
    text = reason(photos(saved(12, get_seconds=0.0136)), photos(saved(0.8, get_seconds=0.0024)), is_explained=True)
    assert PROVEN not in text


def unsteady(stage: Stage) -> Stage:
    """Reading is fine in two rounds and slow in the third, beside a client that is busy."""
    times = (0.0008,) * 26 + (0.01,) * 14
    facts = {**stage.facts, "machine.load_per_processor": 4.0}
    rounds = {"get_files_of_round": (13, 13, 14), "put_files_of_round": (13, 13, 14)}
    samples = {**stage.samples, **{f"get_{part}_seconds": times for part in ("open", "data", "close")}, **rounds}
    return replace(stage, facts=facts, samples=samples)


def test_what_was_complained_of_and_is_gone_has_a_tick_though_the_rest_is_not_certain():
    before = photos(saved(12))
    after = photos(unsteady(saved(0.8)))
    assert diagnosis_answer(after).text.startswith("?")
    assert stage_sign(after, SMALL) is Sign.UNKNOWN

    since = answer_since(after, before)
    assert since.text.startswith("✓ Saving small files is ")
    assert since.tone is Tone.GOOD
    assert "measure again" not in since.text
    assert stage_sign_since(after, SMALL, before) is Sign.GOOD
    assert stage_sign_since(after, SMALL, None) is Sign.UNKNOWN
    assert advised_act(after, before) is None


def test_what_is_not_gone_has_no_tick():
    before = photos(saved(12))
    after = photos(unsteady(saved(11)))
    assert answer_since(after, before).text.startswith("!")
    assert stage_sign_since(after, SMALL, before) is Sign.WARNING
    advised = advised_act(after, before)
    assert advised is not None
    assert advised.act is NextAct.ASK


def test_without_a_complaint_before_nothing_is_gone():
    after = photos(unsteady(saved(0.8)))
    fine = photos(saved(0.8))
    assert answer_since(after, fine).text.startswith("?")
    advised = advised_act(after, fine)
    assert advised is not None
    assert advised.act is NextAct.ASK


def test_what_is_fine_in_most_rounds_is_not_called_slow():
    sentence = complaint_answer(photos(unsteady(saved(0.8))), SMALL).sentence
    assert "reading a small file is fine on the whole: 417/s, fine from " in sentence
    assert "slower" not in sentence
