"""Whether the tests of the TUI wait for all that the app has to do, however little of the processor it gets."""

import threading

from textual.app import App
from textual.screen import Screen
from textual.widgets import Static

from tests.rest import at_rest
from tests.tui import painted
from tests.waiting import HANG_SECONDS

IDLE_SECONDS = 0.15
"""So long does a step use no processor: several times what Textual's own pilot takes for an idle process."""


class Slow(App[None]):
    """An app that works step by step without using the processor."""

    def compose(self):
        yield Static("", id="text")

    def say(self, text):
        self.query_one("#text", Static).update(text)

    def work(self):
        threading.Event().wait(IDLE_SECONDS)
        self.call_from_thread(self.set_timer, IDLE_SECONDS, self.work_again)

    def work_again(self):
        self.run_worker(self.work_at_last, thread=True)

    def work_at_last(self):
        threading.Event().wait(IDLE_SECONDS)
        self.call_from_thread(self.call_after_refresh, self.say, "all done")

    def key_w(self):
        self.run_worker(self.work, thread=True)


async def test_a_key_has_had_its_whole_effect_on_threads_timers_and_the_screen():
    async with Slow().run_test() as pilot:
        await pilot.press("w")
        assert "all done" in painted(pilot.app)


async def test_what_a_test_does_itself_is_painted_after_a_pause():
    async with Slow().run_test() as pilot:
        pilot.app.set_timer(IDLE_SECONDS, lambda: pilot.app.push_screen(Screen()))
        await pilot.pause()
        assert len(pilot.app.screen_stack) == 2
        pilot.app.screen.mount(Static("on top"))
        await at_rest(pilot.app)
        assert "on top" in painted(pilot.app)


async def test_what_goes_on_for_ever_is_not_waited_for():
    async with Slow().run_test() as pilot:
        ticks: list[int] = []
        pilot.app.set_interval(0.01, lambda: ticks.append(1))
        let_go = threading.Event()
        pilot.app.run_worker(lambda: let_go.wait(HANG_SECONDS), thread=True, group="measure")
        pilot.app.set_timer(30, lambda: ticks.append(2))
        await pilot.pause()
        assert 2 not in ticks
        let_go.set()
