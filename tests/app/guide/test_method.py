"""The method as a state machine: what is done, open and blocked, what comes next, and what each step offers."""

from dataclasses import replace

import pytest

from app.base.errors import UsageError
from app.clients.base import OWN, Secrets
from app.guide.context import GuideContext, LinkState, Yardstick
from app.guide.context_reading import recent_targets
from app.guide.page import Ask, Go, Option, Page, Store, Visit
from app.guide.pages.steps import page_of
from app.guide.plain_page import page_lines
from app.guide.steps import StepState, next_step, standings, why_blocked
from app.method.choices import (
    STEPS,
    GuideChoices,
    MethodStep,
    QuietChoice,
    choices_of,
    choices_to_repeat,
    new_measurement,
    next_round,
    same_again,
    with_file,
    with_made_file,
    with_target,
)
from app.method.improvements import BETTER
from app.method.one_change import change_one_thing
from app.method.round_requests import request_of
from app.method.server_question import with_typed_server
from forms.comparison.comparison import MANY_RUNS
from forms.comparison.judged_sides import Sides
from forms.comparison.rules import findings
from forms.layout import Toned
from forms.series.report import QUESTIONS
from storage.plan import QuietTime
from storage.records import Change, Command, Evidence, Quiet, QuietVerdict, RunStatus, SeriesStatus, Target
from tests.builders import CLIENT, interleaved, series
from tests.specs import choices_with, varied

SMB = Target(protocol="smb", host="nas", port=445, share="data", user="me")
FILE = choices_with(target=SMB, file="a/big.bin", file_bytes=1 << 30)
MEASURED = replace(FILE, quiet=QuietChoice.RECORD, counted=True, series_id="0123456789ab")
LINKED = GuideContext(link=LinkState(bits_per_second=1_000_000_000, source="eth0 runs at this rate"))
DONE = replace(LINKED, series=series([1e8, 1.01e8, 0.99e8, 1e8, 1e8]))


def states(choices: GuideChoices, known: GuideContext) -> str:
    return "".join(standing.state.sign for standing in standings(choices, known))


def said(page: Page) -> list[str]:
    """The page's facts as plain text."""
    return [fact.text if isinstance(fact, Toned) else fact for fact in page.facts]


def option(page: Page, title: str) -> Option:
    return next(found for found in page.options if found.title.startswith(title))


def ask(page: Page, title: str) -> Ask:
    act = option(page, title).act
    assert isinstance(act, Ask)
    return act


@pytest.mark.parametrize(
    ("choices", "known", "signs"),
    [
        (GuideChoices(), GuideContext(), "▶-------"),
        (choices_with(target=SMB, step=MethodStep.FILE), GuideContext(), "✓▶------"),
        (replace(FILE, step=MethodStep.QUIET), GuideContext(), "✓✓▶··---"),
        (replace(MEASURED, step=MethodStep.REVIEW), DONE, "✓✓✓✓✓▶··"),
        (replace(MEASURED, step=MethodStep.RUN), replace(LINKED, series=series([])), "✓✓✓✓▶---"),
        (replace(MEASURED, step=MethodStep.CHANGE, reviewed=True, compared=True), DONE, "✓✓✓✓✓✓✓▶"),
    ],
)
def test_each_step_has_a_state(choices, known, signs):
    assert states(choices, known) == signs


def test_states_differ_in_their_signs():
    assert len({state.sign for state in StepState}) == len(StepState)


def test_a_series_without_a_valid_run_can_be_reviewed_but_not_compared():
    whole = series([1e8])
    rejected = tuple(replace(run, status=RunStatus.REJECTED, reason="x") for run in whole.runs)
    known = GuideContext(series=replace(whole, runs=rejected))
    assert why_blocked(MEASURED, known, MethodStep.REVIEW) is None
    assert why_blocked(MEASURED, known, MethodStep.EXPECTED) == "needs a valid run"


def test_the_next_step_is_the_first_that_is_neither_done_nor_blocked():
    assert next_step(FILE, GuideContext(), MethodStep.FILE) is MethodStep.QUIET
    assert next_step(replace(FILE, quiet=QuietChoice.SKIP), GuideContext(), MethodStep.FILE) is MethodStep.WARM_UP
    assert (
        next_step(replace(FILE, quiet=QuietChoice.SKIP, counted=True), GuideContext(), MethodStep.FILE)
        is MethodStep.RUN
    )
    assert next_step(MEASURED, DONE, MethodStep.WARM_UP) is MethodStep.REVIEW
    assert next_step(MEASURED, DONE, MethodStep.CHANGE) is MethodStep.CHANGE


@pytest.mark.parametrize("step", STEPS)
def test_every_page_says_why_and_offers_something(step):
    for choices, known in ((MEASURED, DONE), (choices_with(target=SMB), LINKED)):
        page = page_of(replace(choices, step=step), known)
        assert page.title
        assert page.why.endswith(".")
        assert why_blocked(choices, known, step) or page.options


def test_another_target_forgets_what_belonged_to_the_old_one():
    same = with_target(MEASURED, replace(SMB, path="a"))
    assert (same.file, same.series_id) == ("a/big.bin", "0123456789ab")
    other = with_target(MEASURED, replace(SMB, host="other"))
    assert (other.file, other.file_bytes, other.series_id, other.counted) == (None, None, None, True)


def test_picking_a_file_begins_a_new_round():
    picked = with_file(varied(MEASURED, size_bytes=5, command=Command.PUT), "b", "b/c.bin", 9)
    assert (picked.file, picked.run_bytes, picked.spec.command, picked.series_id) == ("b/c.bin", 9, Command.GET, None)
    assert picked.target == replace(SMB, path="b")


def test_another_transfer_than_the_measured_one_begins_a_new_round():
    """The put was measured; the file that was picked before it was not."""
    put = varied(MEASURED, command=Command.PUT, size_bytes=1 << 28)
    page = page_of(replace(put, step=MethodStep.FILE), replace(LINKED, series=series([1e8] * 5, command=Command.PUT)))
    for title in ("Get big.bin", "Get a file of", "Put a file of"):
        act = option(page, title).act
        assert isinstance(act, Go)
        assert (act.choices.step, act.choices.series_id) == (MethodStep.RUN, None), title
        assert act.choices.spec.command == title[:3].lower()
    other = ask(page, "Put a file of another size").then("128M")
    assert isinstance(other, Go)
    assert (other.choices.step, other.choices.spec.counts.size_bytes) == (MethodStep.RUN, 128 << 20)
    same = option(page_of(replace(MEASURED, step=MethodStep.FILE), DONE), "Get big.bin").act
    assert isinstance(same, Go)
    assert (same.choices.step, same.choices.series_id) == (MethodStep.REVIEW, MEASURED.series_id), (
        "it is what was measured"
    )


