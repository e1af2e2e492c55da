"""One entry of the catalogue on the screen: what it says, for which value, and how it is tried."""

from collections.abc import Iterator

from textual import containers
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Label

from app.method import measured_place
from app.method.next_steps import NextStep
from app.method.one_change import OWN_CHANGES
from app.tui.frame import parts
from app.tui.frame.commands import keys
from app.tui.frame.key_bar import KeyBar
from app.tui.placed_screen import PlacedScreen
from app.tui.value_dialog import ValueDialog
from app.tui.widgets import reading
from app.tui.widgets.views import AnsiView
from forms.tuning import catalogue, catalogue_text, instructions


class EntryScreen(PlacedScreen, reading.Copies, reading.GoesOn):
    """The entry, with the value that is to be tried.

    PlacedScreen reads the server that is measured, and calls ``show_entry`` then; its ``ways`` are what can follow, the
    best first (a trial, if it can be tried), and last by hand.
    Copies calls ``text_to_copy``, and GoesOn ``next_steps``, when their keys are pressed.
    """

    KEYS = keys("entry.try entry.take entry.value")

    def __init__(
        self,
        entry: str,
        share: str | None = None,
        series_id: str = "",
        looked_at: str = "",
        afterwards: NextStep | None = None,
    ) -> None:
        """``looked_at`` is the URL of the share that it is opened for; empty for the one that is measured.

        ``afterwards`` is what the page that opened it has to be done once the setting is set; None for nothing.
        """
        super().__init__()
        self.looked_at = looked_at
        self.series_id = series_id
        self.afterwards = afterwards
        self.entry = catalogue.find(entry)
        self.value = instructions.suggested_value(self.entry)
        """The value to be tried: what the texts say, and the steps that follow, are of it."""
        self.place = measured_place.MeasuredPlace(share=share)

    def compose(self) -> ComposeResult:
        with parts.Pane(f"sharebench · Catalogue · {self.entry.name}"):
            yield Label(id="chosen", classes="answer")
            with containers.VerticalScroll(id="entry-box"):
                yield AnsiView(id="entry")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#entry-box").focus()
        self.show_entry()
        self.read_place()

    @property
    def advice(self) -> instructions.Instructions:
        """How the value is set by hand, with the section and the line to write."""
        place = self.place
        return instructions.advise(
            self.entry,
            self.value,
            share=place.share,
            sections=self._sections,
            conf=place.conf,
            read=place.settings_needed_by(self.entry),
        )

    @property
    def _sections(self) -> tuple[str, ...]:
        return self.place.sections_to_change(self.entry, self.value)

    @property
    def _is_removed(self) -> bool:
        return self.entry.status is catalogue.Status.REMOVED

    def text_to_copy(self, *, ansi: bool = False) -> str:
        entry = self.entry
        place = self.place
        return catalogue_text.entry_text(
            entry,
            value=self.value,
            share=place.share,
            sections=self._sections,
            conf=place.conf,
            now=place.value_in_words(entry),
            read=place.settings_needed_by(entry),
            ansi=ansi,
        )

    def show_entry(self) -> None:
        self.query_one("#chosen", Label).update(Content(self._describe_choice()))
        self.query_one("#entry", AnsiView).show_text(self.text_to_copy(ansi=True))

    def _describe_choice(self) -> str:
        if self._is_removed:
            return "Removed: there is nothing to try."

        advice = self.advice
        setting = f"{advice.section} {advice.line}".strip() or advice.setting
        # The risk stands below, among what is told of the entry.
        *warnings, _risk = advice.warnings
        condition = [advice.condition] if advice.condition else []
        return "\n".join([f"To try: {setting}", *condition, *(f"! {text}" for text in warnings)])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "try_it" and not self.can_be_tried(self.entry):
            return False
        if action in {"take", "value", "next"} and self._is_removed:
            return False
        # What sharebench's own client does needs no hand.
        if action == "take" and self.entry.name in OWN_CHANGES:
            return False
        return super().check_action(action, parameters)

    def next_steps(self) -> Iterator[NextStep]:
        if self.afterwards is not None:
            yield self.afterwards
        yield from self.ways(self.entry, self.advice)

    def action_try_it(self) -> None:
        best_way, *_ = self.ways(self.entry, self.advice)
        self.take_step(best_way)

    def action_take(self) -> None:
        *_, way_by_hand = self.next_steps()
        self.take_step(way_by_hand)

    def action_value(self) -> None:
        self.ask(ValueDialog(self.entry, self.value), self._take_value)

    def _take_value(self, value: str) -> None:
        self.value = value.strip()
        self.show_entry()
