"""The guide as numbered questions, line by line: for screen readers, serial consoles and dumb terminals."""

import getpass
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.changes.server import ConsentNeededError
from app.cli.commands.export import write_forms
from app.cli.commands.trial import carried_out
from app.cli.progress import watch
from app.clients.base import Secrets
from app.errors import LoginError, SharebenchError, UsageError
from app.measure.process import SeriesControl
from app.recorder.recording import failure_of
from app.workflows.compare import sides_to_compare
from app.workflows.guide import choices as acts
from app.workflows.guide import known as store
from app.workflows.guide.after_run import after_measuring, page_of
from app.workflows.guide.backend import Backend, Logins, PasswordNeededError
from app.workflows.guide.browsing import BrowsedFolder, Item, ItemKind, inside
from app.workflows.guide.choices import STEPS, Act, GuideChoices, MethodStep, Option, Page, at, new_measurement
from app.workflows.guide.job import request_of
from app.workflows.guide.known import GuideContext, around, blocked, link_to, step_before, towards, with_picked
from app.workflows.guide.rounds import take_change
from app.workflows.trial_order import consent_lines
from forms import wording
from forms.comparison.report import pair_report
from forms.comparison.summary import comparisons
from forms.exporters import FORMATS, format_of
from forms.exporters.text import report_text
from forms.layout import PLAIN_SIGNS, Toned, for_terminal, visible, width, wrap
from forms.report import SIGNS
from forms.reports import series_reports
from forms.series.report import series_report
from forms.series.summary import run_form
from forms.trials.report import report_of
from forms.tuning.catalogue import entries, entry_text, find, list_text
from storage.errors import RefusedError
from storage.notebook import Notebook
from storage.recordings import UnknownReferenceError
from storage.records import RunStatus, Target, format_target

_ASCII = PLAIN_SIGNS | str.maketrans("─═│⋮█░", "-=|:#.")
"""Instead of box-drawing characters, which a screen reader spells out."""
HOW = (
    "A number chooses, Enter takes what is marked (advised) or (Enter), b goes back, s6 goes to step 6, n begins anew,"
    " l lists the choices again, ? says this again, q leaves. Where words are asked for, b and q do the same."
)
MAKE_HERE = "Have a file made in this folder, and removed afterwards"


def _say_at_once(text: str) -> None:
    print(for_terminal(text), flush=True)  # noqa: T201  also into a pipe, whose reader is to answer


class LeftError(Exception):
    """The user leaves, or input ends."""


class BackError(Exception):
    """The user goes back to the page."""