def test_a_put_alone_can_be_flushed_and_by_a_protocol_that_can():
    page = page_of(replace(MEASURED, step=MethodStep.FILE), LINKED)
    flushed = [each for each in page.options if each.title.endswith(", flushed")]
    assert len(flushed) == 1
    act = flushed[0].act
    assert isinstance(act, Go)
    assert (act.choices.spec.command, act.choices.spec.settings.flush) == (Command.PUT, True)

    after = page_of(replace(act.choices, step=MethodStep.FILE), LINKED)
    for title, flush in (("Get big.bin", False), ("Get a file of", False), ("Put a file of", False)):
        chosen = option(after, title).act
        assert isinstance(chosen, Go)
        assert chosen.choices.spec.settings.flush is flush, title
    for title, flush in (("Put a file of another size", True), ("Get a file of another size", False)):
        chosen = ask(after, title).then("128M")
        assert isinstance(chosen, Go)
        assert chosen.choices.spec.settings.flush is flush, title

    over_ftp = replace(MEASURED, step=MethodStep.FILE, target=Target(protocol="ftp", host="nas", path="/"))
    assert not [each for each in page_of(over_ftp, LINKED).options if each.title.endswith(", flushed")]


def test_rounds():
    following = next_round(MEASURED, "strict sync", "no", "tuning")
    assert (following.spec.lineage.base_id, following.series_id, following.spec.lineage.experiment) == (
        "0123456789ab",
        None,
        "tuning",
    )
    assert (following.step, following.spec.lineage.change_name, following.spec.lineage.change_value) == (
        MethodStep.RUN,
        "strict sync",
        "no",
    )
    again = same_again(following)
    assert (again.spec.lineage.base_id, again.spec.lineage.change_name, again.file) == (None, None, "a/big.bin")
    assert same_again(replace(following, series_id="cafe")).spec.lineage.base_id == "cafe", (
        "a repeat of what was just measured"
    )
    assert (following.spec.texts.label, again.spec.texts.label) == ("strict sync = no", "")
    fresh = new_measurement(varied(MEASURED, runs=10))
    assert (fresh.target, fresh.series_id, fresh.spec.counts.runs, fresh.quiet) == (None, None, 10, "record")


def test_a_label_is_for_one_series_only():
    labelled = varied(MEASURED, label="as delivered")
    assert same_again(labelled).spec.texts.label == ""
    assert with_file(labelled, "b", "b/c.bin", 9).spec.texts.label == ""
    assert with_target(labelled, replace(SMB, host="other")).spec.texts.label == ""
    assert next_round(labelled, "hosts allow", "", "tuning").spec.texts.label == "hosts allow = empty"
    unmeasured = replace(labelled, series_id=None)
    assert with_file(unmeasured, "b", "b/c.bin", 9).spec.texts.label == "as delivered", "typed for the series to come"
    proposed = next_round(labelled, "strict sync", "no", "tuning")
    assert with_file(proposed, "b", "b/c.bin", 9).spec.texts.label == ""


def test_a_label_that_is_typed_once_a_series_was_measured_is_that_of_the_next_one():
    labelled = varied(MEASURED, label="as delivered", step=MethodStep.RUN)

    def typed(text: str, before: GuideChoices = labelled) -> GuideChoices:
        answered = ask(page_of(before, DONE), "A label").then(text)
        assert isinstance(answered, Go)
        return answered.choices

    assert same_again(typed("port 3")).spec.texts.label == "port 3"
    assert same_again(typed("port 3", typed("port 3"))).spec.texts.label == "port 3", (
        "looked at once more, and left as it was"
    )
    assert same_again(typed("as delivered")).spec.texts.label == "", "it was only looked at"
    assert with_target(typed("port 3"), replace(SMB, host="other")).spec.texts.label == "port 3"
    assert next_round(typed("port 3"), "strict sync", "no", "tuning").spec.texts.label == "port 3"
    assert next_round(typed(""), "strict sync", "no", "tuning").spec.texts.label == "strict sync = no"
    base = series([1e8], id="cafecafecafe", label="base")
    assert choices_to_repeat(typed("port 3"), base, None).spec.texts.label == "port 3"
    assert choices_to_repeat(labelled, base, None).spec.texts.label == "base"


def test_the_review_offers_what_its_warnings_advise_each_once():
    busy = series([1e8, 1.6e8, 0.9e8, 1.7e8, 1.2e8], quiet=Quiet(verdict=QuietVerdict.BUSY, reasons=("others",)))
    page = page_of(replace(MEASURED, step=MethodStep.REVIEW), replace(LINKED, series=busy))
    offered = [found.title for found in page.options if isinstance(found.act, Go)]
    assert offered == [
        "Measure again, and wait for a quiet time first",
        "Compare with the expected",
        "Measure again with more runs",
        "Measure the same again",
    ]
    more = option(page, "Measure again with more runs").act
    assert isinstance(more, Go)
    assert (more.choices.spec.counts.runs, more.choices.step, more.choices.series_id) == (10, MethodStep.RUN, None)
    sound = page_of(replace(MEASURED, step=MethodStep.REVIEW), DONE)
    assert [found.title for found in sound.options if isinstance(found.act, Go)][1:] == ["Measure the same again"]
    assert [found.title for found in sound.options if found.advised] == ["Compare with the expected"]


QUIET_AGAIN = "Measure again, and wait for a quiet time first"


