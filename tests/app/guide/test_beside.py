"""The guide compares two targets: the second one is chosen, both are measured interleaved, and the pairs answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from app.backend import Backend
from app.base.errors import UsageError
from app.base.targets import parse_target
from app.clients.base import Secrets
from app.clients.session_logins import Logins
from app.guide.context import GuideContext
from app.guide.page import Go, Judge
from app.guide.pages.steps import page_of
from app.guide.pair_screen import PairScreen
from app.guide.plain import PlainGuide
from app.guide.plain_terminal import PlainTerminal
from app.guide.screen import GuideScreen
from app.method import other_targets, rounds
from app.method.choices import GuideChoices, MethodStep, OtherSide, QuietChoice, same_again, with_counts
from app.method.round_requests import requests_of_comparison
from app.recording.process import RunFinished
from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context
from app.tui.frame.dialogs import AskDialog
from forms.comparison.pairs import paired_runs
from forms.comparison.verdict import compare
from storage.notebook import Notebook
from storage.plan import CeilingPolicy, QuietTime, RunCounts
from storage.records import CONTENT_SAMPLE, Command, Phase, RunStatus, SeriesStatus, Target, format_target
from tests.builders import book, interleaved, one
from tests.tui import measured, painted, press, settled, text_of

MIB = 1 << 20
OPTION = "Compare with another server…"
OLD = parse_target("smb://nas/public")
NEW = parse_target("smb://new/public")


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    made = []
    for name in ("old", "new"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "big.bin").write_bytes(bytes(4 * MIB))
        made.append(folder)
    return made


def choices_of_two(**more: Any) -> GuideChoices:
    """Both have a file of the same size."""
    other = OtherSide(target=NEW, file="big.bin", file_bytes=4 * MIB)
    usual = GuideChoices(
        step=MethodStep.RUN, target=OLD, file="big.bin", file_bytes=4 * MIB, others=(other,), quiet=QuietChoice.SKIP
    )
    return replace(usual, **more)


def titles(choices: GuideChoices, context: GuideContext | None = None) -> list[str]:
    return [option.title for option in page_of(choices, context or GuideContext()).options]


def app_for(tmp_path: Path, backend: Backend | None = None) -> SharebenchApp:
    context = Context(notebook_path=tmp_path / "notebook.db", backend=backend or Backend())
    return SharebenchApp(context, first="guide")


def guide(app: SharebenchApp) -> GuideScreen:
    return next(screen for screen in app.screen_stack if isinstance(screen, GuideScreen))


async def choose(app: SharebenchApp, pilot: Any, title: str) -> None:
    """Take the choice of the page that begins so."""
    page = page_of(guide(app).session.choices, guide(app).session.known)
    option = next(option for option in page.options if option.title.startswith(title))
    guide(app).drive(guide(app).session.do(option.act))
    await settled(app, pilot)


async def answer(app: SharebenchApp, pilot: Any, *lines: str) -> None:
    for line in lines:
        app.screen.query_one(Input).value = line
        await press(app, pilot, "enter")


async def at_run(app: SharebenchApp, pilot: Any, runs: int = 4) -> None:
    """The round with both targets at the page of the run."""
    choices = with_counts(guide(app).session.choices, RunCounts(runs=runs, warmups=1))
    monitor = replace(choices.spec.monitor, quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP)
    spec = replace(choices.spec, monitor=monitor)
    guide(app).take(replace(choices, spec=spec, quiet=QuietChoice.SKIP, counted=True, step=MethodStep.RUN))
    await settled(app, pilot)


# The whole way


async def test_two_folders_are_compared_from_the_step_of_the_target_on(tmp_path: Path, folders: list[Path]):
    app = app_for(tmp_path)
    async with app.run_test(size=(110, 40)) as pilot:
        await settled(app, pilot)
        await choose(app, pilot, OPTION)
        assert isinstance(app.screen, AskDialog)
        await answer(app, pilot, str(folders[0] / "big.bin"), str(folders[1] / "big.bin"))
        choices = guide(app).session.choices
        assert (choices.file_bytes, [other.file_bytes for other in choices.others]) == (4 * MIB, [4 * MIB])
        assert choices.step is MethodStep.QUIET

        await at_run(app, pilot)
        assert "Compared with" in painted(app)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, PairScreen)
        await measured(app, pilot)
        shown = painted(app)
        assert "4 pairs of runs measured" in shown
        assert "by 4 pairs: " in shown.lower()
        await press(app, pilot, "enter")
        assert guide(app).session.choices.step is MethodStep.REVIEW
        assert "new/big.bin 4" in painted(app)

        await choose(app, pilot, "See what the pairs say")
        page = page_of(guide(app).session.choices, guide(app).session.known)
        assert page.headline
        assert page.chart is not None
        assert page.chart.of_sides is not None

    with Notebook(tmp_path / "notebook.db") as notebook:
        choices = rounds.recall_choices(notebook, ())
        base = notebook.series(choices.series_id or "")
        (other,) = [notebook.series(side.series_id or "") for side in choices.others]
    assert [base.label, other.label] == ["old/big.bin", "new/big.bin"]
    assert len(paired_runs(base, other) or ()) == 4


async def test_files_of_different_sizes_are_refused_and_nothing_is_changed(tmp_path: Path, folders: list[Path]):
    (folders[1] / "big.bin").write_bytes(bytes(4 * MIB + 1))
    app = app_for(tmp_path)
    async with app.run_test(size=(110, 40)) as pilot:
        await settled(app, pilot)
        await choose(app, pilot, OPTION)
        await answer(app, pilot, str(folders[0] / "big.bin"), str(folders[1] / "big.bin"))
        assert isinstance(app.screen, AskDialog)
        assert "4,194,305 bytes" in text_of(app.screen, ".dialog-problem")
        assert app.screen.query_one(Input).value == str(folders[1] / "big.bin")
        choices = guide(app).session.choices
        assert choices.file is not None
        assert choices.others == ()


async def test_a_comparison_without_its_second_target_says_so_and_asks_for_it_again(
    tmp_path: Path, folders: list[Path]
):
    app = app_for(tmp_path)
    async with app.run_test(size=(110, 40)) as pilot:
        await settled(app, pilot)
        await choose(app, pilot, OPTION)
        await press(app, pilot, "escape")
        assert guide(app).session.choices.target is None

        await choose(app, pilot, OPTION)
        await answer(app, pilot, str(folders[0] / "big.bin"))
        await press(app, pilot, "escape")
        choices = guide(app).session.choices
        assert (choices.step, choices.others, choices.lacks_other) == (MethodStep.TARGET, (), True)
        assert "second target of the comparison is not chosen" in " ".join(painted(app).split())

        await press(app, pilot, "enter")
        assert isinstance(app.screen, AskDialog)
        await answer(app, pilot, str(folders[1] / "big.bin"))
        choices = guide(app).session.choices
        assert (len(choices.others), choices.lacks_other) == (1, False)


def test_a_round_that_lacks_its_second_target_does_not_measure_the_first_one_by_itself():
    lacking = choices_of_two(others=(), lacks_other=True)
    for step in (MethodStep.TARGET, MethodStep.RUN):
        offered = titles(replace(lacking, step=step))
        assert offered[:2] == ["Choose the second target…", "Measure the first target alone"]
        assert "Start" not in offered

    alone = other_targets.without_other_targets(lacking)
    assert "Start" in titles(alone)
    assert "Choose the second target…" not in titles(replace(alone, step=MethodStep.TARGET))
    assert GuideChoices.from_memory(lacking.to_memory()).lacks_other


def test_no_side_of_a_comparison_goes_on_alone_until_its_average_is_known():
    until = with_counts(choices_of_two(), RunCounts(runs=5, until_percent=2.0))
    requests = requests_of_comparison(until, Secrets(), [Secrets()])
    assert [request.spec.counts.until_percent for request in requests] == [None, None]
    offered = titles(replace(until, step=MethodStep.WARM_UP))
    assert "2 warm-up, 20 measured" in offered
    assert not any(title.startswith("Until") for title in offered)
    offered_alone = titles(replace(until, others=(), step=MethodStep.WARM_UP))
    assert any(title.startswith("Until") for title in offered_alone)


@pytest.mark.parametrize("missing", ["none", "empty"])
async def test_a_second_target_that_cannot_be_reached_is_mended_where_it_was_typed(
    tmp_path: Path, folders: list[Path], missing: str
):
    (folders[1] / "empty").touch()
    app = app_for(tmp_path)
    async with app.run_test(size=(110, 40)) as pilot:
        await settled(app, pilot)
        await choose(app, pilot, OPTION)
        wrong = str(folders[1] / missing)
        await answer(app, pilot, str(folders[0] / "big.bin"), wrong)
        assert app.screen.query_one(Input).value == wrong
        assert missing in text_of(app.screen, ".dialog-problem")
        assert guide(app).session.choices.others == ()

        await answer(app, pilot, str(folders[1] / "big.bin"))
        assert len(guide(app).session.choices.others) == 1


@pytest.mark.long
async def test_each_side_has_its_own_login(smbd, vsftpd, tmp_path: Path, monkeypatch):
    monkeypatch.delenv("SHAREBENCH_PASSWORD", raising=False)
    smbd.make_file("big.bin", b"x" * MIB)
    (vsftpd.folder / "big.bin").write_bytes(b"x" * MIB)
    app = app_for(tmp_path)
    async with app.run_test(size=(110, 40)) as pilot:
        await settled(app, pilot)
        await choose(app, pilot, OPTION)
        await answer(app, pilot, format_target(smbd.target("big.bin")), smbd.password)
        await answer(app, pilot, format_target(vsftpd.target("/big.bin")), "wrong")
        assert "Type the password again" in text_of(app.screen, ".dialog-text")
        await answer(app, pilot, vsftpd.password)
        assert len(guide(app).session.choices.others) == 1
        await at_run(app, pilot, runs=3)
        await press(app, pilot, "enter")
        await measured(app, pilot)
        assert "3 pairs of runs measured" in painted(app)
    with Notebook(tmp_path / "notebook.db") as notebook:
        protocols = {series.label: series.target.protocol for series in notebook.heads()}
    assert protocols == {"SMB": "smb", "FTP": "ftp"}


@pytest.mark.long
async def test_each_side_has_a_credentials_file_which_is_remembered(smbd, vsftpd, tmp_path: Path, monkeypatch):
    monkeypatch.delenv("SHAREBENCH_PASSWORD", raising=False)
    smbd.make_file("big.bin", b"x" * MIB)
    (vsftpd.folder / "big.bin").write_bytes(b"x" * MIB)
    files = {}
    for name, server, password in (
        ("smb", smbd, smbd.password),
        ("ftp", vsftpd, vsftpd.password),
        ("wrong", vsftpd, "wrong"),
    ):
        files[name] = tmp_path / f"{name} login"
        files[name].write_text(f"username = {server.user}\npassword = {password}\n")
    own_url = format_target(replace(smbd.target("big.bin"), user=None))
    other_url = format_target(replace(vsftpd.target("/big.bin"), user=None))

    app = app_for(tmp_path)
    async with app.run_test(size=(110, 40)) as pilot:
        await settled(app, pilot)
        await choose(app, pilot, OPTION)
        await answer(app, pilot, f"{own_url} --credentials {files['smb']}")
        # What is wrong with the login of either side stands below its line.
        for typed in (f"{other_url} --credentials", f"{other_url} --credentials {tmp_path}/none"):
            await answer(app, pilot, typed)
            assert "--credentials" in app.screen.query_one(Input).value
            assert text_of(app.screen, ".dialog-problem")
        await answer(app, pilot, f"{other_url} --credentials {files['wrong']}")
        assert vsftpd.host in text_of(app.screen, ".dialog-problem")
        assert guide(app).session.choices.others == ()
        await answer(app, pilot, f"{other_url} --credentials {files['ftp']}")
        choices = guide(app).session.choices
        assert choices.credentials == str(files["smb"])
        assert [other.credentials for other in choices.others] == [str(files["ftp"])]
        assert [other.target.user for other in choices.others] == [vsftpd.user]

    # A session that begins later asks for no password.
    app = app_for(tmp_path)
    async with app.run_test(size=(110, 40)) as pilot:
        await settled(app, pilot)
        await at_run(app, pilot, runs=3)
        await press(app, pilot, "enter")
        await measured(app, pilot)
        assert "3 pairs of runs measured" in painted(app)


@pytest.mark.long
async def test_three_targets_are_compared_in_one_round(tmp_path: Path, folders: list[Path]):
    third = tmp_path / "third"
    third.mkdir()
    (third / "big.bin").write_bytes(bytes(4 * MIB))
    app = app_for(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await choose(app, pilot, OPTION)
        await answer(app, pilot, str(folders[0] / "big.bin"), str(folders[1] / "big.bin"))
        await at_run(app, pilot)
        await press(app, pilot, "1")
        await choose(app, pilot, "Compare with one more server")
        await answer(app, pilot, str(folders[1] / "big.bin"))
        assert "one of the targets already" in text_of(app.screen, ".dialog-problem").replace("\n", " ")
        await answer(app, pilot, str(third / "big.bin"))
        assert len(guide(app).session.choices.others) == 2

        await at_run(app, pilot)
        await press(app, pilot, "enter")
        await measured(app, pilot)
        shown = painted(app)
        assert "4 rounds of runs measured" in shown
        assert shown.lower().count("by 4 pairs: ") == 2
        await press(app, pilot, "enter")
        assert guide(app).session.choices.step is MethodStep.REVIEW
        await choose(app, pilot, "See what the pairs say")
        page = page_of(guide(app).session.choices, guide(app).session.known)
        assert len(page.headline) == 2
        await choose(app, pilot, "Side by side")
        assert "third/big.bin" in painted(app)

    with Notebook(tmp_path / "notebook.db") as notebook:
        all_series = sorted((notebook.series(head.id) for head in notebook.heads()), key=attrgetter("label"))
        assert [series.label for series in all_series] == ["new/big.bin", "old/big.bin", "third/big.bin"]
        choices = rounds.recall_choices(notebook, ())
        base = notebook.series(choices.series_id or "")
        others = [notebook.series(other.series_id or "") for other in choices.others]
    assert [series.label for series in (base, *others)] == ["old/big.bin", "new/big.bin", "third/big.bin"]
    assert [len(paired_runs(base, other) or ()) for other in others] == [4, 4]


class Losing(Backend):
    """Takes the file of the second side away once two pairs were measured."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def interleave(self, *order: Any) -> Iterator[Any]:
        ended = 0
        for index, event in super().interleave(*order):
            yield index, event
            is_measured = isinstance(event, RunFinished) and event.run.phase is Phase.MEASURED
            ended += is_measured
            if ended == 4 and self.file.exists():
                self.file.rename(self.file.with_suffix(".away"))


