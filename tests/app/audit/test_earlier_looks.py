"""Audits and diagnoses of one share are found together in the notebook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.audit.earlier_looks import (
    diagnosis_before,
    earlier_look,
    explained_between,
    explained_by,
    is_of_server,
    settings_of,
)
from app.audit.kind import AUDIT_KIND
from app.diagnosis.kind import DIAGNOSIS_KIND
from app.method.look_steps import diagnose_again
from app.method.measured_place import measured_place
from app.method.next_after_recording import after_recording
from forms.tuning.catalogue import find
from storage.looks import Audit, AuditScope, Diagnosis, StageName, recording_of
from storage.notebook import Notebook
from storage.records import SeriesStatus
from tests import diagnoses
from tests.diagnoses import HEALTHY, SYNC_ALWAYS_IN_PHOTOS, audit_of_file, healthy_but, slow_saving

PHOTOS = replace(HEALTHY.target, share="photos")
SLOW = replace(
    slow_saving(),
    status=SeriesStatus.COMPLETE,
    audit=diagnoses.audit(AuditScope.SESSION),
    created_at="2026-01-08T10:00:00.000Z",
)
FINE = replace(
    HEALTHY,
    id="dd66dd66dd66",
    target=PHOTOS,
    complaint=StageName.SMALL_FILES,
    status=SeriesStatus.COMPLETE,
    audit=diagnoses.audit(AuditScope.SESSION),
    created_at="2026-01-08T12:00:00.000Z",
)
AGAIN = {"target": "smb://alice@nas/photos", "complaint": "small-files", "link": "1G"}
"""What is filled in to diagnose the share again."""

AUDIT = audit_of_file(SYNC_ALWAYS_IN_PHOTOS)
"""Between the two."""


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Notebook]:
    with Notebook(tmp_path / "notebook.db") as opened:
        yield opened


def add(notebook: Notebook, *records: Audit | Diagnosis) -> None:
    for record in records:
        notebook.add_recording(recording_of(record))


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, True),
        ({"target": replace(PHOTOS, share="PHOTOS", user="bob")}, True),
        ({"target": replace(PHOTOS, share="public")}, False),
        ({"target": replace(PHOTOS, host="nas-new")}, False),
        ({"target": replace(PHOTOS, port=1445)}, False),
        ({"from_host": "pc2"}, False),
        ({"created_at": "2026-01-08T13:00:00.000Z"}, False),
        ({"stages": ()}, False),
    ],
)
def test_the_diagnosis_before_is_of_the_same_share_machine_and_complaint(
    notebook: Notebook, changes: dict[str, object], found: bool
):
    add(notebook, replace(SLOW, **changes), FINE)  # type: ignore[arg-type]
    before = diagnosis_before(notebook, FINE)
    assert (before.id if before is not None else None) == (SLOW.id if found else None)
    assert diagnosis_before(notebook, replace(FINE, complaint=None)) is None


@pytest.mark.parametrize(
    ("read_after_ms", "is_held_against_first"), [((1.0, 4.0), True), ((1.0, 1.0), False), ((12.0, 12.0), False)]
)
def test_a_diagnosis_made_again_to_be_surer_is_held_against_that_before_the_change(
    notebook: Notebook, read_after_ms: tuple[float, float], is_held_against_first: bool
):
    """Where reading changed too, and varied, the second says to diagnose again and compare with the first."""

    def small_files(hour: int, put_ms: float, get_ms: tuple[float, float]) -> Diagnosis:
        stage = diagnoses.small_files_stage(put_ms / 1000)
        parts = {f"get_{part}_seconds": tuple(ms / 3000 for ms in get_ms) * 20 for part in ("open", "data", "close")}
        stage = replace(stage, samples={**stage.samples, **parts})
        created_at = f"2026-01-08T{hour:02}:00:00.000Z"
        identifier = f"dd{hour:02}" * 3
        return replace(healthy_but(stage, complaint=StageName.SMALL_FILES), id=identifier, created_at=created_at)

    first = small_files(10, 24.0, (12.0, 12.0))
    second = small_files(11, 3.0, read_after_ms)
    third = small_files(12, 3.0, read_after_ms)
    add(notebook, first, second, third)

    expected = first if is_held_against_first else second
    assert diagnosis_before(notebook, second) == first
    assert diagnosis_before(notebook, third) == expected
    assert diagnosis_before(notebook, replace(third, complaint=StageName.FOLDERS)) == second


def test_a_stored_diagnosis_says_what_changed_and_leads_to_the_comparison(notebook: Notebook):
    add(notebook, SLOW, FINE)
    report = DIAGNOSIS_KIND.report(notebook, notebook.recording(FINE.id))
    assert report.answer is not None
    assert report.answer.text.startswith("✓ Saving small files is 5.7 times as fast as at ")
    assert not [table for table in report.tables if table.caption == "For who administers the server"]

    best, *others = after_recording("diagnosis", FINE, earlier_look(notebook, FINE))
    assert (best.screen, best.arguments) == ("compared", {"ids": (SLOW.id, FINE.id)})
    assert "request" not in [step.screen for step in others]
    assert others[-1].arguments == AGAIN


def test_where_something_is_wrong_who_administers_the_server_is_asked_still(notebook: Notebook):
    add(notebook, SLOW)
    report = DIAGNOSIS_KIND.report(notebook, notebook.recording(SLOW.id))
    assert [table for table in report.tables if table.caption == "For who administers the server"]
    assert next(after_recording("diagnosis", SLOW, earlier_look(notebook, SLOW))).screen == "request"


def test_an_audit_of_a_file_leads_back_to_the_complaint_that_its_setting_fits(notebook: Notebook):
    add(notebook, SLOW, AUDIT)
    report = AUDIT_KIND.report(notebook, notebook.recording(AUDIT.id))
    assert report.answer is not None
    assert "fits the diagnosis of nas/photos" in report.answer.text

    best, how_to_set, *_ = after_recording("audit", AUDIT, earlier_look(notebook, AUDIT))
    assert best.screen == "diagnosis"
    assert best.arguments == AGAIN
    page = {"entry": "sync always", "looked_at": "smb://alice@nas/photos", "afterwards": best}
    assert how_to_set.arguments == page, "from there the complaint is diagnosed again, too"


@pytest.mark.parametrize(("loopback", "is_filled_in"), [(False, True), (True, False)])
def test_a_link_that_is_crossed_is_filled_in_again(loopback: bool, is_filled_in: bool):
    again = diagnose_again(replace(SLOW, loopback=loopback))
    assert ("link" in again.arguments) is is_filled_in


def test_what_an_audit_between_two_diagnoses_named_is_known(notebook: Notebook):
    add(notebook, SLOW, AUDIT, FINE)
    explained = explained_between(notebook, SLOW, FINE)
    assert explained is not None
    assert explained.line == "sync always = no"
    assert explained_between(notebook, SLOW, replace(FINE, created_at=AUDIT.created_at)) is None
    assert explained_between(notebook, replace(SLOW, created_at=AUDIT.created_at), FINE) is None
    assert explained_between(notebook, None, FINE) is None

    report = DIAGNOSIS_KIND.report(notebook, notebook.recording(FINE.id))
    assert report.answer is not None
    assert "So it was `sync always = Yes` in [photos]" in report.answer.text


@pytest.mark.parametrize("other", [replace(FINE, id="dd88dd88dd88", created_at="2026-01-08T10:30:00.000Z"), None])
def test_only_the_last_diagnosis_of_a_share_before_the_audit_counts(notebook: Notebook, other: Diagnosis | None):
    add(notebook, *(record for record in (SLOW, other, FINE) if record is not None))
    assert (explained_by(notebook, AUDIT) is None) is (other is not None)


def test_a_server_that_the_file_names_comes_before_a_newer_diagnosis_of_another(notebook: Notebook):
    elsewhere = replace(
        SLOW, id="dd77dd77dd77", target=replace(PHOTOS, host="old"), created_at="2026-01-08T10:30:00.000Z"
    )
    add(notebook, SLOW, elsewhere)
    hosts = []
    for netbios_name in ("NAS", "OTHER"):
        named = audit_of_file(SYNC_ALWAYS_IN_PHOTOS.replace("workgroup = OFFICE", f"netbios name = {netbios_name}"))
        explained = explained_by(notebook, named)
        assert explained is not None
        hosts.append(explained.diagnosis.target.host)
    assert hosts == ["nas", "old"]


@pytest.mark.parametrize(
    ("audit", "fits"),
    [
        (AUDIT, True),
        (audit_of_file("[public]\npath = /q\n"), False),
        (replace(AUDIT, scope=AuditScope.SERVER, subject="smb://bob@NAS/public"), True),
        (replace(AUDIT, scope=AuditScope.SERVER, subject="smb://nas-new/photos"), False),
        (replace(AUDIT, scope=AuditScope.SERVER, subject="smb://nas:1445/photos"), False),
        (replace(AUDIT, scope=AuditScope.SERVER, subject="nas at home"), False),
    ],
)
def test_an_audit_is_of_the_server_that_it_looked_at_or_whose_share_is_in_the_file(audit: Audit, fits: bool):
    assert is_of_server(audit, PHOTOS) is fits


def test_the_catalogue_names_the_section_that_has_the_line(notebook: Notebook):
    entry = find("sync always")
    add(notebook, SLOW)
    assert measured_place(notebook, (), looked_at=PHOTOS).sections_to_change(entry, "no") == ()
    add(notebook, AUDIT)
    audit = settings_of(notebook, PHOTOS)
    assert audit is not None
    assert audit.id == AUDIT.id

    place = measured_place(notebook, (), looked_at=PHOTOS)
    assert (place.share, place.sections_to_change(entry, "no")) == ("photos", ("photos",))
    assert place.sections_to_change(entry, "Yes") == (), "what is so already needs no change"
    assert measured_place(notebook, ()) == place, "nothing else was measured"


@pytest.mark.parametrize(
    ("text", "value", "origin"),
    [
        (SYNC_ALWAYS_IN_PHOTOS, "yes", "the default"),
        ("[global]\nstrict sync = no\n[photos]\npath = /p\n", "no", "set in smb.conf"),
        ("[global]\nstrict sync = no\n[photos]\npath = /p\nstrict sync = yes\n", "yes", "set in smb.conf"),
        ("[photos]\npath = /p\n[public]\nstrict sync = no\n", "yes", "the default"),
    ],
)
def test_what_a_setting_needs_is_read_in_the_newest_audit(notebook: Notebook, text: str, value: str, origin: str):
    add(notebook, SLOW, audit_of_file(text))
    place = measured_place(notebook, (), looked_at=PHOTOS)
    needed = place.settings_needed_by(find("sync always"))["strict sync"]
    assert (needed.value.lower(), needed.origin) == (value, origin)


def test_what_a_setting_needs_is_unknown_where_no_audit_read_all(notebook: Notebook):
    entry = find("sync always")
    assert measured_place(notebook, (), looked_at=PHOTOS).settings_needed_by(entry) == {}
    add(notebook, SLOW, replace(AUDIT, unread=("another file",)))
    assert measured_place(notebook, (), looked_at=PHOTOS).settings_needed_by(entry) == {}
