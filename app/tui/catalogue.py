"""The catalogue, searched as one types, and one entry of it on its way into the next series."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from app.guide.choices import OWN_CHANGES
from app.guide.rounds import SET, MeasuredPlace, NextStep, measure_again, measured_place, take_change
from app.tui.frame.base import MeasureMixin
from app.tui.frame.commands import keys
from app.tui.frame.dialogs import AskDialog
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import Choices, FilterLine, Pane
from app.tui.widgets.reading import Copies, GoesOn
from app.tui.widgets.views import AnsiView
from forms import wording
from forms.layout import pad, wrap
from forms.tuning import catalogue
from forms.tuning.smb_conf import same_value
from forms.tuning.trial_rules import is_tried

_WIDE = 118
_ENTRY = 85
_NAME = 38
_EXPECTING = 60
_BESIDE = 3
"""The scrollbar of the list, and the gap after it."""


class PlacedScreen(MeasureMixin):
    """Knows the share that is measured and its server's smb.conf, as soon as the notebook was read."""

    place = MeasuredPlace()
    series_id = ""  # whose server is told of; empty for the newest

    def read_place(self) -> None:
        practice = self.context.practice
        self.with_notebook(lambda notebook: measured_place(notebook, practice, self.series_id), self._of_place)

    def _of_place(self, place: MeasuredPlace) -> None:
        self.place = replace(place, share=self.place.share or place.share)
        self.show_entry()

    def show_entry(self) -> None:
        raise NotImplementedError

    def ways(self, entry: catalogue.CatalogueEntry, advice: catalogue.Instructions) -> Iterator[NextStep]:
        series_id, own = self.series_id, entry.name in OWN_CHANGES
        if is_tried(entry):
            name = "Let sharebench change, measure and restore it"
            measured = partial(measure_again, series_id=series_id) if series_id else None
            yield NextStep(name=name, choices=measured, screen="trial", arguments={"setting": advice.setting})
        change = partial(take_change, practice=self.context.practice, name=advice.name, value=advice.value)
        way = "Measure with it: it is applied automatically" if own else "Change it by hand, then measure"
        yield NextStep(name=way, choices=partial(change, series_id=series_id))

    def is_tried(self, entry: catalogue.CatalogueEntry) -> bool:
        return is_tried(entry) or entry.name in OWN_CHANGES


class _Entries(Choices):
    KEYS = keys("catalogue.open")