@pytest.mark.long
async def test_a_side_that_fails_is_named_and_both_are_resumed(tmp_path: Path, folders: list[Path]):
    lost = folders[1] / "big.bin"
    app = app_for(tmp_path, Losing(lost))
    async with app.run_test(size=(110, 40)) as pilot:
        await settled(app, pilot)
        await choose(app, pilot, OPTION)
        await answer(app, pilot, str(folders[0] / "big.bin"), str(lost))
        await at_run(app, pilot, runs=5)
        await press(app, pilot, "enter")
        await measured(app, pilot)
        assert "new/big.bin" in text_of(app.screen, ".dialog-text")
        await press(app, pilot, "enter")
        assert "Ended early: new/big.bin" in painted(app), "it is told once the dialog is closed, too"
        await press(app, pilot, "enter")
        assert guide(app).session.choices.step is MethodStep.RUN
        assert "Resume where it stopped" in painted(app)

    app = app_for(tmp_path)
    async with app.run_test(size=(110, 40)) as pilot:
        await settled(app, pilot)
        await choose(app, pilot, "Resume where it stopped")
        await measured(app, pilot)
        await press(app, pilot, "enter")
        assert "2 pairs of runs measured" in painted(app), "those of before count"

    lost.with_suffix(".away").rename(lost)
    app = app_for(tmp_path)
    async with app.run_test(size=(110, 40)) as pilot:
        await settled(app, pilot)
        await choose(app, pilot, "Resume where it stopped")
        await measured(app, pilot)
        assert "5 pairs of runs measured" in painted(app)
        await press(app, pilot, "enter")
        assert guide(app).session.choices.step is MethodStep.REVIEW
    with Notebook(tmp_path / "notebook.db") as notebook:
        all_series = [notebook.series(head.id) for head in notebook.heads()]
    assert [series.status for series in all_series] == [SeriesStatus.COMPLETE] * 2
    assert [len(series.measured()) for series in all_series] == [5, 5]


