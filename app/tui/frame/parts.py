"""Parts of every screen: the keys that work now, titled panes, and inputs in which no text steers the terminal."""

from collections.abc import Iterator
from typing import ClassVar

from textual import events
from textual.binding import ActiveBinding, Binding
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Input, OptionList

from app.tui.frame.commands import Commanded, keys
from forms.layout import control_pictures, visible

_KEY_META = "pressed-key"
_WAYS = ("back", "cancel", "close", "clear_marks", "clear_filter", "app.command_palette", "app.help", "app.quit")


class KeyBar(Widget, can_focus=False):
    """The keys and what they do; a click presses one. Textual's footer takes 60 ms a change, while runs are timed."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-bar--key", "key-bar--name"}
    foremost: tuple[str, ...] = ()
    """Actions whose keys go before all others: those that what is marked is there for."""
    alone = False
    """Whether the others are not shown, but for the ways out."""

    def put_first(self, *actions: str, alone: bool = False) -> None:
        if (actions, alone) != (self.foremost, self.alone):
            self.foremost, self.alone = actions, alone
            self.refresh()

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._keys_changed)

    def _keys_changed(self, screen: Screen[object]) -> None:
        if self.is_attached and screen is self.screen:
            self.refresh()

    def render(self) -> Content:
        shown = {active.binding.action: self._written(active) for active in self._shown()}
        ways = [shown.pop(action) for action in _WAYS if action in shown]
        while len(ways) > 1 and sum(way.cell_length for way in ways) > self.size.width:
            ways.pop(0)
        waiting = [written for action, written in shown.items() if not self.alone or action in self.foremost]
        rows = []
        for right in [*[[]] * (self.size.height - 1), ways]:
            cells, left = self.size.width - sum(way.cell_length for way in right), []
            while waiting and waiting[0].cell_length <= cells:
                left.append(waiting.pop(0))
                cells -= left[-1].cell_length
            rows.append(Content("").join([*left, Content(" " * cells), *right]))
        return Content("\n").join(rows)

    def _shown(self) -> Iterator[ActiveBinding]:
        seen: set[str] = set()
        place = {action: number for number, action in reversed([*enumerate(self.foremost)])}
        found, above = [*self.screen.active_bindings.values()], self.app.screen
        if above.is_modal:  # the keys that work are its own, and the app's that have priority
            found = [one for one in found if one.binding.priority and one.binding.action.startswith("app.")]
            found += above.active_bindings.values()
        if (enter_now := getattr(above, "enter_now", None)) and (does := enter_now()):
            found.insert(0, ActiveBinding(above, Binding("enter", "enter", does), enabled=True, tooltip=""))
        for active in sorted(
            found, key=lambda each: (place.get(each.binding.action, len(self.foremost)), not each.binding.show)
        ):
            names = {active.binding.action, active.binding.description}
            if (active.binding.show or active.binding.action in self.foremost) and not names & seen:
                seen |= names
                yield active

    def _written(self, active: ActiveBinding) -> Content:
        binding = active.binding
        pressed = Style.from_meta({_KEY_META: binding.key})
        key, name = (self.get_visual_style(f"key-bar--{part}") + pressed for part in ("key", "name"))
        if not active.enabled:
            key, name = key + Style(dim=True), name + Style(dim=True)
        return Content.assemble((f" {self.app.get_key_display(binding)} ", key), (f"{binding.description} ", name))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        key = event.style.meta.get(_KEY_META)
        if key:
            self.app.simulate_key(key)


class Pane(Vertical):
    """Widgets one below the other under a title; what the title names steers no terminal."""

    def __init__(self, title: str = "", *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id, classes="pane")
        self.set_title(title)

    def set_title(self, title: str) -> None:
        self.border_title = Content(visible(title))


class Choices(OptionList, Commanded):
    KEYS: ClassVar = keys("lines.up lines.down lines.choose")


class LineInput(Input):
    cursor_blink = reactive(default=False, init=False)

    def validate_value(self, value: str) -> str:
        return visible(value)


class FilterLine(LineInput, Commanded):
    KEYS: ClassVar = keys("filter.list filter.down filter.clear")


def text_behind_drawing(before: str, shown: str) -> str:
    """What an input is to be taken for: the text before, where nothing but its drawing differs."""
    return before if shown in {visible(before), control_pictures(before)} else shown