@pytest.mark.parametrize(
    ("protocol", "quiet", "advised"),
    [
        (None, QuietChoice.RECORD, QUIET_AGAIN),
        (None, QuietChoice.WAIT, "Compare with the expected"),
        ("ftp", QuietChoice.RECORD, QUIET_AGAIN),
        ("smb", QuietChoice.RECORD, "Compare with baseline before"),
    ],
)
def test_the_review_says_what_its_star_advises(protocol: str | None, quiet: QuietChoice, advised: str):
    """A busy time is a remark where the comparison has an answer."""
    busy = series([1e8] * 5, quiet=Quiet(verdict=QuietVerdict.BUSY, reasons=("others",)))
    yardsticks: tuple[Yardstick, ...] = ()
    if protocol is not None:
        base = replace(busy, id="b" * 12, target=replace(SMB, protocol=protocol))
        yardsticks = (Yardstick(name="baseline before", series=base, reference="before" if protocol == "smb" else ""),)
    page = page_of(
        replace(MEASURED, step=MethodStep.REVIEW, quiet=quiet), replace(LINKED, series=busy, yardsticks=yardsticks)
    )
    assert [found.title for found in page.options if found.advised] == [advised]
    first, *others = said(page)
    (told,) = [fact for fact in said(page) if "busy" in fact]
    assert ("measure again at a quiet time" in told) is (advised == QUIET_AGAIN)
    if advised == QUIET_AGAIN:
        assert first == told
    else:
        assert f"{advised[0].lower()}{advised[1:]}" in first
        assert told in others


@pytest.mark.parametrize(
    ("rates", "is_left_out"), [((1e8, 1e8, 0.6e8, 1e8), False), ((1e8, 1e8, 0.6e8, 1e8, 1e8), True)]
)
def test_the_review_says_whether_an_unusual_run_counts_and_how_it_is_left_out(rates, is_left_out: bool):
    """Of four runs the answer leaves none out. One that it leaves out needs no key in words: the footer has it."""
    found = series(rates, quiet=Quiet(verdict=QuietVerdict.QUIET))
    page = page_of(replace(MEASURED, step=MethodStep.REVIEW), replace(LINKED, series=found))
    (told,) = [fact for fact in said(page) if "Run 3 is unusual" in fact]
    assert ("The answer leaves it out" in told) is is_left_out
    assert ("It counts in the average" in told) is not is_left_out
    assert ("Space" in told) is not is_left_out


def test_runs_that_are_too_short_lead_to_the_file():
    small = series([1e8, 1.01e8, 0.99e8, 1e8, 1e8], size_bytes=1 << 20)
    page = page_of(replace(MEASURED, step=MethodStep.REVIEW), replace(LINKED, series=small))
    larger = option(page, "Measure again with a larger file").act
    assert isinstance(larger, Go)
    assert (larger.choices.step, larger.choices.series_id) == (MethodStep.FILE, None)
    assert [found.title for found in page.options if found.advised] == ["Measure again with a larger file"]
    assert page.options[page.cursor].advised, "Enter takes it"
    made = replace(small, change=Change(name="block", value="64K"))
    page = page_of(replace(MEASURED, step=MethodStep.REVIEW), replace(LINKED, series=made))
    assert [found.title for found in page.options if found.advised] == ["See what the change did"]
    assert page.options[page.cursor].advised, "a verdict comes before a larger file"
    page = page_of(replace(MEASURED, step=MethodStep.REVIEW, proven_id="2"), replace(LINKED, series=small))
    assert [found.title for found in page.options if found.advised] == ["See what the change did"], "the base again"


def test_the_rail_shows_host_and_share_without_the_user():
    step = standings(replace(FILE, target=replace(SMB, user="bench", share="data", path="")), LINKED)[0]
    assert step.detail.endswith("/data")
    assert "smb:" not in step.detail
    assert "bench" not in step.detail


def test_the_advised_file_is_marked_and_what_is_wrong_with_a_bad_one_is_said():
    page = page_of(replace(FILE, step=MethodStep.FILE, file_bytes=4096), LINKED)
    assert any("too small" in fact and "or have one made" in fact for fact in said(page))
    assert any("Recommended: 2G" in fact for fact in said(page))
    empty = page_of(replace(FILE, step=MethodStep.FILE, file_bytes=0), LINKED)
    assert option(empty, "Get big.bin").act is None


@pytest.mark.parametrize(("practice", "hint"), [((), "too small"), ((SMB,), "enough for practice")])
def test_a_small_file_is_enough_for_practice(practice: tuple[Target, ...], hint: str):
    page = page_of(replace(FILE, step=MethodStep.FILE, file_bytes=4096), replace(LINKED, practice=practice))
    assert option(page, "Get big.bin").hint == hint
    assert option(page, "Get big.bin").advised is bool(practice)


def test_where_nothing_is_known_the_picked_file_is_advised_and_no_other_size_beside_it():
    page = page_of(replace(FILE, step=MethodStep.FILE, file_bytes=1 << 30), GuideContext())
    assert [each.title for each in page.options if each.advised] == ["Get big.bin"]
    assert not any("Recommended" in fact for fact in said(page))
    none_picked = page_of(replace(FILE, step=MethodStep.FILE, file=None, file_bytes=None), GuideContext())
    assert [each.title for each in none_picked.options if each.advised] == ["Get a file of 64M"]
    assert any("64M, a first guess" in fact for fact in said(none_picked))


def test_the_link_can_be_said_and_taken_back():
    asked = ask(page_of(replace(FILE, step=MethodStep.FILE), LINKED), "Set the link speed")
    said = asked.then("100M")
    assert isinstance(said, Go)
    assert said.choices.spec.link_bits_per_second == 100_000_000
    assert (
        "Link: 100 Mb/s, as given; this machine sees 1 Gb/s (eth0 runs at this rate)."
        in page_of(said.choices, LINKED).facts
    )
    as_seen = varied(said.choices, link_bits_per_second=LINKED.link.bits_per_second)
    assert "Link: 1 Gb/s, as given and as this machine sees it." in page_of(as_seen, LINKED).facts
    back = asked.then("auto")
    assert isinstance(back, Go)
    assert back.choices.spec.link_bits_per_second is None
    with pytest.raises(UsageError):
        asked.then("fast")


@pytest.mark.parametrize(("text", "numbers"), [("3 7", (3, 7)), ("0, 1", (0, 1)), ("2+10", (2, 10))])
def test_the_numbers_of_runs_can_be_said(text, numbers):
    act = ask(page_of(replace(FILE, step=MethodStep.WARM_UP), LINKED), "Other numbers").then(text)
    assert isinstance(act, Go)
    assert (act.choices.spec.counts.warmups, act.choices.spec.counts.runs) == numbers


@pytest.mark.parametrize("text", ["", "5", "a b", "2 0", "-1 5", "1 2 3", "2 1000000"])
def test_numbers_that_are_none_are_refused(text):
    asked = ask(page_of(replace(FILE, step=MethodStep.WARM_UP), LINKED), "Other numbers")
    with pytest.raises(UsageError):
        asked.then(text)