class CatalogueScreen(PlacedScreen):
    KEYS = keys("catalogue.search entry.try")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide")]  # noqa: RUF012  declared so in Textual

    def __init__(self, words: str = "", series_id: str = "") -> None:
        super().__init__()
        self.sought, self.series_id = words, series_id
        self.shown: tuple[catalogue.CatalogueEntry | str, ...] = ()
        """Entries, and names of settings that were read and have none."""
        self.pointed: catalogue.CatalogueEntry | None = None
        self._drawn_for = 0

    def compose(self) -> ComposeResult:
        with Horizontal(id="catalogue"):
            with Pane("sharebench · Catalogue", id="entries-pane"):
                with Horizontal(id="search-line"):
                    yield FilterLine(self.sought, placeholder="f or / searches", id="search", compact=True)
                    yield Static(id="found")
                yield _Entries(id="entries")
            with VerticalScroll(id="entry-box", can_focus=False, classes="pane"):
                yield AnsiView(id="entry")
        yield KeyBar()

    def on_mount(self) -> None:
        self._look(self.sought)
        self.query_one("#entries").focus()
        self.read_place()

    def _of_place(self, place: MeasuredPlace) -> None:
        super()._of_place(place)
        if self.series_id and place.series:
            self.query_one("#entries-pane", Pane).set_title(f"What the server had · {wording.name_of(place.series)}")
        at = self.query_one("#entries", OptionList).highlighted
        self._look(self.query_one("#search", Input).value)
        self.query_one("#entries", OptionList).highlighted = at if self.shown else None

    def _look(self, text: str) -> None:
        others = self.place.others(text) if self.series_id or text else ()
        self.shown = (*catalogue.search(text), *others)
        if self.series_id:  # what was read is asked for: what is marked comes first
            self.shown = tuple(sorted(self.shown, key=lambda one: not self._had(one)[1]))
        found = self.query_one("#entries", OptionList)
        found.clear_options()
        self._drawn_for = self._room
        told = [self._had(one) if self.series_id else ("", "") for one in self.shown]
        lines = zip(self.shown, told, strict=True)
        found.add_options([Option(_line(one, self._drawn_for, *had)) for one, had in lines])
        if self.shown:
            found.highlighted = 0
        else:
            self.pointed = None
            self.query_one("#entry-box").border_title = "Not in the catalogue"
            said = "Neither the catalogue nor what was read of the server has it."
            self.query_one("#entry", AnsiView).show(lambda _width, _height: said)
        every = len(catalogue.entries()) + len(self.place.others("") if self.series_id else ())
        count = sum(mark == SET for _, mark in told)
        marked = f"{count} {SET}, " if count else ""
        self.query_one("#found", Static).update(f"{marked}{len(self.shown)} of {every}")

    def _had(self, one: catalogue.CatalogueEntry | str) -> tuple[str, str]:
        return (self.place.value(one), self.place.mark(one)) if isinstance(one, str) else self.place.had(one)

    @property
    def _room(self) -> int:
        return self.size.width - (_ENTRY if self.size.width >= _WIDE else 0) - _BESIDE

    def on_resize(self) -> None:
        if self.is_mounted and self._room != self._drawn_for:
            at = self.query_one("#entries", OptionList).highlighted
            self._look(self.query_one("#search", Input).value)
            self.query_one("#entries", OptionList).highlighted = at

    @on(Input.Changed, "#search")
    def _typed(self, event: Input.Changed) -> None:
        self._look(event.value)

    @on(Input.Submitted, "#search")
    def action_to_list(self) -> None:
        self.query_one("#entries").focus()

    def action_clear_filter(self) -> None:
        self.query_one("#search", Input).value = ""
        self.action_to_list()

    def action_search(self) -> None:
        self.query_one("#search").focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "try_it":
            return self.pointed is not None and self.is_tried(self.pointed)
        return super().check_action(action, parameters)

    def action_try_it(self) -> None:
        assert self.pointed is not None
        entry = self.pointed

        def chosen(value: str) -> None:
            self.take_step(next(self.ways(entry, catalogue.advise(entry, value.strip()))))

        self.ask(ValueDialog(entry, catalogue.suggested_value(entry)), chosen)

    @on(OptionList.OptionHighlighted, "#entries")
    def _point(self, event: OptionList.OptionHighlighted) -> None:
        if event.option not in event.option_list.options:
            return  # an earlier search found it
        one = self.shown[event.option_index]
        self.pointed = None if isinstance(one, str) else one
        self.refresh_bindings()
        self.show_entry()
        box = self.query_one("#entry-box")
        box.border_title = Content(one if isinstance(one, str) else one.name)
        if isinstance(one, str):
            value, mark = self._had(one)
            had = wording.plain(f"{one} = {value}{mark and f' ({mark})'}, when {self.place.when}.")
            said = f"{had} The catalogue has no entry for it."
            self.query_one("#entry", AnsiView).show(lambda width, _height: "\n".join(wrap(said, width)))
        box.scroll_home(animate=False)

    def show_entry(self) -> None:
        if (entry := self.pointed) is not None:
            place = self.place
            text = catalogue.entry_text(
                entry, share=place.share, conf=place.conf, now=place.now(entry), ansi=True
            ).split("\n", 2)[2]
            self.query_one("#entry", AnsiView).show(lambda _width, _height: text)

    @on(OptionList.OptionSelected, "#entries")
    def _open(self, event: OptionList.OptionSelected) -> None:
        one = self.shown[event.option_index] if event.option in event.option_list.options else ""
        if not isinstance(one, str):
            self.sharebench_app.visit("entry", entry=one.name, series_id=self.series_id)


def _line(one: catalogue.CatalogueEntry | str, room: int, value: str, mark: str) -> Content:
    entry = None if isinstance(one, str) else one
    had = wording.plain(" ".join(filter(None, (value, mark and f"({mark})"))))
    style = "dim" if entry and entry.is_history else "bold" if mark else ""
    rank, name = (f"{entry.rank:>3} ", entry.name) if entry else (" " * 4, str(one))
    if room < _EXPECTING:
        lines = "\n    ".join(wrap(" = ".join(filter(None, (name, had))), room - 4))
        return Content.styled(f"{rank}{lines}", style)
    said = (f"history: {catalogue.status_words(entry)}" if entry.is_history else entry.expect) if entry else ""
    told = (f"= {had}  ", "bold" if mark else "") if had else ""
    return Content.assemble(Content.styled(f"{rank}{pad(name, _NAME)} ", style), told, (wording.plain(said), "dim"))


