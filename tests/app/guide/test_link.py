"""The speed of the link stands with the target, and practice servers have one."""

import pytest

from app.guide.context import GuideContext, LinkState
from app.guide.page import Ask, Go, Option, Page
from app.guide.pages.steps import page_of
from app.guide.picked import with_picked
from app.method.choices import GuideChoices, MethodStep
from forms.findings.path import PRACTICE_BYTES_PER_SECOND
from forms.series.report import series_report
from forms.series.summary import run_form
from storage.records import Target
from tests.builders import one
from tests.specs import choices_with

NAS = Target(protocol="smb", host="nas", share="data", user="me")
PRACTICE = Target(protocol="smb", host="127.0.0.1", port=4450, share="practice", user="practice")
LINKED = GuideContext(link=LinkState(bits_per_second=1_000_000_000, source="eth0 runs at this rate"))


def link_facts(page: Page) -> list[str]:
    return [str(fact) for fact in page.facts if str(fact).startswith("Link: ")]


def link_options(page: Page) -> list[Option]:
    return [option for option in page.options if option.title.startswith("Set the link speed")]


@pytest.mark.parametrize("step", [MethodStep.TARGET, MethodStep.FILE])
def test_the_link_of_a_target_is_told_and_set_on_the_page_of_both(step: MethodStep):
    page = page_of(choices_with(step=step, target=NAS), LINKED)
    assert link_facts(page) == ["Link: 1 Gb/s (eth0 runs at this rate)."]
    (option,) = link_options(page)
    assert isinstance(option.act, Ask)
    act = option.act.then("2.5G")
    assert isinstance(act, Go)
    assert (act.choices.step, act.choices.spec.link_bits_per_second) == (step, 2_500_000_000)


def test_what_is_typed_on_the_page_of_the_target_is_a_target_and_no_speed():
    page = page_of(choices_with(target=NAS), LINKED)
    assert page.question.heading == "Target"
    none_yet = page_of(GuideChoices(), LINKED)
    assert link_facts(none_yet) == []
    assert link_options(none_yet) == []


@pytest.mark.parametrize(
    ("target", "given", "link"),
    [
        (PRACTICE, None, 8 * PRACTICE_BYTES_PER_SECOND),
        (PRACTICE, 1_000_000, 1_000_000),
        (NAS, None, None),
    ],
    ids=["practice", "given", "another server"],
)
def test_a_practice_server_is_reached_at_its_own_limit(target: Target, given: int | None, link: int | None):
    before = choices_with(target=target, link_bits_per_second=given)
    picked = with_picked(before, target, None)
    assert picked.spec.link_bits_per_second == link
    is_limit = link_facts(page_of(picked, GuideContext())) == ["Link: 160 Mb/s, the limit of the practice server."]
    assert is_limit is (link == 8 * PRACTICE_BYTES_PER_SECOND)


def test_the_limit_of_practice_is_forgotten_on_another_server():
    practising = with_picked(GuideChoices(), PRACTICE, None)
    assert with_picked(practising, NAS, None).spec.link_bits_per_second is None


@pytest.mark.parametrize(
    ("link", "target", "told"),
    [(None, NAS, True), (1_000_000_000, NAS, False), (None, Target(protocol="file", path="/srv/big.bin"), False)],
    ids=["unknown", "known", "no link"],
)
def test_a_form_without_a_link_says_how_to_get_the_percentage(link: int | None, target: Target, told: bool):
    report = series_report(run_form(one(1, link_bits_per_second=link, target=target)))
    texts = [field.text for field in report.results if field.name == "Percent of link"]
    assert len(texts) == told
    assert all("--link" in text for text in texts)


def test_a_form_without_a_run_that_counts_asks_for_no_link():
    report = series_report(run_form(one(1, link_bits_per_second=None, target=NAS, runs=())))
    assert "Percent of link" not in {field.name for field in report.results}
