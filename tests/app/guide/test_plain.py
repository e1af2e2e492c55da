"""The guide by numbered questions: from the target to the next round, without a screen."""

import io
import os
import queue
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.base.errors import LoginError, UnreachableError
from app.clients.base import DirectoryEntry
from app.guide.page import Visit
from app.guide.plain import PlainGuide
from app.guide.plain_terminal import PlainTerminal
from app.method.choices import MethodStep
from app.recording.process import Failed
from app.server.changes.script import ConsentNeededError
from storage.notebook import Notebook
from storage.programs import PASSWORD_VARIABLE
from storage.records import RunStatus
from tests.command_line import Sharebench
from tests.tui import FakeBackend

_BOXES = re.compile("[\u2500-\u259f]")


def guided(path: Path, backend: FakeBackend, *answers: str) -> tuple[PlainGuide, list[str]]:
    lines: list[str] = []
    reads: Iterator[str] = iter([*(f"{answer}\n" for answer in answers), ""])
    terminal = PlainTerminal(read=lambda: next(reads), say=lines.append, ask_password=lambda _: "practice")
    guide = PlainGuide(path, backend, terminal=terminal)
    guide.run()
    return guide, lines


TO_THE_REVIEW = ("2", "bench@nas", "1", "3", "", "4", "1", "")
"""Type a target, share, file, get it, do not look, as advised, start."""


def test_from_a_host_to_a_run_left_out_and_the_next_round(tmp_path: Path):
    guide, said = guided(tmp_path / "n.db", FakeBackend(), *TO_THE_REVIEW, "3", "the backup ran", "", "", "4", "q")
    text = "\n".join(said)
    assert "Step 6 of 8. Review: which runs count." in text
    assert "(recommended)" in text
    assert "x run 3" in text
    assert guide.session.choices.step is MethodStep.RUN
    assert guide.session.choices.spec.lineage.change_name == "in-flight"
    with Notebook(tmp_path / "n.db") as notebook:
        left_out = [run for run in notebook.series("last").runs if run.status is RunStatus.REJECTED]
    assert [(run.number, run.reason) for run in left_out] == [(3, "the backup ran")]


def test_more_to_come_is_three_dots_without_the_sign(tmp_path: Path):
    text = "\n".join(guided(tmp_path / "n.db", FakeBackend(), "q")[1])
    assert "smb://..., ftp://..., /a/folder" in text
    assert "…" not in text


def test_each_question_marks_what_enter_takes(tmp_path: Path):
    """Enter took a choice at step 1 that nothing marked, and came back to it from the list of files."""
    _, said = guided(tmp_path / "n.db", FakeBackend(), "q")
    step = said[next(place for place, line in enumerate(said) if line.startswith("Step 1")) :]
    assert sum(line.endswith((" (recommended)", " (Enter)")) for line in step) == 1


def test_enter_takes_the_largest_file_and_goes_back_where_there_is_none(tmp_path: Path):
    backend = FakeBackend()
    files = (DirectoryEntry(name=name, is_folder=False, size_bytes=size) for name, size in (("a", 9), ("b", 10)))
    backend.folders[""] = [*files, DirectoryEntry(name="c", is_folder=True, size_bytes=0)]
    guide, said = guided(tmp_path / "n.db", backend, "2", "bench@nas", "1", "", "q")
    assert guide.session.choices.file == "b"
    assert [line.split(",")[0][3:] for line in said if line.endswith("(Enter)")][-1:] == ["b"]
    backend.folders[""] = []
    guide, said = guided(tmp_path / "m.db", backend, "2", "bench@nas", "1", "", "q")
    assert guide.session.choices.target is None
    assert "Enter takes" not in said[-3]


WHERE_ENTER_IS_PRESSED = {
    "at the first page": (),
    "at the list of shares": ("2", "bench@nas"),
    "in a folder without files": ("2", "bench@nas", "1"),
    "with a credentials file": ("3",),
    "where the server refuses guests": ("2", "smb://nas"),
    "where the server refuses the password": ("2", "bench@nas"),
    "at the change": (*TO_THE_REVIEW, "", "s8"),
}


