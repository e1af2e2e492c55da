"""The base of the guide's screen: it drives the steps of a session, and meets what they need.

See ``app.guide.needs`` for the protocol. A need is met at once or later, when a thread, a dialog or another screen has
an answer; ``drive`` is then called again, with that answer or with the error that came in its place. At the end of the
steps ``show`` draws the page anew.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from textual import events

from app.clients.browsing import BrowsedFolder
from app.guide import needs, page_view
from app.guide.browse_screen import BrowseScreen
from app.guide.page import Page, Visit
from app.guide.session import GuideSession
from app.method.listed_shares import keep_listed_shares
from app.tui.frame import dialogs
from app.tui.frame.base import BaseScreen
from app.tui.widgets import completion
from app.tui.widgets.logins import ask_password


class DrivenScreen(BaseScreen):
    """Has a PageView among its widgets; the subclass makes the ``session``, and writes ``show``.

    The subclass starts steps with ``drive(steps)``. All is done in the screen's thread but the jobs of ``needs.Work``.
    """

    session: GuideSession
    _browser: tuple[needs.Steps, BrowseScreen] | None = None
    """The screen on which somebody looks around on a server, with the steps that wait for its answer."""
    _measuring_steps: needs.Steps | None = None
    """The steps that wait for a measurement or read its result: until they end, no page of the round is true."""

    def show(self) -> None:
        """Show the page of the session's choices: a hook of the screen."""
        raise NotImplementedError

    @property
    def is_result_awaited(self) -> bool:
        """Whether a measurement is under way or its result is read, so that no page is to be shown."""
        return self._measuring_steps is not None

    def drive(self, steps: needs.Steps, answer: Any = None, error: Exception | None = None) -> None:
        """Drive the steps to what they need next, by the answer to their last need, or its error.

        Steps that are begun have had no need, and take None. Their end (StopIteration) shows the page anew; an error
        that they do not catch is told in the dialog.
        """
        try:
            need = steps.throw(error) if error else steps.send(answer)
        except StopIteration:
            self._tidy_up_after(steps)
            if not self.is_result_awaited:
                self.show()
        except Exception as failure:  # noqa: BLE001  whatever goes wrong is told in the dialog, never lost
            was_measuring = steps is self._measuring_steps
            self._tidy_up_after(steps)
            if was_measuring:
                self.show()
            self.work_failed(failure)
        else:
            self._meet_need(steps, need)

    def _tidy_up_after(self, steps: needs.Steps) -> None:
        """Close what these steps opened, now that they have come to their end."""
        self._leave_browser(steps)
        if steps is self._measuring_steps:
            self._measuring_steps = None

    def _meet_need(self, steps: needs.Steps, need: Any) -> None:
        """Have the need answered, now or later; the answer drives the steps on, a refusal closes them."""
        answer = partial(self.drive, steps)

        def answer_or_close(result: Any) -> None:
            """For dialogs: None or False where they were closed or declined."""
            if result is None or result is False:
                steps.close()
            else:
                answer(result)

        # While somebody looks around on a server, these needs leave the browser open.
        if not isinstance(need, needs.Work | needs.Tell | BrowsedFolder):
            self._leave_browser(steps)
        match need:
            case needs.Work(job=job, doing=doing, group=group):
                self._work(steps, job, doing, group)
            case needs.Words():
                self._ask_words(need, answer_or_close)
            case needs.Password(target, why):
                ask_password(self, target, answer, why=why)
            case BrowsedFolder():
                self._pick(steps, need, answer_or_close)
            case needs.Tell(text=text, heading=heading, yes=yes) if heading:
                # With ``yes`` it is a question; without, a dialog that is read and closed.
                dialog = dialogs.ConfirmDialog(heading, text, yes=yes) if yes else dialogs.MessageDialog(heading, text)
                self.app.push_screen(dialog, answer_or_close if yes else answer)
            case needs.Tell(text=text):
                self.notify(text, markup=False, timeout=4)
                answer()
            case needs.MeasurementJob() | needs.ComparisonJob():
                self._measure(steps, need)
            case Visit(name, arguments):
                # The other screen leads back by itself: nothing waits for an answer.
                steps.close()
                self.sharebench_app.visit(name, **arguments)

    def _work(self, steps: needs.Steps, job: Callable[[], Any], doing: str, group: str) -> None:
        """Do the job in a thread. Without a group it is always answered; with one, newer work of it silences this.

        Its error is an answer too (`_outcome`), since it is the steps that say what becomes of it.
        """

        def answer(outcome: tuple[Any, Exception | None]) -> None:
            if doing:
                self.query_one(page_view.PageView).doing("")
            result, error = outcome
            self.drive(steps, result, error)

        if doing:
            self.query_one(page_view.PageView).doing(f"{doing} …")
        self.in_background(partial(_outcome, job), answer, group=group or "notebook", exclusive=bool(group))

    def _ask_words(self, words: needs.Words, answer: Callable[[Any], None]) -> None:
        dialog = dialogs.AskDialog(
            words.heading,
            words.text,
            value=words.wrong or words.value,
            needed=words.needed,
            problem=words.problem,
        )
        if words.is_target:
            known = self.session.known
            names = [name for name, _ in known.servers]
            listed = [*self.context.listed_shares, *known.listed_shares]
            places = completion.known_places(names, [*known.practice, *known.recent, *listed])
            dialog.box.suggester = completion.TargetSuggester(places)
        # What was wrong is to be mended, not typed anew.
        dialog.box.select_on_focus = not words.wrong
        self.app.push_screen(dialog, answer)

    def _measure(self, steps: needs.Steps, job: needs.MeasurementJob | needs.ComparisonJob) -> None:
        def answer(result: Any) -> None:
            if isinstance(result, needs.MeasurementJob | needs.ComparisonJob):
                # The same with another password.
                self._meet_need(steps, result)
            else:
                self.drive(steps, result)

        self._measuring_steps = steps
        self.query_one(page_view.PageView).show(Page(title="Run", why="Reading what was measured …"))
        self.app.push_screen(self._screen_of(job), answer)

    def _screen_of(self, job: needs.MeasurementJob | needs.ComparisonJob) -> BaseScreen:
        """The screen that measures; the session remembers each series as soon as it is stored."""
        from app.guide.pair_screen import PairScreen
        from app.guide.run_screen import RunScreen

        if isinstance(job, needs.ComparisonJob):

            def remember_side(place: int, series_id: str) -> None:
                self.drive(self.session.remember_side(place, series_id))

            return PairScreen(replace(job, opened=remember_side))

        def remember_series(series_id: str) -> None:
            self.drive(self.session.remember_series(series_id))

        return RunScreen(replace(job, opened=remember_series))

    def _pick(self, steps: needs.Steps, place: BrowsedFolder, answer: Callable[[Any], None]) -> None:
        """Show a folder to pick from, on one browser for as long as its steps walk from folder to folder.

        A share or folder that is entered there drives the steps on, and they come here again with its place. ``leave``
        takes the answer of the browser when it is closed: a file, or None.
        """

        def leave(item: Any) -> None:
            self._browser = None
            answer(item)

        for share in place.shares:
            self.context.listed_shares.setdefault(share)
        if place.shares:
            self.with_notebook(partial(keep_listed_shares, listed=tuple(place.shares)), group="shares")

        if self._browser is not None:
            _, browser = self._browser
            browser.show(place)
            return
        browser = BrowseScreen(place, partial(self.drive, steps))
        self._browser = steps, browser
        self.app.push_screen(browser, leave)

    def _leave_browser(self, steps: needs.Steps) -> None:
        if self._browser is not None and self._browser[0] is steps:
            self._browser = None
            self.app.pop_screen()

    def type_on(self, event: events.Event, text: str) -> None:
        """Add what is typed or pasted to the line of the question that is asked now, if there is one."""
        if isinstance(dialog := self.app.screen, dialogs.AskDialog):
            event.stop()
            dialog.type_on(text)

    def ask_for_run(self) -> None:
        """Have one of the page's runs chosen, and left out or taken back in."""
        view = self.query_one(page_view.PageView)
        rows = [(option, f"{option.title}  {option.hint}") for option in view.runs]
        about = "Enter leaves the run out of the average, or takes it back in; Escape leaves all as it is."
        self.ask(dialogs.PickDialog("Which run?", rows, about=about), view.choose_run)

    def work_failed(self, error: Exception) -> None:
        self.query_one(page_view.PageView).doing("")
        super().work_failed(error)


def _outcome(job: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """The job's result, or the error that it raised."""
    try:
        return job(), None
    except Exception as error:  # noqa: BLE001  the session says what becomes of it
        return None, error
