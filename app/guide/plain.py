"""The guide as numbered questions, line by line: for screen readers, serial consoles and dumb terminals."""

import getpass
import shlex
import shutil
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from app import kinds
from app.base.errors import SharebenchError, UsageError
from app.cli.commands.export import write_forms
from app.cli.progress import watch
from app.clients.base import Secrets
from app.comparison.history import sides_to_compare
from app.guide import session as asked
from app.guide.after_run import page_of
from app.guide.backend import Backend, Logins
from app.guide.browsing import BrowsedFolder, Item, ItemKind
from app.guide.choices import STEPS, GuideChoices, Judge, MethodStep, Option, Page, Visit, new_measurement
from app.guide.rounds import measured_place, take_change
from app.guide.session import GuideSession
from app.server.changes.script import ConsentNeededError
from app.trial.command import carried_out
from app.trial.spec import consent_lines
from forms import wording
from forms.comparison.report import pair_report
from forms.comparison.summary import comparisons
from forms.exporters import FORMATS, format_of
from forms.exporters.text import report_text
from forms.layout import Toned, for_terminal, plain_signs, visible, width, wrap
from forms.report import SIGNS
from forms.reports import series_reports
from forms.series.report import series_report
from forms.series.summary import run_form
from forms.trial.report import change_report
from forms.tuning.catalogue import entries, entry_text, find, list_text
from storage.errors import RefusedError
from storage.notebook import Notebook
from storage.recordings import UnknownReferenceError
from storage.records import Target

_ASCII = str.maketrans("─═│⋮█░", "-=|:#.") | {ord("…"): "..."}
"""Instead of box-drawing characters, which a screen reader spells out."""
HOW = (
    "A number chooses, Enter takes what is marked (recommended) or (Enter), b goes back, s6 goes to step 6, n begins"
    " anew, l lists the choices again, ? says this again, q leaves. Where words are asked for, b and q do the same."
)


class LeftError(Exception):
    """The user leaves, or input ends."""


class BackError(Exception):
    """The user goes back to the page."""


