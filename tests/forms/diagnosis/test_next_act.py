"""What comes next after a diagnosis is what its gravest finding names."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from forms.diagnosis.admin_request import entries_about, questions, request_text
from forms.diagnosis.answer import diagnosis_answer
from forms.diagnosis.document import diagnosis_document
from forms.diagnosis.next_act import AUDIT_OF_ANSWER, advised_act, advised_command
from forms.diagnosis.report import diagnosis_report
from forms.diagnosis.rules import complaints
from forms.findings.finding import NextAct
from forms.tuning.catalogue import find
from storage.looks import AuditScope, Stage, StageName
from tests import diagnoses
from tests.diagnoses import HEALTHY, healthy_but, invented

TARGET = "smb://alice@nas/public"


def test_where_nothing_is_wrong_nothing_comes_next():
    assert advised_act(HEALTHY) is None
    assert advised_command(HEALTHY) == ""
    assert diagnosis_document(HEALTHY)["next_step"] is None


@pytest.mark.parametrize(
    ("stage", "act", "command"),
    [
        (diagnoses.long_run_stage(100e6, 10e6), NextAct.ISOLATE, f"sharebench isolate {TARGET}"),
        (
            diagnoses.cards_stage(300e6),
            NextAct.TRY,
            f"sharebench try 'server multi channel support=yes' {TARGET} --make-file",
        ),
        (
            diagnoses.folders_stage(ask=0.02),
            NextAct.CATALOGUE,
            "sharebench catalogue 'vfs objects: catia fruit streams_xattr'",
        ),
    ],
)
def test_the_act_of_the_finding_is_named_with_its_command(stage: Stage, act: NextAct, command: str):
    diagnosis = healthy_but(stage)
    advised = advised_act(diagnosis)
    assert advised is not None
    assert advised.act is act
    assert advised_command(diagnosis) == command
    assert diagnosis_document(diagnosis)["next_step"] == {"act": act.value, "command": command}
    assert command in diagnosis_report(diagnosis).advice[-1]


def test_what_only_a_person_can_do_leads_to_no_act():
    assert advised_act(healthy_but(diagnoses.connect_stage(3.0))) is None


def test_where_settings_were_not_read_who_administers_the_server_is_asked_unless_more_can_be_measured():
    unread = healthy_but(audit=diagnoses.audit(AuditScope.SESSION))
    advised = advised_act(unread)
    assert advised is not None
    assert advised.act is NextAct.ASK
    assert diagnosis_document(unread)["next_step"] == {"act": "ask", "command": AUDIT_OF_ANSWER}
    assert "✓" not in diagnosis_answer(unread).text
    assert "testparm -s" in request_text(unread, diagnosis_answer(unread).text)

    faded = unread.with_stage(diagnoses.long_run_stage(100e6, 10e6))
    assert advised_command(faded) == f"sharebench isolate {TARGET}"

    to_try = unread.with_stage(diagnoses.cards_stage(300e6))
    advised_to_try = advised_act(to_try)
    assert advised_to_try is not None
    assert advised_to_try.act is NextAct.ASK, "nothing can be tried without a way to the server"


def test_a_word_to_replace_in_a_command_is_told_with_the_share():
    text = request_text(diagnoses.slow_saving("photos"), "")
    assert "-T FOLDER\n  FOLDER: the path that testparm shows under [photos].\n" in text


@pytest.mark.parametrize("name", [None, *StageName])
def test_each_complaint_has_questions_and_entries_of_the_catalogue(name: StageName | None):
    asked = questions(name, "photos")
    assert asked
    assert not any("{" in question.placeholder for question in asked)
    assert not any("sharebench" in question.look_for for question in asked), "it is sent to who has none"
    for entry in entries_about(name):
        assert find(entry).name == entry


def test_a_setting_worth_trying_is_no_tick():
    """`dfree command` without `dfree cache time`, say: nobody calls it wrong, and it may be the reason."""
    worth = healthy_but(audit=diagnoses.audit(line="sync always = yes"))
    answer = diagnosis_answer(worth)
    assert answer.text.startswith("→ Worth trying among the server's settings: sync always = yes")
    assert "settings-worth-trying" in [finding.key for finding in complaints(worth)]
    assert advised_act(worth) is not None


def test_harmful_settings_are_tried_or_shown():
    harmful = healthy_but(audit=diagnoses.audit(line="socket options = SO_SNDBUF=14596"))
    advised = advised_act(harmful)
    assert advised is not None
    assert advised.act is NextAct.TRY
    assert advised.setting.startswith("socket options=")


def test_the_complaint_that_was_named_comes_before_costlier_findings():
    """The long run loses nine tenths; the folders a little less."""
    both = healthy_but(
        diagnoses.long_run_stage(100e6, 1e6),
        diagnoses.folders_stage(ask=0.006),
    )
    assert advised_command(both) == f"sharebench isolate {TARGET}"
    named = healthy_but(*both.stages, complaint=StageName.FOLDERS)
    assert advised_command(named).startswith("sharebench catalogue")


@pytest.mark.parametrize(("seconds", "act"), [(0.0033, None), (0.0036, NextAct.ISOLATE)])
def test_a_complaint_whose_reason_is_unknown_leads_to_an_isolation(seconds: float, act: NextAct | None):
    diagnosis = healthy_but(diagnoses.small_files_stage(seconds, get_seconds=0.002), complaint=StageName.SMALL_FILES)
    advised = advised_act(diagnosis)
    assert (advised.act if advised is not None else None) is act


def test_every_entry_to_read_is_one_of_the_catalogue():
    dice = random.Random(61)
    entries = set()
    for _ in range(200):
        advised = advised_act(invented(dice))
        if advised is not None and advised.act is NextAct.CATALOGUE:
            entries.add(advised.entry)
    assert entries
    for entry in entries:
        assert find(entry).name == entry


@pytest.mark.parametrize(("load", "act"), [(1.49, NextAct.ISOLATE), (1.5, None)])
def test_where_this_machine_was_too_busy_to_tell_nothing_is_isolated(load: float, act: NextAct | None):
    slow = diagnoses.small_files_stage(0.0036)
    busy = replace(slow, facts={**slow.facts, "machine.load_per_processor": load})
    diagnosis = healthy_but(busy, complaint=StageName.SMALL_FILES)
    advised = advised_act(diagnosis)
    assert (advised.act if advised is not None else None) is act
    assert ("too busy" in diagnosis_answer(diagnosis).text) is (act is None)