@pytest.mark.varied
@pytest.mark.parametrize("is_guide_open", [False, True])
async def test_a_recording_is_measured_beside_another_server(tmp_path: Path, folders: list[Path], is_guide_open: bool):
    old = one(1, target=Target(protocol="file", path=str(folders[0] / "big.bin")), label="old")
    path = book(
        tmp_path / "notebook.db", replace(old, runs=tuple(replace(run, size_bytes=4 * MIB) for run in old.runs))
    )
    context = Context(notebook_path=path, backend=Backend())
    app = SharebenchApp(context, first="guide" if is_guide_open else "notebook")
    async with app.run_test(size=(110, 40)) as pilot:
        await settled(app, pilot)
        if is_guide_open:
            app.visit("notebook")
            await settled(app, pilot)
        await press(app, pilot, "V")
        await answer(app, pilot, str(folders[1] / "big.bin"))
        assert app.screen is guide(app)
        choices = guide(app).session.choices
        (other,) = choices.others
        assert (choices.file, other.file) == (str(folders[0] / "big.bin"), str(folders[1] / "big.bin"))
        assert choices.step is MethodStep.RUN
        assert "Compared with" in painted(app)


async def test_what_is_no_target_is_told_and_leaves_the_notebook_as_it_was(tmp_path: Path, folders: list[Path]):
    path = book(tmp_path / "notebook.db", one(1, target=Target(protocol="file", path=str(folders[0] / "big.bin"))))
    app = SharebenchApp(Context(notebook_path=path, backend=Backend()), first="notebook")
    async with app.run_test(size=(110, 40)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "V")
        await answer(app, pilot, "smb://alice:secret@new/public")
        assert isinstance(app.screen, AskDialog)
        assert text_of(app.screen, ".dialog-problem")
        assert "secret" not in text_of(app.screen, ".dialog-problem")


