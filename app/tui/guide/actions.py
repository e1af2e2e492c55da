"""What happens when something is chosen in the guide: questions, logins, looking around, measuring, marking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.clients.base import Secrets
from app.errors import LoginError, UsageError
from app.targets import format_target
from app.tui.frame.dialogs import AskDialog, MessageDialog
from app.tui.guide.page_view import PageView
from app.tui.guide.pages.page import (
    Act,
    Ask,
    BeginRound,
    Browse,
    Connect,
    Go,
    Judge,
    LookQuiet,
    NameBaseline,
    ReadCredentials,
    Resume,
    Start,
    Visit,
)
from app.tui.guide.state import guide_store
from app.tui.guide.state.backend import PasswordNeededError
from app.tui.guide.state.browsing import BrowsedFolder
from app.tui.guide.state.choices import GuideChoices, MethodStep, at, with_file, with_target
from app.tui.guide.state.guide_context import LinkState, around
from app.tui.guide.state.guide_store import Judgement
from app.tui.guide.state.method import next_step
from forms import wording
from storage.notebook import Notebook
from storage.quiet import Quiet
from storage.records import RunStatus, Target

if TYPE_CHECKING:
    from app.tui.guide.browser import Picked
    from app.tui.guide.screen import GuideScreen


class GuideActions:
    """The hands of the guide's screen."""

    def __init__(self, screen: GuideScreen) -> None:
        self.screen = screen

    def do(self, act: Act) -> None:
        """Do it; words that are wrong are told and can be put right."""
        screen = self.screen
        match act:
            case Go(choices):
                screen.take(choices)
            case Ask():
                self._ask(act, act.value)
            case Connect(target, kerberos):
                self._connect(target, kerberos=kerberos)
            case ReadCredentials(target, path):
                self._connect(screen.context.logins.from_file(target, Path(path).expanduser()), kerberos=False)
            case Browse() if screen.choices.target is not None:
                self._connect(screen.choices.target, kerberos=screen.choices.kerberos)
            case Start() | Resume():
                self._measure(resumed=isinstance(act, Resume))
            case Judge(number, status):
                self._judge(number, status)
            case LookQuiet():
                self._look_quiet()
            case NameBaseline(name) if screen.choices.series_id is not None:
                self._name(name, screen.choices.series_id)
            case BeginRound(choices):
                screen.with_notebook(
                    lambda notebook: guide_store.begin_round(notebook, choices), lambda _: screen.take(choices)
                )
            case Visit(room, arguments):
                screen.bench.visit(room, **arguments)
            case _:
                pass

    def _try(self, attempt: Callable[[], Act], again: Callable[[], None]) -> None:
        """Do what the attempt gives; where the words were wrong, tell it and ask again."""
        try:
            self.do(attempt())
        except UsageError as error:
            self.screen.app.push_screen(MessageDialog("Not understood", str(error)), lambda _: again())

    def _ask(self, ask: Ask, value: str) -> None:
        def answered(text: str | None) -> None:
            if text is not None:
                self._try(lambda: ask.then(text), lambda: self._ask(ask, text))

        self.screen.app.push_screen(AskDialog(ask.heading, ask.text, value=value), answered)

    # Target

    def _connect(self, target: Target, *, kerberos: bool) -> None:
        """Find the secrets, or ask for them, then look around."""
        try:
            secrets = self.screen.context.logins.find(target, kerberos=kerberos)
        except PasswordNeededError:
            self._ask_password(target, f"Password of {target.user} on {target.host}; Escape gives up.",
                               lambda: self._connect(target, kerberos=False))  # fmt: skip
            return
        self._look(target, secrets, kerberos=kerberos)

    def _ask_password(self, target: Target, text: str, then: Callable[[], None]) -> None:
        def answered(password: str | None) -> None:
            if password is not None:
                self.screen.context.logins.keep(target, Secrets(password=password))
                then()

        self.screen.app.push_screen(AskDialog("Log in", text, password=True), answered)

    def _look(self, target: Target, secrets: Secrets, *, kerberos: bool) -> None:
        screen = self.screen
        world, surroundings = screen.context.world, around(screen.choices, screen.known)
        page = screen.query_one(PageView)
        page.doing(f"connecting to {wording.plain(format_target(target))} …")

        def look() -> BrowsedFolder | LoginError:
            try:
                return world.look(target, secrets, surroundings)
            except LoginError as error:
                return error

        def looked(found: BrowsedFolder | LoginError) -> None:
            page.doing("")
            if isinstance(found, LoginError):
                self._refused(target, found, kerberos=kerberos)
            else:
                self._arrived(found, secrets, kerberos=kerberos)

        screen.in_background(look, looked, group="look")

    def _refused(self, target: Target, error: LoginError, *, kerberos: bool) -> None:
        """A login was refused: ask for the password again where one was given."""
        logins = self.screen.context.logins
        logins.forget(target)
        if kerberos or not target.user:
            self.screen.bench.tell_error(error)
            return
        self._ask_password(target, f"{error} Type the password again, or Escape.",
                           lambda: self._connect(target, kerberos=False))  # fmt: skip

    def _arrived(self, place: BrowsedFolder, secrets: Secrets, *, kerberos: bool) -> None:
        """Connected: browse, unless the target named its file or has none."""
        from app.tui.guide.browser import BrowseScreen, Picked  # noqa: PLC0415  loaded when it is first needed

        if place.file is not None:
            self._picked(Picked(place.target, place.file), kerberos=kerberos)
        elif not place.target.abilities.moves_files:
            self._picked(Picked(place.target, None), kerberos=kerberos)
        else:
            browser = BrowseScreen(place, secrets, around(self.screen.choices, self.screen.known))
            self.screen.app.push_screen(browser, lambda picked: self._picked(picked, kerberos=kerberos))

    def _picked(self, picked: Picked | None, *, kerberos: bool) -> None:
        screen = self.screen
        if picked is None:
            return
        choices = with_target(screen.choices, picked.target, kerberos=kerberos)
        if picked.file is not None:
            choices = with_file(choices, picked.target.path, picked.file.path, picked.file.size_bytes)
        else:
            choices = replace(choices, file=None, file_bytes=None)
        screen.take(at(choices, MethodStep.FILE))
        self.look_at_link()

    def look_at_link(self) -> None:
        """Find out the link's rate and the server's memory, for the advice."""
        screen = self.screen
        target, world = screen.choices.target, screen.context.world
        if target is None:
            return

        def look() -> LinkState:
            rate, why = world.link(target)
            return LinkState(bits_per_second=rate, why=why, memory_bytes=world.memory_bytes(target))

        def looked(found: LinkState) -> None:
            screen.known = replace(screen.known, link=found)
            screen.show()

        screen.in_background(look, looked, group="link")

    def _look_quiet(self) -> None:
        screen = self.screen
        choices, world, page = screen.choices, screen.context.world, screen.query_one(PageView)
        target = choices.target
        if target is None:
            return
        page.doing("looking who else is at work …")

        def looked(found: Quiet) -> None:
            page.doing("")
            screen.known = replace(screen.known, quiet=found)
            screen.show()

        screen.in_background(lambda: world.quiet(target, choices.command), looked, group="look")

    # Run

    def _measure(self, *, resumed: bool) -> None:
        from app.tui.guide.run_screen import RunScreen  # noqa: PLC0415
        from app.tui.guide.state.job import MeasurementJob  # noqa: PLC0415
        from app.tui.guide.state.orders import order_of  # noqa: PLC0415  the recorder is loaded when it is first needed

        screen = self.screen
        choices = screen.choices
        assert choices.target is not None
        try:
            secrets = screen.context.logins.find(choices.target, kerberos=choices.kerberos)
        except PasswordNeededError:
            text = f"Password of {choices.target.user} on {choices.target.host}; Escape gives up."
            self._ask_password(choices.target, text, lambda: self._measure(resumed=resumed))
            return
        measurement = MeasurementJob(
            world=screen.context.world,
            notebook_path=screen.context.notebook_path,
            title=f"Run · {choices.command} · {format_target(choices.target)}",
            order=None if resumed else order_of(choices, secrets),
            resumed_id=choices.series_id if resumed else None,
            secrets=secrets,
            opened=self._opened,
        )
        screen.app.push_screen(RunScreen(measurement), self._measured)

    def _opened(self, series_id: str) -> None:
        """There is a series: remember it at once, so that a crash does not lose it."""
        agreed = replace(self.screen.choices, quiet=self.screen.choices.quiet or "record", counted=True)
        self.screen.take(replace(agreed, series_id=series_id, reviewed=False, compared=False))

    def _measured(self, series_id: str | None) -> None:
        screen = self.screen

        def known(notebook: Notebook) -> GuideChoices:
            found = guide_store.keep(notebook, screen.choices, screen.known)
            step = next_step(screen.choices, found, MethodStep.WARM_UP)
            return at(screen.choices, step if series_id is not None else MethodStep.RUN)

        screen.with_notebook(known, screen.take)

    # Review

    def _judge(self, number: int, status: RunStatus) -> None:
        screen = self.screen
        series_id = screen.choices.series_id
        if series_id is None:
            return

        def judged(judgement: Judgement) -> None:
            screen.judgements.append(judgement)
            screen.take(replace(screen.choices, reviewed=False))

        def mark(reason: str | None) -> None:
            screen.with_notebook(
                lambda notebook: guide_store.judge(notebook, series_id, number, status, reason), judged
            )

        if status is RunStatus.VALID:
            mark(None)
            return
        ask = AskDialog(
            f"Why is run {number} unusable?",
            "A reason that you could tell a colleague, such as: the backup started.",
            needed=True,
        )
        screen.app.push_screen(ask, lambda reason: mark(reason) if reason is not None else None)

    def _name(self, name: str, series_id: str) -> None:
        screen = self.screen

        def named(_: None) -> None:
            screen.notify(f"Kept as baseline {name}.", markup=False)
            screen.take(screen.choices)

        screen.with_notebook(lambda notebook: notebook.set_baseline(name, series_id), named)
