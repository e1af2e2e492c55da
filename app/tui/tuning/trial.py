"""A trial on the screen: what would be written is shown first, and only with consent sharebench changes it itself."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from app.errors import UsageError
from app.measure.control import SeriesControl
from app.recorder.recording import RecorderEvent
from app.tui.frame.commands import KeyCommand
from app.tui.frame.key_bar import KeyBar
from app.tui.widgets.ansi_view import AnsiView
from app.tui.widgets.recording_screen import RecordingScreen
from app.workflows.guide.state.guide_store import recall
from app.workflows.guide.state.job import request_of
from forms.layout import hanging, visible
from forms.numbers import signed_percent

if TYPE_CHECKING:
    from app.workflows.trial_order import TrialOrder
    from forms.trials.judged import ChangeSummary
    from storage.notebook import Notebook

REDRAW_SECONDS = 1.0


class TrialScreen(RecordingScreen):
    """Changes a setting, measures in turns with the one that was there, and puts it back."""

    ABOUT = (
        "sharebench changes the setting itself, measures with and without it in turns (A B B A), and puts it back. What"
        " it would write is shown first; y goes on. Whatever happens, `sharebench restore` puts back what was left."
    )
    KEYS: ClassVar = (
        KeyCommand("trial.back", "escape", "Back", "Leave; a trial under way is asked about first.", footer="Back"),
        KeyCommand("trial.consent", "y", "Yes, go on", "Consent to what is shown, and begin.", footer="Yes, go on"),
        KeyCommand("trial.stop", "s", "Stop", "Stop at once; everything is put back.", footer="Stop"),
    )
    STOP_HEADING = "Stop the trial?"
    STOP_TEXT = "Everything is put back, and the pairs that are complete are kept."
    GO_ON = "Go on"
    QUIT_TEXT = "A trial is under way. It is stopped, and everything is put back."
    DEFAULT_CSS = """
    TrialScreen #now { height: 1; padding: 0 1; text-style: bold; }
    TrialScreen #text-box { height: 1fr; }
    """

    def __init__(self, setting: str) -> None:
        """``setting`` is NAME = VALUE."""
        super().__init__(SeriesControl())
        self.setting = setting
        self.order: TrialOrder | None = None
        self.summary: ChangeSummary | None = None
        self._begun = False
        self._now = "looking at the server"
        self._lines: list[str] = []

    @property
    def is_over(self) -> bool:
        """Whether there is nothing to be stopped and put back."""
        return not self._begun or not self._recording

    def compose(self) -> ComposeResult:
        yield Static(id="now")
        with VerticalScroll(id="text-box", classes="pane") as box:
            box.border_title = Content(f"sharebench · Trial · {visible(self.setting)}")
            yield AnsiView(id="text")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#text-box").focus()
        self._show()
        self.with_notebook(self._prepared, self._ask)

    def _prepared(self, notebook: "Notebook") -> "TrialOrder":
        """The trial of what the guide measures, checked; nothing is written. Raises SharebenchError."""
        choices, _ = recall(notebook, self.context.practice)
        if choices.target is None:
            raise UsageError("choose a target and a file first, in the guide (F3)")
        request = request_of(choices, self.context.logins.find(choices.target, kerberos=choices.kerberos))
        return self.context.backend.order_trial(request, self.setting)

    def _ask(self, order: "TrialOrder") -> None:
        from app.workflows.consent import consent_lines  # noqa: PLC0415  loaded when it is first needed

        self.order = order
        self._now = "Nothing is written yet: y goes on, Escape leaves."
        self._lines = list(consent_lines(order))
        self.refresh_bindings()
        self._show()

    def action_consent(self) -> None:
        self._begun = True
        self._now = "writing down how it is put back"
        self.refresh_bindings()
        self.listen(self._events, every_seconds=REDRAW_SECONDS)

    def _events(self) -> Iterator[tuple[int, RecorderEvent]]:
        from app.workflows.trial_order import Judged, PutBack, ValueSet  # noqa: PLC0415

        assert self.order
        for event in self.context.backend.carry_out(self.order, self.context.notebook_path, self.control):
            match event:
                case ValueSet(value=value, block=block):
                    self._now = f"pair {block}: {self.order.settings[0].name} {'as it is' if value is None else value}"
                case Judged(summary=summary):
                    self.summary = summary
                case PutBack(text=text):
                    self._now = text
                case _:
                    yield 0, cast("RecorderEvent", event)

    def tick(self) -> None:
        """Draw where it stands."""
        self.catch_up()
        self._show()

    def ended(self, error: Exception | None) -> None:
        """Show the verdict, or what went wrong and what stands on the server."""
        self.refresh_bindings()
        self._show()
        if error is not None:
            self.sharebench_app.tell_error(error)

    def _show(self) -> None:
        self.query_one("#now", Static).update(Content(visible(self._standing())))
        self.query_one("#text", AnsiView).show(partial(self._text))  # a new one each time: it is drawn again

    def _standing(self) -> str:
        effect = getattr(self.summary, "effect", None)
        so_far = f"  {signed_percent(effect.change_percent)} so far" if effect and not self.is_over else ""
        return f"{self._now}{so_far}"

    def _text(self, width: int, _height: int) -> str:
        from forms.exporters.text import report_text  # noqa: PLC0415  loaded when it is first needed
        from forms.trials.judged import report_of  # noqa: PLC0415

        if self.summary is not None:
            return report_text(report_of(self.summary), width=width, ansi=True)
        return "\n".join(line for text in self._lines for line in hanging(visible(text), width))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "consent":
            return self.order is not None and not self._begun
        if action == "stop":
            return not self.is_over
        return super().check_action(action, parameters)