def test_line_by_line(tmp_path: Path, folders: list[Path], monkeypatch):
    """The same by numbers; what is asked for stands in the output."""
    page = page_of(GuideChoices(), GuideContext())
    number = 1 + [option.title for option in page.options if option.act is not None].index(OPTION)
    lines = [str(number), str(folders[0] / "big.bin"), str(folders[1] / "big.bin"), "s5", "1", "s7", "q"]
    said: list[str] = []
    monkeypatch.setattr("builtins.print", lambda *words, **_more: said.append(" ".join(map(str, words))))
    terminal = PlainTerminal()
    answers = iter(lines)
    monkeypatch.setattr(terminal, "ask", lambda _question: next(answers))
    monkeypatch.setattr(terminal, "say", said.append)
    guide_of_lines = PlainGuide(tmp_path / "notebook.db", Backend(), Logins(), terminal=terminal)
    guide_of_lines.run()
    text = "\n".join(said)
    assert "Compare old/big.bin and new/big.bin" in text
    with Notebook(tmp_path / "notebook.db") as notebook:
        assert len(notebook.heads()) == 2


# Its rules


def test_the_sides_of_made_files_need_no_file_there():
    choices = choices_of_two(file=None, file_bytes=None)
    spec = replace(choices.spec, command=Command.PUT, counts=RunCounts(size_bytes=MIB))
    assert other_targets.why_not_comparable(replace(choices, spec=spec)) == ""


