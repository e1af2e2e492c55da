"""When an app of Textual is at rest: asked of all that may wait in it, never of the processor.

Textual's own pilot takes a process that uses no processor for one that has nothing to do. On a busy machine that is
a process that waits for its turn.
"""

import asyncio
from contextlib import suppress
from itertools import chain
from typing import Any

from textual._compositor import Compositor
from textual.app import App
from textual.screen import Screen
from textual.timer import Timer
from textual.worker import WorkerCancelled

from tests.waiting import LIMIT_SECONDS

MEASURING = "measure"
"""The group of the work that goes on while a series is measured."""
_LOOK_SECONDS = 0.002
"""So often is looked at what only a thread or the clock can end."""
_DELAY_SECONDS = 0.5
"""Timers of one stroke up to here put work off until the user is done typing; longer ones take notes away."""
_QUIET = 2
"""So often in a row must nothing be left to do."""
paint = Compositor.render_update
"""As Textual does it, also where the tests have it put off until rest."""


async def at_rest(app: App[Any]) -> None:
    """Nothing is left to do in the app, and it is painted; a series under way goes on."""
    loop, quiet, left = asyncio.get_running_loop(), 0, ""
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            while quiet < _QUIET:
                await _work_done(app)
                await _others_turn(loop)
                left = _left_to_do(app)  # with nothing awaited before: what a thread has sent meanwhile is seen
                quiet = 0 if left else quiet + 1
                if left == _REPAINT:
                    app.screen._on_timer_update()
                elif left:
                    await asyncio.sleep(_LOOK_SECONDS)
    except TimeoutError:
        raise AssertionError(f"the app does not come to rest: there is always {left or 'something to run'}") from None
    if app._screen_stack and not app._exit:
        with app._context():
            paint(app.screen._compositor, screen_stack=app._background_screens)


async def _others_turn(loop: asyncio.AbstractEventLoop) -> None:
    """Whatever can run has run until it waits for something from outside."""
    while True:
        await asyncio.sleep(0)
        if not loop._ready:  # type: ignore[attr-defined]  # the loop's own list of what can run now
            return


async def _work_done(app: App[Any]) -> None:
    for worker in list(app.workers):
        if worker.group != MEASURING or worker.is_finished:
            with suppress(WorkerCancelled):
                await worker.wait()


_REPAINT = "a repaint"


def _left_to_do(app: App[Any]) -> str:
    """What waits somewhere in the app, or nothing."""
    if app._exit or app._exception is not None or not app._screen_stack:
        return ""
    pumps = [pump for pump in chain([app], app._registry) if pump._running and not pump._closed]
    if any(pump.message_queue_size or pump._next_callbacks or pump._pending_message for pump in pumps):
        return "a message"
    if any(not worker.is_finished for worker in app.workers if worker.group != MEASURING):
        return "work in a thread"
    if getattr(app, "is_typing_ahead", False):
        return "a key"
    if any(_puts_work_off(timer) for pump in pumps for timer in pump._timers):
        return "work that is put off"
    if app.animator._animations or app.animator._scheduled:
        return "an animation"
    if app._batch_count:
        return "a batch of updates"
    return _REPAINT if _waits_for_paint(app.screen) else ""


def _puts_work_off(timer: Timer) -> bool:
    return (
        timer._repeat == 0 and timer._interval <= _DELAY_SECONDS and timer._task is not None and not timer._task.done()
    )


def _waits_for_paint(screen: Screen[Any]) -> bool:
    return bool(
        screen._layout_required
        or screen._scroll_required
        or screen._repaint_required
        or screen._recompose_required
        or screen._dirty_widgets
        or screen._callbacks
    )