class PlainGuide:
    """Asks until the user leaves; every choice is stored in the notebook, as on the screen."""

    def __init__(
        self,
        notebook_path: Path,
        backend: Backend | None = None,
        logins: Logins | None = None,
        practice: Sequence[Target] = (),
        *,
        read: Callable[[], str] | None = None,
        say: Callable[[str], None] = lambda text: click.echo(for_terminal(text)),  # at once, into a pipe too
        ask_password: Callable[[str], str] = getpass.getpass,
    ) -> None:
        backend, logins = backend or Backend(), logins or Logins()
        self.session = GuideSession(notebook_path, backend, logins, practice, kinds.used_targets)
        self._read, self._print, self._ask_password = read or sys.stdin.readline, say, ask_password
        self._enter_at: tuple[object, ...] | None = None
        self._enter_to = ""
        """The page and the question that Enter alone answered last: if it led nowhere, it leaves or goes back."""

    def run(self) -> None:
        self._drive(self.session.recall())
        self._drive(self.session.look_at_link())
        self._say(HOW)
        try:
            while True:
                self._step()
        except LeftError:
            self._say("Everything is kept; `sharebench guide --plain` continues from here.")

    def _step(self) -> None:
        session = self.session
        page = page_of(session.choices, session.known)
        offered = [option for option in page.options if option.act is not None]
        for line in _page_lines(page, session.choices.step):
            self._say(line)
        place = (session.choices, page.facts)
        leaves, understood = not offered or place == self._enter_at, False
        while not understood:
            word = self._ask(f"Your choice{'; Enter leaves' if leaves else ''}").strip().lower()
            if leaves and not word:
                raise LeftError
            self._enter_at, self._enter_to = None if word else place, ""
            try:
                understood = self._do_word(word, page, offered)
            except BackError:
                return
            except (SharebenchError, RefusedError, UnknownReferenceError, OSError) as error:
                self._say(f"That did not work: {error}")
                return

    def _do_word(self, word: str, page: Page, offered: Sequence[Option]) -> bool:
        session = self.session
        if word in {"q", "quit"}:
            raise LeftError
        if word == "n":
            self._drive(session.take(new_measurement(session.choices)))
        elif word == "b":
            self._drive(session.go_by(-1))
        elif word[:1] == "s" and word[1:].strip().isdecimal() and 0 < int(word[1:]) <= len(STEPS):
            self._drive(session.go(STEPS[int(word[1:]) - 1]))
        elif not word and offered:
            self._drive(session.do(_taken_by_enter(page, offered).act))
        elif word.isdecimal() and 0 < int(word) <= len(offered):
            self._drive(session.do(offered[int(word) - 1].act))
        elif word == "?":
            self._say(HOW)
            return False
        elif word != "l":
            self._say(f"Not understood. {HOW}")
            return False
        return True

    def _drive(self, steps: Generator[Any, Any, Any]) -> Any:
        answer: Any = None
        error: Exception | None = None
        while True:
            try:
                request = steps.throw(error) if error else steps.send(answer)
            except StopIteration as end:
                return end.value
            try:
                answer, error = self._answer(request), None
            except Exception as raised:  # noqa: BLE001  the session says what becomes of it
                error = raised

    def _answer(self, request: Any) -> Any:
        match request:
            case asked.Work(job=job, doing=doing):
                if doing:
                    self._say(f"{doing[0].upper()}{doing[1:]}.")
                return job()
            case asked.Words():
                return self._words(request)
            case asked.Password():
                return self._password(request)
            case BrowsedFolder():
                return self._pick(request)
            case asked.Tell(text=text, yes=yes) if yes:
                if self._ask_words(f"{' '.join(text.split())}? y or n").lower() != "y":
                    raise UsageError("nothing was measured")
            case asked.Tell(text=text, heading=heading):
                self._say(f"{heading}: {text}" if heading else text)
            case asked.MeasurementJob():
                return self._measured(request)
            case Visit(name, arguments):
                return self._visited(name, arguments)
        return None

    def _words(self, words: asked.Words) -> str:
        if self._enter_to == words.heading:
            raise BackError
        now = f" (Enter for {words.value})" if words.value else ""
        answer = self._ask_words(
            f"{words.heading}{'' if words.heading.endswith('?') else '.'} {words.text.removesuffix('.')}{now}"
        )
        self._enter_to = "" if answer else words.heading
        return answer or words.value

    def _password(self, wanted: asked.Password) -> Secrets:
        if wanted.why:
            self._say(f"{wanted.why}. Type the password again.")
        password = self._ask_password(visible(f"Password of {wanted.target.user} on {wanted.target.host}: "))
        if wanted.why and not password:
            raise BackError
        return Secrets(password=password)

    def _ask_words(self, question: str) -> str:
        answer = self._ask(question).strip()
        self._enter_at = None if answer else self._enter_at
        if answer == "q":
            raise LeftError
        if answer == "b":
            raise BackError
        return answer

    # Other screens

    def _visited(self, name: str, arguments: Mapping[str, object]) -> GuideChoices | None:
        if name == "trial":
            self._try(str(arguments["setting"]))
            return None
        with Notebook(self.session.path) as notebook:
            match name:
                case "series":
                    form = run_form(notebook.series(str(arguments["series_id"])))
                    self._say(report_text(series_report(form)))
                case "compare":
                    pair = (str(arguments["base"]), str(arguments["other"]))
                    self._say(report_text(pair_report(comparisons(sides_to_compare(notebook, pair))[0])))
                case "catalogue":
                    self._say(list_text(entries()))
                case "entry":
                    entry, share = find(str(arguments["entry"])), arguments.get("share")
                    place = replace(
                        measured_place(notebook, self.session.practice), share=str(share) if share else None
                    )
                    self._say(entry_text(entry, share=place.share, conf=place.conf, now=place.now(entry)))
                    question = f"The value of {entry.parameter} in the next series, or Enter for none"
                    value = self._ask_words(question).strip()
                    return take_change(notebook, self.session.practice, entry.parameter, value) if value else None
                case "export":
                    ids = arguments["ids"]
                    self._export(notebook, [str(each) for each in ids] if isinstance(ids, tuple | list) else [])
                case _:
                    otherwise = f"That is on the screen alone: sharebench, without --plain, has {name}."
                    self._say(_commands(arguments).get(name, otherwise))
        return None

    def _export(self, notebook: Notebook, ids: Sequence[str]) -> None:
        file_name = self._ask_words(f"File, ending in {', '.join(one.suffix for one in FORMATS.values())}").strip()
        path = Path(file_name).expanduser()
        if format_of(path.name) is None:
            raise UsageError(f"{path.name or 'no name'}: no format has that suffix")
        if path.exists():
            raise UsageError(f"{path} is there already: name another file")
        write_forms(str(path), None, lambda: series_reports([notebook.series(each) for each in ids]))

    def _pick(self, place: BrowsedFolder) -> Item:
        sizes = {number: item.size_bytes for number, item in enumerate(place.choices, start=1) if item.size_bytes}
        largest = max(sizes, key=sizes.__getitem__, default=None)
        for number, item in enumerate(place.choices, start=1):
            self._say(f"{number}. {_item_line(item)}{' (Enter)' if number == largest else ''}")
        most, on_enter = len(place.choices), f"takes {largest}, b goes" if largest else "goes"
        while word := self._ask_words(f"Which; Enter {on_enter} back") or (str(largest) if largest else ""):
            if word.isdecimal() and 0 < int(word) <= most:
                return place.choices[int(word) - 1]
            self._say(f"Not understood. A number from 1 to {most} chooses, Enter {on_enter} back, q leaves.")
        raise BackError

    def _measured(self, job: asked.MeasurementJob) -> str | None:
        self._say("Measuring; Ctrl+C stops, and what was measured is kept.")
        closed = watch(job.events(), job.control, redraws=False)
        if closed.failure is not None:
            self._say(f"The series ended early: {closed.failure.text}")
        return closed.series_id if closed.stored else None

    def _try(self, setting: str) -> None:
        session = self.session
        choices = session.choices
        assert choices.target is not None
        request = asked.request_of(choices, self._drive(session.secrets(choices.target, kerberos=choices.kerberos)))
        accepted: tuple[str, ...] = ()
        restart = False
        while True:
            try:
                order = session.backend.order_trial(
                    request, setting, accepted=accepted, restart=restart, keeps_size=choices.makes_file
                )
                break
            except ConsentNeededError as needed:
                self._consent([str(needed)])
                accepted += () if needed.risk_of is None else (needed.risk_of,)
                restart = restart or needed.risk_of is None
        self._consent(consent_lines(order))
        self._say(report_text(change_report(carried_out(order, session.path, redraws=False))))

    def _consent(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._say(line)
        if self._ask_words("Continue? y or n").lower() != "y":
            raise UsageError("nothing was written")

    def _ask(self, question: str) -> str:
        self._say(f"{question}:")
        if not (line := self._read()):
            raise LeftError
        return line.rstrip("\n")

    def _say(self, text: str) -> None:
        words = plain_signs(text.translate(_ASCII))
        if sys.stdout.isatty():  # a terminal would break lines within words
            columns = shutil.get_terminal_size().columns
            words = "\n".join(
                part
                for line in words.split("\n")
                for part in (wrap(line, columns) if width(line) > columns else [line])
            )
        self._print(words)


def _commands(arguments: Mapping[str, object]) -> dict[str, str]:
    target, ssh = shlex.quote(str(arguments.get("target", ""))), str(arguments.get("ssh", ""))
    server = f" --server-ssh {shlex.quote(ssh)}" if ssh else ""
    return {
        "survey": "Everything at once: sharebench survey HOST --smb SHARE/FOLDER --ftp FOLDER --user USER",
        "audit": "The server's settings: sharebench audit TARGET --server-ssh [USER@]HOST",
        "load": f"Many users at once: sharebench load {target} --users 5,10,20 --scenario office{server}",
    }


def _item_line(item: Item) -> str:
    if item.kind is ItemKind.MADE:
        return item.name.strip("[ ]")
    name = "the folder above" if item.kind is ItemKind.UP else wording.plain(item.name)
    return ", ".join(part for part in (name, str(item.kind), item.size, item.suits) if part)


def _taken_by_enter(page: Page, offered: Sequence[Option]) -> Option:
    chosen = page.options[page.cursor]
    return chosen if chosen.advised else next((option for option in offered if option.advised), offered[0])


def _page_lines(page: Page, step: MethodStep) -> Iterator[str]:
    yield ""
    yield f"Step {STEPS.index(step) + 1} of {len(STEPS)}. {page.title}."
    if page.headline:
        yield ", ".join(part.text for part in page.headline)
    yield page.why
    yield from (fact.text if isinstance(fact, Toned) else fact for fact in page.facts)
    if page.columns:
        yield f"In columns: {' '.join(page.columns.split())}"
    number = 0
    offered = [option for option in page.options if option.act is not None]
    taken = _taken_by_enter(page, offered) if offered else None
    for option in page.options:
        run = "run " if isinstance(option.act, Judge) else ""
        title = f"{SIGNS.get(option.mark, '')} {run}{' '.join(option.title.split()).removesuffix('…')}".strip()
        said = ", ".join(filter(None, (title, option.hint)))
        if option.act is None:
            yield f"-  {said}"
        else:
            number += 1
            mark = " (recommended)" if option.advised else " (Enter)" if option is taken else ""
            yield f"{number}. {said}{mark}"
