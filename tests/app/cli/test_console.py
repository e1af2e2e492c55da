"""What a terminal shows of answers and messages: the verdict where it is read, words that are not broken."""

import io
import sys

import pytest

from app.cli import console
from forms.report import Report, Table, answer_field, columns_of, fields_of, row_of

ANSWER = "Faster by 43 %."


def report_of(lines: int) -> Report:
    """A form with at least that many lines."""
    rows = tuple(row_of(f"row {number}") for number in range(lines))
    table = Table(columns=columns_of("Name"), rows=rows)
    return Report(
        form="test",
        title="Two series",
        name="Comparison",
        fields=(answer_field(ANSWER), *fields_of(("Series", "two"))),
        tables=(table,),
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        """What was written since it was asked for last."""
        lines = self.getvalue().splitlines()
        self.seek(0)
        self.truncate()
        return lines


def opened_terminal(monkeypatch: pytest.MonkeyPatch, stream: str, *, rows: int) -> Terminal:
    """A terminal of 80 columns in place of stdout or stderr, to be opened in the test itself: pytest has its own."""
    terminal = Terminal()
    monkeypatch.setattr(sys, stream, terminal)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", str(rows))
    return terminal


@pytest.mark.parametrize(("room", "is_repeated"), [(0, True), (1, False)])
def test_what_scrolls_away_has_its_answer_last_too(monkeypatch, room, is_repeated):
    """The prompt takes a line below the form."""
    report = report_of(30)
    terminal = opened_terminal(monkeypatch, "stdout", rows=1000)
    console.answer_report(report)
    length = len(terminal.lines())

    monkeypatch.setenv("LINES", str(length + room))
    console.answer_report(report)
    lines = terminal.lines()
    answers = [number for number, line in enumerate(lines) if ANSWER in line]
    assert answers[0] == 1
    assert (answers[-1] == len(lines) - 1) is is_repeated
    assert len(answers) == (2 if is_repeated else 1)


@pytest.mark.parametrize(("messages", "drawing"), [((), "a chart\n" * 16), (("Recommendation: more runs",) * 16, "")])
def test_what_is_told_below_a_form_scrolls_it_away_too(monkeypatch, messages, drawing):
    report = report_of(4)
    terminal = opened_terminal(monkeypatch, "stdout", rows=24)
    console.answer_report(report)
    assert sum(ANSWER in line for line in terminal.lines()) == 1

    console.answer_report(report, messages=messages, drawing=drawing)
    lines = terminal.lines()
    assert sum(ANSWER in line for line in lines) == 2
    assert ANSWER in lines[-1]


def test_a_pipe_gets_the_form_alone(monkeypatch, capsys):
    monkeypatch.setenv("LINES", "24")
    console.answer_report(report_of(60))
    assert capsys.readouterr().out.count(ANSWER) == 1


def test_messages_are_broken_between_words_on_a_terminal_alone(monkeypatch, capsys):
    words = ["SO_SNDBUF" for _ in range(30)]
    console.say(" ".join(words))
    assert capsys.readouterr().err.splitlines() == [" ".join(words)]

    terminal = opened_terminal(monkeypatch, "stderr", rows=24)
    console.say(" ".join(words))
    lines = terminal.lines()
    assert len(lines) > 3
    assert all(len(line) <= 80 for line in lines)
    assert " ".join(lines).split() == words


def test_a_command_to_copy_stays_in_one_line(monkeypatch):
    terminal = opened_terminal(monkeypatch, "stderr", rows=24)
    command = f"sharebench run {'smb://nas/share/' * 10}"
    console.recommend(command, "", "")
    assert terminal.lines() == [f"Recommendation: {command}"]


def test_a_line_that_is_wrapped_keeps_its_indent(monkeypatch):
    terminal = opened_terminal(monkeypatch, "stderr", rows=24)
    console.say(f"  {'a line of a list ' * 8}".rstrip())
    lines = terminal.lines()
    assert len(lines) == 2
    assert [len(line) - len(line.lstrip()) for line in lines] == [2, 2]
    assert all(len(line) <= 80 for line in lines)