@pytest.mark.parametrize("words", WHERE_ENTER_IS_PRESSED.values(), ids=WHERE_ENTER_IS_PRESSED)
def test_enter_alone_comes_to_an_end(tmp_path: Path, words: tuple[str, ...], request: pytest.FixtureRequest):
    """It asked for ever: which of no files, and for a change that was not named."""
    backend, passwords = FakeBackend(), []
    if "without files" in request.node.callspec.id:
        backend.folders[""] = []
    if "refuses" in request.node.callspec.id:
        backend.errors = [LoginError("nas refused bench")] * 50
    lines: list[str] = []
    reads = iter([*words, *[""] * 40])
    read_so_far: list[int] = []

    def read() -> str:
        read_so_far.append(len(lines))
        return f"{next(reads)}\n"

    def ask_password(question: str) -> str:
        passwords.append(question)
        return ""

    terminal = PlainTerminal(read=read, say=lines.append, ask_password=ask_password)
    PlainGuide(tmp_path / "n.db", backend, terminal=terminal).run()
    assert lines[-1].startswith("Everything is kept")
    asked = [lines[place - 1] for place in read_so_far[len(words) :]]
    steps = [next(one for one in reversed(lines[:place]) if one.startswith("Step ")) for place in read_so_far]
    counts = Counter(zip(steps[len(words) :], asked, strict=True))
    assert max(counts.values()) <= 2, counts
    assert len(passwords) <= 6


def test_a_question_ends_in_one_sign(tmp_path: Path):
    _, said = guided(tmp_path / "n.db", FakeBackend(), "2", "q")
    assert "Without a share, the server's shares are listed:" in "\n".join(said)


def test_a_change_made_by_hand_is_interleaved_until_each_side_has_three_series(tmp_path: Path):
    backend = FakeBackend()
    answers = [*TO_THE_REVIEW, "", "s8", "2", "strict sync = no"]
    guide, said = guided(tmp_path / "n.db", backend, *answers, *[""] * 5, "q")
    turns = [re.sub(r"Series (\d of \d); .*: ", r"\1: ", line) for line in said if line.startswith("Now ")]
    assert turns == [
        "Now B: strict sync = no. Make it on the server now, then start. 2 of 6: A 1, B 0.",
        "Now B: strict sync = no. It is set already: start. 3 of 6: A 1, B 1.",
        "Now A: strict sync as it was. Restore it on the server now, then start. 4 of 6: A 1, B 2.",
        "Now A: strict sync as it was. It is set already: start. 5 of 6: A 2, B 2.",
        "Now B: strict sync = no. Make it on the server now, then start. 6 of 6: A 3, B 2.",
    ]
    assert guide.session.choices.step is MethodStep.EXPECTED
    assert any("strict sync = no, 3 against 3 series: = No change" in line for line in said)
    with Notebook(tmp_path / "n.db") as notebook:
        changed = [one.change is not None for one in notebook.all_of([f"{n:012x}" for n in range(1, 7)])]
    assert changed[:2] == [False, True]


def test_an_interleaved_change_that_stays_inconclusive_goes_one_pair_further(tmp_path: Path):
    backend = FakeBackend()
    varied = iter([1.0, 1.12, 0.95, 0.94, 1.08, 1.02])
    usual, record = list(backend.rates), backend.record

    def recorded(*arguments):
        factor = next(varied)
        backend.rates = [factor * rate for rate in usual]
        return record(*arguments)

    backend.record = recorded  # type: ignore[method-assign]
    answers = [*TO_THE_REVIEW, "", "s8", "2", "strict sync = no"]
    guide, said = guided(tmp_path / "n.db", backend, *answers, *[""] * 6, "q")
    verdicts = [line for line in said if "3 against 3 series" in line]
    assert "? Inconclusive" in verdicts[0]
    assert guide.session.choices.interleaved == 4
    assert any(line.startswith("Now ") and "Series 7 of 8" in line for line in said)