def test_what_will_happen_is_said_with_its_figures():
    page = page_of(replace(MEASURED, step=MethodStep.RUN, series_id=None), LINKED)
    told = "2 warm-up runs and 5 measured runs, of 1G each, 7 GiB in all, about 60 s or longer (at 1 Gb/s,"
    assert f"{told} the link speed)." in said(page)[2]


@pytest.mark.parametrize(
    ("choices", "is_told"),
    [
        (replace(FILE, step=MethodStep.RUN), True),
        (replace(FILE, step=MethodStep.RUN, after_baseline="before-switch"), False),
        (replace(FILE, step=MethodStep.RUN, target=Target(protocol="file", path="/srv")), False),
        (replace(FILE, step=MethodStep.FILE), False),
    ],
)
def test_an_unknown_link_speed_is_told_once_before_the_run_unless_a_baseline_is_asked_about(choices, is_told):
    context = GuideContext(link=LinkState(source="the loopback has no rate"))
    page = page_of(choices, context)
    assert any(fact.startswith("Link speed not known") for fact in said(page)) is is_told


def test_who_sets_the_link_speed_is_told_why_it_is_not_known():
    context = GuideContext(link=LinkState(source="the loopback has no rate"))
    asked = ask(page_of(replace(FILE, step=MethodStep.RUN), context), "Set the link speed…")
    assert asked.text.startswith("Link: rate not known (the loopback has no rate).")


def test_what_this_program_changes_by_itself_reaches_the_plan():
    page = page_of(replace(MEASURED, step=MethodStep.CHANGE), DONE)
    act = option(page, "Request size").act
    assert isinstance(act, Go)
    request = request_of(act.choices, Secrets(password="x"))
    assert (request.spec.settings.block_bytes, request.spec.settings.in_flight) == (65536, None)
    assert (request.spec.lineage.change_name, request.spec.lineage.change_value, request.spec.lineage.base_id) == (
        "block",
        "64K",
        "0123456789ab",
    )
    assert request.experiment
    assert request.experiment.name == "smb get nas 2026-01-31 10:00"


def test_on_the_practice_server_the_request_size_is_advised_and_no_setting_of_a_server():
    assert DONE.series
    practised = Target(protocol="smb", host="127.0.0.1", share="practice", path="f", user="practice")
    practice = replace(DONE.series, target=practised, client=replace(DONE.series.client, block_bytes=65536))
    page = page_of(replace(MEASURED, step=MethodStep.CHANGE), replace(DONE, series=practice))
    (first,) = (one for one in page.options if one.advised)
    assert first.title == "Request size (client's block): 64K → 16K"
    absent = ("Try a setting", "smb.conf", "Requests in flight")
    assert not [one for one in page.options if any(words in one.title for words in absent)]
    real = page_of(replace(MEASURED, step=MethodStep.CHANGE), DONE)
    assert {one.advised for one in real.options if "client's block" in one.title} == {False}
    assert [one for one in real.options if "Requests in flight" in one.title]


def test_orders_name_the_file_or_the_folder():
    get = request_of(MEASURED, Secrets())
    assert (get.target.path, get.spec.counts.make_file, get.spec.counts.size_bytes) == ("a/big.bin", False, None)
    assert get.spec.monitor.quiet_time is QuietTime.RECORD
    waiting = request_of(replace(MEASURED, quiet=QuietChoice.WAIT), Secrets())
    assert (waiting.spec.monitor.quiet_time, waiting.spec.wait_seconds) == (QuietTime.RECORD, 600.0)
    folder = replace(SMB, path="a")
    made = request_of(varied(MEASURED, target=folder, size_bytes=7), Secrets())
    assert (made.target.path, made.spec.counts.make_file, made.spec.counts.size_bytes) == ("a", True, 7)
    put = request_of(
        varied(MEASURED, target=folder, size_bytes=7, command=Command.PUT, quiet=QuietChoice.REQUIRE), Secrets()
    )
    assert (put.spec.counts.make_file, put.spec.command, put.spec.monitor.quiet_time) == (
        False,
        Command.PUT,
        QuietTime.REQUIRE,
    )
    path = varied(MEASURED, target=Target(protocol="iperf3", host="nas", port=5201), size_bytes=7, file=None)
    assert not request_of(path, Secrets()).spec.counts.make_file
    assert (
        said(page_of(varied(path, command=Command.PUT, step=MethodStep.RUN), LINKED))[0]
        == "To measure: put of 7 at iperf3://nas."
    )
    with pytest.raises(UsageError, match="choose a target"):
        request_of(GuideChoices(), Secrets())


@pytest.mark.parametrize(
    ("name", "command", "told"),
    [
        ("strict sync", Command.GET, True),
        ("strict sync", Command.PUT, False),
        ("aio read size", Command.PUT, True),
        ("log level", Command.GET, False),
    ],
)
def test_a_change_that_acts_on_the_other_direction_alone_is_told_before_it_is_measured(name, command, told):
    choices = varied(MEASURED, command=command, change_name=name, change_value="1", step=MethodStep.RUN)
    assert any(fact.startswith("! It acts on a ") for fact in said(page_of(choices, LINKED))) is told


def test_a_target_is_told_from_a_change_by_hand():
    asked = ask(page_of(replace(MEASURED, step=MethodStep.CHANGE), DONE), "Change a setting by hand, before and after")
    for typed in ("smb://nas/data", "smb://nas/a=b", "smb://u:p@nas/x", "/mnt/data"):
        with pytest.raises(UsageError, match="n starts a new measurement"):
            asked.then(typed)
    with pytest.raises(UsageError, match="nothing was typed"):
        asked.then(" ")
    assert isinstance(asked.then("/proc/sys/vm/swappiness = 1"), Go), "a name may begin as a path does"


