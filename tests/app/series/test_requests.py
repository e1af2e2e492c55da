"""The one builder of a series request, and that no choice is lost on the way to it or back from the notebook."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any
from unittest.mock import ANY

import pytest

from app.base.errors import PasswordInURLError, UsageError
from app.base.messages import line_of, message_of
from app.cli.run_options import spec_from_options
from app.clients.base import Secrets
from app.method.choices import GuideChoices, choices_of, with_target
from app.method.round_requests import request_of
from app.recording.process import MeasuringOrder
from app.recording.spec import SeriesRequest, SeriesSpec, with_values, without_hooks
from app.series.command import run_command
from app.series.record import new_series
from app.series.requests import parse_change, series_request, spec_of
from storage.plan import DEFAULT_SIZE_BYTES, CeilingPolicy, Imitated, QuietTime
from storage.records import Command, Experiment, Series, Target
from tests.specs import spec_with, varied

FILE = Target(protocol="smb", host="nas", port=445, share="data", path="big.bin")
USUAL = SeriesSpec()
OTHER = spec_with(
    block_bytes=65536, in_flight=2, sign=True, encrypt=True, timeout_seconds=7.0, drop_cache=True, flush=True,
    command=Command.PUT,
    client="smbclient", runs=40, warmups=1, until_percent=2.0, max_runs=50, size_bytes=1 << 20, files=3, make_file=True,
    verify=True, single_requests=True, profile=True, random=True, read_percent=70, random_seconds=3.0,
    link_bits_per_second=10**9, label="new switch", note="at night", question="enough?",
    experiment="tuning", base_id="a" * 12, repeats=True,
    change_name="strict sync", change_value="no", quiet_time=QuietTime.REQUIRE, wait_seconds=60.0,
    server_ssh="admin@nas", smb_conf="/etc/samba/smb.conf", ceiling=CeilingPolicy.SKIP, from_host="alice@branch",
    prepare="sync", conclude="date", server_prepare="fstrim /srv", like=Imitated.MACOS_15, interleaved_with="b" * 12,
)  # fmt: skip
FITTING = varied(
    OTHER, drop_cache=False, make_file=False, files=None, client="sharebench", from_host=None, random=False,
    read_percent=None, random_seconds=None,
)  # fmt: skip
AT_RANDOM = varied(FITTING, random=True, read_percent=70, random_seconds=3.0, verify=False)
NAMES = tuple(USUAL.to_json())
NOT_TYPED = {"base_id", "repeats", "change_name", "change_value", "interleaved_with", "from_host"}
"""The last is typed as ``--from``, which may name several machines: a series of each."""


def stored(request: SeriesRequest) -> Series:
    """The series that the recorder would keep of it."""
    return new_series(request)


def test_the_example_differs_from_the_usual_in_every_choice():
    usual, other = USUAL.to_json(), OTHER.to_json()
    assert [name for name in NAMES if usual[name] == other[name]] == []


@pytest.mark.parametrize("spec", [FITTING, AT_RANDOM], ids=["whole files", "random requests"])
def test_every_choice_reaches_the_measuring_process(spec: SeriesSpec):
    request = series_request(spec, FILE, Secrets())
    order = message_of(line_of(MeasuringOrder.of_request(request)), [MeasuringOrder])
    assert order.spec == spec
    assert request.experiment == Experiment(name="tuning", created_at=ANY)


def test_every_choice_but_those_of_one_rung_comes_back_from_the_notebook():
    lost = {"note", "question", "base_id", "repeats", "change_name", "change_value", "wait_seconds"}
    lost |= {"prepare", "conclude", "server_prepare", "interleaved_with"}
    back, before = spec_of(stored(series_request(FITTING, FILE, Secrets()))).to_json(), FITTING.to_json()
    assert {name for name in NAMES if back[name] != before[name]} == lost


def test_every_choice_can_be_typed_after_run():
    assert {parameter.name for parameter in run_command.params} >= set(NAMES) - NOT_TYPED


def test_what_is_not_typed_is_as_usual():
    assert spec_from_options({"runs": 7}) == varied(USUAL, runs=7)
    assert spec_from_options({"change": ("strict sync", "")}).lineage.change_name == "strict sync"
    assert spec_from_options({"change": None}) == USUAL


@pytest.mark.parametrize("name", ["warmup", "again", "counts"])
def test_a_name_that_is_no_choice_is_an_error_instead_of_lost(name: str):
    with pytest.raises(TypeError, match=name):
        spec_from_options({"runs": 7, name: 1})
    with pytest.raises(TypeError, match=name):
        with_values(USUAL, {name: 1})


def test_a_series_measured_again_by_the_guide_is_measured_by_the_same_choices():
    """Signing, verifying, the timeout and where the server is asked were lost on the way through the guide."""
    before = series_request(FITTING, replace(FILE, path="folder"), Secrets())
    again = request_of(choices_of(stored(before)), Secrets())
    assert (again.spec.command, again.target) == (before.spec.command, before.target)
    usual_wait = replace(before.spec.plan.monitor, quiet_time=QuietTime.RECORD)
    # It is measured by itself, whatever its base was interleaved with.
    assert again.spec.plan == replace(before.spec.plan, monitor=usual_wait, interleaved_with="")


def test_what_fits_one_server_is_forgotten_at_another():
    choices = GuideChoices(spec=OTHER, target=FILE)
    elsewhere = with_target(choices, Target(protocol="ftp", host="nas", port=21)).spec
    settings = elsewhere.settings
    assert not any((settings.sign, settings.encrypt, settings.drop_cache, elsewhere.counts.verify))
    assert (elsewhere.client, elsewhere.monitor.server_ssh, elsewhere.monitor.smb_conf) == ("", None, None)
    assert with_target(choices, replace(FILE, path="other")).spec.settings.sign


def test_the_guide_remembers_every_choice_but_commands_to_run():
    choices = GuideChoices(spec=OTHER, target=FILE)
    remembered = replace(choices, spec=without_hooks(OTHER))
    assert GuideChoices.from_memory(json.loads(json.dumps(choices.to_memory()))) == remembered


def test_a_command_in_what_the_guide_remembers_is_not_taken():
    memory = GuideChoices().to_memory() | {"prepare": "touch /tmp/x", "server_prepare": "touch /tmp/x"}
    assert GuideChoices.from_memory(memory) == GuideChoices()


def test_the_guide_reads_what_an_earlier_release_remembered():
    """All values lay side by side, as they still do."""
    remembered: dict[str, Any] = {
        "runs": 7,
        "sign": True,
        "label": "new switch",
        "server_ssh": "admin@nas",
        "experiment": "tuning",
    }
    choices = GuideChoices.from_memory({**remembered, "step": "run", "target": {"protocol": "smb", "host": "nas"}})
    assert choices.spec == spec_with(**remembered)
    assert remembered.items() <= choices.to_memory().items()


@pytest.mark.parametrize(
    ("spec", "target", "why"),
    [
        (spec_with(make_file=True, command=Command.PUT), FILE, "a put makes its file anyway"),
        (spec_with(size_bytes=1), FILE, "a get reads the file as it is"),
        (spec_with(change_name="strict sync"), FILE, "a change belongs to an experiment"),
        (spec_with(sign=True), Target(protocol="file", path="/x"), "signing and encryption belong to smb://"),
        (spec_with(drop_cache=True), FILE, "cannot be dropped from here"),
        (spec_with(flush=True), FILE, "a get writes nothing"),
        (spec_with(flush=True, command=Command.PUT, client="smbclient"), FILE, "smbclient cannot flush"),
        (spec_with(flush=True, command=Command.PUT), Target(protocol="ftp", host="nas", path="/x"), "FTP has no"),
        (spec_with(flush=True, command=Command.PUT), Target(protocol="iperf3", host="nas", port=1), "TCP has no"),
        (spec_with(profile=True), Target(protocol="file", path="/x"), "only smbd has a profile"),
        (spec_with(verify=True), Target(protocol="iperf3", host="nas", port=5201), "nothing to verify"),
        (spec_with(verify=True, client="smbclient"), FILE, "cannot be verified"),
        (spec_with(read_percent=70, command=Command.PUT), FILE, "belong to random requests"),
        (spec_with(random_seconds=3.0), FILE, "belong to random requests"),
        (spec_with(random=True), Target(protocol="ftp", host="nas", path="/x"), "FTP has no"),
        (spec_with(random=True), Target(protocol="iperf3", host="nas", port=1), "TCP has no"),
        (spec_with(random=True, client="smbclient"), FILE, "smbclient moves whole files"),
        (spec_with(random=True, files=3, command=Command.PUT), FILE, "not to a tree"),
        (spec_with(random=True, verify=True), FILE, "not verified"),
        (spec_with(random=True, read_percent=70), FILE, "a mix writes"),
        (spec_with(random=True, size_bytes=4095, command=Command.PUT), FILE, "no whole block"),
        (spec_with(random=True, block_bytes=(8 << 20) + 1), FILE, "at most 8M"),
        (spec_with(client="curl"), FILE, "no client 'curl'"),
        (SeriesSpec(), replace(FILE, path=""), "names no file"),
    ],
)
def test_choices_that_do_not_fit_are_refused(spec: SeriesSpec, target: Target, why: str):
    with pytest.raises(UsageError, match=why):
        series_request(spec, target, Secrets())


def test_a_password_for_ssh_is_refused_whoever_asks():
    with pytest.raises(PasswordInURLError, match="does not belong in the name for ssh"):
        series_request(spec_with(server_ssh="admin:secret@nas"), FILE, Secrets())


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


def test_random_requests_are_by_default_those_that_everybody_quotes():
    spec = series_request(spec_with(random=True), FILE, Secrets()).spec
    assert (spec.settings.block_bytes, spec.settings.in_flight, spec.counts.random_seconds) == (4096, 32, 5.0)
    assert (spec.command, spec.counts.size_bytes) == (Command.GET, None)


def test_a_mix_is_a_put_since_it_writes():
    spec = spec_from_options({"command": "get", "random": True, "read_percent": 70})
    assert spec.command is Command.PUT
    assert series_request(spec, FILE, Secrets()).spec.counts.size_bytes == DEFAULT_SIZE_BYTES