def test_sharebench_changes_it_itself_after_a_yes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    backend, asked = FakeBackend(), []

    def order_trial(_request, setting, **_accepted):
        asked.append(setting)
        raise ConsentNeededError("the risk is a lost file", risk_of="strict sync", options="")

    monkeypatch.setattr(backend, "order_trial", order_trial)
    _, said = guided(tmp_path / "n.db", backend, *TO_THE_REVIEW, "", "s8", "", "strict sync = no", "n", "q")
    assert asked == ["strict sync = no"]
    assert "the risk is a lost file" in said
    assert "That did not work: nothing was written" in said


def test_nothing_that_is_said_draws_boxes(tmp_path: Path):
    _, said = guided(tmp_path / "n.db", FakeBackend(), *TO_THE_REVIEW, "8", "q")
    assert any("Average:" in line for line in said), "the whole form"
    assert not _BOXES.search("\n".join(said))


def test_how_many_users_is_answered_with_the_command_for_the_same_folder(tmp_path: Path):
    guide, said = guided(tmp_path / "n.db", FakeBackend(), *TO_THE_REVIEW, "", "q")
    (number,) = (line.split(".")[0] for line in said if "How many users does it carry?" in line)
    _, said = guided(tmp_path / "n.db", FakeBackend(), number, "q")
    (told,) = (line for line in said if line.startswith("Many users at once: "))
    assert told.endswith("sharebench load smb://bench@nas/data --users 5,10,20 --scenario office")
    assert guide.session.choices.step is MethodStep.EXPECTED


def test_a_failure_is_one_line_and_the_question_comes_again(tmp_path: Path):
    backend, error = FakeBackend(), UnreachableError("no way to nas")
    backend.errors = [error]
    _, said = guided(tmp_path / "n.db", backend, "2", "bench@nas", "77", "q")
    assert f"That did not work: {error}" in said
    assert any(line.startswith("Not understood.") for line in said)
    assert sum("Step 1 of 8" in line for line in said) == 2, "once more after what failed, not after a slip of the keys"


def test_a_refused_password_is_asked_for_again_and_a_refused_guest_who_it_is(tmp_path: Path):
    backend = FakeBackend()
    backend.errors = [LoginError("nas refused bench")]
    guide, said = guided(tmp_path / "n.db", backend, "2", "bench@nas", "1", "1", "q")
    assert "nas refused bench. Type the password again." in said
    assert guide.session.choices.step is MethodStep.FILE
    backend.errors = [LoginError("nas takes no guests")]
    guide, said = guided(tmp_path / "m.db", backend, "2", "smb://nas", "WORK;bench", "1", "1", "q")
    assert "Which user? nas takes no guests: USER or DOMAIN;USER:" in said
    assert guide.session.choices.target is not None
    assert (guide.session.choices.target.user, guide.session.choices.target.domain) == ("bench", "WORK")


def test_a_password_typed_beside_the_user_is_refused_and_the_user_is_asked_for_again(tmp_path: Path):
    backend = FakeBackend()
    backend.errors = [LoginError("nas takes no guests")]
    guide, said = guided(tmp_path / "m.db", backend, "2", "smb://nas", "bench%hush", r"WORK\bench", "1", "1", "q")
    assert not any("hush" in line for line in said)
    assert guide.session.choices.target is not None
    assert (guide.session.choices.target.user, guide.session.choices.target.domain) == ("bench", "WORK")


def test_the_choices_are_listed_again_when_asked_for(tmp_path: Path):
    _, said = guided(tmp_path / "n.db", FakeBackend(), "77", "l", "q")
    assert [line[:6] for line in said if line.startswith(("Step 1", "Not un"))] == ["Step 1", "Not un", "Step 1"]


def test_a_question_is_asked_again_until_its_answer_is_understood(tmp_path: Path):
    """Nothing has to be typed once more: neither for a wrong word nor for a server that did not answer."""
    backend = FakeBackend()
    backend.errors = [UnreachableError("no way to nas")]
    guide, said = guided(tmp_path / "n.db", backend, "?", "2", "smbb://nas", "bench@nas", "2", "", "zz", "99", "1", "1")
    text = "\n".join(said)
    assert "! not a target: 'smbb://nas'; did you mean smb://nas?" in text
    assert sum(line.startswith("Target. ") for line in said) == 3
    assert "(Enter for bench@nas):" in text, "what was typed is offered again"
    assert text.count("Not understood. A number from 1 to ") == 2
    assert guide.session.choices.target is not None
    assert sum("Step 1 of 8" in line for line in said) == 2, "at first, and after what failed"