def test_the_servers_file_is_looked_for_at_once_where_no_ssh_leads_to_it(tmp_path):
    asked = ask(page_of(replace(FILE, step=MethodStep.RUN), LINKED), "Read the server's settings")
    conf = tmp_path / "smb.conf"
    for typed, why in ((conf, "is not on this machine"), (tmp_path, "is a folder")):
        with pytest.raises(UsageError, match=why):
            asked.then(str(typed))
    answered = asked.then(f"root@nas {conf}")
    assert isinstance(answered, Store), "the way is known to every form from now on"
    assert (answered.choices.spec.monitor.server_ssh, answered.choices.spec.monitor.smb_conf) == (
        "root@nas",
        str(conf),
    ), "a file of that machine"
    conf.write_text("[global]\n")
    answered = asked.then(str(conf))
    assert isinstance(answered, Store)
    assert (answered.choices.spec.monitor.server_ssh, answered.choices.spec.monitor.smb_conf) == (None, str(conf))


def test_recent_targets_are_each_there_once():
    ftp = Target(protocol="ftp", host="nas", port=21, path="/")
    targets = [replace(SMB, path="a"), replace(SMB, path="b"), ftp, Target(protocol="file", path="/mnt")]
    assert recent_targets(targets, (ftp,)) == (replace(SMB, path="a"), Target(protocol="file", path="/mnt"))


def test_practice_servers_of_another_day_are_not_offered():
    ready = replace(SMB, host="127.0.0.1", user="practice", port=40001)
    targets = [replace(ready, port=40000, path=""), replace(SMB, path="")]
    assert recent_targets(targets, (ready,)) == (replace(SMB, path=""),)
    assert len(recent_targets(targets, ())) == 2


@pytest.mark.parametrize("status", [SeriesStatus.INTERRUPTED, SeriesStatus.FAILED])
def test_a_series_that_ended_early_can_be_completed(status):
    known = replace(DONE, series=series([1e8], status=status, error="the [server] went away"))
    page = page_of(replace(MEASURED, step=MethodStep.RUN), known)
    assert page.options[0].title == "Resume where it stopped"
    assert any("the [server] went away" in fact for fact in said(page)) or status is SeriesStatus.INTERRUPTED


@pytest.mark.parametrize("text", ["root:hunter2@nas", "root:hunter2@nas other /etc/smb.conf"])
def test_a_password_in_the_name_for_ssh_is_refused_and_not_repeated(text: str):
    with pytest.raises(UsageError, match="a password does not belong") as refused:
        with_typed_server(FILE, text)
    assert "hunter2" not in str(refused.value)


def test_a_base_that_is_a_baseline_too_is_compared_with_once():
    stick = Yardstick(name="the base", series=series([1e8, 1e8, 1e8], id="b" * 12))
    named = replace(stick, name="baseline nov")
    page = page_of(replace(MEASURED, step=MethodStep.EXPECTED), replace(DONE, yardsticks=(stick, named)))
    (told,) = (fact for fact in said(page) if fact.startswith("Against"))
    assert told.startswith("Against the base and baseline nov: ")
    other = replace(named, series=series([1e8, 1e8, 1e8], id="c" * 12))
    page = page_of(replace(MEASURED, step=MethodStep.EXPECTED), replace(DONE, yardsticks=(stick, other)))
    assert len([fact for fact in said(page) if fact.startswith("Against")]) == 2


@pytest.mark.parametrize("is_base_busy", [True, False])
def test_what_weakens_the_answer_stands_once_and_says_what_follows(is_base_busy: bool):
    quiet = Quiet(verdict=QuietVerdict.BUSY) if is_base_busy else None
    base = series([5e7, 5e7, 5e7, 5e7, 5e7], id="b" * 12, label="before", quiet=quiet)
    stick = Yardstick(name="baseline before", series=base, reference="before")
    after = series([1e8, 1.01e8, 0.99e8, 1e8, 1e8], quiet=Quiet(verdict=QuietVerdict.BUSY))
    known = replace(DONE, series=after, yardsticks=(stick,), findings=tuple(findings([after, base])))
    page = page_of(replace(MEASURED, step=MethodStep.EXPECTED), known)
    (told,) = (fact for fact in said(page) if "busy time" in fact)
    assert ("both series" in told) is is_base_busy
    assert "get data/big.bin" in told or is_base_busy


def test_the_answer_of_a_comparison_comes_before_all_else():
    base = series([5e7, 5e7, 5e7, 5e7, 5e7], id="b" * 12, label="before")
    choices = replace(MEASURED, step=MethodStep.EXPECTED)
    for yardsticks, is_answer in (((Yardstick(name="baseline nov", series=base, reference="nov"),), True), ((), False)):
        page = page_of(choices, replace(DONE, yardsticks=yardsticks))
        assert page.begins_with_answer is is_answer
        assert said(page)[0].startswith("▲ Faster") is is_answer
        assert (page.why in list(page_lines(page, MethodStep.EXPECTED))) is not is_answer

    kept = replace(DONE, yardsticks=(Yardstick(name="baseline nov", series=base, reference="nov"),), kept_as=("dec",))
    assert not page_of(choices, kept).begins_with_answer, "what it will show as a base comes first"


@pytest.mark.parametrize(("label", "whose"), [("as found", ": FTP (as found)"), ("", ": FTP (")])
def test_a_finding_about_another_series_names_that_series(label, whose):
    assert DONE.series
    busy = series([1e8, 1e8, 1e8], id="b" * 12, label=label, quiet=Quiet(verdict=QuietVerdict.BUSY))
    busy = replace(busy, target=replace(SMB, protocol="ftp"))
    stick = Yardstick(name="FTP", series=busy)
    page = page_of(
        replace(MEASURED, step=MethodStep.EXPECTED),
        replace(DONE, yardsticks=(stick,), findings=tuple(findings([DONE.series, busy]))),
    )
    (told,) = (fact for fact in said(page) if "busy time" in fact)
    assert told.startswith(f"! Measured at a busy time{whose}")
    assert busy.id not in told
    own = replace(DONE, findings=tuple(findings([replace(DONE.series, quiet=busy.quiet)])))
    page = page_of(replace(MEASURED, step=MethodStep.EXPECTED), own)
    assert "! Measured at a busy time" in said(page), "the series of the round is not named"


def test_both_values_of_a_change_stand_in_the_choice():
    assert DONE.series
    deep = replace(DONE.series, client=replace(DONE.series.client, in_flight=4, block_bytes=1 << 20))
    page = page_of(replace(MEASURED, step=MethodStep.CHANGE), replace(DONE, series=deep))
    assert option(page, "Requests in flight").title == "Requests in flight (client's in-flight): 4 → 1"
    assert option(page, "Request size").title == "Request size (client's block): 1M → 64K"