class EntryScreen(PlacedScreen, Copies, GoesOn):
    KEYS = keys("entry.try entry.take entry.value")

    def __init__(self, entry: str, share: str | None = None, series_id: str = "") -> None:
        super().__init__()
        self.series_id = series_id
        self.entry = catalogue.find(entry)
        self.value = catalogue.suggested_value(self.entry)
        self.place = MeasuredPlace(share=share)

    def compose(self) -> ComposeResult:
        with Pane(f"sharebench · Catalogue · {self.entry.name}"):
            yield Label(id="chosen", classes="answer")
            with VerticalScroll(id="entry-box"):
                yield AnsiView(id="entry")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#entry-box").focus()
        self.show_entry()
        self.read_place()

    @property
    def advice(self) -> catalogue.Instructions:
        return catalogue.advise(self.entry, self.value, share=self.place.share, conf=self.place.conf)

    def text_to_copy(self, *, ansi: bool = False) -> str:
        entry, place = self.entry, self.place
        return catalogue.entry_text(
            entry, value=self.value, share=place.share, conf=place.conf, now=place.now(entry), ansi=ansi
        )

    def show_entry(self) -> None:
        text = self.text_to_copy(ansi=True)
        self.query_one("#chosen", Label).update(Content(self._chosen()))
        self.query_one("#entry", AnsiView).show(lambda _width, _height: text)

    def _chosen(self) -> str:
        if self.entry.status is catalogue.Status.REMOVED:
            return "Removed: there is nothing to try."
        advice = self.advice
        said = f"To try: {f'{advice.section} {advice.line}'.strip() or advice.setting}"
        return "\n".join([said, *(f"! {text}" for text in advice.warnings if text != self.entry.risk)])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        kept = self.entry.status is not catalogue.Status.REMOVED
        by_hand = kept and self.entry.name not in OWN_CHANGES
        can = {"try_it": self.is_tried(self.entry), "take": by_hand, "value": kept, "next": kept}
        return can.get(action, True) and super().check_action(action, parameters)

    def next_steps(self) -> Iterator[NextStep]:
        return self.ways(self.entry, self.advice)

    def action_try_it(self) -> None:
        self.take_step(next(self.next_steps()))

    def action_take(self) -> None:
        self.take_step([*self.next_steps()][-1])

    def action_value(self) -> None:
        def answered(value: str) -> None:
            self.value = value.strip()
            self.show_entry()

        self.ask(ValueDialog(self.entry, self.value), answered)


class ValueDialog(AskDialog):
    def __init__(self, entry: catalogue.CatalogueEntry, value: str) -> None:
        super().__init__(
            f"Value of {entry.parameter}",
            "Up and down choose a value, Enter takes it; or type another one.",
            needed=True,
        )
        self.box.placeholder = "another value: type it here"
        self.entry, self.value = entry, value
        self.values = sorted(entry.values, key=self._is_default)

    def answers(self) -> ComposeResult:
        yield OptionList(*(Option(Content(self._named(value))) for value in self.values), id="values")
        yield from super().answers()

    def _is_default(self, value: str) -> bool:
        default = self.entry.default
        return default not in {None, "default"} and same_value(self.entry.parameter, value, default or "")

    def _named(self, value: str) -> str:
        return f"{value or '(empty)'}{'  (the default)' if self._is_default(value) else ''}"

    def on_mount(self) -> None:
        if self.value in self.values:
            self.query_one(OptionList).highlighted = self.values.index(self.value)

    def on_key(self, event: events.Key) -> None:
        values, ends = self.query_one(OptionList), {"up": 0, "down": len(self.entry.values) - 1}
        if event.key in ends and self.focused is self.box:
            event.stop()  # the list would move from where it begins
            values.highlighted = ends["down" if event.key == "up" else "up"]
            values.focus()
        elif event.key in ends and values.highlighted == ends[event.key]:
            event.stop()  # the list would begin anew
            self.box.focus()

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.values[event.option_index])
