"""The speed of the link stands with the target, and practice servers have one."""

import pytest

from app.guide.context import GuideContext, LinkState
from app.guide.given_link import believable_seen_link, is_link_refuted
from app.guide.page import Ask, Begin, Go, Option, Page, Simple, Store
from app.guide.pages.steps import page_of
from app.guide.picked import with_picked
from app.method.choices import GuideChoices, MethodStep, choices_of
from app.series.requests import spec_of
from forms import link_share
from forms.findings.path import PRACTICE_BYTES_PER_SECOND
from forms.series.report import series_report
from forms.series.summary import run_form
from storage.notebook import Notebook
from storage.records import Target
from tests.builders import book, one
from tests.specs import choices_with

NAS = Target(protocol="smb", host="nas", share="data", user="me")
PRACTICE = Target(protocol="smb", host="127.0.0.1", port=4450, share="practice", user="practice")
GIGABIT = 1_000_000_000
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


def context_of(seen: int | None, *, measured: float | None = None, before: int | None = None) -> GuideContext:
    """What is known where the interface runs at ``seen``, and the series before reached ``measured`` bytes a second."""
    link = LinkState(bits_per_second=seen, source="eth0 runs at this rate" if seen else "it does not say")
    return GuideContext(link=link, measured_bytes_per_second=measured, measured_link_bits_per_second=before)


def before_run(**values: object) -> GuideChoices:
    return choices_with(step=MethodStep.RUN, target=NAS, file="/a.bin", file_bytes=2**20, **values)


@pytest.mark.parametrize(
    ("given", "seen", "measured", "refuted"),
    [
        (None, 2 * GIGABIT, 200e6, False),
        (GIGABIT, GIGABIT, 110e6, False),
        # That of a slower link further on, until more comes through; a little above it is a full one.
        (GIGABIT, 2 * GIGABIT, 110e6, False),
        (GIGABIT, 2 * GIGABIT, 126e6, False),
        (GIGABIT, 2 * GIGABIT, 127e6, True),
        (GIGABIT, None, 127e6, True),
        (GIGABIT, None, None, False),
        # More than the interface has: by several at once, or given wrongly.
        (2 * GIGABIT, GIGABIT, 110e6, True),
        (2 * GIGABIT, GIGABIT, None, True),
        (2 * GIGABIT, GIGABIT, 200e6, False),
    ],
)
def test_a_given_link_speed_is_refuted_by_what_is_seen_of_the_path(
    given: int | None, seen: int | None, measured: float | None, refuted: bool
):
    choices = before_run(link_bits_per_second=given)
    context = context_of(seen, measured=measured)
    assert is_link_refuted(choices, context) is refuted

    starts = [option for option in page_of(choices, context).options if option.title.startswith("Start")]
    if not refuted:
        assert [option.act for option in starts] == [Simple.START]
        return
    without_given, as_given = starts
    assert without_given.advised
    assert isinstance(without_given.act, Begin)
    assert without_given.act.choices.spec.link_bits_per_second is None
    assert as_given.act is Simple.START


def test_a_practice_server_is_never_asked_about():
    practice = before_run(link_bits_per_second=160_000_000)
    assert not is_link_refuted(GuideChoices(spec=practice.spec, target=PRACTICE), context_of(None, measured=50e6))


def test_what_the_interface_runs_at_is_not_believed_below_what_came_through():
    assert believable_seen_link(context_of(2 * GIGABIT, measured=200e6)) == 2 * GIGABIT
    assert believable_seen_link(context_of(GIGABIT, measured=200e6)) is None


def test_the_page_of_the_run_says_which_link_speed_is_in_force_and_what_it_was_before():
    page = page_of(before_run(), context_of(2 * GIGABIT, before=GIGABIT))
    assert link_facts(page) == ["Link: 2 Gb/s, as this machine's interface has it now (1 Gb/s in the series before)."]
    assert [option.hint for option in link_options(page)] == ["2 Gb/s"]
    same = page_of(before_run(), context_of(GIGABIT, before=GIGABIT))
    assert link_facts(same) == ["Link: 1 Gb/s (eth0 runs at this rate)."]
    local = choices_with(step=MethodStep.RUN, target=Target(protocol="file", path="/srv"), file="/a", file_bytes=1)
    assert link_options(page_of(local, GuideContext())) == []


