"""The guide as numbered questions, line by line: for screen readers, serial consoles and dumb terminals."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from app.backend import Backend
from app.base import errors
from app.cli.moved import raise_at_once
from app.cli.progress import watch, watch_turns
from app.clients import browsing
from app.clients.session_logins import Logins
from app.guide import needs, plain_page, plain_terminal
from app.guide import page as guide_page
from app.guide.pages.steps import page_of
from app.guide.plain_visits import PlainVisits
from app.guide.session import GuideSession
from app.method import choices as method_choices
from app.recording.several import used_targets
from forms import wording
from storage.errors import RefusedError
from storage.recordings import UnknownReferenceError
from storage.records import Target

HOW = (
    "A number chooses, Enter takes what is marked (recommended) or (Enter), b goes back, s6 goes to step 6, n begins"
    " anew, l lists the choices again, ? says this again, q leaves. Where words are asked for, b and q do the same."
)


class PlainGuide:
    """Asks until the user leaves; every choice is stored in the notebook, as on the screen.

    ``run`` shows a page, asks for a choice, and drives the session's steps that the choice leads to: it meets each need
    that they yield (``app.guide.needs``). Then it shows the next page.
    """

    def __init__(
        self,
        notebook_path: Path,
        backend: Backend | None = None,
        logins: Logins | None = None,
        practice: Sequence[Target] = (),
        *,
        terminal: plain_terminal.PlainTerminal | None = None,
    ) -> None:
        self.session = GuideSession(notebook_path, backend or Backend(), logins or Logins(), practice, used_targets)
        self._terminal = terminal or plain_terminal.PlainTerminal()
        self._visits = PlainVisits(self.session, self._terminal, self._drive)

        # What Enter alone answered last: if that led nowhere, Enter leaves the page, or goes back from the question.
        self._page_on_enter: tuple[object, ...] | None = None
        self._heading_on_enter = ""

    def run(self) -> None:
        self._drive(self.session.recall())
        self._drive(self.session.look_at_link())
        self._terminal.say(HOW)
        if self.session.choices.step is not method_choices.MethodStep.TARGET:
            self._terminal.say("This continues where you left; n begins a new measurement.")
        try:
            while True:
                self._show_page()
        except plain_terminal.LeftError:
            self._terminal.say("Everything is kept; `sharebench guide --plain` continues from here.")

    def _show_page(self) -> None:
        """Show the page, and ask until something of it was done. Raises LeftError."""
        session = self.session
        page = page_of(session.choices, session.known)
        offered = [option for option in page.options if option.act is not None]
        for line in plain_page.page_lines(page, session.choices.step):
            self._terminal.say(line)

        shown_page = (session.choices, page.facts)
        led_nowhere = shown_page == self._page_on_enter and not self._terminal.has_words
        enter_leaves = not offered or led_nowhere
        question = "Your choice; Enter leaves" if enter_leaves else "Your choice"
        is_done = False
        while not is_done:
            word = self._terminal.ask(question).strip().lower()
            if enter_leaves and not word:
                raise plain_terminal.LeftError
            self._page_on_enter = None if word else shown_page
            self._heading_on_enter = ""
            self._terminal.has_words = False
            try:
                is_done = self._do_word(word, page, offered)
            except plain_terminal.BackError:
                return
            except (errors.SharebenchError, RefusedError, UnknownReferenceError, OSError) as error:
                self._terminal.say(f"That did not work: {error}")
                return

    def _do_word(self, word: str, page: guide_page.Page, offered: Sequence[guide_page.Option]) -> bool:
        """Whether it was understood, and did something."""
        session = self.session
        if word in {"q", "quit"}:
            raise plain_terminal.LeftError
        if word == "n":
            self._drive(session.take(method_choices.new_measurement(session.choices)))
        elif word == "b":
            self._drive(session.go_by(-1))
        elif word[:1] == "s" and word[1:].strip().isdecimal() and 0 < int(word[1:]) <= len(method_choices.STEPS):
            self._drive(session.go(method_choices.STEPS[int(word[1:]) - 1]))
        elif not word and offered:
            self._drive(session.do(plain_page.option_on_enter(page, offered).act))
        elif word.isdecimal() and 0 < int(word) <= len(offered):
            self._drive(session.do(offered[int(word) - 1].act))
        elif word == "?":
            self._terminal.say(HOW)
            return False
        elif word != "l":
            self._terminal.say(f"Not understood. {HOW}")
            return False
        return True

    # What the session's steps need

    def _drive(self, steps: needs.Steps) -> Any:
        """Carry the steps out to their end, by the answer to each need, or the error that came in its place."""
        answer: Any = None
        error: Exception | None = None
        while True:
            try:
                need = steps.throw(error) if error else steps.send(answer)
            except StopIteration as end:
                return end.value
            error = None
            try:
                answer = self._answer(need)
            except Exception as raised:  # noqa: BLE001  the session says what becomes of it
                error = raised

    def _answer(self, need: Any) -> Any:
        match need:
            case needs.Work(job=job, doing=doing):
                if doing:
                    self._terminal.say(f"{doing[0].upper()}{doing[1:]}.")
                return job()
            case needs.Words():
                return self._answer_words(need)
            case needs.Password():
                return self._terminal.ask_secrets(need)
            case browsing.BrowsedFolder():
                return self._pick(need)
            case needs.Tell(text=text, yes=yes) if yes:
                question = f"{' '.join(text.split())}? y or n"
                if self._terminal.ask_words(question).lower() != "y":
                    raise errors.UsageError("nothing was measured")
            case needs.Tell(text=text, heading=heading):
                self._terminal.say(f"{heading}: {text}" if heading else text)
            case needs.MeasurementJob():
                return self._measure(need)
            case needs.ComparisonJob():
                return self._compare(need)
            case guide_page.Visit(name, arguments):
                return self._visits.visit(name, arguments)
        return None

    def _answer_words(self, words: needs.Words) -> str:
        if self._heading_on_enter == words.heading:
            raise plain_terminal.BackError
        if words.problem:
            self._terminal.say(f"! {words.problem}")
        end = "" if words.heading.endswith("?") else "."
        on_enter = f" (Enter for {words.value})" if words.value else ""
        answer = self._terminal.ask_words(f"{words.heading}{end} {words.text.removesuffix('.')}{on_enter}")
        self._heading_on_enter = "" if answer else words.heading
        return answer or words.value

    def _pick(self, folder: browsing.BrowsedFolder) -> browsing.Item:
        """One item of the folder; Enter takes the largest file. Raises BackError."""
        sizes = {number: item.size_bytes for number, item in enumerate(folder.choices, start=1) if item.size_bytes}
        largest = max(sizes, key=sizes.__getitem__, default=None)
        for number, item in enumerate(folder.choices, start=1):
            mark = " (Enter)" if number == largest else ""
            self._terminal.say(f"{number}. {plain_page.item_line(item)}{mark}")

        count = len(folder.choices)
        on_enter = f"takes {largest}, b goes" if largest else "goes"
        word_of_enter = str(largest) if largest else ""
        while word := self._terminal.ask_words(f"Which; Enter {on_enter} back") or word_of_enter:
            if word.isdecimal() and 0 < int(word) <= count:
                return folder.choices[int(word) - 1]
            self._terminal.say(f"Not understood. A number from 1 to {count} chooses, Enter {on_enter} back, q leaves.")
        raise plain_terminal.BackError

    def _measure(self, job: needs.MeasurementJob) -> str | None:
        self._terminal.say(f"{job.repeat or 'Measuring'}; Ctrl+C stops, and what was measured is kept.")
        closed = watch(job.events(), job.control, redraws=False)
        raise_at_once()
        if closed.failure is not None:
            self._terminal.say(f"The series ended early: {closed.failure.text}")
        return closed.series_id if closed.stored else None

    def _compare(self, job: needs.ComparisonJob) -> tuple[str, ...] | None:
        self._terminal.say(f"Measuring {wording.listed([*job.names])}; Ctrl+C stops, and what was measured is kept.")
        end = needs.ComparisonEnd(job)
        watch_turns(_told_to(end, job.events()), job.control, job.names, job.runs_to_come)
        raise_at_once()
        if end.failure is not None:
            self._terminal.say(f"The comparison ended early: {end.failure[1].text}")
        return end.ids


def _told_to(end: needs.ComparisonEnd, events: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """The events, which ``end`` is told before anybody else."""
    for place, event in events:
        end.take_event(place, event)
        yield place, event
