"""Whether what a setting needs is so on the server, by what was read of it or by Samba's defaults."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from forms.tuning import catalogue
from forms.tuning.instructions import advise
from forms.tuning.needed_settings import Condition, SettingInEffect, needed_settings, needs_text
from tests.cases import for_each


def read(**values: str) -> dict[str, SettingInEffect]:
    return {
        name.replace("_", " "): SettingInEffect(value=value, origin="set in smb.conf") for name, value in values.items()
    }


@pytest.mark.parametrize(
    ("name", "value", "settings", "condition"),
    [
        ("sync always", "yes", {}, Condition.MET),
        ("sync always", "yes", read(strict_sync="Yes"), Condition.MET),
        ("sync always", "yes", read(strict_sync="no"), Condition.NOT_MET),
        ("sync always", "no", {}, None),
        ("sync always", "No", read(strict_sync="no"), None),
        ("default case", "upper", {}, Condition.NOT_MET),
        ("default case", "upper", read(preserve_case="no"), Condition.MET),
        ("level2 oplocks", "no", read(oplocks="yes", kernel_oplocks="no"), Condition.MET),
        ("level2 oplocks", "no", read(oplocks="yes", kernel_oplocks="yes"), Condition.NOT_MET),
        # What the client asks for, or how the session is protected, no setting tells.
        ("smb2 leases", "no", {}, Condition.UNKNOWN),
        ("smb2 leases", "no", read(oplocks="no"), Condition.NOT_MET),
        ("use sendfile", "yes", read(aio_read_size="0"), Condition.UNKNOWN),
        ("use sendfile", "yes", {}, Condition.NOT_MET),
        ("oplocks", "no", {}, Condition.UNKNOWN),
        ("log level", "3", {}, None),
    ],
)
def test_a_need_is_met_or_not_or_unknown(
    name: str, value: str, settings: Mapping[str, SettingInEffect], condition: Condition | None
):
    entry = catalogue.find(name)
    needed = needed_settings(entry, value, settings)
    assert (None if needed is None else needed.condition) is condition

    advice = advise(entry, value, read=settings)
    is_warned_of = any(warning.startswith("Does nothing unless") for warning in advice.warnings)
    assert is_warned_of is (condition is Condition.NOT_MET)
    assert bool(advice.condition) is (condition in (Condition.MET, Condition.UNKNOWN))


def test_where_nothing_was_read_it_is_said_to_be_the_default():
    entry = catalogue.find("sync always")
    assert "strict sync is on by default (the settings were not read)" in needs_text(entry, "yes", {})
    assert "strict sync is off here (set in smb.conf)" in needs_text(entry, "yes", read(strict_sync="no"))
    assert needs_text(entry, "no", {}).startswith("Nothing for no.")
    assert needs_text(catalogue.find("log level"), "3", {}) == ""


WITH_NEEDS = [entry for entry in catalogue.entries() if entry.needs.options]


@for_each("entry", WITH_NEEDS, lambda e: e.name)
def test_the_options_that_are_needed_have_a_known_default_or_are_told_as_empty(entry: catalogue.CatalogueEntry):
    assert "is empty" not in needs_text(entry, "x", {})