def test_the_question_shows_the_link_speed_that_is_in_force():
    (option,) = link_options(page_of(before_run(link_bits_per_second=2_500_000_000), context_of(10 * GIGABIT)))
    assert isinstance(option.act, Ask)
    assert option.act.value == "2.5G"
    assert "2.5 Gb/s, as given" in option.act.text
    (option,) = link_options(page_of(before_run(), context_of(10 * GIGABIT)))
    assert isinstance(option.act, Ask)
    assert option.act.value == "auto"


@pytest.mark.parametrize(
    ("given", "seen", "rate", "carried"),
    [
        # That of the interface is looked up again: it may run at another speed by now.
        (GIGABIT, GIGABIT, 110e6, None),
        (GIGABIT, 10 * GIGABIT, 110e6, GIGABIT),
        (GIGABIT, None, 110e6, GIGABIT),
        # What more came through is no link speed.
        (GIGABIT, 2 * GIGABIT, 200e6, None),
        (None, GIGABIT, 110e6, None),
    ],
)
def test_a_repeat_carries_a_link_speed_only_where_it_still_may_hold(
    given: int | None, seen: int | None, rate: float, carried: int | None
):
    facts = {"path": {"link.rate_bits_per_second": seen}} if seen else {}
    series = one(1, [rate] * 5, link_bits_per_second=given, target=NAS, environment=facts)
    assert spec_of(series).link_bits_per_second == carried


def test_the_link_speed_of_a_measured_series_is_corrected_in_its_review(tmp_path):
    facts = {"path": {"link.rate_bits_per_second": 2 * GIGABIT, "link.interface": "eth0"}}
    series = one(1, [200e6] * 5, link_bits_per_second=GIGABIT, target=NAS, environment=facts)
    path = book(tmp_path / "book.db", series)
    choices = choices_of(series)
    review = GuideChoices(spec=choices.spec, target=NAS, series_id=series.id, step=MethodStep.REVIEW)

    page = page_of(review, GuideContext(series=series))
    (take_seen,) = [option for option in page.options if option.title.startswith("Take")]
    assert isinstance(take_seen.act, Store)
    with Notebook(path) as notebook:
        take_seen.act.job(notebook)
        assert notebook.series(series.id).link_bits_per_second == 2 * GIGABIT
    assert take_seen.act.choices.spec.link_bits_per_second is None

    (typed,) = link_options(page)
    assert isinstance(typed.act, Ask)
    act = typed.act.then("2.5G")
    assert isinstance(act, Store)
    with Notebook(path) as notebook:
        act.job(notebook)
        assert notebook.series(series.id).link_bits_per_second == 2_500_000_000
    assert act.choices.spec.link_bits_per_second == 2_500_000_000
    assert act.choices.step is MethodStep.REVIEW


def test_a_series_whose_link_may_be_true_has_nothing_to_be_taken():
    series = one(1, [100e6] * 5, link_bits_per_second=GIGABIT, target=NAS)
    review = GuideChoices(spec=spec_of(series), target=NAS, series_id=series.id, step=MethodStep.REVIEW)
    page = page_of(review, GuideContext(series=series))
    assert [option for option in page.options if option.title.startswith("Take")] == []
    assert len(link_options(page)) == 1


@pytest.mark.parametrize(
    ("percent", "text", "cell"),
    [
        (95.0, "95 % of 1 Gb/s", "95.00 %"),
        (101.0, "101 % of 1 Gb/s", "101.00 %"),
        (101.1, "more than 1 Gb/s can carry", "> 100 %"),
    ],
)
def test_no_share_of_more_than_a_link_stands_without_its_explanation(percent: float, text: str, cell: str):
    assert link_share.share_text(percent, "1 Gb/s") == text
    assert link_share.share_cell(percent) == cell