def test_the_guide_asks_for_the_question_of_the_measurement_in_words_or_by_number():
    ready = replace(FILE, step=MethodStep.RUN)
    asked = ask(page_of(ready, LINKED), "The question to answer…")
    assert all(question in asked.text for question in QUESTIONS)
    for typed, question in (
        ("3", QUESTIONS[2]),
        ("1", QUESTIONS[0]),
        ("4", "4"),
        ("0", "0"),
        ("Why?", "Why?"),
        ("", ""),
    ):
        answered = asked.then(typed)
        assert isinstance(answered, Go)
        assert request_of(answered.choices, Secrets()).spec.texts.question == question
    none = page_of(ready, LINKED)
    assert option(none, "The question to answer…").hint == "none"


@pytest.mark.parametrize(("block", "told"), [(None, False), (65536, True)])
def test_a_request_size_that_was_chosen_stands_in_what_will_be_measured(block: int | None, told: bool):
    page = page_of(varied(MEASURED, step=MethodStep.RUN, block_bytes=block), LINKED)
    assert ("Request size: 64K (changed by you)." in said(page)) is told


@pytest.mark.parametrize(
    ("base", "proven", "change", "title"),
    [
        (None, None, None, "Compare with the expected"),
        ("b" * 12, None, None, "Compare with the series that it repeats"),
        ("b" * 12, "c" * 12, None, "See what the change did"),
        (None, None, Change(name="log level", value="0"), "See what the change did"),
    ],
)
def test_the_comparison_is_called_as_what_leads_to_it(base, proven, change, title: str):
    choices = varied(MEASURED, base_id=base, proven_id=proven)
    assert DONE.series
    known = replace(DONE, series=replace(DONE.series, change=change))
    review, compared = (
        page_of(replace(choices, step=step), known) for step in (MethodStep.REVIEW, MethodStep.EXPECTED)
    )
    assert compared.title == title
    assert title in [found.title for found in review.options]


def test_what_the_choice_of_a_quiet_time_means_is_said_before_it_starts():
    for choice, is_told in ((QuietChoice.WAIT, True), (QuietChoice.RECORD, False), (None, False)):
        page = page_of(replace(MEASURED, step=MethodStep.RUN, quiet=choice), replace(DONE, series=None))
        assert any("waits for a quiet time, at most 10 minutes" in fact for fact in said(page)) is is_told


@pytest.mark.parametrize(
    ("size", "quiet", "base_rate", "advised"),
    [
        (1 << 20, QuietVerdict.BUSY, 1e8, "Measure again with a larger file, at a quiet time"),
        (1 << 20, QuietVerdict.QUIET, 1e8, "Measure again with a larger file"),
        (1 << 30, QuietVerdict.BUSY, 1e8, "Measure again, and wait for a quiet time first"),
        (1 << 30, QuietVerdict.QUIET, 1e8, "Side by side with baseline nov"),
        (1 << 20, QuietVerdict.BUSY, 4e8, "Side by side with baseline nov"),
    ],
)
def test_the_comparison_advises_what_the_review_does_until_there_is_a_verdict(size, quiet, base_rate, advised):
    found = series([1e8, 1.01e8, 0.99e8, 1e8, 1e8], size_bytes=size, quiet=Quiet(verdict=quiet, reasons=("others",)))
    base = series([base_rate] * 5, id="b" * 12, size_bytes=size, label="another")
    stick = Yardstick(name="baseline nov", series=base)
    ftp = Yardstick(
        name="FTP", series=replace(base, id="c" * 12, runs=series([9e8] * 5).runs, target=replace(SMB, protocol="ftp"))
    )
    first = Yardstick(name="the series that it repeats", series=replace(found, id="d" * 12))
    choices = replace(MEASURED, step=MethodStep.EXPECTED)
    known = replace(LINKED, series=found, yardsticks=(stick, ftp))
    page = page_of(choices, known)
    assert [one.title for one in page.options if one.advised] == [advised], "FTP says nothing of short or busy runs"
    beside = page_of(choices, replace(known, yardsticks=(first, stick)))
    (beside_advised,) = [one.title for one in beside.options if one.advised]
    assert beside_advised == advised.replace("baseline nov", first.name), "a verdict beside one is enough"
    waited = page_of(replace(choices, quiet=QuietChoice.WAIT), known)
    assert "Measure again, and wait for a quiet time first" not in [one.title for one in waited.options if one.advised]
    assert page.options[page.cursor].advised
    assert sum(one.title == "Change one thing" for one in page.options) == 1


def test_practice_goes_on_to_a_change_though_the_machine_is_busy():
    practised = Target(protocol="smb", host="127.0.0.1", share="practice", path="f", user="practice")
    busy = Quiet(verdict=QuietVerdict.BUSY, reasons=("others",))
    for target, advised in ((practised, "Change one thing"), (SMB, "Measure again, and wait for a quiet time first")):
        found = replace(series([1e8, 1.01e8, 0.99e8, 1e8, 1e8], quiet=busy), target=target)
        page = page_of(replace(MEASURED, step=MethodStep.EXPECTED), replace(LINKED, series=found))
        assert [one.title for one in page.options if one.advised] == [advised]


def test_the_share_of_the_link_has_a_column_only_where_the_link_is_known():
    assert DONE.series
    for link, told in ((1_000_000_000, "of link"), (None, "")):
        measured = replace(DONE.series, link_bits_per_second=link)
        page = page_of(replace(MEASURED, step=MethodStep.REVIEW), replace(LINKED, series=measured))
        assert page.columns.endswith(f"Rate {told:>8}" if told else "Rate")
        assert page.options[0].title.endswith(" %") is bool(told)


def test_interleaved_runs_that_were_too_few_lead_to_as_many_as_would_settle_it():
    wild = [rate + (1.7e6 if index % 3 else -3.4e6) for index, rate in enumerate([1e8 + n for n in range(10)])]
    change = Change(name="block", value="64K", previous="1M", evidence=Evidence.CONFIRMED)
    pair = interleaved(
        series(wild, id="a" * 12), series([1.02 * r for r in wild[1:] + wild[:1]], id="b" * 12, change=change)
    )
    known = replace(LINKED, series=pair[1], proof=Sides(base=pair[:1], other=pair[1:]))
    page = page_of(replace(MEASURED, step=MethodStep.EXPECTED, series_id="b" * 12), known)
    (first,) = (one for one in page.options if one.advised)
    assert isinstance(first.act, Visit)
    needed = first.act.arguments["runs"]
    title = f"Measure both again, interleaved: {needed} runs each, about 66 s"
    assert (first.title, first.act.name) == (title, "interleaved")
    assert isinstance(needed, int)
    assert 10 < needed <= MANY_RUNS


