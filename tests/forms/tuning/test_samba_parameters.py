"""Parameters by version: when they came and went, and their defaults, on each side of every edge."""

from __future__ import annotations

import pytest

from forms.tuning import smb_conf
from forms.tuning.samba_parameters import Parameter, Version, short_version, version_numbers

READ: tuple[Version, ...] = ((4, 13), (4, 17), (4, 22))


def parameter(**row: object) -> Parameter:
    return Parameter.from_row("x", {"scope": "global", "kind": "yes_no", **row}, READ)


@pytest.mark.parametrize(
    ("version", "known"),
    [((4, 13, 99), False), ((4, 14), True), ((4, 14, 0), True), ((4, 18, 5), True), ((4, 19), False), ((5, 0), False)],
)
def test_a_parameter_is_in_the_versions_from_since_to_until(version: Version, known: bool):
    assert parameter(since="4.14", until="4.18").is_in(version) is known
    assert parameter().is_in(version)


@pytest.mark.parametrize(
    ("version", "default"),
    [
        ((4, 9), "No"),
        ((4, 13), "No"),
        ((4, 13, 17), "No"),
        ((4, 14), None),
        ((4, 16, 9), None),
        ((4, 17, 0), "Yes"),
        ((4, 20), "Yes"),
        ((4, 22), "Yes"),
        ((4, 30), "Yes"),
    ],
)
def test_the_default_is_known_where_both_neighbours_that_were_read_have_it(version: Version, default: str | None):
    assert parameter(default={"4.13": "No", "4.17": "Yes"}).default_in(version) == default
    assert parameter(default="No").default_in(version) == "No"
    assert parameter().default_in(version) is None


def test_both_defaults_are_possible_in_between():
    assert parameter(default={"4.13": "No", "4.17": "Yes"}).possible_defaults((4, 15)) == ("No", "Yes")


@pytest.mark.parametrize(
    ("typed", "version", "known"),
    [
        # The release notes of Samba name these.
        ("smb3 directory leases", "4.21", False),
        ("smb3 directory leases", "4.22", True),
        ("server smb transports", "4.22", False),
        ("server smb transports", "4.23", True),
        ("smb ports", "4.13", True),
        ("smb ports", "4.25", True),
        ("server smb encrypt", "4.13", False),
        ("server smb encrypt", "4.14", True),
        ("smb encrypt", "4.13", True),
        ("smb encrypt", "4.25", True),
        ("client use spnego principal", "4.20", True),
        ("client use spnego principal", "4.21", False),
        ("directory name cache size", "4.18", True),
        ("directory name cache size", "4.19", False),
        ("share backend", "4.14", True),
        ("share backend", "4.15", False),
        ("getwd cache", "4.24", True),
        ("getwd cache", "4.25", False),
        ("persistent handles", "4.24", False),
        ("persistent handles", "4.25", True),
        ("write cache size", "4.11", True),
        ("write cache size", "4.12", False),
    ],
)
def test_names_came_and_went_with_these_versions(typed: str, version: str, known: bool):
    numbers = version_numbers(version)
    spelled = smb_conf.spelling(typed)
    assert (not spelled.is_too_new_for(numbers) and spelled.removed_after(numbers) is None) is known


@pytest.mark.parametrize(
    ("name", "value", "version", "default"),
    [
        ("server multi channel support", "no", (4, 13), True),
        ("server multi channel support", "yes", (4, 13), False),
        ("server multi channel support", "yes", (4, 17), True),
        ("server multi channel support", "yes", None, False),
        ("smb3 unix extensions", "no", (4, 22), True),
        ("smb3 unix extensions", "no", (4, 25), False),
        ("strict sync", "yes", None, True),
        ("strict sync", "no", None, False),
        ("netbios name", "", (4, 22), False),
    ],
)
def test_a_default_is_that_of_a_version_and_without_one_that_of_all(
    name: str, value: str, version: Version | None, default: bool
):
    assert smb_conf.is_default(name, value, version) is default


@pytest.mark.parametrize(
    ("word", "version", "taken"),
    [("SMB2_24", (4, 14), True), ("SMB2_24", (4, 15), False), ("SMB2_24", None, True), ("SMB9", None, False)],
)
def test_a_word_that_older_versions_took_is_refused_by_newer_ones(word: str, version: Version | None, taken: bool):
    assert (smb_conf.refusal("server min protocol", word, version) is None) is taken


def test_versions_are_read_from_what_servers_say():
    assert version_numbers("4.22.11-Debian-4.22.11+dfsg") == (4, 22, 11)
    assert version_numbers("unknown") == ()
    assert short_version((4, 22, 11)) == "4.22"
