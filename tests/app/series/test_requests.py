"""The one builder of a series request, and that no choice is lost on the way to it or back from the notebook."""

from __future__ import annotations

import re
from dataclasses import asdict, fields, replace
from unittest.mock import ANY

import pytest

from app.base.errors import PasswordInURLError, UsageError
from app.cli.run_options import chosen
from app.clients.base import Secrets
from app.guide.choices import GuideChoices, choices_of, with_target
from app.guide.session import request_of
from app.recording.process import SeriesRequest
from app.series.command import run_command
from app.series.requests import SeriesOptions, options_of, parse_change, series_request
from storage.plan import CeilingPolicy, QuietTime
from storage.records import ClientFacts, Command, Experiment, Series, Target

FILE = Target(protocol="smb", host="nas", port=445, share="data", path="big.bin")
USUAL = SeriesOptions()
OTHER = SeriesOptions(
    block_bytes=65536, in_flight=2, sign=True, encrypt=True, timeout_seconds=7.0, drop_cache=True, command=Command.PUT,
    client="smbclient", runs=40, warmups=1, until_percent=2.0, max_runs=50, size_bytes=1 << 20, files=3, make_file=True,
    verify=True, single_requests=True, profile=True,
    link_bits_per_second=10**9, label="new switch", note="at night", question="enough?",
    experiment="tuning", base_id="a" * 12, repeats=True,
    change_name="strict sync", change_value="no", quiet_time=QuietTime.REQUIRE, wait_seconds=60.0,
    server_ssh="admin@nas", smb_conf="/etc/samba/smb.conf", ceiling=CeilingPolicy.SKIP,
)  # fmt: skip
FITTING = replace(OTHER, drop_cache=False, make_file=False, files=None)
NAMES = tuple(field.name for field in fields(SeriesOptions))
NOT_TYPED = {"base_id", "repeats", "change_name", "change_value"}


def stored(request: SeriesRequest) -> Series:
    """The series that the recorder would keep of it."""
    return Series(
        id="0123456789ab", created_at="2026-01-31T10:00:00.000Z", command=request.plan.command,
        target=request.plan.target, client=ClientFacts(name=request.plan.client), label=request.label,
        experiment=request.experiment.name if request.experiment else None,
        link_bits_per_second=request.link_bits_per_second, plan=request.stored_plan(),
    )  # fmt: skip


def test_the_example_differs_from_the_usual_in_every_field():
    assert [name for name in NAMES if getattr(USUAL, name) == getattr(OTHER, name)] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_choice_reaches_the_recorder(name: str):
    request = series_request(FITTING, FILE, Secrets())
    holders = (request, request.plan, request.plan.settings)
    expected = Experiment(name="tuning", created_at=ANY) if name == "experiment" else getattr(FITTING, name)
    assert [getattr(one, name) for one in holders if hasattr(one, name)] == [expected]


def test_every_choice_but_those_of_one_rung_comes_back_from_the_notebook():
    lost = {"note", "question", "base_id", "repeats", "change_name", "change_value", "wait_seconds"}
    back = options_of(stored(series_request(FITTING, FILE, Secrets())))
    assert [name for name in NAMES if getattr(back, name) != getattr(FITTING, name)] == [
        name for name in NAMES if name in lost
    ]


def test_every_choice_can_be_typed_after_run():
    assert {parameter.name for parameter in run_command.params} >= set(NAMES) - NOT_TYPED


def test_what_a_command_does_not_ask_for_is_as_usual():
    assert chosen({"runs": 7, "again": True}) == replace(USUAL, runs=7)
    assert chosen({"change": ("strict sync", "")}).change_name == "strict sync"


def test_a_series_measured_again_by_the_guide_is_measured_by_the_same_choices():
    """Signing, verifying, the timeout and where the server is asked were lost on the way through the guide."""
    before = series_request(FITTING, replace(FILE, path="folder"), Secrets())
    again = request_of(choices_of(stored(before)), Secrets())
    assert again.plan == before.plan
    assert (again.server_ssh, again.smb_conf, again.ceiling) == (before.server_ssh, before.smb_conf, before.ceiling)


def test_what_fits_one_server_is_forgotten_at_another():
    choices = GuideChoices(**asdict(OTHER), target=FILE)
    elsewhere = with_target(choices, Target(protocol="ftp", host="nas", port=21))
    assert not any(getattr(elsewhere, name) for name in ("sign", "encrypt", "verify", "drop_cache"))
    assert (elsewhere.client, elsewhere.server_ssh, elsewhere.smb_conf) == ("", None, None)
    assert with_target(choices, replace(FILE, path="other")).sign


def test_the_guide_remembers_every_choice():
    choices = GuideChoices(**asdict(OTHER), target=FILE)
    assert GuideChoices.from_memory(choices.to_memory()) == choices


@pytest.mark.parametrize(
    ("options", "target", "why"),
    [
        (SeriesOptions(make_file=True, command=Command.PUT), FILE, "a put makes its file anyway"),
        (SeriesOptions(size_bytes=1), FILE, "a get reads the file as it is"),
        (SeriesOptions(change_name="strict sync"), FILE, "a change belongs to an experiment"),
        (SeriesOptions(sign=True), Target(protocol="file", path="/x"), "signing and encryption belong to smb://"),
        (SeriesOptions(drop_cache=True), FILE, "cannot be dropped from here"),
        (SeriesOptions(profile=True), Target(protocol="file", path="/x"), "only smbd has a profile"),
        (SeriesOptions(verify=True), Target(protocol="iperf3", host="nas", port=5201), "nothing to verify"),
        (SeriesOptions(verify=True, client="smbclient"), FILE, "cannot be verified"),
        (SeriesOptions(client="curl"), FILE, "no client 'curl'"),
        (SeriesOptions(), replace(FILE, path=""), "names no file"),
    ],
)
def test_choices_that_do_not_fit_are_refused(options: SeriesOptions, target: Target, why: str):
    with pytest.raises(UsageError, match=why):
        series_request(options, target, Secrets())


def test_a_password_for_ssh_is_refused_whoever_asks():
    with pytest.raises(PasswordInURLError, match="does not belong in the name for ssh"):
        series_request(SeriesOptions(server_ssh="admin:secret@nas"), FILE, Secrets())


def test_a_change_may_set_a_parameter_to_nothing():
    assert parse_change(" hosts allow = ") == ("hosts allow", "")
    assert parse_change("strict sync=no") == ("strict sync", "no")
    for text, why in (
        ("strict sync", "not a change: 'strict sync'; write NAME=VALUE"),
        (" = no", "not a change: ' = no'; write NAME=VALUE"),
        ("smb://u:secret@nas/a=b", "not a change: 'smb://u:…@nas/a=b'; write NAME=VALUE"),
        (" ", "nothing was typed; write NAME=VALUE"),
    ):
        with pytest.raises(UsageError, match=re.escape(why)):
            parse_change(text)
