"""The dialog that asks for the value of a setting to try."""

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from app.tui.frame.dialogs import AskDialog
from forms.tuning import catalogue
from forms.tuning.smb_conf import same_value


class ValueDialog(AskDialog):
    """Asks for a value of a setting: one from the list, or another that is typed."""

    def __init__(self, entry: catalogue.CatalogueEntry, value: str) -> None:
        super().__init__(
            f"Value of {entry.parameter}",
            "Up and down choose a value, Enter takes it; or type another one.",
            needed=True,
        )
        self.box.placeholder = "another value: type it here"
        self.entry = entry
        self.value = value
        self.values = sorted(entry.values, key=self._is_default)

    def answers(self) -> ComposeResult:
        yield OptionList(*(Option(Content(self._describe_value(value))) for value in self.values), id="values")
        yield from super().answers()

    def _is_default(self, value: str) -> bool:
        default = self.entry.default
        return default not in {None, "default"} and same_value(self.entry.parameter, value, default or "")

    def _describe_value(self, value: str) -> str:
        text = value or "(empty)"
        return f"{text}  (the default)" if self._is_default(value) else text

    def on_mount(self) -> None:
        if self.value in self.values:
            self.query_one(OptionList).highlighted = self.values.index(self.value)

    def on_key(self, event: events.Key) -> None:
        values = self.query_one(OptionList)
        first_row = 0
        last_row = len(self.values) - 1

        is_in_box = self.focused is self.box
        leaves_list_upwards = event.key == "up" and values.highlighted == first_row
        leaves_list_downwards = event.key == "down" and values.highlighted == last_row
        if is_in_box and event.key in {"up", "down"}:
            event.stop()  # the list would move from where it begins
            values.highlighted = last_row if event.key == "up" else first_row
            values.focus()
        elif leaves_list_upwards or leaves_list_downwards:
            event.stop()  # the list would begin anew
            self.box.focus()

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.values[event.option_index])
