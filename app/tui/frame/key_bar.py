"""The footer: the keys that work now."""

from collections.abc import Iterator
from typing import ClassVar

from textual import events
from textual.binding import ActiveBinding, Binding
from textual.content import Content
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget

_KEY_META = "pressed-key"
"""Under which a drawn key keeps which key a click on it presses."""
_WAYS_OUT = ("back", "cancel", "close", "clear_marks", "clear_filter", "app.command_palette", "app.help", "app.quit")
"""Actions whose keys stand at the right end, and are the last to be left out."""


class KeyBar(Widget, can_focus=False):
    """The keys and what they do; a click presses one. Textual's footer takes 60 ms a change, while runs are timed."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-bar--key", "key-bar--name"}
    foremost: tuple[str, ...] = ()
    """Actions whose keys go before all others, such as those that act on what is marked."""
    hides_others = False
    """Whether the others are not shown, but for the ways out."""

    def put_first(self, *actions: str, hides_others: bool = False) -> None:
        """Show the keys of these actions before all others; the screen calls it when others become important."""
        if (actions, hides_others) != (self.foremost, self.hides_others):
            self.foremost = actions
            self.hides_others = hides_others
            self.refresh()

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._keys_changed)

    def _keys_changed(self, screen: Screen[object]) -> None:
        if self.is_attached and screen is self.screen:
            self.refresh()

    def render(self) -> Content:
        cells_by_action = {active.binding.action: self._draw_key(active) for active in self._shown_bindings()}
        ways_out = [cells_by_action.pop(action) for action in _WAYS_OUT if action in cells_by_action]
        while len(ways_out) > 1 and _width(ways_out) > self.size.width:
            ways_out.pop(0)

        waiting = [cell for action, cell in cells_by_action.items() if not self.hides_others or action in self.foremost]
        rows = [self._fill_row(waiting, []) for _ in range(self.size.height - 1)]
        rows.append(self._fill_row(waiting, ways_out))
        return Content("\n").join(rows)

    def _fill_row(self, waiting: list[Content], ways_out: list[Content]) -> Content:
        """One row, with the ways out at its right end; takes what has room in it from those that are waiting."""
        room = self.size.width - _width(ways_out)
        row_cells: list[Content] = []
        while waiting and waiting[0].cell_length <= room:
            cell = waiting.pop(0)
            row_cells.append(cell)
            room -= cell.cell_length
        return Content("").join([*row_cells, Content(" " * room), *ways_out])

    def _shown_bindings(self) -> Iterator[ActiveBinding]:
        """One for each thing that can be done, the foremost first."""
        shown_names: set[str] = set()
        for active in sorted(self._working_bindings(), key=self._rank):
            binding = active.binding
            names = {binding.action, binding.description}
            is_wanted = binding.show or binding.action in self.foremost
            if is_wanted and not names & shown_names:
                shown_names |= names
                yield active

    def _working_bindings(self) -> list[ActiveBinding]:
        bindings = [*self.screen.active_bindings.values()]

        top_screen = self.app.screen
        if top_screen.is_modal:  # the keys that work are its own, and the app's that have priority
            bindings = [
                active for active in bindings if active.binding.priority and active.binding.action.startswith("app.")
            ]
            bindings += top_screen.active_bindings.values()

        enter_now = getattr(top_screen, "enter_now", None)
        effect_of_enter = enter_now() if enter_now else ""
        if effect_of_enter:
            # What the focused part calls its Enter says less.
            bindings = [active for active in bindings if active.binding.key != "enter"]
            enter = Binding("enter", "enter", effect_of_enter)
            bindings.insert(0, ActiveBinding(top_screen, enter, enabled=True, tooltip=""))
        return bindings

    def _rank(self, active: ActiveBinding) -> tuple[int, bool]:
        action = active.binding.action
        place = self.foremost.index(action) if action in self.foremost else len(self.foremost)
        return place, not active.binding.show

    def _draw_key(self, active: ActiveBinding) -> Content:
        binding = active.binding
        presses_key = Style.from_meta({_KEY_META: binding.key})
        key_style = self.get_visual_style("key-bar--key") + presses_key
        name_style = self.get_visual_style("key-bar--name") + presses_key
        if not active.enabled:
            key_style += Style(dim=True)
            name_style += Style(dim=True)

        key = f" {self.app.get_key_display(binding)} "
        return Content.assemble((key, key_style), (f"{binding.description} ", name_style))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        key = event.style.meta.get(_KEY_META)
        if key:
            self.app.simulate_key(key)


def _width(cells: list[Content]) -> int:
    return sum(cell.cell_length for cell in cells)