def test_what_has_led_somewhere_is_not_offered_again(tmp_path: Path):
    _, said = guided(tmp_path / "n.db", FakeBackend(), "2", "bench@nas", "1", "3", "b", "2")
    questions = [line for line in said if line.startswith("Target. ")]
    assert len(questions) == 2
    assert "(Enter for bench@nas)" not in questions[1]


@pytest.mark.parametrize(("way", "refused"), [("2", True), ("3", False)], ids=("password", "kerberos"))
def test_a_password_that_a_run_was_refused_with_is_not_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, *, refused: bool
):
    monkeypatch.setenv(PASSWORD_VARIABLE, "wrong")
    backend = FakeBackend()
    backend.script = queue.Queue()
    backend.script.put(Failed(kind=LoginError, text="nas refused bench"))
    backend.script.put(None)
    guide, said = guided(tmp_path / "n.db", backend, way, *TO_THE_REVIEW[1:])
    assert "The series ended early: nas refused bench" in said
    assert guide.session.choices.target is not None
    assert guide.session.choices.kerberos is not refused
    assert guide.session.logins.is_refused(guide.session.choices.target) is refused


@pytest.mark.parametrize(("word", "pages"), [("b", 2), ("q", 1)])
def test_a_question_for_words_is_left_like_any_other(tmp_path: Path, word: str, pages: int):
    guide, said = guided(tmp_path / "n.db", FakeBackend(), "2", word)
    assert guide.session.choices.target is None
    assert sum("Step 1 of 8" in line for line in said) == pages
    assert said[-1].startswith("Everything is kept")


class Pipe(io.StringIO):
    """A stdout whose reader has what was flushed, and no more."""

    read_so_far = ""

    def flush(self) -> None:
        self.read_so_far = self.getvalue()


def test_a_question_is_read_through_a_pipe_before_it_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pipe = Pipe()
    monkeypatch.setattr(sys, "stdout", pipe)
    read_by_then: list[str] = []

    def leave() -> str:
        read_by_then.append(pipe.read_so_far)
        return ""

    PlainGuide(tmp_path / "n.db", FakeBackend(), terminal=PlainTerminal(read=leave)).run()
    assert read_by_then[0].endswith("Your choice:\n")


def test_it_goes_on_where_it_was_left(tmp_path: Path):
    _, first_said = guided(tmp_path / "n.db", FakeBackend(), *TO_THE_REVIEW)
    guide, said = guided(tmp_path / "n.db", FakeBackend(), "b", "s8", "q")
    assert guide.session.choices.step is MethodStep.CHANGE
    told = [any("n begins a new measurement" in line for line in lines) for lines in (first_said, said)]
    assert told == [False, True]
    assert any("Step 5 of 8" in line for line in said)


@pytest.mark.parametrize(
    ("screen", "command"), [("audit", "sharebench audit TARGET"), ("survey", "sharebench survey HOST")]
)
def test_what_has_a_screen_of_its_own_is_named_by_its_command(tmp_path: Path, screen: str, command: str):
    said: list[str] = []
    guide = PlainGuide(tmp_path / "n.db", terminal=PlainTerminal(say=said.append))
    guide._drive(guide.session.do(Visit(screen, {})))
    assert command in said[0]


def test_a_dumb_terminal_gets_it(sharebench: Sharebench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(os.environ, "TERM", "dumb")
    done = sharebench("guide")
    assert done.returncode == 0
    assert "Step 1 of 8. Target" in done.stdout
    assert "\x1b" not in done.stdout


def test_on_a_terminal_of_few_columns_no_word_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    _, said = guided(tmp_path / "n.db", FakeBackend(), "q")
    lines = "\n".join(said).split("\n")
    assert max(map(len, lines)) <= 60
    assert " ".join(lines).count("password is asked for, or taken from") == 1