@pytest.mark.parametrize(
    ("file", "size_bytes", "is_comparable"),
    [("big.bin", 4 * MIB, True), ("big.bin", 4 * MIB + 1, False), (None, None, False)],
)
def test_files_that_are_there_need_one_size(file: str | None, size_bytes: int | None, is_comparable: bool):
    choices = choices_of_two(others=(OtherSide(target=NEW, file=file, file_bytes=size_bytes),))
    assert (other_targets.why_not_comparable(choices) == "") == is_comparable
    assert ("Start" in titles(choices)) == is_comparable
    assert ("Choose the file on new" in titles(choices)) != is_comparable


def test_another_target_is_added_changed_or_left_out():
    choices = choices_of_two()
    third = GuideChoices(target=replace(NEW, host="third"), file="big.bin", file_bytes=4 * MIB)
    of_three = other_targets.with_other_target(choices, third, 1)
    assert [other.target.host for other in of_three.others] == ["new", "third"]
    assert other_targets.side_names(of_three) == ("nas", "new", "third")
    assert "Leave third out" in titles(replace(of_three, step=MethodStep.TARGET))

    changed = other_targets.with_other_target(choices, third, 0)
    assert [other.target.host for other in changed.others] == ["third"]
    assert other_targets.without_other_target(of_three, 0).others == changed.others
    assert other_targets.without_other_targets(of_three).others == ()
    with pytest.raises(UsageError):
        other_targets.with_other_target(of_three, third, 0)