@dataclass(slots=True)
class PlainGuide:
    """Asks until the user leaves; every choice is stored in the notebook, as on the screen."""

    notebook_path: Path
    backend: Backend = field(default_factory=Backend)
    logins: Logins = field(default_factory=Logins)
    practice: Sequence[Target] = ()
    read: Callable[[], str] = sys.stdin.readline
    say: Callable[[str], None] = _say_at_once
    ask_password: Callable[[str], str] = getpass.getpass
    choices: GuideChoices = field(default_factory=GuideChoices)
    known: GuideContext = field(default_factory=GuideContext)
    typed: dict[str, str] = field(default_factory=dict)

    def run(self) -> None:
        with Notebook(self.notebook_path) as notebook:
            self.choices, self.known = store.recall(notebook, self.practice)
        self._look_at_link()
        self._say(HOW)
        try:
            while True:
                self._step()
        except LeftError:
            self._say("Everything is kept; `sharebench guide --plain` continues from here.")

    def _step(self) -> None:
        page = page_of(self.choices, self.known)
        offered = [option for option in page.options if option.act is not None]
        for line in _page_lines(page, self.choices.step):
            self._say(line)
        understood = False
        while not understood:
            word = self._ask("Your choice").strip().lower()
            try:
                understood = self._do_word(word, page, offered)
            except BackError:
                return
            except (SharebenchError, RefusedError, UnknownReferenceError, OSError) as error:
                self._say(f"That did not work: {error}")
                return

    def _do_word(self, word: str, page: Page, offered: Sequence[Option]) -> bool:
        if word in {"q", "quit"}:
            raise LeftError
        if word == "n":
            self._take(new_measurement(self.choices))
        elif word == "b":
            self._go(step_before(self.choices.step) or self.choices.step)
        elif word[:1] == "s" and word[1:].strip().isdecimal() and 0 < int(word[1:]) <= len(STEPS):
            self._go(STEPS[int(word[1:]) - 1])
        elif not word and offered:
            self._do(_taken_by_enter(page, offered).act)
        elif word.isdecimal() and 0 < int(word) <= len(offered):
            self._do(offered[int(word) - 1].act)
        elif word == "?":
            self._say(HOW)
            return False
        elif word != "l":
            self._say(f"Not understood. {HOW}")
            return False
        return True

    def _go(self, step: MethodStep) -> None:
        why = blocked(self.choices, self.known, step)
        if why is not None:
            raise UsageError(f"{step}: {why}")
        self._take(at(self.choices, step))

    def _do(self, act: Act | None) -> None:
        match act:
            case acts.Go(choices):
                self._take(choices)
            case acts.Ask():
                self._do(self._answered(act))
            case acts.Connect(target, kerberos):
                self._connect(target, kerberos=kerberos)
            case acts.ReadCredentials(target, path):
                self._connect(self.logins.from_file(target, Path(path).expanduser()))
            case acts.Simple.BROWSE if self.choices.target is not None:
                self._connect(self.choices.target, kerberos=self.choices.kerberos)
            case acts.Visit("trial", arguments):
                self._try(str(arguments["setting"]))
            case acts.Visit(name, arguments):
                with Notebook(self.notebook_path) as notebook:
                    following = self._visited(notebook, name, arguments)
                if following is not None:
                    self._take(following)
            case acts.Simple.LOOK_QUIET if self.choices.target is not None:
                self.known = replace(self.known, quiet=self.backend.quiet(self.choices.target, self.choices.command))
            case acts.Simple.START | acts.Simple.RESUME:
                self._measure(resumed=act is acts.Simple.RESUME)
            case _:
                self._write(act)

    def _answered(self, ask: acts.Ask) -> Act:
        """Asks again after a wrong answer. Raises BackError, LeftError, UsageError."""
        while True:
            value = self.typed.get(ask.heading, ask.value) if ask.keep else ask.value
            now = f" (Enter for {value})" if value else ""
            answer = self._ask_words(f"{ask.heading}. {ask.text}{now}")
            try:
                act = ask.then(answer or value)
            except UsageError as error:
                if not answer:
                    raise
                self._say(f"Not understood: {error}")
                continue
            if ask.keep:
                self.typed[ask.heading] = answer or value
            return act

    def _ask_words(self, question: str) -> str:
        answer = self._ask(question).strip()
        if answer == "q":
            raise LeftError
        if answer == "b":
            raise BackError
        return answer

    def _write(self, act: Act | None) -> None:
        choices, series_id = self.choices, self.choices.series_id
        reason = None
        if isinstance(act, acts.Judge) and act.status is RunStatus.REJECTED:
            reason = self._ask_words(f"Why is run {act.number} unusable?")
            if not reason:
                raise UsageError("a run is left out only with a reason")
        with Notebook(self.notebook_path) as notebook:
            match act:
                case acts.Judge(number, status) if series_id is not None:
                    store.judge(notebook, series_id, number, status, reason)
                    choices = replace(choices, reviewed=False)
                case acts.NameBaseline(name) if series_id is not None:
                    notebook.set_baseline(name, series_id)
                case acts.BeginRound(following):
                    store.begin_round(notebook, following)
                    choices = following
                case acts.Decide(decided, decision, following):
                    store.decide(notebook, decided, decision)
                    choices = following
        self._take(choices)

    def _take(self, choices: GuideChoices) -> None:
        with Notebook(self.notebook_path) as notebook:
            self.known = store.keep(notebook, choices, self.known)
        self.choices = choices

    # Other screens

    def _visited(self, notebook: Notebook, name: str, arguments: Mapping[str, object]) -> GuideChoices | None:
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
                self._say(entry_text(entry, share=str(share) if share else None))
                question = f"The value of {entry.parameter} in the next series, or Enter for none"
                value = self._ask_words(question).strip()
                return take_change(notebook, self.practice, entry.parameter, value) if value else None
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

    # Target

    def _secrets(self, target: Target, *, kerberos: bool) -> Secrets:
        try:
            return self.logins.find(target, kerberos=kerberos)
        except PasswordNeededError:
            secrets = Secrets(password=self.ask_password(visible(f"Password of {target.user} on {target.host}: ")))
            self.logins.keep(target, secrets)
            return secrets

    def _connect(self, target: Target, *, kerberos: bool = False) -> None:
        secrets = self._secrets(target, kerberos=kerberos)
        while True:
            self._say(f"Connecting to {wording.plain(format_target(target))}.")
            try:
                place = self.backend.look(target, secrets, around(*towards(target, self.choices, self.known)))
            except LoginError:
                if not kerberos:
                    self.logins.refuse(target)
                raise
            picked = (place.target, place.file) if place.is_chosen else self._pick(place)
            if picked is None:
                return
            target, item = picked
            if item is None or item.kind is ItemKind.FILE:
                break
            target = inside(target, item)
        self.typed.clear()
        self._take(with_picked(self.choices, target, item, kerberos=kerberos))
        self._look_at_link()

    def _pick(self, place: BrowsedFolder) -> tuple[Target, Item | None] | None:
        """None if the user goes back; Enter takes the largest file, where there is one."""
        first = [] if place.is_share_list else [MAKE_HERE]
        sizes = {
            number: item.size_bytes
            for number, item in enumerate(place.items, start=1 + len(first))
            if item.kind is ItemKind.FILE
        }
        largest = max(sizes, key=sizes.__getitem__, default=None)
        for number, line in enumerate([*first, *map(_item_line, place.items)], start=1):
            self._say(f"{number}. {line}{' (Enter)' if number == largest else ''}")
        most, on_enter = len(first) + len(place.items), f"takes {largest}, b goes" if largest else "goes"
        while word := self._ask_words(f"Which; Enter {on_enter} back") or (str(largest) if largest else ""):
            if word.isdecimal() and 0 < int(word) <= most:
                break
            self._say(f"Not understood. A number from 1 to {most} chooses, Enter {on_enter} back, q leaves.")
        else:
            return None
        index = int(word) - 1 - len(first)
        return place.target, None if index < 0 else place.items[index]

    def _look_at_link(self) -> None:
        target = self.choices.target
        if target is not None:
            self.known = replace(self.known, link=link_to(target, self.backend))

    # Run

    def _measure(self, *, resumed: bool) -> None:
        choices = self.choices
        assert choices.target is not None
        confirmed = resumed and self._is_meant()
        secrets = self._secrets(choices.target, kerberos=choices.kerberos)
        control = SeriesControl()
        path, backend = self.notebook_path, self.backend
        if resumed:
            events = backend.resume(choices.series_id, secrets, path, control, confirmed=confirmed)
        else:
            events = backend.record(request_of(choices, secrets), path, control)
        self._say("Measuring; Ctrl+C stops, and what was measured is kept.")
        closed = watch(events, control, redraws=False)
        failure = failure_of(closed)
        if failure is not None:
            if isinstance(failure, LoginError) and not choices.kerberos:
                self.logins.refuse(choices.target)
            self._say(f"The series ended early: {failure}")
        if not closed.stored:
            return
        done = replace(choices, quiet=choices.quiet or "record", counted=True, series_id=closed.series_id)
        self._take(replace(done, reviewed=False, compared=False))
        self._take(after_measuring(self.choices, self.known))

    def _try(self, setting: str) -> None:
        choices = self.choices
        assert choices.target is not None
        request = request_of(choices, self._secrets(choices.target, kerberos=choices.kerberos))
        accepted: tuple[str, ...] = ()
        restart = False
        while True:
            try:
                order = self.backend.order_trial(request, setting, accepted=accepted, restart=restart)
                break
            except ConsentNeededError as needed:
                self._consent([str(needed)])
                accepted += () if needed.risk_of is None else (needed.risk_of,)
                restart = restart or needed.risk_of is None
        self._consent(consent_lines(order))
        self._say(report_text(report_of(carried_out(order, self.notebook_path, redraws=False))))

    def _consent(self, lines: Iterable[str]) -> None:
        """Raises UsageError without a yes."""
        for line in lines:
            self._say(line)
        if self._ask_words("Continue? y or n").lower() != "y":
            raise UsageError("nothing was written")

    def _is_meant(self) -> bool:
        series = self.known.series
        if series is None or series.imported_at is None:
            return False
        place = wording.plain(format_target(series.target))
        if self._ask(f"The series was imported. Log in at {place}? y or n").strip().lower() != "y":
            raise UsageError("nothing was measured")
        return True

    def _ask(self, question: str) -> str:
        self._say(f"{question}:")
        line = self.read()
        if not line:
            raise LeftError
        return line.rstrip("\n")

    def _say(self, text: str) -> None:
        words = text.translate(_ASCII)
        if sys.stdout.isatty():  # a terminal would break lines within words
            columns = shutil.get_terminal_size().columns
            words = "\n".join(
                part
                for line in words.split("\n")
                for part in (wrap(line, columns) if width(line) > columns else [line])
            )
        self.say(words)


def _commands(arguments: Mapping[str, object]) -> dict[str, str]:
    target, ssh = shlex.quote(str(arguments.get("target", ""))), str(arguments.get("ssh", ""))
    server = f" --server-ssh {shlex.quote(ssh)}" if ssh else ""
    return {
        "survey": "Everything at once: sharebench survey HOST --smb SHARE/FOLDER --ftp FOLDER --user USER",
        "audit": "The server's settings: sharebench audit TARGET --server-ssh [USER@]HOST",
        "load": f"Many users at once: sharebench load {target} --users 5,10,20 --scenario office{server}",
    }


def _item_line(item: Item) -> str:
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
        run = "run " if isinstance(option.act, acts.Judge) else ""
        words = [
            f"{SIGNS.get(option.mark, '')} {run}{' '.join(option.title.split()).removesuffix('…')}".strip(),
            option.hint,
        ]
        said = ", ".join(word for word in words if word)
        if option.act is None:
            yield f"-  {said}"
        else:
            number += 1
            mark = " (advised)" if option.advised else " (Enter)" if option is taken else ""
            yield f"{number}. {said}{mark}"
