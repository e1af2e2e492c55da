"""Keys typed faster than the screens follow: each one waits until the key before it has had its effect.

Textual hands a key to the widget that has the focus when the key is read. On a busy machine this is the wrong widget:
a Tab typed just before may still be on its way through the queues, and a form that a key has opened may not be filled
yet, or not even have a widget to take the key.
"""

import asyncio
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from time import monotonic

from textual import events
from textual.app import App, ScreenStackError
from textual.dom import DOMNode

from app.tui.frame.base import ScreenBase

_MOST_SECONDS = 10.0
"""How long a key waits at most: the program can be left even where a screen is never filled."""
_LOOK_SECONDS = 0.01
"""Between two looks at whether a screen takes keys by now."""


class TypingAhead(App[int]):
    """The part of the application that hands on the keys, one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self._typed_ahead: deque[events.Event] = deque()
        self._waiting: asyncio.Task[None] | None = None
        """Waits for the effect of the key that was handed on last; None where that is over."""

    @property
    def is_typing_ahead(self) -> bool:
        """Whether a key waits, or the effect of one is waited for."""
        return bool(self._typed_ahead) or self._waiting is not None

    async def on_event(self, event: events.Event) -> None:
        is_typed = isinstance(event, events.Key | events.Paste) and not event.is_forwarded
        if not is_typed:
            await super().on_event(event)
            return

        self._typed_ahead.append(event)
        if self._waiting is not None:
            return
        if self._does_take_keys():
            await self._hand_on()
        else:
            self._wait_at(self.focused or self.screen)

    def _does_take_keys(self) -> bool:
        screen = self.screen
        return screen.is_mounted and (not isinstance(screen, ScreenBase) or screen.does_take_keys)

    async def _hand_on(self) -> None:
        """Hand on the first key that waits, as Textual does it."""
        receiver = self.focused or self.screen
        await super().on_event(self._typed_ahead.popleft())
        self._wait_at(receiver)

    def _wait_at(self, receiver: DOMNode) -> None:
        self._waiting = asyncio.create_task(self._wait_for_effect(receiver))

    async def _wait_for_effect(self, receiver: DOMNode) -> None:
        """Have the next key handed on once this one had its effect."""
        deadline = monotonic() + _MOST_SECONDS
        await _pass_queues(receiver.ancestors_with_self, deadline)
        with suppress(ScreenStackError):  # the program was left meanwhile
            await self._wait_for_readiness(deadline)
        self.call_later(self._hand_on_next)

    async def _wait_for_readiness(self, deadline: float) -> None:
        """Wait until nothing is queued at what takes the next key, and the screen on top takes keys."""
        while monotonic() < deadline:
            # A key may have moved the focus here by a message to the application, such as that of `Widget.focus`,
            # which was queued only while the key was handled: so the queues are passed until nothing was in them.
            nodes = (self.focused or self.screen).ancestors_with_self
            is_quiet = not any(node.message_queue_size for node in nodes)
            await _pass_queues(nodes, deadline)

            if not self._does_take_keys():
                await asyncio.sleep(_LOOK_SECONDS)
            elif is_quiet:
                return

    async def _hand_on_next(self) -> None:
        self._waiting = None
        if self._typed_ahead:
            await self._hand_on()


async def _pass_queues(nodes: Iterable[DOMNode], deadline: float) -> None:
    """Wait until each node, one after the other, has handled the messages that wait there."""
    for node in nodes:
        passed = asyncio.Event()
        if not node.call_later(passed.set):
            continue  # the node takes no messages any more

        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, deadline - monotonic())):
                await passed.wait()