def test_of_three_that_one_is_named_whose_file_has_another_size():
    choices = choices_of_two()
    third = OtherSide(target=replace(NEW, host="third"), file="big.bin", file_bytes=4 * MIB + 1)
    of_three = replace(choices, others=(*choices.others, third))
    assert "on third" in other_targets.why_not_comparable(of_three)
    assert "Choose the file on third" in titles(of_three)


@pytest.mark.parametrize("other_sample", ["a1", "b2"])
def test_the_answer_says_where_the_files_have_different_content(other_sample: str):
    base, other = interleaved(one(1, target=replace(OLD, path="big.bin")), one(2, target=replace(NEW, path="big.bin")))
    base = replace(base, environment={"path": {CONTENT_SAMPLE: "a1"}})
    other = replace(other, environment={"path": {CONTENT_SAMPLE: other_sample}})
    side = OtherSide(target=NEW, file="big.bin", file_bytes=4 * MIB, series_id=other.id)
    choices = choices_of_two(step=MethodStep.EXPECTED, series_id=base.id, others=(side,), reviewed=True)
    facts = map(str, page_of(choices, GuideContext(series=base, others=(other,))).facts)
    assert any("not the same content" in fact for fact in facts) == (other_sample != "a1")


@pytest.mark.parametrize(
    ("other_rates", "settles"),
    [((98e6, 103e6, 97e6, 105e6, 101e6), True), ((101.1e6, 99e6, 105e6, 95.1e6, 100e6), False)],
)
def test_an_open_answer_offers_as_many_runs_as_settle_it(other_rates: Sequence[float], settles: bool):
    base, other = interleaved(
        one(1, (101e6, 99e6, 105e6, 95e6, 100e6), target=replace(OLD, path="big.bin")),
        one(2, other_rates, target=replace(NEW, path="big.bin")),
    )
    side = OtherSide(target=NEW, file="big.bin", file_bytes=4 * MIB, series_id=other.id)
    choices = choices_of_two(step=MethodStep.EXPECTED, series_id=base.id, others=(side,), reviewed=True)
    options = page_of(choices, GuideContext(series=base, others=(other,))).options
    first = options[0]
    assert first.advised
    assert first.title.startswith("Measure both again, ") == settles
    assert [option.title for option in options].count("Measure both again") == (not settles)
    if settles:
        assert isinstance(first.act, Go)
        runs = compare(base, other).needed_runs
        assert first.act.choices.spec.counts.runs == runs
        assert [side.series_id for side in first.act.choices.others] == [None]


def test_the_target_itself_is_no_second_one():
    own = GuideChoices(target=OLD, file="big.bin", file_bytes=MIB)
    with pytest.raises(Exception, match="target itself"):
        other_targets.with_other_target(own, own, 0)


def test_a_round_of_two_survives_the_notebook_and_is_repeated_with_both():
    choices = choices_of_two(series_id="0" * 12)
    assert GuideChoices.from_memory(choices.to_memory()) == choices
    again = same_again(choices)
    assert [(other.target, other.series_id) for other in again.others] == [(NEW, None)]
    assert again.series_id is None


def test_a_run_that_is_left_out_is_of_its_side():
    base, other = interleaved(one(1, target=replace(OLD, path="big.bin")), one(2, target=replace(NEW, path="big.bin")))
    side = OtherSide(target=NEW, file="big.bin", file_bytes=4 * MIB, series_id=other.id)
    choices = choices_of_two(step=MethodStep.REVIEW, series_id=base.id, others=(side,))
    options = page_of(choices, GuideContext(series=base, others=(other,))).options
    runs = [(option.title.split()[0], option.act) for option in options if isinstance(option.act, Judge)]
    assert [(name, act.side) for name, act in runs] == [("nas", 0), ("new", 1)] * 5
    assert {act.status for _, act in runs} == {RunStatus.REJECTED}
