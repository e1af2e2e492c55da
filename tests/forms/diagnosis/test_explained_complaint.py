"""Which setting of an audit fits what a diagnosis of the same share measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forms.audit.report import audit_report
from forms.diagnosis.explained_complaint import explained_complaint, explanation
from forms.layout import Sign
from storage.looks import StageName
from tests.diagnoses import HEALTHY, SYNC_ALWAYS_IN_PHOTOS, audit_of_file, slow_saving


@pytest.mark.parametrize(
    ("text", "share", "fits"),
    [
        (SYNC_ALWAYS_IN_PHOTOS, "photos", True),
        (SYNC_ALWAYS_IN_PHOTOS, "PHOTOS", True),
        (SYNC_ALWAYS_IN_PHOTOS, "public", False),
        ("[global]\nsync always = yes\n[photos]\npath = /p\n", "photos", True),
        ("[global]\nsync always = yes\n[photos]\npath = /p\nsync always = no\n", "photos", False),
        ("[photos]\npath = /p\nsync always = yes\nstrict sync = no\n", "photos", False),
        ("[photos]\npath = /p\nsync always = no\n", "photos", False),
        ("[photos]\npath = /p\nstrict locking = yes\n", "photos", False),
    ],
)
def test_a_line_fits_where_it_holds_for_the_share_and_is_what_was_measured(text: str, share: str, fits: bool):
    assert (explained_complaint(audit_of_file(text), slow_saving(share)) is not None) is fits


def test_a_fine_diagnosis_is_explained_by_nothing():
    fine = replace(HEALTHY, complaint=StageName.SMALL_FILES, target=replace(HEALTHY.target, share="photos"))
    assert explained_complaint(audit_of_file(SYNC_ALWAYS_IN_PHOTOS), fine) is None


def test_the_form_names_the_share_and_the_diagnosis_and_what_is_to_be_set():
    audit = audit_of_file(SYNC_ALWAYS_IN_PHOTOS)
    explained = explained_complaint(audit, slow_saving())
    assert explained is not None

    report = audit_report(audit, explanation=explanation(explained, audit))
    answer = report.answer
    assert answer is not None
    assert answer.text.startswith(f"{Sign.WARNING} [photos] sync always = Yes fits the diagnosis of nas/photos at ")
    assert "worth trying" not in answer.text, "it is the one that fits"
    assert "Set `sync always = no` there and diagnose again" in answer.text

    row = report.tables[0].rows[0]
    finding, why, what_to_do = (str(cell.value) for cell in row.cells)
    assert "[photos] sync always = Yes fits the diagnosis" in finding
    assert "worth trying" not in finding
    assert "8 MiB" not in why
    assert "the server's write step takes 12 ms" in why
    assert "Set `sync always = no` in [photos]" in what_to_do
    assert "a power cut may lose" in what_to_do
    assert "sharebench diagnose smb://alice@nas/photos --complaint small-files --link 1G`" in what_to_do


def test_a_line_of_a_share_is_told_with_its_share_and_one_of_global_without():
    in_share = audit_report(audit_of_file(SYNC_ALWAYS_IN_PHOTOS)).tables[0].rows[0]
    assert str(in_share.cells[0].value).endswith("[photos] sync always = Yes")
    in_global = audit_report(audit_of_file("[global]\nsync always = yes\n")).tables[0].rows[0]
    assert "[" not in str(in_global.cells[0].value)


def test_what_is_harmful_stays_the_sign_of_the_answer():
    audit = audit_of_file(SYNC_ALWAYS_IN_PHOTOS + "strict sync = no\n")
    explained = explained_complaint(audit, slow_saving())
    assert explained is not None
    answer = audit_report(audit, explanation=explanation(explained, audit)).answer
    assert answer is not None
    assert answer.text.startswith(f"{Sign.BAD} [photos] sync always = Yes")


def test_what_else_was_found_is_counted_without_the_setting_that_fits():
    audit = audit_of_file(SYNC_ALWAYS_IN_PHOTOS + "strict locking = yes\n")
    explained = explained_complaint(audit, slow_saving())
    assert explained is not None
    assert len(audit.findings) == 2
    answer = audit_report(audit, explanation=explanation(explained, audit)).answer
    assert answer is not None
    assert "Besides: 1 " in answer.text
