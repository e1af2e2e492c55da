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

from app.backend import Backend
from app.base import errors
from app.cli.commands.export import write_forms
from app.cli.progress import watch
from app.clients import browsing
from app.clients.base import Secrets
from app.clients.session_logins import Logins
from app.comparison.sides import sides_to_compare
from app.guide import needs
from app.guide import page as guide_page
from app.guide.pages.steps import page_of
from app.guide.session import GuideSession
from app.load.spec import USUAL_USERS
from app.method import choices as method_choices
from app.method import rounds
from app.method.measured_place import measured_place
from app.recording.several import used_targets
from app.server.changes.script import ConsentNeededError
from app.trial import consent
from app.trial.command import carry_out
from app.trial.spec import TrialOrder
from forms import layout, wording
from forms.comparison.pair_report import pair_report
from forms.comparison.summary import comparisons
from forms.exporters import FORMATS, format_of
from forms.exporters.text import report_text
from forms.report import SIGNS
from forms.reports import series_reports
from forms.series.report import series_report
from forms.series.summary import run_form
from forms.trial.changes_report import change_report
from forms.tuning import catalogue
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


def _print_at_once(text: str) -> None:
    """Into a pipe too, where Python would hold lines back."""
    click.echo(layout.for_terminal(text))


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
        say: Callable[[str], None] = _print_at_once,
        ask_password: Callable[[str], str] = getpass.getpass,
    ) -> None:
        self.session = GuideSession(notebook_path, backend or Backend(), logins or Logins(), practice, used_targets)
        self._read = read or sys.stdin.readline
        self._print = say
        self._ask_password = ask_password
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
        """Show the page, and ask until something of it was done."""
        session = self.session
        page = page_of(session.choices, session.known)
        offered = [option for option in page.options if option.act is not None]
        for line in _page_lines(page, session.choices.step):
            self._say(line)

        place = (session.choices, page.facts)
        enter_leaves = not offered or place == self._enter_at
        question = "Your choice; Enter leaves" if enter_leaves else "Your choice"
        understood = False
        while not understood:
            word = self._ask(question).strip().lower()
            if enter_leaves and not word:
                raise LeftError
            self._enter_at = None if word else place
            self._enter_to = ""
            try:
                understood = self._do_word(word, page, offered)
            except BackError:
                return
            except (errors.SharebenchError, RefusedError, UnknownReferenceError, OSError) as error:
                self._say(f"That did not work: {error}")
                return

    def _do_word(self, word: str, page: guide_page.Page, offered: Sequence[guide_page.Option]) -> bool:
        """Whether it was understood, and did something."""
        session = self.session
        if word in {"q", "quit"}:
            raise LeftError
        if word == "n":
            self._drive(session.take(method_choices.new_measurement(session.choices)))
        elif word == "b":
            self._drive(session.go_by(-1))
        elif word[:1] == "s" and word[1:].strip().isdecimal() and 0 < int(word[1:]) <= len(method_choices.STEPS):
            self._drive(session.go(method_choices.STEPS[int(word[1:]) - 1]))
        elif not word and offered:
            self._drive(session.do(_option_on_enter(page, offered).act))
        elif word.isdecimal() and 0 < int(word) <= len(offered):
            self._drive(session.do(offered[int(word) - 1].act))
        elif word == "?":
            self._say(HOW)
            return False
        elif word != "l":
            self._say(f"Not understood. {HOW}")
            return False
        return True

    # What the session's steps need

    def _drive(self, steps: Generator[Any, Any, Any]) -> Any:
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
                    self._say(f"{doing[0].upper()}{doing[1:]}.")
                return job()
            case needs.Words():
                return self._answer_words(need)
            case needs.Password():
                return self._answer_password(need)
            case browsing.BrowsedFolder():
                return self._pick(need)
            case needs.Tell(text=text, yes=yes) if yes:
                if self._ask_words(f"{' '.join(text.split())}? y or n").lower() != "y":
                    raise errors.UsageError("nothing was measured")
            case needs.Tell(text=text, heading=heading):
                self._say(f"{heading}: {text}" if heading else text)
            case needs.MeasurementJob():
                return self._measure(need)
            case guide_page.Visit(name, arguments):
                return self._visit(name, arguments)
        return None

    def _answer_words(self, words: needs.Words) -> str:
        if self._enter_to == words.heading:
            raise BackError
        end = "" if words.heading.endswith("?") else "."
        on_enter = f" (Enter for {words.value})" if words.value else ""
        answer = self._ask_words(f"{words.heading}{end} {words.text.removesuffix('.')}{on_enter}")
        self._enter_to = "" if answer else words.heading
        return answer or words.value

    def _answer_password(self, need: needs.Password) -> Secrets:
        if need.why:
            self._say(f"{need.why}. Type the password again.")
        password = self._ask_password(layout.visible(f"Password of {need.target.user} on {need.target.host}: "))
        if need.why and not password:
            raise BackError
        return Secrets(password=password)

    def _ask_words(self, question: str) -> str:
        answer = self._ask(question).strip()
        if answer:
            self._enter_at = None
        if answer == "q":
            raise LeftError
        if answer == "b":
            raise BackError
        return answer

    def _pick(self, place: browsing.BrowsedFolder) -> browsing.Item:
        sizes = {number: item.size_bytes for number, item in enumerate(place.choices, start=1) if item.size_bytes}
        largest = max(sizes, key=sizes.__getitem__, default=None)
        for number, item in enumerate(place.choices, start=1):
            mark = " (Enter)" if number == largest else ""
            self._say(f"{number}. {_item_line(item)}{mark}")

        count = len(place.choices)
        on_enter = f"takes {largest}, b goes" if largest else "goes"
        word_of_enter = str(largest) if largest else ""
        while word := self._ask_words(f"Which; Enter {on_enter} back") or word_of_enter:
            if word.isdecimal() and 0 < int(word) <= count:
                return place.choices[int(word) - 1]
            self._say(f"Not understood. A number from 1 to {count} chooses, Enter {on_enter} back, q leaves.")
        raise BackError

    def _measure(self, job: needs.MeasurementJob) -> str | None:
        self._say("Measuring; Ctrl+C stops, and what was measured is kept.")
        closed = watch(job.events(), job.control, redraws=False)
        if closed.failure is not None:
            self._say(f"The series ended early: {closed.failure.text}")
        return closed.series_id if closed.stored else None

    # Other screens

    def _visit(self, name: str, arguments: Mapping[str, object]) -> method_choices.GuideChoices | None:
        if name == "trial":
            self._try_setting(str(arguments["setting"]))
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
                    self._say(catalogue.list_text(catalogue.entries()))
                case "entry":
                    return self._visit_entry(notebook, str(arguments["entry"]), arguments.get("share"))
                case "export":
                    self._export(notebook, arguments["ids"])
                case _:
                    otherwise = f"That is on the screen alone: sharebench, without --plain, has {name}."
                    self._say(_commands(arguments).get(name, otherwise))
        return None

    def _visit_entry(self, notebook: Notebook, name: str, share: object) -> method_choices.GuideChoices | None:
        """Show the entry, and take its setting into the next series where a value is typed."""
        entry = catalogue.find(name)
        practice = self.session.practice
        place = replace(measured_place(notebook, practice), share=str(share) if share else None)
        self._say(catalogue.entry_text(entry, share=place.share, conf=place.conf, now=place.value_in_words(entry)))
        value = self._ask_words(f"The value of {entry.parameter} in the next series, or Enter for none").strip()
        return rounds.take_change(notebook, practice, entry.parameter, value) if value else None

    def _export(self, notebook: Notebook, ids: object) -> None:
        suffixes = ", ".join(kind.suffix for kind in FORMATS.values())
        path = Path(self._ask_words(f"File, ending in {suffixes}").strip()).expanduser()
        if format_of(path.name) is None:
            raise errors.UsageError(f"{path.name or 'no name'}: no format has that suffix")
        if path.exists():
            raise errors.UsageError(f"{path} is there already: name another file")
        series_ids = [str(series_id) for series_id in ids] if isinstance(ids, tuple | list) else []
        write_forms(str(path), None, lambda: series_reports([notebook.series(series_id) for series_id in series_ids]))

    def _try_setting(self, setting: str) -> None:
        order = self._order_trial(setting)
        self._consent(consent.consent_lines(order))
        self._say(report_text(change_report(carry_out(order, self.session.path, redraws=False))))

    def _order_trial(self, setting: str) -> TrialOrder:
        """The order of the trial, once each risk that it has was consented to."""
        session = self.session
        choices = session.choices
        assert choices.target is not None
        secrets = self._drive(session.secrets(choices.target, kerberos=choices.kerberos))
        request = rounds.request_of(choices, secrets)

        accepted: tuple[str, ...] = ()
        restart = False
        while True:
            try:
                return session.backend.order_trial(
                    request, setting, accepted=accepted, restart=restart, keeps_size=choices.makes_file
                )
            except ConsentNeededError as needed:
                self._consent([str(needed)])
                if needed.risk_of is None:
                    restart = True
                else:
                    accepted += (needed.risk_of,)

    def _consent(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._say(line)
        if self._ask_words(consent.QUESTION_IN_GUIDE).lower() != "y":
            raise errors.UsageError(consent.DECLINED)

    # The terminal

    def _ask(self, question: str) -> str:
        self._say(f"{question}:")
        line = self._read()
        if not line:
            raise LeftError
        return line.rstrip("\n")

    def _say(self, text: str) -> None:
        words = layout.plain_signs(text.translate(_ASCII))
        if sys.stdout.isatty():
            # A terminal would break lines within words.
            columns = shutil.get_terminal_size().columns
            lines: list[str] = []
            for line in words.split("\n"):
                lines += layout.wrap(line, columns) if layout.width(line) > columns else [line]
            words = "\n".join(lines)
        self._print(words)


def _commands(arguments: Mapping[str, object]) -> dict[str, str]:
    """What to type in place of a screen."""
    target = shlex.quote(str(arguments.get("target", "")))
    ssh = str(arguments.get("ssh", ""))
    server = f" --server-ssh {shlex.quote(ssh)}" if ssh else ""
    return {
        "survey": "Everything at once: sharebench survey HOST --smb SHARE/FOLDER --ftp FOLDER --user USER",
        "audit": "The server's settings: sharebench audit TARGET --server-ssh [USER@]HOST",
        "load": f"Many users at once: sharebench load {target} --users {USUAL_USERS} --scenario office{server}",
    }


def _item_line(item: browsing.Item) -> str:
    if item.kind is browsing.ItemKind.MADE:
        return item.name.strip("[ ]")
    name = "the folder above" if item.kind is browsing.ItemKind.UP else wording.plain(item.name)
    return ", ".join(part for part in (name, str(item.kind), item.size, item.suits) if part)


def _option_on_enter(page: guide_page.Page, offered: Sequence[guide_page.Option]) -> guide_page.Option:
    pointed = page.options[page.cursor]
    if pointed.advised:
        return pointed
    return next((option for option in offered if option.advised), offered[0])


def _page_lines(page: guide_page.Page, step: method_choices.MethodStep) -> Iterator[str]:
    yield ""
    yield f"Step {method_choices.STEPS.index(step) + 1} of {len(method_choices.STEPS)}. {page.title}."
    if page.headline:
        yield ", ".join(part.text for part in page.headline)
    yield page.why
    yield from (fact.text if isinstance(fact, layout.Toned) else fact for fact in page.facts)
    if page.columns:
        yield f"In columns: {' '.join(page.columns.split())}"
    yield from _option_lines(page)


def _option_lines(page: guide_page.Page) -> Iterator[str]:
    """The options, those that can be chosen with their numbers."""
    offered = [option for option in page.options if option.act is not None]
    on_enter = _option_on_enter(page, offered) if offered else None
    number = 0
    for option in page.options:
        text = ", ".join(filter(None, (_title_text(option), option.hint)))
        if option.act is None:
            yield f"-  {text}"
            continue

        number += 1
        mark = ""
        if option.advised:
            mark = " (recommended)"
        elif option is on_enter:
            mark = " (Enter)"
        yield f"{number}. {text}{mark}"


def _title_text(option: guide_page.Option) -> str:
    sign = SIGNS.get(option.mark, "")
    run = "run " if isinstance(option.act, guide_page.Judge) else ""
    title = " ".join(option.title.split()).removesuffix("…")
    return f"{sign} {run}{title}".strip()
