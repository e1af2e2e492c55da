"""Who uses a server, on the screen: its sessions, looked at again and again; `form_screen` asks for the server."""

import threading
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual.timer import Timer
from textual.widgets import Static

from app.base.errors import CancelledError
from app.tui.frame.commands import keys
from app.tui.widgets import views
from app.tui.widgets.report_screen import ReportScreen
from app.who import engine, spec
from forms import layout, wording
from forms.report import Report
from forms.who.report import who_answer, who_report
from storage import who as who_records
from storage.notebook import Notebook

_FIRST_SECONDS = 3.0
"""The first look is shorter, so that there is something to see soon."""
_GROUP = "measure"
"""The group of work that goes on by itself, as long as the screen is open."""


class WhoLookScreen(ReportScreen, views.ShowsMore):
    """The sessions of a server, drawn anew after each look; the next look begins when one is over.

    ReportScreen has ``read`` called in a thread, and ``show`` with what it returned; ShowsMore calls ``show_again``.
    """

    KEYS: ClassVar = keys("who.pause who.resume who.keep report.more report.less")

    def __init__(self, request: spec.WhoRequest) -> None:
        super().__init__(f"Who uses {wording.place(request.target)}", self._look_at_server)
        self.request = request
        self.who: who_records.Who | None = None
        """What is shown; None before the first look is over."""
        self.kept_id = ""
        """The id of the look that was stored last."""
        self.is_paused = False
        self._failure = ""
        """Why the last look was none; empty where it was one."""
        self._is_looking = False
        """Whether a look is under way: it is finished while the screen is paused."""
        self._next_look: Timer | None = None
        """Begins the next look; None where that begins at once, or none is to begin."""
        self._stop = threading.Event()

    def look(self) -> None:
        self._is_looking = True
        self.with_notebook(self.read, self.show, group=_GROUP)

    def _look_at_server(self, _notebook: Notebook) -> Report:
        is_first = self.who is None
        seconds = min(_FIRST_SECONDS, self.request.seconds) if is_first else self.request.seconds
        self.who = engine.look(replace(self.request, seconds=seconds), self._stop)
        return who_report(self.who)

    def on_mount(self) -> None:
        self._show_headline()

    def on_unmount(self) -> None:
        self._stop.set()

    def show(self, report: Report) -> None:
        is_first = self.report is None
        super().show(report)
        self._failure = ""
        self._show_headline()
        self._is_looking = False
        if not self.is_paused:
            self._look_again(at_once=is_first)

    def _look_again(self, *, at_once: bool) -> None:
        """Begin the next look: at once after the first one, which is short, else so late that all cost little."""
        assert self.who is not None
        wait_seconds = spec.seconds_until_next_look(self.who.look_cpu_seconds, self.who.seconds)
        if at_once or not wait_seconds:
            self.look()
        else:
            self._next_look = self.set_timer(wait_seconds, self.look)

    def _drop_next_look(self) -> None:
        if self._next_look is not None:
            self._next_look.stop()
            self._next_look = None

    def show_again(self) -> None:
        if self.report is not None:
            super().show(self.report)

    def draw_report(self, report: Report, width: int, height: int, zoomed: bool) -> str:
        return self.query_one(views.FiguresView).figures(self.of_now(report), width, height, zoomed)

    def _show_headline(self) -> None:
        parts = []
        if self.is_paused:
            reason = f": {wording.plain(self._failure)}" if self._failure else ""
            parts.append(layout.Toned(f"{layout.Sign.STOPPED} Paused{reason}.", layout.Tone.CAUTION))
        if self.who is not None and self._failure:
            parts.append(layout.Toned("The look before:"))
        if self.who is not None:
            answer = who_answer(self.who)
            parts.append(replace(answer, text=wording.plain(answer.text)))
        elif not self.is_paused:
            parts.append(layout.Toned("Looking at the sessions …"))

        headline = self.query_one("#headline", Static)
        headline.update(views.join_toned(parts, " "))
        headline.display = True

    def work_failed(self, error: Exception) -> None:
        """Stop looking; what was seen before stays."""
        self.is_paused = True
        self._is_looking = False
        if isinstance(error, CancelledError):
            self._show_headline()
            return
        # The dialog is closed; that nothing more comes has to be seen after it, too.
        self._failure = str(error)
        self._show_headline()
        self.refresh_bindings()
        super().work_failed(error)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "keep":
            return self.who is not None and self.who.id != self.kept_id
        if action == "more" and (self.report is None or self.report.brief == self.report):
            return False
        if action in ("pause", "resume"):
            return self.is_paused == (action == "resume")
        return super().check_action(action, parameters)

    def action_pause(self) -> None:
        self.is_paused = True
        self._drop_next_look()
        self._show_headline()
        self.refresh_bindings()

    def action_resume(self) -> None:
        self.is_paused = False
        self._failure = ""
        self._show_headline()
        self.refresh_bindings()
        # The look that was under way at the pause leads on to the next.
        if not self._is_looking:
            self.look()

    def action_keep(self) -> None:
        who = self.who
        assert who is not None

        def tell(_result: None) -> None:
            self.kept_id = who.id
            self.notify("The look is in the notebook.", title="Kept")
            self.refresh_bindings()

        self.with_notebook(partial(_store, who), tell)


def _store(who: who_records.Who, notebook: Notebook) -> None:
    notebook.add_recording(who_records.recording_of_who(who))
