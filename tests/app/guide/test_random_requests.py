"""Random requests in the guide: chosen and left again on the page of the run, and not where they cannot be made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.clients.base import Secrets
from app.guide.context import GuideContext
from app.guide.page import Go, Option
from app.guide.pages.steps import page_of
from app.method.choices import GuideChoices, MethodStep, with_target
from app.method.round_requests import request_of
from storage.records import Command, Target
from tests.specs import choices_with, varied

READY = choices_with(
    step=MethodStep.RUN,
    target=Target(protocol="smb", host="nas", share="data", user="me"),
    file="big.bin",
    file_bytes=1 << 30,
    counted=True,
)


def options_of(choices: GuideChoices) -> list[Option]:
    return [option for option in page_of(choices, GuideContext()).options if "andom requests" in option.title]


def chosen(choices: GuideChoices) -> GuideChoices:
    (option,) = options_of(choices)
    assert isinstance(option.act, Go)
    return option.act.choices


def test_random_requests_are_chosen_measured_and_left_again():
    at_random = chosen(READY)
    spec = request_of(at_random, Secrets()).spec
    assert spec.counts.random
    assert (spec.settings.block_bytes, spec.settings.in_flight, spec.counts.random_seconds) == (4096, 32, 5.0)
    facts = [str(fact) for fact in page_of(at_random, GuideContext()).facts]
    assert any("reads of 4 KiB, 32 at once, 5 s a run" in fact for fact in facts)
    assert chosen(at_random).spec == READY.spec


def test_of_a_put_they_write():
    put = varied(READY, command=Command.PUT, size_bytes=1 << 26)
    facts = [str(fact) for fact in page_of(chosen(put), GuideContext()).facts]
    assert any("writes of 4 KiB" in fact for fact in facts)


@pytest.mark.parametrize(
    "choices",
    [
        replace(READY, target=Target(protocol="ftp", host="nas", port=21)),
        varied(READY, client="smbclient"),
        varied(READY, change_name="strict sync", change_value="no"),
        replace(READY, planned_repeats=2),
    ],
    ids=["FTP", "another client", "a change", "repeats"],
)
def test_they_are_not_offered_where_they_cannot_be_made_or_would_be_another_change(choices: GuideChoices):
    assert options_of(choices) == []


def test_at_another_server_they_are_forgotten():
    elsewhere = with_target(chosen(READY), Target(protocol="ftp", host="other", port=21)).spec
    assert not elsewhere.counts.random
    assert (elsewhere.counts.random_seconds, elsewhere.settings.block_bytes) == (None, None)
