"""What happens when something is chosen in the guide: questions, logins, looking around, measuring, marking."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.clients.base import Secrets
from app.errors import LoginError, UsageError
from app.tui.frame.base import BaseScreen
from app.tui.frame.dialogs import AskDialog, ConfirmDialog, MessageDialog
from app.tui.guide.views import PageView
from app.tui.widgets.asking import log_in, log_in_again
from app.workflows.guide import choices as acts
from app.workflows.guide import known as store
from app.workflows.guide.backend import PasswordNeededError
from app.workflows.guide.browsing import BrowsedFolder
from app.workflows.guide.choices import GuideChoices, MethodStep, at, with_target
from app.workflows.guide.known import GuideContext, Judgement, LinkState, around, link_to, towards, with_picked
from forms import wording
from storage.notebook import Notebook
from storage.records import Quiet, RunStatus, Target, format_target

if TYPE_CHECKING:
    from app.tui.guide.browser import Picked


class GuideActions(BaseScreen):
    """A screen that carries out what is chosen in the guide; how it looks is left to the class that inherits it."""

    def __init__(self) -> None:
        super().__init__()
        self.choices = GuideChoices()
        self.known = GuideContext()
        self.judgements: list[Judgement] = []
        self.typed: dict[str, str] = {}
        """What was typed and has led nowhere yet, by the question."""

    def show(self) -> None:
        raise NotImplementedError

    def take(self, choices: GuideChoices) -> None:
        self.choices = choices
        known = self.known

        def kept(found: GuideContext) -> None:
            if self.choices is choices:
                self.known = replace(found, link=self.known.link, quiet=self.known.quiet)
                self.show()

        self.with_notebook(lambda notebook: store.keep(notebook, choices, known), kept, group="keep", exclusive=True)

    def do(self, act: acts.Act) -> None:
        match act:
            case acts.Go(choices):
                self.take(choices)
            case acts.Ask():
                self._ask(act, self.typed.get(act.heading, act.value) if act.keep else act.value)
            case acts.Connect(target, kerberos):
                self._connect(target, kerberos=kerberos)
            case acts.ReadCredentials(target, path):
                self._connect(self.context.logins.from_file(target, Path(path).expanduser()), kerberos=False)
            case acts.Simple.BROWSE if self.choices.target is not None:
                self._connect(self.choices.target, kerberos=self.choices.kerberos)
            case acts.Simple.START | acts.Simple.RESUME:
                self._begin(resumed=act is acts.Simple.RESUME)
            case acts.Judge(number, status):
                self._judge(number, status)
            case acts.Simple.LOOK_QUIET:
                self._look_quiet()
            case acts.NameBaseline(name) if self.choices.series_id is not None:
                self._name_baseline(name, self.choices.series_id)
            case acts.BeginRound() | acts.Decide():
                self._note(act)
            case acts.Visit(name, arguments):
                self.sharebench_app.visit(name, **arguments)

    def _note(self, act: acts.BeginRound | acts.Decide) -> None:
        def write(notebook: Notebook) -> None:
            if isinstance(act, acts.Decide):
                store.decide(notebook, act.series_id, act.decision)
            else:
                store.begin_round(notebook, act.choices)

        self.with_notebook(write, lambda _: self.take(act.choices))

    def _try(self, attempt: Callable[[], acts.Act], again: Callable[[], None]) -> None:
        try:
            self.do(attempt())
        except UsageError as error:
            self.app.push_screen(MessageDialog("Not understood", str(error)), lambda _: again())

    def _ask(self, ask: acts.Ask, value: str) -> None:
        def answered(text: str | None) -> None:
            if text is not None:
                self._try(lambda: attempt(text), lambda: self._ask(ask, text))

        def attempt(text: str) -> acts.Act:
            act = ask.then(text)
            if ask.keep:
                self.typed[ask.heading] = text
            return act

        self.app.push_screen(AskDialog(ask.heading, ask.text, value=value), answered)

    # Target

    def _connect(self, target: Target, *, kerberos: bool) -> None:
        try:
            secrets = self.context.logins.find(target, kerberos=kerberos)
        except PasswordNeededError:
            log_in(self, target, lambda _: self._connect(target, kerberos=False))
            return
        self._look(target, secrets, kerberos=kerberos)

    def _look(self, target: Target, secrets: Secrets, *, kerberos: bool) -> None:
        backend = self.context.backend
        choices, known = towards(target, self.choices, self.known)
        size_context = around(choices, known)
        page = self.query_one(PageView)
        page.doing(f"connecting to {wording.plain(format_target(target))} …")

        def look() -> tuple[BrowsedFolder, LinkState] | LoginError:
            link = link_to(target, backend)
            rate = size_context.link_bits_per_second or link.bits_per_second
            around_it = replace(size_context, link_bits_per_second=rate, memory_bytes=link.memory_bytes)
            try:
                return backend.look(target, secrets, around_it), link
            except LoginError as error:
                return error

        def looked(found: tuple[BrowsedFolder, LinkState] | LoginError) -> None:
            page.doing("")
            if isinstance(found, LoginError):
                self._refused(target, found, kerberos=kerberos)
                return
            place, link = found
            self._arrived(place, replace(known, link=link), secrets, kerberos=kerberos)

        self.in_background(look, looked, group="look")

    def _refused(self, target: Target, error: LoginError, *, kerberos: bool) -> None:
        if kerberos:
            self.sharebench_app.tell_error(error)
        elif not log_in_again(self, [target], str(error), lambda _: self._connect(target, kerberos=False)):
            self._ask_user(target, error)

    def _ask_user(self, target: Target, error: LoginError) -> None:
        def answered(text: str | None) -> None:
            if text:
                domain, _, user = text.strip().rpartition(";")
                self._connect(replace(target, user=user, domain=domain or target.domain), kerberos=False)

        self.app.push_screen(
            AskDialog("Which user?", f"{error}: USER or DOMAIN;USER (Esc cancels).", needed=True), answered
        )

    def _arrived(self, place: BrowsedFolder, known: GuideContext, secrets: Secrets, *, kerberos: bool) -> None:
        from app.tui.guide.browser import BrowseScreen, NotLetIn, Picked  # noqa: PLC0415  loaded when it is first needed

        def picked(found: Picked | NotLetIn | None) -> None:
            if isinstance(found, NotLetIn):
                self._refused(found.target, found.error, kerberos=kerberos)
            elif found is not None:
                self._picked(found, known, kerberos=kerberos)

        if place.is_chosen:
            self._picked(Picked(place.target, place.file), known, kerberos=kerberos)
        else:
            choices = with_target(self.choices, place.target)
            browser = BrowseScreen(place, secrets, around(choices, known))
            self.app.push_screen(browser, picked)

    def _picked(self, picked: "Picked", known: GuideContext, *, kerberos: bool) -> None:
        self.typed.clear()
        self.known = known
        self.take(with_picked(self.choices, picked.target, picked.file, kerberos=kerberos))

    def look_at_link(self) -> None:
        target, backend = self.choices.target, self.context.backend
        if target is None:
            return

        def looked(found: LinkState) -> None:
            self.known = replace(self.known, link=found)
            self.show()

        self.in_background(lambda: link_to(target, backend), looked, group="link")

    def _look_quiet(self) -> None:
        choices, backend, page = self.choices, self.context.backend, self.query_one(PageView)
        target = choices.target
        if target is None:
            return
        page.doing("checking for other load …")

        def looked(found: Quiet) -> None:
            page.doing("")
            self.known = replace(self.known, quiet=found)
            self.show()

        self.in_background(lambda: backend.quiet(target, choices.command), looked, group="look")

    # Run

    def _begin(self, *, resumed: bool) -> None:
        """Measure; ask before resuming an imported series, whose server somebody else chose."""
        series = self.known.series
        if not resumed or series is None or series.imported_at is None:
            self._measure(resumed=resumed)
            return
        user = f" as {series.target.user}" if series.target.user else ""
        question = ConfirmDialog(
            "Is this the server that you mean?",
            f"The series was imported. To resume it, sharebench logs in{user} at\n\n{format_target(series.target)}",
            yes="Log in there",
        )
        self.app.push_screen(question, lambda yes: self._measure(resumed=True, confirmed=True) if yes else None)

    def _measure(self, *, resumed: bool, confirmed: bool = False) -> None:
        from app.tui.guide.run_screen import RunScreen  # noqa: PLC0415
        from app.workflows.guide.job import MeasurementJob, request_of  # noqa: PLC0415  the recorder is loaded when it is first needed

        choices = self.choices
        assert choices.target is not None
        try:
            secrets = self.context.logins.find(choices.target, kerberos=choices.kerberos)
        except PasswordNeededError:
            log_in(self, choices.target, lambda _: self._measure(resumed=resumed, confirmed=confirmed))
            return
        measurement = MeasurementJob(
            backend=self.context.backend,
            notebook_path=self.context.notebook_path,
            title=f"Run · {choices.command} · {format_target(choices.target)}",
            target=choices.target,
            request=None if resumed else request_of(choices, secrets),
            resumed_id=choices.series_id if resumed else None,
            confirmed=confirmed,
            secrets=secrets,
            opened=self._opened,
        )
        self.app.push_screen(RunScreen(measurement), self._measured)

    def _opened(self, series_id: str) -> None:
        """There is a series: remember it at once, so that a crash does not lose it."""
        agreed = replace(self.choices, quiet=self.choices.quiet or "record", counted=True)
        self.take(replace(agreed, series_id=series_id, reviewed=False, compared=False))

    def _measured(self, series_id: str | None) -> None:
        def known(notebook: Notebook) -> GuideChoices:
            if series_id is None:
                return at(self.choices, MethodStep.RUN)
            from app.workflows.guide.after_run import after_measuring  # noqa: PLC0415  the first paint does not wait for it

            return after_measuring(self.choices, store.keep(notebook, self.choices, self.known))

        self.with_notebook(known, self.take)

    # Review

    def _judge(self, number: int, status: RunStatus) -> None:
        series_id = self.choices.series_id
        if series_id is None:
            return

        def judged(judgement: Judgement) -> None:
            self.judgements.append(judgement)
            self.take(replace(self.choices, reviewed=False))

        def mark(reason: str | None) -> None:
            self.with_notebook(lambda notebook: store.judge(notebook, series_id, number, status, reason), judged)

        if status is RunStatus.VALID:
            mark(None)
            return
        ask = AskDialog(
            f"Why is run {number} unusable?",
            "A reason that you could tell a colleague, such as: the backup started.",
            needed=True,
        )
        self.app.push_screen(ask, lambda reason: mark(reason) if reason is not None else None)

    def _name_baseline(self, name: str, series_id: str) -> None:
        def named(_: None) -> None:
            self.notify(f"Kept as baseline {name}.", markup=False)
            self.take(self.choices)

        self.with_notebook(lambda notebook: notebook.set_baseline(name, series_id), named)