def test_a_change_that_was_measured_from_this_base_is_told_and_not_offered_again():
    assert DONE.series
    base = replace(DONE.series, client=replace(DONE.series.client, in_flight=4, block_bytes=1 << 20))
    change = Change(name="in-flight", value="1", previous="4", evidence=Evidence.CONFIRMED)
    slower = series([4e7, 4.1e7, 3.9e7, 4e7, 4e7], id="b" * 12, change=change, base_id=base.id)
    known = replace(LINKED, series=base, measured_changes=((change, Sides(base=(base,), other=(slower,))),))
    page = page_of(replace(MEASURED, step=MethodStep.CHANGE), known)
    assert any(fact.startswith("Measured with in-flight = 1: ▼ Slower by 60 %") for fact in said(page))
    offered = [one.title for one in page.options]
    assert not [title for title in offered if title.startswith("Requests in flight")]
    assert [title for title in offered if title.startswith("Request size")]
    other = replace(change, value="2")
    open_still = replace(slower, change=replace(change), runs=replace(base, id="c").runs)
    for made in ((other, slower), (change, open_still)):
        pair = (made[0], Sides(base=(base,), other=(made[1],)))
        page = page_of(replace(MEASURED, step=MethodStep.CHANGE), replace(known, measured_changes=(pair,) * 4))
        assert option(page, "Requests in flight"), "another value, or no verdict yet"
        assert sum(fact.startswith("Measured with ") for fact in said(page)) == 3


def test_a_change_whose_base_was_measured_with_a_larger_file_is_made_again_at_that_size():
    wild = [1e8, 1.6e8, 0.9e8, 1.7e8, 1.2e8]
    change = Change(name="block", value="64K", previous="1M", evidence=Evidence.CONFIRMED)
    base = series(wild, id="a" * 12, size_bytes=1 << 20)
    other = series(wild[::-1], id="b" * 12, size_bytes=1 << 20, change=change, base_id=base.id)
    known = replace(LINKED, series=other, proof=Sides(base=(base,), other=(other,)))
    longer = option(page_of(replace(MEASURED, step=MethodStep.EXPECTED), known), "Measure again with a larger file").act
    assert isinstance(longer, Go)
    assert longer.choices.step is MethodStep.FILE
    sized = with_made_file(longer.choices, Command.GET, 1 << 33)
    measured = replace(sized, series_id="c" * 12)
    anew = replace(LINKED, series=series([1e8] * 5, id="c" * 12))
    for step in (MethodStep.EXPECTED, MethodStep.CHANGE):
        page = page_of(replace(measured, step=step), anew)
        (first,) = (one for one in page.options if one.advised)
        assert (page.options.index(first), first.title) == (0, "Make the change again: block = 64K")
        assert isinstance(first.act, Go)
        following = first.act.choices
        assert (
            following.spec.settings.block_bytes,
            following.spec.counts.size_bytes,
            following.spec.lineage.base_id,
        ) == (65536, 1 << 33, "c" * 12)
        assert following.again_name is None, "it is made now"
        assert not [one for one in page.options if one.title.startswith("Request size")], "it stands there once"
    short = replace(LINKED, series=series([1e8, 1.01e8, 0.99e8, 1e8, 1e8], id="c" * 12, size_bytes=1 << 20))
    page = page_of(replace(measured, step=MethodStep.EXPECTED), short)
    assert [one.title for one in page.options][:2] == [
        "Measure again with a larger file", "Make the change again: block = 64K",
    ]  # fmt: skip
    elsewhere = with_target(measured, replace(SMB, host="other"))
    assert elsewhere.again_name is None
    assert new_measurement(measured).again_name is None


def test_a_setting_of_the_program_that_is_typed_to_be_tried_is_the_next_round():
    page = page_of(replace(MEASURED, step=MethodStep.CHANGE), DONE)
    tried = ask(page, "Try a setting of the server")
    own, servers = tried.then("block = 64K"), tried.then("strict sync = no")
    assert isinstance(own, Go)
    assert (own.choices.spec.settings.block_bytes, own.choices.step) == (65536, MethodStep.RUN)
    assert servers == Visit("trial", {"setting": "strict sync = no"})
    assert DONE.series
    other = replace(DONE.series, client=replace(DONE.series.client, name="smbclient"))
    page = page_of(replace(MEASURED, step=MethodStep.CHANGE), replace(DONE, series=other))
    tried = ask(page, "Try a setting of the server")
    assert tried.then("block = 64K") == Visit("trial", {"setting": "block = 64K"}), "it is this program's own setting"


def test_encryption_and_signing_of_this_client_are_offered_both_ways():
    page = page_of(replace(MEASURED, step=MethodStep.CHANGE), DONE)
    for name, what in (("encrypt", "Encryption"), ("sign", "Signing")):
        act = option(page, f"{what} (client {name}): off → on").act
        assert isinstance(act, Go)
        request = request_of(act.choices, Secrets(password="x"))
        assert (request.spec.lineage.change_name, request.spec.lineage.change_value) == (f"client {name}", "yes")
        assert getattr(request.spec.settings, name)
        assert act.choices.spec.texts.label == f"client {name} = yes"
        asked = varied(MEASURED, step=MethodStep.CHANGE, encrypt=name == "encrypt", sign=name == "sign")
        back = option(page_of(asked, DONE), f"{what} (client {name}): on → off").act
        assert isinstance(back, Go)
        assert (getattr(back.choices.spec.settings, name), back.choices.spec.lineage.change_value) == (False, "no")
    assert DONE.series
    sealed = replace(DONE.series, client=replace(DONE.series.client, encryption="aes-128-gcm"))
    titles = [
        one.title for one in page_of(replace(MEASURED, step=MethodStep.CHANGE), replace(DONE, series=sealed)).options
    ]
    assert not [one for one in titles if "(client " in one and "client's" not in one], "the server requires it"


