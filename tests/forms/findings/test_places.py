"""What the forms of several machines share."""

from __future__ import annotations

import pytest

from forms.findings.places import megabytes_text, places_document, show_each
from storage.records import Target


@pytest.mark.parametrize(
    ("bytes_per_second", "text"), [(None, ""), (9.994e6, "9.99"), (10e6, "10.0"), (1.2e9, "1,200.0")]
)
def test_small_rates_have_two_decimals(bytes_per_second: float | None, text: str):
    assert megabytes_text(bytes_per_second) == text


def test_nothing_is_shown_of_machines_that_recorded_nothing():
    assert list(show_each({})) == []
    (advice,) = show_each({"nas": "aaaaaaaaaaaa"})
    assert "`sharebench show aaaaaaaaaaaa` (nas)" in advice


def test_a_machine_that_is_not_known_is_null():
    target = Target(protocol="smb", host="nas", port=445, share="public", path="")
    document = places_document("schema/1", target, "So it is.", [{"from": "nas"}], slow_host=None, fastest_host="nas")
    assert (document["slow_leg"], document["fastest"], document["places"]) == (None, "nas", [{"from": "nas"}])