@pytest.mark.parametrize(
    ("typed", "name", "value"),
    [
        ("encrypt = required", "client encrypt", "yes"),
        ("client's encryption = on", "client encrypt", "yes"),
        ("sign = Mandatory", "client sign", "yes"),
        ("client sign = off", "client sign", "no"),
        ("requests in flight = 2", "in-flight", "2"),
        ("client's block = 64K", "block", "64K"),
        ("encryption = required", "server smb encrypt", "required"),
        ("signing = mandatory", "server signing", "mandatory"),
        ("new switch = yes", "new switch", "yes"),
        ("block size = 4096", "block size", "4096"),
        ("client signing = required", "client signing", "required"),
    ],
)
def test_a_change_that_is_typed_is_called_by_its_own_name(typed: str, name: str, value: str):
    asked = ask(page_of(replace(MEASURED, step=MethodStep.CHANGE), DONE), "Change a setting by hand, before")
    act = asked.then(typed)
    assert isinstance(act, Go)
    assert (act.choices.spec.lineage.change_name, act.choices.spec.lineage.change_value) == (name, value)
    told = [fact for fact in said(page_of(act.choices, LINKED)) if "Ignore this if it is no setting of Samba's" in fact]
    assert bool(told) is (name == "new switch")
    with pytest.raises(UsageError, match="neither yes nor no"):
        asked.then("client encrypt = perhaps")


@pytest.mark.parametrize(("runs", "then"), [(30, 5), (6, 5), (5, 5), (3, 3)])
def test_a_larger_file_takes_no_more_runs_than_usual(runs: int, then: int):
    way = BETTER["short"].apply
    assert way(varied(MEASURED, runs=runs)).spec.counts.runs == then


def test_what_is_measured_again_is_not_called_interleaved():
    for label, kept in (
        ("in-flight = 1, interleaved", "in-flight = 1"),
        ("get data/x, interleaved", ""),
        ("get over wifi", "get over wifi"),
        ("a", "a"),
    ):
        assert choices_of(series([1e8], label=label)).spec.texts.label == kept


def test_a_setting_of_this_client_is_refused_where_another_measures():
    other = series([1e8, 1.01e8, 0.99e8], client=replace(CLIENT, name="smbclient"))
    with pytest.raises(UsageError, match="in-flight is a setting of sharebench's own client, and smbclient measures"):
        change_one_thing(choices_of(other), other, "in-flight", "4")
    assert change_one_thing(choices_of(other), other, "strict sync", "no").spec.lineage.change_name == "strict sync"
    assert change_one_thing(varied(choices_of(other), client=OWN), other, "in-flight", "4").spec.settings.in_flight == 4


@pytest.mark.parametrize(("payload", "full"), [(None, "94 %"), (941e6, "94 %"), (956e6, "96 %"), (991e6, "99 %")])
def test_how_much_of_a_link_can_be_had_stands_beside_its_share(payload: float | None, full: str):
    """The figure of the link's packets and shaper, by which a warning judges it too; else that of Ethernet."""
    facts = {"link.rate_bits_per_second": 10**9, "link.payload_ceiling_bits_per_second": payload} if payload else {}
    measured = series([1e8] * 5, environment={"path": facts})
    page = page_of(replace(MEASURED, step=MethodStep.EXPECTED), replace(DONE, series=measured))
    assert f"Link: 80 % of 1 Gb/s (a full one shows {full}; headers take the rest)." in said(page)


@pytest.mark.parametrize(
    ("dialect", "guest", "server", "offered", "why"),
    [
        ("3.0", "no", "default", {"encrypt", "sign"}, ""),
        (None, "no", "desired", {"encrypt", "sign"}, ""),
        ("2.1", "no", "default", {"sign"}, "client encrypt needs SMB 3: the server spoke SMB 2.1"),
        ("3.1.1", "no", "off", {"sign"}, "client encrypt cannot work here: the server has smb encrypt = off"),
        ("3.1.1", "yes", "default", set(), "client encrypt needs a login: a guest session can be neither signed nor"),
    ],
)
def test_what_the_session_cannot_do_is_neither_offered_nor_taken(
    dialect: str | None, guest: str, server: str, offered: set[str], why: str
):
    client = replace(CLIENT, dialect=dialect, signing="none", encryption="none")
    seen = {"path": {"smb.guest": guest}, "server": {"smb.conf/global/server smb encrypt": server}}
    measured = series([1e8, 1.01e8, 0.99e8], client=client, environment=seen)
    page = page_of(replace(MEASURED, step=MethodStep.CHANGE), replace(LINKED, series=measured))
    assert {one for one in ("encrypt", "sign") if any(f"client {one}" in it.title for it in page.options)} == offered
    if why:
        with pytest.raises(UsageError) as refused:
            change_one_thing(choices_of(measured), measured, "client encrypt", "yes")
        assert str(refused.value).startswith(why)
    else:
        assert change_one_thing(choices_of(measured), measured, "client encrypt", "yes").spec.settings.encrypt
    assert change_one_thing(choices_of(measured), measured, "client encrypt", "no").spec.settings.encrypt is False, (
        "to leave it out is possible"
    )


@pytest.mark.parametrize("name", ["client encrypt = yes", "client sign = yes", "in-flight = 4"])
def test_a_setting_that_ftp_does_not_have_is_refused_at_once(name: str):
    ftp = replace(SMB, protocol="ftp", port=21, share="")
    known = replace(LINKED, series=series([1e8, 1.01e8, 0.99e8], target=ftp, client=replace(CLIENT, in_flight=None)))
    page = page_of(replace(MEASURED, target=ftp, step=MethodStep.CHANGE), known)
    asked = ask(page, "Change a setting by hand, before")
    with pytest.raises(UsageError, match="FTP has no such thing as"):
        asked.then(name)
    act = asked.then("use_sendfile = NO")
    assert isinstance(act, Go)
    assert not any("Samba" in fact for fact in said(page_of(act.choices, LINKED))), "vsftpd is not Samba"


@pytest.mark.parametrize("value", ["four", "0", "-1", ""])
def test_a_depth_that_is_no_number_is_refused_and_does_not_break_the_pages(value: str):
    assert DONE.series
    with pytest.raises(UsageError, match="a whole number from 1 on is needed"):
        change_one_thing(MEASURED, DONE.series, "in-flight", value)
    choices = replace(MEASURED, again_name="in-flight", again_value=value)
    for step in (MethodStep.EXPECTED, MethodStep.CHANGE):
        page = page_of(replace(choices, step=step), DONE)
        assert not [one for one in page.options if one.title.startswith("Make the change again")]
